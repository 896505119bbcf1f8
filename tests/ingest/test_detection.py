"""Which format a file is in, what else is in it, and what is said of a file that is mostly something else."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

import pytest
import wrapping as write


def house(name: str) -> bytes:
    return json.dumps(
        {
            "request_id": name,
            "tenant_id": "t",
            "request": {"messages": [{"role": "user", "content": f"question {name}"}]},
            "response": {"choices": [{"message": {"content": f"answer {name}"}}]},
        }
    ).encode()


def pair(name: str) -> bytes:
    return json.dumps(
        {"req": {"prompt": f"ask {name}"}, "res": {"id": name, "choices": [{"text": f"say {name}"}]}}
    ).encode()


def sglang(name: str) -> bytes:
    meta = f"{{'id': '{name}', 'finish_reason': {{'type': 'stop'}}, 'e2e_latency': 1.0}}"
    return f"[2026-03-04 05:06:07 TP0] Finish: obj=GenerateReqInput(rid='{name}', text='p'), out={{'text': 'o', 'meta_info': {meta}}}".encode()


def sglang_json(name: str) -> bytes:
    event = {
        "event": "request.finished",
        "rid": name,
        "obj": {"text": "p"},
        "out": {"text": "o", "meta_info": {"id": name}},
    }
    return b"[2026-03-04 05:06:07] " + json.dumps(event).encode()


SCHEDULER = b"[2026-03-04 05:06:06 TP0] Load weight begin. avail mem=78.50 GB"


def file_of(bench, data: bytes, **parameters):
    bench.put("f.log", data)
    summary = bench.run(**parameters)
    row = bench.rows("evidence", "evidence")[0]
    assert sum(row[f"{kind}_bytes"] for kind in ("record", "rejected", "blank", "structure")) == len(data)
    return summary.figures["files"][0], summary


def test_ten_formats_in_one_file(bench):
    """Four formats, bare and in six wrappers, shuffled by line: every record is found, and nothing else."""
    wrap = [write.docker, write.cri, write.journal_json, write.journal_text, write.cloudwatch_lines, write.logcli]
    makers = [house, pair, sglang, sglang_json]
    lines: list[bytes] = []
    names = []
    chance = random.Random(10)
    for number in range(120):
        name = f"r{number}"
        names.append(name)
        line = makers[number % 4](name)
        if number % 10 < 6:
            line = write.docker([line]).strip() if wrap[number % 10] is write.docker else wrap[number % 10]([line])
            lines += (
                line.rstrip(b"\n").split(b"\n")
                if wrap[number % 10] is not write.cri
                else [b"\n".join(line.rstrip(b"\n").split(b"\n"))]
            )
        else:
            lines.append(line)
    lines += [SCHEDULER] * 20 + [b"what is this"] * 7
    chance.shuffle(lines)
    file, _ = file_of(bench, write.joined(lines))
    assert sorted(bench.joined()) == sorted(names)
    assert (file["records"], file["structure"], file["rejected"]) == (120, 20, 7)
    for name in ("openai_pair", "sglang_text", "sglang_json", "house"):
        assert name in file["format_reason"]
    for name in ("docker_json", "kubernetes_cri", "journald_json", "journald_text", "cloudwatch", "loki"):
        assert name in file["format_reason"]


def test_a_file_that_is_nine_tenths_junk(bench):
    chance = random.Random(90)
    junk = [
        b"".join(chance.choice([b"lorem", b"{", b"ipsum ", b'"', b"[", b"\xff", b"42"]) for _ in range(9))
        for _ in range(900)
    ]
    lines = [*junk, *(house(f"r{n}") for n in range(100))]
    chance.shuffle(lines)
    file, summary = file_of(bench, write.joined(lines))
    assert (file["format"], file["records"], file["rejected"]) == ("house", 100, 900)
    assert sum(file["reasons"].values()) == 900
    assert any("900 of 1000 lines" in warning for warning in summary.warnings)


@pytest.mark.parametrize("wrapper", ["docker", "cri", "journal_text", "cloudwatch_lines"])
def test_wrapped_and_unwrapped_lines_and_junk(bench, wrapper):
    writer, chain = write.LINES[wrapper]
    wrapped = writer([house(f"w{n}") for n in range(20)]).rstrip(b"\n")
    lines = [b"junk"] * 60 + [house(f"r{n}") for n in range(20)]
    random.Random(3).shuffle(lines)
    file, _ = file_of(bench, write.joined([wrapped, *lines]))
    assert (file["records"], file["rejected"]) == (40, 60)
    assert f", inside {chain[0]} (" in file["format_reason"]


def test_request_lines_among_scheduler_lines(bench):
    lines = [SCHEDULER] * 500
    for number in range(5):
        lines.insert(number * 90, sglang(f"r{number}"))
    lines.insert(44, house("gateway"))
    file, _ = file_of(bench, write.joined(lines))
    assert (file["format"], file["records"], file["structure"], file["rejected"]) == ("sglang_text", 6, 500, 0)


def test_a_batch_in_one_line_among_lines_of_text(bench):
    batch = b"[" + house("a") + b", " + house("b") + b"]"
    file, _ = file_of(
        bench, write.joined([*[SCHEDULER] * 50, sglang("c"), sglang("d"), batch, b"[word] of something else"])
    )
    assert (file["format"], file["reasons"]) == ("sglang_text", {"unrecognised_line": 1})
    assert sorted(bench.joined()) == ["a", "b", "c", "d"]


def test_a_batch_with_an_id_of_many_digits_loses_only_what_cannot_be_read(bench):
    """A long number is read again digit by digit; that must neither reject its neighbours nor count anything twice."""
    odd = b'{"request_id": 12345678901234567.25, "tenant_id": "t", "timestamp": "no time"}'
    batch = b"[" + house("a") + b", 7, " + odd + b", [], " + odd.replace(b".25", b".50") + b"]"
    file, summary = file_of(bench, write.joined([house("b"), batch]))
    assert (file["records"], file["rejected"]) == (2, 0)
    assert sorted(bench.joined()) == ["12345678901234567.25", "12345678901234567.50", "a", "b"]
    assert summary.figures["notices"] == {"unreadable_entry": 2, "unreadable_time": 2}


def test_scheduler_lines_in_a_house_file_are_structure(bench):
    file, _ = file_of(bench, write.joined([house("a"), house("b"), SCHEDULER]))
    assert (file["format"], file["records"], file["structure"]) == ("house", 2, 1)


@pytest.mark.parametrize("compression", ["none", "gzip"])
def test_records_behind_megabytes_of_junk_decide(bench, compression):
    """The head of the file says nothing; the middle and the end do, also inside a wrapper."""
    junk = b"no log line at all, only words\n" * 200_000
    data = junk + write.cri([sglang(f"r{n}") for n in range(40)])
    path = bench.put("f.log", gzip.compress(data, 1) if compression == "gzip" else data)
    assert path.stat().st_size != len(data) or compression == "none"
    file = bench.run().figures["files"][0]
    assert (file["format"], file["records"], file["rejected"]) == ("sglang_text", 40, 200_000)
    assert "kubernetes_cri" in file["format_reason"]


def test_a_named_format_is_read_through_wrappers(bench):
    line = json.dumps({"request_id": "g", "tenant_id": "t", "event": "request.finished", "choices": []}).encode()
    file, _ = file_of(bench, write.docker([line, house("h")]), format="house")
    assert (file["format"], file["format_reason"], file["records"]) == (
        "house",
        "named by the user, inside docker_json",
        2,
    )


def test_a_document_longer_than_the_limit_is_read_by_line_and_said(bench):
    data = write.cloudwatch_document([house(f"r{n}") for n in range(30)]) + house("last") + b"\n"
    file, summary = file_of(bench, data, max_line_bytes=5000)
    assert file["records"] == 1
    assert any("longer than --max-line-bytes" in warning for warning in summary.warnings)


@pytest.mark.parametrize(
    ("head", "document"),
    [
        (b'{\n "a": 1}\n', True),
        (b'{ "events": [\n {}\n]}\n', True),
        (b'{"took": 3,\n"hits": {}}\n', True),
        (b'{"took": 3}\n{"took": 4}\n', False),
        (b'{"request_id": "a\n{"request_id": "b"}\n', False),
    ],
)
def test_what_is_one_document(head, document):
    from forensics.ingest.detect import is_document

    assert is_document(head) == document


def test_no_wrapper_is_seen_in_the_formats_themselves(tmp_path: Path):
    from forensics.ingest import wrappers
    from forensics.ingest.record import FileContext

    lines = [house("a"), pair("b"), sglang("c"), sglang_json("d"), SCHEDULER] * 5
    chain, left, words = wrappers.chain_of(lines, FileContext("f", None))
    assert (chain, left, words) == ((), lines, "")


def test_a_timed_capture_of_a_stream_is_no_journal():
    from forensics.ingest.wrappers import load

    assert not load("journald_text").accepts(b'2026-03-04T05:06:07.100Z data: {"id": "c", "x": 1}')
    assert load("journald_text").accepts(b"Mar 04 05:06:07 fe80::1 (systemd)[1]: text")
    assert load("journald_text").accepts(b"Mar 04 05:06:07 node-1 a::b[12]: text")
