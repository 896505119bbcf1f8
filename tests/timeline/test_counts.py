"""Counts of running requests against stays, worked out by hand. Times in seconds."""

from __future__ import annotations

import numpy as np
import pytest

from forensics.timeline.counts import agreement

# Held: 1 from 10 to 20, 2 from 20 to 40, 1 from 40 to 50, 0 before and after.
ADMITTED = np.array([10, 20], dtype=np.int64) * 1_000_000
DONE = np.array([40, 50], dtype=np.int64) * 1_000_000


@pytest.mark.parametrize(
    ("second", "running", "agrees"),
    [
        (15, 1, True),
        (15, 2, False),
        (15, 0, True),
        (30, 2, True),
        (30, 3, False),
        (30, 1, True),
        (30, 0, False),
        (19, 2, True),
        (70, 0, True),
        (70, 1, False),
        (1, 1, False),
        (9, 1, True),
    ],
)
def test_a_count_agrees_where_the_stays_reach_it(second: int, running: int, agrees: bool):
    found = agreement(ADMITTED, DONE, np.array([second * 1_000_000]), np.array([running]))
    assert found.tolist() == [agrees]


def test_no_counts_and_no_stays():
    none = np.zeros(0, dtype=np.int64)
    assert agreement(ADMITTED, DONE, none, none).tolist() == []
    assert agreement(none, none, np.array([5]), np.array([0])).tolist() == [True]
    assert agreement(none, none, np.array([5]), np.array([1])).tolist() == [False]
