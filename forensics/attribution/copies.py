"""Which answers are nearly the same text as an answer of another tenant, and whose prompt does that text fit?

Runs find copies that are long and exact. Whole answers also come altered, cut short, or are short themselves. Pairs are
proposed by MinHash-LSH (datasketch) over winnowed fingerprints that two to MOST_HOLDERS answers hold: what one answer
alone holds says nothing of a pair, so that a copy that was cut in half is as near to its original as a whole one, and
no bucket grows with the log. Short answers have few fingerprints of the usual size; theirs are finer. Proposed pairs
are aligned word by word.

A pair names the tenant whose prompt the text fits by many bits more than the recipient's own (`likely`, `aligned`).
Equal answers to equal questions differ by nothing there; an answer from a cache that carries another customer's
particulars does, for they stand in that customer's prompt alone.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from forensics.attribution.corpus import Corpus, TextBatch
from forensics.attribution.generated import near_in_time
from forensics.attribution.holdings import LATE, Ints, World
from forensics.attribution.seeds import Seeds
from forensics.attribution.texts import Texts
from forensics.text.fingerprint import fine_fingerprints

MOST_HOLDERS = 12  # answers that may hold a fingerprint for it to say anything (reference: seeds with more are dropped)
SHORT_BYTES = 400  # answers of fewer bytes are compared by finer fingerprints
PERMUTATIONS = 32
BANDS = (16, 2)  # pairs with a Jaccard of 0.5 are proposed with a chance of 0.99, of 0.2 with 0.48
FEWEST = 2  # fingerprints that an answer must share with others to be sketched
COVER = 0.8  # share of the recipient's words that stand in the other answer in the same order; two answers to one sum
# share up to three quarters
MOST_UNITS = 4  # tenants that may have an answer; what more of them were given is a phrase of the model
SKETCH_SEED = 1


@dataclass(frozen=True)
class Copy:
    """A response that is nearly another's: rows of World.uses, the share of its words that the other holds in order."""

    use: int
    other_use: int
    cover: float
    near: bool  # on the same worker not long before, or in the last minutes where workers are not known


def propose(corpus: Corpus, seeds: Seeds) -> set[tuple[int, int]]:
    """Pairs of response texts (content keys, the smaller first) that may be nearly the same; a text held twice too."""
    world = corpus.world
    pairs = _sketched(*_of_seeds(seeds))
    short = world.is_response & (world.text_bytes < SHORT_BYTES)

    def fine(batch: TextBatch) -> tuple[Ints, Ints]:
        keys, buffer, offsets = batch
        documents, hashes = fine_fingerprints(buffer, offsets)
        return keys[documents], hashes

    parts = list(corpus.over(short, fine))
    if parts:
        contents, hashes = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
        _, tokens = np.unique(hashes, return_inverse=True)
        pairs |= _sketched(*_shared(contents, tokens.astype(np.int64)))
    uses = world.uses
    answers = np.flatnonzero((uses.side == 1) & (world.requests.unit[uses.request] >= 0))
    held = np.unique(np.stack([uses.content[answers], world.requests.unit[uses.request[answers]]]), axis=1)[0]
    contents, counts = np.unique(held, return_counts=True)
    pairs |= {(content, content) for content in contents[(counts > 1) & (counts <= MOST_UNITS)].tolist()}
    return pairs


def _of_seeds(seeds: Seeds) -> tuple[Ints, Ints]:
    """The same over the seeds of runs. Part by part, since most seeds are held by too few or too many."""
    parts = [(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))]
    first = 0
    for contents, hashes in seeds.of_responses():
        _, tokens = np.unique(hashes, return_inverse=True)
        kept, shared = _shared(contents, tokens.astype(np.int64))
        parts.append((kept, shared + first))
        first += tokens.max(initial=-1) + 1
    content, token = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    order = np.lexsort((token, content))
    return content[order], token[order]


def _shared(contents: npt.NDArray[Any], tokens: Ints) -> tuple[Ints, Ints]:
    """(content, token), sorted and once each, of the tokens that two to MOST_HOLDERS contents hold."""
    if tokens.size == 0:
        return np.zeros(0, dtype=np.int64), tokens
    span = int(tokens.max()) + 1
    both = np.unique(contents.astype(np.int64) * span + tokens)
    content, token = both // span, both % span
    holders = np.bincount(token, minlength=span)
    kept = (holders[token] > 1) & (holders[token] <= MOST_HOLDERS)
    return content[kept], token[kept]


def _sketched(contents: Ints, tokens: Ints) -> set[tuple[int, int]]:
    """Pairs that fall into one bucket. Linear: a bucket holds the answers of one least token or pair of them."""
    from datasketch import MinHash, MinHashLSH

    keys, starts = np.unique(contents, return_index=True)
    ends = np.append(starts[1:], contents.size)
    enough = np.flatnonzero(ends - starts >= FEWEST)
    index = MinHashLSH(num_perm=PERMUTATIONS, params=BANDS)
    sketches = MinHash.generator(
        (tokens[starts[i] : ends[i]].tolist() for i in enough.tolist()),
        num_perm=PERMUTATIONS, seed=SKETCH_SEED, hashfunc=int, scheme="affine32",
    )  # fmt: skip
    pairs: set[tuple[int, int]] = set()
    for place, sketch in zip(enough.tolist(), sketches, strict=True):
        key = int(keys[place])
        pairs.update((int(other), key) for other in index.query(sketch))
        index.insert(key, sketch, check_duplication=False)
    return pairs


def find_copies(world: World, texts: Texts, proposed: set[tuple[int, int]]) -> list[Copy]:
    """Of the pairs, responses that are nearly another tenant's response that had been begun before they ended."""
    partners: dict[int, set[int]] = defaultdict(set)
    for first, second in proposed:
        partners[first].add(second)
        partners[second].add(first)
    by_content = {content: _answers(world, content) for content in partners}
    unit = world.requests.unit[world.uses.request]
    found: list[Copy] = []
    wanted: list[tuple[int, int]] = []
    for content in sorted(partners):
        group = partners[content] | {content}
        crowd = len({int(unit[use]) for one in group for use in by_content.get(one, ())})
        # Answers of one form are many; that two are the same in every word says something all the same.
        wanted += [(content, other) for other in sorted(partners[content]) if crowd <= MOST_UNITS or other == content]
    for batch in texts.batches([{a, b} for a, b in wanted]):
        for content, other in wanted[batch.start : batch.stop]:
            cover = 1.0 if content == other else _cover(texts, content, other)
            if cover < COVER:
                continue
            for use in by_content[content]:
                for source in by_content[other]:
                    if unit[use] != unit[source] and _possible(world, use, source):
                        found.append(Copy(use, source, cover, _near(world, use, source)))
    return found


def _answers(world: World, content: int) -> list[int]:
    """Uses of a text as a response of a known tenant."""
    uses = world.uses
    rows = range(int(uses.of_content[content]), int(uses.of_content[content + 1]))
    return [row for row in rows if uses.side[row] == 1 and world.requests.unit[uses.request[row]] >= 0]


def _possible(world: World, use: int, source: int) -> bool:
    """Was the source's answer begun before the recipient's ended, and before its tenant had the text itself?"""
    requests, holdings, uses = world.requests, world.holdings, world.uses
    began = int(requests.received[uses.request[source]])
    stop = int(requests.finished[uses.request[use]])
    mine = int(requests.unit[uses.request[use]])
    had = LATE
    for content in {int(uses.content[use]), int(uses.content[source])}:
        for row in range(int(holdings.of_content[content]), int(holdings.of_content[content + 1])):
            if int(holdings.unit[row]) == mine:
                had = min(had, int(holdings.supplied[row]), int(holdings.finished[row]))
    return began < stop and (began < had)


def _near(world: World, use: int, source: int) -> bool:
    requests, uses = world.requests, world.uses
    a, b = int(uses.request[use]), int(uses.request[source])
    same = (
        None if requests.worker[a] is None or requests.worker[b] is None else requests.worker[a] == requests.worker[b]
    )
    return near_in_time(int(requests.finished[a] - requests.received[b]), same)


def _cover(texts: Texts, content: int, other: int) -> float:
    """Share of the words of `content` that stand in `other` in the same order."""
    from rapidfuzz.distance import LCSseq

    here, there = texts.words(content).hashes.tolist(), texts.words(other).hashes.tolist()
    if not here or min(len(here), len(there)) < COVER * len(here):
        return 0.0
    return LCSseq.similarity(here, there) / len(here)
