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
import numpy.typing as npt

from forensics.text.fold import Units

AROUND = 160
SHORT = 640  # units of a text that is one stretch
DENSE = 0.35  # share of a stretch's grams
MOST = 16  # short texts at once: a bit each
CELLS = 1 << 14


def held_grams(firsts: Sequence[Units]) -> npt.NDArray[np.uint16]:
    """By cell, which of up to MOST short texts have a gram that falls there: bit i for the i-th."""
    if len(firsts) > MOST:
        raise ValueError(f"{len(firsts)} texts at once; {MOST} at most")
    held = np.zeros(CELLS, dtype=np.uint16)
    for number, first in enumerate(firsts):
        _hold(first, np.uint16(1 << number), held)
    return held


@numba.njit(cache=True, nogil=True)
def _hold(first: Any, bit: Any, held: Any) -> None:
    for i in range(2, first.size):
        held[_gram(first[i - 2], first[i - 1], first[i])] |= bit


@numba.njit(cache=True, nogil=True)
def likeliest(held: Any, count: int, second: Any) -> Any:
    """For each of `count` short texts, by their `held_grams`: where the likeliest AROUND units of `second` begin, how
    many of its grams they have in common there, and how many in all of `second`."""
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
def times_average(most: Any, total: Any, size: Any) -> float:
    """How many times the average of a text of that size a stretch has in common; without end where it is nearly all."""
    return np.inf if most >= DENSE * AROUND else most / max(total * AROUND / (size - 2), 1.0)


@numba.njit(cache=True, nogil=True)
def _gram(a: Any, b: Any, c: Any) -> Any:
    key = (np.uint64(a) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(b)) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(c)
    return (key * np.uint64(0xFF51AFD7ED558CCD)) >> np.uint64(50)
