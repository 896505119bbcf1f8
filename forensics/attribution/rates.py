"""Which published formula turns counts into rates, limits and estimates? Pure arithmetic: reads and decides nothing.

Everything here takes counts and gives numbers; a figure that counts cannot support is None, never a stand-in.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Limits:
    """A share `n` of `total` with its exact limits; all None where `total` is 0."""

    n: int
    total: int
    share: float | None
    low: float | None
    high: float | None
    method: str


def exact_limits(n: int, total: int, confidence: float = 0.95) -> Limits:
    """Clopper-Pearson limits of `n` of `total`; for none the one-sided upper limit 1 - (1 - confidence)^(1/total).

    The latter is about 3 / total (the rule of three; Hanley and Lippman-Hand 1983); for all of `total` the lower limit
    is one-sided likewise.
    """
    level = f"{confidence * 100:g} %"
    if total <= 0:
        return Limits(n, total, None, None, None, "nothing was counted: not known")
    from scipy.stats import beta

    if n == 0:
        return Limits(0, total, 0.0, 0.0, 1 - (1 - confidence) ** (1 / total), f"exact one-sided {level} upper limit")
    if n == total:
        return Limits(n, total, 1.0, (1 - confidence) ** (1 / total), 1.0, f"exact one-sided {level} lower limit")
    tail = (1 - confidence) / 2
    low, high = float(beta.ppf(tail, n, total - n + 1)), float(beta.ppf(1 - tail, n + 1, total - n))
    return Limits(n, total, n / total, low, high, f"exact {level} limits (Clopper-Pearson)")


@dataclass(frozen=True)
class Recapture:
    """Chapman's estimate of a population from two lists, with a log-normal interval that starts at what was seen."""

    estimate: float
    low: float
    high: float


def chapman(first: int, second: int, both: int, confidence: float = 0.95) -> Recapture:
    """N = (n1 + 1)(n2 + 1)/(m + 1) - 1 (Chapman 1951).

    Its variance is (n1+1)(n2+1)(n1-m)(n2-m) / ((m+1)^2 (m+2)) (Seber 1970); the interval is log-normal on the number
    that neither list holds (Chao 1987), so that it never falls below what was seen. Where what is hard for one detector
    is hard for the other, too (positive dependence), the estimate is a lower bound.
    """
    if not 0 <= both <= min(first, second):
        raise ValueError("the lists share no more than the shorter one holds, and no fewer than none")
    estimate = (first + 1) * (second + 1) / (both + 1) - 1
    variance = (first + 1) * (second + 1) * (first - both) * (second - both) / ((both + 1) ** 2 * (both + 2))
    seen = first + second - both
    unseen = estimate - seen
    if unseen <= 0 or variance <= 0:
        return Recapture(estimate, float(seen), max(estimate, float(seen)))
    from scipy.stats import norm

    spread = math.exp(float(norm.ppf(0.5 + confidence / 2)) * math.sqrt(math.log1p(variance / unseen**2)))
    return Recapture(estimate, seen + unseen / spread, seen + unseen * spread)


@dataclass(frozen=True)
class Competition:
    """Target-decoy competition: scores of winning targets, best first, with what each threshold costs.

    `above` counts the winning decoys that score at least as much; `rank` the winning targets; `ratio` is the exposure
    of decoys to that of targets.
    """

    uses: npt.NDArray[np.int64]  # the response of each winning target
    scores: Floats
    decoys: Floats  # scores of winning decoys, ascending
    above: npt.NDArray[np.int64]
    rank: npt.NDArray[np.int64]
    q_values: Floats
    ratio: float

    def expected_false(self, score: float) -> float | None:
        """E(s) = (D(s) + 1) / r: false targets to expect at `score` or better."""
        return (self.decoys_at(score) + 1) / self.ratio if self.ratio > 0 else None

    def decoys_at(self, score: float) -> int:
        """Winning decoys at `score` or better."""
        return int(self.decoys.size - np.searchsorted(self.decoys, score, side="left"))

    def targets_at(self, score: float) -> int:
        """Winning targets at `score` or better."""
        return int(np.searchsorted(-self.scores, -score, side="right"))

    def q_value(self, score: float) -> float:
        """q of a target with this score."""
        return float(self.q_values[self._rank_of(score)]) if self.q_values.size else 1.0

    def least_q_value(self, score: float) -> float:
        """What q of a target with this score is at least, whatever the decoys miss: `least_q_values`."""
        return float(self.least_q_values[self._rank_of(score)]) if self.scores.size else 0.0

    def _rank_of(self, score: float) -> int:
        return min(int(np.searchsorted(-self.scores, -score, side="left")), self.scores.size - 1)

    @cached_property
    def least_q_values(self) -> Floats:
        """By target: min over s' <= s of the lower limit of D(s') / (r T(s')), with the exact lower 95 % limit (Clopper
        and Pearson 1934) of the share D / (D + T). Decoys that undercount, or that nobody could test, say that much."""
        if self.scores.size == 0 or self.ratio <= 0:
            return np.zeros(self.scores.size)
        from scipy.stats import beta

        low = np.where(self.above > 0, beta.ppf(0.025, np.maximum(self.above, 1), self.rank + 1), 0.0)
        rate = low / (1.0 - low) / self.ratio
        return np.minimum(np.minimum.accumulate(rate[::-1])[::-1], 1.0)

    def proportion_bound(self, score: float, confidence: float = 0.95) -> float:
        """Upper bound of the share of false ones among the targets at `score` or better."""
        targets = self.targets_at(score)
        if targets == 0:
            return 0.0
        return min(1.0, false_bound(self.decoys_at(score), self.ratio, confidence) / targets)


def compete(targets: dict[int, float], decoys: dict[int, float], ratio: float, seed: int) -> Competition:
    """Each response keeps its best target and its best decoy; the better one wins, ties by a seeded coin.

    q(s) = min over s' <= s of (D(s') + 1) / (r T(s')) (Elias and Gygi 2007; the +1 of Levitsky et al. 2017).
    """
    coin = np.random.default_rng(seed)
    won: list[tuple[float, int]] = []
    lost: list[float] = []
    for use in sorted(targets.keys() | decoys.keys()):
        target, decoy = targets.get(use, -np.inf), decoys.get(use, -np.inf)
        if target > decoy or (target == decoy and coin.random() < 0.5):
            won.append((-target, use))
        else:
            lost.append(decoy)
    won.sort()
    scores = np.array([-score for score, _ in won], dtype=np.float64)
    losing = np.array(sorted(lost), dtype=np.float64)
    above = (losing.size - np.searchsorted(losing, scores, side="left")).astype(np.int64)
    rank = np.searchsorted(-scores, -scores, side="right").astype(np.int64)
    rate = (above + 1) / np.maximum(ratio * rank, 1e-9)
    q_values = np.minimum(np.minimum.accumulate(rate[::-1])[::-1], 1.0) if scores.size else rate
    uses = np.array([use for _, use in won], dtype=np.int64)
    return Competition(uses, scores, losing, above, rank, q_values, ratio)


def false_bound(decoys: int, ratio: float, confidence: float = 0.95) -> float:
    """Upper bound of the false targets beside `decoys` winning decoys: V ~ NegBin(D + 1, r / (1 + r)), its quantile."""
    if ratio <= 0:
        return math.inf
    from scipy.stats import nbinom

    return float(nbinom.ppf(confidence, decoys + 1, ratio / (1 + ratio)))


def entrapment(original: int, trapped: int, ratio: float) -> tuple[float, float]:
    """Lower and combined estimate of the share of false ones (Wen et al. 2025).

    `trapped` findings name a fictitious tenant and are false, `original` name a real one; `ratio` is the volume of the
    fictitious tenants' text to that of the real ones'.
    """
    total = original + trapped
    if total == 0 or ratio <= 0:
        raise ValueError("entrapment needs findings and a volume")
    return trapped / total, min(1.0, trapped * (1 + 1 / ratio) / total)
