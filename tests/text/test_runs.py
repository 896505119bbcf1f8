"""Maximal runs, joins, own material and the end of a question, against brute force."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.text.fold import fold
from forensics.text.runs import COVER_GRAM, MAX_GAP, MAX_SHIFT, Run, covered, runs, tail_overlap, total_weight

few_letters = st.text(alphabet="abc", max_size=60)


def units(text: str) -> np.ndarray:
    return np.array(list(map(ord, text)), dtype=np.uint32)


def seeds(*pairs: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([a for a, _ in pairs], dtype=np.int64), np.array([b for _, b in pairs], dtype=np.int64)


def maximal(first: str, second: str, a: int, b: int) -> Run | None:
    if a >= len(first) or b >= len(second) or first[a] != second[b]:
        return None
    low = 0
    while a - low > 0 and b - low > 0 and first[a - low - 1] == second[b - low - 1]:
        low += 1
    high = 1
    while a + high < len(first) and b + high < len(second) and first[a + high] == second[b + high]:
        high += 1
    return Run(a - low, a + high, b - low, b + high, low + high)


@settings(deadline=None, max_examples=200)
@given(few_letters, few_letters, st.integers(0, 59), st.integers(0, 59))
def test_one_seed_gives_its_maximal_run(first: str, second: str, a: int, b: int) -> None:
    expected = maximal(first, second, a, b)
    assert runs(units(first), units(second), *seeds((a, b))) == ([expected] if expected else [])


@settings(deadline=None, max_examples=200)
@given(few_letters, few_letters, st.lists(st.tuples(st.integers(0, 59), st.integers(0, 59)), max_size=8))
def test_every_seed_lies_in_a_run_and_every_run_is_sorted(
    first: str, second: str, places: list[tuple[int, int]]
) -> None:
    found = runs(units(first), units(second), *seeds(*places))
    assert [(run.start, run.end) for run in found] == sorted((run.start, run.end) for run in found)
    for a, b in places:
        expected = maximal(first, second, a, b)
        if expected is not None:
            assert any(run.start <= expected.start and expected.end <= run.end for run in found)
    for run in found:
        assert 0 <= run.start < run.end <= len(first)
        assert 0 <= run.other_start < run.other_end <= len(second)
        assert run.matched <= min(run.end - run.start, run.other_end - run.other_start)


def test_repeated_seeds_give_one_run() -> None:
    text = "the ledger of okonkwo"
    places = [(i, i) for i in range(len(text))] * 2
    assert runs(units(text), units(text), *seeds(*places)) == [Run(0, 21, 0, 21, 21)]


def test_one_changed_letter_joins() -> None:
    first, second = "accountnumberseven", "accountXumberseven"
    assert runs(units(first), units(second), *seeds((2, 2), (10, 10))) == [Run(0, 18, 0, 18, 17)]


def test_joins_end_where_gaps_are_long_or_unlike() -> None:
    left, right = "leftpassage", "rightpassage"

    def joined(gap: str, other_gap: str) -> int:
        first, second = left + gap + right, left + other_gap + right
        at, other = len(left + gap) + 3, len(left + other_gap) + 3
        return len(runs(units(first), units(second), *seeds((3, 3), (at, other))))

    assert joined("x" * MAX_GAP, "y" * MAX_GAP) == 1
    assert joined("x" * (MAX_GAP + 1), "y" * (MAX_GAP + 1)) == 2
    assert joined("x" * MAX_SHIFT, "") == 1
    assert joined("x" * (MAX_SHIFT + 1), "") == 2
    assert joined("", "y" * (MAX_SHIFT + 1)) == 2


def test_no_seeds_no_runs() -> None:
    assert runs(units("abc"), units("abc"), *seeds()) == []
    assert runs(units("abc"), units("abd"), *seeds((2, 2), (5, 0), (-1, 0))) == []


@settings(deadline=None, max_examples=150)
@given(
    st.text(alphabet="ab", max_size=40),
    st.lists(st.text(alphabet="ab", max_size=60), max_size=3),
)
def test_covered_is_what_own_grams_cover(text: str, own: list[str]) -> None:
    expected = [False] * len(text)
    for i in range(len(text) - COVER_GRAM + 1):
        if any(text[i : i + COVER_GRAM] in one for one in own):
            expected[i : i + COVER_GRAM] = [True] * COVER_GRAM
    assert covered(units(text), [units(one) for one in own]).tolist() == expected


def test_covered_of_real_words() -> None:
    text, own = fold("Re: your invoice 4471-A for Maria").units, fold("see INVOICE 4471-A, for me").units
    mask = covered(text, [own])
    assert "".join(chr(u) for u, m in zip(text.tolist(), mask.tolist(), strict=True) if m) == "invoice4471aform"


def test_tail_overlap() -> None:
    question = "pleasesummarisethecontractbelowinthreepoints"
    assert tail_overlap(units(question), units("system" * 9 + question), 30, 200) == 1.0
    assert tail_overlap(units("system" * 9 + question), units(question), 30, 200) == 1.0  # either way round
    assert tail_overlap(units(question), units("q" * 80), 30, 200) == 0.0
    assert tail_overlap(units(question), units(question + "z" * 300), 30, 200) == 0.0  # out of reach
    assert tail_overlap(units("short"), units("short"), 30, 200) == 0.0
    half = tail_overlap(units("0123456789abcdefghij"), units("9876543210" * 4 + "abcdefghij"), 20, 200)
    assert half == 0.5


def test_total_weight() -> None:
    assert total_weight(units("ab1")) == 3
    assert total_weight(units("订单か한a")) == 3 + 3 + 2 + 2 + 1
    assert total_weight(units("")) == 0
