"""Which responses have nothing to do with their own prompt?

An answer speaks of what it was asked: it takes up rare words of its prompt. Each response's rare terms (at most MOST of
them, of few tenants' responses) are looked for in the texts of its own prompt, and a response is *akin* to it as soon as
enough are found, so that little of most prompts is read. What is left are short answers, refusals, talk, answers in another
language, and answers to somebody else's question; which of these it is, `swapped` asks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from forensics.attribution.corpus import Corpus, TextBatch
from forensics.attribution.holdings import Ints, World
from forensics.text.vocabulary import Lookup, Spread, TermSets, distinct_terms

MOST = 128  # terms of a response that are looked for
COMMON_SHARE = 0.2  # a term in the responses of more than this share of the tenants, or of more than COMMON of them,
COMMON = 16  # says nothing about what a response is about
AKIN = 2  # terms that must stand in the own prompt,
AKIN_SHARE = 0.08  # and share of them, for a response to be akin to it;
FEW = 6  # one is enough where a response has fewer than this
OFTEN = 64  # a text that stands in more prompts than this (a system prompt) is no question


@dataclass(frozen=True)
class Strange:
    """Parallel to `uses` (rows of World.uses on the response side): its terms, how many stand in the own prompt."""

    uses: Ints
    terms: TermSets
    own: npt.NDArray[np.uint8]  # by term: stands in the own prompt (not complete for akin responses)
    akin: npt.NDArray[np.bool_]
    answered: npt.NDArray[np.bool_]  # by request: one of its responses is akin to its prompt


def find_strange(corpus: Corpus) -> Strange:
    """Look at every response of a known tenant."""
    world = corpus.world
    uses = world.uses
    rows = np.flatnonzero((uses.side == 1) & (world.requests.unit[uses.request] >= 0))
    terms = _rare_terms(corpus, rows)
    lookup = Lookup(terms)
    size = np.diff(terms.offsets)
    enough = np.maximum(np.where(size < FEW, np.minimum(size, 1), AKIN), np.ceil(AKIN_SHARE * size)).astype(np.int64)
    contents, numbers = _prompts_of(world, rows)
    of_content = np.searchsorted(contents, np.arange(world.text_bytes.size + 1))
    linked = np.diff(of_content)

    def work(batch: TextBatch) -> None:
        keys, buffer, offsets = batch
        counts = linked[keys]
        documents = np.repeat(np.arange(keys.size), counts)
        within = np.arange(documents.size) - np.repeat(np.cumsum(counts) - counts, counts)
        lookup.mark(buffer, offsets, documents, numbers[of_content[keys][documents] + within], enough)

    for _ in corpus.over(linked > 0, work):
        pass
    akin = (size > 0) & (lookup.flagged() >= enough)
    answered = np.zeros(len(world.requests.request_id), dtype=np.bool_)
    answered[uses.request[rows[akin]]] = True
    return Strange(rows, terms, lookup.flags, akin, answered)


def _rare_terms(corpus: Corpus, rows: Ints) -> TermSets:
    """The rarest terms of each response use."""
    world = corpus.world
    contents = np.unique(world.uses.content[rows])
    wanted = np.zeros(world.text_bytes.size, dtype=np.bool_)
    wanted[contents] = True
    unit = world.requests.unit[world.uses.request[rows]]
    units = len(world.requests.unit_names)
    found = list(corpus.over(wanted, lambda batch: distinct_terms(batch[1], batch[2])))
    keys = np.concatenate([np.zeros(0, dtype=np.uint64), *(part.keys for part in found)])
    sizes = np.concatenate([np.zeros(0, dtype=np.int64), *(np.diff(part.offsets) for part in found)])
    del found
    every = TermSets(keys, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))
    documents = np.searchsorted(contents, world.uses.content[rows]).astype(np.int64)
    spread = Spread()
    spread.add(every, documents, unit)
    limit = int(max(2, min(COMMON, COMMON_SHARE * units)))
    return spread.rarest(every, documents, limit, MOST)


def _prompts_of(world: World, rows: Ints) -> tuple[Ints, Ints]:
    """(prompt text, number of the response use) of all pairs in one request, sorted by text; without common texts."""
    uses = world.uses
    order = np.argsort(uses.request[rows], kind="stable")
    requests = uses.request[rows][order]
    prompts = prompt_rows(world)
    low = np.searchsorted(requests, uses.request[prompts], side="left")
    counts = np.searchsorted(requests, uses.request[prompts], side="right") - low
    counts[np.bincount(uses.content[prompts], minlength=world.text_bytes.size)[uses.content[prompts]] > OFTEN] = 0
    within = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.repeat(uses.content[prompts], counts), order[np.repeat(low, counts) + within]


def prompt_rows(world: World) -> Ints:
    """Uses on the prompt side, without tool schemas, which ask nothing; sorted by content."""
    schema = np.fromiter((field.startswith("tools[") for field in world.uses.field), np.bool_, len(world.uses.field))
    return np.flatnonzero((world.uses.side == 0) & ~schema)
