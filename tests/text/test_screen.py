"""One kernel call for several short texts, against the pieces it is made of, one text after the other."""

from __future__ import annotations

import numpy as np
import pytest

from forensics.text.fold import Units, fold
from forensics.text.screen import Screen
from forensics.text.streams import best_score
from forensics.text.stretches import AROUND, MOST, SHORT, held_grams, likeliest, times_average


def places(firsts: list[Units], second: Units) -> list[tuple[int, int, float]]:
    """Of each short text the likeliest stretch of `second`: its start and end, and how far it stands out."""
    whole = (0, int(second.size), np.inf)
    if second.size <= SHORT:
        return [whole] * len(firsts)
    rows = likeliest(held_grams(firsts), len(firsts), second).tolist()
    return [
        whole if first.size < 3 else (start, start + AROUND, times_average(most, total, second.size))
        for first, (start, most, total) in zip(firsts, rows, strict=True)
    ]


def plain(firsts: list[Units], second: Units, ratio: float) -> tuple[int, int]:
    best = (0, 0)
    for first, (low, high, times) in zip(firsts, places(firsts, second), strict=True):
        if times >= ratio:
            around = second[max(0, low - first.size // 2) : high + first.size // 2]
            best = max(best, (best_score(first, around), low))
    return best


def random_text(seed: int, size: int, signs: int = 12) -> Units:
    return np.random.default_rng(seed).integers(97, 97 + signs, size).astype(np.uint32)


@pytest.mark.parametrize("ratio", [0.0, 1.05, 1.25, 5.0])
@pytest.mark.parametrize("size", [1, 60, SHORT, SHORT + 1, 3000])
def test_the_best_of_several_is_that_of_one_after_the_other(size: int, ratio: float) -> None:
    met = 0
    for seed in range(12):
        second = random_text(seed, size)
        firsts = [random_text(100 + 3 * seed + i, length) for i, length in enumerate((2, 45, 260))]
        if size > 400:
            firsts.append(second[size // 2 : size // 2 + 200])
        found = Screen(firsts).best(second, ratio)
        assert found == plain(firsts, second, ratio)
        met += found[0] > 0
    assert met or ratio > 1.25 or size == 1


def test_signs_beyond_16_bits_and_of_more_weight_score_as_alone() -> None:
    wide = fold("𠮷野家𠀋𠂉の" * 8 + "abcdefgh").units
    narrow = fold("発注書の写しを送る" * 8 + "abcdefgh").units
    for second in (np.concatenate([random_text(1, 900), wide]), np.concatenate([random_text(2, 900), narrow])):
        for firsts in ([wide], [narrow], [wide, narrow]):
            found = Screen(firsts).best(second, 0.0)
            assert found == plain(firsts, second, 0.0)
            assert found[0] >= 80  # the eight letters that all hold


def test_nothing_to_compare_scores_nothing() -> None:
    assert Screen([]).best(random_text(3, 1000), 0.0) == (0, 0)
    assert Screen([random_text(4, 50)]).best(random_text(3, 0), 0.0) == (0, 0)
    assert Screen([random_text(4, 0), random_text(5, 0)]).best(random_text(3, 1000), 0.0) == (0, 0)


def test_more_texts_than_there_are_bits_are_refused() -> None:
    with pytest.raises(ValueError, match="17 texts at once; 16 at most"):
        Screen([random_text(seed, 50) for seed in range(MOST + 1)])
