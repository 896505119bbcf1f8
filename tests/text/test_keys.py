"""Key sets against Python's own sets."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from forensics.text.keys import among, distinct

KEYS = st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 9), max_size=40)


@given(KEYS)
def test_distinct(keys: list[int]) -> None:
    assert distinct(np.array(keys, dtype=np.uint64)).tolist() == sorted(set(keys))


@given(KEYS, KEYS)
def test_among(keys: list[int], held: list[int]) -> None:
    found = among(np.array(keys, dtype=np.uint64), np.array(sorted(held), dtype=np.uint64))
    assert found.tolist() == [key in set(held) for key in keys]
