"""Letters written as escapes: what they say, and where they stand."""

from __future__ import annotations

import json

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.text.escapes import fold_escaped, has_escapes, unescape, whole_escape
from forensics.text.fold import fold
from forensics.text.symbols import boundaries

letters = st.text(st.characters(exclude_categories=("Cs",), exclude_characters='\\"\n\r\t\b\f'), max_size=40)


@settings(deadline=None)
@given(letters, letters)
def test_json_escapes_are_undone(before: str, text: str) -> None:
    """Python's own writer of JSON is the other side; control characters become escapes, too."""
    written = before + json.dumps(text, ensure_ascii=True)
    plain, places = unescape(written)
    assert plain == before + '"' + text + '"'
    assert len(places) == len(plain)
    assert np.all(np.diff(places) >= 1)
    folded, same = fold_escaped(written), fold(plain)
    np.testing.assert_array_equal(folded.units, same.units)
    np.testing.assert_array_equal(boundaries(folded), boundaries(same))


def test_places_are_those_of_the_text_as_it_is() -> None:
    text = "caf\\u00e9s \\ud83d\\ude00 \\u4f60\\u597d"
    folded = fold_escaped(text)
    assert "".join(map(chr, folded.units)) == "cafes\u4f60\u597d"
    assert folded.positions.tolist() == [0, 1, 2, 8, 9, 29, 35]
    assert whole_escape(text, 29) == 24
    assert whole_escape(text, 22) == 11  # both halves of a letter outside the first plane
    assert whole_escape(text, 2) == 2


def test_what_is_no_escape() -> None:
    for text in ("C:\\users\\new", "\\u12", "\\U00e9", "u00e9", "\\x41"):
        assert not has_escapes(text.encode())
        assert unescape(text)[0] == text
    assert unescape("\\ud800x")[0] == "\ufffdx"
