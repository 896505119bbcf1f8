"""How is a figure of the table `numbers` put into words? The only way a number gets into prose."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson

from forensics.case.store import Case
from forensics.report.render import NOT_MEASURED, minute_down, minute_up, thousands

_RARE = 1e-6
_SELDOM = 0.01


@dataclass(frozen=True)
class Number:
    """One row of `numbers`."""

    name: str
    value: Any
    n: int | None
    total: int | None
    low: float | None
    high: float | None
    method: str


@dataclass(frozen=True)
class Numbers:
    """Every figure of the case, by name. A name that is not there is an error, so that no sentence lacks its number."""

    rows: dict[str, Number]

    @classmethod
    def load(cls, case: Case) -> Numbers:
        """The figures that scope wrote."""
        return cls(
            {
                row[0]: Number(row[0], None if row[1] is None else orjson.loads(row[1]), *row[2:])
                for row in case.rows("scope/out_numbers")
            }
        )

    def known(self, name: str) -> bool:
        """Whether the figure exists and was measured."""
        return name in self.rows and self.rows[name].value is not None

    def total(self, name: str) -> int:
        """The total of a share; 0 where the figure is absent, for conditions."""
        return (self.rows[name].total or 0) if name in self.rows else 0

    def value(self, name: str) -> Any:
        """The bare value, for conditions."""
        return self.rows[name].value

    def count(self, name: str) -> str:
        """`155`, or `not measured`."""
        return thousands(self.rows[name].value)

    def of(self, name: str) -> str:
        """`155 of 3,100`, or the count alone where there is no total."""
        row = self.rows[name]
        if row.n is None:
            return NOT_MEASURED
        return thousands(row.n) if row.total is None else f"{thousands(row.n)} of {thousands(row.total)}"

    def share(self, name: str) -> str:
        """`155 of 3,100 (5 %)`: never the percentage alone."""
        row = self.rows[name]
        if row.n is None or not row.total:
            return self.of(name)
        return f"{self.of(name)} ({100 * row.n / row.total:.3g} %)"

    def interval(self, name: str) -> str:
        """`0.1 % to 2.3 %`, or that the rate is not known."""
        row = self.rows[name]
        if row.high is None:
            return "not known" if row.low is None else f"at least {100 * row.low:.3g} %"
        if row.low is None:
            return f"at most {100 * row.high:.3g} %"
        if row.n == 0:
            return f"at most {100 * row.high:.3g} %"
        return f"{100 * row.low:.3g} % to {100 * row.high:.3g} %"

    def brief(self, name: str) -> str:
        """`155`, or in a word why not: `not measured`, `not assessable`, `not known`."""
        if self.known(name):
            return self.count(name)
        why = self.method(name).partition(":")[0]
        return why if why in ("not measured", "not assessable") else "not known"

    def limits(self, name: str) -> str:
        """Limits of a count: `150 to 171`, `at most 171`, or nothing."""
        row = self.rows[name]
        if row.high is None:
            return "" if row.low is None else f"at least {thousands(round(row.low))}"
        high = thousands(math.ceil(row.high))
        return f"at most {high}" if row.low is None else f"{thousands(math.floor(row.low))} to {high}"

    def chance(self, name: str) -> str:
        """A probability in words: `below 1 in 1,000,000`, `about 1 in 12`, `2.5 %`, or that it is not known."""
        value = self.rows[name].value
        if value is None:
            return "not known"
        if value < _RARE:
            return f"below 1 in {thousands(round(1 / _RARE))}"
        return f"about 1 in {thousands(round(1 / value))}" if value < _SELDOM else f"{100 * value:.2g} %"

    def measured(self, name: str) -> str:
        """`155 (how)`, or only why it was not measured."""
        return f"{self.count(name)} ({self.method(name)})" if self.known(name) else self.method(name)

    def method(self, name: str) -> str:
        """How the figure came about."""
        return self.rows[name].method

    def starting(self, prefix: str) -> list[Number]:
        """Every figure whose name begins with `prefix`, sorted."""
        return [self.rows[name] for name in sorted(self.rows) if name.startswith(prefix)]

    def moment(self, name: str) -> int | None:
        """A time in microseconds since 1970; None where the figure is absent or not known."""
        return microseconds(self.rows[name].value) if name in self.rows else None

    def minute_down(self, name: str) -> str:
        """A time down to the minute."""
        return minute_down(microseconds(self.rows[name].value))

    def minute_up(self, name: str) -> str:
        """A time up to the minute."""
        return minute_up(microseconds(self.rows[name].value))


def microseconds(value: str | None) -> int | None:
    """A time of the figures (`2026-03-04T10:00:00.000000Z`) in microseconds since 1970."""
    if value is None:
        return None
    moment = datetime.strptime(value, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC)
    return int(moment.timestamp()) * 1_000_000 + moment.microsecond
