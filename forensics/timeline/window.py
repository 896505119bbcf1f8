"""When did the fault begin and end, as far as the responses tell? Reads the series, asks for its change points.

Times are those at which responses finished: the fault was there at some moment before the first affected one was done.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import pyarrow as pa

from forensics.case.store import Case
from forensics.timeline.onset import Bound, Window, change_points

# Natural log of 20: a Bayes factor that is called strong.
STRONG = 3.0
_MOST_WORKERS = 20
_FEWEST = 5


@dataclass(frozen=True)
class Row:
    """A row of fault_window. `worker` None: all together."""

    worker: str | None
    bound: str
    at: datetime | None
    low: datetime | None
    high: datetime | None
    responses: int
    affected: int
    log_odds: float | None
    event_kind: str | None
    event_at: datetime | None
    finding: str


def find(case: Case, confidence: float) -> list[Row]:
    """Onset and end over all workers, and on each of those with the most affected responses."""
    everywhere: list[tuple[datetime, bool]] = []
    by_worker: dict[str, list[tuple[datetime, bool]]] = {}
    for worker, moment, affected in case.rows("timeline/examined_series"):
        everywhere.append((moment, affected))
        by_worker.setdefault(worker, []).append((moment, affected))
    events = [(worker, at, kind) for worker, at, kind in case.rows("timeline/turning_points")]
    rows = _rows(None, everywhere, events, confidence)
    hits = {worker: sum(flag for _, flag in series) for worker, series in by_worker.items()}
    chosen = sorted((w for w in hits if hits[w] >= _FEWEST), key=lambda w: (-hits[w], w))[:_MOST_WORKERS]
    if len(by_worker) > 1:
        for worker in sorted(chosen):
            rows += _rows(worker, by_worker[worker], events, confidence)
    return rows


def limits(rows: Sequence[Row]) -> tuple[datetime | None, datetime | None]:
    """Earliest onset and latest end over all workers; None where the logs do not bound it."""
    whole = {row.bound: row for row in rows if row.worker is None and row.at is not None}
    low = whole["onset"].low if "onset" in whole else None
    high = whole["end"].high if "end" in whole else None
    return low, high


def table(rows: Sequence[Row], case: Case) -> pa.Table:
    """The rows as the table fault_window."""
    return pa.Table.from_pylist([vars(row) for row in rows], schema=case.table("fault_window").schema)


def _rows(
    worker: str | None,
    series: Sequence[tuple[datetime, bool]],
    events: Sequence[tuple[str | None, datetime, str]],
    confidence: float,
) -> list[Row]:
    affected = sum(flag for _, flag in series)
    found = change_points([flag for _, flag in series], confidence)
    if found is None:
        finding = "too few affected responses to date it" if affected else "no affected response"
        return [_unknown(worker, bound, len(series), affected, None, finding) for bound in ("onset", "end")]
    if found.log_odds < STRONG:
        finding = "affected responses may as well come at one rate throughout these logs: no change is claimed"
        return [_unknown(worker, bound, len(series), affected, found, finding) for bound in ("onset", "end")]
    moments = [moment for moment, _ in series]
    return [
        _dated(worker, "onset", found.onset, moments, affected, found, events, confidence),
        _dated(worker, "end", found.end, moments, affected, found, events, confidence),
    ]


def _unknown(worker: str | None, bound: str, responses: int, affected: int, found: Window | None, finding: str) -> Row:
    odds = found.log_odds if found else None
    return Row(worker, bound, None, None, None, responses, affected, odds, None, None, finding)


def _dated(
    worker: str | None,
    bound: str,
    place: Bound,
    moments: Sequence[datetime],
    affected: int,
    found: Window,
    events: Sequence[tuple[str | None, datetime, str]],
    confidence: float,
) -> Row:
    """`place` counts the responses before the change: it lies between the last of them and the next one."""
    total = len(moments)
    low = moments[place.low - 1] if place.low > 0 else None
    high = moments[place.high] if place.high < total else None
    if bound == "onset":
        at = moments[place.best] if place.best > 0 else None
        open_end, words = place.low == 0, "it may have begun before these logs"
    else:
        at = moments[place.best - 1] if place.best < total else None
        open_end, words = place.high == total, "it may go on after these logs"
    level = f"{confidence * 100:g} %"
    finding = (
        f"exact {level} posterior interval of a change point in {total} examined responses, {affected} of them "
        f"affected; log Bayes factor {found.log_odds:.1f} against one rate throughout"
    )
    if open_end:
        finding += f"; {words}"
    near = [
        (abs(moment - at), moment, kind)
        for place_of, moment, kind in events
        if at is not None
        and (worker is None or place_of is None or place_of == worker)
        and (low is None or moment >= low)
        and (high is None or moment <= high)
    ]
    event = min(near, default=None)
    return Row(
        worker,
        bound,
        at,
        low,
        high,
        total,
        affected,
        found.log_odds,
        event[2] if event else None,
        event[1] if event else None,
        finding,
    )
