"""The likelihood test on scores made by hand; expected values are worked out here, not by the code."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.replay.likelihood import FLOOR, LEAST_WRONG, best_segment, differences, judge, needed

OWN = [-0.5, -0.5, -8.0, -9.0, -7.0, -8.0, -0.5]
SOURCE = [-3.0, -3.0, -0.5, -0.5, -0.5, -0.5, -3.0]
WRONG = [-3.0, -3.0, -6.0, -5.0, -6.0, -6.0, -3.0]


def test_the_foreign_part_is_where_the_source_explains_better() -> None:
    found = judge(OWN, {"r2": SOURCE}, [WRONG] * LEAST_WRONG)
    assert (found.part.start, found.part.end) == (2, 6)
    assert found.part.total == pytest.approx(7.5 + 8.5 + 6.5 + 7.5)
    assert found.runner_up == pytest.approx(2 + 4 + 1 + 2)
    assert found.margin == pytest.approx(21)
    assert found.p_value == pytest.approx(0.01)
    assert (found.rank, found.wrong, found.finding) == (1, 99, "supports")
    assert found.own_per_token == pytest.approx(-33.5 / 7)
    assert found.curve[:3] == pytest.approx((-2.5, -2.5, 7.5))


def test_with_fewer_wrong_sources_there_is_no_p_value_and_no_finding() -> None:
    found = judge(OWN, {"r2": SOURCE}, [WRONG] * (LEAST_WRONG - 1))
    assert found.p_value is None
    assert found.finding == "not_assessed"
    assert found.margin == pytest.approx(21)
    assert judge(OWN, {"r2": SOURCE}, []).margin is None


def test_a_wrong_source_that_fits_better_speaks_against_the_named_one() -> None:
    found = judge(OWN, {"r2": WRONG}, [SOURCE, *[WRONG] * LEAST_WRONG])
    assert found.finding == "another_fits_better"
    assert found.rank == 101  # ties count against it
    assert found.p_value == 1.0


def test_what_anybody_would_write_speaks_for_nobody() -> None:
    own = [-0.2, -0.1, -0.4, -0.3]
    other = [-0.1, -0.2, -0.3, -0.2]
    found = judge(own, {"r2": other}, [other] * 120)
    assert found.finding == "none"
    assert found.part.total < found.needed


def test_a_neighbour_of_the_same_template_leaves_no_margin() -> None:
    found = judge(OWN, {"r2": SOURCE}, [SOURCE, *[WRONG] * LEAST_WRONG])
    assert found.finding == "none"
    assert found.margin == pytest.approx(0)


def test_of_several_named_sources_the_best_is_shown_and_none_is_the_others_runner_up() -> None:
    found = judge(OWN, {"r2": WRONG, "r3": SOURCE}, [WRONG] * LEAST_WRONG)
    assert found.source == "r3"
    assert found.part.total == pytest.approx(30.0)
    assert found.finding == "supports"


def test_one_impossible_token_does_not_outweigh_a_response() -> None:
    assert differences([-1e9, -1.0], [-1.0, -1e9]) == pytest.approx([-1.0 - FLOOR, FLOOR + 1.0])
    with pytest.raises(ValueError):
        differences([-1.0], [-1.0, -2.0])


@given(st.lists(st.integers(-9, 9), max_size=30))
def test_no_other_segment_is_better(curve: list[int]) -> None:
    found = best_segment([float(value) for value in curve])
    sums = [sum(curve[start:end]) for start, end in itertools.combinations(range(len(curve) + 1), 2)]
    assert found.total == max([0, *sums])
    assert sum(curve[found.start : found.end]) == found.total


def test_the_sum_needed_bounds_what_chance_can_do() -> None:
    assert needed(28) == pytest.approx(math.log(28 * 29 / 2 / 0.01))
    # A fair coin against one that falls 9 of 10 times on heads, over all 2^8 throws.
    ratios = {0: math.log(0.1 / 0.5), 1: math.log(0.9 / 0.5)}
    bound = needed(8, 0.2)
    hits = sum(
        best_segment([ratios[bit] for bit in bits]).total >= bound for bits in itertools.product((0, 1), repeat=8)
    )
    assert hits / 2**8 <= 0.2
