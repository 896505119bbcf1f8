"""Change points: the closed form against plain counting, its coverage, and what it must not claim."""

from __future__ import annotations

import math

import numpy as np
import pytest

from forensics.timeline.onset import MOST_CELLS, change_points


def evidence(hits: int, total: int) -> float:
    """Integral of the binomial likelihood of one series over all rates: 1 / ((n + 1) C(n, k))."""
    return 1 / ((total + 1) * math.comb(total, hits))


def test_the_posterior_is_the_one_of_plain_counting() -> None:
    flags = [False, False, True, True, False, True, True, False, False, False]
    total, hits = len(flags), sum(flags)
    weights = {}
    for i in range(total + 1):
        for j in range(i + 1, total + 1):
            k, n = sum(flags[i:j]), j - i
            if n < total and k * (total - n) > (hits - k) * n:
                weights[i, j] = evidence(k, n) * evidence(hits - k, total - n)
    whole = sum(weights.values())
    onset = [sum(w for (i, _), w in weights.items() if i == place) / whole for place in range(total + 1)]
    found = change_points(flags)
    assert found is not None
    assert found.onset.best == onset.index(max(onset))
    held = sum(onset[found.onset.low : found.onset.high + 1])
    assert held >= 0.95
    shorter = (onset[found.onset.low + 1 : found.onset.high + 1], onset[found.onset.low : found.onset.high])
    assert all(sum(part) < 0.95 for part in shorter)
    pairs = total * (total + 1) / 2
    assert found.log_odds == pytest.approx(math.log(whole / pairs / evidence(hits, total)))


def test_intervals_cover_the_truth() -> None:
    dice = np.random.default_rng(5)
    covered = 0
    for _ in range(40):
        flags = np.zeros(300, dtype=bool)
        flags[80:200] = dice.random(120) < 0.2
        found = change_points(flags.tolist())
        assert found is not None and found.log_odds > 3
        covered += found.onset.low <= 80 <= found.onset.high
        covered += found.end.low <= 200 <= found.end.high
    assert covered >= 68  # of 80; 95 % are expected, and 68 or fewer have a chance below 0.0001


def test_a_constant_rate_has_no_window() -> None:
    dice = np.random.default_rng(6)
    found = [change_points((dice.random(300) < 0.05).tolist()) for _ in range(20)]
    assert all(window is not None and window.log_odds < 3 for window in found)


def test_a_fault_that_never_ended_reaches_the_end() -> None:
    found = change_points([False] * 200 + [True, False] * 50)
    assert found is not None
    assert found.end.high == 300
    assert 195 <= found.onset.low <= 200 <= found.onset.high


def test_long_series_are_cut_and_stay_right() -> None:
    dice = np.random.default_rng(7)
    flags = np.zeros(50_000, dtype=bool)
    flags[20_000:30_000] = dice.random(10_000) < 0.02
    assert len(flags) > MOST_CELLS
    found = change_points(flags.tolist())
    assert found is not None
    assert found.onset.low <= 20_000 <= found.onset.high
    assert found.end.low <= 30_000 <= found.end.high
    assert found.end.high - found.onset.low < 12_000


def test_too_little_to_date() -> None:
    assert change_points([]) is None
    assert change_points([False] * 50) is None
    assert change_points([True] + [False] * 50) is None
