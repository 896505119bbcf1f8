"""Which terms does a text hold, and how many groups use a term?

Terms are those of `words.terms`: words, and pairs of neighbouring signs in scripts without spaces. Nothing is kept of
a text but hashes. `Spread` says of a term in how many groups it occurs, without keeping the terms; two terms can share
a cell of it, so that it can say too many, never too few. Does not judge what a term is worth, nor look for given terms
(`term_search`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from forensics.text.fingerprint import _BASE, _longest, mix
from forensics.text.fold import EXPANSION_BASE, Ints, decode, fold_table
from forensics.text.words import _PAIR, Keys, is_single

CELLS = 1 << 22  # of `Spread`, 8 bytes each
GROUPS = 64  # bits of a cell; group g has bit g mod GROUPS


@dataclass(frozen=True)
class TermSets:
    """Sets of terms: `keys[offsets[i]:offsets[i + 1]]` is set i, sorted, each key once."""

    keys: Keys
    offsets: Ints


def distinct_terms(buffer: npt.NDArray[np.uint8], offsets: Ints) -> TermSets:
    """The distinct terms of each document."""
    table = fold_table()
    return TermSets(*_distinct(buffer, offsets, table.table, table.expansions))


@numba.njit(cache=True, nogil=True)
def _terms(buffer: Any, start: Any, end: Any, table: Any, expansions: Any, out: Any) -> int:
    """Hashes of the terms of one document in their order, not yet mixed; returns their number.

    `out` has room for two a byte and one more.
    """
    one = np.uint64(1)
    word, sign = np.uint64(0), np.uint64(0)
    was_sign = False
    n: Any = 0
    inside: Any = 0
    i = start
    while i < end:
        before = n
        while i < end and buffer[i] < 0x80:
            # Written whether a word ends or not: a branch would be guessed wrong at the end of every word.
            unit = table[buffer[i]]
            letter = np.int64(unit != 0)
            out[n] = word
            n += inside & (letter ^ 1)
            word = (word * _BASE + np.uint64(unit) + one) & np.uint64(-letter)
            inside = letter
            i += 1
        was_sign = was_sign and n == before
        if i >= end:
            break
        code, i = decode(buffer, i, end)
        value = table[code]
        row = np.int64(-1)
        if value >= EXPANSION_BASE:
            row = np.int64(value) - EXPANSION_BASE
        for j in range(expansions.shape[1]):
            unit = value if row < 0 else expansions[row, j]
            if unit == 0 and j > 0:
                break
            single = unit != 0 and is_single(unit)
            if inside and (unit == 0 or single):
                out[n] = word
                n += 1
                word, inside, was_sign = np.uint64(0), 0, False
            if single:
                current = mix(np.uint64(unit) * _BASE)
                if was_sign:
                    out[n] = sign * _BASE + current + _PAIR
                    n += 1
                sign, was_sign = current, True
            elif unit != 0:
                word = word * _BASE + np.uint64(unit) + one
                inside = 1
            if row < 0:
                break
    out[n] = word
    return n + inside


@numba.njit(cache=True, nogil=True)
def _room(offsets: Any) -> Any:
    """An array for the terms of the longest document."""
    return np.empty(2 * _longest(offsets) + 2, dtype=np.uint64)


@numba.njit(cache=True, nogil=True)
def _distinct(buffer: Any, offsets: Any, table: Any, expansions: Any) -> Any:
    keys = np.empty(1024, dtype=np.uint64)
    ends = np.zeros(offsets.size, dtype=np.int64)
    room = _room(offsets)
    n = 0
    for document in range(offsets.size - 1):
        size = _terms(buffer, offsets[document], offsets[document + 1], table, expansions, room)
        for i in range(size):
            room[i] = mix(room[i])
        found = np.sort(room[:size])
        while n + size > keys.size:
            keys = np.concatenate((keys, np.empty_like(keys)))
        for i in range(size):
            if i == 0 or found[i] != found[i - 1]:
                keys[n] = found[i]
                n += 1
        ends[document + 1] = n
    return keys[:n].copy(), ends


PROBES = 1 << 14  # terms that nobody has said, by which it is estimated how full the cells are


class Spread:
    """In how many groups does a term occur? The order in which texts are added does not matter."""

    def __init__(self, cells: int = CELLS) -> None:
        self._cells = np.zeros(cells, dtype=np.uint64)  # `cells`: a power of two

    def add(self, sets: TermSets, documents: Ints, groups: Ints) -> None:
        """Note the terms of each of `documents` (set numbers) for the group beside it; negative groups are left out."""
        _spread(self._cells, sets.keys, sets.offsets, documents, groups)

    def groups(self, keys: Keys) -> Ints:
        """In how many groups each key occurs; at most GROUPS."""
        return np.asarray(_groups(self._cells, keys))

    def crowded(self, limit: int) -> float:
        """Share (0..1) of terms that nobody has said which would be taken for terms of more than `limit` groups, since
        they share a cell with others: how full the cells are."""
        unsaid = np.arange(1, PROBES + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        return float((self.groups(unsaid) > limit).mean())

    def rarest(
        self, sets: TermSets, documents: Ints, groups: Ints, share: float, most: int
    ) -> tuple[TermSets, npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """For each of `documents` (of the group beside it) its `most` rarest terms, who uses each, and its coverage.

        Rare is what at most `share` of the groups use that write the same language, which shows in how many of the
        document's terms they use: at least half as many as the group that uses most of them. The coverage is that
        group's share (0..1): where it is small, nobody else writes the language, and rare is what nobody else uses.
        The document's own group does not count. Who uses a term: the share of those groups.
        """
        keys, ends, used, coverage = _rarest(self._cells, sets.keys, sets.offsets, documents, groups, share, most)
        return TermSets(keys, ends), used, coverage

    def commonest(self, sets: TermSets, documents: Ints, groups: Ints, most: int) -> TermSets:
        """For each of `documents` the `most` terms that most groups of its language use: marks of the language."""
        return TermSets(*_commonest(self._cells, sets.keys, sets.offsets, documents, groups, most))


@numba.njit(cache=True, nogil=True)
def _spread(cells: Any, keys: Any, offsets: Any, documents: Any, groups: Any) -> None:
    mask = np.uint64(cells.size - 1)
    for place in range(documents.size):
        if groups[place] < 0:
            continue
        bit = np.uint64(1) << np.uint64(groups[place] % GROUPS)
        for i in range(offsets[documents[place]], offsets[documents[place] + 1]):
            cells[keys[i] & mask] |= bit


@numba.njit(cache=True, nogil=True)
def _bits(value: Any) -> int:
    count = 0
    while value:
        value &= value - np.uint64(1)
        count += 1
    return count


@numba.njit(cache=True, nogil=True)
def _groups(cells: Any, keys: Any) -> Any:
    mask = np.uint64(cells.size - 1)
    counts = np.empty(keys.size, dtype=np.int64)
    for i in range(keys.size):
        counts[i] = _bits(cells[keys[i] & mask])
    return counts


@numba.njit(cache=True, nogil=True)
def _speakers(cells: Any, keys: Any, own: Any) -> Any:
    """Groups (bits) that use at least half as many of the keys as the one that uses most; and how many that uses."""
    # All groups are counted at once: bit g of `digits[j]` is binary digit j of what group g has so far.
    digits = np.zeros(GROUPS, dtype=np.uint64)
    mask = np.uint64(cells.size - 1)
    digit: Any = 0
    for i in range(keys.size):
        carry = cells[keys[i] & mask]
        digit = 0
        while carry:
            digits[digit], carry = digits[digit] ^ carry, digits[digit] & carry
            digit += 1
    used = np.zeros(GROUPS, dtype=np.int64)
    for digit in range(GROUPS):
        if digits[digit]:
            for group in range(GROUPS):
                used[group] += np.int64((digits[digit] >> np.uint64(group)) & np.uint64(1)) << digit
    most = 0
    for group in range(GROUPS):
        if group != own:
            most = max(most, used[group])
    speakers = np.uint64(0)
    for group in range(GROUPS):
        if group != own and most > 0 and 2 * used[group] >= most:
            speakers |= np.uint64(1) << np.uint64(group)
    return speakers, most


@numba.njit(cache=True, nogil=True)
def _rarest(cells: Any, keys: Any, offsets: Any, documents: Any, groups: Any, share: Any, most: Any) -> Any:
    mask = np.uint64(cells.size - 1)
    out = np.empty(1024, dtype=np.uint64)
    ends = np.zeros(documents.size + 1, dtype=np.int64)
    shares = np.empty(1024, dtype=np.float64)
    coverage = np.zeros(documents.size, dtype=np.float64)
    n = 0
    for place in range(documents.size):
        low, high = offsets[documents[place]], offsets[documents[place] + 1]
        speakers, used = _speakers(cells, keys[low:high], groups[place] % GROUPS)
        coverage[place] = used / max(1, high - low)
        limit = int(share * _bits(speakers))
        having = np.empty(high - low, dtype=np.int64)
        of_count = np.zeros(GROUPS + 1, dtype=np.int64)
        for i in range(low, high):
            having[i - low] = _bits(cells[keys[i] & mask] & speakers)
            of_count[having[i - low]] += 1
        # The counts up to `last` fit in whole; of the next one as many as there is room for, in the order of the keys.
        last = -1
        room = most
        while last < limit and of_count[last + 1] <= room:
            last += 1
            room -= of_count[last]
        if last >= limit:
            room = 0
        while n + most > out.size:
            out = np.concatenate((out, np.empty(out.size, dtype=np.uint64)))
            shares = np.concatenate((shares, np.empty(shares.size, dtype=np.float64)))
        for i in range(low, high):
            count = having[i - low]
            if count > last and (count > last + 1 or room == 0):
                continue
            if count == last + 1:
                room -= 1
            out[n], shares[n] = keys[i], count / max(1, _bits(speakers))
            n += 1
        ends[place + 1] = n
    return out[:n].copy(), ends, shares[:n].copy(), coverage


@numba.njit(cache=True, nogil=True)
def _commonest(cells: Any, keys: Any, offsets: Any, documents: Any, groups: Any, most: Any) -> Any:
    mask = np.uint64(cells.size - 1)
    out = np.empty(documents.size * most, dtype=np.uint64)
    ends = np.zeros(documents.size + 1, dtype=np.int64)
    n = 0
    for place in range(documents.size):
        part = keys[offsets[documents[place]] : offsets[documents[place] + 1]]
        speakers, _ = _speakers(cells, part, groups[place] % GROUPS)
        having = np.empty(part.size, dtype=np.int64)
        of_count = np.zeros(GROUPS + 1, dtype=np.int64)
        for i in range(part.size):
            having[i] = _bits(cells[part[i] & mask] & speakers)
            of_count[having[i]] += 1
        # Those above `last` fit in whole; of it as many as there is room for, in the order of the keys.
        last = GROUPS
        room = most
        while last > 0 and of_count[last] <= room:
            room -= of_count[last]
            last -= 1
        for i in range(part.size):
            if having[i] > last or (having[i] == last and last > 0 and room > 0):
                room -= having[i] == last
                out[n] = part[i]
                n += 1
        ends[place + 1] = n
    return out[:n].copy(), ends
