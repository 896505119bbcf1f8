"""What do affected responses have in common that unaffected ones have not? Counts are SQL, tests are scipy's.

A shared factor is no cause: it says where to look.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

import pyarrow as pa

from forensics.case.exact_tests import fisher, holm
from forensics.case.store import Case

_VALUES = 12
_LARGE = 5000


class Levels(Protocol):
    """`confidence` of the intervals, 0 to 1; `alpha` up to which a difference is claimed."""

    @property
    def confidence(self) -> float: ...

    @property
    def alpha(self) -> float: ...


@dataclass(frozen=True)
class Factor:
    """A row of leak_factors."""

    factor: str
    value: str
    affected: int
    affected_of: int
    unaffected: int
    unaffected_of: int
    odds_ratio: float | None
    low: float | None
    high: float | None
    p_value: float | None
    p_holm: float | None
    finding: str


def compare(case: Case, low: datetime | None, high: datetime | None, levels: Levels) -> list[Factor]:
    """Every property of responses that finished from `low` to `high`, tested; sorted by corrected p-value."""
    rows = case.rows("timeline/factors", {"low": low, "high": high, "values": _VALUES})
    tests = [_test(row[2], row[3], row[4], row[5], levels.confidence) for row in rows]
    corrected = holm([test[3] for test in tests])
    factors = []
    for row, (odds, lower, upper, p), p_holm in zip(rows, tests, corrected, strict=True):
        factor, value, affected, affected_of, unaffected, unaffected_of = row
        counts = (affected, affected_of, unaffected, unaffected_of)
        if p_holm > levels.alpha:
            finding = "no difference that chance could not make"
        elif affected * unaffected_of > unaffected * affected_of:
            finding = "more often among affected responses"
        else:
            finding = "less often among affected responses"
        factors.append(Factor(factor, value, *counts, odds, lower, upper, p, p_holm, finding))
    return sorted(factors, key=lambda f: (f.p_holm or 0.0, f.p_value or 0.0, f.factor, f.value))


def table(factors: Sequence[Factor], case: Case) -> pa.Table:
    """The rows as the table leak_factors."""
    return pa.Table.from_pylist([vars(factor) for factor in factors], schema=case.table("leak_factors").schema)


def _test(
    affected: int, affected_of: int, unaffected: int, unaffected_of: int, confidence: float
) -> tuple[float | None, float | None, float | None, float]:
    """Odds ratio with interval, and the two-sided p-value: exact and conditional unless all margins are large."""
    from scipy.stats.contingency import odds_ratio

    cells = [[affected, affected_of - affected], [unaffected, unaffected_of - unaffected]]
    p = fisher((affected, affected_of), (unaffected, unaffected_of))
    has = affected + unaffected
    margin = min(affected_of, unaffected_of, has, affected_of + unaffected_of - has)
    if margin == 0:
        return None, None, None, p
    found = odds_ratio(cells, kind="sample" if margin > _LARGE else "conditional")
    interval = found.confidence_interval(confidence)
    return _number(found.statistic), _number(interval.low), _number(interval.high), p


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
