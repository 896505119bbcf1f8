"""Which stretches of a text have word order that nobody else has written? Counted by hand."""

from __future__ import annotations

import numpy as np

from forensics.text.match import pack
from forensics.text.sequences import SPAN, STEP, Orders, neighbours


def found(texts: list[str], groups: list[int], share: float) -> list[tuple[int, float, int]]:
    buffer, offsets = pack(texts)
    sets = neighbours(buffer, offsets)
    orders = Orders()
    orders.add(sets, np.array(groups))
    documents, shares, firsts = orders.stretches(sets, np.array(groups), share)
    return list(zip(documents.tolist(), shares.tolist(), firsts.tolist(), strict=True))


def some_words(prefix: str, count: int) -> str:
    return " ".join(f"{prefix}{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(count))


def test_what_another_group_wrote_is_not_new() -> None:
    text = some_words("word", 30)
    assert found([text, text], [1, 2], 0.5) == []
    assert found([text, text], [1, 1], 0.5) == [(0, 1.0, 0), (1, 1.0, 0)]


def test_stretches_follow_each_other_and_the_last_ends_with_the_text() -> None:
    known, new = some_words("known", 151), some_words("new", 150)
    stretches = found([f"{known} {new}", known], [1, 2], 0.6)
    last = 300 - SPAN
    assert [first for _, _, first in stretches] == [first for first in (*range(0, last, STEP), last) if first >= 118]
    assert stretches[-1] == (0, 1.0, last)
    assert all(document == 0 for document, _, _ in stretches)


def test_a_text_without_pairs_has_none() -> None:
    assert found(["word", "", "two words"], [1, 2, 3], 0.5) == [(2, 1.0, 0)]
