"""Lines that a collector wrapped come back as they were, whatever they are; and every byte is counted once."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Sequence
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
import wrapping as write
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.case.errors import NothingReadable
from forensics.case.store import Case
from forensics.ingest import transcoders
from forensics.ingest.blocks import Oversized
from forensics.ingest.detect import detect
from forensics.ingest.documents import value_spans
from forensics.ingest.record import FileContext
from forensics.ingest.registry import registry
from forensics.ingest.run import Parameters, run
from forensics.ingest.units import Unit, line_units, span_units
from forensics.ingest.worker import Block, FileFacts
from forensics.ingest.wrappers import NAMES, chain_of, load, peel
from forensics.ingest.wrappers.journald_text import yearless

UTC = ZoneInfo("UTC")
FORMATS = Path(__file__).parent / "formats"
AT = write.SECOND * 1_000_000
CHANGED = AT + 86_400_000_000
FACTS = FileFacts("f", "house", False, "UTC", None, 1 << 20)


def sampled_objects() -> list[bytes]:
    """Every line of the formats' samples, and of what the writers wrap, that is an object; and the elements of lists."""
    files = [path.read_bytes() for path in sorted(FORMATS.glob("*/*.*"))]
    files += [writer([b"one", b'{"two": 3}']) for writer, _ in (*write.LINES.values(), *write.DOCUMENTS.values())]
    found = []
    for text in (*files, *b"\n".join(files).split(b"\n")):
        try:
            value = json.loads(text)
        except ValueError:
            continue
        found += [json.dumps(item).encode() for item in (value if isinstance(value, list) else [value])]
    return [line for line in found if line[:1] == b"{"]


@pytest.mark.parametrize("name", [name for name in NAMES if hasattr(load(name), "ANY_OF")])
def test_no_object_of_a_wrapper_is_without_its_keys(name):
    """What detection does not show to a wrapper must be nothing that it would take."""
    wrapper = load(name)
    taken = [line for line in sampled_objects() if wrapper.accepts(line)]
    assert all(wrapper.ANY_OF & json.loads(line).keys() for line in taken)
    assert bool(taken) == (name != "ansi")


def test_detection_shows_a_wrapper_only_what_may_be_its_own(monkeypatch):
    asked = {name: [] for name in ("docker_json", "elastic")}
    for name, lines in asked.items():
        accepts = load(name).accepts
        monkeypatch.setattr(load(name), "accepts", lambda line, a=accepts, b=lines: b.append(line) or a(line))
    docker = [json.dumps({"log": f"line {number}\n", "stream": "stdout"}).encode() for number in range(3)]
    others = [
        b'{"request_id": "a", "request": {"prompt": "\\"log\\" \\"_source\\""}}',
        b'{"a": 1} {"log": 2}',
        b"[2026-01-01] x",
    ]
    assert chain_of(others, context())[0] == ()
    assert chain_of(others + docker, context())[0] == ("docker_json",)
    assert others[0] not in asked["docker_json"] + asked["elastic"]
    assert others[1] in asked["docker_json"]  # no JSON object: whoever is to judge must see it
    assert set(docker) <= set(asked["docker_json"])


def context(most: int = 1 << 20, name: str = "f") -> FileContext:
    return FileContext(name, UTC, None, CHANGED, max_line_bytes=most)


def peeled(
    data: bytes, chain: Sequence[str], *, document: bool = False, known: FileContext | None = None
) -> list[Unit]:
    """The units of a file; checks that they stand for every byte and line of it."""
    if document:
        units = span_units(data, value_spans(data))
    else:
        units = line_units([Block(FACTS, 0, data=data, last=True)])
    found = [unit for unit in peel(units, chain, known or context()) if not isinstance(unit, Oversized)]
    assert sum(unit.size for unit in found) == len(data)
    assert sum(unit.lines for unit in found) == data.count(b"\n") + (
        not document and not data.endswith(b"\n") and data != b""
    )
    return found


def contents(units: Sequence[Unit]) -> list[bytes]:
    assert all(unit.reason is None for unit in units)
    return [unit.data for unit in units if not unit.structure]


_INNER = json.dumps({"request_id": "r", "tenant_id": "t", "x": 'q"\\'})
# Lines end neither in a carriage return, which belongs to the line's end, nor hold a line feed.
texts = st.one_of(
    st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\n\r\x1b"), max_size=60),
    st.sampled_from(
        [_INNER, "[2026-03-04 05:06:07] Finish: obj=1", "", " ", "{", '{"a":1}', "a,b;c|d\te", '"', "-- x"]
    ),
).map(str.encode)
raw_lines = st.binary(max_size=60).map(lambda data: re.sub(rb"[\n\r]", b"?", data))


def lines_for(name: str) -> st.SearchStrategy[bytes]:
    if name == "elastic_response":
        # An empty original is no original.
        return texts.filter(bool)
    return st.one_of(texts, raw_lines) if name in write.BYTES else texts


@pytest.mark.parametrize("name", [*write.LINES, *write.DOCUMENTS])
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_wrapped_lines_come_back(name, data):
    writer, chain = {**write.LINES, **write.DOCUMENTS}[name]
    lines = data.draw(st.lists(lines_for(name), min_size=1, max_size=8))
    units = peeled(writer(lines), chain, document=name in write.DOCUMENTS)
    assert contents(units) == lines
    assert {unit.at for unit in units if not unit.structure} <= {AT + n for n in (0, 5, 89_000, 123_456)} | {None}


@pytest.mark.parametrize("outer", [name for name in write.LINES if name != "table"])
@pytest.mark.parametrize("inner", [name for name in write.LINES if name != "table"])
@given(data=st.data())
@settings(max_examples=8, deadline=None)
def test_wrappers_inside_wrappers_come_back(outer, inner, data):
    # CRI may cut a character, which an outer wrapper of texts could not keep.
    some = st.text('ab {}[]:"\\P', max_size=30).map(str.encode) if inner == "cri" else texts
    lines = data.draw(st.lists(some, min_size=1, max_size=5))
    middle = write.LINES[inner][0](lines).split(b"\n")[:-1]
    whole = write.LINES[outer][0](middle)
    chain = (*write.LINES[outer][1], *write.LINES[inner][1])
    assert contents(peeled(whole, chain)) == lines


@given(
    st.lists(st.tuples(st.sampled_from(["stdout", "stderr"]), raw_lines), max_size=12), st.integers(0, 9), st.booleans()
)
@settings(max_examples=150, deadline=None)
def test_the_streams_of_cri_are_joined_each_for_itself(lines, seed, ended):
    chance = random.Random(seed)
    queues: list[list[bytes]] = [[], []]
    marked: dict[str, list[bytes]] = {"stdout": [], "stderr": []}
    for stream, line in lines:
        line = stream.encode() + line
        marked[stream].append(line)
        queues[stream == "stderr"] += write.cri_records(line, stream, chance)
    data = write.joined(write.interleaved(queues, chance))
    if not ended:
        data = data[:-1]
    found = contents(peeled(data, ("kubernetes_cri",)))
    for stream, wanted in marked.items():
        assert [line for line in found if line.startswith(stream.encode())] == wanted


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["stdout", "stderr"]), st.integers(0, 40_000) | st.sampled_from([16384, 16383, 32768])
        ),
        max_size=4,
    ),
    st.integers(0, 9),
)
@settings(max_examples=40, deadline=None)
def test_the_streams_of_docker_are_joined_each_for_itself(lines, seed):
    chance = random.Random(seed)
    queues: list[list[bytes]] = [[], []]
    marked: dict[str, list[bytes]] = {"stdout": [], "stderr": []}
    for stream, size in lines:
        line = (stream + "x" * size).encode()
        marked[stream].append(line)
        queues[stream == "stderr"] += [record.encode() for record in write.docker_records(line, stream)]
    found = contents(peeled(write.joined(write.interleaved(queues, chance)), ("docker_json",)))
    for stream, wanted in marked.items():
        assert [line for line in found if line.startswith(stream.encode())] == wanted


def test_a_character_that_docker_cut_is_lost_and_counted():
    line = b"a" * 16_383 + "é".encode() + b"b"
    known = context()
    assert contents(peeled(write.docker([line]), ("docker_json",), known=known)) == [
        b"a" * 16_383 + "\ufffd\ufffd".encode() + b"b"
    ]
    assert known.notices == {"split_character": 1}


def record(log: str, time: str = "05:06:07") -> str:
    return write.compact({"log": log, "stream": "stdout", "time": f"2026-03-04T{time}Z"})


def test_a_container_that_ended_in_the_middle_of_a_line_does_not_swallow_the_next():
    data = write.joined([record("killed"), record("started\n", "05:09:00"), record("on "), record("go\n")])
    assert contents(peeled(data, ("docker_json",))) == [b"killed", b"started", b"on go"]


def test_an_unfinished_line_is_cut_and_stands_where_it_began():
    data = write.joined([b"x", record("a\n").encode(), record("b").encode(), record("c").encode()])
    known = context()
    last = peeled(data, ("docker_json",), known=known)[-1]
    assert (last.data, last.cut, last.offset, last.line, last.lines) == (b"bc", True, data.index(b'{"log":"b"'), 2, 2)
    assert known.notices == {"unfinished_line": 1}


def test_a_joined_line_over_the_limit_is_counted_on_but_not_held():
    import hashlib

    parts = [b"p" * 400] * 50
    stamp = write.STAMP.encode()
    data = write.joined(
        [stamp + b" stdout P " + part for part in parts] + [stamp + b" stdout F end", stamp + b" stderr F ok"]
    )
    units = peeled(data, ("kubernetes_cri",), known=context(1000))
    assert [(unit.data, unit.reason, unit.lines) for unit in units] == [(b"", "oversized_line", 51), (b"ok", None, 1)]
    assert units[0].digest == hashlib.sha256(b"".join(parts) + b"end").hexdigest()


def test_many_open_streams_are_bounded():
    stamp = write.STAMP.encode()
    records = [write.compact({"log": "x" * 90, "stream": f"s{n}", "time": write.STAMP}) for n in range(3000)]
    known = context(10_000)
    units = peeled(write.joined(records), ("docker_json",), known=known)
    assert len(units) == 3000
    assert known.notices["unfinished_line"] == 3000
    assert sum(len(unit.data) for unit in units) < 3000 * 90
    assert stamp


@given(st.lists(st.text("ab{}[]\"'\\,: ", max_size=20), max_size=6), st.integers(0, 99))
def test_colours_are_taken_off_texts_only(lines, seed):
    chance = random.Random(seed)
    coloured = []
    plain = []
    for line in lines:
        if line.lstrip("[ ").startswith("{"):
            line = "x" + line
        plain.append(line.encode())
        at = chance.randrange(len(line) + 1)
        coloured.append(f"\x1b[1;32m{line[:at]}\x1b[0m{line[at:]}\x1b[K".encode())
    if any(re.match(rb"\[[^\]]*\] ?[{\[]", line) for line in plain):
        return
    assert contents(peeled(write.joined(coloured), ("ansi",))) == plain


def test_colours_inside_json_are_the_logs_own_text():
    json_line = b'{"request_id":"r","x":"\x1b[32mgreen\x1b[0m"}'
    assert contents(peeled(write.joined([json_line]), ("ansi",))) == [json_line]
    assert not load("ansi").accepts(json_line)
    stamp = b"\x1b[1m[2026-03-04 05:06:07]\x1b[0m "
    assert contents(peeled(write.joined([stamp + json_line + b"\x1b[0m"]), ("ansi",))) == [
        b"[2026-03-04 05:06:07] " + json_line
    ]


cells = st.text(
    st.sampled_from('ab1,;|\t" {}é\n') | st.characters(exclude_categories=("Cs",), exclude_characters="\r"), max_size=20
)


@given(
    st.lists(st.tuples(cells, cells), max_size=6),
    st.sampled_from([",", ";", "\t", "|"]),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
@settings(max_examples=200, deadline=None)
def test_rows_of_tables_come_back(rows, delimiter, ending, mark):
    import csv
    import io

    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, lineterminator=ending)
    writer.writerow(["request_id", "response"])
    rows = [row for row in rows if row != ("request_id", "response")]
    writer.writerows(rows)
    data = (b"\xef\xbb\xbf" if mark else b"") + out.getvalue().encode()
    found = [json.loads(line) for line in contents(peeled(data, ("csv_rows",))) if line.strip()]
    wanted = [{"request_id": first, "response": second} for first, second in rows]
    wanted = [{key: text for key, text in row.items() if text} for row in wanted]
    assert found == [row for row in wanted if row]


def test_a_stray_quote_costs_one_row():
    data = b'request_id,response\n1,a\n2,"b\n3,c\n4,"d""\n5,"e\nf"\n6,"g"h\n7\n8,i'
    units = peeled(data, ("csv_rows",))
    assert [json.loads(unit.data)["request_id"] for unit in units if unit.reason is None and not unit.structure] == [
        "1",
        "3",
        "5",
        "8",
    ]
    assert [(unit.reason, unit.data) for unit in units if unit.reason] == [
        ("bad_row", b'2,"b'),
        ("bad_row", b'4,"d""'),
        ("bad_row", b'6,"g"h'),
        ("bad_row", b"7"),
    ]


def test_a_document_that_breaks_off_gives_what_came_before():
    whole = write.cloudwatch_document([b"one", b"two", b"three"])
    data = whole[: whole.index(b"three")]
    units = peeled(data, ("cloudwatch",), document=True)
    assert [unit.data for unit in units if not unit.structure and unit.reason is None] == [b"one", b"two"]
    assert [unit.reason for unit in units if unit.reason] == ["bad_json"]


def test_each_event_of_a_document_stands_at_its_own_place():
    data = write.cloudwatch_document([b"one", b"two"])
    units = [unit for unit in peeled(data, ("cloudwatch",), document=True) if not unit.structure]
    for unit, text in zip(units, ("one\n", "two\n"), strict=True):
        assert json.loads(data[unit.offset : unit.offset + unit.size])["message"] == text
        assert unit.line == data[: unit.offset].count(b"\n")


def test_a_message_of_several_lines_is_cut_into_them_unless_it_is_json():
    event = {"timestamp": 1_772_600_767_000, "message": "one\r\ntwo\n\nthree\n"}
    pretty = {"timestamp": 1_772_600_767_000, "message": '{\n "request_id": "r"\n}\n'}
    data = write.joined([json.dumps(event), json.dumps(pretty)])
    assert contents(peeled(data, ("cloudwatch",))) == [b"one", b"two", b"", b"three", b'{\n "request_id": "r"\n}']


def test_an_object_as_message_keeps_its_bytes():
    inner = '{"request_id": 12345678901234567890123, "x": 1.10}'
    data = ('{"@timestamp":"2026-03-04 05:06:07.089","@message":' + inner + "}\n").encode()
    assert contents(peeled(data, ("cloudwatch",))) == [inner.encode()]
    hit = ('{"_index":"l","_source":' + inner + "}\n").encode()
    assert contents(peeled(hit, ("elastic",))) == [inner.encode()]
    entry = ('{"insertId":"i","jsonPayload":' + inner + "}\n").encode()
    assert contents(peeled(entry, ("gcp_logging",))) == [inner.encode()]


def test_a_record_that_a_pipeline_decoded_is_read_with_its_fields():
    source = {"@timestamp": write.STAMP, "message": "done", "request": {"messages": []}, "request_id": "r"}
    data = write.joined([json.dumps({"_index": "l", "_source": source}), json.dumps(source)])
    assert [json.loads(line) for line in contents(peeled(data, ("elastic",)))] == [source, source]


@pytest.mark.parametrize("more", [{"@timestamp": write.STAMP}, {"time": write.STAMP, "kubernetes": {"pod_name": "p"}}])
@pytest.mark.parametrize("name", ["message", "log"])
def test_a_gateways_line_about_a_call_is_read_with_its_fields(more, name):
    named = {"request_id": "r", "tenant_id": "t", **more}
    whole = {"request_id": "r", "tenant_id": "t", "request": {"messages": []}}
    lines = [json.dumps({**named, name: text}).encode() for text in ("done", json.dumps(whole))]
    # Where the message is the record itself, it has more than what was copied from it.
    assert contents(peeled(write.joined(lines), ("elastic", "fluent"))) == [lines[0], json.dumps(whole).encode()]


def test_the_original_of_an_event_comes_before_what_was_copied_from_it():
    event = {"@timestamp": write.STAMP, "message": "m", "event": {"original": '{"a": 1}'}, "rid": "r", "tenant": "t"}
    assert contents(peeled(write.joined([json.dumps(event)]), ("elastic",))) == [b'{"a": 1}']


def test_what_a_journal_left_out_is_refused_by_name():
    entry = {"__REALTIME_TIMESTAMP": "1772600767000000", "MESSAGE": None}
    known = context()
    units = peeled(
        write.joined([json.dumps(entry), "Mar 04 05:06:07 n u[1]: [5.2K blob data]"]),
        ("journald_json", "journald_text"),
        known=known,
    )
    assert [unit.reason for unit in units] == ["message_left_out"] * 2
    assert known.notices["message_left_out"] == 2


@pytest.mark.parametrize(
    "left_out", [{**write.journal_entry(b""), "MESSAGE": None}, "Mar 04 05:06:07 n u[1]: [5K blob data]"]
)
def test_what_is_refused_hides_no_layer_further_in(left_out):
    first = left_out if isinstance(left_out, str) else json.dumps(left_out)
    outer = "journal_text" if isinstance(left_out, str) else "journal_json"
    inner = [b"engine-1  | " + line for line in HOUSE]
    data = first.encode() + b"\n" + write.LINES[outer][0](inner)
    assert detect([data], context(), registry()).chain == (*write.LINES[outer][1], "stamped")


def test_a_level_is_no_host():
    router = b"2026-03-04T05:06:07.123456Z %s text_generation_launcher: Webserver crashed"
    levels = (b"TRACE", b"DEBUG", b"ERROR", b" INFO", b" WARN", b"INFO", b"WARN", b"FATAL", b"CRITICAL")
    assert not any(load(name).accepts(router % level) for level in levels for name in NAMES)
    assert load("journald_text").accepts(router % b"errors-1")


def test_lines_that_the_journal_cut_are_joined():
    first = {**write.journal_entry(b"a" * 10), "_LINE_BREAK": "line-max", "_STREAM_ID": "s"}
    other = {**write.journal_entry(b"other"), "_STREAM_ID": "t"}
    rest = {**write.journal_entry(b"b"), "_STREAM_ID": "s"}
    data = write.joined([json.dumps(entry) for entry in (first, other, rest)])
    assert contents(peeled(data, ("journald_json",))) == [b"other", b"a" * 10 + b"b"]
    long = b"c" * (48 * 1024)
    assert contents(peeled(write.journal_text([long, b"d"]), ("journald_text",))) == [long + b"d"]


def test_indented_lines_of_the_journal_belong_to_the_entry_above():
    head = "Mar 04 05:06:07 n u[1]: "
    data = write.joined([head + "Traceback:", " " * len(head) + "  File x", "-- Boot " + "0" * 32 + " --", "stray"])
    units = peeled(data, ("journald_text",))
    assert contents(units) == [b"Traceback:", b"  File x", b"stray"]
    assert [unit.source for unit in units] == ["n/u", "n/u", None, None]


@pytest.mark.parametrize(
    ("stamp", "at"),
    [
        ("Mar 04 05:06:07", AT),
        ("Mar  4 05:06:07", AT),
        ("Mar 04 05:06:07.25", AT + 250_000),
        ("2026-03-04T06:06:07+0100", AT),
        ("2026-03-04T05:06:07,250000+00:00", AT + 250_000),
        ("Wed 2026-03-04 05:06:07 UTC", AT),
        ("Wed 2026-03-04 08:06:07 +03", AT),
        ("1772600767.000000", AT),
        ("[ 3599.000001]", None),
    ],
)
def test_times_of_the_journal(stamp, at):
    (unit,) = peeled(write.joined([stamp + " node-1 engine[7]: text"]), ("journald_text",))
    assert (unit.data, unit.at, unit.source) == (b"text", at, "node-1/engine")


def test_a_yearless_time_is_of_the_latest_year_before_the_files_last_change():
    january = FileContext("f", ZoneInfo("Europe/Berlin"), None, 1_767_300_000_000_000)  # 2026-01-01
    assert yearless("Dec 31 23:30:00", january) == 1_767_220_200_000_000
    assert yearless("Jan 01 00:30:00", january) == 1_767_223_800_000_000
    assert yearless("Feb 29 00:00:00", FileContext("f", UTC, None, 1_767_300_000_000_000)) == 1_709_164_800_000_000
    assert yearless("Feb 30 00:00:00", january) is None
    assert yearless("Jan 01 00:30:00", FileContext("f", UTC)) is None


def test_the_writer_is_named_where_the_wrapper_knows_it():
    def source(data: bytes, wrapper: str, name: str = "f") -> str | None:
        return next(u.source for u in peeled(data, (wrapper,), known=context(name=name)) if not u.structure)

    node = "llm-0_prod_engine-" + "0" * 64 + ".log"
    assert source(write.cri([b"x"]), "kubernetes_cri", node) == "llm-0/engine"
    assert source(write.docker([b"x"]), "docker_json", "pods/prod_llm-1_0a1b2c3d-1/engine/0.log") == "llm-1/engine"
    assert source(write.journal_json([b"x"]), "journald_json") == "node-1/engine"
    assert source(write.loki_response([b"x"]), "loki") == "llm-0/engine"
    assert source(write.cloudwatch_subscription([b"x"]), "cloudwatch") == "s"
    assert source(write.compose([b"x"]), "stamped") == "engine-1"
    assert source(write.elastic_bulk([b"x"]), "elastic") == "h"


def test_lines_that_go_backward_are_said():
    lines = [write.compact({"timestamp": 1_772_600_767_000 - n, "message": "x"}) for n in range(40)]
    known = context()
    peeled(write.joined(lines), ("cloudwatch",), known=known)
    assert known.notices == {"newest_first": 1}


HOUSE = [json.dumps({"request_id": f"r{n}", "tenant_id": "t"}).encode() for n in range(12)]


@pytest.mark.parametrize("name", [*write.LINES, *write.DOCUMENTS])
def test_each_wrapper_is_recognised(name):
    writer, chain = {**write.LINES, **write.DOCUMENTS}[name]
    data = writer(HOUSE)
    found = detect([data], context(), registry())
    assert found.document == (name in write.DOCUMENTS)
    if not found.document:
        assert (found.format, found.chain) == ("house", chain)
        assert found.reason.endswith(", inside " + " inside ".join(reversed(chain)))


@given(st.lists(st.one_of(raw_lines, st.sampled_from(HOUSE)), max_size=30))
@settings(max_examples=100, deadline=None)
def test_peelers_pass_on_what_is_not_theirs(lines):
    lines = [line for line in lines if not any(load(name).accepts(line) for name in NAMES)]
    # A table begins with any line, and a capture takes in whatever could be a field of a stream.
    chain = tuple(name for name in NAMES if name not in ("csv_rows", "sse"))
    assert contents(peeled(write.joined(lines), chain)) == lines


# Formats whose own files are in a wrapper; containers have no lines.
_WRAPPED = {"otlp": "otlp_batches", "sse_capture": "sse"}
_BARE = sorted(
    folder.name for folder in FORMATS.iterdir() if folder.name not in (*NAMES, *transcoders.NAMES, *_WRAPPED)
)


@pytest.mark.parametrize("name", _BARE)
def test_no_line_of_a_bare_log_is_a_wrappers(name):
    """One line is enough for most wrappers to be taken for the file's."""
    files = [path for path in sorted((FORMATS / name).rglob("*")) if path.is_file()]
    lines = {line.removesuffix(b"\r") for path in files for line in path.read_bytes().split(b"\n")}
    assert lines
    assert [wrapper for wrapper in NAMES if any(map(load(wrapper).accepts, lines))] == []


def test_two_columns_of_one_name_are_refused_with_the_reason(tmp_path):
    """A dictionary would keep the last of them and say nothing."""
    units = peeled(b"request_id,response,response\na,one,two\n\nb,three,four\n", ("csv_rows",))
    assert [unit.reason for unit in units] == ["repeated_column", "repeated_column", None, "repeated_column"]
    assert not any(unit.structure for unit in units)


def test_a_table_with_a_repeated_column_says_so_in_the_case(tmp_path):
    path = tmp_path / "log.csv"
    path.write_bytes(b"request_id,response,response\n" + b"a,one,two\n" * 3)
    with Case.create(tmp_path / "case") as case:
        with pytest.raises(NothingReadable):
            run(case, Parameters((path,)))
        assert set(case.table("rejects")["reason"].to_pylist()) == {"repeated_column"}
        assert case.table("evidence")["format"].to_pylist() == ["unknown"]
