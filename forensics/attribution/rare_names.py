"""Which name-like tokens of a response does exactly one other tenant supply, and nobody else in the whole log?

Three passes: the tokens of all responses are counted by tenant (in cells, so that nothing is kept of them); those that
few tenants' responses hold are kept; all other texts are searched for these. Equal tokens then go through the same
rules of own material, order in time and supplier counts as seeds do (`hits`). Does not say what a token is worth.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from forensics.attribution.corpus import Corpus, TextBatch
from forensics.attribution.hits import find_hits
from forensics.attribution.holdings import LATE, Ints, World
from forensics.attribution.of_few import of_few
from forensics.attribution.parameters import Parameters
from forensics.attribution.seeds import NO_CONTEXT, NO_KINDS, Rows
from forensics.text.names import LOWER, Names, in_sample, names
from forensics.text.seed_search import SeedTable
from forensics.text.vocabulary import GROUPS, Spread, TermSets

FEW = 4  # tenants that may hold a token in all: a source, a victim, and two who were leaked to besides
KEPT_BYTES = 5  # that the tokens of a byte of text take
MEMORY_SHARE = 8  # of the memory setting may they take
MIN_CELLS, MAX_CELLS = 1 << 20, 1 << 24
PART = 1 << 19  # rows of tokens that are judged at a time
SAMPLED = 1 << 20  # tokens, roughly, from which the distinct ones of each tenant are counted
BYTES_A_TOKEN = 8
LOST = 0.05  # share of rare names taken for common ones that is said


@dataclass(frozen=True)
class RareNames:
    """`hits`: one row per use and token that one other unit supplies, sorted by use and place.

    Columns: `use, content, start, end` (units of the response), `other, other_start` (a text of the `holder` unit, and
    where), `target` (supplied before the response finished; else only after it: a decoy), `kind` (text.names), `small`
    (written with a small letter somewhere in the case), `seed` (equal for equal tokens). `tokens`: tokens by response
    text; `sent`: distinct tokens that each unit sent, estimated from a sample of them;
    `lost`: share (0..1) of rare tokens that were taken for common ones, for want of room.
    """

    hits: pl.DataFrame
    tokens: Ints
    sent: npt.NDArray[np.float64]
    lost: float

    @property
    def warnings(self) -> tuple[str, ...]:
        """What has to be said of the search."""
        if self.lost <= LOST:
            return ()
        return (
            f"names: about {self.lost:.0%} of the rare ones were taken for common words: the responses have more "
            "distinct words than are counted apart. Passages, identifiers and canaries are not concerned. A shorter "
            "period, or the logs of one worker, keeps them apart",
        )


def find_rare_names(corpus: Corpus, parameters: Parameters) -> RareNames:
    """Look through the case."""
    world = corpus.world
    response_bytes = int(world.text_bytes[world.is_response].sum())
    cells = MIN_CELLS
    while cells < min(MAX_CELLS, response_bytes // 4):
        cells *= 2
    spread = Spread(cells)
    sent = _Sent(world)
    tokens = np.zeros(world.text_bytes.size, dtype=np.int64)

    def read(batch: TextBatch) -> tuple[Ints, Names]:
        keys, buffer, offsets = batch
        return keys, names(buffer, offsets)

    # Kept for the second look where the memory setting allows it.
    keep = response_bytes * KEPT_BYTES <= corpus.case.resources.memory_bytes // MEMORY_SHARE
    every: list[tuple[Ints, Names]] = []
    for keys, found in corpus.over(world.is_response, read):
        ends = np.searchsorted(found.documents, np.arange(keys.size + 1)).astype(np.int64)
        spread.add(TermSets(found.hashes.view(np.uint64), ends), *_held(world, keys))
        tokens[keys] = np.diff(ends)
        sent.add(keys, found)
        if keep:
            every.append((keys, found))

    def rare(keys: Ints, found: Names) -> tuple[Ints, Names]:
        return keys, _taken(found, spread.groups(found.hashes.view(np.uint64)) <= FEW)

    mine = [
        *(rare(keys, found) for keys, found in every),
        *([] if keep else corpus.over(world.is_response, lambda batch: rare(*read(batch)))),
    ]
    every = []
    table = SeedTable.over(np.concatenate([np.zeros(0, dtype=np.int64), *(found.hashes for _, found in mine)]))

    def look(batch: TextBatch) -> tuple[Ints, Names]:
        keys, buffer, offsets = batch
        return keys, names(buffer, offsets, table, sent.sample)

    holders = _Holders(world, table)
    parts = [holders.of_few(keys, found) for keys, found in mine]
    mine = []
    for keys, found in corpus.over(~world.is_response, look):
        sent.add(keys, found)
        parts.append(holders.of_few(keys, found))
    few = holders.few()  # what was kept before its fifth holder was met goes, too
    parts = [(keys, _taken(found, few[table.ids(found.hashes)])) for keys, found in parts]
    seed = np.concatenate([np.zeros(0, dtype=np.int32), *(table.ids(found.hashes) for _, found in parts)])
    content = np.concatenate([np.zeros(0, dtype=np.int32), *(k[f.documents].astype(np.int32) for k, f in parts)])
    start = np.concatenate([np.zeros(0, dtype=np.int32), *(f.starts for _, f in parts)])
    end = np.concatenate([np.zeros(0, dtype=np.int32), *(f.ends for _, f in parts)])
    kind = np.concatenate([np.zeros(0, dtype=np.int8), *(f.kinds for _, f in parts)])
    parts = []
    small = np.zeros(table.keys.size, dtype=np.bool_)
    small[seed[kind == LOWER]] = True
    order = np.argsort(seed, kind="stable")
    told = []
    for part in _parts(seed[order]):
        at = order[part]
        rows = Rows(seed[at], content[at], start[at], end[at], NO_CONTEXT, NO_CONTEXT, NO_KINDS)
        # Nothing is kept of the hits that many hold, which are most.
        told.append(of_few(find_hits(world, [rows], parameters.shared_limit, parameters.phrase_limit), world, FEW))
    mine_rows = np.flatnonzero(world.is_response[content])
    shown = pl.DataFrame(
        {
            "content": content[mine_rows],
            "start": start[mine_rows],
            "end": end[mine_rows],
            "kind": kind[mine_rows],
            "small": small[seed[mine_rows]],
            "seed": seed[mine_rows],
        }
    )
    return RareNames(_single(told, shown), tokens, sent.counts(), spread.crowded(FEW))


class _Holders:
    """How many units hold each token of a table? Those are counted by a bit each (unit mod 64), and so never too many.

    Most of what prompts hold of the table many units do: it is dropped while it is met.
    """

    def __init__(self, world: World, table: SeedTable) -> None:
        self._world, self._table = world, table
        self._units = np.zeros(table.keys.size, dtype=np.uint64)

    def of_few(self, contents: Ints, found: Names) -> tuple[Ints, Names]:
        """Note who holds the tokens of some texts; those of the table that few units are known to hold."""
        ids = self._table.ids(found.hashes)
        rows = np.flatnonzero(ids >= 0)
        ids, documents = ids[rows], found.documents[rows]
        places, units = _held(self._world, contents)
        of_text = np.zeros(contents.size, dtype=np.uint64)
        np.bitwise_or.at(of_text, places, np.uint64(1) << (units % GROUPS).astype(np.uint64))
        new = (self._units[ids] | of_text[documents]) != self._units[ids]
        np.bitwise_or.at(self._units, ids[new], of_text[documents[new]])
        return contents, _taken(found, rows[np.bitwise_count(self._units[ids]) <= FEW])

    def few(self) -> npt.NDArray[np.bool_]:
        """By token: do no more than FEW units hold it?"""
        return np.asarray(np.bitwise_count(self._units) <= FEW)


class _Sent:
    """Distinct tokens by unit, from a sample of the tokens. Memory: 16 bytes a text and token of the sample."""

    def __init__(self, world: World) -> None:
        bits = 0
        while int(world.text_bytes.sum()) // BYTES_A_TOKEN > SAMPLED << bits:
            bits += 1
        self._world, self._share = world, 1 << bits
        self.sample = np.uint64(self._share - 1)
        self._found = [pl.DataFrame(schema={"content": pl.Int64, "token": pl.Int64})]

    def add(self, contents: Ints, found: Names) -> None:
        """The tokens of some texts, those of the sample at least."""
        rows = in_sample(found, self.sample)
        content = contents[found.documents[rows]].astype(np.int64)
        self._found.append(pl.DataFrame({"content": content, "token": found.hashes[rows]}).unique())

    def counts(self) -> npt.NDArray[np.float64]:
        """By unit, the last place being that of no unit; rounded up by one token of the sample."""
        holdings = self._world.holdings
        held = np.repeat(np.arange(self._world.text_bytes.size), np.diff(holdings.of_content))
        sent = holdings.supplied < LATE
        senders = pl.LazyFrame({"content": held[sent], "unit": holdings.unit[sent].astype(np.int64)})
        found = (
            pl.concat(self._found)
            .lazy()
            .join(senders.unique(), on="content")
            .group_by("unit")
            .agg(pl.col("token").n_unique())
            .collect()
        )
        counts = np.ones(len(self._world.requests.unit_names) + 1)
        counts[found["unit"].to_numpy()] += found["token"].to_numpy()
        return counts * self._share


def _held(world: World, contents: Ints) -> tuple[Ints, Ints]:
    """(place in `contents`, unit that holds it) of each, up to one unit more than may hold a token.

    What is in a text that more units hold is dropped when its tokens are counted: an answer that thousands were given
    would be as many hits a token.
    """
    first = world.holdings.of_content[contents]
    sizes = np.minimum(world.holdings.of_content[contents + 1] - first, FEW + 1)
    places = np.repeat(np.arange(contents.size), sizes)
    within = np.arange(places.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return places, world.holdings.unit[first[places] + within]


def _taken(found: Names, rows: npt.NDArray[Any]) -> Names:
    return Names(found.hashes[rows], found.documents[rows], found.starts[rows], found.ends[rows], found.kinds[rows])


def _parts(seeds: npt.NDArray[np.int32]) -> Iterator[slice]:
    """Rows of ascending seeds in parts of about PART; those of one seed are in one part."""
    edges = list(range(PART, seeds.size, PART))
    ends = np.searchsorted(seeds, seeds[edges], side="right").tolist() if edges else []
    for low, high in pairwise([0, *sorted(set(ends) - {seeds.size}), seeds.size]):
        yield slice(low, high)


def _single(told: list[pl.DataFrame], shown: pl.DataFrame) -> pl.DataFrame:
    """Hits on tokens that one unit supplies, before or after, with how the response writes them."""
    return (
        pl.concat(told)
        .lazy()
        .filter(pl.col("holder").n_unique().over("use", "start", "end") == 1)
        .group_by("use", "content", "start", "end", "holder", "target", maintain_order=True)
        .agg(pl.col("other").last(), pl.col("other_start").last())
        .join(shown.lazy(), on=["content", "start", "end"], how="inner")
        .sort("use", "start", "end")
        .collect()
    )
