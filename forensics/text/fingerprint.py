"""Which hashes stand for a text, so that any long enough shared run shares one? Winnowed grams over folded units.

Method: winnowing (Schleimer, Wilkerson, Aiken 2003) of a polynomial rolling hash mod 2^64, finalised by the
MurmurHash3 mixer. A gram is the shortest run of units, ending at a position, whose weight is at least GRAM; a window
is the grams whose end lies within WINDOW - 1 weight of its last one; the rightmost minimum of every full window is
kept. Weights: 1 for letters and digits, 2 for kana and Hangul, 3 for Han.

Guarantee: two texts that share a run of units of weight >= GUARANTEE share a fingerprint inside the run. For weight-1
scripts the run needs GRAM + WINDOW - 1 = 32 units. A text whose weight is under GRAM has no fingerprint.

Hashes are signed 64 bit, so that any engine can hold them. Positions are unit indexes of a gram's last unit. Each
fingerprint also carries what stands around its gram, 4 bits a unit, 16 units to either side, so that two equal grams
can be told from a longer run without reading the texts again (`context_run`).
Does not compare texts, nor look for given hashes (`seed_search`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from forensics.text.fold import fold_into, fold_table, weight

GRAM = 16
WINDOW = 17
# Weight of a run that always shares a fingerprint. The +2 covers a gram that overshoots by a Han character.
GUARANTEE = GRAM + WINDOW + 1
GUARANTEE_UNITS_ALPHABETIC = GRAM + WINDOW - 1

NUMBERS = 8
DIGITS = 3

_BASE = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xFF51AFD7ED558CCD)
_MIX2 = np.uint64(0xC4CEB9FE1A85EC53)
_SHIFT = np.uint64(33)
_NIBBLE = np.uint64(0x9E3779B97F4A7C15)

Hashes = npt.NDArray[np.int64]
Places = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Fingerprints:
    """Parallel arrays: `hashes` int64, `documents` int32 (row of the input), `positions` int32 (unit index),
    `before` and `after` uint64: 16 units before the gram (nearest in the low bits) and after it, `kinds` uint8: weight
    of the gram's last unit, plus NUMBERS where the gram and what stands around it hold DIGITS digits or more."""

    hashes: Hashes
    documents: npt.NDArray[np.int32]
    positions: npt.NDArray[np.int32]
    before: npt.NDArray[np.uint64]
    after: npt.NDArray[np.uint64]
    kinds: npt.NDArray[np.uint8]


def fingerprint(buffer: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64]) -> Fingerprints:
    """Fingerprints of the documents `buffer[offsets[i]:offsets[i+1]]` (UTF-8). Releases the GIL."""
    hashes, documents, positions = select(buffer, offsets)
    return Fingerprints(hashes, documents, positions, *contexts(buffer, offsets, documents, positions))


def select(buffer: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64]) -> tuple[Hashes, Places, Places]:
    """The fingerprints alone: hashes, documents, positions. Releases the GIL."""
    table = fold_table()
    return _winnow(buffer, offsets, table.table, table.expansions, GRAM, WINDOW, _powers(GRAM))


def contexts(
    buffer: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64], documents: Places, positions: Places
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64], npt.NDArray[np.uint8]]:
    """What stands around the grams that end at `positions` of `documents` (ascending): before, after, kinds."""
    table = fold_table()
    return _contexts(buffer, offsets, documents, positions, table.table, table.expansions, GRAM)


FINE_GRAM = 8
FINE_WINDOW = 4


def fine_fingerprints(
    buffer: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int32], Hashes]:
    """(document, hash) of fingerprints of grams half as heavy, four times as dense: for texts that are short."""
    table = fold_table()
    found = _winnow(buffer, offsets, table.table, table.expansions, FINE_GRAM, FINE_WINDOW, _powers(GRAM))
    return found[1], found[0]


@numba.njit(cache=True, nogil=True)
def _around(units: Any, size: int, place: int, step: int) -> Any:
    """4 bits of each of 16 units from `place` on, going by `step`; nearest in the low bits, 0 beyond the text."""
    packed = np.uint64(0)
    for k in range(min(16, size - place if step > 0 else place + 1)):
        packed |= ((np.uint64(units[place + k * step]) * _NIBBLE) >> np.uint64(60)) << np.uint64(4 * k)
    return packed


@numba.njit(cache=True, nogil=True)
def _longest(offsets: Any) -> int:
    longest = 0
    for document in range(offsets.size - 1):
        longest = max(longest, offsets[document + 1] - offsets[document])
    return longest


@numba.njit(cache=True, nogil=True)
def _alphabetic(units: Any, size: int) -> bool:
    largest = np.uint32(0)
    for i in range(size):
        largest = max(largest, units[i])
    return bool(largest < 0x3040)


@numba.njit(cache=True, nogil=True)
def _kind(units: Any, size: int, start: int, place: int) -> int:
    """Weight of the gram's last unit, and NUMBERS where digits stand in it or around it."""
    digits: Any = 0
    for at in range(max(0, start - 16), min(size, place + 17)):
        digits += np.int64(units[at] >= 48) & np.int64(units[at] <= 57)
    return weight(units[place]) + (NUMBERS if digits >= DIGITS else 0)


@numba.njit(cache=True, nogil=True)
def _grams(units: Any, size: int, gram: int, powers: Any, values: Any, lengths: Any) -> int:
    """Hash and length of the gram that ends at each unit, from the unit on that is returned."""
    first = size
    rolling = np.uint64(0)
    if _alphabetic(units, size):  # every unit weighs 1: grams of one length, no bookkeeping
        for position in range(min(size, gram)):
            rolling = rolling * _BASE + np.uint64(units[position])
        if size >= gram:
            first = gram - 1
            values[first] = mix(rolling)
        for position in range(gram, size):
            rolling = (rolling - np.uint64(units[position - gram]) * powers[gram - 1]) * _BASE
            rolling += np.uint64(units[position])
            values[position] = mix(rolling)
        lengths[first:size] = gram
        return first
    gram_weight = 0
    gram_length = 0
    for position in range(size):
        unit = units[position]
        rolling = rolling * _BASE + np.uint64(unit)
        gram_weight += weight(unit)
        gram_length += 1
        left = units[position - gram_length + 1]
        while gram_weight - weight(left) >= gram:
            rolling -= np.uint64(left) * powers[gram_length - 1]
            gram_weight -= weight(left)
            gram_length -= 1
            left = units[position - gram_length + 1]
        if gram_weight >= gram:
            first = min(first, position)
        values[position] = mix(rolling)
        lengths[position] = gram_length
    return first


@numba.njit(cache=True, nogil=True)
def _contexts(buffer: Any, offsets: Any, documents: Any, positions: Any, table: Any, expansions: Any, gram: int) -> Any:
    before = np.empty(documents.size, dtype=np.uint64)
    after = np.empty(documents.size, dtype=np.uint64)
    kinds = np.empty(documents.size, dtype=np.uint8)
    units = np.empty(2 * _longest(offsets) + 8, dtype=np.uint32)
    size = 0
    last = -1
    for k in range(documents.size):
        if documents[k] != last:
            last = documents[k]
            size = fold_into(buffer, offsets[last], offsets[last + 1], table, expansions, units)
        place = np.int64(positions[k])
        start = place
        total = weight(units[start])
        while total < gram and start > 0:
            start -= 1
            total += weight(units[start])
        before[k] = _around(units, size, start - 1, -1)
        after[k] = _around(units, size, place + 1, 1)
        kinds[k] = _kind(units, size, start, place)
    return before, after, kinds


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
def context_run(first: Any, second: Any) -> int:
    """How many units in a row agree, nearest first (0 to 16). May count too many (1 in 16 a unit), never too few."""
    different = first ^ second
    n = 0
    while n < 16 and different & np.uint64(15) == 0:
        different >>= np.uint64(4)
        n += 1
    return n


RESUMED = 4  # units in a row that must agree beyond a change of a unit or two,
RESUMED_FAR = 5  # and beyond more, in one text only (a dropped or an inserted word)
NEAR = 2
FAR = 9


@numba.njit(cache=True, nogil=True)
def resumes(first: Any, second: Any) -> bool:
    """Do two contexts agree once more after their first difference, a few units skipped in one or both?"""
    same = context_run(first, second)
    if same > 16 - RESUMED - 1:
        return same == 16
    four = np.uint64(4)
    one = first >> np.uint64(4 * same)
    other = second >> np.uint64(4 * same)
    for skip in range(FAR + 1):
        for there in range(NEAR + 1):
            if skip == 0 and there == 0:
                continue
            needed = RESUMED if skip <= NEAR else RESUMED_FAR
            if skip > NEAR and there > 0:
                break
            if same + skip + needed > 16:
                break
            a = one >> (four * np.uint64(skip))
            b = other >> (four * np.uint64(there))
            c = one >> (four * np.uint64(there))
            d = other >> (four * np.uint64(skip))
            if (context_run(a, b) >= needed and a != 0) or (context_run(c, d) >= needed and c != 0):
                return True
    return False


@numba.njit(cache=True, nogil=True)
def _winnow(buffer: Any, offsets: Any, table: Any, expansions: Any, gram: int, window: int, powers: Any) -> Any:
    # At most one fingerprint a unit and two units a byte (3-byte signs that unfold to 4); unused pages cost nothing.
    capacity = 2 * (offsets[-1] - offsets[0]) + 1
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
        low = n
        if _alphabetic(units, size):
            n = _minima(values, first, size, window, positions, n)
        else:
            n = _weighted_minima(units, values, first, size, window, positions, n)
        for k in range(low, n):
            hashes[k] = np.int64(values[positions[k]])
            documents[k] = document
    return hashes[:n].copy(), documents[:n].copy(), positions[:n].copy()


@numba.njit(cache=True, nogil=True)
def _minima(values: Any, first: int, size: int, window: int, out: Any, n: int) -> int:
    """Places of the rightmost minimum of every full window, each once; of all there is where no window is full."""
    best = -1
    last = -1
    for position in range(first, size):
        if best < 0 or values[position] <= values[best]:
            best = position
        elif best <= position - window:  # it left the window: look through the window for the next
            best = position - window + 1
            for k in range(best + 1, position + 1):
                if values[k] <= values[best]:
                    best = k
        if position - first >= window - 1 and best != last:
            last = best
            out[n] = best
            n += 1
    if last < 0 and best >= 0:
        out[n] = best
        n += 1
    return n


@numba.njit(cache=True, nogil=True)
def _weighted_minima(units: Any, values: Any, first: int, size: int, window: int, out: Any, n: int) -> int:
    """The same where units weigh differently, and a window is measured in weight."""
    queue_pos = np.zeros(64, dtype=np.int64)
    queue_weight = np.zeros(64, dtype=np.int64)
    total = 0  # weight from the end of the first gram on
    head = 0
    tail = 0
    last = -1
    for position in range(first, size):
        if position > first:
            total += weight(units[position])
        while tail > head and values[queue_pos[(tail - 1) & 63]] >= values[position]:
            tail -= 1
        queue_pos[tail & 63] = position
        queue_weight[tail & 63] = total
        tail += 1
        while total - queue_weight[head & 63] > window - 1:
            head += 1
        if total >= window - 1 and queue_pos[head & 63] != last:
            last = queue_pos[head & 63]
            out[n] = last
            n += 1
    if last < 0 and tail > head:
        out[n] = queue_pos[head & 63]
        n += 1
    return n
