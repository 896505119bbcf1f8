"""Which requests did a worker have shortly before a response's end, and which terms do their prompts hold?

Says nothing about what a shared term is worth.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from forensics.attribution.corpus import Corpus
from forensics.attribution.generated import NEAR_US, NEAR_US_UNPLACED
from forensics.attribution.holdings import EARLY, Ints, World
from forensics.attribution.strange import OFTEN, prompt_rows
from forensics.text.keys import distinct
from forensics.text.term_search import Lookup, count_found, held_terms
from forensics.text.vocabulary import TermSets
from forensics.text.words import Keys

TOGETHER = 1 << 14  # requests whose texts are added up at once
NEIGHBOURS = 96  # requests before the end of a response that are looked at, the latest first


class Neighbours:
    """Requests on the same worker shortly before a request's end."""

    def __init__(self, world: World) -> None:
        requests = world.requests
        self._finished, self._worker = requests.finished, requests.worker.codes
        known = requests.worker.where(lambda _: True)
        self._reach = np.where(known, NEAR_US, NEAR_US_UNPLACED)
        rows = np.flatnonzero((requests.received > EARLY) & (requests.unit >= 0))
        self._rows = rows[np.lexsort((requests.received[rows], self._worker[rows]))]
        self._received = requests.received[self._rows]
        self._edges = np.searchsorted(self._worker[self._rows], np.arange(len(requests.worker.names) + 1))

    def of(self, request: int) -> Ints:
        """The latest first."""
        return self.of_many(np.array([request], dtype=np.int64))[0]

    def of_many(self, requests: Ints) -> tuple[Ints, Ints]:
        """Those of each request, one after the other, and where each begins."""
        near, offsets = _around(
            requests, self._finished[requests], self._reach[requests], self._worker[requests], self._rows,
            self._received, self._edges, NEIGHBOURS,
        )  # fmt: skip
        return near, offsets


@numba.njit(cache=True, nogil=True)
def _around(
    requests: Any, finished: Any, reach: Any, worker: Any, rows: Any, received: Any, edges: Any, most: int
) -> Any:
    near = np.empty(requests.size * (most + 1), dtype=np.int64)
    offsets = np.zeros(requests.size + 1, dtype=np.int64)
    n: Any = 0
    for i in range(requests.size):
        low, high = edges[worker[i]], edges[worker[i] + 1]
        last = low + np.searchsorted(received[low:high], finished[i])
        first = low + np.searchsorted(received[low:high], finished[i] - reach[i])
        for row in range(last - 1, max(first, last - most - 1) - 1, -1):
            if rows[row] != requests[i]:
                near[n] = rows[row]
                n += 1
        offsets[i + 1] = n
    return near[:n].copy(), offsets


@dataclass(frozen=True)
class Prompts:
    """Prompt texts by request: `content[offsets[r]:offsets[r + 1]]`; `often`: texts that too many requests hold."""

    content: Ints
    offsets: Ints
    often: npt.NDArray[np.bool_]

    def of(self, request: int) -> Ints:
        """The texts of one request."""
        return self.content[self.offsets[request] : self.offsets[request + 1]]


def prompts_of_case(world: World) -> Prompts:
    """The prompt texts of every request."""
    rows = prompt_rows(world)
    requests = world.uses.request[rows]
    order = np.argsort(requests, kind="stable")
    content = world.uses.content[rows]
    often = np.bincount(content, minlength=world.text_bytes.size) > OFTEN
    offsets = np.searchsorted(requests[order], np.arange(len(world.requests.request_id) + 1))
    return Prompts(content[order], offsets, often)


def nearest_first(
    world: World, asked: Iterable[tuple[Ints, Ints]], prompts: Prompts, budget: int
) -> tuple[npt.NDArray[np.bool_], int]:
    """Texts of the requests `asked` for, and how many requests are left; those first that are nearest to a response, by
    their places in its list, which stand beside them."""
    rank = np.full(len(world.requests.request_id), NEIGHBOURS + 1, dtype=np.int64)
    for around, places in asked:
        np.minimum.at(rank, around, places)
    requests = np.flatnonzero(rank <= NEIGHBOURS)
    requests = requests[np.argsort(rank[requests], kind="stable")]
    wanted = np.zeros(world.text_bytes.size, dtype=np.bool_)
    size = 0
    for first in range(0, requests.size, TOGETHER):
        part = requests[first : first + TOGETHER]
        counts = prompts.offsets[part + 1] - prompts.offsets[part]
        ends = np.cumsum(counts)
        contents = prompts.content[np.repeat(prompts.offsets[part] - ends + counts, counts) + np.arange(ends[-1])]
        owner = np.repeat(np.arange(part.size), counts)
        new = ~wanted[contents] & ~prompts.often[contents]
        contents, owner = contents[new], owner[new]
        _, once = np.unique(contents, return_index=True)  # where each stands first
        sizes = np.zeros(part.size, dtype=np.int64)
        np.add.at(sizes, owner[once], world.text_bytes[contents[once]])
        total = size + np.cumsum(sizes)
        over = np.flatnonzero(total > budget)
        if over.size:
            wanted[contents[owner < over[0]]] = True
            return wanted, int(requests.size - first - over[0])
        wanted[contents] = True
        size = int(total[-1])
    return wanted, 0


@dataclass(frozen=True)
class Held:
    """Which of the asked terms stand in which text: `found[lows[c]:highs[c]]`, indexes into `keys`."""

    keys: Keys
    found: npt.NDArray[np.int32]
    lows: Ints
    highs: Ints
    column: npt.NDArray[np.int32]  # room for `held_terms`

    def by_request(self, prompts: Prompts, requests: Ints, terms: Keys) -> npt.NDArray[np.bool_]:
        """[request, term]: does the prompt hold the term?"""
        if self.keys.size == 0 or terms.size == 0:
            return np.zeros((requests.size, terms.size), dtype=np.bool_)
        wanted = np.searchsorted(self.keys, terms).astype(np.int64)
        return held_terms(
            requests, prompts.content, prompts.offsets, self.found, self.lows, self.highs, wanted, self.column
        )

    def in_texts(self, contents: Ints, terms: Keys) -> npt.NDArray[np.bool_]:
        """By term: does any of the texts hold it?"""
        here = np.zeros(self.keys.size, dtype=np.bool_)
        for content in np.unique(contents).tolist():
            here[self.found[self.lows[content] : self.highs[content]]] = True
        return here[np.searchsorted(self.keys, terms)] if terms.size else np.zeros(0, dtype=np.bool_)

    def texts(self) -> Ints:
        """By key: how many of the texts hold it."""
        return count_found(self.found, self.lows, self.highs, int(self.keys.size))


class Reader:
    """Looks for terms in texts. Several questions about the same terms read a text once, when one first needs it."""

    def __init__(self, corpus: Corpus, sets: list[Keys]) -> None:
        texts = corpus.world.text_bytes.size
        self._corpus = corpus
        self.keys = distinct(np.concatenate([np.zeros(0, dtype=np.uint64), *sets]))
        self._lookup = Lookup(TermSets(self.keys, np.array([0, self.keys.size], dtype=np.int64)))
        self._read = np.zeros(texts, dtype=np.bool_)
        self._found = np.zeros(0, dtype=np.int32)
        self._lows, self._highs = np.zeros(texts, dtype=np.int64), np.zeros(texts, dtype=np.int64)
        self._column = np.full(self.keys.size, -1, dtype=np.int32)

    def held(self, wanted: npt.NDArray[np.bool_]) -> Held:
        """Which of the terms stand in each of the wanted texts (by content)? Other texts hold none."""
        new = wanted & ~self._read
        if self.keys.size and new.any():
            parts, size = [self._found], self._found.size
            for keys, documents, places in self._corpus.over(
                new, lambda batch: (batch[0], *self._lookup.places(batch[1], batch[2]))
            ):
                ends = size + np.searchsorted(documents, np.arange(keys.size + 1))
                self._lows[keys], self._highs[keys] = ends[:-1], ends[1:]
                parts.append(places)
                size += places.size
            self._found = np.concatenate(parts)
            self._read |= new
        lows, highs = np.where(wanted, self._lows, 0), np.where(wanted, self._highs, 0)
        return Held(self.keys, self._found, lows, highs, self._column)


def look_up(corpus: Corpus, wanted: npt.NDArray[np.bool_], sets: list[Keys]) -> Held:
    """Which terms of any of the sets stand in each of the wanted texts (by content)?"""
    return Reader(corpus, sets).held(wanted)
