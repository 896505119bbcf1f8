"""Which grams and tokens stand in the responses, and where else do they stand?

Pass 1 fingerprints every distinct response text; pass 2 looks in every other text for those fingerprints, at every
position, so that memory follows the responses, not the log. Who had a seed when, and what follows from it, is `hits`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from forensics.attribution.corpus import Corpus, TextBatch
from forensics.attribution.holdings import Ints
from forensics.text.fingerprint import SeedTable, fingerprint, probe
from forensics.text.identifiers import identifiers
from forensics.text.scripts import NAMES, count_scripts

Places = npt.NDArray[np.int32]
Contexts = npt.NDArray[np.uint64]
Kinds = npt.NDArray[np.uint8]
NO_CONTEXT: Contexts = np.zeros(0, dtype=np.uint64)
NO_KINDS: Kinds = np.zeros(0, dtype=np.uint8)


@dataclass(frozen=True)
class Rows:
    """Seeds of texts: parallel arrays. `seed` is the id of a seed that some response has."""

    seed: Places
    content: Places
    start: Places
    end: Places
    before: Contexts  # what stands around a gram (see text.fingerprint); empty for tokens
    after: Contexts
    kinds: Kinds
    examined: int = 0  # seeds looked at, whether a response has them or not


@dataclass(frozen=True)
class Scan:
    """What two passes over the texts give: seeds of both kinds by id, and units per script of each text (NAMES)."""

    grams: Rows
    tokens: Rows
    scripts: npt.NDArray[np.int32]
    tokens_in_responses: int
    tokens_in_others: int


def scan(corpus: Corpus, tick: Callable[[int], None] | None = None) -> Scan:
    """Seeds of all responses, every place where another text has one of them, and the scripts of all texts."""
    world = corpus.world
    scripts = np.zeros((world.text_bytes.size, len(NAMES)), dtype=np.int32)

    def select(batch: TextBatch) -> tuple[Ints, Rows, Ints, Rows]:
        keys, buffer, offsets = batch
        _count_scripts(scripts, batch)
        grams = fingerprint(buffer, offsets)
        gram_rows = _rows(
            keys, grams.documents, grams.positions, grams.positions + 1, grams.before, grams.after, grams.kinds
        )
        tokens = identifiers(buffer, offsets)
        return grams.hashes, gram_rows, tokens.hashes, _rows(keys, tokens.documents, tokens.starts, tokens.ends)

    mine = list(corpus.over(world.is_response, select, tick))
    gram_table, grams = _numbered([part[0] for part in mine], [part[1] for part in mine])
    token_table, tokens = _numbered([part[2] for part in mine], [part[3] for part in mine])
    del mine

    def search(batch: TextBatch) -> tuple[Rows, Rows]:
        keys, buffer, offsets = batch
        _count_scripts(scripts, batch)
        found = probe(buffer, offsets, gram_table)
        rows = _rows(
            keys,
            found.documents,
            found.positions,
            found.positions + 1,
            found.before,
            found.after,
            found.kinds,
            found.ids,
        )
        theirs = identifiers(buffer, offsets)
        ids = token_table.ids(theirs.hashes)
        kept = np.flatnonzero(ids >= 0)
        token_rows = _rows(keys, theirs.documents[kept], theirs.starts[kept], theirs.ends[kept], seed=ids[kept])
        return rows, replace(token_rows, examined=int(ids.size))

    gram_parts, token_parts = [grams], [tokens]
    for gram_rows, token_rows in corpus.over(~world.is_response, search, tick):
        gram_parts.append(gram_rows)
        token_parts.append(token_rows)
    in_others = sum(part.examined for part in token_parts[1:])
    return Scan(
        _by_seed(gram_parts, gram_table.keys.size),
        _by_seed(token_parts, token_table.keys.size),
        scripts,
        int(tokens.seed.size),
        in_others,
    )


def _count_scripts(scripts: npt.NDArray[np.int32], batch: TextBatch) -> None:
    keys, buffer, offsets = batch
    if bool((buffer >= 0x80).any()):
        scripts[keys] = count_scripts(buffer, offsets)


def _rows(
    keys: Ints,
    documents: Places,
    starts: Places,
    ends: Places,
    before: Contexts = NO_CONTEXT,
    after: Contexts = NO_CONTEXT,
    kinds: Kinds = NO_KINDS,
    seed: Places | None = None,
) -> Rows:
    content = keys[documents].astype(np.int32)
    none = np.zeros(content.size, dtype=np.int32) if seed is None else seed
    return Rows(none, content, starts.astype(np.int32), ends.astype(np.int32), before, after, kinds)


def _numbered(hashes: list[Ints], parts: list[Rows]) -> tuple[SeedTable, Rows]:
    """A table over the responses' seeds, and their rows with the ids filled in."""
    every = np.concatenate([np.zeros(0, dtype=np.int64), *hashes])
    table = SeedTable.over(every)
    return table, replace(_joined(parts), seed=np.searchsorted(table.keys, every).astype(np.int32))


def _joined(parts: list[Rows]) -> Rows:
    """Rows of all parts, one after the other."""
    empty = np.zeros(0, dtype=np.int32)
    return Rows(
        np.concatenate([empty, *(p.seed for p in parts)]),
        np.concatenate([empty, *(p.content for p in parts)]),
        np.concatenate([empty, *(p.start for p in parts)]),
        np.concatenate([empty, *(p.end for p in parts)]),
        np.concatenate([NO_CONTEXT, *(p.before for p in parts)]),
        np.concatenate([NO_CONTEXT, *(p.after for p in parts)]),
        np.concatenate([NO_KINDS, *(p.kinds for p in parts)]),
    )


def _by_seed(parts: list[Rows], seeds: int) -> Rows:
    """Rows of both passes by seed; equal seeds stay in the order of the passes, that is of content and place."""
    rows = _joined(parts)
    parts.clear()
    order = _counting_order(rows.seed, seeds)
    return Rows(
        rows.seed[order],
        rows.content[order],
        rows.start[order],
        rows.end[order],
        rows.before[order] if rows.before.size else rows.before,
        rows.after[order] if rows.after.size else rows.after,
        rows.kinds[order] if rows.kinds.size else rows.kinds,
    )


@numba.njit(cache=True, nogil=True)
def _counting_order(seed: Any, seeds: int) -> Any:
    """Stable order by seed id, in linear time."""
    next_place = np.zeros(seeds + 1, dtype=np.int64)
    for i in range(seed.size):
        next_place[seed[i] + 1] += 1
    for i in range(seeds):
        next_place[i + 1] += next_place[i]
    order = np.empty(seed.size, dtype=np.int64)
    for i in range(seed.size):
        order[next_place[seed[i]]] = i
        next_place[seed[i]] += 1
    return order
