"""In which stretch of a text would another one stand, if it stood there in pieces?

The stretch of AROUND units that has most grams of three units in common. Several short texts are asked about at once:
the grams of the long one are made once for all of them. Linear in all lengths; order is not asked for, and how well
the two agree is `streams`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numba
import numpy as np

from forensics.text.fold import Units

AROUND = 160
SHORT = 640  # units of a text that is one stretch
DENSE = 0.35  # share of a stretch's grams
MOST = 16  # short texts at once: a bit each
CELLS = 1 << 14

Stretch = tuple[int, int, float]


class Seekers:
    """Up to MOST short texts that look for their places in long ones."""

    def __init__(self, firsts: Sequence[Units]) -> None:
        if len(firsts) > MOST:
            raise ValueError(f"{len(firsts)} texts at once; {MOST} at most")
        self._sizes = [first.size for first in firsts]
        self.held = np.zeros(CELLS, dtype=np.uint16)
        for number, first in enumerate(firsts):
            _hold(first, np.uint16(1 << number), self.held)

    def likeliest(self, second: Units) -> list[Stretch]:
        """For each short text the likeliest stretch of `second`: its start and end, and how many times the average of
        `second` its grams are in common (infinite where `second` is short, or nearly all of the stretch is common)."""
        whole = (0, int(second.size), np.inf)
        if second.size <= SHORT or max(self._sizes, default=0) < 3:
            return [whole] * len(self._sizes)
        found = []
        table = _likeliest(self.held, len(self._sizes), second)
        for size, (start, most, total) in zip(self._sizes, table.tolist(), strict=True):
            mean = total * AROUND / (second.size - 2)
            ratio = np.inf if most >= DENSE * AROUND else float(most / max(mean, 1.0))
            found.append(whole if size < 3 else (start, start + AROUND, ratio))
        return found


def likeliest(first: Units, second: Units) -> Stretch:
    """The same for one short text."""
    return Seekers([first]).likeliest(second)[0]


@numba.njit(cache=True, nogil=True)
def _hold(first: Any, bit: Any, held: Any) -> None:
    for i in range(2, first.size):
        held[_gram(first[i - 2], first[i - 1], first[i])] |= bit


@numba.njit(cache=True, nogil=True)
def _likeliest(held: Any, count: int, second: Any) -> Any:
    bits = np.zeros(second.size, dtype=np.uint16)
    for j in range(2, second.size):
        bits[j] = held[_gram(second[j - 2], second[j - 1], second[j])]
    out = np.empty((count, 3), dtype=np.int64)
    for number in range(count):
        shift = np.uint16(number)
        one = np.uint16(1)
        inside: Any = 0
        for j in range(AROUND - 1):
            inside += np.int64((bits[j] >> shift) & one)
        total: Any = inside
        most: Any = -1
        start = 0
        for j in range(AROUND - 1, second.size):
            new = np.int64((bits[j] >> shift) & one)
            inside += new
            total += new
            if inside > most:
                most = inside
                start = j - AROUND + 1
            inside -= np.int64((bits[j - AROUND + 1] >> shift) & one)
        out[number, 0] = start
        out[number, 1] = most
        out[number, 2] = total
    return out


@numba.njit(cache=True, nogil=True)
def _gram(a: Any, b: Any, c: Any) -> Any:
    key = (np.uint64(a) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(b)) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(c)
    return (key * np.uint64(0xFF51AFD7ED558CCD)) >> np.uint64(50)
