"""Names of called tools in the markup of models, as their chat templates and tool parsers document it."""

from __future__ import annotations

import numpy as np
import pytest

from forensics.text.fold import fold
from forensics.text.labels import shown
from forensics.text.tool_calls import called


def read(*texts: str, whole: bool = False) -> list[tuple[int, str]]:
    """(document, folded name) of the calls."""
    data = [text.encode() for text in texts]
    offsets = np.cumsum([0, *map(len, data)]).astype(np.int64)
    found = called(np.frombuffer(b"".join(data), dtype=np.uint8), offsets, np.full(len(texts), whole))
    units = ["".join(map(chr, fold(text).units.tolist())) for text in texts]
    return [
        (int(d), units[d][int(a) : int(b)]) for d, a, b in zip(found.documents, found.starts, found.ends, strict=True)
    ]


@pytest.mark.parametrize(
    "text",
    [
        "<tool_call>book_crates\n<arg_key>query</arg_key>\n<arg_value>eggs</arg_value>\n</tool_call>",
        "Let me see. <tool_call>\nbook_crates\n<arg_key>q</arg_key></tool_call>",
        '<tool_call>\n{"name": "book_crates", "arguments": {"query": "eggs"}}\n</tool_call>',
        "<tool_call>\n<function=book_crates>\n<parameter=query>\neggs\n</parameter>\n</function>\n</tool_call>",
        '<function=book_crates>{"query": "eggs"}</function>',
        '<invoke name="book_crates"><parameter name="query">eggs</parameter></invoke>',
        '<|tool_call_begin|>functions.book_crates:0<|tool_call_argument_begin|>{"query": "eggs"}<|tool_call_end|>',
        "<｜tool▁call▁begin｜>function<｜tool▁sep｜>book_crates\n```json\n{}\n```<｜tool▁call▁end｜>",
        "<｜tool▁call▁begin｜>book_crates<｜tool▁sep｜>{}<｜tool▁call▁end｜>",
    ],
)
def test_the_name_in_each_markup(text: str) -> None:
    assert read("No call here.", text) == [(1, "bookcrates")]


def test_several_calls_in_one_answer_and_names_of_any_script() -> None:
    text = "Ja, é: <tool_call>book_crates\n</tool_call><tool_call>поиск_ящика\n</tool_call>"
    assert read(text) == [(0, "bookcrates"), (0, "поискящика")]


@pytest.mark.parametrize(
    "text", ["", "<tool_call>", "<tool_call>\n{}</tool_call>", "a function=book_crates", "<function=>"]
)
def test_what_calls_nothing(text: str) -> None:
    assert read(text) == []


def test_a_parsed_call_is_one_name() -> None:
    assert read("book_crates", whole=True) == [(0, "bookcrates")]


def test_hashes_are_those_of_labels() -> None:
    text = b"<tool_call>book_crates\n</tool_call>"
    one = called(np.frombuffer(text, dtype=np.uint8), np.array([0, len(text)]), np.array([False]))
    name = b"book_crates"
    other = shown(np.frombuffer(name, dtype=np.uint8), np.array([0, len(name)]), np.array([True]))
    assert one.hashes.tolist() == other.hashes.tolist()


def test_an_answer_of_very_many_calls_is_read_in_one_pass() -> None:
    """Its square would take minutes. Full-width letters and ligatures fold to other numbers of units than of signs."""
    text = "\ufb01\uff41 <tool_call>book_crates\n</tool_call>" * 20000
    found = read(text)
    assert len(found) == 20000
    assert set(found) == {(0, "bookcrates")}
