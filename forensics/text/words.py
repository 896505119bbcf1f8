"""Which words does a text hold, and how often do given words and word pairs occur in many texts?

Words are runs of units without a gap in the raw text; Han, kana and other scripts without spaces give one word a
sign. Word, pair and triple hashes are 64 bit and stable. Counting is done for given keys only ("of interest"), so
that its cost is one pass and its memory is the keys, not the vocabulary.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from forensics.text.fingerprint import _BASE, _longest, mix
from forensics.text.fold import EXPANSION_BASE, Ints, decode, fold_table

Keys = npt.NDArray[np.uint64]
_PAIR = np.uint64(0xA0761D6478BD642F)
_TRIPLE = np.uint64(0xE7037ED1A0B428DB)


@dataclass(frozen=True)
class Words:
    """Parallel arrays: `starts`, `ends` (unit indexes, end exclusive), `hashes`, `single` (one sign = one word)."""

    starts: Ints
    ends: Ints
    hashes: Keys
    single: npt.NDArray[np.bool_]

    def within(self, start: int, end: int) -> slice:
        """The words that lie in these units. They stand in the order of the text, so that none is looked at to know."""
        low = int(np.searchsorted(self.starts, start))
        return slice(low, max(low, int(np.searchsorted(self.ends, end, side="right"))))


def words(text: str) -> Words:
    """Words of one text. Unit indexes agree with `fold`."""
    return words_of_bytes(np.frombuffer(text.encode("utf-8", "surrogatepass"), dtype=np.uint8))


def words_of_bytes(data: npt.NDArray[np.uint8]) -> Words:
    """The same of a text given as UTF-8."""
    table = fold_table()
    return Words(*_words(data, 0, data.size, table.table, table.expansions))


@numba.njit(cache=True)
def _mix_array(values: Any) -> Any:
    out = np.empty(values.size, dtype=np.uint64)
    for i in range(values.size):
        out[i] = mix(values[i])
    return out


def pairs(hashes: Keys) -> Keys:
    """Key of each word with the word before it; the first one has none and is left out."""
    with np.errstate(over="ignore"):
        return np.asarray(_mix_array(hashes[:-1] * _BASE + hashes[1:] + _PAIR))


def triples(hashes: Keys) -> Keys:
    """Key of each word with the two before it; the first two have none and are left out."""
    with np.errstate(over="ignore"):
        return np.asarray(_mix_array((hashes[:-2] * _BASE + hashes[1:-1]) * _BASE + hashes[2:] + _TRIPLE))


def terms(found: Words) -> Keys:
    """What a text is about, as keys: its words, and for scripts without spaces its pairs of neighbouring signs."""
    if found.hashes.size == 0:
        return found.hashes
    both = found.single[:-1] & found.single[1:] & (found.ends[:-1] == found.starts[1:])
    return np.concatenate([found.hashes[~found.single], pairs(found.hashes)[both]])


def count_keys(
    buffer: npt.NDArray[np.uint8],
    offsets: Ints,
    groups: npt.NDArray[np.int32],
    keys: Keys,
    counts: npt.NDArray[np.int32],
) -> int:
    """Add to `counts[key index, group]` the occurrences of `keys` in the documents; returns the words read.

    `groups[i]` is the column of document i; keys are sorted and unique. Words, pairs and triples are all looked up.
    """
    table = fold_table()
    return int(_count(buffer, offsets, groups, keys, *_slots(keys), counts, table.table, table.expansions))


@numba.njit(cache=True, nogil=True)
def whole_counts(counts: Any) -> Any:
    """Sum, and number above 0, of every row of counts."""
    total = np.zeros(counts.shape[0], dtype=np.int64)
    above = np.zeros(counts.shape[0], dtype=np.int64)
    for row in range(counts.shape[0]):
        for column in range(counts.shape[1]):
            total[row] += counts[row, column]
            above[row] += counts[row, column] > 0
    return total, above


@numba.njit(cache=True, nogil=True)
def sum_counts(keys: Any, counts: Any, whole: Any, wanted: Any, out: Any) -> Any:
    """Sum, and number above 0, of the counts of each wanted key, without the columns `out` (each named once).

    `whole` is what `whole_counts` says; so few columns are read of each row.
    """
    total = np.zeros(wanted.size, dtype=np.float64)
    above = np.zeros(wanted.size, dtype=np.int64)
    low = 0
    for i in range(wanted.size):
        key = wanted[i]
        if i > 0 and key < wanted[i - 1]:
            low = 0
        # Wanted keys mostly ascend: look near the last one first, in steps that double.
        step = 1
        high = low
        while high < keys.size and keys[high] < key:
            low = high + 1
            high += step
            step *= 2
        high = min(high, keys.size)
        while low < high:
            middle = (low + high) >> 1
            if keys[middle] < key:
                low = middle + 1
            else:
                high = middle
        if low == keys.size or keys[low] != key:
            continue
        rest = whole[0][low]
        units = whole[1][low]
        if units > 0:
            for column in out:
                rest -= counts[low, column]
                units -= counts[low, column] > 0
        total[i] = rest
        above[i] = units
    return total, above


@numba.njit(cache=True)
def _slots(keys: Any) -> Any:
    size = 1024
    while size < keys.size * 4:
        size *= 2
    slots = np.full(size, -1, dtype=np.int32)
    bits = np.zeros(size // 16, dtype=np.uint64)  # nearly all words are no key, and pass a table that stays in a cache
    mask = np.uint64(size - 1)
    for i in range(keys.size):
        at = keys[i] & mask
        bits[at >> np.uint64(4)] |= np.uint64(1) << (keys[i] >> np.uint64(58))
        while slots[at] >= 0:
            at = (at + np.uint64(1)) & mask
        slots[at] = i
    return slots, bits


@numba.njit(cache=True, nogil=True)
def _pass(hashes: Any, bits: Any, mask: Any, out: Any, n: Any) -> Any:
    """Append to `out[:n]` the hashes that may be among the keys of `_slots`; how many there are then."""
    size: Any = n
    for key in hashes:
        out[size] = key
        size += np.int64(bits[(key & mask) >> np.uint64(4)] >> (key >> np.uint64(58)) & np.uint64(1))
    return size


@numba.njit(cache=True, nogil=True)
def _count(
    buffer: Any, offsets: Any, groups: Any, keys: Any, slots: Any, bits: Any, counts: Any, table: Any, expansions: Any
) -> int:
    total = 0
    hashes = np.empty(2 * _longest(offsets) + 2, dtype=np.uint64)
    longer = np.empty(hashes.size, dtype=np.uint64)
    passed = np.empty(3 * hashes.size, dtype=np.uint64)
    mask = np.uint64(slots.size - 1)
    for document in range(offsets.size - 1):
        size = word_hashes(buffer, offsets[document], offsets[document + 1], table, expansions, hashes)
        total += size
        # Short loops: those that only reckon do many at a time, and the cache misses of those that probe overlap.
        n = _pass(hashes[:size], bits, mask, passed, 0)
        for i in range(1, size):
            longer[i] = mix(hashes[i - 1] * _BASE + hashes[i] + _PAIR)
        n = _pass(longer[1:size], bits, mask, passed, n)
        for i in range(2, size):
            longer[i] = mix((hashes[i - 2] * _BASE + hashes[i - 1]) * _BASE + hashes[i] + _TRIPLE)
        n = _pass(longer[2:size], bits, mask, passed, n)
        group = groups[document]
        for i in range(n):
            at = passed[i] & mask
            while slots[at] >= 0:
                if keys[slots[at]] == passed[i]:
                    counts[slots[at], group] += 1
                    break
                at = (at + np.uint64(1)) & mask
    return total


@numba.njit(cache=True, nogil=True)
def is_single(unit: Any) -> bool:
    """Is this folded unit a word by itself (Han, kana, Thai and others that write no spaces)?"""
    return (
        0x0E00 <= unit <= 0x0EFF
        or 0x1000 <= unit <= 0x109F
        or 0x1780 <= unit <= 0x17FF
        or 0x3040 <= unit <= 0x30FF
        or 0x3400 <= unit <= 0x9FFF
        or unit >= 0x20000
    )


@numba.njit(cache=True, nogil=True)
def _words(buffer: Any, start: Any, end: Any, table: Any, expansions: Any) -> Any:
    capacity = 2 * (end - start) + 2
    hashes = np.empty(capacity, dtype=np.uint64)
    starts = np.empty(capacity, dtype=np.int64)
    ends = np.empty(capacity, dtype=np.int64)
    single = np.empty(capacity, dtype=np.bool_)
    n = word_hashes(buffer, start, end, table, expansions, hashes, (starts, ends, single))
    return starts[:n].copy(), ends[:n].copy(), hashes[:n].copy(), single[:n].copy()


@numba.njit(cache=True, nogil=True)
def word_hashes(buffer: Any, start: Any, end: Any, table: Any, expansions: Any, hashes: Any, places: Any = None) -> int:
    """Hashes of the words of one document, and their number.

    `places`: arrays for the start and end of each (units) and whether it is a sign by itself; None where they are not
    needed, and numba leaves out what fills them. All arrays have room for two a byte and one more.
    """
    n: Any = 0
    i = start
    position: Any = 0
    current = np.uint64(0)
    length: Any = 0
    while i < end:
        while i < end and buffer[i] < 0x80:
            # Written whether a word ends or not: a branch would be guessed wrong at the end of every word.
            unit = table[buffer[i]]
            letter = np.int64(unit != 0)
            hashes[n] = current
            if places is not None:
                _place(places, n, position - length, position, False)
            n += np.int64(length > 0) & (letter ^ 1)
            current = (current * _BASE + np.uint64(unit) + np.uint64(1)) & np.uint64(-letter)
            length = (length + 1) & -letter
            position += letter
            i += 1
        if i >= end:
            break
        code, i = decode(buffer, i, end)
        value = table[code]
        row: Any = -1
        if value >= EXPANSION_BASE:
            row = np.int64(value) - EXPANSION_BASE
        for j in range(expansions.shape[1]):
            unit = value if row < 0 else expansions[row, j]
            if unit == 0 and j > 0:
                break
            sign = unit != 0 and is_single(unit)
            if length > 0 and (unit == 0 or sign):
                hashes[n] = current
                if places is not None:
                    _place(places, n, position - length, position, False)
                n += 1
                current = np.uint64(0)
                length = 0
            if sign:
                hashes[n] = np.uint64(unit) * _BASE
                if places is not None:
                    _place(places, n, position, position + 1, True)
                n += 1
                position += 1
            elif unit != 0:
                current = current * _BASE + np.uint64(unit) + np.uint64(1)
                length += 1
                position += 1
            if row < 0:
                break
    if length > 0:
        hashes[n] = current
        if places is not None:
            _place(places, n, position - length, position, False)
        n += 1
    for k in range(n):
        hashes[k] = mix(hashes[k])
    return n


@numba.njit(cache=True, nogil=True)
def _place(places: Any, n: Any, start: Any, end: Any, single: Any) -> None:
    places[0][n], places[1][n], places[2][n] = start, end, single
