"""Where in many texts does one of many given strings stand, whole or in part? Over folded units, in one pass.

Each pattern's grams of PART units are hashed; texts are walked with a rolling hash, and a hit is compared and extended
letter by letter, so that a result never rests on a hash. Case, spaces, punctuation and full-width forms do not matter,
since folding drops them. A part shorter than PART units is found only where it is a whole pattern (MIN_UNITS or more).
Does not say what a match is worth, and finds no pattern with letters changed inside.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from forensics.text.fingerprint import _BASE, mix
from forensics.text.fold import Ints, Units, _fold, fold, fold_table
from forensics.text.seed_search import SeedTable, _id

MIN_UNITS = 8  # units of the shortest pattern
PART = 12  # units of the shortest part of a longer pattern
RECENT = 64  # matches that are looked through for one that holds the next gram already; bounds hostile repetition

_SALT = np.uint64(0xA24BAED4963EE407)


@dataclass(frozen=True)
class Patterns:
    """Patterns prepared for `search`: their units one after the other, and a table of their grams.

    `units[offsets[i]:offsets[i + 1]]` is pattern i. Gram g of the table (an id of `table`) stands at `at[firsts[g]:
    firsts[g + 1]]`, each a position in `units`. `owner` has the pattern of each unit, `lengths` those of the grams.
    """

    units: Units
    offsets: Ints
    owner: npt.NDArray[np.int32]
    table: SeedTable
    firsts: Ints
    at: Ints
    lengths: Ints

    @classmethod
    def over(cls, texts: list[str]) -> Patterns:
        """Prepare patterns. One with fewer than MIN_UNITS units is never found."""
        folded = [fold(text).units for text in texts]
        sizes = np.array([part.size for part in folded], dtype=np.int64)
        offsets = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes)])
        units = np.concatenate([np.zeros(0, dtype=np.uint32), *folded])
        owner = np.repeat(np.arange(sizes.size, dtype=np.int32), sizes)
        short = np.unique(sizes[(sizes >= MIN_UNITS) & (sizes < PART)])
        hashes, places = _grams(units, offsets, PART, MIN_UNITS)
        table = SeedTable.over(hashes)
        ids = table.ids(hashes)
        order = np.argsort(ids, kind="stable")
        firsts = np.searchsorted(ids[order], np.arange(table.keys.size + 1)).astype(np.int64)
        lengths = np.concatenate([short, np.array([PART], dtype=np.int64)])
        return cls(units, offsets, owner, table, firsts, places[order], lengths)


@dataclass(frozen=True)
class Matches:
    """Parallel arrays: `documents`; `starts`, `ends` in units of the text; `patterns`; `parts`: first unit in that.

    The longest match through each gram; a text that repeats itself can give one place more than once.
    """

    documents: Ints
    starts: Ints
    ends: Ints
    patterns: Ints
    parts: Ints


def search(buffer: npt.NDArray[np.uint8], offsets: Ints, patterns: Patterns) -> Matches:
    """All matches in the documents `buffer[offsets[i]:offsets[i + 1]]` (UTF-8). Releases the GIL."""
    fold_of = fold_table()
    out = _search(
        buffer, offsets, fold_of.table, fold_of.expansions, patterns.units, patterns.offsets, patterns.owner,
        patterns.table.keys, patterns.table.slots, patterns.table.filter, patterns.firsts, patterns.at,
        patterns.lengths,
    )  # fmt: skip
    return Matches(*(np.ascontiguousarray(out[:, column]) for column in range(5)))


@numba.njit(cache=True)
def _grams(units: Any, offsets: Any, part: int, least: int) -> Any:
    """Hash and place of each gram: of `part` units, or of a whole pattern that is shorter."""
    hashes = np.empty(units.size, dtype=np.int64)
    places = np.empty(units.size, dtype=np.int64)
    n = 0
    for pattern in range(offsets.size - 1):
        low, high = offsets[pattern], offsets[pattern + 1]
        if high - low < least:
            continue
        length = min(part, high - low)
        for i in range(low, high - length + 1):
            value = np.uint64(0)
            for j in range(i, i + length):
                value = value * _BASE + np.uint64(units[j]) + np.uint64(1)
            hashes[n] = np.int64(mix(value ^ (_SALT + np.uint64(length))))
            places[n] = i
            n += 1
    return hashes[:n].copy(), places[:n].copy()


@numba.njit(cache=True, nogil=True)
def _search(
    buffer: Any, offsets: Any, table: Any, expansions: Any, units: Any, pattern_offsets: Any, owner: Any, keys: Any,
    slots: Any, words: Any, firsts: Any, at: Any, lengths: Any,
) -> Any:  # fmt: skip
    out = np.empty((256, 5), dtype=np.int64)
    n = 0
    if keys.size == 0:
        return out[:0].copy()
    for document in range(offsets.size - 1):
        text, _ = _fold(buffer[offsets[document] : offsets[document + 1]], table, expansions)
        first_of_document = n
        for length in lengths:
            if text.size < length:
                continue
            power = np.uint64(1)
            for _ in range(length - 1):
                power = power * _BASE
            salt = _SALT + np.uint64(length)
            value = np.uint64(0)
            for i in range(text.size):
                if i >= length:
                    value = value - (np.uint64(text[i - length]) + np.uint64(1)) * power
                value = value * _BASE + np.uint64(text[i]) + np.uint64(1)
                if i < length - 1:
                    continue
                gram = _id(mix(value ^ salt), keys, slots, words)
                if gram < 0:
                    continue
                begin = i - length + 1
                for row in range(firsts[gram], firsts[gram + 1]):
                    place = at[row]
                    pattern = owner[place]
                    low, high = pattern_offsets[pattern], pattern_offsets[pattern + 1]
                    seen = False
                    for k in range(n - 1, max(first_of_document, n - RECENT) - 1, -1):
                        if out[k, 3] == pattern and out[k, 1] <= begin and begin + length <= out[k, 2]:
                            seen = True
                            break
                    if seen:
                        continue
                    same = place + length <= high
                    for j in range(length):
                        if not same or text[begin + j] != units[place + j]:
                            same = False
                            break
                    if not same:
                        continue
                    left = 0
                    while begin - left > 0 and place - left > low and text[begin - left - 1] == units[place - left - 1]:
                        left += 1
                    right = length
                    while (
                        begin + right < text.size
                        and place + right < high
                        and text[begin + right] == units[place + right]
                    ):
                        right += 1
                    if n == out.shape[0]:
                        grown = np.empty((2 * n, 5), dtype=np.int64)
                        grown[:n] = out
                        out = grown
                    out[n, 0] = document
                    out[n, 1] = begin - left
                    out[n, 2] = begin + right
                    out[n, 3] = pattern
                    out[n, 4] = place - left - low
                    n += 1
    return out[:n].copy()
