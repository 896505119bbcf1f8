"""Which figures does the scope come to, with their denominators, intervals and methods? Does not write files.

Every figure that a report prints stands here once, by name. The counts are SQL; the intervals are scipy's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import orjson

from forensics.case.intervals import Interval, exact_interval
from forensics.case.store import Case
from forensics.scope.bounds import from_controls
from forensics.scope.causes import from_timeline
from forensics.scope.ending import from_window
from forensics.scope.lower import lower_bound
from forensics.scope.number import Number, Scalar

__all__ = ["Interval", "Number", "Scalar", "collect", "exact_interval", "numbers_table"]

if TYPE_CHECKING:
    import pyarrow as pa


def collect(case: Case, confidence: float) -> list[Number]:
    """Every figure of the case, sorted by name. Reads the verdicts and lists of this run."""
    numbers = [
        Number(name, n, method, n=n, total=total)
        for query in ("scope/counts", "scope/coverage", "scope/met")
        for name, n, total, method in case.rows(query)
    ]
    numbers += [Number(name, value, method) for name, value, method in case.rows("scope/window")]
    numbers += _rates(case, confidence)
    numbers += from_window(case, confidence)
    numbers.append(lower_bound(case))
    numbers += _lengths(case)
    numbers += from_controls(case, confidence)
    numbers += from_timeline(case)
    numbers += _unmeasured()
    return sorted(numbers, key=lambda number: number.name)


def numbers_table(numbers: list[Number]) -> pa.Table:
    """The figures as rows of the table `numbers`."""
    import pyarrow as pa

    return pa.table(
        {
            "name": pa.array([number.name for number in numbers], pa.string()),
            "value": pa.array([_json(number.value) for number in numbers], pa.string()),
            "n": pa.array([number.n for number in numbers], pa.int64()),
            "total": pa.array([number.total for number in numbers], pa.int64()),
            "low": pa.array([number.low for number in numbers], pa.float64()),
            "high": pa.array([number.high for number in numbers], pa.float64()),
            "method": pa.array([number.method for number in numbers], pa.string()),
        }
    )


_PERIODS = {
    "rate.before_window": "affected among examined responses before the window: none, by the window's definition",
    "rate.in_window": "affected among examined responses received in the window",
    "rate.after_window": "affected among examined responses after the window: none, by the window's definition",
    "rate.whole": "affected among examined responses; no affected response, so there is no window",
}


def _rates(case: Case, confidence: float) -> Iterator[Number]:
    for name, hits, total in case.rows("scope/rates"):
        interval = exact_interval(hits, total, confidence)
        method = f"{_PERIODS[name]}; {interval.method}"
        yield Number(name, interval.rate, method, hits, total, interval.low, interval.high)


def _lengths(case: Case) -> Iterator[Number]:
    fragments, shortest, median, longest, below_80 = case.rows("scope/lengths")[0]
    what = "code points of a fragment that is probable or better"
    yield Number("fragment_length.shortest", shortest, f"fewest {what}")
    yield Number("fragment_length.median", median, f"median {what} (the lower of two middle ones)")
    yield Number("fragment_length.longest", longest, f"most {what}")
    method = "fragments, probable or better, of fewer than 80 code points"
    yield Number("fragment_length.below_80", below_80, method, n=below_80, total=fragments)


def _unmeasured() -> Iterator[Number]:
    method = "these logs show that responses were generated; that they were returned or viewed is not inferred"
    yield Number("delivery", "generated", method)


def _json(value: Scalar) -> str | None:
    return None if value is None else orjson.dumps(value).decode()
