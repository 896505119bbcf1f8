"""The matched test against values known from elsewhere: McNemar, Clopper-Pearson, plain enumeration."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from forensics.timeline.exact import Stratum, matched


def test_one_control_each_is_mcnemars_exact_test() -> None:
    sets = [Stratum(True, 0, 1)] * 15 + [Stratum(False, 1, 1)] * 5 + [Stratum(True, 1, 1)] * 7
    result = matched(sets)
    known = binomtest(15, 20, alternative="greater")
    low, high = binomtest(15, 20).proportion_ci(0.95, method="exact")
    assert result.p_value == pytest.approx(known.pvalue)
    assert result.odds_ratio == pytest.approx(15 / 5)
    assert (result.low, result.high) == (pytest.approx(low / (1 - low)), pytest.approx(high / (1 - high)))
    assert (result.leaks, result.leaks_with, result.controls, result.controls_with) == (27, 22, 27, 12)
    assert result.informative == 20


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 4), st.integers(1, 4)), min_size=1, max_size=6))
def test_p_is_the_share_of_relabelled_sets_with_as_many(rows: list[tuple[bool, int, int]]) -> None:
    sets = [Stratum(leak, min(with_fact, controls), controls) for leak, with_fact, controls in rows]
    observed = sum(s.leak for s in sets)
    # Every member of a set could have been the leak.
    members = [[True] * (s.with_fact + s.leak) + [False] * (s.controls + 1 - s.with_fact - s.leak) for s in sets]
    draws = [sum(draw) for draw in itertools.product(*members)]
    share = sum(draw >= observed for draw in draws) / len(draws)
    result = matched(sets)
    if result.p_value is None:
        assert share == 1
    else:
        assert result.p_value == pytest.approx(share)


def test_small_tails_keep_their_digits() -> None:
    result = matched([Stratum(True, 0, 20)] * 30)
    assert result.p_value == pytest.approx(21.0**-30, rel=1e-9)
    assert result.odds_ratio == result.high == math.inf
    assert result.low is not None and result.low > 100
    assert result.least_p == pytest.approx(21.0**-30, rel=1e-9)


def test_tables_that_say_nothing_say_so() -> None:
    assert matched([]).p_value is None
    assert matched([Stratum(True, 0, 0)]).leaks == 0  # no control
    alike = matched([Stratum(True, 5, 5), Stratum(False, 0, 5)])
    assert (alike.p_value, alike.odds_ratio, alike.informative, alike.leaks) == (None, None, 0, 2)
    never = matched([Stratum(False, 1, 4)] * 3)
    assert (never.odds_ratio, never.low, never.p_value) == (0.0, 0.0, 1.0)
    single = matched([Stratum(True, 0, 20)])
    assert single.p_value == single.least_p == pytest.approx(1 / 21)
