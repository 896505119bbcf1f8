"""What a passage is worth by its characters is what `measure` gives it where nothing was counted."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from forensics.attribution.candidate import Candidate
from forensics.attribution.name_bits import most_bits, name_strength
from forensics.attribution.strength import Counts, bits_by_characters, measure
from forensics.text.fold import fold
from forensics.text.words import words

TEXT = "Write to Marta Lindqvist-Okonkwo, Halloran Street 44-17; 山田太郎様, Вельяминов, כהן. s p a c e d o u t ... end"
TEXTS: Any = SimpleNamespace(
    folded=lambda key: fold(TEXT), units=lambda key: fold(TEXT).units, words=lambda key: words(TEXT)
)
NOTHING = Counts(np.zeros(0, dtype=np.uint64), np.zeros((0, 3), dtype=np.int32), 0)
SIZE = fold(TEXT).units.size


def passage(start: int, end: int) -> Candidate:
    return Candidate(0, 0, 0, start, end, "target", False, (), frozenset())


@pytest.mark.parametrize("length", [1, 3, 9, 30, SIZE])
def test_nothing_counted_leaves_the_bits_of_the_characters(length: int) -> None:
    for start in range(SIZE - length + 1):
        one = passage(start, start + length)
        found = bits_by_characters(one, TEXTS)
        assert found == pytest.approx(measure(one, TEXTS, NOTHING, 0).bits)
        assert found > 0
        assert most_bits(TEXTS, one) == pytest.approx(name_strength(TEXTS, one, NOTHING, 0).bits)
        assert most_bits(TEXTS, one) <= found


def test_what_others_write_takes_from_it() -> None:
    one = passage(0, SIZE)
    keys = np.sort(words(TEXT).hashes)
    counted = Counts(np.unique(keys), np.full((np.unique(keys).size, 3), 50, dtype=np.int32), 1000)
    assert measure(one, TEXTS, counted, 0).bits < bits_by_characters(one, TEXTS)
    assert name_strength(TEXTS, one, counted, 0).bits < most_bits(TEXTS, one)
