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
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from forensics.attribution.aligned import REACH, weigh_pairs
from forensics.attribution.candidates import Excluded
from forensics.attribution.chains import Context, Features, find_rows, joined, judge_rows, left_behind
from forensics.attribution.chances import CHANCE_FLOOR
from forensics.attribution.copied import judge_copies, suspects_of
from forensics.attribution.copies import find_copies
from forensics.attribution.corpus import Corpus
from forensics.attribution.displaced import Claim, finding, is_throughout
from forensics.attribution.findings import Judged
from forensics.attribution.fits import BLOCK, Many, asked_around, blocks, in_one, most_shared
from forensics.attribution.generated import GENERATED
from forensics.attribution.hits import Hits
from forensics.attribution.holdings import EARLY, LATE, Ints, World
from forensics.attribution.likely import PROMPT_SHARE, Likely, Spans, Suspect, reader, weigh
from forensics.attribution.nearby import Neighbours, Prompts, Reader, nearest_first, prompts_of_case
from forensics.attribution.own_terms import without_own
from forensics.attribution.parameters import Parameters
from forensics.attribution.strange import Strange
from forensics.attribution.texts import Texts
from forensics.attribution.wholes import claims_on_wholes, passage_claims, passage_suspects, told_by

RARE_SHARE = 0.5  # share of the tenants of the same language that may use a term
MIN_TERMS = 3  # rare terms that a response and another's prompt must share to be looked at,
LOOK_BITS = 16.0  # and their bits, if they came together by chance
SCATTERED = 2  # fragments of one tenant in a response,
SCATTERED_SHARE = 0.3  # and share of its bytes from the first to the last, that speak for a whole answer
COVERED = 0.5  # share of a response that is explained already, so that it is not looked at
OWN_BITS = 4.0  # that the own prompt may have,
OWN_RATIO = 8.0  # or the other's over this
MARGIN_BITS = 8.0  # by which a request must lead all those of other tenants to be named
SAME_UNIT_BITS = 4.0  # by which an answered request of the same tenant may lead
CLAIM_BITS = 14.0  # for a claim that lends weight to its neighbours',
CHAIN_BITS = 10.0  # which is this much
UNNAMED_NET_BITS = 4.0  # net bits for reporting that an answer is foreign without naming anybody
KNOWN_NET_BITS = 8.0  # net bits for the whole of an answer of which a copied passage names the tenant
MOST_NAMED = 3  # tenants in a set
RULES_THAT_EXPLAIN = ("public_text", "shared", "template", "own_material", "echo", "same_question")


@dataclass(frozen=True)
class Displaced:
    """Whole answers under another request: fragments, what is told of chains (by response use), uses whose other
    fragments the whole replaces, and warnings."""

    judged: list[Judged]
    marks: dict[int, Features]
    replaced: set[int]
    owners: set[tuple[int, int]]  # requests and texts of answers that others got: what is undetermined there is told
    warnings: tuple[str, ...]

    def tells(self, item: Judged) -> bool:
        """Is the fragment part of a whole that is reported, or the owner's own copy of it?"""
        owned = (item.candidate.request, item.candidate.content) in self.owners
        return item.candidate.use in self.replaced or (owned and item.verdict == "undetermined")


def find_swapped(
    corpus: Corpus,
    texts: Texts,
    strange: Strange,
    proposed: set[tuple[int, int]],
    scripts: npt.NDArray[np.int32],
    grams: Hits,
    judged: list[Judged],
    excluded: list[Excluded],
    correlated: bool,
    parameters: Parameters,
) -> Displaced:
    """Whole responses that answer another request's prompt.

    `proposed`: pairs of texts (`copies.propose`); `scripts`: of all texts.

    `correlated`: tenants' contents are known to follow each other.
    """
    world = corpus.world
    if len(world.requests.unit_names) < 2:
        return Displaced([], {}, set(), set(), ())
    spans = _spans(judged, excluded, parameters.phrase_limit)
    answered = strange.answered.copy()
    covered = {
        use
        for use, found in spans.items()
        if sum(end - start for start, end, leaked in found if leaked) >= COVERED * _length(world, use)
    }
    foreign = {int(world.uses.request[use]) for use in covered}
    answered[sorted(foreign)] = False
    suspects = _suspects(world, strange, spans)
    prompts = prompts_of_case(world)
    context = Context(corpus, texts, strange, prompts, scripts, parameters)
    copies = find_copies(world, texts, proposed)
    of_copies = suspects_of(context, copies)
    read = reader(corpus, [*suspects, *of_copies])
    chosen, unread = _worth_a_look(corpus, answered, suspects, prompts, parameters.swapped_bytes, read)
    spans = _scattered(world, judged, spans)
    named = _named(judged)
    told = told_by(judged)
    # A claim of fewer bits counts only where it is known already whose text reached the response.
    likely = weigh(corpus, texts, chosen, prompts, spans, read, answered, CLAIM_BITS, told)
    claims = _claims(world, answered, likely)
    claims = without_own(corpus, claims, prompts, grams)
    claims = _unanswered(corpus, texts, suspects, claims, prompts, spans, read)
    result = _judge(world, texts, answered, claims, foreign, named, prompts, len(suspects), correlated, parameters)
    if not correlated:
        wholes = without_own(corpus, claims_on_wholes(world, answered, likely, told), prompts, grams)
        done = {item.candidate.use for item in result if item.units}
        wholes = [claim for claim in wholes if claim.likely.suspect.use not in done]
        tenants = passage_suspects(context, judged, told, spans)
        fits = weigh_pairs(corpus, texts, tenants, prompts, scripts, parameters.aligned_bytes, reader(corpus, tenants))
        done |= {claim.likely.suspect.use for claim in wholes}
        fitting = without_own(corpus, passage_claims(context, fits, judged, told, answered), prompts, grams)
        wholes += [claim for claim in fitting if claim.likely.suspect.use not in done]
        passages = [item for claim in wholes if (item := _by_passage(world, texts, claim, prompts)).units]
        again = {item.candidate.use for item in passages}
        result = [*(item for item in result if item.candidate.use not in again), *passages]
    # A fragment's tenant is known already, and its words speak for no other; what it leaves is too little to add to.
    alone = [suspect for suspect in suspects if not any(leaked for _, _, leaked in spans.get(suspect.use, ()))]
    alone = [replace(suspect, near=suspect.near[:REACH]) for suspect in alone]
    pairs = weigh_pairs(corpus, texts, [*alone, *of_copies], prompts, scripts, parameters.aligned_bytes, read)
    copied = judge_copies(context, copies, {pair.use: pair for pair in pairs[len(alone) :]}, grams, correlated)
    copied = [item for item in copied if not _known(item, judged)]
    known = {use: units for use, units in named.items() if use in covered or not answered[world.uses.request[use]]}
    known |= {item.candidate.use: set(item.units) for item in copied if len(item.units) == 1}
    rest = [pair for pair in pairs[: len(alone)] if pair.use not in known]
    reported = {item.candidate.use for item in [*judged, *copied]}
    links = find_rows(context, rest, answered, known)
    rows, marks = judge_rows(context, links, reported, grams, correlated)
    taken = {item.candidate.use for item in copied}
    result = [*copied, *(item for item in joined(result, rows) if item.candidate.use not in taken)]
    result += left_behind(context, result, reported)
    texts.forget()
    warnings = (
        (f"{unread} prompts were not compared with the responses nearby that have nothing to do with their own prompt: "
         "more than is read for that",) if unread else ()
    )  # fmt: skip
    owners = {(source.request, source.holder.content) for item in copied for source in item.ranked}
    return Displaced(result, marks, taken, owners, warnings)


def _by_passage(world: World, texts: Texts, claim: Claim, prompts: Prompts) -> Judged:
    """The whole answer of the tenants that a passage names."""
    requests = claim.likely.suspect.near[claim.places]
    silent = not bool(np.isin(requests, world.uses.request[world.uses.side == 1]).any())
    made = finding(world, texts, claim, prompts, 0.0, False, silent, True, False)
    return replace(made, reason=f"{made.reason}; a passage in it is the same tenant's")


def _known(whole: Judged, judged: list[Judged]) -> bool:
    """Is the copy reported already: as a whole, at least as surely, or as text that another tenant had supplied?"""
    rank = {"undetermined": 0, "possible": 1, "probable": 2}
    for item in judged:
        if item.candidate.use != whole.candidate.use or not item.units:
            continue
        if item.kind == "whole_response" and item.units == whole.units and rank[item.verdict] >= rank[whole.verdict]:
            return True
        if item.stratum != GENERATED and item.units != whole.units:
            return True
    return False


def _spans(judged: list[Judged], excluded: list[Excluded], phrase_limit: int) -> Spans:
    """Parts of responses: unit spans of fragments (True), code points of what rules set aside (False)."""
    found: Spans = {}
    for item in judged:
        found.setdefault(item.candidate.use, []).append((item.candidate.start, item.candidate.end, True))
    for other in excluded:
        # What the model says to many tells as little of an answer's subject; what two were given may be the swap.
        habit = other.rule == "model_phrase" and other.holders >= phrase_limit
        if habit or other.rule in RULES_THAT_EXPLAIN:
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


def _suspects(world: World, strange: Strange, spans: Spans) -> list[Suspect]:
    """Strange responses that nothing explains yet."""
    requests, vocabulary = world.requests, strange.vocabulary
    neighbours = Neighbours(world)
    # Units against bytes: rough, and only meant for what is explained nearly whole.
    explained = [
        use
        for use, parts in spans.items()
        if sum(end - start for start, end, _ in parts) >= COVERED * _length(world, use)
    ]
    asked = world.uses.request[vocabulary.uses]
    timed = (requests.received[asked] != EARLY) & (requests.finished[asked] != LATE)
    unclear = ~strange.akin & ~strange.beside & timed & ~np.isin(vocabulary.uses, explained)
    every = np.flatnonzero(unclear)
    found = []
    for low in range(0, every.size, BLOCK):
        numbers = every[low : low + BLOCK]
        near, around = neighbours.of_many(asked[numbers])
        terms, shares, coverage = vocabulary.rare(numbers, RARE_SHARE)
        marks = vocabulary.marks(numbers)
        chosen = np.flatnonzero((np.diff(around) > 0) & (np.diff(terms.offsets) >= MIN_TERMS))
        for place in chosen.tolist():
            use, request = int(vocabulary.uses[numbers[place]]), int(asked[numbers[place]])
            beside = near[around[place] : around[place + 1]]
            part = slice(int(terms.offsets[place]), int(terms.offsets[place + 1]))
            shown = marks.keys[marks.offsets[place] : marks.offsets[place + 1]]
            found.append(Suspect(use, request, beside, terms.keys[part], shares[part], shown, float(coverage[place])))
    return found


def _worth_a_look(
    corpus: Corpus, answered: npt.NDArray[np.bool_], suspects: list[Suspect], prompts: Prompts, budget: int,
    read: Reader,
) -> tuple[list[Suspect], int]:  # fmt: skip
    """Suspects that share rare terms with the prompt of an unanswered neighbour; prompts left unread for the budget."""
    if not suspects:
        return [], 0
    unit = corpus.world.requests.unit

    def asks(requests: Ints, of: Ints) -> npt.NDArray[np.bool_]:
        mine = np.repeat(unit[requests[of[1:] - 1]], np.diff(of))
        return np.asarray(~answered[requests] & (unit[requests] != mine))

    def asked() -> Iterator[tuple[Ints, Ints]]:
        for block in blocks(suspects):
            requests, places, of = asked_around(block)
            wanted = asks(requests, of)
            yield requests[wanted], places[wanted]

    wanted, unread = nearest_first(corpus.world, asked(), prompts, budget)
    held = read.held(wanted & ~prompts.often)
    found: list[Suspect] = []
    for block in blocks(suspects):
        many = Many.over(block, read.keys)
        shares, _ = in_one([suspect.shares for suspect in block])
        terms, bits = most_shared(
            many, asks(many.requests, many.of), held, prompts, -np.log2(PROMPT_SHARE * shares + CHANCE_FLOOR),
            corpus.case.resources.threads,
        )  # fmt: skip
        worth = (terms >= MIN_TERMS) & (bits >= LOOK_BITS)
        found += [suspect for suspect, looked in zip(block, worth.tolist(), strict=True) if looked]
    return found, unread


def _unanswered(
    corpus: Corpus, texts: Texts, suspects: list[Suspect], claims: list[Claim], prompts: Prompts, spans: Spans,
    read: Reader,
) -> list[Claim]:  # fmt: skip
    """The claims on requests whose own response is, on closer look, no answer to their prompt."""
    asked = {int(claim.likely.suspect.near[place]) for claim in claims for place in claim.places}
    own = weigh(corpus, texts, [s for s in suspects if s.request in asked], prompts, spans, read)
    akin = {item.suspect.request for item in own if item.own_bits > OWN_BITS}
    kept = []
    for claim in claims:
        places = [place for place in claim.places if int(claim.likely.suspect.near[place]) not in akin]
        if len(places) == len(claim.places):
            kept.append(claim)
    return kept


def _claims(world: World, answered: npt.NDArray[np.bool_], likely: list[Likely]) -> list[Claim]:
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
            claims.append(Claim(item, places, most))
    return claims


def _judge(
    world: World,
    texts: Texts,
    answered: npt.NDArray[np.bool_],
    claims: list[Claim],
    foreign: set[int],
    named_before: dict[int, set[int]],
    prompts: Prompts,
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
        if net < (parameters.generated_bits if silent and not known else UNNAMED_NET_BITS):
            continue
        if (correlated and not chained) or (claim.bits < CLAIM_BITS and not known):
            continue
        # A copied passage has named the tenant of the whole: saying how far it reaches names nobody else.
        named = (known and net >= KNOWN_NET_BITS) or (
            not correlated
            and net >= parameters.generated_bits
            and not silent
            and requests.size <= MOST_NAMED
            and is_throughout(world, texts, claim)
        )
        probable = named and not correlated and not silent and chained and net >= parameters.probable_bits
        found.append(finding(world, texts, claim, prompts, charge, chained, silent, named, probable))
    return found
