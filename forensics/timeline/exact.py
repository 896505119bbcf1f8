"""How often is a fact true of leaks, beyond what is true of what they were matched with? Exact, and set by set.

Each set holds one leak and its matched controls. If the leak were no different from its controls, each member of a set
would be the one that has the fact with equal chance, so that the number of leaks that have it is a sum of independent
yes-or-no draws (a Poisson binomial distribution, from scipy); with an odds ratio each draw is tilted by it. This is the
exact form of conditional logistic regression for one case and several controls (Breslow and Day 1980, chapter 7).
Knows no mechanism and no table.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Stratum:
    """One set: whether the leak has the fact, and how many of its controls have it."""

    leak: bool
    with_fact: int
    controls: int


@dataclass(frozen=True)
class Matched:
    """The test of one fact. `odds_ratio` is the conditional maximum-likelihood estimate, infinite where every leak that
    could tell has the fact; `p_value` is one-sided; `least_p` is the smallest that these sets could have given. All are
    None where no set tells leaks and controls apart (`informative` is 0)."""

    leaks: int
    leaks_with: int
    controls: int
    controls_with: int
    informative: int
    odds_ratio: float | None
    low: float | None
    high: float | None
    p_value: float | None
    least_p: float | None


def matched(strata: Sequence[Stratum], confidence: float = 0.95) -> Matched:
    """The exact test over `strata`, each with at least one control. `confidence`: of the two-sided interval, 0 to 1."""
    used = [stratum for stratum in strata if stratum.controls > 0]
    counts = (
        len(used),
        sum(stratum.leak for stratum in used),
        sum(stratum.controls for stratum in used),
        sum(stratum.with_fact for stratum in used),
    )
    # A set in which all or none have the fact says nothing of the leak.
    telling = [s for s in used if 0 < s.with_fact + s.leak < s.controls + 1]
    least = math.prod(max(1, s.with_fact + s.leak) / (s.controls + 1) for s in used if s.with_fact < s.controls)
    if not telling:
        return Matched(*counts, 0, None, None, None, None, least if used else None)
    import numpy as np

    exposed = np.array([s.with_fact + s.leak for s in telling], dtype=np.float64)
    size = np.array([s.controls + 1 for s in telling], dtype=np.float64)
    hits = sum(s.leak for s in telling)
    half = (1 - confidence) / 2

    def chances(log_odds: float) -> Any:
        # Written so that neither huge nor tiny odds overflow.
        return 1 / (1 + (size - exposed) / exposed * np.exp(-log_odds))

    def at_least(log_odds: float) -> float:
        return _mass(chances(log_odds), hits, len(telling))

    def at_most(log_odds: float) -> float:
        return _mass(chances(log_odds), 0, hits)

    everything, nothing = hits == len(telling), hits == 0
    estimate = math.inf if everything else 0.0 if nothing else math.exp(_root(lambda x: float(chances(x).sum()) - hits))
    low = 0.0 if nothing else math.exp(_root(lambda x: at_least(x) - half))
    high = math.inf if everything else math.exp(_root(lambda x: at_most(x) - half))
    return Matched(*counts, len(telling), estimate, low, high, min(1.0, at_least(0.0)), least)


def _mass(chances: Any, first: int, last: int) -> float:
    """Chance of `first` to `last` draws that come true. Summed from terms, so that small tails keep their digits."""
    import numpy as np
    from scipy.stats import poisson_binom

    return float(poisson_binom.pmf(np.arange(first, last + 1), chances).sum())


def _root(function: Callable[[float], float]) -> float:
    """Where a monotone function of the log odds changes its sign; the ends of the range where it does not."""
    from scipy.optimize import brentq

    low, high = -50.0, 50.0
    if function(low) * function(high) > 0:
        return low if abs(function(low)) < abs(function(high)) else high
    return float(brentq(function, low, high, xtol=1e-9))
