"""Text from logs cannot act on a terminal, and none of it disappears."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.text.safe_text import safe_text

ANY_TEXT = st.text(alphabet=st.characters())  # includes lone surrogates and controls


@given(ANY_TEXT)
def test_nothing_active_is_left(value: str) -> None:
    for character in safe_text(value):
        assert unicodedata.category(character) not in {"Cc", "Cf", "Cs", "Zl", "Zp"}


@given(ANY_TEXT)
def test_nothing_is_deleted(value: str) -> None:
    """Undoing the escapes gives the text back (where it held no escape of its own)."""
    if re.search(r"\\[xuU]", value):
        return
    restored = re.sub(
        r"\\x([0-9a-f]{2})|\\u([0-9a-f]{4})|\\U([0-9a-f]{8})",
        lambda m: chr(int(next(group for group in m.groups() if group), 16)),
        safe_text(value),
    )
    assert restored == value


@given(ANY_TEXT)
def test_newlines_only_where_asked(value: str) -> None:
    assert "\n" not in safe_text(value)
    assert safe_text(value, keep_newlines=True).count("\n") == value.count("\n")


@given(ANY_TEXT)
def test_result_can_be_encoded(value: str) -> None:
    safe_text(value).encode("utf-8")


def test_every_control_and_format_character_is_covered() -> None:
    missed = [
        hex(code)
        for code in range(0x110000)
        if unicodedata.category(chr(code)) in {"Cc", "Cf", "Cs", "Zl", "Zp"} and safe_text(chr(code)) == chr(code)
    ]
    assert missed == []


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("\x1b]0;title\x07", "\\x1b]0;title\\x07"),
        ("a\rb", "a\\x0db"),
        ("\x9b31m", "\\x9b31m"),
        ("user\u202egnp.exe", "user\\u202egnp.exe"),
        ("zero\u200bwidth", "zero\\u200bwidth"),
        ("\U000e0041", "\\U000e0041"),
        ("\ud800", "\\ud800"),
        ("naïve 中文 עברית", "naïve 中文 עברית"),
    ],
)
def test_examples(value: str, shown: str) -> None:
    assert safe_text(value) == shown
