"""The picture of workers and arrows: valid trace events, nothing that names a tenant."""

from __future__ import annotations

import json
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

from case_builder import HOSTILE_TENANTS, CaseBuilder, hostile_case, small_case
from hypothesis import given
from hypothesis import strategies as st

from forensics.scope.run import Parameters, run
from forensics.scope.trace import lanes
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
