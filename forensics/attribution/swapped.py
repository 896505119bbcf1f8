"""Whose question does a response answer that has nothing to do with its own and stands in no other place?

When answers are swapped between requests, or shifted by one along a connection, an answer stands in the logs once,
under the wrong request, and matches nothing. What tells is its subject: its rare words are not in its own prompt
(`strange`), and they are in the prompt of one other tenant's request that the same worker had at about that time, and
that got no answer of its own to what it asked. All three are needed. The last one is what innocent answers lack: where
two tenants ask alike, both are answered.

The weight of a prompt is a likelihood ratio: how much likelier are the terms that response and prompt share, and those
that they do not, if the response answers the prompt than if it does not. How often a term stands in a prompt by chance
is taken from the prompts nearby in the same language, from the use that other tenants' responses make of it, and from
the shipped character model, in proportion to the prompt's length.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from forensics.attribution.candidates import Candidate, Excluded, Holder
from forensics.attribution.corpus import Corpus
from forensics.attribution.findings import Evidence, Judged
from forensics.attribution.generated import NEAR_US, NEAR_US_UNPLACED
from forensics.attribution.holdings import EARLY, LATE, Ints, World
from forensics.attribution.parameters import Parameters
from forensics.attribution.sources import Source
from forensics.attribution.strange import OFTEN, Strange, find_strange, prompt_rows
from forensics.attribution.strength import TERM_BITS, Counts, Strength, kinship, measure, particulars
from forensics.attribution.texts import Texts
from forensics.text.public import public_share
from forensics.text.vocabulary import Lookup, TermSets
from forensics.text.words import Keys, Words, terms

NEIGHBOURS = 96  # requests before the end of a response that are looked at, the latest first
RARE_SHARE = 0.5  # share of the tenants of the same language that may use a term
PROMPT_SHARE = 0.25  # of what a tenant's answers use, one prompt of its holds about so much
MIN_TERMS = 3  # rare terms that a response and another's prompt must share to be looked at,
LOOK_BITS = 16.0  # and their bits, if they came together by chance
PUBLIC = 0.2  # share of public text in a response that may stand under anybody's question
SCATTERED = 2  # fragments of one tenant in a response,
SCATTERED_SHARE = 0.3  # and share of its bytes from the first to the last, that speak for a whole answer
COVERED = 0.5  # share of a response that is explained already, so that it is not looked at
HIT_RATES = (0.1, 0.25, 0.5)  # shares of an answer's terms that stand in its prompt
CHANCE_CAP = 0.5
CHANCE_FLOOR = 2.0**-10  # no term counts more than ten bits: words of one subject come together
PRIOR = 4.0  # prompts that the case's answers and the character model stand for
SAME_LANGUAGE = 0.3  # share of a response's marks that a prompt in its language holds
BYTES_A_WORD = 6.0
KNOWN_LANGUAGE = (
    0.3  # share of a response's terms that some other tenant uses, below which nobody else writes its language
)
UNKNOWN_BITS = 16.0  # bits that a term needs then: what is common in the language cannot be told otherwise
OWN_BITS = 4.0  # that the own prompt may have,
OWN_RATIO = 8.0  # or the other's over this
CLAIM_BITS = 14.0  # for a claim that lends weight to its neighbours',
CHAIN_BITS = 10.0  # which is this much
UNNAMED_NET_BITS = 4.0  # net bits for reporting that an answer is foreign without naming anybody
MOST_NAMED = 3  # tenants in a set
STRATUM = "displaced answer"
MARGIN_BITS = 8.0  # by which a request must lead all those of other tenants to be named
SAME_UNIT_BITS = 4.0  # by which an answered request of the same tenant may lead
WINDOW_UNITS = 600  # of a prompt that is shown as evidence
NOTHING = Counts(np.zeros(1, dtype=np.uint64), np.zeros((1, 2), dtype=np.int32), 1)
TRIED = ("own_material", "echo", "shared", "public_text", "answered", "own_tenant")
RULES_THAT_EXPLAIN = ("public_text", "shared", "own_material", "echo", "same_question")


@dataclass(frozen=True)
class Suspect:
    """A strange response, its rare terms, and the requests around it, the latest first."""

    use: int
    request: int
    near: Ints
    terms: Keys
    shares: npt.NDArray[np.float64]  # of the tenants of its language that use each term
    marks: Keys  # terms that show its language
    coverage: float  # share of its terms that the tenant closest in language uses


@dataclass(frozen=True)
class Likely:
    """A suspect with the weight (bits) of each prompt nearby and of its own, and what they rest on."""

    suspect: Suspect
    strength: Strength
    keys: Keys  # distinct telling terms of the response
    held: npt.NDArray[np.bool_]  # [near request, term]
    bits: npt.NDArray[np.float64]  # by near request
    own_bits: float
    own: npt.NDArray[np.bool_]  # by term


def find_swapped(
    corpus: Corpus,
    texts: Texts,
    judged: list[Judged],
    excluded: list[Excluded],
    correlated: bool,
    parameters: Parameters,
) -> tuple[list[Judged], tuple[str, ...]]:
    """Whole responses that answer another request's prompt, and warnings.

    `correlated`: tenants' contents are known to follow each other.
    """
    world = corpus.world
    if len(world.requests.unit_names) < 2:
        return [], ()
    strange = find_strange(corpus)
    spans = _spans(world, judged, excluded)
    answered = strange.answered.copy()
    foreign = {
        int(world.uses.request[use])
        for use, found in spans.items()
        if sum(end - start for start, end, leaked in found if leaked) >= COVERED * _length(world, use)
    }
    answered[sorted(foreign)] = False
    suspects = _suspects(world, strange, answered, spans)
    prompts = _prompts(world)
    chosen, unread = _worth_a_look(corpus, answered, suspects, prompts, parameters.swapped_bytes)
    spans = _scattered(world, judged, spans)
    likely = _weigh(corpus, texts, chosen, prompts, spans)
    claims = _claims(world, answered, likely)
    claims = _unanswered(corpus, texts, suspects, claims, prompts, spans)
    result = _judge(
        world, texts, answered, claims, foreign, _named(judged), prompts, len(suspects), correlated, parameters
    )
    texts.forget()
    warnings = (
        (f"{unread} prompts were not compared with the responses nearby that have nothing to do with their own prompt: "
         "more than is read for that",) if unread else ()
    )  # fmt: skip
    return result, warnings


Spans = dict[int, list[tuple[int, int, bool]]]  # by use: start, end, and whether it is a fragment or an exclusion


def _spans(world: World, judged: list[Judged], excluded: list[Excluded]) -> Spans:
    """Parts of responses: unit spans of fragments (True), code points of what rules set aside (False)."""
    found: Spans = {}
    for item in judged:
        found.setdefault(item.candidate.use, []).append((item.candidate.start, item.candidate.end, True))
    for other in excluded:
        if other.rule in RULES_THAT_EXPLAIN:
            found.setdefault(other.use, []).append((other.start, other.end, False))
    return found


def _scattered(world: World, judged: list[Judged], spans: Spans) -> Spans:
    """`spans` without the fragments of responses that hold several passages of one and the same tenant, far apart.

    One passage in a strange response is a passage; passages here and there are what an answer about it holds.
    """
    by_use: dict[int, list[Judged]] = {}
    for item in judged:
        by_use.setdefault(item.candidate.use, []).append(item)
    left = dict(spans)
    for use, items in by_use.items():
        units = {tuple(item.units) for item in items}
        reach = max(i.candidate.end for i in items) - min(i.candidate.start for i in items)
        if len(items) >= SCATTERED and len(units) == 1 and reach >= SCATTERED_SHARE * _length(world, use):
            left[use] = [span for span in spans[use] if not span[2]]
    return left


def _named(judged: list[Judged]) -> dict[int, set[int]]:
    """Tenants' units named alone for a fragment, by use."""
    found: dict[int, set[int]] = {}
    for item in judged:
        if len(item.units) == 1 and item.verdict == "probable":
            found.setdefault(item.candidate.use, set()).add(item.units[0])
    return found


def _length(world: World, use: int) -> int:
    """Rough length of a response: its bytes."""
    return max(1, int(world.text_bytes[world.uses.content[use]]))


def _suspects(world: World, strange: Strange, answered: npt.NDArray[np.bool_], spans: Spans) -> list[Suspect]:
    """Strange responses that nothing explains yet."""
    requests, uses = world.requests, world.uses
    neighbours = _Neighbours(world)
    chosen: list[tuple[int, Ints]] = []
    for number in np.flatnonzero(~strange.akin).tolist():
        use = int(strange.vocabulary.uses[number])
        request = int(uses.request[use])
        if answered[request] or requests.received[request] == EARLY or requests.finished[request] == LATE:
            continue
        # Units against bytes: rough, and only meant for what is explained nearly whole.
        if sum(end - start for start, end, _ in spans.get(use, ())) >= COVERED * _length(world, use):
            continue
        near = neighbours.of(request)
        if near.size:
            chosen.append((number, near))
    numbers = np.array([number for number, _ in chosen], dtype=np.int64)
    terms, shares, coverage = strange.vocabulary.rare(numbers, RARE_SHARE)
    marks = strange.vocabulary.marks(numbers)
    found = []
    for place, (number, near) in enumerate(chosen):
        part = slice(int(terms.offsets[place]), int(terms.offsets[place + 1]))
        if part.stop - part.start >= MIN_TERMS:
            use = int(strange.vocabulary.uses[number])
            shown = marks.keys[marks.offsets[place] : marks.offsets[place + 1]]
            request = int(uses.request[use])
            found.append(Suspect(use, request, near, terms.keys[part], shares[part], shown, float(coverage[place])))
    return found


class _Neighbours:
    """Requests on the same worker shortly before a request's end."""

    def __init__(self, world: World) -> None:
        requests = world.requests
        self._requests = requests
        by_worker: dict[str | None, list[int]] = {}
        for request, (worker, received) in enumerate(zip(requests.worker, requests.received.tolist(), strict=True)):
            if received > EARLY and requests.unit[request] >= 0:
                by_worker.setdefault(worker, []).append(request)
        self._rows: dict[str | None, tuple[Ints, Ints]] = {}
        for worker, rows in by_worker.items():
            array = np.array(rows, dtype=np.int64)
            array = array[np.argsort(requests.received[array], kind="stable")]
            self._rows[worker] = (array, requests.received[array])

    def of(self, request: int) -> Ints:
        """The latest first."""
        worker = self._requests.worker[request]
        rows, received = self._rows[worker]
        stop = int(self._requests.finished[request])
        last = int(np.searchsorted(received, stop, side="left"))
        first = int(np.searchsorted(received, stop - (NEAR_US_UNPLACED if worker is None else NEAR_US), side="left"))
        near = rows[max(first, last - NEIGHBOURS - 1) : last][::-1]
        return near[near != request]


@dataclass(frozen=True)
class _Prompts:
    """Prompt texts by request: `content[offsets[r]:offsets[r + 1]]`; `often`: texts that too many requests hold."""

    content: Ints
    offsets: Ints
    often: npt.NDArray[np.bool_]

    def of(self, request: int) -> Ints:
        """The texts of one request."""
        return self.content[self.offsets[request] : self.offsets[request + 1]]


def _prompts(world: World) -> _Prompts:
    rows = prompt_rows(world)
    requests = world.uses.request[rows]
    order = np.argsort(requests, kind="stable")
    content = world.uses.content[rows]
    often = np.bincount(content, minlength=world.text_bytes.size) > OFTEN
    offsets = np.searchsorted(requests[order], np.arange(len(world.requests.request_id) + 1))
    return _Prompts(content[order], offsets, often)


def _worth_a_look(
    corpus: Corpus, answered: npt.NDArray[np.bool_], suspects: list[Suspect], prompts: _Prompts, budget: int
) -> tuple[list[Suspect], int]:
    """Suspects that share rare terms with the prompt of an unanswered neighbour; prompts left unread for the budget."""
    unit = corpus.world.requests.unit
    asked = [
        np.where(answered[s.near] | (unit[s.near] == unit[s.request]), -1, s.near).astype(np.int64) for s in suspects
    ]
    wanted, unread = _nearest(corpus.world, asked, prompts, budget)
    held = _held(corpus, wanted & ~prompts.often, [suspect.terms for suspect in suspects])
    chosen = []
    for suspect, near in zip(suspects, asked, strict=True):
        found = held.by_request(prompts, near[near >= 0], suspect.terms)
        bits = -np.log2(PROMPT_SHARE * suspect.shares + CHANCE_FLOOR)
        if found.size and int(found.sum(axis=1).max()) >= MIN_TERMS and float((found @ bits).max()) >= LOOK_BITS:
            chosen.append(suspect)
    return chosen, unread


def _nearest(world: World, asked: list[Ints], prompts: _Prompts, budget: int) -> tuple[npt.NDArray[np.bool_], int]:
    """Texts of the requests asked for, those first that are nearest to a response, and how many requests are left."""
    rank = np.full(len(world.requests.request_id), NEIGHBOURS + 1, dtype=np.int64)
    for near in asked:
        places = np.flatnonzero(near >= 0)
        np.minimum.at(rank, near[places], places)
    requests = np.flatnonzero(rank <= NEIGHBOURS)
    requests = requests[np.argsort(rank[requests], kind="stable")]
    wanted = np.zeros(world.text_bytes.size, dtype=np.bool_)
    size = 0
    for read, request in enumerate(requests.tolist()):
        contents = prompts.of(request)
        new = np.unique(contents[~wanted[contents] & ~prompts.often[contents]])
        size += int(world.text_bytes[new].sum())
        if size > budget:
            return wanted, int(requests.size) - read
        wanted[new] = True
    return wanted, 0


@dataclass(frozen=True)
class _Held:
    """Which of the asked terms stand in which text: `found[offsets[c]:offsets[c + 1]]`, indexes into `keys`."""

    keys: Keys
    found: Ints
    offsets: Ints

    def by_request(self, prompts: _Prompts, requests: Ints, terms: Keys) -> npt.NDArray[np.bool_]:
        """[request, term]: does the prompt hold the term?"""
        if self.keys.size == 0 or terms.size == 0:
            return np.zeros((requests.size, terms.size), dtype=np.bool_)
        wanted = np.searchsorted(self.keys, terms).astype(np.int64)
        return np.asarray(
            _by_request(requests, prompts.content, prompts.offsets, self.found, self.offsets, wanted, self.keys.size)
        )


@numba.njit(cache=True)
def _by_request(
    requests: Any, content: Any, content_offsets: Any, found: Any, offsets: Any, wanted: Any, keys: Any
) -> Any:
    column = np.full(keys, -1, dtype=np.int64)
    for i in range(wanted.size):
        column[wanted[i]] = i
    held = np.zeros((requests.size, wanted.size), dtype=np.bool_)
    for row in range(requests.size):
        for place in range(content_offsets[requests[row]], content_offsets[requests[row] + 1]):
            for i in range(offsets[content[place]], offsets[content[place] + 1]):
                if column[found[i]] >= 0:
                    held[row, column[found[i]]] = True
    return held


def _held(corpus: Corpus, wanted: npt.NDArray[np.bool_], sets: list[Keys]) -> _Held:
    keys = np.unique(np.concatenate([np.zeros(0, dtype=np.uint64), *sets]))
    lookup = Lookup(TermSets(keys, np.array([0, keys.size], dtype=np.int64)))
    contents, found = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    if keys.size and wanted.any():
        for batch_keys, documents, places in corpus.over(wanted, lambda b: (b[0], *lookup.places(b[1], b[2]))):
            contents.append(batch_keys[documents])
            found.append(places)
    of = np.concatenate(contents)
    order = np.argsort(of, kind="stable")
    offsets = np.searchsorted(of[order], np.arange(corpus.world.text_bytes.size + 1))
    return _Held(keys, np.concatenate(found)[order], offsets)


def _weigh(corpus: Corpus, texts: Texts, suspects: list[Suspect], prompts: _Prompts, spans: Spans) -> list[Likely]:
    """Measure each suspect against every prompt nearby, its own tenant's too."""
    world = corpus.world
    measured: list[tuple[Strength, Keys, npt.NDArray[np.float64]]] = []
    for batch in texts.batches([{int(world.uses.content[s.use])} for s in suspects]):
        for suspect in suspects[batch.start : batch.stop]:
            measured.append(_telling(world, texts, suspect, spans.get(suspect.use, [])))
    wanted = np.zeros(world.text_bytes.size, dtype=np.bool_)
    for suspect in suspects:
        for request in (suspect.request, *suspect.near.tolist()):
            wanted[prompts.of(request)] = True
    held = _held(corpus, wanted, [*(keys for _, keys, _ in measured), *(suspect.marks for suspect in suspects)])
    length = np.zeros(len(world.requests.request_id))
    np.add.at(length, np.repeat(np.arange(length.size), np.diff(prompts.offsets)), world.text_bytes[prompts.content])
    found = []
    for suspect, (strength, keys, bits) in zip(suspects, measured, strict=True):
        every = np.append(suspect.near, suspect.request)
        rows = held.by_request(prompts, every, keys)
        unit = world.requests.unit[every]
        mine = unit == unit[-1]
        words = length[every] / BYTES_A_WORD
        typical = max(float(words[:-1].mean()), 1.0)
        # Terms of the language are no sign of the subject: the chance is that of prompts in the response's language.
        marked = (
            held.by_request(prompts, every, suspect.marks).mean(axis=1) if suspect.marks.size else np.ones(every.size)
        )
        common = PROMPT_SHARE * suspect.shares[np.searchsorted(suspect.terms, keys)]
        prior = np.maximum(np.minimum(CHANCE_CAP, typical * np.exp2(-bits)), common)
        weights = np.zeros(every.size)
        for one in np.unique(unit).tolist():
            others = (unit != one) & ~mine & (marked >= SAME_LANGUAGE)
            chance = (rows[others].sum(axis=0) + PRIOR * prior) / (int(others.sum()) + PRIOR)
            for place in np.flatnonzero(unit == one).tolist():
                weights[place] = _ratio(rows[place], chance * max(1.0, words[place] / typical))
        found.append(Likely(suspect, strength, keys, rows[:-1], weights[:-1], float(weights[-1]), rows[-1]))
    return found


def _telling(
    world: World, texts: Texts, suspect: Suspect, spans: list[tuple[int, int, bool]]
) -> tuple[Strength, Keys, npt.NDArray[np.float64]]:
    """The whole response's strength; its rare terms outside known fragments and their bits by the character model."""
    content = int(world.uses.content[suspect.use])
    units = texts.folded(content).units
    candidate = Candidate(suspect.use, suspect.request, content, 0, units.size, "target", False, (), frozenset())
    strength = measure(candidate, texts, NOTHING, int(world.requests.unit[suspect.request]))
    starts, ends = _term_spans(texts.words(content))
    free = np.ones(starts.size, dtype=np.bool_)
    positions = texts.folded(content).positions
    for low, high, leaked in spans:
        if not leaked:
            low, high = (int(place) for place in np.searchsorted(positions, (low, high)))
        free &= (ends <= low) | (starts >= high)
    if public_share(texts.raw(content)) >= PUBLIC:
        free[:] = False
    needed = TERM_BITS
    if suspect.coverage < KNOWN_LANGUAGE:
        needed = UNKNOWN_BITS
        free[int((~texts.words(content).single).sum()) :] = False  # pairs of signs: any two texts share some
    rare = np.isin(strength.terms, suspect.terms)
    telling = free & rare & (strength.all_term_bits >= needed)
    keys, first = np.unique(strength.terms[telling], return_index=True)
    return strength, keys, strength.all_term_bits[telling][first]


def _term_spans(found: Words) -> tuple[Ints, Ints]:
    """Unit spans of `words.terms`, in its order."""
    both = found.single[:-1] & found.single[1:] & (found.ends[:-1] == found.starts[1:])
    return (
        np.concatenate([found.starts[~found.single], found.starts[:-1][both]]),
        np.concatenate([found.ends[~found.single], found.ends[1:][both]]),
    )


def _ratio(held: npt.NDArray[np.bool_], chance: npt.NDArray[np.float64]) -> float:
    """Bits for "answers this prompt" against "does not", at the rate that suits it best (two bits are paid for it)."""
    chance = np.clip(chance, CHANCE_FLOOR, CHANCE_CAP)
    best = -math.inf
    for rate in HIT_RATES:
        both = np.maximum(rate, chance)
        bits = np.where(held, np.log2(both / chance), np.log2((1 - both) / (1 - chance)))
        best = max(best, float(bits.sum()))
    return best - 2.0


def _unanswered(
    corpus: Corpus, texts: Texts, suspects: list[Suspect], claims: list[_Claim], prompts: _Prompts, spans: Spans
) -> list[_Claim]:
    """The claims on requests whose own response is, on closer look, no answer to their prompt."""
    asked = {int(claim.likely.suspect.near[place]) for claim in claims for place in claim.places}
    own = _weigh(corpus, texts, [s for s in suspects if s.request in asked], prompts, spans)
    akin = {item.suspect.request for item in own if item.own_bits > OWN_BITS}
    kept = []
    for claim in claims:
        places = [place for place in claim.places if int(claim.likely.suspect.near[place]) not in akin]
        if len(places) == len(claim.places):
            kept.append(claim)
    return kept


@dataclass(frozen=True)
class _Claim:
    """One suspect's best explanation: `places` in its `near`, one for each tenant not to be told from the best."""

    likely: Likely
    places: list[int]
    bits: float


def _claims(world: World, answered: npt.NDArray[np.bool_], likely: list[Likely]) -> list[_Claim]:
    """Suspects that unanswered requests explain, and not their own prompt, their own tenant or an answered one."""
    claims = []
    for item in likely:
        near = item.suspect.near
        unit = world.requests.unit[near]
        mine = int(world.requests.unit[item.suspect.request])
        best: dict[int, int] = {}
        rival = item.own_bits
        for place in range(near.size):
            one = int(unit[place])
            if one == mine:
                rival = max(rival, float(item.bits[place]))
            elif not answered[near[place]] and (one not in best or item.bits[place] > item.bits[best[one]]):
                best[one] = place
        if not best:
            continue
        most = max(float(item.bits[place]) for place in best.values())
        for place in np.flatnonzero((unit != mine) & answered[near]).tolist():
            known = best.get(int(unit[place]))
            if known is None:
                rival = max(rival, float(item.bits[place]))
            elif item.bits[place] > item.bits[known] + SAME_UNIT_BITS:
                del best[int(unit[place])]
                rival = max(rival, float(item.bits[place]))
        places = sorted(place for place in best.values() if item.bits[place] > most - MARGIN_BITS)
        if not places or rival > most - MARGIN_BITS or item.own_bits > max(OWN_BITS, most / OWN_RATIO):
            continue
        if max(int(item.held[place].sum()) for place in places) >= MIN_TERMS:
            claims.append(_Claim(item, places, most))
    return claims


def _judge(
    world: World,
    texts: Texts,
    answered: npt.NDArray[np.bool_],
    claims: list[_Claim],
    foreign: set[int],
    named_before: dict[int, set[int]],
    prompts: _Prompts,
    suspects: int,
    correlated: bool,
    parameters: Parameters,
) -> list[Judged]:
    """Verdicts. `foreign`: requests whose response is known to be another's; `named_before`: sources of fragments.

    Where tenants' contents follow each other (`correlated`), answers resemble the neighbours' questions for innocent
    reasons: then nobody is named, and only what neighbours bear out is reported.
    """
    replied = np.zeros(answered.size, dtype=np.bool_)
    replied[world.uses.request[world.uses.side == 1]] = True
    strong = [claim for claim in claims if claim.bits >= CLAIM_BITS and len(claim.places) == 1]
    moved = {claim.likely.suspect.request for claim in strong} | foreign
    taken_from = {int(claim.likely.suspect.near[claim.places[0]]): claim for claim in strong}
    found = []
    for claim in claims:
        suspect = claim.likely.suspect
        requests = suspect.near[claim.places]
        charge = math.log2(suspect.near.size * max(1, suspects))
        known = False
        if {int(unit) for unit in world.requests.unit[requests]} == named_before.get(suspect.use):
            known, charge = True, 0.0  # that its text reached this response is known already; nothing was searched for
        one = int(requests[0]) if requests.size == 1 else -1
        chained = one in moved or suspect.request in taken_from
        net = claim.bits - charge + (CHAIN_BITS if chained else 0.0)
        silent = not bool(replied[requests].any())
        if net < (parameters.generated_bits if silent else UNNAMED_NET_BITS):
            continue
        if (correlated and not chained) or (claim.bits < CLAIM_BITS and not known):
            continue
        named = not correlated and net >= parameters.generated_bits and not silent and requests.size <= MOST_NAMED
        probable = named and chained and net >= parameters.probable_bits
        found.append(_finding(world, texts, claim, prompts, charge, chained, silent, named, probable))
    return found


def _finding(
    world: World, texts: Texts, claim: _Claim, prompts: _Prompts, charge: float, chained: bool, silent: bool,
    named: bool, probable: bool,
) -> Judged:  # fmt: skip
    item, suspect = claim.likely, claim.likely.suspect
    content = int(world.uses.content[suspect.use])
    needed = {content}
    for place in claim.places:
        needed.update(prompts.of(int(suspect.near[place])).tolist())
    texts.load(needed)
    units = texts.folded(content).units.size
    candidate = Candidate(suspect.use, suspect.request, content, 0, units, "target", False, (), frozenset())
    sources = [
        _source(world, texts, item, place, prompts)
        for place in sorted(claim.places, key=lambda place: -item.bits[place])
    ]
    kin, only, own = {}, {}, item.keys[item.own]
    for place, source in zip(sorted(claim.places, key=lambda place: -item.bits[place]), sources, strict=True):
        theirs = item.keys[item.held[place]]
        kin[source.holder.unit] = kinship(item.strength, theirs)
        only[source.holder.unit] = particulars(item.strength, theirs, own)
    shared = max(int(item.held[place].sum()) for place in claim.places)
    who = "one request" if len(sources) == 1 else f"{len(sources)} tenants' requests that cannot be told apart"
    reason = (
        f"has nothing to do with its own prompt and answers that of {who} nearby ({shared} of its {item.keys.size} "
        f"rare terms, {claim.bits:.0f} bits), "
        + ("which got no answer" if silent else "which got another answer")
        + ("; neighbours' answers are displaced too" if chained else "")
        + ("" if named else "; not enough to name anybody")
    )
    evidence = Evidence(
        strength=replace(item.strength, bits=claim.bits),
        charge=charge,
        sources=sources,
        kin_recipient=kinship(item.strength, own),
        kin_source=kin,
        likeness={},
        only=only,
        not_before=frozenset(),
        first_unit=-1,
        share_of_response=1.0,
        public_share=0.0,
        public_token=False,
        agreeing_bits=0.0,
        q_value=lambda _: None,
        asks_for_text=False,
        capped=False,
    )
    verdict = "probable" if probable else "possible" if named else "undetermined"
    named_units = sorted({source.holder.unit for source in sources}) if named else []
    return Judged(candidate, evidence, "whole_response", STRATUM, verdict, reason, named_units, sources, TRIED, None)


def _source(world: World, texts: Texts, item: Likely, place: int, prompts: _Prompts) -> Source:
    """The passage of the other prompt that holds most of the shared terms."""
    requests, uses = world.requests, world.uses
    suspect = item.suspect
    request = int(suspect.near[place])
    theirs = item.keys[item.held[place]]
    content, start, end = -1, 0, 0
    most = 0
    for one in sorted(set(prompts.of(request).tolist())):
        found = texts.words(one)
        keys = terms(found)
        starts, ends = _term_spans(found)
        met = np.flatnonzero(np.isin(keys, theirs))
        met = met[np.argsort(starts[met], kind="stable")]
        for first in range(met.size):
            low = int(starts[met[first]])
            inside = met[first:][ends[met[first:]] <= max(low + WINDOW_UNITS, int(ends[met[first]]))]
            count = int(np.unique(keys[inside]).size)
            if count > most:
                most, content, start, end = count, one, low, int(ends[inside].max())
    own = texts.words(int(uses.content[suspect.use]))
    starts, ends = _term_spans(own)
    shared = np.isin(terms(own), theirs)
    units = texts.folded(int(uses.content[suspect.use])).units.size
    matched = min(units, int((ends - starts)[shared].sum()))
    field = next(
        uses.field[row]
        for row in range(int(uses.of_content[content]), int(uses.of_content[content + 1]))
        if uses.request[row] == request and uses.side[row] == 0
    )
    worker = requests.worker[suspect.request]
    holder = Holder(content, int(requests.unit[request]), 0, 0, units, start, end, matched)
    return Source(
        holder,
        request,
        requests.request_id[request],
        field,
        int(requests.finished[suspect.request] - requests.received[request]),
        None if worker is None else True,
        bool(requests.finished[request] > requests.received[suspect.request]),
    )
