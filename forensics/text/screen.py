"""Which of many long texts may run through one of a few short ones, piece by piece?

For each long text the best score (`streams.best_score`) of a short text with the part of it in which that one would
most likely stand (`stretches`). One kernel call a long text: most are unlike, and what surrounds the kernels would cost
as much as they do. Finds no pieces; that is `streams.best_stream`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numba
import numpy as np

from forensics.text.fold import Units
from forensics.text.streams import score, weights
from forensics.text.stretches import AROUND, SHORT, held_grams, likeliest, times_average


class Screen:
    """Up to `stretches.MOST` short texts."""

    def __init__(self, firsts: Sequence[Units]) -> None:
        self._held = held_grams(firsts)
        self._units = np.concatenate([np.zeros(0, dtype=np.uint32), *firsts])
        self._worth = weights(self._units)
        self._offsets = np.cumsum([0, *(first.size for first in firsts)])

    def best(self, second: Units, ratio: float) -> tuple[int, int]:
        """Best score, and where the stretch of `second` begins that gave it (of equal scores the last); 0, 0 if none.

        Looked at are short texts whose likeliest stretch has `ratio` times the average of their grams. Releases the
        GIL.
        """
        found, low = _best(self._held, self._units, self._worth, self._offsets, second, ratio)
        return int(found), int(low)


@numba.njit(cache=True, nogil=True)
def _best(held: Any, units: Any, worth: Any, offsets: Any, second: Any, least: float) -> Any:
    long = second.size > SHORT
    table = likeliest(held, offsets.size - 1 if long else 0, second)
    best: Any = 0
    best_low: Any = 0
    for number in range(offsets.size - 1):
        first, last = offsets[number], offsets[number + 1]
        low, high = 0, second.size
        if long and last - first >= 3:  # shorter ones have no gram
            low, high = table[number, 0], table[number, 0] + AROUND
            if times_average(table[number, 1], table[number, 2], second.size) < least:
                continue
        around = second[max(0, low - (last - first) // 2) : min(second.size, high + (last - first) // 2)]
        found = score(units[first:last], around, worth[first:last])
        if found > best or (found == best and low > best_low):
            best, best_low = found, low
    return best, best_low
