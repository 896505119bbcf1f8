"""Which of some given terms stand in a text? Terms are those of `words.terms`; nothing is kept of a text.

Does not say what a term is worth, nor how many use it (`vocabulary`).
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from forensics.text.fingerprint import _BASE, mix
from forensics.text.fold import EXPANSION_BASE, Ints, decode, fold_table
from forensics.text.seed_search import _bits
from forensics.text.vocabulary import TermSets, _room, _terms
from forensics.text.words import _PAIR, is_single

Places = npt.NDArray[np.int32]


class Lookup:
    """Sets of terms to look for in texts. `flags[i]` says whether key i was met; texts are never kept."""

    def __init__(self, sets: TermSets) -> None:
        self.sets = sets
        self.flags = np.zeros(sets.keys.size, dtype=np.uint8)
        self._slots, self._slot_offsets = _tables(sets.keys, sets.offsets)
        self._filter = _filter(sets.keys)

    def mark(self, buffer: npt.NDArray[np.uint8], offsets: Ints, documents: Ints, numbers: Ints, enough: Ints) -> None:
        """For each pair (document, set number) flag the set's terms that the document holds.

        A set of which `enough[number]` terms are flagged is done with: the rest of the text is not read for it. Safe
        from several threads; what is enough at the end does not depend on their order.
        """
        table = fold_table()
        _mark_all(
            buffer, offsets, documents, numbers, enough, self.sets.keys, self.sets.offsets, self._slots,
            self._slot_offsets, self.flags, table.table, table.expansions,
        )  # fmt: skip

    def places(self, buffer: npt.NDArray[np.uint8], offsets: Ints) -> tuple[Places, Places]:
        """For the first set: (document, key index) of each of its terms that a document holds, once."""
        table = fold_table()
        documents, found = _places(
            buffer, offsets, self.sets.keys[: self.sets.offsets[1]], self._slots[: self._slot_offsets[1]],
            self._filter, table.table, table.expansions,
        )  # fmt: skip
        return documents, found

    def flagged(self) -> Ints:
        """Flagged terms of each set."""
        total = np.concatenate([[0], np.cumsum(self.flags, dtype=np.int64)])
        return np.asarray(total[self.sets.offsets[1:]] - total[self.sets.offsets[:-1]])


@numba.njit(cache=True)
def _filter(keys: Any) -> Any:
    """A filter over keys, as a `SeedTable` has: most terms of a text are not sought, and this says so at once."""
    size = 1024
    while size < keys.size:
        size *= 2
    words = np.zeros(size // 4, dtype=np.uint64)
    mask = np.uint64(words.size - 1)
    for key in keys:
        words[(key >> np.uint64(20)) & mask] |= _bits(key)
    return words


@numba.njit(cache=True)
def _tables(keys: Any, offsets: Any) -> Any:
    ends = np.zeros(offsets.size, dtype=np.int64)
    for number in range(offsets.size - 1):
        size = 4
        while size < 2 * (offsets[number + 1] - offsets[number]):
            size *= 2
        ends[number + 1] = ends[number] + size
    slots = np.full(ends[-1], -1, dtype=np.int32)
    for number in range(offsets.size - 1):
        low = ends[number]
        mask = np.uint64(ends[number + 1] - low - 1)
        for i in range(offsets[number], offsets[number + 1]):
            at = keys[i] & mask
            while slots[low + np.int64(at)] >= 0:
                at = (at + np.uint64(1)) & mask
            slots[low + np.int64(at)] = i
    return slots, ends


@numba.njit(cache=True, nogil=True)
def _mark_all(
    buffer: Any, offsets: Any, documents: Any, numbers: Any, enough: Any, keys: Any, key_offsets: Any, slots: Any,
    slot_offsets: Any, flags: Any, table: Any, expansions: Any,
) -> None:  # fmt: skip
    touched = np.empty(0, dtype=np.int64)
    for pair in range(documents.size):
        number = numbers[pair]
        have = 0
        for i in range(key_offsets[number], key_offsets[number + 1]):
            have += flags[i]
        if have >= enough[number]:
            continue
        part = slots[slot_offsets[number] : slot_offsets[number + 1]]
        start, end = offsets[documents[pair]], offsets[documents[pair] + 1]
        _mark(buffer, start, end, keys, part, flags, touched, enough[number] - have, table, expansions)


@numba.njit(cache=True, nogil=True)
def _flag(key: Any, keys: Any, slots: Any, flags: Any, touched: Any, n: int) -> int:
    """Flag `key` if it is sought and not flagged yet; how many there are then."""
    mask = np.uint64(slots.size - 1)
    at = key & mask
    while slots[at] >= 0:
        place = slots[at]
        if keys[place] == key:
            if flags[place] == 0:
                flags[place] = 1
                if n < touched.size:
                    touched[n] = place
                n += 1
            break
        at = (at + np.uint64(1)) & mask
    return n


@numba.njit(cache=True, nogil=True)
def _mark(
    buffer: Any, start: Any, end: Any, keys: Any, slots: Any, flags: Any, touched: Any, wanted: Any, table: Any,
    expansions: Any,
) -> int:  # fmt: skip
    """Flag the keys that stand in the text, until `wanted` new ones are; note them in `touched`; how many there are."""
    n = 0
    word = np.uint64(0)
    sign = np.uint64(0)
    length = 0
    was_sign = False
    i = start
    while i <= end:
        value = np.uint32(0)
        if i < end:
            code, i = decode(buffer, i, end)
            value = table[code]
        else:
            i = end + 1
        row: Any = -1
        if value >= EXPANSION_BASE:
            row = np.int64(value) - EXPANSION_BASE
        for j in range(expansions.shape[1]):
            unit = value if row < 0 else expansions[row, j]
            if unit == 0 and j > 0:
                break
            single = unit != 0 and is_single(unit)
            if (unit == 0 or single) and length > 0:
                key = mix(word)
                word, length, was_sign = np.uint64(0), 0, False
                n = _flag(key, keys, slots, flags, touched, n)
                if n >= wanted:
                    return n
            if single:
                current = mix(np.uint64(unit) * _BASE)
                if was_sign:
                    key = mix(sign * _BASE + current + _PAIR)
                    n = _flag(key, keys, slots, flags, touched, n)
                    if n >= wanted:
                        return n
                sign, was_sign = current, True
            elif unit != 0:
                word = word * _BASE + np.uint64(unit) + np.uint64(1)
                length += 1
            if row < 0:
                break
    return n


@numba.njit(cache=True, nogil=True)
def _places(buffer: Any, offsets: Any, keys: Any, slots: Any, words: Any, table: Any, expansions: Any) -> Any:
    flags = np.zeros(keys.size, dtype=np.uint8)
    touched = np.empty(keys.size + 1, dtype=np.int64)
    documents = np.empty(256, dtype=np.int32)
    found = np.empty(256, dtype=np.int32)
    room = _room(offsets)
    mask = np.uint64(slots.size - 1)
    word_mask = np.uint64(words.size - 1)
    n = 0
    for document in range(offsets.size - 1):
        size = _terms(buffer, offsets[document], offsets[document + 1], table, expansions, room)
        # Short loops, so that the cache misses of the probes overlap.
        passed = 0
        for i in range(size):
            key = mix(room[i])
            bits = _bits(key)
            room[passed] = key
            passed += words[(key >> np.uint64(20)) & word_mask] & bits == bits
        met = 0
        for i in range(passed):
            key = room[i]
            at = key & mask
            while slots[at] >= 0:
                place = slots[at]
                if keys[place] == key:
                    touched[met] = place
                    met += flags[place] == 0
                    flags[place] = 1
                    break
                at = (at + np.uint64(1)) & mask
        while n + met > found.size:
            documents = np.concatenate((documents, np.empty_like(documents)))
            found = np.concatenate((found, np.empty_like(found)))
        touched[:met].sort()
        for i in range(met):
            documents[n], found[n] = document, touched[i]
            flags[touched[i]] = 0
            n += 1
    return documents[:n].copy(), found[:n].copy()


def held_terms(
    groups: Ints, members: Ints, offsets: Ints, found: Places, lows: Ints, highs: Ints, wanted: Ints, column: Places
) -> npt.NDArray[np.bool_]:
    """[group, wanted key]: does a member of the group hold the key?

    Group g has the members `members[offsets[g]:offsets[g + 1]]`, member m the keys `found[lows[m]:highs[m]]`.
    `column`: room for all keys, -1 everywhere, and so it is left.
    """
    return np.asarray(gather(groups, members, offsets, found, lows, highs, wanted, column))


@numba.njit(cache=True, nogil=True)
def gather(groups: Any, members: Any, offsets: Any, found: Any, lows: Any, highs: Any, wanted: Any, column: Any) -> Any:
    for i in range(wanted.size):
        column[wanted[i]] = i
    held = np.zeros((groups.size, wanted.size), dtype=np.bool_)
    for row in range(groups.size):
        for place in range(offsets[groups[row]], offsets[groups[row] + 1]):
            for i in range(lows[members[place]], highs[members[place]]):
                at = column[found[i]]
                if at >= 0:
                    held[row, at] = True
    for i in range(wanted.size):
        column[wanted[i]] = -1
    return held


def count_found(found: Places, lows: Ints, highs: Ints, keys: int) -> Ints:
    """Members that hold each key, numbers below `keys`; a member holds `found[lows[m]:highs[m]]`."""
    return np.asarray(_count_found(found, lows, highs, keys))


@numba.njit(cache=True, nogil=True)
def _count_found(found: Any, lows: Any, highs: Any, keys: int) -> Any:
    counts = np.zeros(keys, dtype=np.int64)
    for member in range(lows.size):
        for i in range(lows[member], highs[member]):
            counts[found[i]] += 1
    return counts
