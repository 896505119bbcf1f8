"""Turns a claim on another's answer into a fragment with its evidence. Decides nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from forensics.attribution.candidates import Candidate, Holder
from forensics.attribution.findings import Evidence, Judged
from forensics.attribution.holdings import World
from forensics.attribution.likely import Likely, term_spans
from forensics.attribution.nearby import Prompts
from forensics.attribution.sources import Source
from forensics.attribution.strength import kinship, particulars
from forensics.attribution.texts import Texts
from forensics.text.words import terms

STRATUM = "displaced answer"
WINDOW_UNITS = 600  # of a prompt that is shown as evidence
ONLY_RATIO = 3.0  # bits of words that only the other prompt has, to those that only the own one has
THROUGHOUT = 0.5  # share of a response from the first to the last of the terms by which it is another's answer
TRIED = ("own_material", "echo", "shared", "public_text", "answered", "own_tenant")


@dataclass(frozen=True)
class Claim:
    """One suspect's best explanation: `places` in its `near`, one for each tenant not to be told from the best."""

    likely: Likely
    places: list[int]
    bits: float


def is_throughout(world: World, texts: Texts, claim: Claim) -> bool:
    """Do the terms stand all over the response? Those of a passage in it say nothing of the rest."""
    content = int(world.uses.content[claim.likely.suspect.use])
    words = texts.words(content)
    starts, ends = term_spans(words)
    met = np.isin(terms(words), claim.likely.keys[claim.likely.held[claim.places].any(axis=0)])
    return bool(met.any()) and int(ends[met].max() - starts[met].min()) >= THROUGHOUT * texts.units(content).size


def is_others(only: dict[int, tuple[float, float]]) -> bool:
    """Has one of the other prompts clearly more bits of the answer's words to itself than the own one? An answer that
    speaks of the recipient's own matter as well is no other's whole answer. `only`: theirs and mine, by unit."""
    return any(theirs >= ONLY_RATIO * mine for theirs, mine in only.values())


def _unnamed(alone: bool, throughout: bool) -> str:
    """Why nobody is named, as a part of the reason."""
    if not alone:
        return "; it speaks of the recipient's own matter, too: nobody is named"
    if not throughout:
        return "; they stand in one part of it, which may be a passage: nobody is named"
    return "; not enough to name anybody"


def finding(
    world: World, texts: Texts, claim: Claim, prompts: Prompts, charge: float, chained: bool, silent: bool,
    named: bool, probable: bool,
) -> Judged:  # fmt: skip
    """The whole response as a fragment. `charge` in bits; `chained`: neighbours' answers are displaced too; `silent`:
    the other request got no answer; `named`: its tenant may be named; `probable`: and that firmly.
    """
    item, suspect = claim.likely, claim.likely.suspect
    content = int(world.uses.content[suspect.use])
    units = texts.units(content).size
    candidate = Candidate(suspect.use, suspect.request, content, 0, units, "target", False, (), frozenset())
    sources = [
        source_of(world, texts, item, place, prompts)
        for place in sorted(claim.places, key=lambda place: -item.bits[place])
    ]
    kin, only, own = {}, {}, item.keys[item.own]
    for place, source in zip(sorted(claim.places, key=lambda place: -item.bits[place]), sources, strict=True):
        theirs = item.keys[item.held[place]]
        kin[source.holder.unit] = kinship(item.strength, theirs)
        only[source.holder.unit] = particulars(item.strength, theirs, own)
    alone = is_others(only)
    named, probable = named and alone, probable and alone
    shared = max(int(item.held[place].sum()) for place in claim.places)
    who = "one request" if len(sources) == 1 else f"{len(sources)} tenants' requests that cannot be told apart"
    reason = (
        f"has nothing to do with its own prompt and answers that of {who} nearby ({shared} of its {item.keys.size} "
        f"rare terms, {claim.bits:.0f} bits), "
        + ("which got no answer" if silent else "which got another answer")
        + ("; neighbours' answers are displaced too" if chained else "")
        + ("" if named else _unnamed(alone, is_throughout(world, texts, claim)))
    )
    evidence = Evidence(
        strength=replace(item.strength, bits=claim.bits),
        charge=charge,
        sources=sources,
        kin_recipient=kinship(item.strength, own),
        kin_source=kin,
        only=only,
        share_of_response=1.0,
    )
    verdict = "probable" if probable else "possible" if named else "undetermined"
    named_units = sorted({source.holder.unit for source in sources}) if named else []
    return Judged(candidate, evidence, "whole_response", STRATUM, verdict, reason, named_units, sources, TRIED, None)


def source_of(world: World, texts: Texts, item: Likely, place: int, prompts: Prompts) -> Source:
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
        starts, ends = term_spans(found)
        met = np.flatnonzero(np.isin(keys, theirs))
        met = met[np.argsort(starts[met], kind="stable")]
        for first in range(met.size):
            low = int(starts[met[first]])
            inside = met[first:][ends[met[first:]] <= max(low + WINDOW_UNITS, int(ends[met[first]]))]
            count = int(np.unique(keys[inside]).size)
            if count > most:
                most, content, start, end = count, one, low, int(ends[inside].max())
    own = texts.words(int(uses.content[suspect.use]))
    starts, ends = term_spans(own)
    shared = np.isin(terms(own), theirs)
    units = texts.units(int(uses.content[suspect.use])).size
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
