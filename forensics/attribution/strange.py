"""Which responses have nothing to do with their own prompt?

An answer speaks of what it was asked: it takes up rare words of its prompt. Each response's rare terms (at most MOST,
of few tenants' responses) are looked for in the texts of its own prompt, and a response is *akin* to it as soon as
enough are found, so that little of most prompts is read. What is left are short answers, refusals, talk, answers in
another language, and answers to somebody else's question; which of these it is, `swapped` asks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from forensics.attribution.corpus import Corpus, TextBatch
from forensics.attribution.holdings import Ints, World
from forensics.text.term_search import Lookup
from forensics.text.vocabulary import Spread, TermSets, distinct_terms

MOST = 128  # terms of a response that are looked for
MARKS = 24  # terms of a response that stand for its language
COMMON_SHARE = 0.2  # a term in the responses of more of the tenants that write the language says nothing of the subject
AKIN = 2  # terms that must stand in the own prompt,
AKIN_SHARE = 0.08  # and share of them, for a response to be akin to it;
FEW = 6  # one is enough where a response has fewer than this
OFTEN = 64  # a text that stands in more prompts than this (a system prompt) is no question


class Vocabulary:
    """The distinct terms of every response of a known tenant, and who uses them. `uses`: rows of World.uses."""

    def __init__(self, corpus: Corpus) -> None:
        world = corpus.world
        sides = (world.uses.side == 1) & (world.requests.unit[world.uses.request] >= 0)
        self.uses = np.flatnonzero(sides)
        contents = np.unique(world.uses.content[self.uses])
        wanted = np.zeros(world.text_bytes.size, dtype=np.bool_)
        wanted[contents] = True
        found = list(corpus.over(wanted, lambda batch: distinct_terms(batch[1], batch[2])))
        keys = np.concatenate([np.zeros(0, dtype=np.uint64), *(part.keys for part in found)])
        sizes = np.concatenate([np.zeros(1, dtype=np.int64), *(np.diff(part.offsets) for part in found)])
        self._terms = TermSets(keys, np.cumsum(sizes))
        self._documents = np.searchsorted(contents, world.uses.content[self.uses]).astype(np.int64)
        self._unit = world.requests.unit[world.uses.request[self.uses]]
        self._spread = Spread()
        self._spread.add(self._terms, self._documents, self._unit)

    def rare(self, numbers: Ints, share: float) -> tuple[TermSets, npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Terms of the given responses that at most `share` of the tenants use, and more (see `Spread.rarest`)."""
        return self._spread.rarest(self._terms, self._documents[numbers], self._unit[numbers], share, MOST)

    def marks(self, numbers: Ints) -> TermSets:
        """Terms of the given responses that show their language."""
        return self._spread.commonest(self._terms, self._documents[numbers], self._unit[numbers], MARKS)


@dataclass(frozen=True)
class Strange:
    """What was found of the responses of `vocabulary`, in its order, and of their requests."""

    vocabulary: Vocabulary
    akin: npt.NDArray[np.bool_]
    beside: npt.NDArray[np.bool_]  # some part of the same choice (its reasoning, its tool calls) is akin to the prompt
    answered: npt.NDArray[np.bool_]  # by request: each of its choices is akin to its prompt


def find_strange(corpus: Corpus) -> Strange:
    """Look at every response of a known tenant."""
    world = corpus.world
    vocabulary = Vocabulary(corpus)
    rows = vocabulary.uses
    terms, _, _ = vocabulary.rare(np.arange(rows.size), COMMON_SHARE)
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
    beside, answered = _by_choice(world, rows, akin)
    return Strange(vocabulary, akin, beside, answered)


def _by_choice(
    world: World, rows: Ints, akin: npt.NDArray[np.bool_]
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """For each response: is its choice akin? For each request: are all of its choices? Choices are answers apart."""
    numbers: dict[str, int] = {}
    by_field = [numbers.setdefault(str(field).split(".")[0], len(numbers)) for field in world.uses.field.names]
    choice = np.array([*by_field, 0], dtype=np.int64)[world.uses.field.codes[rows]]
    _, group = np.unique(world.uses.request[rows] * (len(numbers) + 1) + choice, return_inverse=True)
    of_group = np.zeros(int(group.max(initial=-1)) + 1, dtype=np.bool_)
    np.logical_or.at(of_group, group, akin)
    beside = of_group[group]
    requests = len(world.requests.request_id)
    seen, strange = np.zeros(requests, dtype=np.bool_), np.zeros(requests, dtype=np.bool_)
    seen[world.uses.request[rows]] = True
    strange[world.uses.request[rows[~beside]]] = True
    return beside, seen & ~strange


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
    return np.flatnonzero((world.uses.side == 0) & ~world.uses.field.where(lambda name: name.startswith("tools[")))
