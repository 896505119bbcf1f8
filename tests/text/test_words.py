"""Words, their pairs and triples, and counting given keys."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.text.fold import fold, fold_table
from forensics.text.words import Words, count_keys, pairs, sum_counts, terms, triples, whole_counts, word_hashes, words


def spelled(text: str) -> list[str]:
    found, folded = words(text), fold(text)
    return [
        "".join(map(chr, folded.units[low:high].tolist()))
        for low, high in zip(found.starts.tolist(), found.ends.tolist(), strict=True)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Pay invoice 44-B today!", ["pay", "invoice", "44", "b", "today"]),
        ("don't", ["don", "t"]),
        ("camelCase snake_case", ["camelcase", "snake", "case"]),
        ("発注書です", ["発", "注", "書", "て", "す"]),  # one sign, one word; the voicing mark is a mark
        ("订单ABC号", ["订", "单", "abc", "号"]),
        ("한국 전자", ["한국", "전자"]),
        ("שלום עולם", ["שלום", "עולם"]),
        ("ﬁne", ["fine"]),
        ("", []),
        ("…", []),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert spelled(text) == expected


def test_single_signs_are_marked() -> None:
    assert words("订单 abc 한국").single.tolist() == [True, True, False, False]


def test_a_word_has_one_hash_wherever_it_stands() -> None:
    first, second = words("The ledger is closed"), words("closed: LEDGER, the")
    by_word = dict(zip(spelled("The ledger is closed"), first.hashes.tolist(), strict=True))
    assert second.hashes.tolist() == [by_word["closed"], by_word["ledger"], by_word["the"]]
    assert len(set(by_word.values())) == 4


def test_pairs_and_triples_depend_on_order_and_on_every_word() -> None:
    def hashes(text: str) -> np.ndarray:
        return words(text).hashes

    assert pairs(hashes("one")).size == 0
    assert triples(hashes("one two")).size == 0
    assert pairs(hashes("a b c d"))[1] == pairs(hashes("x b c"))[1]
    assert pairs(hashes("a b"))[0] != pairs(hashes("b a"))[0]
    assert triples(hashes("a b c d"))[1] == triples(hashes("b c d"))[0]
    orders = ["a b c", "a c b", "b a c", "b c a", "c a b", "c b a", "x b c", "a x c", "a b x"]
    assert len({int(triples(hashes(order))[0]) for order in orders}) == len(orders)


def test_terms_are_words_and_neighbouring_signs() -> None:
    found = words("订单号 abc 号")
    sign_pairs = pairs(words("订单号").hashes).tolist()
    assert sorted(terms(found).tolist()) == sorted([int(words("abc").hashes[0]), *sign_pairs])
    none = words("")
    assert terms(none).size == 0


def test_terms_of_lone_signs_are_none() -> None:
    assert terms(words("号")).size == 0


vocabulary = ["ledger", "订", "单", "עולם", "12", "the", "한국", "ﬁ", "b"]
texts = st.lists(st.lists(st.sampled_from(vocabulary), max_size=25), min_size=1, max_size=6)


@settings(deadline=None, max_examples=60)
@given(texts, st.lists(st.integers(0, 2), min_size=6, max_size=6), st.integers(0, 2))
def test_counting_agrees_with_a_counter(documents: list[list[str]], columns: list[int], kept: int) -> None:
    """The oracle counts tuples of spelled words; only the hash of a given tuple comes from the code."""
    expected: Counter[tuple[tuple[str, ...], int]] = Counter()
    for document, column in zip(documents, columns, strict=False):
        for size in (1, 2, 3):
            for i in range(len(document) - size + 1):
                expected[tuple(document[i : i + size]), column] += 1
    wanted = {ngram for ngram, _ in expected if len(ngram) <= kept + 1} | {("absent",)}

    def key(ngram: tuple[str, ...]) -> int:
        hashes = words(" ".join(ngram)).hashes
        return int((hashes, pairs(hashes), triples(hashes))[len(ngram) - 1][0])

    by_key = {key(ngram): ngram for ngram in wanted}
    assert len(by_key) == len(wanted)
    keys = np.array(sorted(by_key), dtype=np.uint64)
    data = [" ".join(document).encode() for document in documents]
    offsets = np.cumsum([0, *map(len, data)]).astype(np.int64)
    counts = np.zeros((keys.size, 3), dtype=np.int32)
    read = count_keys(
        np.frombuffer(b"".join(data), dtype=np.uint8),
        offsets,
        np.array(columns[: len(documents)], dtype=np.int32),
        keys,
        counts,
    )
    assert read == sum(map(len, documents))
    for row, number in enumerate(keys.tolist()):
        for column in range(3):
            assert counts[row, column] == expected[by_key[number], column]


def test_documents_do_not_run_into_each_other() -> None:
    keys = np.sort(np.concatenate([words("leftright").hashes, pairs(words("left right").hashes)]))
    counts = np.zeros((2, 1), dtype=np.int32)
    buffer = np.frombuffer(b"leftright", dtype=np.uint8)
    read = count_keys(buffer, np.array([0, 4, 9], dtype=np.int64), np.zeros(2, dtype=np.int32), keys, counts)
    assert read == 2
    assert counts.sum() == 0


@settings(deadline=None)
@given(st.lists(st.text(max_size=40) | st.lists(st.sampled_from(vocabulary), max_size=9).map(" ".join), max_size=4))
def test_the_hashes_alone_are_those_of_the_words(documents: list[str]) -> None:
    data = [document.encode() for document in documents]
    buffer = np.frombuffer(b"".join(data) + b"rest", dtype=np.uint8)
    table, low = fold_table(), 0
    room = np.empty(2 * buffer.size + 1, dtype=np.uint64)
    for document, part in zip(documents, data, strict=True):
        size = word_hashes(buffer, low, low + len(part), table.table, table.expansions, room)
        assert room[:size].tolist() == words(document).hashes.tolist()
        low += len(part)


@given(st.text(max_size=200))
def test_words_tile_the_units(text: str) -> None:
    """Every unit lies in exactly one word."""
    found: Words = words(text)
    covered = [
        u for low, high in zip(found.starts.tolist(), found.ends.tolist(), strict=True) for u in range(low, high)
    ]
    assert covered == list(range(fold(text).units.size))


@settings(deadline=None)
@given(
    st.dictionaries(st.integers(0, 20), st.lists(st.integers(0, 3), min_size=3, max_size=3), min_size=1),
    st.lists(st.integers(0, 22), max_size=8),
    st.lists(st.booleans(), min_size=3, max_size=3),
)
def test_counts_are_summed_without_those_left_out(
    counts: dict[int, list[int]], wanted: list[int], out: list[bool]
) -> None:
    keys = sorted(counts)
    table = np.array([counts[key] for key in keys], dtype=np.int32)
    total, above = sum_counts(
        np.array(keys, dtype=np.uint64),
        table,
        whole_counts(table),
        np.array(wanted, dtype=np.uint64),
        np.flatnonzero(np.array(out)),
    )
    kept = [[n for n, left in zip(counts.get(key, [0, 0, 0]), out, strict=True) if not left] for key in wanted]
    assert total.tolist() == [sum(row) for row in kept]
    assert above.tolist() == [sum(n > 0 for n in row) for row in kept]
