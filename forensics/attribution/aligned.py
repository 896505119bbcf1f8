"""Do the answers of neighbouring requests, taken together, stand one place (or more) beside their prompts?

One short answer under the wrong prompt proves little: few of its words are rare. Several in a row, all of which fit
the prompt the same number of places before, prove much, and so does a pair of answers that fit each other's prompts.
Two tests over the same pair weights (`likely`'s likelihood ratios, against the response's own prompt):

* **rows**: along a worker, in order of arrival and in order of the end, the weights at one offset are summed over runs
  of requests. Null: no shift; then the weights are log-likelihood ratios of noise, and a run of sum S at any of N
  places is met by chance with probability N 2^-S at most (as for local alignments; Karlin and Altschul 1990).
* **links**: each answer points to the prompt nearby that it fits best; pointers that form a pair, a ring or a path
  add up, each less the choice it had.

Finds the rows and links and what they are worth. What is reported of them, `chains` says.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from forensics.attribution import chances
from forensics.attribution.candidates import Candidate
from forensics.attribution.corpus import Corpus
from forensics.attribution.fits import Many, all_gains, asked_around, blocks, in_one
from forensics.attribution.holdings import Ints, World
from forensics.attribution.likely import BYTES_A_WORD, NOTHING, Suspect
from forensics.attribution.nearby import Held, Prompts, Reader, nearest_first
from forensics.attribution.strength import measure
from forensics.attribution.texts import Texts
from forensics.text.scripts import DIGIT, NAMES

REACH = 24  # requests before the end of a response whose prompts are compared
RATES = np.array((0.03, 0.1, 0.25, 0.5))  # shares of an answer's terms that its prompt holds; few of a long answer's
OFFSETS = (1, -1, 2, -2, 3, -3, 4, -4)  # places by which a row of answers may be shifted
SAME_SCRIPT = 0.97  # share of answers whose script stands in their prompt
FEW_UNITS = 3  # of a script, for a prompt to be written in it, too
LATIN, KANA = NAMES.index("latin"), NAMES.index("kana")
MARKED = 0.3  # share of the commonest words of a language that a prompt in it holds
UNREAD = -20.0  # weight of a prompt if the own one was not read
ANSWERED = -10.0  # weight of a response that is akin to its own prompt, in a row of shifted ones
SILENT = -0.5  # weight of a response that says nothing, or is missing
FEW_TEXTS = 2000  # prompts below which a count says little
MOST_UNCLEAR = 16  # requests beyond the ends of a row that are counted as unclear
DROP = 16.0  # loss after which a row is taken to have ended
LINK_BITS = 3.0  # for a pointer, and by which it must lead the next tenant's prompt

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Reading:
    """What was read for the weights: which terms stand in which text."""

    held: Held
    prompts: Prompts


@dataclass(frozen=True, slots=True)
class Weighed:
    """A response with the bits of each prompt nearby over its own (`gain`). Without `suspect`: by a copied passage."""

    request: int
    use: int
    near: Ints
    gain: Floats  # by near request
    suspect: Suspect | None = None
    reading: Reading | None = None

    def held(self) -> npt.NDArray[np.bool_]:
        """[near request, the own one last; term of the suspect]: does the prompt hold it?"""
        assert self.suspect is not None and self.reading is not None
        every = np.append(self.near, self.request)
        return self.reading.held.by_request(self.reading.prompts, every, self.suspect.terms)


@dataclass(frozen=True)
class Row:
    """Requests of one worker, each with the request whose answer it got; `bits` of all together, `charge` paid."""

    recipients: list[int]
    sources: list[int]
    bits: float
    charge: float
    form: str  # shifted | swapped | rotated | path
    offset: int = 0
    before: int = 0  # requests before the first and after the last of which it cannot be told
    after: int = 0
    skipped: tuple[tuple[int, int], ...] = ()  # recipients inside that are akin to their prompt, and their sources
    doubtful: tuple[int, ...] = ()  # the first of those at either end: recipients, with the same offset
    doubtful_sources: tuple[int, ...] = ()


class Languages:
    """Bits for a response and a prompt to share a script, or not. `scripts`: units by text and script."""

    def __init__(self, world: World, prompts: Prompts, scripts: npt.NDArray[np.int32]) -> None:
        self._scripts = scripts.copy()
        self._scripts[self._scripts.sum(axis=1) == 0, LATIN] = FEW_UNITS  # texts of ASCII alone are not counted
        self._content = world.uses.content
        requests = len(world.requests.request_id)
        self._has = np.zeros((requests, len(NAMES)), dtype=np.bool_)
        asked = np.repeat(np.arange(requests), np.diff(prompts.offsets))
        usual = ~prompts.often[prompts.content]
        for script in range(len(NAMES)):
            found = usual & (self._scripts[prompts.content, script] >= FEW_UNITS)
            self._has[asked[found], script] = True
        self._share = (
            np.clip(self._has.mean(axis=0), 1.0 - SAME_SCRIPT, SAME_SCRIPT) if requests else np.ones(len(NAMES))
        )

    def bits(self, uses: Ints, requests: Ints, of: Ints) -> Floats:
        """For the prompts `requests[of[i]:of[i + 1]]` of each response use."""
        counts = self._scripts[self._content[uses]].copy()
        counts[:, DIGIT] = 0
        kana = counts[:, KANA]
        main = np.where((kana * 10 >= counts.sum(axis=1)) & (kana > 0), KANA, counts.argmax(axis=1))
        share = self._share[main]
        same, other = np.log2(SAME_SCRIPT / share), np.log2((1.0 - SAME_SCRIPT) / (1.0 - share))
        each = np.repeat(np.arange(uses.size), np.diff(of))
        return np.where(self._has[requests, main[each]], same[each], other[each])


def weigh_pairs(
    corpus: Corpus, kept: Texts, suspects: list[Suspect], prompts: Prompts, scripts: npt.NDArray[np.int32],
    budget: int, read: Reader,
) -> list[Weighed]:  # fmt: skip
    """Pair weights of the suspects, in their order. `scripts`: units by text and script;
    `budget`: bytes of prompts that are read, the nearest first; `read` looks for their terms and marks (at least)."""
    world = corpus.world
    if not suspects:
        return []
    wanted, _ = nearest_first(world, _own_first(suspects), prompts, budget)
    held = read.held(wanted & ~prompts.often)
    texts = int((wanted & ~prompts.often).sum())
    counts = held.texts()
    length = np.zeros(len(world.requests.request_id))
    np.add.at(length, np.repeat(np.arange(length.size), np.diff(prompts.offsets)), world.text_bytes[prompts.content])
    languages = Languages(world, prompts, scripts)
    # Over the budget: nothing can be said.
    missing = np.concatenate([[0], np.cumsum(~(wanted | prompts.often)[prompts.content])])[prompts.offsets]
    unread = np.diff(missing) > 0
    found, reading = [], Reading(held, prompts)
    for block in blocks(suspects):
        many = Many.over(block, held.keys)
        priors, _ = in_one(_priors(corpus, kept, block, length, texts < FEW_TEXTS))
        uses = np.array([suspect.use for suspect in block], dtype=np.int64)
        unit, words = world.requests.unit[many.requests].astype(np.int64), length[many.requests] / BYTES_A_WORD
        having, speak = counts[many.terms].astype(np.float64), _speaking(block, held, counts, texts)
        language = languages.bits(uses, many.requests, many.of)
        threads = corpus.case.resources.threads
        gain = all_gains(many, held, prompts, unit, words, having, speak, priors, language, RATES, threads)
        for place, suspect in enumerate(block):
            mine = gain[int(many.of[place]) - place : int(many.of[place + 1]) - place - 1]
            weights = np.full(suspect.near.size, UNREAD) if unread[suspect.request] else mine
            found.append(Weighed(suspect.request, suspect.use, suspect.near, weights, suspect, reading))
    return found


def _own_first(suspects: list[Suspect]) -> Iterator[tuple[Ints, Ints]]:
    """The requests around the suspects, and their places: the own prompts are read before all others."""
    for block in blocks(suspects):
        requests, places, of = asked_around(block)
        places += 1
        places[of[1:] - 1] = 0
        yield requests, places


def _speaking(suspects: list[Suspect], held: Held, counts: Ints, texts: int) -> Floats:
    """Prompts in the language of each response: as many as hold its commonest words. `counts`: texts by key."""
    marks, of = in_one([suspect.marks for suspect in suspects])
    sums = np.concatenate([[0.0], np.cumsum(counts[np.searchsorted(held.keys, marks)], dtype=np.float64)])
    shown = np.diff(of)
    mean = np.diff(sums[of]) / np.maximum(1, shown)
    return np.where(shown > 0, np.minimum(float(texts), mean / MARKED), float(texts))


def _priors(corpus: Corpus, texts: Texts, suspects: list[Suspect], length: Floats, few: bool) -> list[Floats]:
    """Chance of each term before prompts are counted: half of one in PRIOR prompts; in a small case, where counts say
    little, by the character model, which has read more."""
    found = [np.full(suspect.terms.size, 0.5 / chances.PRIOR) for suspect in suspects]
    if not few:
        return found
    content = corpus.world.uses.content
    for batch in texts.batches([{int(content[suspect.use])} for suspect in suspects]):
        for place in batch:
            suspect = suspects[place]
            key = int(content[suspect.use])
            size = texts.units(key).size
            whole = Candidate(suspect.use, suspect.request, key, 0, size, "target", False, (), frozenset())
            strength = measure(whole, texts, NOTHING, -1)
            terms, first = np.unique(strength.terms, return_index=True)
            at = np.minimum(np.searchsorted(terms, suspect.terms), max(0, terms.size - 1))
            if terms.size and suspect.terms.size:
                typical = max(1.0, float(length[suspect.near].mean()) / BYTES_A_WORD) if suspect.near.size else 1.0
                by_model = typical * np.exp2(-strength.all_term_bits[first][at])
                found[place] = np.minimum(found[place], np.where(terms[at] == suspect.terms, by_model, 1.0))
    return found


def lanes(world: World, by: Ints) -> list[Ints]:
    """Requests of each worker in the order of `by`."""
    names = sorted({name or "" for name in world.requests.worker})
    codes = {name: code for code, name in enumerate(names)}
    worker = np.array([codes[name or ""] for name in world.requests.worker], dtype=np.int64)
    order = np.lexsort((np.arange(by.size), by, worker))
    edges = np.searchsorted(worker[order], np.arange(len(names) + 1))
    return [order[edges[code] : edges[code + 1]] for code in range(len(names))]


def rows_of(world: World, weighed: dict[int, Weighed], akin: npt.NDArray[np.bool_], least: float) -> list[Row]:
    """Rows of shifted answers that are worth `least` bits and more over the charge, best first, none twice."""
    found: list[Row] = []
    charge = math.log2(max(1, len(weighed)) * len(OFFSETS) * 2)
    gains = Gains(weighed, len(world.requests.request_id))
    for by in (world.requests.received, world.requests.finished):
        for lane in lanes(world, by):
            for offset in OFFSETS:
                scores = _scores(lane, offset, gains, akin)
                for start, end, bits in chances.segments(scores, charge + least, DROP).tolist():
                    found.append(_row(world, lane, scores, int(start), int(end), float(bits), charge, offset))
    found = [row for row in found if len(row.recipients) > 1]
    found.sort(key=lambda row: (-row.bits, row.recipients[0], row.offset))
    kept: list[Row] = []
    taken: set[int] = set()
    for row in found:
        if not taken & set(row.recipients):
            kept.append(row)
            taken.update(row.recipients)
    return kept


class Gains:
    """The weight of any of some responses under any prompt that it was weighed with."""

    def __init__(self, weighed: dict[int, Weighed], requests: int) -> None:
        self._requests = requests
        self._weighed = np.zeros(requests, dtype=np.bool_)
        self._weighed[list(weighed)] = True
        none = np.zeros(0, dtype=np.int64)
        pairs = np.concatenate([none, *(request * requests + one.near for request, one in weighed.items())])
        gains = np.concatenate([np.zeros(0), *(one.gain for one in weighed.values())])
        order = np.argsort(pairs, kind="stable")
        self._pairs, self._gains = pairs[order], gains[order]

    def known(self, requests: Ints) -> npt.NDArray[np.bool_]:
        """By request: was its response weighed?"""
        return np.asarray(self._weighed[requests])

    def of(self, recipients: Ints, sources: Ints) -> Floats:
        """By pair: the weight; ANSWERED where the response was not weighed with that prompt."""
        pairs = recipients * self._requests + sources
        at = np.minimum(np.searchsorted(self._pairs, pairs), max(0, self._pairs.size - 1))
        if self._pairs.size == 0:
            return np.full(pairs.size, ANSWERED)
        return np.where(self._pairs[at] == pairs, self._gains[at], ANSWERED)


def _scores(lane: Ints, offset: int, gains: Gains, akin: npt.NDArray[np.bool_]) -> Floats:
    """The weight of each place of a lane if its answer is that of the request `offset` places before."""
    scores = np.where(akin[lane], ANSWERED, SILENT)
    places = np.arange(max(0, offset), max(0, lane.size + min(0, offset)))
    places = places[gains.known(lane[places])]
    found = gains.of(lane[places], lane[places - offset])
    scores[places] = np.where(akin[lane[places]], np.minimum(found, ANSWERED), found)
    edge = slice(0, offset) if offset > 0 else slice(lane.size + offset, lane.size)
    scores[edge] = -math.inf
    return scores


def _row(
    world: World, lane: Ints, scores: Floats, start: int, end: int, bits: float, charge: float, offset: int
) -> Row:
    """The row between two places, and how many silent requests border on it."""
    unclear = (scores > ANSWERED) & (scores > -LINK_BITS)
    before = after = 0
    while start - before - 1 >= 0 and unclear[start - before - 1] and before < MOST_UNCLEAR:
        before += 1
    while end + after < scores.size and unclear[end + after] and after < MOST_UNCLEAR:
        after += 1
    places = [place for place in range(start, end) if scores[place] > ANSWERED]
    edges = [start - 1] * (before > 0) + [end] * (after > 0)
    return Row(
        [int(lane[place]) for place in places],
        [int(lane[place - offset]) for place in places],
        bits, charge, "shifted", offset, before, after,
        tuple((int(lane[at]), int(lane[at - offset])) for at in range(start, end) if scores[at] <= ANSWERED),
        tuple(int(lane[place]) for place in edges),
        tuple(int(lane[place - offset]) for place in edges),
    )  # fmt: skip


def links_of(world: World, weighed: dict[int, Weighed], open_: npt.NDArray[np.bool_], least: float) -> list[Row]:
    """Pairs, rings and paths of answers that point to each other's prompts, worth `least` bits over their charge."""
    unit = world.requests.unit
    pointer: dict[int, tuple[int, float, float]] = {}
    for request, one in weighed.items():
        near = one.near
        if near.size == 0:
            continue
        place = int(np.argmax(np.where(open_[near], one.gain, -math.inf)))
        best = float(one.gain[place])
        if best < LINK_BITS or not open_[near[place]]:
            continue
        rivals = one.gain[(unit[near] != unit[near[place]])]
        if rivals.size and float(rivals.max()) > best - LINK_BITS:
            continue
        pointer[request] = (int(near[place]), best, math.log2(near.size))
    for request, (owner, best, choice) in sorted(pointer.items()):
        if best < choice + LINK_BITS and pointer.get(owner, (-1,))[0] != request:
            del pointer[request]  # too weak to stand in a path on its own: only the other half of a pair bears it out
    chosen: dict[int, int] = {}  # owner -> recipient: an answer goes to one place
    for request in sorted(pointer, key=lambda r: (-pointer[r][1], r)):
        owner = pointer[request][0]
        if owner not in chosen:
            chosen[owner] = request
    start = math.log2(max(2, len(weighed)))
    found: list[Row] = []
    done: set[int] = set()
    follows = {request: owner for owner, request in chosen.items()}  # recipient -> owner
    for first in sorted(follows):
        if first in done:
            continue
        head = first
        while head in chosen and chosen[head] in follows and chosen[head] != first:
            head = chosen[head]
        ring = head in chosen and chosen[head] == first and head != first
        recipients = []
        at = head
        while at in follows and at not in done:
            done.add(at)
            recipients.append(at)
            at = follows[at]
        ring = ring or (bool(recipients) and at == head)
        sources = [follows[request] for request in recipients]
        bits = sum(pointer[request][1] for request in recipients)
        # The last link of a ring had no choice left: that the ring closes is what pays for it.
        choices = sum(pointer[request][2] for request in recipients[: len(recipients) - 1 if ring else None])
        if len(recipients) > 1 and bits - start - choices >= least:
            form = ("swapped" if len(recipients) == 2 else "rotated") if ring else "path"
            found.append(Row(recipients[::-1], sources[::-1], bits, start + choices, form))
    return found
