"""Exact tests against values known from elsewhere: arrangements counted by hand, R's p.adjust."""

from __future__ import annotations

import pytest

from forensics.case.exact_tests import fisher, holm


def test_all_against_none_is_one_arrangement() -> None:
    assert fisher((3, 3), (0, 3), "greater") == pytest.approx(1 / 20)
    assert fisher((5, 5), (0, 5), "greater") == pytest.approx(1 / 252)
    assert fisher((3, 3), (0, 3)) == pytest.approx(2 / 20)
    assert fisher((0, 3), (3, 3), "greater") == 1.0


def test_equal_rates_and_counts_of_nothing_tell_nothing() -> None:
    assert fisher((0, 3), (0, 3), "greater") == fisher((0, 0), (3, 3), "greater") == fisher((3, 3), (0, 0)) == 1.0


def test_holm_as_r_gives_it() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.9]) == [1.0, 1.0]
    assert holm([]) == []
