"""Which requests were on which worker at the same time, and where did text travel (Perfetto trace)? No text, no names.

A process per worker, its slots as threads. Requests whose slot is not known stand in lanes, which only keep apart what
overlaps. The file leaves the house, so it holds pseudonyms, counts and verdicts. It is a JSON object of trace events.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from forensics.case.lanes import lanes
from forensics.case.pseudonyms import Pseudonyms
from forensics.case.store import Case

_COUNTER_POINTS = 4_000
_COUNTERS = (
    ("scope/trace_in_flight", "requests in flight", "in flight"),
    ("scope/trace_batch_sizes", "batch size", "requests"),
    ("scope/trace_kv_use", "KV cache use", "share"),
)


@dataclass(frozen=True)
class Stay:
    """One request on one worker, in microseconds since 1970."""

    request: int
    worker: str
    slot: str | None
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
        names, chosen = _threads(members)
        events += _names(pid, pseudonyms.worker(worker), names)
        for stay, thread in zip(members, chosen, strict=True):
            places.setdefault(stay.request, (pid, thread, stay))
            events.append(
                {
                    "ph": "X",
                    "name": stay.name,
                    "cat": stay.category,
                    "ts": stay.start - origin,
                    "dur": stay.end - stay.start,
                    "pid": pid,
                    "tid": thread,
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
            "basis": _basis(stays),
            "slices_shown": len(stays),
            "arrows_shown": len(flows),
            "arrows_total": len(arrows),
        },
    }
    return Trace(orjson.dumps(document) + b"\n", len(stays), len(flows))


def _stay(row: tuple[Any, ...], pseudonyms: Pseudonyms) -> Stay:
    request, request_id, tenant_id, worker, slot, start, end, basis, confidence, verdict = row[:10]
    is_recipient, is_source, fragments, characters = row[10:]
    role = "both" if is_recipient and is_source else "recipient" if is_recipient else "source" if is_source else "other"
    args: dict[str, Any] = {"tenant": pseudonyms.tenant(tenant_id), "basis": basis, "confidence": confidence}
    name = "other request"
    if role != "other":
        name = f"{role} {pseudonyms.request(request_id)}"
        args["request"] = pseudonyms.request(request_id)
    if is_recipient:
        args |= {"verdict": verdict, "fragments": fragments, "foreign_chars": characters}
    # A slice without length is not drawn, and an arrow cannot bind to it.
    return Stay(request, worker, slot, start, max(end, start + 1), name, role, args)


def _threads(members: Sequence[Stay]) -> tuple[list[str], list[int]]:
    """Names of the threads of one worker, and the thread (from 1) of each stay. Slots first, in the order of numbers.

    Stays that overlap in one slot (derived ones may) are kept on threads of their own, or the viewer would nest them.
    """
    slots = sorted({stay.slot for stay in members if stay.slot is not None}, key=_slot_order)
    names: list[str] = []
    chosen = [0] * len(members)
    for slot in [*slots, None]:
        own = [index for index, stay in enumerate(members) if stay.slot == slot]
        if not own:
            continue
        found = lanes([(members[index].start, members[index].end) for index in own])
        for index, lane in zip(own, found, strict=True):
            chosen[index] = len(names) + lane + 1
        extra = max(found) + 1
        if slot is None:
            names += [f"lane {lane + 1}" for lane in range(extra)]
        else:
            # Only a number is shown as it was logged: the file leaves the house.
            label = f"slot {slot}" if _slot_order(slot)[0] == 0 else f"named slot {slots.index(slot) + 1}"
            names += [label if lane == 0 else f"{label}, overlapping {lane}" for lane in range(extra)]
    return names, chosen


def _slot_order(slot: str) -> tuple[int, int, str]:
    # Not isdigit alone: a superscript is a digit to it and no number to int.
    return (0, int(slot), slot) if slot.isascii() and slot.isdigit() and len(slot) < 19 else (1, 0, slot)


def _basis(stays: Sequence[Stay]) -> str:
    shown = sum(stay.slot is not None for stay in stays)
    if not shown:
        return "derived from request times; slots are not in these logs"
    logged = sum(stay.slot is not None and stay.args["basis"] == "logged" for stay in stays)
    return f"{shown} of {len(stays)} stays are in a known slot: {logged} logged, {shown - logged} derived"


def _names(pid: int, process: str, threads: Sequence[str]) -> Iterable[dict[str, Any]]:
    yield {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": f"worker {process}"}}
    yield {"ph": "M", "name": "process_sort_index", "pid": pid, "tid": 0, "args": {"sort_index": pid}}
    for number, name in enumerate(threads, start=1):
        yield {"ph": "M", "name": "thread_name", "pid": pid, "tid": number, "args": {"name": name}}
        yield {"ph": "M", "name": "thread_sort_index", "pid": pid, "tid": number, "args": {"sort_index": number}}


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
    for query, name, key in _COUNTERS:
        for worker, bucket, value in case.rows(query, bounds):
            if worker in processes:
                yield {
                    "ph": "C",
                    "name": name,
                    "pid": processes[worker],
                    "tid": 0,
                    "ts": max(0, bucket - origin),
                    "args": {key: value},
                }
    for worker, moment, kind in case.rows("scope/trace_instants", bounds):
        if worker in processes:
            yield {
                "ph": "i",
                "s": "p",
                "name": kind.replace("_", " "),
                "cat": "engine",
                "pid": processes[worker],
                "tid": 0,
                "ts": moment - origin,
            }
