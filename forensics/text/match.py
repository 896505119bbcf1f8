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
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from forensics.text.fingerprint import _BASE, GRAM, Hashes, _powers, _winnow, mix
from forensics.text.fold import Ints, Units, fold_bytes, fold_table, weight
from forensics.text.keys import among, distinct
from forensics.text.seed_search import SeedTable, _probe

MINIMUM = 32  # weight of a shared run that is sure to mean something: about 40 characters of English, 11 Han signs
PLACES = 256  # places of one gram that `spans` follows on the indexed side; `hits` and `holders` know them all

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
class Index:
    """Texts to be looked for. `first[i]:first[i + 1]` are the places of the gram with SeedTable id i."""

    minimum: int
    buffer: Buffer
    offsets: Ints
    seeds: SeedTable
    first: Ints
    documents: Rows
    positions: Rows

    @classmethod
    def over(cls, buffer: Buffer, offsets: Ints, minimum: int = MINIMUM, own: SeedTable | None = None) -> Index:
        """Index over the documents. Of grams that lie by half or more in `own` (a table over `every_gram` of texts that
        may be matched freely, in their default weight) no match is reported: a run counts from `minimum` on outside of
        such words, or with less than half of it in them."""
        grams = every_gram(buffer, offsets, minimum)
        kept = np.ones(grams.hashes.size, dtype=np.bool_)
        if own is not None and own.keys.size:
            kept = ~_mostly(buffer, offsets, grams, minimum, own)
        hashes = grams.hashes[kept]
        seeds = SeedTable.over(hashes)
        ids = np.searchsorted(seeds.keys, hashes)
        order = np.argsort(ids, kind="stable")
        first = np.searchsorted(ids[order], np.arange(seeds.keys.size + 1)).astype(np.int64)
        return cls(minimum, buffer, offsets, seeds, first, grams.documents[kept][order], grams.positions[kept][order])

    def hits(self, buffer: Buffer, offsets: Ints) -> tuple[Rows, Rows, Rows]:
        """Ids of indexed grams, and document and position of each place where one stands. Releases the GIL."""
        table = fold_table()
        seeds = self.seeds
        found = _probe(
            buffer, offsets, table.table, table.expansions, self.minimum, _powers(self.minimum), seeds.keys,
            seeds.slots, seeds.filter,
        )  # fmt: skip
        return found[0], found[1], found[2]

    def holders(self, gram: int) -> Rows:
        """Indexed documents that have the gram with this id, ascending, each once."""
        return np.unique(self.documents[self.first[gram] : self.first[gram + 1]])

    def spans(self, buffer: Buffer, offsets: Ints) -> Spans:
        """All maximal runs that a document and an indexed text share. A gram that stands at more than PLACES places of
        the index is followed at the first of them only, so that runs of such repetitions come in several parts."""
        ids, documents, positions = self.hits(buffer, offsets)
        counts = np.minimum(self.first[ids + 1] - self.first[ids], PLACES)
        row = np.repeat(np.arange(ids.size), counts)
        place = self.first[ids][row] + np.arange(row.size) - np.repeat(np.cumsum(counts) - counts, counts)
        document, position = documents[row].astype(np.int64), positions[row].astype(np.int64)
        other, other_position = self.documents[place].astype(np.int64), self.positions[place].astype(np.int64)
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


def _mostly(buffer: Buffer, offsets: Ints, grams: Grams, minimum: int, own: SeedTable) -> Mask:
    """Which grams lie by half of their weight or more in words of our own?"""
    table = fold_table()
    found = _probe(buffer, offsets, table.table, table.expansions, GRAM, _powers(GRAM), own.keys, own.slots, own.filter)
    documents, positions = found[1], found[2]
    result: Mask = np.zeros(grams.hashes.size, dtype=np.bool_)
    touched = np.unique(documents)
    # Both sides come document by document. Bounds of one type with them: else each search would copy all of them.
    places = np.searchsorted(documents, touched), np.searchsorted(documents, touched, side="right")
    held = touched.astype(grams.documents.dtype)
    own_grams = np.searchsorted(grams.documents, held), np.searchsorted(grams.documents, held, side="right")
    for row, document in enumerate(touched.tolist()):
        units = fold_bytes(buffer[offsets[document] : offsets[document + 1]]).units
        mask = marked(units, positions[places[0][row] : places[1][row]])
        low, high = own_grams[0][row], own_grams[1][row]
        _share(units, mask, grams.positions[low:high], minimum, result[low:high])
    return result


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
def _share(units: Any, mask: Any, positions: Any, minimum: int, out: Any) -> None:
    for i in range(positions.size):
        inside = 0
        total = 0
        for at in range(_gram_start(units, np.int64(positions[i]), minimum), positions[i] + 1):
            total += weight(units[at])
            inside += weight(units[at]) if mask[at] else 0
        out[i] = 2 * inside >= total


@numba.njit(cache=True, nogil=True)
def _weights(units: Any) -> Any:
    out = np.empty(units.size, dtype=np.int64)
    for i in range(units.size):
        out[i] = weight(units[i])
    return out
