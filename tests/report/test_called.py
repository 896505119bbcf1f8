"""Names of others in texts, against a search that tries every name at every word."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.report.called import Names, words_of

SOME = ["pier", "Pier", "quay", "QUAY", "security", "halloran", "straße", "İzmir", "ward", "2026", "1234567", "_", "a"]
NAME = st.lists(st.sampled_from(SOME), min_size=1, max_size=3).map(" ".join)
TEXT = st.lists(st.sampled_from([*SOME, "STRASSE", "the", "\n", ". ", "-", "@"]), max_size=14)


def plain(
    rows: list[tuple[str, str]], own: list[str], text: str, tenant: str | None, mine: list[tuple[str, ...]]
) -> int | None:
    """Every name at every word of the text."""

    def parts(words: str) -> tuple[str, ...]:
        return tuple(word.casefold() for word in re.findall(r"\w+", words))

    common = {word for words in own for word in parts(words)}
    said = [(match.group().casefold(), match.start()) for match in re.finditer(r"\w+", text)]
    for place, (_, at) in enumerate(said):
        for _, name in rows:
            words = parts(name)
            joined = "".join(words)
            if len(joined) < 4 or set(words) <= common or joined.isdigit():
                continue
            if any(other == tenant and parts(called) == words for other, called in rows):
                continue
            if any(words == call[i : i + len(words)] for call in mine for i in range(len(call))):
                continue
            if tuple(word for word, _ in said[place : place + len(words)]) == words:
                return at
    return None


@settings(max_examples=400, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("abc"), NAME), max_size=6),
    st.lists(NAME, max_size=1),
    TEXT.map(" ".join) | TEXT.map("".join),
    st.sampled_from(["a", "b", None]),
    st.lists(NAME, max_size=2),
)
def test_the_first_name_is_that_of_a_plain_search(
    rows: list[tuple[str, str]], own: list[str], text: str, tenant: str | None, called: list[str]
) -> None:
    mine = [words_of(name) for name in called]
    assert Names(rows, own).first(text, tenant, mine) == plain(rows, own, text, tenant, mine)


def test_a_name_among_thousands_that_begin_alike_is_found_as_a_whole() -> None:
    rows = [(f"t{i}", f"security@firm{i}.example") for i in range(3000)]
    names = Names(rows, ["Write to security at our firm."])
    assert names.first("Ask Security@Firm2718.example, please.", "t1", []) == 4
    assert names.first("Ask security@firm2718.example, please.", "t2718", []) is None
    assert names.first("security@firm9999.example, firm17 and example", "t1", []) is None


@pytest.mark.parametrize("text", ["İzmir Ledger", "IZMIR \u0130zmir ledger"], ids=range(2))
def test_a_letter_whose_small_form_is_two_signs_hides_no_name(text: str) -> None:
    assert Names([("a", "İzmir Ledger")], []).first(text, "b", []) == text.index("İ")
