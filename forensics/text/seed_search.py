"""Where in texts do given hashes of grams stand? At every position, not only at selected ones.

With the fingerprints of one side given, all of them that stand in the other are found, whatever surrounds the shared
run there. `SeedTable` says which hash it is; `SeedFilter` only whether it may be one, in a tenth of the memory.
Makes no fingerprints (`fingerprint`) and compares no texts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from forensics.text.fingerprint import (
    GRAM,
    Hashes,
    Places,
    _around,
    _grams,
    _kind,
    _longest,
    _powers,
)
from forensics.text.fold import fold_into, fold_table
from forensics.text.keys import distinct


@dataclass(frozen=True)
class SeedFilter:
    """Which hashes may be among those that were put in? Never a wrong no; a wrong yes once in about a hundred.

    The lowest `bits` bits of a hash say in which part of `words` it is, so that parts can be filled side by side.
    """

    words: npt.NDArray[np.uint64]
    bits: int

    @classmethod
    def empty(cls, hashes: int, bits: int, most_bytes: int) -> SeedFilter:
        """With room for so many hashes: 2 bytes each, `most_bytes` at most (beyond that it is wrong more often)."""
        words = min(max(hashes // 4, 1 << 10), max(most_bytes // 8, 1 << 10))
        return cls(np.zeros(max(1, words >> bits) << bits, dtype=np.uint64), bits)

    def put(self, hashes: Hashes) -> None:
        """Put in hashes. Hashes of different parts may be put in by several threads."""
        _put_all(hashes, self.words, self.bits)

    def holds(self, hashes: Hashes) -> npt.NDArray[np.bool_]:
        """By hash: may it be in?"""
        return np.asarray(_hold_all(hashes, self.words, self.bits))


def sift(
    buffer: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64], seeds: SeedFilter
) -> tuple[Hashes, Places, Places]:
    """Hashes, documents and positions of all grams of the documents that may be among `seeds`. Releases the GIL."""
    table = fold_table()
    return _sift(buffer, offsets, table.table, table.expansions, GRAM, _powers(GRAM), seeds.words, seeds.bits)


@dataclass(frozen=True)
class SeedTable:
    """A set of hashes that can be probed: `keys` sorted and unique; a key's index is its id."""

    keys: Hashes
    slots: npt.NDArray[np.int32]
    filter: npt.NDArray[np.uint64]

    @classmethod
    def over(cls, hashes: Hashes) -> SeedTable:
        """Table over `hashes` (any order, repeated or not). Memory: about 22 bytes a key."""
        keys = distinct(hashes)
        size = 1024
        while size < 2 * keys.size:
            size *= 2
        slots = np.full(size, -1, dtype=np.int32)
        words = np.zeros(size // 8, dtype=np.uint64)
        _fill(keys, slots, words)
        return cls(keys, slots, words)

    def ids(self, hashes: Hashes) -> npt.NDArray[np.int32]:
        """Id of each hash, -1 where it is not in the table."""
        return np.asarray(_ids(hashes, self.keys, self.slots, self.filter))


@dataclass(frozen=True)
class Found:
    """Parallel arrays like Fingerprints; `ids` are SeedTable ids."""

    ids: npt.NDArray[np.int32]
    documents: npt.NDArray[np.int32]
    positions: npt.NDArray[np.int32]
    before: npt.NDArray[np.uint64]
    after: npt.NDArray[np.uint64]
    kinds: npt.NDArray[np.uint8]


def probe(buffer: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64], seeds: SeedTable) -> Found:
    """Every place of the documents whose gram is in `seeds`. Releases the GIL."""
    table = fold_table()
    return Found(
        *_probe(
            buffer, offsets, table.table, table.expansions, GRAM, _powers(GRAM), seeds.keys, seeds.slots, seeds.filter
        )
    )


@numba.njit(cache=True, nogil=True)
def _bits(value: Any) -> Any:
    """The bits of a hash in its word of the filter: three, so that a hash that is not there passes once in hundreds."""
    one = np.uint64(1)
    six = np.uint64(63)
    return (
        one << (value >> np.uint64(58)) | one << (value >> np.uint64(52) & six) | one << (value >> np.uint64(46) & six)
    )


@numba.njit(cache=True, nogil=True)
def _fill(keys: Any, slots: Any, words: Any) -> None:
    mask = np.uint64(slots.size - 1)
    word_mask = np.uint64(words.size - 1)
    for i in range(keys.size):
        key = np.uint64(keys[i])
        at = key & mask
        while slots[at] >= 0:
            at = (at + np.uint64(1)) & mask
        slots[at] = i
        words[(key >> np.uint64(20)) & word_mask] |= _bits(key)


@numba.njit(cache=True, nogil=True)
def _id(value: Any, keys: Any, slots: Any, words: Any) -> int:
    """Id of a hash (uint64) or -1: the filter first, since nearly every probe misses."""
    bits = _bits(value)
    if words[(value >> np.uint64(20)) & np.uint64(words.size - 1)] & bits != bits:
        return -1
    mask = np.uint64(slots.size - 1)
    at = value & mask
    while slots[at] >= 0:
        if np.uint64(keys[slots[at]]) == value:
            return slots[at]
        at = (at + np.uint64(1)) & mask
    return -1


@numba.njit(cache=True, nogil=True)
def _ids(hashes: Any, keys: Any, slots: Any, words: Any) -> Any:
    out = np.empty(hashes.size, dtype=np.int32)
    for i in range(hashes.size):
        out[i] = _id(np.uint64(hashes[i]), keys, slots, words)
    return out


@numba.njit(cache=True, nogil=True)
def _filter_word(value: Any, words: int, bits: int) -> Any:
    """Index of a hash's word: its part, and a place in the part by the bits above the middle."""
    part = value & np.uint64((1 << bits) - 1)
    size = np.uint64(words >> bits)
    return part * size + ((value >> np.uint64(32)) * size >> np.uint64(32))


@numba.njit(cache=True, nogil=True)
def _filter_bits(value: Any) -> Any:
    one = np.uint64(1)
    six = np.uint64(63)
    return (
        one << (value >> np.uint64(14) & six)
        | one << (value >> np.uint64(20) & six)
        | one << (value >> np.uint64(26) & six)
    )


@numba.njit(cache=True, nogil=True)
def _put_all(hashes: Any, words: Any, bits: int) -> None:
    for i in range(hashes.size):
        value = np.uint64(hashes[i])
        words[_filter_word(value, words.size, bits)] |= _filter_bits(value)


@numba.njit(cache=True, nogil=True)
def _hold_all(hashes: Any, words: Any, bits: int) -> Any:
    held = np.empty(hashes.size, dtype=np.bool_)
    for i in range(hashes.size):
        value = np.uint64(hashes[i])
        wanted = _filter_bits(value)
        held[i] = words[_filter_word(value, words.size, bits)] & wanted == wanted
    return held


@numba.njit(cache=True, nogil=True)
def _sift(buffer: Any, offsets: Any, table: Any, expansions: Any, gram: int, powers: Any, words: Any, bits: int) -> Any:
    capacity = 2 * (offsets[-1] - offsets[0]) + 2
    hashes = np.empty(capacity, dtype=np.int64)
    documents = np.empty(capacity, dtype=np.int32)
    positions = np.empty(capacity, dtype=np.int32)
    n = 0
    room = 2 * _longest(offsets) + 8
    units = np.empty(room, dtype=np.uint32)
    values = np.empty(room, dtype=np.uint64)
    lengths = np.empty(room, dtype=np.uint8)
    for document in range(offsets.size - 1):
        size = fold_into(buffer, offsets[document], offsets[document + 1], table, expansions, units)
        first = _grams(units, size, gram, powers, values, lengths)
        # A short loop, so that the cache misses of the probes overlap.
        low = n
        for position in range(first, size):
            value = values[position]
            held = _filter_bits(value)
            positions[n] = position
            n += words[_filter_word(value, words.size, bits)] & held == held
        for k in range(low, n):
            hashes[k] = np.int64(values[positions[k]])
            documents[k] = document
    return hashes[:n].copy(), documents[:n].copy(), positions[:n].copy()


@numba.njit(cache=True, nogil=True)
def _probe(
    buffer: Any, offsets: Any, table: Any, expansions: Any, gram: int, powers: Any, keys: Any, slots: Any, words: Any
) -> Any:
    capacity = 2 * (offsets[-1] - offsets[0]) + 2
    ids = np.empty(capacity, dtype=np.int32)
    documents = np.empty(capacity, dtype=np.int32)
    positions = np.empty(capacity, dtype=np.int32)
    before = np.empty(capacity, dtype=np.uint64)
    after = np.empty(capacity, dtype=np.uint64)
    kinds = np.empty(capacity, dtype=np.uint8)
    n = 0
    room = 2 * _longest(offsets) + 8
    units = np.empty(room, dtype=np.uint32)
    values = np.empty(room, dtype=np.uint64)
    lengths = np.empty(room, dtype=np.uint8)
    word_mask = np.uint64(words.size - 1)
    for document in range(offsets.size - 1):
        size = fold_into(buffer, offsets[document], offsets[document + 1], table, expansions, units)
        first = _grams(units, size, gram, powers, values, lengths)
        # Short loops, so that the cache misses of the probes overlap.
        passed = n
        for position in range(first, size):
            value = values[position]
            bits = _bits(value)
            positions[passed] = position
            passed += words[(value >> np.uint64(20)) & word_mask] & bits == bits
        first_row = n
        for k in range(first_row, passed):
            ids[n] = _id(values[positions[k]], keys, slots, words)
            positions[n] = positions[k]
            n += ids[n] >= 0
        for k in range(first_row, n):
            place = np.int64(positions[k])
            start = place - np.int64(lengths[place]) + 1
            documents[k] = document
            before[k] = _around(units, size, start - 1, -1)
            after[k] = _around(units, size, place + 1, 1)
            kinds[k] = _kind(units, size, start, place)
    return (
        ids[:n].copy(),
        documents[:n].copy(),
        positions[:n].copy(),
        before[:n].copy(),
        after[:n].copy(),
        kinds[:n].copy(),
    )
