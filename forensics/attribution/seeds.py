"""Which grams and tokens stand in the responses, and where else do they stand?

Pass 1 fingerprints every distinct response text; pass 2 looks in every other text for those fingerprints, at every
position, through a filter that may say yes too often. The rows go to `partitions`, which keep what a response and two
units have; only those rows are looked at again. Memory is bounded by the memory setting, whatever the log's size.
Who had a seed when, and what follows from it, is `hits`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from forensics.attribution.charges import Registers, TokenCounts, count_tokens, no_tokens, sketch
from forensics.attribution.corpus import Corpus, TextBatch
from forensics.attribution.holdings import Ints
from forensics.attribution.partitions import Partitions, Table, rows_of, that_matter
from forensics.text.fingerprint import contexts, select
from forensics.text.identifiers import identifiers
from forensics.text.keys import distinct
from forensics.text.scripts import NAMES, count_scripts
from forensics.text.seed_search import SeedFilter, sift

Places = npt.NDArray[np.int32]
Contexts = npt.NDArray[np.uint64]
Kinds = npt.NDArray[np.uint8]
NO_CONTEXT: Contexts = np.zeros(0, dtype=np.uint64)
NO_KINDS: Kinds = np.zeros(0, dtype=np.uint8)
SEED_BYTES = 9  # of a response to a fingerprint, in alphabetic scripts
TOKEN_BYTES = 64  # of a text to an identifier, in a log full of them
MEMORY_SHARE = 8  # of the memory setting may the rows, the filter and the rows of one group take each
GRAM_COLUMNS = 2  # a gram's row has no end: it is known by the place of its last unit
CONTEXT_BYTES = 40  # of a row with what stands around it, and what it takes to sort it


@dataclass(frozen=True)
class Rows:
    """Seeds of texts: parallel arrays, equal seeds together, in the order of pass, text and place."""

    seed: Places
    content: Places
    start: Places
    end: Places
    before: Contexts  # what stands around a gram (see text.fingerprint); empty for tokens
    after: Contexts
    kinds: Kinds


class Seeds:
    """The rows of one sort of seed that matter: those that a response has and two units hold."""

    def __init__(self, corpus: Corpus, parts: Partitions, of_text: Callable[[TextBatch], Table], *, context: bool):
        self._corpus = corpus
        self._parts = parts
        self._of_text = of_text
        self._context = context
        self._most = corpus.case.resources.memory_bytes // MEMORY_SHARE
        # Most logs have few: then they are kept. Else each question goes through the parts again.
        self._kept: list[Table] | None = []
        size = 0
        for table in self._matter():
            size += table.nbytes
            if self._kept is None or size > self._most:
                self._kept = None
                break
            self._kept.append(table)
        if self._kept is not None:
            parts.close()

    def groups(self) -> Iterator[Rows]:
        """All rows, in groups that fit into memory; a seed's rows are in one group."""
        for tables in self._grouped():
            yield self._ordered(tables)

    def of_hashes(self, hashes: Ints) -> tuple[Ints, Rows]:
        """Those of `hashes` (ascending) that matter, and their rows without contexts; a seed is a place in them."""
        found = [table[_member(table[:, 0], hashes)] for table in self._tables()]
        rows = _sorted(found)
        return distinct(rows[:, 0].copy()), _plain(rows)

    def of_responses(self) -> Iterator[tuple[Ints, Ints]]:
        """Text and hash of the seeds that responses hold, part by part; all rows of a hash are in one part."""
        is_response = self._corpus.world.is_response
        for table in self._tables():
            contents = table[:, 1] >> 32
            mine = is_response[contents]
            yield contents[mine], table[:, 0][mine]

    def of_text(self, content: int) -> tuple[Ints, Ints]:
        """Hash and start of every seed of one text, whether it matters or not."""
        data = self._corpus.data(content)
        rows = self._of_text((np.array([content]), data, np.array([0, data.size], dtype=np.int64)))
        return rows[:, 0], rows[:, 1] & 0x7FFFFFFF

    def close(self) -> None:
        """Give back memory and disk."""
        self._kept = []
        self._parts.close()

    def _matter(self) -> Iterator[Table]:
        return that_matter(self._parts, self._corpus.world, self._corpus.case.resources.threads)

    def _tables(self) -> Iterator[Table]:
        return self._matter() if self._kept is None else iter(self._kept)

    def _grouped(self) -> Iterator[list[Table]]:
        group: list[Table] = []
        rows = 0
        for table in self._tables():
            if group and (rows + table.shape[0]) * CONTEXT_BYTES > self._most:
                yield group
                group, rows = [], 0
            group.append(table)
            rows += table.shape[0]
        yield group

    def _ordered(self, tables: list[Table]) -> Rows:
        plain = _plain(_sorted(tables))
        if not self._context or plain.seed.size == 0:
            return plain
        order = np.argsort(plain.content, kind="stable")
        contents, places = plain.content[order], plain.start[order]
        before = np.empty(order.size, dtype=np.uint64)
        after = np.empty(order.size, dtype=np.uint64)
        kinds = np.empty(order.size, dtype=np.uint8)
        wanted = np.zeros(self._corpus.world.text_bytes.size, dtype=np.bool_)
        wanted[contents] = True

        def work(batch: TextBatch) -> None:
            keys, buffer, offsets = batch
            low = np.searchsorted(contents, keys.astype(np.int32))
            high = np.searchsorted(contents, keys.astype(np.int32), side="right")
            counts = high - low
            rows = np.repeat(low - np.cumsum(counts) + counts, counts) + np.arange(int(counts.sum()))
            documents = np.repeat(np.arange(keys.size, dtype=np.int32), counts)
            at = order[rows]
            before[at], after[at], kinds[at] = contexts(buffer, offsets, documents, places[rows])

        for _ in self._corpus.over(wanted, work):
            pass
        return replace(plain, before=before, after=after, kinds=kinds)


@dataclass(frozen=True)
class Scan:
    """What two passes over the texts give: seeds of both kinds, units per script of each text (NAMES), and how many
    distinct tokens of each length there are."""

    grams: Seeds
    tokens: Seeds
    scripts: npt.NDArray[np.int32]
    token_counts: TokenCounts


def scan(corpus: Corpus, tick: Callable[[int], None] | None = None) -> Scan:
    """Seeds of all responses, every place where another text has one of them, and the scripts of all texts."""
    world = corpus.world
    scripts = np.zeros((world.text_bytes.size, len(NAMES)), dtype=np.int32)
    memory = corpus.case.resources.memory_bytes // MEMORY_SHARE
    folder = corpus.case.root / "restricted" / "spill"
    answers = int(world.text_bytes[world.is_response].sum())
    grams = Partitions(folder, answers // SEED_BYTES, memory, GRAM_COLUMNS)
    tokens = Partitions(folder, int(world.text_bytes.sum()) // TOKEN_BYTES, memory // 4)

    in_responses, in_others = no_tokens(), no_tokens()

    def selected(batch: TextBatch) -> tuple[Any, Any, Registers]:
        _count_scripts(scripts, batch)
        found, registers = _counted(batch)
        return grams.split(_selected(batch)), tokens.split(found), registers

    for gram_rows, token_rows, registers in corpus.over(world.is_response, selected, tick):
        grams.add(*gram_rows)
        tokens.add(*token_rows)
        np.maximum(in_responses, registers, out=in_responses)
    gram_filter = _filter(grams, memory, corpus.case.resources.threads)
    token_filter = _filter(tokens, memory, corpus.case.resources.threads)

    def sifted(batch: TextBatch) -> tuple[Any, Any, Registers]:
        _count_scripts(scripts, batch)
        keys, buffer, offsets = batch
        hashes, documents, positions = sift(buffer, offsets, gram_filter)
        found, registers = _counted(batch)
        held = found[token_filter.holds(found[:, 0].copy())]
        rows = rows_of(hashes, keys[documents], positions)
        return grams.split(rows), tokens.split(held), registers

    for gram_rows, token_rows, registers in corpus.over(~world.is_response, sifted, tick):
        grams.add(*gram_rows)
        tokens.add(*token_rows)
        np.maximum(in_others, registers, out=in_others)
    return Scan(
        Seeds(corpus, grams, _selected, context=True),
        Seeds(corpus, tokens, _tokens, context=False),
        scripts,
        count_tokens(in_responses, in_others),
    )


def _selected(batch: TextBatch) -> Table:
    keys, buffer, offsets = batch
    hashes, documents, positions = select(buffer, offsets)
    return rows_of(hashes, keys[documents], positions)


def _tokens(batch: TextBatch) -> Table:
    return _counted(batch)[0]


def _counted(batch: TextBatch) -> tuple[Table, Registers]:
    """Rows of all tokens, and a sketch of those that are no groups of a longer run: they pay for that themselves."""
    keys, buffer, offsets = batch
    found = identifiers(buffer, offsets)
    whole = ~found.nested
    registers = sketch(found.hashes[whole], found.ends[whole] - found.starts[whole])
    return rows_of(found.hashes, keys[found.documents], found.starts, found.ends), registers


def _filter(parts: Partitions, most_bytes: int, threads: int) -> SeedFilter:
    """A filter over all hashes of the rows."""
    made = SeedFilter.empty(parts.rows, parts.bits, most_bytes)
    parts.each(lambda rows: made.put(rows[:, 0].copy()), threads)
    return made


def _count_scripts(scripts: npt.NDArray[np.int32], batch: TextBatch) -> None:
    keys, buffer, offsets = batch
    if bool((buffer >= 0x80).any()):
        scripts[keys] = count_scripts(buffer, offsets)


def _member(hashes: Any, wanted: Ints) -> npt.NDArray[np.bool_]:
    if wanted.size == 0:
        return np.zeros(hashes.size, dtype=np.bool_)
    places = np.minimum(np.searchsorted(wanted, hashes), wanted.size - 1)
    return np.asarray(wanted[places] == hashes)


def _sorted(tables: list[Table]) -> Table:
    """Rows by hash; equal hashes, which are all in one table, stay in their order."""
    rows = np.concatenate(tables) if tables else np.empty((0, GRAM_COLUMNS), dtype=np.int64)
    return rows[np.argsort(rows[:, 0], kind="stable")]


def _plain(rows: Table) -> Rows:
    """Sorted rows as arrays, seeds numbered from 0."""
    new = np.ones(rows.shape[0], dtype=np.int32)
    new[1:] = rows[1:, 0] != rows[:-1, 0]
    start = (rows[:, 1] & 0x7FFFFFFF).astype(np.int32)
    return Rows(
        np.cumsum(new, dtype=np.int32) - np.int32(1),
        (rows[:, 1] >> 32).astype(np.int32),
        start,
        start + np.int32(1) if rows.shape[1] == GRAM_COLUMNS else rows[:, 2].astype(np.int32),
        NO_CONTEXT,
        NO_CONTEXT,
        NO_KINDS,
    )
