"""The picture of workers and arrows: valid trace events, nothing that names a tenant."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

from case_builder import HOSTILE_TENANTS, CaseBuilder, at, hostile_case, small_case
from hypothesis import given
from hypothesis import strategies as st
from served import append, served

from forensics.scope.run import Parameters, run
from forensics.scope.trace import lanes
from forensics.timeline import mechanisms
from forensics.timeline import run as timeline


def trace(builder: CaseBuilder, root: Path, slices: int = 100) -> dict[str, Any]:
    with builder.write(root) as case:
        timeline.run(case, timeline.Parameters())
        run(case, Parameters(trace_slices=slices))
    document: dict[str, Any] = json.loads((root / "out/trace.json").read_text())
    return document


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 20)), max_size=40))
def test_no_lane_holds_two_at_once_and_no_lane_is_wasted(stays: list[tuple[int, int]]) -> None:
    intervals = sorted((start, start + length) for start, length in stays)
    chosen = lanes(intervals)
    for lane in set(chosen):
        members = [interval for interval, other in zip(intervals, chosen, strict=True) if other == lane]
        assert all(a[1] <= b[0] for a, b in pairwise(members))
    deepest = max((sum(s <= moment < e for s, e in intervals) for moment, _ in intervals), default=0)
    assert len(set(chosen)) == deepest


def test_slices_arrows_and_counters(tmp_path: Path) -> None:
    document = trace(small_case(), tmp_path / "c")
    events = document["traceEvents"]
    slices = [e for e in events if e["ph"] == "X"]
    assert len(slices) == 8
    assert min(e["ts"] for e in slices) == 0
    assert document["otherData"]["origin_us"] == 1772618400000000
    assert {e["name"] for e in events if e["ph"] == "M"} == {
        "process_name",
        "process_sort_index",
        "thread_name",
        "thread_sort_index",
    }
    for _, members in groupby(
        sorted(slices, key=lambda e: (e["pid"], e["tid"], e["ts"])), lambda e: (e["pid"], e["tid"])
    ):
        ends = 0
        for event in members:
            assert event["ts"] >= ends
            ends = event["ts"] + event["dur"]
    starts = {e["id"]: e for e in events if e["ph"] == "s"}
    finishes = {e["id"]: e for e in events if e["ph"] == "f"}
    # f1: a1 -> b1; f2: d1 -> c1 and a1 -> c1 (a set); f3: a1 -> c1, one arrow with f2's.
    assert len(starts) == len(finishes) == 3
    for number, start in starts.items():
        finish = finishes[number]
        assert finish["bp"] == "e" and start["ts"] <= finish["ts"]
        for event in (start, finish):
            inside = [
                e
                for e in slices
                if (e["pid"], e["tid"]) == (event["pid"], event["tid"]) and e["ts"] <= event["ts"] < e["ts"] + e["dur"]
            ]
            assert len(inside) == 1
    counters = [e for e in events if e["ph"] == "C"]
    assert max(e["args"]["in flight"] for e in counters) == 2  # req-c1 and req-d1 on w1


def test_weak_findings_draw_no_arrow(tmp_path: Path) -> None:
    b = small_case()
    b.fragment("weak", 6, 0, 5, ["delta"], [(4, "prompt")], machine_verdict="possible")
    events = trace(b, tmp_path / "c")["traceEvents"]
    assert sum(e["ph"] == "s" for e in events) == 3


def test_involved_requests_come_first_when_room_is_short(tmp_path: Path) -> None:
    document = trace(small_case(), tmp_path / "c", slices=5)
    roles = sorted(e["cat"] for e in document["traceEvents"] if e["ph"] == "X")
    assert roles == ["recipient", "recipient", "recipient", "source", "source"]


def test_no_names_leave_the_house(tmp_path: Path) -> None:
    root = tmp_path / "c"
    document = trace(hostile_case(), root)
    text = json.dumps(document, ensure_ascii=False)
    for name in HOSTILE_TENANTS:
        assert name not in text and json.dumps(name)[1:-1] not in text
    assert "invoice" not in text
    assert (root / "restricted/pseudonyms.csv").is_file()


# The fields that each phase must have, and may have, by the Trace Event Format (Google, "Trace Event Format", JSON object
# format; phases X, M, C, s, f, i).
REQUIRED = {
    "X": {"name", "ph", "ts", "dur", "pid", "tid"},
    "M": {"name", "ph", "pid", "tid", "args"},
    "C": {"name", "ph", "ts", "pid", "args"},
    "s": {"name", "ph", "id", "ts", "pid", "tid", "cat"},
    "f": {"name", "ph", "id", "ts", "pid", "tid", "cat"},
    "i": {"name", "ph", "ts", "pid", "tid", "s"},
}
OPTIONAL = {"cat", "args", "tid", "bp"}
METADATA = {"process_name", "process_sort_index", "thread_name", "thread_sort_index"}


def problems(document: dict[str, Any]) -> list[str]:
    """What the specification forbids, in words; empty for a sound file."""
    found = []
    if not isinstance(document.get("traceEvents"), list) or document.get("displayTimeUnit") not in ("ms", "ns"):
        found.append("no list of events, or an unknown unit")
    threads = {(e["pid"], e["tid"]) for e in document["traceEvents"] if e["ph"] == "M" and e["name"] == "thread_name"}
    for event in document["traceEvents"]:
        phase = event.get("ph")
        if phase not in REQUIRED:
            found.append(f"phase {phase}")
            continue
        if REQUIRED[phase] - set(event) or set(event) - REQUIRED[phase] - OPTIONAL:
            found.append(f"fields of {phase}: {sorted(event)}")
        for name in ("ts", "dur", "pid", "tid"):
            if name in event and (type(event[name]) not in (int, float) or event[name] < 0):
                found.append(f"{name} of {phase}: {event[name]!r}")
        if phase == "M" and event["name"] not in METADATA:
            found.append(f"metadata {event['name']}")
        if phase == "C" and not all(type(value) in (int, float) for value in event["args"].values()):
            found.append("a counter that is no number")
        if phase == "i" and event["s"] not in ("g", "p", "t"):
            found.append("scope of an instant")
        if phase == "f" and event.get("bp") != "e":
            found.append("an arrow that binds to the next slice")
        if phase in "Xsf" and (event["pid"], event["tid"]) not in threads:
            found.append(f"{phase} on a thread without a name")
    return found


def slotted(root: Path) -> dict[str, Any]:
    incident = served(21, calls=60)
    incident.leaks = [
        (c.former, c.number)
        for c in incident.calls
        if c.former is not None and incident.calls[c.former].tenant != c.tenant
    ][:5]
    incident.flushes = [10.0]
    with incident.write(root) as case:
        incident.fill(case)
        usage = {"evidence": 0, "byte_offset": 1, "at": at(12), "worker": "w1", "kind": "decode_batch"}
        append(case, "engine_events", [usage | {"counts": '{"running_req":3,"token_usage":0.41}'}])
        mechanisms.fill(case, mechanisms.Settings())
        run(case, Parameters(trace_slices=1000))
    document: dict[str, Any] = json.loads((root / "out/trace.json").read_text())
    document["incident"] = incident
    return document


def test_every_file_keeps_to_the_specification(tmp_path: Path) -> None:
    assert problems(trace(small_case(), tmp_path / "a")) == []
    assert problems(trace(hostile_case(), tmp_path / "b")) == []
    assert problems(slotted(tmp_path / "c")) == []
    broken = {
        "traceEvents": [{"ph": "X", "name": "x", "ts": -1, "dur": 1, "pid": 1, "tid": 1}],
        "displayTimeUnit": "ms",
    }
    assert problems(broken)


def test_slots_are_threads_and_passes_are_counted(tmp_path: Path) -> None:
    document = slotted(tmp_path / "c")
    incident, events = document["incident"], document["traceEvents"]
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    assert set(names.values()) == {f"slot {slot}" for slot in {c.slot for c in incident.calls}}
    slices = [e for e in events if e["ph"] == "X"]
    assert len(slices) == 60
    by_slot = sorted((names[e["pid"], e["tid"]], e["ts"], e["dur"]) for e in slices)
    first = min(c.start for c in incident.calls)
    expected = sorted(
        (f"slot {c.slot}", round((c.start - first) * 1e6), round(c.end * 1e6) - round(c.start * 1e6))
        for c in incident.calls
    )
    assert [row[0] for row in by_slot] == [row[0] for row in expected]
    assert all(abs(a[1] - b[1]) <= 1 and abs(a[2] - b[2]) <= 1 for a, b in zip(by_slot, expected, strict=True))
    # The arrow stays in the slot that was handed on.
    arrows = {e["id"]: [] for e in events if e["ph"] == "s"}
    for event in events:
        if event["ph"] in "sf":
            arrows[event["id"]].append((event["pid"], event["tid"]))
    assert len(arrows) == 5 and all(start == end for start, end in arrows.values())
    sizes = [e["args"]["requests"] for e in events if e["ph"] == "C" and e["name"] == "batch size"]
    assert max(sizes) == max(len(members) for _, _, _, members in incident.passes)
    assert [e["args"] for e in events if e["ph"] == "C" and e["name"] == "KV cache use"] == [{"share": 0.41}]
    assert [e["name"] for e in events if e["ph"] == "i"] == ["cache flush"]
    assert document["otherData"]["basis"] == "60 of 60 stays are in a known slot: 60 logged, 0 derived"


def test_the_timeline_export_has_slots_flushes_and_microseconds(tmp_path: Path) -> None:
    document = slotted(tmp_path / "c")
    events = [json.loads(line) for line in (tmp_path / "c/out/timeline.jsonl").read_text().split("\n") if line]
    assert [e["timestamp"] for e in events] == sorted(e["timestamp"] for e in events)
    assert {"message", "datetime", "timestamp", "timestamp_desc", "data_type"} <= set.intersection(*map(set, events))
    source, recipient = document["incident"].leaks[0]
    taken = next(e for e in events if e["timestamp_desc"] == "Slot Taken" and e["request_uid"] == recipient)
    call = document["incident"].calls[recipient]
    moment = at(call.start)
    assert taken["slot"] == str(call.slot)
    assert taken["datetime"] == moment.strftime("%Y-%m-%dT%H:%M:%S.%f+00:00")
    assert taken["timestamp"] == (moment - datetime(1970, 1, 1)) // timedelta(microseconds=1)
    freed = next(e for e in events if e["timestamp_desc"] == "Slot Freed" and e["request_uid"] == source)
    assert freed["slot"] == taken["slot"] and freed["timestamp"] <= taken["timestamp"]
    assert [e["message"] for e in events if e["data_type"] == "llm:engine"] == ["Cache Flush"]
