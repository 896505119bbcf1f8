"""Where exactly do two folded texts agree, given places where they share a seed?

Each seed is extended exactly in both directions; equal runs are given once. Neighbouring runs on nearly the same
diagonal are joined when the gap between them is small on both sides, since one changed letter should not make two
findings. Alignment of heavily altered copies is not done here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from forensics.text.fold import Ints, Units, weight
from forensics.text.keys import distinct

MAX_GAP = 16  # units on either side that a join may bridge
MAX_SHIFT = 4  # difference of the two gaps


@dataclass(frozen=True)
class Run:
    """`[start, end)` in units of the first text, `[other_start, other_end)` of the second; `matched` units agree."""

    start: int
    end: int
    other_start: int
    other_end: int
    matched: int


def runs(first: Units, second: Units, first_at: Ints, second_at: Ints) -> list[Run]:
    """Runs through the seeds (`first_at[i]`, `second_at[i]`: any unit of the seed in each text), sorted by start."""
    if first_at.size == 0:
        return []
    order = np.lexsort((first_at, first_at - second_at))
    found = _extend(first, second, first_at[order], second_at[order])
    exact = sorted({(int(a), int(b), int(c)) for a, b, c in found})
    joined: list[Run] = []
    for start, end, other in exact:
        run = Run(start, end, other, other + end - start, end - start)
        if joined:
            last = joined[-1]
            gap, other_gap = run.start - last.end, run.other_start - last.other_end
            if 0 <= gap <= MAX_GAP and 0 <= other_gap <= MAX_GAP and abs(gap - other_gap) <= MAX_SHIFT:
                joined[-1] = Run(last.start, run.end, last.other_start, run.other_end, last.matched + run.matched)
                continue
        joined.append(run)
    return joined


@numba.njit(cache=True, nogil=True)
def _extend(first: Any, second: Any, first_at: Any, second_at: Any) -> Any:
    out = np.empty((first_at.size, 3), dtype=np.int64)
    n = 0
    diagonal = 0
    reached = -1
    for i in range(first_at.size):
        a = first_at[i]
        b = second_at[i]
        if i > 0 and a - b == diagonal and a < reached:
            continue
        if a < 0 or b < 0 or a >= first.size or b >= second.size or first[a] != second[b]:
            continue
        low = 0
        while a - low > 0 and b - low > 0 and first[a - low - 1] == second[b - low - 1]:
            low += 1
        high = 1
        while a + high < first.size and b + high < second.size and first[a + high] == second[b + high]:
            high += 1
        diagonal = a - b
        reached = a + high
        out[n, 0] = a - low
        out[n, 1] = a + high
        out[n, 2] = b - low
        n += 1
    return out[:n]


@numba.njit(cache=True, nogil=True)
def total_weight(units: Any) -> int:
    """Sum of the units' weights."""
    total = 0
    for i in range(units.size):
        total += weight(units[i])
    return total


Grams = npt.NDArray[np.uint64]

COVER_GRAM = 10  # units; short enough to trim edges that also stand in the recipient's own text


def covered(units: Units, own: list[Units]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """For each unit: does it lie in a gram of COVER_GRAM units that one of the `own` texts holds too?

    Linear in the length of the own texts, without sorting them.
    """
    mask = np.zeros(units.size, dtype=np.bool_)
    if units.size < COVER_GRAM:
        return mask
    keys = _grams(units)
    sought = distinct(keys)
    present = np.zeros(sought.size, dtype=np.bool_)
    bits = np.zeros(1 << 16, dtype=np.bool_)
    bits[(_mixed(sought) >> np.uint64(48)).astype(np.int64)] = True
    for text in own:
        if text.size >= COVER_GRAM:
            _mark(text, sought, bits, present, _POWER)
    known = present[np.searchsorted(sought, keys)]
    for back in range(COVER_GRAM):
        mask[back : back + keys.size] |= known
    return mask


def tail_overlap(first: Units, second: Units, tail: int, reach: int) -> float:
    """Share (0..1) of the last `tail` units of the shorter text that the last `reach` units of the other one hold."""
    if first.size > second.size:
        first, second = second, first
    end = first[-tail:]
    if end.size < COVER_GRAM:
        return 0.0
    return float(covered(end, [second[-reach:]]).mean())


_BASE = np.uint64(0x9E3779B97F4A7C15)
_SPREAD = np.uint64(0xFF51AFD7ED558CCD)


def _power() -> np.uint64:
    with np.errstate(over="ignore"):
        power = np.uint64(1)
        for _ in range(COVER_GRAM - 1):
            power = power * _BASE
        return power


_POWER = _power()


def _mixed(keys: Grams) -> Grams:
    with np.errstate(over="ignore"):
        return keys * _SPREAD


def _grams(units: Units) -> Grams:
    n = units.size - COVER_GRAM + 1
    with np.errstate(over="ignore"):
        keys = np.zeros(n, dtype=np.uint64)
        for back in range(COVER_GRAM):
            keys = keys * _BASE + units[back : back + n].astype(np.uint64)
    return keys


@numba.njit(cache=True, nogil=True)
def _mark(text: Any, sought: Any, bits: Any, present: Any, power: Any) -> None:
    """Set `present[i]` where a gram of `text` is `sought[i]`; `bits` lets nearly all others pass by."""
    key = np.uint64(0)
    for i in range(text.size):
        if i >= COVER_GRAM:
            key -= np.uint64(text[i - COVER_GRAM]) * power
        key = key * _BASE + np.uint64(text[i])
        if i < COVER_GRAM - 1 or not bits[(key * _SPREAD) >> np.uint64(48)]:
            continue
        low = np.searchsorted(sought, key)
        if low < sought.size and sought[low] == key:
            present[low] = True
