"""Boundaries of a part are the part of the boundaries of the whole."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from forensics.text.escapes import fold_escaped
from forensics.text.fold import fold
from forensics.text.symbols import boundaries

TEXT = "Two berths, (three) tolls: \u05d1\u05b0\u05d9\u05ea \u96e8\u306e\u65e5 a-b"


def test_a_boundary_stands_where_something_was_dropped() -> None:
    folded = fold("ab, cd")
    assert "".join(map(chr, folded.units)) == "abcd"
    assert boundaries(folded).tolist() == [True, False, True, False]


@pytest.mark.parametrize("text", [TEXT, "", "a", " ", TEXT.encode("unicode_escape").decode("ascii")])
@pytest.mark.parametrize("escaped", [False, True])
def test_of_a_part(text: str, escaped: bool) -> None:
    folded = fold_escaped(text) if escaped else fold(text)
    whole = boundaries(folded)
    assert whole.size == folded.units.size
    for start, end in itertools.combinations(range(folded.units.size + 1), 2):
        assert np.array_equal(boundaries(folded, start, end), whole[start:end])
    assert np.array_equal(boundaries(folded, 0, None), whole)
