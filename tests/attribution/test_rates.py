"""The published formulas, with values computed by hand (or by counting), and with known truth."""

from __future__ import annotations

import math

import numpy as np
import pytest

from forensics.attribution.rates import (
    chapman,
    compete,
    entrapment,
    exact_limits,
    false_bound,
)


def test_clopper_pearson_by_its_definition() -> None:
    """At the lower limit 3 or more of 10 happen in 2.5 % of all cases, at the upper one 3 or fewer."""
    made = exact_limits(3, 10)
    assert (round(made.low or 0, 4), round(made.high or 0, 4)) == (0.0667, 0.6525)

    def upto(k: int, p: float) -> float:
        return sum(math.comb(10, i) * p**i * (1 - p) ** (10 - i) for i in range(k + 1))

    assert 1 - upto(2, made.low or 0) == pytest.approx(0.025, abs=1e-9)
    assert upto(3, made.high or 0) == pytest.approx(0.025, abs=1e-9)


def test_the_rule_of_three() -> None:
    made = exact_limits(0, 300)
    assert (made.share, made.low) == (0.0, 0.0)
    assert made.high == pytest.approx(1 - 0.05 ** (1 / 300))
    assert made.high == pytest.approx(3 / 300, rel=0.01)
    assert exact_limits(300, 300).low == pytest.approx(0.99006, abs=1e-5)


def test_nothing_counted_is_not_known() -> None:
    made = exact_limits(0, 0)
    assert (made.share, made.low, made.high) == (None, None, None)


def test_chapman_by_hand() -> None:
    """18 * 13 / 6 - 1 = 38; variance 18*13*12*7 / (36*7) = 78; 24 seen, 14 not."""
    made = chapman(17, 12, 5)
    assert made.estimate == 38
    spread = math.exp(1.959964 * math.sqrt(math.log(1 + 78 / 14**2)))
    assert made.low == pytest.approx(24 + 14 / spread, rel=1e-5)
    assert made.high == pytest.approx(24 + 14 * spread, rel=1e-5)
    assert chapman(8, 5, 5).estimate == 8  # the second list adds nothing


def test_lists_cannot_share_more_than_they_hold() -> None:
    with pytest.raises(ValueError, match="share no more"):
        chapman(3, 2, 3)


def test_chapman_covers_the_truth() -> None:
    """Two independent detectors over 200 leaks: the interval holds the truth about as often as it says."""
    dice = np.random.default_rng(4)
    held = 0
    for _ in range(300):
        one, two = dice.random(200) < 0.5, dice.random(200) < 0.4
        made = chapman(int(one.sum()), int(two.sum()), int((one & two).sum()))
        held += made.low <= 200 <= made.high
    assert held / 300 >= 0.92


@pytest.mark.parametrize(
    ("decoys", "ratio", "bound"),
    [
        (0, 1.0, 4),  # P(V <= 3) = 1 - 1/16 = 0.9375, P(V <= 4) = 1 - 1/32
        (2, 3.0, 3),  # (3/4)^3 (1 + 3/4 + 6/16 + 10/64) = 0.962, without the last 0.896
        (0, 7.0, 1),  # 1 - (1/8)^2 = 0.984; P(V = 0) = 7/8
    ],
)
def test_the_negative_binomial_bound_by_hand(decoys: int, ratio: float, bound: int) -> None:
    assert false_bound(decoys, ratio) == bound


def test_entrapment_by_hand() -> None:
    """10 of 100 name nobody real, and half as much text was theirs: another 20 are false among the rest."""
    assert entrapment(90, 10, 0.5) == (0.1, pytest.approx(0.3))
    assert entrapment(0, 5, 1.0) == (1.0, 1.0)


def test_competition_by_hand() -> None:
    targets = {1: 9.0, 2: 8.0, 3: 7.0, 4: 3.0, 5: 2.0}
    decoys = {3: 5.0, 4: 6.0, 6: 7.5}
    made = compete(targets, decoys, 2.0, 0)
    assert made.scores.tolist() == [9.0, 8.0, 7.0, 2.0]
    assert made.uses.tolist() == [1, 2, 3, 5]
    assert made.decoys.tolist() == [6.0, 7.5]
    # (D + 1) / (2 T): 1/2, 1/4, 2/6, 3/8; the least below each
    assert made.q_values.tolist() == pytest.approx([1 / 4, 1 / 4, 1 / 3, 3 / 8])
    assert [made.expected_false(s) for s in (8.0, 7.0, 2.0)] == [0.5, 1.0, 1.5]
    assert (made.targets_at(7.0), made.decoys_at(7.0)) == (3, 1)
    # NegBin(1, 2/3): 1 - (1/3)^2 = 0.889, 1 - (1/3)^3 = 0.963: at most two of the first two
    assert made.proportion_bound(8.0) == 1.0


def _log(seed: int, ratio: int, leaks: int = 150, nulls: int = 500) -> tuple[dict[int, float], dict[int, float]]:
    """Best scores by response: null matches fall on either side as the exposures are; leaks are stronger."""
    dice = np.random.default_rng(seed)
    targets: dict[int, float] = {}
    decoys: dict[int, float] = {}
    for use in range(nulls * (1 + ratio) // 2):
        side = targets if dice.random() < 1 / (1 + ratio) else decoys
        side[use] = float(dice.normal(40, 15))
    for use in range(leaks):
        targets[1_000_000 + use] = float(dice.normal(75, 25))
    return targets, decoys


@pytest.mark.parametrize("ratio", [1, 6])  # as families A and B have it
@pytest.mark.parametrize("level", [0.01, 0.05, 0.2])
@pytest.mark.parametrize("seed", [11, 12, 13])
def test_true_false_share_lies_within_the_bound(ratio: int, level: float, seed: int) -> None:
    targets, decoys = _log(seed, ratio)
    made = compete(targets, decoys, float(ratio), seed)
    accepted = made.uses[made.q_values <= level]
    if accepted.size:
        score = float(made.scores[accepted.size - 1])
        assert float((accepted < 1_000_000).mean()) <= made.proportion_bound(score)
    assert ratio == 1 or level < 0.05 or accepted.size > 20


def test_false_share_is_on_average_no_more_than_q() -> None:
    found = []
    for seed in range(60):
        made = compete(*_log(seed, 1), 1.0, seed)
        accepted = made.uses[made.q_values <= 0.1]
        found.append(float((accepted < 1_000_000).mean()) if accepted.size else 0.0)
    assert np.mean(found) <= 0.105
