"""Which terms does a text hold, how many groups use a term, and which of some given terms stand in another text?

Terms are those of `words.terms`: words, and pairs of neighbouring signs in scripts without spaces. Nothing is kept of
a text but hashes. `Spread` says of a term in how many groups it occurs, without keeping the terms; two terms can share
a cell of it, so that it can say too many, never too few. Does not judge what a term is worth.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from forensics.text.fingerprint import _BASE, mix
from forensics.text.fold import EXPANSION_BASE, Ints, decode, fold_table
from forensics.text.words import _PAIR, Keys, _words, is_single

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
def _distinct(buffer: Any, offsets: Any, table: Any, expansions: Any) -> Any:
    capacity = 1024
    keys = np.empty(capacity, dtype=np.uint64)
    ends = np.zeros(offsets.size, dtype=np.int64)
    n = 0
    for document in range(offsets.size - 1):
        _, _, hashes, single = _words(buffer, offsets[document], offsets[document + 1], table, expansions)
        found = np.empty(hashes.size, dtype=np.uint64)
        size = 0
        for i in range(hashes.size):
            if not single[i]:
                found[size] = hashes[i]
                size += 1
            elif i > 0 and single[i - 1]:
                found[size] = mix(hashes[i - 1] * _BASE + hashes[i] + _PAIR)
                size += 1
        found = np.sort(found[:size])
        if n + size > capacity:
            capacity = 2 * (n + size)
            larger = np.empty(capacity, dtype=np.uint64)
            larger[:n] = keys[:n]
            keys = larger
        for i in range(size):
            if i == 0 or found[i] != found[i - 1]:
                keys[n] = found[i]
                n += 1
        ends[document + 1] = n
    return keys[:n].copy(), ends


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
    used = np.zeros(GROUPS, dtype=np.int64)
    mask = np.uint64(cells.size - 1)
    for i in range(keys.size):
        value = cells[keys[i] & mask]
        for group in range(GROUPS):
            used[group] += np.int64((value >> np.uint64(group)) & np.uint64(1))
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
        for i in range(part.size):
            having[i] = -_bits(cells[part[i] & mask] & speakers)
        chosen = np.sort(np.argsort(having, kind="mergesort")[:most])
        for i in chosen:
            if having[i] < 0:
                out[n] = part[i]
                n += 1
        ends[place + 1] = n
    return out[:n].copy(), ends


class Lookup:
    """Sets of terms to look for in texts. `flags[i]` says whether key i was met; texts are never kept."""

    def __init__(self, sets: TermSets) -> None:
        self.sets = sets
        self.flags = np.zeros(sets.keys.size, dtype=np.uint8)
        self._slots, self._slot_offsets = _tables(sets.keys, sets.offsets)

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

    def places(self, buffer: npt.NDArray[np.uint8], offsets: Ints) -> tuple[Ints, Ints]:
        """For the first set: (document, key index) of each of its terms that a document holds, once."""
        table = fold_table()
        documents, found = _places(
            buffer, offsets, self.sets.keys[: self.sets.offsets[1]], self._slots[: self._slot_offsets[1]],
            table.table, table.expansions,
        )  # fmt: skip
        return documents, found

    def flagged(self) -> Ints:
        """Flagged terms of each set."""
        total = np.concatenate([[0], np.cumsum(self.flags, dtype=np.int64)])
        return np.asarray(total[self.sets.offsets[1:]] - total[self.sets.offsets[:-1]])


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
def _places(buffer: Any, offsets: Any, keys: Any, slots: Any, table: Any, expansions: Any) -> Any:
    flags = np.zeros(keys.size, dtype=np.uint8)
    touched = np.empty(keys.size, dtype=np.int64)
    documents = np.empty(256, dtype=np.int64)
    found = np.empty(256, dtype=np.int64)
    n = 0
    for document in range(offsets.size - 1):
        start, end = offsets[document], offsets[document + 1]
        met = _mark(buffer, start, end, keys, slots, flags, touched, keys.size + 1, table, expansions)
        while n + met > found.size:
            documents = np.concatenate((documents, np.empty(documents.size, dtype=np.int64)))
            found = np.concatenate((found, np.empty(found.size, dtype=np.int64)))
        for i in np.sort(touched[:met]):
            documents[n], found[n] = document, i
            flags[i] = 0
            n += 1
    return documents[:n].copy(), found[:n].copy()


def held_terms(
    groups: Ints, members: Ints, offsets: Ints, found: Ints, found_offsets: Ints, wanted: Ints, keys: int
) -> npt.NDArray[np.bool_]:
    """[group, wanted key]: does a member of the group hold the key?

    Group g has the members `members[offsets[g]:offsets[g + 1]]`, member m the keys
    `found[found_offsets[m]:found_offsets[m + 1]]`, numbers below `keys`.
    """
    return np.asarray(_gather(groups, members, offsets, found, found_offsets, wanted, keys))


@numba.njit(cache=True, nogil=True)
def _gather(requests: Any, content: Any, content_offsets: Any, found: Any, offsets: Any, wanted: Any, keys: Any) -> Any:
    column = np.full(keys, -1, dtype=np.int64)
    for i in range(wanted.size):
        column[wanted[i]] = i
    held = np.zeros((requests.size, wanted.size), dtype=np.bool_)
    for row in range(requests.size):
        for place in range(content_offsets[requests[row]], content_offsets[requests[row] + 1]):
            for i in range(offsets[content[place]], offsets[content[place] + 1]):
                if column[found[i]] >= 0:
                    held[row, column[found[i]]] = True
    return held
