"""Extension with gaps against a plain twin; alignment of copies whose edits are known."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.text.align import align
from forensics.text.extend import BAND, DROP, EXTEND, MATCH, MISMATCH, OPEN, extend, extend_back
from forensics.text.fold import fold

LOW = -(10**9)


def plain(first: list[int], second: list[int]) -> tuple[int, int, int]:
    """Gotoh's recurrences in a band, row by row, with x-drop."""
    score = {(0, 0): 0}
    down: dict[tuple[int, int], int] = {}
    across: dict[tuple[int, int], int] = {}
    for j in range(1, min(len(second), BAND) + 1):
        if OPEN + EXTEND * (j - 1) >= -DROP:
            score[0, j] = OPEN + EXTEND * (j - 1)
    best = (0, 0, 0)
    for i in range(1, len(first) + 1):
        alive = False
        for j in range(max(0, i - BAND), min(len(second), i + BAND) + 1):
            down[i, j] = max(score.get((i - 1, j), LOW) + OPEN, down.get((i - 1, j), LOW) + EXTEND)
            across[i, j] = max(score.get((i, j - 1), LOW) + OPEN, across.get((i, j - 1), LOW) + EXTEND)
            value = max(down[i, j], across[i, j])
            if j > 0 and (i - 1, j - 1) in score:
                value = max(value, score[i - 1, j - 1] + (MATCH if first[i - 1] == second[j - 1] else MISMATCH))
            if value >= best[2] - DROP:
                score[i, j] = value
                alive = True
                if value > best[2]:
                    best = (i, j, value)
        if not alive:
            break
    return best


units = st.lists(st.integers(97, 100), max_size=70)


@settings(max_examples=150, deadline=None)
@given(units, units, st.integers(0, 30))
def test_extension_is_its_twin(first: list[int], second: list[int], common: int) -> None:
    """Few letters, so that gaps are worth while; part of the texts is common."""
    second = first[:common] + second
    a, b = np.array(first, dtype=np.uint32), np.array(second, dtype=np.uint32)
    wanted = plain(first, second)
    assert extend(a, b, 0, 0) == wanted
    assert extend_back(a[::-1], b[::-1], a.size, b.size) == wanted


def test_a_copy_ends_where_it_ends() -> None:
    copy = "seventeen crates of printed ledgers were shipped to the wrong quay on a Tuesday in March"
    first = fold(copy.replace("printed ", "").replace("quay", "quai") + " eggs boil for about seven minutes").units
    second = fold(copy + " which nobody had noticed until Friday").units
    here, there, _ = extend(first, second, 0, 0)
    lengths = fold(copy).units.size
    assert abs(there - lengths) <= 1
    assert abs(here - (lengths - len("printed"))) <= 1


def test_the_edit_script_is_what_was_done() -> None:
    source = "seventeen crates of printed ledgers were shipped to the wrong quay on a Tuesday in March"
    first = fold(source.replace("printed", "").replace("wrong", "wrangle") + "").units
    second = fold(source).units
    found = align(first, second, (0, first.size), (0, second.size), [])
    assert found.dropped == len("printed")
    assert (found.replaced, found.inserted) == (3, 2)  # wr[ong] -> wr[angle]: two letters alone are no agreement
    assert found.edits == 2
    for block in found.blocks:
        size = block.end - block.start
        np.testing.assert_array_equal(
            first[block.start : block.end], second[block.other_start : block.other_start + size]
        )


def test_cutting_at_anchors_changes_nothing() -> None:
    text = fold(" ".join(f"word{i} number{i * 7 % 31}" for i in range(600))).units
    changed = text.copy()
    changed[::97] = ord("z")
    anchors = [(i, i) for i in range(5, text.size, 40) if changed[i] == text[i]]
    whole = align(changed, text, (0, text.size), (0, text.size), [])
    cut = align(changed, text, (0, text.size), (0, text.size), anchors)
    assert cut == whole
