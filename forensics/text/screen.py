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
from forensics.text.streams import NARROW, WIDE_UNIT, _screen, _screen_narrow, weights
from forensics.text.stretches import AROUND, DENSE, SHORT, Seekers, _likeliest


class Screen:
    """Up to `stretches.MOST` short texts."""

    def __init__(self, firsts: Sequence[Units]) -> None:
        sizes = [first.size for first in firsts]
        self._held = Seekers(firsts).held
        self._units = np.concatenate([np.zeros(0, dtype=np.uint32), *firsts])
        self._worth = weights(self._units).astype(np.int32)
        self._offsets = np.cumsum([0, *sizes])
        # Those that 16-bit numbers do for, where the long text has no wider units either.
        self._narrow = np.array(
            [
                first.size < NARROW
                and int(self._worth[low : low + first.size].sum()) < NARROW
                and int(first.max(initial=0)) < WIDE_UNIT
                for first, low in zip(firsts, self._offsets.tolist(), strict=False)
            ],
            dtype=np.bool_,
        )
        self._narrow_units = self._units.astype(np.uint16)
        self._narrow_worth = self._worth.astype(np.int16)

    def best(self, second: Units, ratio: float) -> tuple[int, int]:
        """Best score, and where the stretch of `second` begins that gave it (of equal scores the last); 0, 0 if none.

        Looked at are short texts whose likeliest stretch has `ratio` times the average of their grams. Releases the
        GIL.
        """
        score, low = _best(
            self._held, self._units, self._worth, self._offsets, self._narrow, self._narrow_units, self._narrow_worth,
            second, ratio,
        )  # fmt: skip
        return int(score), int(low)


@numba.njit(cache=True, nogil=True)
def _best(
    held: Any, units: Any, worth: Any, offsets: Any, narrow: Any, narrow_units: Any, narrow_worth: Any, second: Any,
    least: float,
) -> Any:  # fmt: skip
    count = narrow.size
    longest: Any = 0
    for number in range(count):
        longest = max(longest, offsets[number + 1] - offsets[number])
    long = second.size > SHORT and longest >= 3
    table = _likeliest(held, count if long else 0, second)
    best: Any = 0
    best_low: Any = 0
    for number in range(count):
        first, last = offsets[number], offsets[number + 1]
        size = last - first
        low, high = 0, second.size
        if long and size >= 3:
            low, high = table[number, 0], table[number, 0] + AROUND
            mean = table[number, 2] * AROUND / (second.size - 2)
            if table[number, 1] < DENSE * AROUND and table[number, 1] / max(mean, 1.0) < least:
                continue
        if size == 0 or second.size == 0:
            continue
        around = second[max(0, low - size // 2) : min(second.size, high + size // 2)]
        score: Any = 0
        if narrow[number] and around.max() < WIDE_UNIT:
            score = np.int64(
                _screen_narrow(narrow_units[first:last], around.astype(np.uint16), narrow_worth[first:last])
            )
        else:
            score = np.int64(_screen(units[first:last], around, worth[first:last]))
        if score > best or (score == best and low > best_low):
            best, best_low = score, low
    return best, best_low
