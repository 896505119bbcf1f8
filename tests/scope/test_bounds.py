"""How many may be affected: by hand, and never printed where the controls do not carry it."""

from __future__ import annotations

import pytest

from forensics.scope.bounds import Recall, breach_size


def test_breach_size_by_hand() -> None:
    """12 of class 80 at a recall of 0.8 (at least 0.6), 6 of class 500 at 1.0 (at least 0.75)."""
    made = breach_size(["80"] * 12 + ["500"] * 6, {"80": Recall(0.8, 0.6), "500": Recall(1.0, 0.75)}, 0.95)
    assert made.point == pytest.approx(12 / 0.8 + 6)
    assert made.low == 18
    assert made.high >= 12 / 0.6 + 6 / 0.75
    # at most every one of the 18 is of the class that is harder to find
    assert made.high <= 18 / 0.6


def test_one_class_leaves_nothing_to_resample() -> None:
    made = breach_size(["200"] * 9, {"200": Recall(0.9, 0.5)}, 0.95)
    assert (made.point, made.high) == (pytest.approx(10), pytest.approx(18))


def test_perfect_recall_adds_nothing() -> None:
    made = breach_size(["40"] * 5, {"40": Recall(1.0, 1.0)}, 0.95)
    assert (made.point, made.low, made.high) == (5, 5, 5)
