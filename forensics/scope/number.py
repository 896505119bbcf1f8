"""What is a figure? One value with its denominator, bounds and method. Computes nothing."""

from __future__ import annotations

from dataclasses import dataclass

Scalar = str | int | float | bool | None


@dataclass(frozen=True)
class Number:
    """One figure: null where it was not measured, `n` of `total` where it is a share, `low` and `high` its bounds."""

    name: str
    value: Scalar
    method: str
    n: int | None = None
    total: int | None = None
    low: float | None = None
    high: float | None = None
