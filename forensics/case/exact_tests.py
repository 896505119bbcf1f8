"""Is a difference more than chance makes? Fisher's exact test of two counts, Holm's correction; knows no case."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal


def fisher(
    one: tuple[int, int], other: tuple[int, int], alternative: Literal["two-sided", "greater"] = "two-sided"
) -> float:
    """p of Fisher's exact test that (hits, total) `one` and `other` have one rate; `greater`: that `one` has no higher
    one. 1 where one of them is of nothing."""
    from scipy.stats import fisher_exact

    cells = [[hits, total - hits] for hits, total in (one, other)]
    return float(fisher_exact(cells, alternative=alternative).pvalue)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjusted p-values (Holm 1979), in the order given."""
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    adjusted = [0.0] * len(p_values)
    running = 0.0
    for place, index in enumerate(order):
        running = max(running, min(1.0, (len(p_values) - place) * p_values[index]))
        adjusted[index] = running
    return adjusted
