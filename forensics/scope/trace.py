"""Which requests were on which worker at the same time, and where did text travel (Perfetto trace)? No text, no names.

A process per worker, lanes as its threads. These logs do not hold slots: a lane only keeps stays that overlap apart.
The file leaves the house, so it holds pseudonyms, counts and verdicts.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from forensics.case.pseudonyms import Pseudonyms
from forensics.case.store import Case

_COUNTER_POINTS = 4_000


@dataclass(frozen=True)
class Stay:
    """One request on one worker, in microseconds since 1970."""

    request: int
    worker: str
    start: int
    end: int
    name: str
    category: str
    args: dict[str, Any]


@dataclass(frozen=True)
class Trace:
    """The finished file and what it shows."""

    document: bytes
    slices: int
    arrows: int


def lanes(intervals: Sequence[tuple[int, int]]) -> list[int]:
    """A lane for each interval `[start, end)`, sorted by start: the lowest that is free, so that no lane overlaps."""
    free: list[int] = []
    busy: list[tuple[int, int]] = []
    used = 0
    result = []
    for start, end in intervals:
        while busy and busy[0][0] <= start:
            heapq.heappush(free, heapq.heappop(busy)[1])
        if free:
            lane = heapq.heappop(free)
        else:
            lane, used = used, used + 1
        heapq.heappush(busy, (end, lane))
        result.append(lane)
    return result


def build(case: Case, pseudonyms: Pseudonyms, slices: int) -> Trace:
    """The trace of the case with at most `slices` stays; recipients and sources first."""
    stays = [_stay(row, pseudonyms) for row in case.rows("scope/trace_residencies", {"slices": slices})]
    arrows = case.rows("scope/trace_arrows")
    origin = min((stay.start for stay in stays), default=0)
    by_worker: defaultdict[str, list[Stay]] = defaultdict(list)
    for stay in stays:
        by_worker[stay.worker].append(stay)
    processes = {worker: index + 1 for index, worker in enumerate(sorted(by_worker, key=pseudonyms.worker))}
    events: list[dict[str, Any]] = []
    places: dict[int, tuple[int, int, Stay]] = {}
    for worker, pid in processes.items():
        members = by_worker[worker]
        chosen = lanes([(stay.start, stay.end) for stay in members])
        events += _names(pid, pseudonyms.worker(worker), max(chosen) + 1)
        for stay, lane in zip(members, chosen, strict=True):
            places.setdefault(stay.request, (pid, lane + 1, stay))
            events.append(
                {
                    "ph": "X",
                    "name": stay.name,
                    "cat": stay.category,
                    "ts": stay.start - origin,
                    "dur": stay.end - stay.start,
                    "pid": pid,
                    "tid": lane + 1,
                    "args": stay.args,
                }
            )
    flows = [row for row in arrows if row[0] in places and row[1] in places]
    for number, row in enumerate(flows, start=1):
        events += _flow(number, row, places, origin)
    events += _counters(case, stays, processes, origin)
    document = {
        "traceEvents": events,
        "displayTimeUnit": "ms",
        "otherData": {
            "schema": "trace/1.0",
            "case": pseudonyms.case_ref,
            "origin_us": origin,
            "basis": "derived from request times; slots and batches are not in these logs",
            "slices_shown": len(stays),
            "arrows_shown": len(flows),
            "arrows_total": len(arrows),
        },
    }
    return Trace(orjson.dumps(document) + b"\n", len(stays), len(flows))


def _stay(row: tuple[Any, ...], pseudonyms: Pseudonyms) -> Stay:
    request, request_id, tenant_id, worker, start, end, basis, confidence, verdict = row[:9]
    is_recipient, is_source, fragments, characters = row[9:]
    role = "both" if is_recipient and is_source else "recipient" if is_recipient else "source" if is_source else "other"
    args: dict[str, Any] = {"tenant": pseudonyms.tenant(tenant_id), "basis": basis, "confidence": confidence}
    name = "other request"
    if role != "other":
        name = f"{role} {pseudonyms.request(request_id)}"
        args["request"] = pseudonyms.request(request_id)
    if is_recipient:
        args |= {"verdict": verdict, "fragments": fragments, "foreign_chars": characters}
    # A slice without length is not drawn, and an arrow cannot bind to it.
    return Stay(request, worker, start, max(end, start + 1), name, role, args)


def _names(pid: int, process: str, lane_count: int) -> Iterable[dict[str, Any]]:
    yield {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": f"worker {process}"}}
    yield {"ph": "M", "name": "process_sort_index", "pid": pid, "tid": 0, "args": {"sort_index": pid}}
    for lane in range(1, lane_count + 1):
        yield {"ph": "M", "name": "thread_name", "pid": pid, "tid": lane, "args": {"name": f"lane {lane}"}}
        yield {"ph": "M", "name": "thread_sort_index", "pid": pid, "tid": lane, "args": {"sort_index": lane}}


def _flow(
    number: int, row: tuple[Any, ...], places: dict[int, tuple[int, int, Stay]], origin: int
) -> Iterable[dict[str, Any]]:
    source, recipient, fragments, characters, verdict, one_of_several = row
    source_pid, source_lane, source_stay = places[source]
    pid, lane, stay = places[recipient]
    # Both ends lie inside their slices, and the arrow never points back in time.
    arrives = stay.end - 1
    leaves = max(source_stay.start, min(source_stay.end - 1, arrives))
    shared = {"cat": "leak", "name": "leak", "id": number}
    args = {
        "fragments": fragments,
        "characters": characters,
        "verdict": verdict,
        "one_of_several_sources": one_of_several,
    }
    yield {**shared, "ph": "s", "ts": leaves - origin, "pid": source_pid, "tid": source_lane, "args": args}
    yield {**shared, "ph": "f", "bp": "e", "ts": arrives - origin, "pid": pid, "tid": lane, "args": args}


def _counters(case: Case, stays: Sequence[Stay], processes: dict[str, int], origin: int) -> Iterable[dict[str, Any]]:
    if not stays:
        return
    end = max(stay.end for stay in stays)
    width = max(1, (end - origin) // _COUNTER_POINTS)
    bounds: dict[str, object] = {"from_us": origin, "to_us": end, "width_us": width}
    for worker, bucket, in_flight in case.rows("scope/trace_in_flight", bounds):
        if worker in processes:
            yield {
                "ph": "C",
                "name": "requests in flight",
                "pid": processes[worker],
                "tid": 0,
                "ts": max(0, bucket - origin),
                "args": {"in flight": in_flight},
            }
