"""Containers that are no lines: flow files and YAML cassettes. Every byte counted, nothing run, bounded."""

from __future__ import annotations

import contextlib
import importlib.util
import json
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import wrapping
from hypothesis import given
from hypothesis import strategies as st

from forensics.ingest import transcoders
from forensics.ingest.blocks import Oversized
from forensics.ingest.record import FileContext
from forensics.ingest.streams import Limits
from forensics.ingest.transcoders import mitmproxy
from forensics.ingest.units import Unit

FORMATS = Path(__file__).parent / "formats"
LIMITS = Limits(1000, 1 << 30)


def dumps(value: Any) -> bytes:
    """A tnetstring as mitmproxy writes it."""
    if value is None:
        return b"0:~"
    if isinstance(value, bool):
        payload, sort = str(value).lower().encode(), b"!"
    elif isinstance(value, int):
        payload, sort = str(value).encode(), b"#"
    elif isinstance(value, float):
        payload, sort = repr(value).encode(), b"^"
    elif isinstance(value, bytes):
        payload, sort = value, b","
    elif isinstance(value, str):
        payload, sort = value.encode(), b";"
    elif isinstance(value, list):
        payload, sort = b"".join(map(dumps, value)), b"]"
    else:
        payload, sort = b"".join(dumps(part) for pair in value.items() for part in pair), b"}"
    return str(len(payload)).encode() + b":" + payload + sort


def units(path: Path, data: bytes | None = None) -> list[Any]:
    if data is not None:
        path.write_bytes(data)
    size = path.stat().st_size
    with path.open("rb") as file:
        name = transcoders.of_head(file.read(transcoders.HEAD))
    assert name is not None
    found = list(transcoders.units(name, path, size, LIMITS, FileContext("f", ZoneInfo("UTC"))))
    assert sum(unit.length if isinstance(unit, Oversized) else unit.size for unit in found) == size
    return found


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(10**30), 10**30)
        | st.floats(allow_nan=False)
        | st.binary(max_size=20)
        | st.text(st.characters(blacklist_categories=("Cs",)), max_size=20),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abc", max_size=3), inner, max_size=4),
        max_leaves=20,
    )
)
def test_a_tnetstring_comes_back(value):
    data = dumps(value)
    assert mitmproxy.parse(data) == (value, len(data))


@given(st.binary(max_size=60))
def test_any_bytes_are_a_tnetstring_or_an_error(data):
    with contextlib.suppress(mitmproxy.TnetstringError):
        mitmproxy.parse(data)


def test_nesting_is_bounded():
    value: Any = None
    for _ in range(200):
        value = [value]
    with pytest.raises(mitmproxy.TnetstringError):
        mitmproxy.parse(dumps(value))


FLOW = {
    "version": 21,
    "type": "http",
    "id": "f1",
    "request": {
        "method": b"POST",
        "path": b"/v1/chat/completions",
        "headers": [[b"x-request-id", b"r1"]],
        "content": json.dumps({"model": "m", "messages": [{"role": "user", "content": "q"}]}).encode(),
        "timestamp_start": 1772600767.5,
    },
    "response": None,
    "error": {"msg": "connection lost", "timestamp": 1772600769.0},
}


def test_a_broken_flow_costs_itself_alone_and_a_cut_one_is_said(bench):
    good = dumps(FLOW)
    bad = dumps({"version": 21, "request": b"x"}).replace(b"7:request;", b"9:request;")
    tcp = dumps({"version": 21, "type": "tcp", "messages": []})
    bench.put("flows", good + bad + tcp + good.replace(b"2:r1,", b"2:r2,") + good[:-40])
    summary = bench.run()
    assert sorted(bench.joined()) == ["r1", "r2"]
    row = bench.joined()["r1"]
    assert (row["status"], row["prompt_state"], row["response_state"]) == ("error", "full", "absent")
    (file,) = summary.figures["files"]
    assert (file["records"], file["rejected"], file["structure"]) == (2, 2, 1)
    assert file["reasons"] == {"bad_container": 1, "cut_last_line": 1}


def test_what_only_begins_with_digits_is_no_flow_file():
    assert transcoders.of_head(b"12:30:01 server started\n") is None
    assert transcoders.of_head(b"2026-03-04 05:06:07 POST\n") is None


yaml = pytest.mark.skipif(importlib.util.find_spec("yaml") is None, reason="needs the extra vcr")
INTERACTION = """- request: {{method: POST, uri: "https://x/v1/completions", body: '{{"model": "m", "prompt": "{0}"}}'}}
  response:
    status: {{code: 200}}
    body: {{string: {1}}}
"""


@yaml
def test_scalars_stay_the_texts_that_they_are(bench):
    answer = '\'{"id": "c1", "object": "text_completion", "choices": [{"text": "2026-05-06"}]}\''
    bench.put("c.yaml", "version: 1\ninteractions:\n" + INTERACTION.format("NO", answer))
    bench.run()
    assert bench.texts("c1") == {"<prompt": "NO", "choices[0].content": "2026-05-06"}


@yaml
@pytest.mark.parametrize(
    "text",
    [
        "interactions:\n" + "".join(f"- &a{n} [{', '.join([f'*a{n - 1}'] * 9) if n else 'x'}]\n" for n in range(12)),
        "interactions:\n- " + "[" * 5000 + "]" * 5000 + "\n",
        "interactions:\n- !!python/object/apply:os.system ['touch harm']\n- {a: 1\n",
        "interactions:\n- &x {a: *x}\n",
        "interactions:\n- !!binary '%%%'\n",
        "interactions:\n",
        "interactions:\n[{request: 1}, {request: 2}]\n",
    ],
    ids=["laughs", "deep", "object", "cycle", "binary", "empty", "one-line"],
)
def test_hostile_cassettes_are_read_or_counted(tmp_path, monkeypatch, text):
    monkeypatch.chdir(tmp_path)
    for unit in units(tmp_path / "c.yaml", text.encode()):
        if isinstance(unit, Unit) and not unit.structure and unit.reason is None and unit.data:
            json.loads(unit.data)
    assert [path.name for path in tmp_path.iterdir()] == ["c.yaml"]


def test_without_the_library_a_cassette_is_said_to_be_unsupported(bench, monkeypatch):
    monkeypatch.setattr(transcoders.load("vcr"), "missing", lambda: "a VCR cassette in YAML; install the extra")
    bench.put("c.yaml", "interactions:\n- request: 1\n")
    bench.put("ok.jsonl", '{"request_id": "r", "tenant_id": "t"}\n')
    summary = bench.run()
    file = next(file for file in summary.figures["files"] if file["name"].endswith("c.yaml"))
    assert (file["format"], file["reasons"]) == ("unknown", {"unsupported_container": 1})
    assert "extra" in bench.rows("evidence", "name")[0]["format_reason"]


@pytest.mark.parametrize("cut", range(1, 400, 7))
def test_a_cut_container_is_accounted_for(tmp_path, cut):
    for path in [FORMATS / "mitmproxy" / "flows.mitm"]:
        data = path.read_bytes()
        units(tmp_path / "cut", data[: len(data) - cut])


@pytest.mark.parametrize("around", ["docker", "cri", "syslog"])
def test_the_entries_of_a_wrapped_har_share_its_bytes(bench, around):
    entry = {"startedDateTime": "2026-03-04T05:06:07Z", "request": {"method": "POST", "url": "https://x/v1/messages"}}
    har = {"log": {"version": "1.2", "entries": [{**entry, "time": number} for number in range(3)]}}
    data = wrapping.LINES[around][0]([json.dumps(har).encode()])
    bench.put("wrapped.log", data)
    bench.run()
    rows = bench.rows("records", "byte_offset")
    # No place inside the line is an entry's own.
    assert {row["byte_offset"] for row in rows} == {0}
    assert len(rows) == 3


def test_a_har_of_one_line_counts_every_byte_and_names_the_place_of_each_entry(bench):
    entry = {
        "startedDateTime": "2026-03-04T05:06:07Z",
        "time": 1,
        "request": {
            "method": "POST",
            "url": "https://x/v1/chat/completions",
            "headers": [],
            "postData": {"text": '{"model": "m", "messages": [{"role": "user", "content": "q é"}]}'},
        },
        "response": {"status": 200, "headers": [{"name": "x-request-id", "value": "same"}], "content": {"text": "{}"}},
    }
    other = {**entry, "time": 2}
    data = json.dumps({"log": {"version": "1.2", "entries": [entry, other, entry]}}, ensure_ascii=False).encode()
    path = bench.put("one.har", data)
    bench.run()
    rows = bench.rows("records", "byte_offset")
    assert len(rows) == 3
    content = path.read_bytes()
    for row in rows:
        held = json.loads(content[row["byte_offset"] : row["byte_offset"] + row["byte_length"]])
        assert held["request"] == entry["request"]
    # The same id twice with other facts is two calls; the same entry twice is one.
    assert len(bench.rows("requests", "key")) == 2
