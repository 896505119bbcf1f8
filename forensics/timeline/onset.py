"""Between which responses did the fault begin and end? The exact posterior of two change points; reads no table.

Responses in order are affected or not. Inside one window they are affected at one rate, outside at another, lower one.
With all windows and all rates equally likely beforehand (rates Beta(1, 1), which integrate in closed form), the chance
of each window follows from counts alone: no normal approximation, and no assumption of how many are missed, as long as
that share does not change. Method: Bayesian change-point analysis for a binomial series (Smith 1975, Biometrika 62).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

MOST_CELLS = 800


@dataclass(frozen=True)
class Bound:
    """One end, as numbers of responses that lie before it: most likely, and the interval. 0 and `responses` mean that
    it may lie before (after) everything that was logged."""

    best: int
    low: int
    high: int


@dataclass(frozen=True)
class Window:
    """`log_odds`: natural log of the Bayes factor of a window against one constant rate; above 3 is strong."""

    onset: Bound
    end: Bound
    responses: int
    affected: int
    log_odds: float


def change_points(affected: Sequence[bool], confidence: float = 0.95) -> Window | None:
    """The window in a series of responses, sorted by time. None where none or fewer than two are affected.

    Long series are cut into at most `MOST_CELLS` steps, with a step at every affected response as long as that fits.
    """
    import numpy as np
    from scipy.special import betaln, logsumexp

    flags = np.asarray(affected, dtype=np.int64)
    total, hits = len(flags), int(flags.sum())
    if hits < 2 or total < 3:
        return None
    edges = _edges(flags)
    counts = np.concatenate(([0], np.cumsum(flags)))[edges]
    # The window is edges[i] to edges[j], i < j. Each edge stands for the places nearer to it than to any other.
    inside_n = edges[None, :] - edges[:, None]
    inside_k = counts[None, :] - counts[:, None]
    outside_n, outside_k = total - inside_n, hits - inside_k
    allowed = np.triu(np.ones(inside_n.shape, dtype=bool), 1) & (inside_n < total)
    allowed &= inside_k * outside_n > outside_k * inside_n
    clipped_n, clipped_k = np.where(allowed, inside_n, 1), np.where(allowed, inside_k, 0)
    rest_n, rest_k = np.where(allowed, outside_n, 1), np.where(allowed, outside_k, 0)
    score = betaln(clipped_k + 1, clipped_n - clipped_k + 1) + betaln(rest_k + 1, rest_n - rest_k + 1)
    weight = np.log(_weights(edges))
    score = np.where(allowed, score + weight[:, None] + weight[None, :], -np.inf)
    whole = logsumexp(score)
    places = logsumexp(
        np.where(np.triu(np.ones(score.shape, dtype=bool), 1), weight[:, None] + weight[None, :], -np.inf)
    )
    constant = betaln(hits + 1, total - hits + 1)
    chance = np.exp(score - whole)
    onset = _bound(edges, chance.sum(axis=1), confidence)
    end = _bound(edges, chance.sum(axis=0), confidence)
    return Window(onset, end, total, hits, float(whole - places - constant))


def _edges(flags: Any) -> Any:
    import numpy as np

    total = len(flags)
    if total + 1 <= MOST_CELLS:
        return np.arange(total + 1)
    at = np.flatnonzero(flags)
    near = np.unique(np.concatenate((at, at + 1)))
    if len(near) > MOST_CELLS // 2:
        near = near[np.unique(np.linspace(0, len(near) - 1, MOST_CELLS // 2).astype(np.int64))]
    grid = np.linspace(0, total, MOST_CELLS - len(near)).round().astype(np.int64)
    return np.unique(np.concatenate((grid, near)))


def _weights(edges: Any) -> Any:
    """How many places each edge stands for."""
    import numpy as np

    gaps = np.diff(edges).astype(np.float64)
    return np.concatenate((gaps[:1] + 1, gaps[:-1] + gaps[1:], gaps[-1:] + 1)) / 2


def _bound(edges: Any, chance: Any, confidence: float) -> Bound:
    """The likeliest edge, and the shortest stretch from it that holds `confidence`."""
    import numpy as np

    # Per place, so that an edge that stands for many places does not win by that alone.
    best = int(np.argmax(chance / _weights(edges)))
    low = high = best
    held = float(chance[best])
    while held < confidence and (low > 0 or high < len(edges) - 1):
        left = float(chance[low - 1]) if low > 0 else -1.0
        right = float(chance[high + 1]) if high < len(edges) - 1 else -1.0
        if left >= right:
            low, held = low - 1, held + left
        else:
            high, held = high + 1, held + right
    return Bound(int(edges[best]), int(edges[low]), int(edges[high]))
