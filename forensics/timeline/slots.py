"""Slots that no log states: the free list replayed for each scheduler whose lines of times tell admissions and ends.

Every scheduler gets an account of how its slots were had, or why they were not. Does not replay where the list's first
state is unknown (the log does not begin with the start), where the release, and so the list's order, is unknown, or
where admissions are not told; and takes back what the scheduler's own counts contradict.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from forensics.case.store import Case
from forensics.timeline.counts import agreement
from forensics.timeline.free_list import RESOLUTION_US, Pool, Stays, replay

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

_LEAST_AGREED = 0.95
_CONFIDENCE = 0.95
_CONFIDENCE_UNCHECKED = 0.8

NO_TIMES = "no line says when a call was admitted and when it ended (`--enable-request-time-stats-logging`)"
NO_ADMISSION = "this release's lines of times tell the end only, not the admission"
NO_START = "the log does not show the scheduler's start, so that the first state of its free list is unknown"
NO_SIZE = "the scheduler's start names no size of its pool"
NO_RELEASE = "the release is unknown, and so is the free list's order (`forensics timeline --engine-version`)"
PAIRED = "prefill and decode are apart: rows are given before a call's times say so"
CONTRADICTED = "the scheduler's own counts of running requests contradict the replay"
REPLAYED = "the release's free list replayed over admissions and ends; stays whose order is open have no slot"


@dataclass(frozen=True)
class Account:
    """How the slots of one scheduler were had; a row of `slot_derivations`."""

    worker: str
    basis: str
    policy: str | None
    version: str | None
    first_slot: int | None
    slots: int | None
    stays: int
    given: int
    checks: int
    agreed: int
    reason: str


@dataclass(frozen=True)
class _Segment:
    """The lines `[start, stop)` of one process between two starts, and the size of its pool."""

    start: int
    stop: int
    slots: int | None
    started: bool


def pool_of(release: str | None, regime: str, slots: int) -> Pool | None:
    """The free list of a release: FIFO up to 0.5.17, LIFO from 0.5.18; row 0 is padding since 0.5.11. None: unknown."""
    parts = _parts(release)
    if parts is None:
        # Releases with times of day in these lines have both orders; those with the host's clock are older.
        return Pool("fifo", slots, 0) if regime == "monotonic" else None
    if parts >= (0, 5, 18):
        return Pool("lifo", slots, 1)
    return Pool("fifo", slots, 1 if regime == "entry_time" or parts >= (0, 5, 11) else 0)


def _parts(release: str | None) -> tuple[int, ...] | None:
    if not release:
        return None
    try:
        return tuple(int(part) for part in release.split(".")[:3])
    except ValueError:
        return None


def derive(case: Case, version: str | None) -> tuple[pa.Table, list[Account]]:
    """The derived stays, as rows of `residencies`, and the account of each scheduler that has lines of times."""
    import numpy as np

    lines = case.arrow("timeline/slot_lines")
    columns = {name: lines[name].to_numpy() for name in ("place", "evidence", "byte_offset")}
    marks = case.rows("timeline/slot_marks")
    counts = case.rows("timeline/slot_counts")
    untold: dict[str, list[int]] = {}
    logged = {worker for (worker,) in case.rows("timeline/logged_workers")}
    for worker, received in case.rows("timeline/untold_calls"):
        untold.setdefault(worker, []).append(received)
    accounts: list[Account] = []
    found: list[dict[str, Any]] = []
    for worker, place, evidence, regime, paired, release, policy, event_worker in case.rows("timeline/slot_engine"):
        if worker in logged:
            continue  # what is written needs no deriving
        here = np.flatnonzero((columns["place"] == place) & (columns["evidence"] == evidence))
        own_marks = [mark for mark in marks if mark[0] == evidence and mark[2] == event_worker]
        own_counts = [row for row in counts if row[0] == evidence and row[2] == event_worker]
        known = version or release
        if paired or not len(here) or regime not in ("entry_time", "monotonic"):
            reason = PAIRED if paired else NO_ADMISSION
            accounts.append(Account(worker, "none", None, known, None, None, len(here), 0, 0, 0, reason))
            continue
        part = lines.take(here)
        for segment in _segments(part["byte_offset"].to_numpy(), own_marks):
            rows = part.slice(segment.start, segment.stop - segment.start)
            if not rows.num_rows:
                continue
            pool = pool_of(known, regime, segment.slots or 0)
            reason = (
                NO_START
                if not segment.started
                else NO_SIZE
                if not segment.slots
                else NO_RELEASE
                if pool is None
                else ""
            )
            if reason or pool is None:
                accounts.append(
                    Account(worker, "none", None, known, None, segment.slots, rows.num_rows, 0, 0, 0, reason)
                )
                continue
            slot, sure, checks, agreed = _replay(
                rows, pool, policy == "fcfs", own_marks, own_counts, untold.get(worker, [])
            )
            stands = not checks or agreed >= _LEAST_AGREED * checks
            given = int(sure.sum()) if stands else 0
            accounts.append(
                Account(
                    worker,
                    "derived" if stands else "withdrawn",
                    pool.policy,
                    known,
                    pool.first,
                    pool.size,
                    rows.num_rows,
                    given,
                    checks,
                    agreed,
                    REPLAYED if stands else CONTRADICTED,
                )
            )
            if stands:
                found.append(_rows(worker, rows, slot, sure, _CONFIDENCE if checks else _CONFIDENCE_UNCHECKED))
    return _table(found), accounts


def _segments(offsets: np.ndarray[Any, Any], marks: Sequence[tuple[Any, ...]]) -> list[_Segment]:
    """The runs of lines between starts of the scheduler, in the order of the file."""
    import numpy as np

    starts = [mark for mark in marks if mark[4] == "scheduler_start"]
    edges = [0, *(int(np.searchsorted(offsets, mark[1])) for mark in starts), len(offsets)]
    sizes = [None, *(mark[5] for mark in starts)]
    return [_Segment(edges[i], edges[i + 1], sizes[i], i > 0) for i in range(len(sizes))]


def _replay(
    rows: pa.Table,
    pool: Pool,
    ordered: bool,
    marks: Sequence[tuple[Any, ...]],
    counts: Sequence[tuple[Any, ...]],
    untold: Sequence[int],
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], int, int]:
    """Slots, whether they are sure, and how many of the scheduler's counts there were and agreed."""
    import numpy as np

    waited, admitted, done, line = (
        rows[name].to_numpy().astype(np.int64) for name in ("waited_us", "admitted_us", "done_us", "byte_offset")
    )
    # No stay ends within the rounding of its admission.
    done = np.maximum(done, admitted + 2_100)
    first, last = int(admitted.min()), int(done.max())
    resets: list[int] = []
    doubts: list[int] = [moment for moment in untold if first <= moment <= last]
    for _, offset, _, at, kind, _ in marks:
        if at is None or not line[0] <= offset <= line[-1]:
            continue
        if kind == "retraction":
            doubts.append(at)
        elif kind == "cache_flush":
            # It is done while nothing runs only: what was written before it ended before, what comes later came later.
            ended, begun = done[line < offset], admitted[line > offset]
            moment = int(begun.min()) if len(begun) else last + 1
            held = ((admitted < at) & (done > at + 1_100_000)).any()  # the stamp may be of that second only
            apart = not held and (not len(ended) or int(ended.max()) <= moment + RESOLUTION_US)
            (resets if apart else doubts).append(moment if apart else at)
    replayed = replay(
        Stays(waited, admitted, done, line, rows["doubtful"].to_numpy(zero_copy_only=False)),
        pool,
        ordered=ordered,
        resets=np.array(sorted(resets), dtype=np.int64),
        doubts=np.array(sorted(doubts), dtype=np.int64),
    )
    # After the first doubt nothing is given, and stays are missing, so that counts say nothing.
    until = min(doubts) - 1_000_000 if doubts else last
    known = [row for row in counts if line[0] <= row[1] <= line[-1] and row[3] <= until]
    moments = np.array([row[3] for row in known], dtype=np.int64)
    running = np.array([row[4] for row in known], dtype=np.int64)
    agreed = agreement(admitted, done, moments, running)
    sure = replayed.sure.copy()
    wrong = np.flatnonzero(~agreed)
    runs = wrong[:-2][(wrong[2:] - wrong[:-2]) == 2] if len(wrong) > 2 else wrong[:0]
    if len(runs):
        sure &= admitted < moments[runs[0]] - 1_000_000  # three counts in a row: something is missing from here on
    return replayed.slot, sure, len(agreed), int(agreed.sum())


def _rows(
    worker: str, rows: pa.Table, slot: np.ndarray[Any, Any], sure: np.ndarray[Any, Any], confidence: float
) -> dict[str, Any]:
    """What of a scheduler's stays the timeline takes: those of calls of the case whose slot is sure."""
    import numpy as np

    request = rows["request"].to_numpy(zero_copy_only=False).astype(np.float64)
    kept = np.flatnonzero(sure & ~np.isnan(request))
    return {
        "request": request[kept].astype(np.int64),
        "worker": worker,
        "slot": slot[kept],
        "start": rows["admitted_us"].to_numpy()[kept],
        "end": np.maximum(rows["done_us"].to_numpy()[kept], rows["admitted_us"].to_numpy()[kept]),
        "confidence": confidence,
    }


def _table(found: Sequence[dict[str, Any]]) -> pa.Table:
    import numpy as np
    import pyarrow as pa

    def whole(name: str, kind: Any) -> Any:
        return pa.array(np.concatenate([part[name] for part in found]) if found else [], kind)

    sizes = [len(part["request"]) for part in found]
    total = sum(sizes)

    def repeated(name: str, kind: Any) -> Any:
        return pa.array([part[name] for part, size in zip(found, sizes, strict=True) for _ in range(size)], kind)

    return pa.table(
        {
            "request": whole("request", pa.int64()),
            "worker": repeated("worker", pa.string()),
            "slot": whole("slot", pa.int64()).cast(pa.string()),
            "phase": pa.array(["slot"] * total, pa.string()),
            "start": whole("start", pa.int64()).cast(pa.timestamp("us")),
            "end": whole("end", pa.int64()).cast(pa.timestamp("us")),
            "basis": pa.array(["derived"] * total, pa.string()),
            "confidence": repeated("confidence", pa.float64()),
            "source": pa.array(["free_list"] * total, pa.string()),
        }
    )
