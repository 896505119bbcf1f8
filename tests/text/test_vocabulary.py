"""Terms of many texts: the kernels against `words.terms` of one text, sets and plain counting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.text.term_search import Lookup, count_found, held_terms
from forensics.text.vocabulary import Spread, TermSets, distinct_terms
from forensics.text.words import terms, words

TEXTS = st.lists(
    st.lists(st.sampled_from("harbour Keel 4471-9982 漢字港口 ünï ﬁle שלום a,b 灯".split()), max_size=12).map(" ".join),
    min_size=1,
    max_size=6,
)


def packed(texts):
    data = [text.encode() for text in texts]
    offsets = np.concatenate([[0], np.cumsum([len(one) for one in data])]).astype(np.int64)
    return np.frombuffer(b"".join(data) or b"", dtype=np.uint8), offsets


def sets_of(texts):
    return [set(terms(words(text)).tolist()) for text in texts]


def as_sets(found: TermSets):
    return [found.keys[found.offsets[i] : found.offsets[i + 1]].tolist() for i in range(found.offsets.size - 1)]


@settings(deadline=None)
@given(TEXTS)
def test_distinct_terms_are_those_of_each_text(texts):
    found = as_sets(distinct_terms(*packed(texts)))
    assert [sorted(one) for one in sets_of(texts)] == found


@settings(deadline=None)
@given(TEXTS, TEXTS)
def test_places_are_the_sought_terms_of_each_text(texts, sought):
    keys = np.array(sorted(set().union(*sets_of(sought))), dtype=np.uint64)
    lookup = Lookup(TermSets(keys, np.array([0, keys.size], dtype=np.int64)))
    documents, found = lookup.places(*packed(texts))
    expected = [
        (number, place)
        for number, one in enumerate(sets_of(texts))
        for place, key in enumerate(keys.tolist())
        if key in one
    ]
    assert list(zip(documents.tolist(), found.tolist(), strict=True)) == expected


@settings(deadline=None)
@given(TEXTS, TEXTS, st.integers(1, 4))
def test_marking_stops_only_where_enough_is_found(texts, sought, least):
    sets = distinct_terms(*packed(sought))
    lookup = Lookup(sets)
    pairs = [(text, number) for number in range(len(sought)) for text in range(len(texts))]
    documents, numbers = (np.array(column, dtype=np.int64) for column in zip(*pairs, strict=True))
    lookup.mark(*packed(texts), documents, numbers, np.full(len(sought), least, dtype=np.int64))
    together = set().union(*sets_of(texts))
    for number, one in enumerate(as_sets(sets)):
        there = len(together & set(one))
        assert min(int(lookup.flagged()[number]), least) == min(there, least)


def test_rare_is_what_few_groups_of_the_language_use():
    """Five groups write of the harbour; one of them alone of the keel; a sixth writes signs and counts for nobody."""
    texts = ["harbour quay tide"] * 4 + ["harbour quay tide keel", "漢字港口灯"]
    sets = distinct_terms(*packed(texts))
    spread = Spread()
    everybody = np.arange(6, dtype=np.int64)
    spread.add(sets, everybody, everybody)
    rare, shares, coverage = spread.rarest(sets, everybody[4:5], everybody[4:5], 0.5, 10)
    assert set(rare.keys.tolist()) == sets_of(["keel"])[0]
    assert shares.tolist() == [0.0]
    assert coverage.tolist() == [0.75]  # the others use three of its four terms
    common = spread.commonest(sets, everybody[4:5], everybody[4:5], 10)
    assert set(common.keys.tolist()) == sets_of(["harbour quay tide"])[0]


def test_groups_hold_what_their_members_hold():
    # Group 0 has the members 1 and 2, group 1 none, group 2 member 0; member 3 is nobody's.
    column = np.full(5, -1, dtype=np.int32)
    found = np.array([4, 0, 1, 4, 2], dtype=np.int32)
    lows, highs = np.array([0, 1, 2, 4]), np.array([1, 2, 4, 5])
    for _ in range(2):  # the room is left as it was
        held = held_terms(
            np.array([0, 1, 2]), np.array([1, 2, 0]), np.array([0, 2, 2, 3]), found, lows, highs, np.array([0, 4]),
            column,
        )  # fmt: skip
        assert held.tolist() == [[True, True], [False, False], [False, True]]
    assert count_found(found, lows, highs, 5).tolist() == [1, 1, 1, 0, 2]
    assert count_found(found, lows, np.where(highs == 4, lows, highs), 5).tolist() == [1, 0, 1, 0, 1]


@pytest.mark.parametrize(("terms", "low", "high"), [(0, 0.0, 0.0), (200, 0.02, 0.08), (20000, 0.9, 1.0)])
def test_how_full_the_cells_are_is_told_by_terms_that_nobody_said(terms: int, low: float, high: float) -> None:
    """200 terms of eight groups each fill about one in twenty of 4,096 cells."""
    random = np.random.default_rng(terms)
    spread = Spread(4096)
    keys = random.integers(0, 1 << 63, terms).astype(np.uint64)
    for group in range(8):
        spread.add(TermSets(keys, np.array([0, terms])), np.array([0]), np.array([group]))
    assert low <= spread.crowded(4) <= high


def test_marks_are_the_terms_that_most_groups_of_the_language_use():
    """Against counting one by one; few cells, so that terms share them."""
    random = np.random.default_rng(3)
    shown = 0
    for _ in range(200):
        spread = Spread(256)
        texts = [np.unique(random.integers(0, 1 << 40, int(random.integers(0, 60)))) for _ in range(9)]
        sets = TermSets(
            np.concatenate(texts).astype(np.uint64), np.cumsum([0, *(t.size for t in texts)]).astype(np.int64)
        )
        groups, every, most = random.integers(0, 70, 9), np.arange(9), int(random.integers(1, 20))
        spread.add(sets, every, groups)
        users: dict[int, set[int]] = {}  # by cell
        for text, group in zip(texts, groups.tolist(), strict=True):
            for key in text.tolist():
                users.setdefault(key % 256, set()).add(group % 64)
        found = spread.commonest(sets, every, groups, most)
        for at, text in enumerate(texts):
            used = [
                sum(group in users[key % 256] for key in text.tolist()) if group != groups[at] % 64 else 0
                for group in range(64)
            ]
            speak = {group for group in range(64) if used[group] and 2 * used[group] >= max(used)}
            having = [len(users[key % 256] & speak) for key in text.tolist()]
            best = sorted(range(text.size), key=lambda i: (-having[i], i))[:most]
            expected = [int(text[i]) for i in sorted(best) if having[i]]
            assert found.keys[found.offsets[at] : found.offsets[at + 1]].tolist() == expected
            shown += len(expected)
    assert shown > 2000
