"""Between which rates does a count of a total leave the truth? Exact binomial intervals; knows no case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Interval:
    """A binomial rate with its exact bounds."""

    rate: float | None
    low: float | None
    high: float | None
    method: str


def exact_interval(hits: int, total: int, confidence: float) -> Interval:
    """Clopper-Pearson interval of a rate; for no hits the one-sided upper limit (the rule of three)."""
    level = f"{confidence * 100:g} %"
    if total == 0:
        return Interval(None, None, None, "no examined response in this period: the rate is not known")
    from scipy.stats import binomtest

    if hits == 0:
        upper = binomtest(0, total, alternative="less").proportion_ci(confidence, method="exact").high
        return Interval(0.0, 0.0, float(upper), f"exact one-sided {level} upper limit for no hit (rule of three)")
    bounds = binomtest(hits, total).proportion_ci(confidence, method="exact")
    return Interval(hits / total, float(bounds.low), float(bounds.high), f"exact {level} interval (Clopper-Pearson)")


def exact_limits(counts: Sequence[tuple[int, int]], confidence: float = 0.95) -> list[tuple[float, float] | None]:
    """Limits of each (hits, total), Clopper-Pearson; one-sided for none and for all of them; None of nothing."""
    from scipy.special import betaincinv  # a beta quantile; scipy.stats has the same one, and takes long to import

    tail = (1 - confidence) / 2
    made: list[tuple[float, float] | None] = []
    for hits, total in counts:
        if total == 0:
            made.append(None)
        elif hits == 0:
            made.append((0.0, 1 - (1 - confidence) ** (1 / total)))
        elif hits == total:
            made.append(((1 - confidence) ** (1 / total), 1.0))
        else:
            made.append(
                (
                    float(betaincinv(hits, total - hits + 1, tail)),
                    float(betaincinv(hits + 1, total - hits, 1 - tail)),
                )
            )
    return made
