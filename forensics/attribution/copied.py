"""Which of the near-equal answers (`copies`) are leaks, and whose?

Names the tenant whose prompt the text fits by clearly more bits than the recipient's own, judged by `aligned`'s pair
weights. Where both prompts explain the text, or neither does, nothing is said here: such passages are judged as runs
(`generated`).
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from forensics.attribution.aligned import Weighed
from forensics.attribution.candidates import Candidate, Holder, prompts_by_request
from forensics.attribution.chains import RARE_SHARE, Context, suspects_with
from forensics.attribution.copies import Copy
from forensics.attribution.displaced import Claim
from forensics.attribution.findings import Evidence, Judged
from forensics.attribution.generated import ELSEWHERE_SHARE
from forensics.attribution.hits import Hits
from forensics.attribution.holdings import World
from forensics.attribution.likely import NOTHING, Likely, Suspect
from forensics.attribution.own_terms import without_own
from forensics.attribution.sources import Source
from forensics.attribution.strength import Strength, kinship, measure, particulars
from forensics.text.languages import asks_language
from forensics.text.public import public_share
from forensics.text.words import Keys

STRATUM = "copied answer"
TRIED = ("own_material", "echo", "public_text", "model_phrase", "same_question", "own_tenant")
LEAST_BITS = 1.0  # by which a text must fit the other's prompt better at all
NEAR_BITS = 5.0  # by which a text must fit the other's prompt better than the recipient's, where the other was near,
FAR_BITS = 16.0  # and anywhere; the text itself has to be worth its search besides
EXACT = 0.98  # share of the words that agree from which two answers are one: models word alike what was asked alike
PARTICULARS_BITS = 40.0  # of words that the other's prompt alone has and hardly any tenant uses, wherever it was
ONLY_BITS = 24.0  # the same where the other was near,
ONLY_RATIO = 3.0  # and how many times more than the recipient's prompt alone has
PARTICULARS_SHARE = 0.1  # share of tenants that may use them,
FEW_TENANTS = 20  # where so few are known that the share of one is more
DISTINCT = 0.5  # share of the words of the other's prompt in the answer that are not in the recipient's prompt
SUPPLIED = 0.8  # share of an answer's words in a prompt above which the prompt holds the text itself
MARGIN_BITS = 3.0  # by which one tenant must lead the next to be named alone
MOST_NAMED = 3
PUBLIC = 0.5  # share of a text in public texts that makes it public


def suspects_of(context: Context, copies: list[Copy]) -> list[Suspect]:
    """The recipients of copies, each with its neighbours and the requests whose answers it may hold."""
    sources: dict[int, set[int]] = defaultdict(set)
    for copy in copies:
        sources[copy.use].add(int(context.world.uses.request[copy.other_use]))
    # The source's answer uses the same words: where few tenants are known it may be the only one that does.
    few = len(context.world.requests.unit_names) < FEW_TENANTS
    return suspects_with(context, sources, 1.0 if few else RARE_SHARE)


def judge_copies(
    context: Context, copies: list[Copy], weighed: dict[int, Weighed], hits: Hits, correlated: bool
) -> list[Judged]:
    """Fragments of the copies that fit another's prompt. `weighed`: pair weights by response use."""
    world, texts = context.world, context.texts
    by_use: dict[int, list[tuple[float, Copy]]] = defaultdict(list)
    for copy in copies:
        one = weighed.get(copy.use)
        if one is not None:
            at = np.flatnonzero(one.near == int(world.uses.request[copy.other_use]))
            by_use[copy.use].append((float(one.gain[at[0]]), copy))
    answers = int((world.uses.side == 1).sum())
    charge = 2.0 * math.log2(max(2, answers))
    chosen: dict[int, list[tuple[float, Copy]]] = {}
    for use, found in by_use.items():
        best: dict[int, tuple[float, Copy]] = {}
        for gain, copy in sorted(found, key=lambda item: (-item[0], item[1].other_use)):
            best.setdefault(int(world.requests.unit[world.uses.request[copy.other_use]]), (gain, copy))
        top = max(gain for gain, _ in best.values())
        leaders = [pair for pair in best.values() if pair[0] > top - MARGIN_BITS]
        one = weighed[use]
        others = ~np.isin(world.requests.unit[one.near], [*best, int(world.requests.unit[one.request])])
        if one.gain[others].max(initial=-math.inf) > top - MARGIN_BITS:
            continue  # it fits the prompt of a tenant as well that holds no such answer
        if top >= LEAST_BITS and len(leaders) <= MOST_NAMED:
            chosen[use] = sorted(leaders, key=lambda item: (-item[0], item[1].other_use))
    claims: dict[int, Claim] = {}
    judged: list[Judged] = []
    prompts = prompts_by_request(world, {int(world.uses.request[use]) for use in chosen})
    needs = [
        {int(world.uses.content[use]), *prompts.get(int(world.uses.request[use]), [])[-1:]} for use in sorted(chosen)
    ]
    for batch in texts.batches(needs):
        for use in sorted(chosen)[batch.start : batch.stop]:
            one = weighed[use]
            suspect = one.suspect
            assert suspect is not None
            content = int(world.uses.content[use])
            size = texts.units(content).size
            whole = Candidate(use, one.request, content, 0, size, "target", False, (), frozenset())
            strength = measure(whole, texts, NOTHING, int(world.requests.unit[one.request]))
            strength = replace(strength, bits=strength.bits * chosen[use][0][1].cover)
            if strength.bits - charge < context.parameters.generated_bits or public_share(texts.raw(content)) >= PUBLIC:
                continue
            held, own = one.held()[:-1], one.held()[-1]
            places = [int(np.flatnonzero(one.near == int(world.uses.request[c.other_use]))[0]) for _, c in chosen[use]]
            if held.shape[1] and all(held[place].mean() > SUPPLIED for place in places):
                continue  # the text itself stands in that prompt: a run
            special = max(_particulars(world, suspect, strength, held[place] & ~own) for place in places)
            mine = min(_particulars(world, suspect, strength, own & ~held[place]) for place in places)
            near, fits = any(copy.near for _, copy in chosen[use]), chosen[use][0][0]
            particular = special >= (ONLY_BITS if near else PARTICULARS_BITS) and special >= ONLY_RATIO * mine
            exact = chosen[use][0][1].cover >= EXACT
            if not particular and not (exact and fits >= (NEAR_BITS if near else FAR_BITS)):
                continue
            theirs = max(_bits(strength, suspect.terms[held[place] & ~own]) for place in places)
            in_language = any(asks_language(texts.raw(key)) for key in prompts.get(one.request, [])[-1:])
            if in_language and theirs < ELSEWHERE_SHARE * float(strength.term_bits.sum()):
                continue  # the own question may be answered by it without sharing a word
            same = all((held[place] & ~own).sum() < DISTINCT * held[place].sum() for place in places)
            if same and special < PARTICULARS_BITS:
                continue  # the two prompts ask the same
            likely = Likely(suspect, strength, suspect.terms, held, one.gain, 0.0, own)
            claims[use] = Claim(likely, places, chosen[use][0][0])
    kept = {
        claim.likely.suspect.use for claim in without_own(context.corpus, list(claims.values()), context.prompts, hits)
    }
    order = sorted(kept)
    needs = [{int(world.uses.content[row]) for row in (use, *(c.other_use for _, c in chosen[use]))} for use in order]
    for batch in texts.batches(needs):
        for use in order[batch.start : batch.stop]:
            judged.append(_finding(context, claims[use], chosen[use], charge, correlated))
    return judged


def _particulars(world: World, suspect: Suspect, strength: Strength, only: npt.NDArray[np.bool_]) -> float:
    """Bits, by the character model, of the words `only` one of the prompts has and hardly any tenant's answers use."""
    few = len(world.requests.unit_names) < FEW_TENANTS
    keys = suspect.terms[only & (few | (suspect.shares <= PARTICULARS_SHARE))]
    return _bits(strength, keys)


def _bits(strength: Strength, keys: Keys) -> float:
    """Bits of those words of the answer."""
    rare, first = np.unique(strength.terms, return_index=True)
    return float(strength.term_bits[first][np.isin(rare, keys)].sum())


def _finding(
    context: Context, claim: Claim, leaders: list[tuple[float, Copy]], charge: float, correlated: bool
) -> Judged:
    world, texts = context.world, context.texts
    item = claim.likely
    use, request = item.suspect.use, item.suspect.request
    content = int(world.uses.content[use])
    units = texts.units(content).size
    own = item.keys[item.own]
    sources, kin, only = [], {}, {}
    for place, (_, copy) in zip(claim.places, leaders, strict=True):
        other = int(world.uses.request[copy.other_use])
        text = int(world.uses.content[copy.other_use])
        unit = int(world.requests.unit[other])
        worker, there = world.requests.worker[request], world.requests.worker[other]
        holder = Holder(text, unit, 1, 0, units, 0, texts.units(text).size, max(1, round(copy.cover * units)))
        sources.append(
            Source(
                holder, other, world.requests.request_id[other], world.uses.field[copy.other_use],
                int(world.requests.finished[request] - world.requests.received[other]),
                None if worker is None or there is None else worker == there,
                bool(world.requests.finished[other] > world.requests.received[request]),
            )
        )  # fmt: skip
        theirs = item.keys[item.held[place]]
        kin[unit] = kinship(item.strength, theirs)
        only[unit] = particulars(item.strength, theirs, own)
    near = any(copy.near for _, copy in leaders)
    net = item.strength.bits - charge
    probable = (
        near
        and claim.bits >= FAR_BITS
        and net >= context.parameters.probable_bits
        and not correlated
        and len(leaders) == 1
    )
    who = "one tenant" if len(leaders) == 1 else f"{len(leaders)} tenants that cannot be told apart"
    reason = (
        f"nearly the whole answer of {who} ({leaders[0][1].cover:.0%} of its words in their order), and it fits that "
        f"prompt by {claim.bits:.0f} bits more than its own; net {net:.0f} bits"
        + ("" if near else "; not on the same worker shortly before")
        + ("; contents follow each other across tenants" if correlated else "")
    )
    evidence = Evidence(
        strength=item.strength,
        charge=charge,
        sources=sources,
        kin_recipient=kinship(item.strength, own),
        kin_source=kin,
        only=only,
        share_of_response=1.0,
        features={"fit_bits": round(claim.bits, 2), "cover": round(leaders[0][1].cover, 4)},
    )
    whole = Candidate(use, request, content, 0, units, "target", False, (), frozenset())
    return Judged(
        whole, evidence, "whole_response", STRATUM, "probable" if probable else "possible", reason,
        sorted(kin), sources, TRIED, None,
    )  # fmt: skip
