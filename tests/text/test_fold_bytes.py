"""Folding from bytes is folding of the decoded text."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from forensics.text.fold import fold, fold_bytes


@settings(deadline=None)  # the first call compiles
@given(st.text())
@example("Ünïcode ﬁne ㍿ 漢字 שלום \U0001f600 \U00020000 １２")
def test_bytes_and_text_fold_alike(text: str) -> None:
    data = np.frombuffer(text.encode(), dtype=np.uint8)
    one, other = fold(text), fold_bytes(data)
    assert one.units.tolist() == other.units.tolist()
    assert one.positions.tolist() == other.positions.tolist()
