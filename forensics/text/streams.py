"""Does one text run through another, piece by piece, between pieces of something else?

When the streams of two requests are mixed token by token, the pieces of the other stream stand in the response in
order, and put together they are a stretch of its text without a hole. So: local alignment (Smith and Waterman 1981;
Gotoh 1982) in which leaping over units of the first text is cheap, a unit of the second text must agree or is paid for
dearly, and nothing is replaced. Two unrelated texts lose score with every piece, since one or two letters in a row are
worth less than a leap. Pieces of three letters or more gain.
Does not say what the stretch is worth.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numba
import numpy as np

from forensics.text.fold import Units

MATCH = 10  # for one letter; a unit that weighs more (Han, kana, Hangul) says more
LEAP = 20  # to leave the stream,
LEAP_UNIT = 1  # and for every unit of the first text that is passed over
HOLE = 35  # to pass over a unit of the second text,
HOLE_UNIT = 8  # and every further one
MAX_CELLS = 40_000_000  # of the table of directions; beyond it a passage is given without its pieces

NARROW = 16_000  # scores and lengths up to which 16-bit numbers do, and
WIDE_UNIT = 1 << 16  # units that need more

_START, _MATCH, _LEAP, _HOLE = 0, 1, 2, 3
_LOW = -(1 << 30)


@dataclass(frozen=True)
class Stream:
    """`[start, end)` of the first text holds, in `pieces` (start, end, place in the second text), what
    `[other_start, other_end)` of the second text is; `score` of the alignment."""

    score: int
    start: int
    end: int
    other_start: int
    other_end: int
    pieces: tuple[tuple[int, int, int], ...]

    @property
    def matched(self) -> int:
        """Units that agree."""
        return sum(end - start for start, end, _ in self.pieces)


def best_score(first: Units, second: Units) -> int:
    """Score of the best alignment without holes: a lower bound of `best_stream`'s, at a hundredth of its cost."""
    return int(score(first, second, weights(first)))


def best_stream(first: Units, second: Units) -> Stream | None:
    """The best alignment with its pieces; None where nothing agrees."""
    found = _local(first, second, weights(first))
    score, start, other_start, end, other_end = (int(value) for value in found)
    if score <= 0:
        return None
    if (end - start) * (other_end - other_start) > MAX_CELLS:
        return Stream(score, start, end, other_start, other_end, ((start, end, other_start),))
    part = first[start:end]
    places = _pieces(part, second[other_start:other_end], weights(part))
    pieces: list[tuple[int, int, int]] = []
    for here, there in reversed(places.tolist()):
        last = pieces[-1] if pieces else None
        if last is not None and last[1] == start + here and last[2] + last[1] - last[0] == other_start + there:
            pieces[-1] = (last[0], last[1] + 1, last[2])
        else:
            pieces.append((start + here, start + here + 1, other_start + there))
    return Stream(score, start, end, other_start, other_end, tuple(pieces))


def weights(units: Units) -> Any:
    """Score of a match, by unit of the first text."""
    scores = np.full(units.size, MATCH, dtype=np.int64)
    scores[(units >= 0x3040) & (units <= 0x30FF)] = 2 * MATCH
    scores[(units >= 0xAC00) & (units <= 0xD7AF)] = 2 * MATCH
    scores[(units >= 0x3400) & (units <= 0x9FFF) | (units >= 0x20000)] = 3 * MATCH
    return scores


@numba.njit(cache=True, nogil=True)
def score(first: Any, second: Any, worth: Any) -> Any:
    """`best_score` of units whose `weights` are known."""
    if first.size == 0 or second.size == 0:
        return np.int64(0)
    if worth.sum() < NARROW and first.size < NARROW and first.max() < WIDE_UNIT and second.max() < WIDE_UNIT:
        narrow = _screen_narrow(first.astype(np.uint16), second.astype(np.uint16), worth.astype(np.int16))
        return np.int64(narrow)
    return np.int64(_screen(first, second, worth.astype(np.int32)))


@numba.njit(cache=True, nogil=True)
def _screen(first: Any, second: Any, worth: Any) -> Any:
    # 32-bit numbers and no dependence inside a row, so that the compiler can do many columns at a time.
    m = second.size
    low = np.int32(-(1 << 29))
    zero = np.int32(0)
    leap_cost = np.int32(LEAP)
    unit_cost = np.int32(LEAP_UNIT)
    match = np.full(m + 1, low, dtype=np.int32)
    leap = np.full(m + 1, low, dtype=np.int32)
    new_match = np.full(m + 1, low, dtype=np.int32)
    new_leap = np.full(m + 1, low, dtype=np.int32)
    best = zero
    for i in range(first.size):
        unit = first[i]
        gain = worth[i]
        for j in range(m):
            value = max(max(match[j], leap[j]), zero) + gain
            value = value if second[j] == unit else low
            new_match[j + 1] = value
            new_leap[j + 1] = max(match[j + 1] - leap_cost, leap[j + 1]) - unit_cost
            best = max(best, value)
        match, new_match = new_match, match
        leap, new_leap = new_leap, leap
    return best


@numba.njit(cache=True, nogil=True)
def _screen_narrow(first: Any, second: Any, worth: Any) -> Any:
    # The same in 16-bit numbers: twice as many columns at a time, and no widening in between (hence the casts).
    m = second.size
    low = np.int16(-NARROW)
    zero = np.int16(0)
    leap_cost = np.int16(LEAP)
    unit_cost = np.int16(LEAP_UNIT)
    match = np.full(m + 1, low, dtype=np.int16)
    leap = np.full(m + 1, low, dtype=np.int16)
    new_match = np.full(m + 1, low, dtype=np.int16)
    new_leap = np.full(m + 1, low, dtype=np.int16)
    best = np.zeros(m, dtype=np.int16)
    for i in range(first.size):
        unit = first[i]
        gain = worth[i]
        for j in range(m):
            value = np.int16(max(max(match[j], leap[j]), zero) + gain)
            value = value if second[j] == unit else low
            new_match[j + 1] = value
            new_leap[j + 1] = np.int16(max(np.int16(match[j + 1] - leap_cost), leap[j + 1]) - unit_cost)
            best[j] = max(best[j], value)
        match, new_match = new_match, match
        leap, new_leap = new_leap, leap
    return best.max()


@numba.njit(cache=True, nogil=True)
def _local(first: Any, second: Any, worth: Any) -> Any:
    m = second.size
    # Best score that ends here: in a match, in a leap over units of the first text, in a hole of the second.
    match = np.full(m + 1, _LOW, dtype=np.int64)
    leap = np.full(m + 1, _LOW, dtype=np.int64)
    hole = np.full(m + 1, _LOW, dtype=np.int64)
    # Where the alignment began, both places in one number.
    match_from = np.zeros(m + 1, dtype=np.int64)
    leap_from = np.zeros(m + 1, dtype=np.int64)
    hole_from = np.zeros(m + 1, dtype=np.int64)
    best, best_from, best_i, best_j = 0, 0, 0, 0
    for i in range(first.size):
        unit = first[i]
        gain = worth[i]
        # Values of the row before, one column to the left.
        match_left, leap_left, hole_left = match[0], leap[0], hole[0]
        match_left_from, leap_left_from, hole_left_from = match_from[0], leap_from[0], hole_from[0]
        row_match, row_match_from = _LOW, 0
        row_hole, row_hole_from = _LOW, 0
        for j in range(1, m + 1):
            match_up, leap_up, hole_up = match[j], leap[j], hole[j]
            match_up_from, leap_up_from, hole_up_from = match_from[j], leap_from[j], hole_from[j]
            # a hole, from this row's column before
            if row_match - HOLE >= row_hole - HOLE_UNIT:
                row_hole, row_hole_from = row_match - HOLE, row_match_from
            else:
                row_hole = row_hole - HOLE_UNIT
            if row_hole <= 0:
                row_hole = _LOW
            hole[j] = row_hole
            hole_from[j] = row_hole_from
            # a leap over this unit of the first text
            if match_up - LEAP >= leap_up:
                value, value_from = match_up - LEAP - LEAP_UNIT, match_up_from
            else:
                value, value_from = leap_up - LEAP_UNIT, leap_up_from
            if value <= 0:
                value = _LOW
            leap[j] = value
            leap_from[j] = value_from
            # a match
            if unit == second[j - 1]:
                value, value_from = 0, (i << 32) | (j - 1)
                if match_left > value:
                    value, value_from = match_left, match_left_from
                if leap_left > value:
                    value, value_from = leap_left, leap_left_from
                if hole_left > value:
                    value, value_from = hole_left, hole_left_from
                value += gain
                if value > best:
                    best, best_from, best_i, best_j = value, value_from, i + 1, j
                match[j] = value
                match_from[j] = value_from
                row_match, row_match_from = value, value_from
            else:
                match[j] = _LOW
                row_match = _LOW
            match_left, leap_left, hole_left = match_up, leap_up, hole_up
            match_left_from, leap_left_from, hole_left_from = match_up_from, leap_up_from, hole_up_from
    return best, best_from >> 32, best_from & 0xFFFFFFFF, best_i, best_j


@numba.njit(cache=True, nogil=True)
def _pieces(first: Any, second: Any, worth: Any) -> Any:
    """Places that agree (unit of either text), last first, of the best alignment that ends at both ends."""
    n = first.size
    m = second.size
    # Directions: 2 bits for where a match came from, one for a leap (from a match), one for a hole (from a match).
    turns = np.zeros((n + 1, m + 1), dtype=np.uint8)
    match = np.full(m + 1, _LOW, dtype=np.int64)
    leap = np.full(m + 1, _LOW, dtype=np.int64)
    hole = np.full(m + 1, _LOW, dtype=np.int64)
    for i in range(n):
        match_left, leap_left, hole_left = match[0], leap[0], hole[0]
        row_match, row_hole = _LOW, _LOW
        for j in range(1, m + 1):
            match_up, leap_up, hole_up = match[j], leap[j], hole[j]
            turn = 0
            if row_match - HOLE >= row_hole - HOLE_UNIT:
                row_hole = row_match - HOLE
                turn |= 8
            else:
                row_hole = row_hole - HOLE_UNIT
            hole[j] = row_hole
            if match_up - LEAP >= leap_up:
                leap[j] = match_up - LEAP - LEAP_UNIT
                turn |= 4
            else:
                leap[j] = leap_up - LEAP_UNIT
            if first[i] == second[j - 1]:
                value, came = _LOW, _START
                if i == 0 and j == 1:
                    value = 0
                if match_left > value:
                    value, came = match_left, _MATCH
                if leap_left > value:
                    value, came = leap_left, _LEAP
                if hole_left > value:
                    value, came = hole_left, _HOLE
                turn |= came
                match[j] = value + worth[i]
                row_match = match[j]
            else:
                match[j] = _LOW
                row_match = _LOW
            turns[i + 1, j] = turn
            match_left, leap_left, hole_left = match_up, leap_up, hole_up
    places = np.empty((min(n, m), 2), dtype=np.int64)
    count = 0
    i, j, state = n, m, _MATCH
    while i > 0 and j > 0:
        turn = turns[i, j]
        if state == _MATCH:
            places[count, 0] = i - 1
            places[count, 1] = j - 1
            count += 1
            state = turn & 3
            i -= 1
            j -= 1
            if state == _START:
                break
        elif state == _LEAP:
            state = _MATCH if turn & 4 else _LEAP
            i -= 1
        else:
            state = _MATCH if turn & 8 else _HOLE
            j -= 1
    return places[:count]
