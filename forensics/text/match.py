"""Where do texts hold something of a given set of texts? The one matcher behind egress checks, trials and references.

`Index` takes one set (files, planted passages) with every gram of weight `minimum`; any number of other texts is then
walked past it, position by position, in batches of any size. Memory follows the indexed side, time is linear in both.

Guarantee: every run of folded units (`fold`) that both sides share and that weighs `minimum` + 2 or more is found,
wherever it stands and whatever surrounds it; in scripts of weight 1 `minimum` units are enough. Nothing that weighs
less is reported. Spaces, case, punctuation, full-width and zero-width forms make no difference; a changed letter ends
a run. Equality is by 64-bit hashes: of searches for a million grams at 10^9 positions, one in 18,000 meets a false hit.

Does not judge what a match is worth or whose text it is. No files, no clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from forensics.text.fingerprint import _BASE, GRAM, Hashes, _grams, _longest, _powers, _winnow, mix
from forensics.text.fold import Ints, Units, fold_bytes, fold_into, fold_table, weight
from forensics.text.keys import among, distinct
from forensics.text.seed_search import SeedTable, _id, _probe

MINIMUM = 32  # weight of a shared run that is sure to mean something: about 40 characters of English, 11 Han signs
PLACES = 256  # places of one gram that `spans` follows on the indexed side; `hits` and `places` know them all

Buffer = npt.NDArray[np.uint8]
Rows = npt.NDArray[np.int32]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Grams:
    """Parallel arrays: `hashes` int64, `documents` (row of the input) and `positions` (unit of a gram's last unit)."""

    hashes: Hashes
    documents: Rows
    positions: Rows


@dataclass(frozen=True)
class Spans:
    """Maximal common runs. `document`, `other`: rows of the texts and of the index; offsets in code points, end
    exclusive; `weight` of the run. Sorted by document, start, other, other_start."""

    document: Ints
    start: Ints
    end: Ints
    other: Ints
    other_start: Ints
    other_end: Ints
    weight: Ints


def pack(texts: Sequence[str]) -> tuple[Buffer, Ints]:
    """Texts as one UTF-8 buffer and offsets. Lone surrogates stay what they are."""
    parts = [text.encode("utf-8", "surrogatepass") for text in texts]
    offsets = np.concatenate([[0], np.cumsum([len(part) for part in parts], dtype=np.int64)]).astype(np.int64)
    return np.frombuffer(b"".join(parts), dtype=np.uint8), offsets


def every_gram(buffer: Buffer, offsets: Ints, minimum: int = GRAM) -> Grams:
    """Every gram of weight `minimum` of the documents, in order. Releases the GIL."""
    table = fold_table()
    found = _winnow(buffer, offsets, table.table, table.expansions, minimum, 1, _powers(minimum))
    return Grams(found[0], found[1], found[2])


def grams_of(units: Units, minimum: int = GRAM) -> Grams:
    """The same for one text that is folded already; `documents` are 0."""
    hashes, positions = _unit_grams(units, minimum, _powers(minimum))
    return Grams(hashes, np.zeros(hashes.size, dtype=np.int32), positions)


def marked(units: Units, positions: Rows, minimum: int = GRAM) -> Mask:
    """Which units lie in one of the grams of weight `minimum` that end at `positions`?"""
    mask: Mask = np.zeros(units.size, dtype=np.bool_)
    _mark(units, positions, minimum, mask)
    return mask


def weights(units: Units) -> Ints:
    """Weight of each unit."""
    return np.asarray(_weights(units))


@dataclass(frozen=True)
class Occurrences:
    """Where indexed grams stand. `first[i]:first[i + 1]` are the places of the i-th of them, in order of the texts;
    `documents` and `positions` as in Grams."""

    first: Ints
    documents: Rows
    positions: Rows


@dataclass(frozen=True)
class Index:
    """Texts to be looked for. Knows which grams they hold; where each stands is read again when it is asked for."""

    minimum: int
    buffer: Buffer
    offsets: Ints
    seeds: SeedTable
    own: SeedTable

    @classmethod
    def over(cls, buffer: Buffer, offsets: Ints, minimum: int = MINIMUM, own: SeedTable | None = None) -> Index:
        """Index over the documents. Of grams that lie by half or more in `own` (a table over `every_gram` of texts that
        may be matched freely, in their default weight) no match is reported: a run counts from `minimum` on outside of
        such words, or with less than half of it in them."""
        own = SeedTable.over(np.zeros(0, dtype=np.int64)) if own is None else own
        return cls(minimum, buffer, offsets, SeedTable.over(_outside(buffer, offsets, minimum, own).hashes), own)

    def hits(self, buffer: Buffer, offsets: Ints) -> tuple[Rows, Rows, Rows]:
        """Ids of indexed grams, and document and position of each place where one stands. Releases the GIL."""
        table = fold_table()
        seeds = self.seeds
        found = _probe(
            buffer, offsets, table.table, table.expansions, self.minimum, _powers(self.minimum), seeds.keys,
            seeds.slots, seeds.filter,
        )  # fmt: skip
        return found[0], found[1], found[2]

    def places(self, ids: Rows | Ints) -> Occurrences:
        """Where the grams with these ids (ascending, each once) stand in the indexed texts. One pass over those."""
        if not ids.size:
            return Occurrences(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int32))
        wanted = SeedTable.over(self.seeds.keys[ids])
        grams = _outside(self.buffer, self.offsets, self.minimum, self.own, wanted)
        rows = wanted.ids(grams.hashes)
        order = np.argsort(rows, kind="stable")
        first = np.searchsorted(rows[order], np.arange(wanted.keys.size + 1)).astype(np.int64)
        return Occurrences(first, grams.documents[order], grams.positions[order])

    @cached_property
    def _everywhere(self) -> Occurrences:
        return self.places(np.arange(self.seeds.keys.size))

    def spans(self, buffer: Buffer, offsets: Ints) -> Spans:
        """All maximal runs that a document and an indexed text share. A gram that stands at more than PLACES places of
        the index is followed at the first of them only, so that runs of such repetitions come in several parts."""
        ids, documents, positions = self.hits(buffer, offsets)
        every = self._everywhere
        counts = np.minimum(every.first[ids + 1] - every.first[ids], PLACES)
        row = np.repeat(np.arange(ids.size), counts)
        place = every.first[ids][row] + np.arange(row.size) - np.repeat(np.cumsum(counts) - counts, counts)
        document, position = documents[row].astype(np.int64), positions[row].astype(np.int64)
        other, other_position = every.documents[place].astype(np.int64), every.positions[place].astype(np.int64)
        diagonal = position - other_position
        order = np.lexsort((position, diagonal, other, document))
        document, position, other = document[order], position[order], other[order]
        other_position, diagonal = other_position[order], diagonal[order]
        new = np.ones(order.size, dtype=np.bool_)
        if order.size:
            same = (document[1:] == document[:-1]) & (other[1:] == other[:-1]) & (diagonal[1:] == diagonal[:-1])
            new[1:] = ~(same & (position[1:] == position[:-1] + 1))
        starts = np.flatnonzero(new)
        ends = np.append(starts[1:], order.size)[: starts.size] - 1
        found: list[tuple[int, ...]] = []
        theirs: dict[int, Any] = {}
        mine: dict[int, Any] = {}
        for low, high in zip(starts.tolist(), ends.tolist(), strict=True):
            here, there = int(document[low]), int(other[low])
            if here not in theirs:
                theirs = {here: fold_bytes(buffer[offsets[here] : offsets[here + 1]])}
            if there not in mine:
                mine[there] = fold_bytes(self.buffer[self.offsets[there] : self.offsets[there + 1]])
            units = theirs[here].units
            start, end = _gram_start(units, int(position[low]), self.minimum), int(position[high]) + 1
            other_end = int(other_position[high]) + 1
            found.append(
                (
                    here, *theirs[here].span(start, end), there,
                    *mine[there].span(other_end - (end - start), other_end), int(weights(units[start:end]).sum()),
                )
            )  # fmt: skip
        columns = np.array(sorted(found, key=lambda f: (f[0], f[1], f[3], f[4])), dtype=np.int64).reshape(-1, 7)
        return Spans(*columns.T)


def find(texts: Sequence[str], corpus: Sequence[str], minimum: int = MINIMUM) -> Spans:
    """Runs that the texts share with a small corpus. For large ones make an Index of the smaller side yourself."""
    return Index.over(*pack(corpus), minimum).spans(*pack(texts))


def containment(one: Hashes, other: Hashes) -> float:
    """Share (0..1) of the smaller of two sets of fingerprints that the larger one has; 0 where one is empty."""
    first, second = distinct(one), distinct(other)
    if first.size > second.size:
        first, second = second, first
    return float(among(first, second).sum()) / first.size if first.size else 0.0


def _outside(buffer: Buffer, offsets: Ints, minimum: int, own: SeedTable, only: SeedTable | None = None) -> Grams:
    """Every gram of weight `minimum` of which less than half of the weight lies in grams of `own`, in order; those in
    `only` alone where it is given."""
    table = fold_table()
    wanted = own if only is None else only
    found = _outer_grams(
        buffer, offsets, table.table, table.expansions, GRAM, _powers(GRAM), own.keys, own.slots, own.filter, minimum,
        _powers(minimum), only is not None, wanted.keys, wanted.slots, wanted.filter,
    )  # fmt: skip
    return Grams(*found)


@numba.njit(cache=True, nogil=True)
def _outer_grams(
    buffer: Any, offsets: Any, table: Any, expansions: Any, own_gram: int, own_powers: Any, own_keys: Any,
    own_slots: Any, own_words: Any, minimum: int, powers: Any, only: Any, keys: Any, slots: Any, words: Any,
) -> Any:  # fmt: skip
    # At most two units a byte; pages that are not used cost nothing.
    capacity = 2 * (offsets[-1] - offsets[0]) + 1
    hashes = np.empty(capacity, dtype=np.int64)
    documents = np.empty(capacity, dtype=np.int32)
    positions = np.empty(capacity, dtype=np.int32)
    room = 2 * _longest(offsets) + 8
    units = np.empty(room, dtype=np.uint32)
    values = np.empty(room, dtype=np.uint64)
    lengths = np.empty(room, dtype=np.uint8)
    # Weight of all units and of those in own grams, before each unit.
    whole = np.zeros(room + 1, dtype=np.int64)
    inside = np.zeros(room + 1, dtype=np.int64)
    n = 0
    for document in range(offsets.size - 1):
        size = fold_into(buffer, offsets[document], offsets[document + 1], table, expansions, units)
        if own_keys.size > 0:
            first = _grams(units, size, own_gram, own_powers, values, lengths)
            reach = size  # the first unit of the own grams that end at this unit or behind it
            for position in range(size - 1, -1, -1):
                if position >= first and _id(values[position], own_keys, own_slots, own_words) >= 0:
                    reach = min(reach, position - np.int64(lengths[position]) + 1)
                inside[position + 1] = position >= reach
            for position in range(size):
                heavy = weight(units[position])
                whole[position + 1] = whole[position] + heavy
                inside[position + 1] = inside[position] + heavy * inside[position + 1]
        first = _grams(units, size, minimum, powers, values, lengths)
        for position in range(first, size):
            start = position - np.int64(lengths[position]) + 1
            if own_keys.size > 0 and (2 * (inside[position + 1] - inside[start]) >= whole[position + 1] - whole[start]):
                continue
            if only and _id(values[position], keys, slots, words) < 0:
                continue
            hashes[n] = np.int64(values[position])
            documents[n] = document
            positions[n] = position
            n += 1
    return hashes[:n].copy(), documents[:n].copy(), positions[:n].copy()


@numba.njit(cache=True, nogil=True)
def _unit_grams(units: Any, gram: int, powers: Any) -> Any:
    hashes = np.empty(units.size, dtype=np.int64)
    positions = np.empty(units.size, dtype=np.int32)
    n = 0
    rolling = np.uint64(0)
    gram_weight = 0
    length = 0
    for position in range(units.size):
        rolling = rolling * _BASE + np.uint64(units[position])
        gram_weight += weight(units[position])
        length += 1
        while gram_weight - weight(units[position - length + 1]) >= gram:
            left = units[position - length + 1]
            rolling -= np.uint64(left) * powers[length - 1]
            gram_weight -= weight(left)
            length -= 1
        if gram_weight >= gram:
            hashes[n] = np.int64(mix(rolling))
            positions[n] = position
            n += 1
    return hashes[:n].copy(), positions[:n].copy()


@numba.njit(cache=True, nogil=True)
def _gram_start(units: Any, position: int, minimum: int) -> int:
    """First unit of the shortest run that ends at `position` and weighs at least `minimum`."""
    total = 0
    start = position + 1
    while start > 0 and total < minimum:
        start -= 1
        total += weight(units[start])
    return start


@numba.njit(cache=True, nogil=True)
def _mark(units: Any, positions: Any, minimum: int, mask: Any) -> None:
    for i in range(positions.size):
        mask[_gram_start(units, np.int64(positions[i]), minimum) : positions[i] + 1] = True


@numba.njit(cache=True, nogil=True)
def _weights(units: Any) -> Any:
    out = np.empty(units.size, dtype=np.int64)
    for i in range(units.size):
        out[i] = weight(units[i])
    return out
