"""Quotations that were asked for: by hand-made questions and answers."""

from __future__ import annotations

import pytest

from forensics.attribution.quotations import is_quotation

LINE = "the grey heron folds the river into its sleeve and does not pay"


@pytest.mark.parametrize(
    "question", ["Any good quote?", "Ein Sprichwort, bitte", "挂一句名言", "תן לי פסוק", "Podaj cytat"]
)
def test_asked_for_in_many_languages(question: str) -> None:
    answer = f"Here is one: {LINE}"
    assert is_quotation(question, answer, answer.index(LINE), len(answer))


@pytest.mark.parametrize(
    "question", ["How does a universe begin?", "Continue our conversation", "Reverse this list", ""]
)
def test_words_that_hold_such_words_do_not_ask(question: str) -> None:
    answer = f"Here is one: {LINE}"
    assert not is_quotation(question, answer, answer.index(LINE), len(answer))


def test_numbers_and_addresses_are_no_quotation() -> None:
    answer = "A verse: write to heron@river.example or call 555 019"
    assert not is_quotation("A verse please", answer, 9, len(answer))


def test_a_passage_in_the_middle_of_a_sentence_is_none() -> None:
    answer = f"I think {LINE} and so on, as they say here"
    start = answer.index(LINE)
    assert not is_quotation("A verse please", answer, start, start + len(LINE))
