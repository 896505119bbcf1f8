"""One text running through another in pieces: the kernels against a plain twin, and streams of known pieces."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.text.fold import fold
from forensics.text.streams import HOLE, HOLE_UNIT, LEAP, LEAP_UNIT, MATCH, best_score, best_stream
from forensics.text.stretches import held_grams, likeliest, times_average

LOW = -(10**9)


def plain(first: list[int], second: list[int], holes: bool) -> int:
    """The best score by the recurrences as they are written down."""
    match: dict[tuple[int, int], int] = {}
    leap: dict[tuple[int, int], int] = {}
    hole: dict[tuple[int, int], int] = {}
    best = 0
    for i in range(1, len(first) + 1):
        for j in range(1, len(second) + 1):
            leap[i, j] = max(match.get((i - 1, j), LOW) - LEAP, leap.get((i - 1, j), LOW)) - LEAP_UNIT
            hole[i, j] = max(match.get((i, j - 1), LOW) - HOLE, hole.get((i, j - 1), LOW) - HOLE_UNIT)
            if first[i - 1] == second[j - 1]:
                before = (i - 1, j - 1)
                came = [0, match.get(before, LOW), leap.get(before, LOW)]
                if holes:
                    came.append(hole.get(before, LOW))
                match[i, j] = max(came) + MATCH
                best = max(best, match[i, j])
    return best


letters = st.lists(st.integers(97, 100), max_size=40)


@settings(max_examples=150, deadline=None)
@given(letters, letters)
def test_kernels_are_their_twin(first: list[int], second: list[int]) -> None:
    a, b = np.array(first, dtype=np.uint32), np.array(second, dtype=np.uint32)
    assert best_score(a, b) == plain(first, second, holes=False)
    found = best_stream(a, b)
    assert (found.score if found else 0) == plain(first, second, holes=True)
    if found:
        cost = 0
        for low, high, there in found.pieces:
            np.testing.assert_array_equal(a[low:high], b[there : there + high - low])
        for left, right in zip(found.pieces, found.pieces[1:], strict=False):
            leapt, passed = right[0] - left[1], right[2] - left[2] - (left[1] - left[0])
            assert leapt >= 0 and passed >= 0
            cost += LEAP + LEAP_UNIT * leapt if leapt else 0
            cost += HOLE + HOLE_UNIT * (passed - 1) if passed else 0
        assert MATCH * found.matched - cost == found.score
        assert (found.start, found.end) == (found.pieces[0][0], found.pieces[-1][1])


ONE = (
    "The depot in Halloran Street shipped seventeen crates of printed ledgers to the wrong quay on Tuesday, so the "
    "carrier wants the storage fee paid before Friday noon and refuses any transfer from the new account"
)
OTHER = (
    "An egg that is put into boiling water should stay there for seven minutes if you like the yolk soft; afterwards "
    "hold it under the cold tap so that it does not go on cooking, and peel it while it is still a little warm"
)


def mixed(*texts: str, size: int) -> str:
    parts = [[text[i : i + size] for i in range(0, len(text), size)] for text in texts]
    return "".join(part[i] for i in range(max(map(len, parts))) for part in parts if i < len(part))


@pytest.mark.parametrize("size", [4, 5, 7, 12])
def test_pieces_of_a_stream_are_found(size: int) -> None:
    answer, source = fold(mixed(ONE, OTHER, size=size)).units, fold("Note. " + ONE + " End.").units
    found = best_stream(answer, source)
    assert found is not None
    assert found.matched >= 0.9 * fold(ONE).units.size
    assert len(found.pieces) >= 0.6 * len(ONE) / size
    assert found.score > 3 * best_score(fold(OTHER).units, source)


def test_unlike_texts_score_next_to_nothing() -> None:
    assert best_score(fold(OTHER).units, fold(ONE).units) < 120


def test_the_likeliest_part_holds_the_stream() -> None:
    filler = "nothing of that kind was ever said by anybody about our quarterly budget meeting " * 12
    text = fold(filler + ONE + filler).units
    low, most, total = likeliest(held_grams([fold(mixed(ONE, OTHER, size=5)).units]), 1, text)[0].tolist()
    at = fold(filler).units.size
    assert at - 100 <= low <= at + 60
    assert times_average(most, total, text.size) > 1.3
    unlike = fold(filler * 2).units
    _, most, total = likeliest(held_grams([fold(OTHER).units]), 1, unlike)[0].tolist()
    assert times_average(most, total, unlike.size) < 1.3
