"""Who holds a passage: the compiled count against the same rule written plainly."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from numpy import array, cumsum, int32, int64

from forensics.attribution.hits import MAX_GROUP, _holders

UNITS = 4


def plainly(seeds: list[int], rows: list[tuple[int, int]], held: list[list[int]]) -> list[int]:
    """Units (-1: nobody's) of the first MAX_GROUP rows of each seed, each unit once a seed."""
    counts = [0] * UNITS
    for seed in seeds:
        group = [content for one, content in rows if one == seed][:MAX_GROUP]
        for unit in {unit for content in group for unit in held[content]} - {-1}:
            counts[unit] += 1
    return counts


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 8), st.integers(0, 5)), max_size=40),
    st.lists(st.lists(st.integers(-1, UNITS - 1), max_size=3, unique=True), min_size=6, max_size=6),
    st.sets(st.integers(0, 9)),
)
def test_holders_are_counted(rows: list[tuple[int, int]], held: list[list[int]], seeds: set[int]) -> None:
    rows = sorted(rows)
    found = _holders(
        array(sorted(seeds), dtype=int32),
        array([seed for seed, _ in rows], dtype=int32),
        array([content for _, content in rows], dtype=int32),
        cumsum([0, *map(len, held)]).astype(int64),
        array([unit for units in held for unit in units], dtype=int64),
        UNITS,
    )
    assert found.tolist() == plainly(sorted(seeds), rows, held)
