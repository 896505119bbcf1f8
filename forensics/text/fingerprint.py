"""Which hashes stand for a text, so that any long enough shared run shares one? Winnowed grams over folded units.

Method: winnowing (Schleimer, Wilkerson, Aiken 2003) of a polynomial rolling hash mod 2^64, finalised by the
MurmurHash3 mixer. A gram is the shortest run of units, ending at a position, whose weight is at least GRAM; a window
is the grams whose end lies within WINDOW - 1 weight of its last one; the rightmost minimum of every full window is
kept. Weights: 1 for letters and digits, 2 for kana and Hangul, 3 for Han.

Guarantee: two texts that share a run of units of weight >= GUARANTEE share a fingerprint inside the run. For weight-1
scripts the run needs GRAM + WINDOW - 1 = 32 units. A text whose weight is under GRAM has no fingerprint.

Hashes are signed 64 bit, so that any engine can hold them. Positions are unit indexes of a gram's last unit.
Does not compare texts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from forensics.text.fold import EXPANSION_BASE, fold_table, weight

GRAM = 16
WINDOW = 17
# Weight of a run that always shares a fingerprint. The +2 covers a gram that overshoots by a Han character.
GUARANTEE = GRAM + WINDOW + 1
GUARANTEE_UNITS_ALPHABETIC = GRAM + WINDOW - 1

_BASE = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xFF51AFD7ED558CCD)
_MIX2 = np.uint64(0xC4CEB9FE1A85EC53)
_SHIFT = np.uint64(33)

Hashes = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Fingerprints:
    """Parallel arrays: `hashes` int64, `documents` int32 (row of the input), `positions` int32 (unit index)."""

    hashes: Hashes
    documents: npt.NDArray[np.int32]
    positions: npt.NDArray[np.int32]


def fingerprint(buffer: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64]) -> Fingerprints:
    """Fingerprints of the documents `buffer[offsets[i]:offsets[i+1]]` (UTF-8). Releases the GIL."""
    table = fold_table()
    hashes, documents, positions = _winnow(buffer, offsets, table.table, table.expansions, GRAM, WINDOW, _powers(GRAM))
    return Fingerprints(hashes, documents, positions)


def _powers(n: int) -> npt.NDArray[np.uint64]:
    with np.errstate(over="ignore"):
        return np.cumprod(np.concatenate([[np.uint64(1)], np.full(n + 1, _BASE)]), dtype=np.uint64)


@numba.njit(cache=True, nogil=True)
def mix(value: Any) -> Any:
    """The 64-bit finaliser of MurmurHash3 (the low bits of a polynomial hash are weak)."""
    value ^= value >> _SHIFT
    value *= _MIX1
    value ^= value >> _SHIFT
    value *= _MIX2
    value ^= value >> _SHIFT
    return value


@numba.njit(cache=True, nogil=True)
def decode(buffer: Any, i: Any, end: Any) -> Any:
    """Code point at byte `i` and the index of the next one. Malformed bytes come back as U+FFFD, one at a time."""
    first = buffer[i]
    if first < 0x80:
        return np.uint32(first), i + 1
    if first < 0xC2:
        return np.uint32(0xFFFD), i + 1
    if first < 0xE0:
        if i + 1 >= end:
            return np.uint32(0xFFFD), i + 1
        return np.uint32(((first & 0x1F) << 6) | (buffer[i + 1] & 0x3F)), i + 2
    if first < 0xF0:
        if i + 2 >= end:
            return np.uint32(0xFFFD), i + 1
        return (
            np.uint32(((first & 0x0F) << 12) | ((buffer[i + 1] & 0x3F) << 6) | (buffer[i + 2] & 0x3F)),
            i + 3,
        )
    if i + 3 >= end or first > 0xF4:
        return np.uint32(0xFFFD), i + 1
    code = (
        ((first & 0x07) << 18) | ((buffer[i + 1] & 0x3F) << 12) | ((buffer[i + 2] & 0x3F) << 6) | (buffer[i + 3] & 0x3F)
    )
    if code > 0x10FFFF:
        return np.uint32(0xFFFD), i + 1
    return np.uint32(code), i + 4


@numba.njit(cache=True, nogil=True)
def _winnow(buffer: Any, offsets: Any, table: Any, expansions: Any, gram: int, window: int, powers: Any) -> Any:
    # At most one fingerprint a unit and two units a byte (3-byte signs that unfold to 4); unused pages cost nothing.
    capacity = 2 * (offsets[-1] - offsets[0]) + 1
    hashes = np.empty(capacity, dtype=np.int64)
    documents = np.empty(capacity, dtype=np.int32)
    positions = np.empty(capacity, dtype=np.int32)
    n = 0
    ring = np.zeros(64, dtype=np.uint32)  # units of the current gram; a gram has at most `gram` units
    queue_hash = np.zeros(64, dtype=np.uint64)
    queue_pos = np.zeros(64, dtype=np.int64)
    queue_weight = np.zeros(64, dtype=np.int64)
    for document in range(offsets.size - 1):
        i = offsets[document]
        end = offsets[document + 1]
        rolling = np.uint64(0)
        gram_weight = 0
        gram_length = 0
        position = -1
        total = 0  # weight of all units so far
        first_total = -1  # the same at the end of the first gram
        head = 0
        tail = 0
        last = -1
        while i < end:
            code, i = decode(buffer, i, end)
            value = table[code]
            if value == 0:
                continue
            row: Any = -1
            if value >= EXPANSION_BASE:
                row = np.int64(value) - EXPANSION_BASE
            part = 0
            while True:
                if row >= 0:
                    if part >= expansions.shape[1]:
                        break
                    unit = expansions[row, part]
                    if unit == 0:
                        break
                    part += 1
                else:
                    unit = value
                position += 1
                w = weight(unit)
                total += w
                rolling = rolling * _BASE + np.uint64(unit)
                ring[position & 63] = unit
                gram_weight += w
                gram_length += 1
                left = ring[(position - gram_length + 1) & 63]
                while gram_weight - weight(left) >= gram:
                    rolling -= np.uint64(left) * powers[gram_length - 1]
                    gram_weight -= weight(left)
                    gram_length -= 1
                    left = ring[(position - gram_length + 1) & 63]
                if gram_weight >= gram:
                    if first_total < 0:
                        first_total = total
                    value_hash = mix(rolling)
                    while tail > head and queue_hash[(tail - 1) & 63] >= value_hash:
                        tail -= 1
                    queue_hash[tail & 63] = value_hash
                    queue_pos[tail & 63] = position
                    queue_weight[tail & 63] = total
                    tail += 1
                    while total - queue_weight[head & 63] > window - 1:
                        head += 1
                    if total - first_total >= window - 1 and queue_pos[head & 63] != last:
                        last = queue_pos[head & 63]
                        hashes[n] = np.int64(queue_hash[head & 63])
                        documents[n] = document
                        positions[n] = last
                        n += 1
                if row < 0:
                    break
        if last < 0 and tail > head:  # too short for a full window: one fingerprint all the same
            hashes[n] = np.int64(queue_hash[head & 63])
            documents[n] = document
            positions[n] = queue_pos[head & 63]
            n += 1
    return hashes[:n].copy(), documents[:n].copy(), positions[:n].copy()
