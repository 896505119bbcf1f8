"""Which findings follow from rows of displaced answers (`aligned`), and what is said of each link?

A row stands or falls as a whole; its links carry one chain id. A link whose own words bear it out names its tenant.
One that says nothing itself but stands between two that do is reported by its place and names nobody, since a row can
end there and another begin; so is the first beyond either end, and how many more there cannot be told is kept with the
chain.
"""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from forensics.attribution.aligned import LINK_BITS, REACH, Row, Weighed, links_of, rows_of, weigh_pairs
from forensics.attribution.candidates import Candidate, Holder, prompts_by_request
from forensics.attribution.corpus import Corpus
from forensics.attribution.displaced import STRATUM, TRIED, Claim, finding, is_throughout
from forensics.attribution.findings import Evidence, Judged
from forensics.attribution.hits import Hits
from forensics.attribution.holdings import EARLY, LATE, World
from forensics.attribution.likely import NOTHING, Likely, Suspect, reader
from forensics.attribution.nearby import Neighbours, Prompts
from forensics.attribution.own_terms import without_own
from forensics.attribution.parameters import Parameters
from forensics.attribution.sources import Source
from forensics.attribution.strange import Strange
from forensics.attribution.strength import Strength, measure
from forensics.attribution.texts import Texts

RARE_SHARE = 0.5  # share of the tenants of the language that may use a term
KNOWN_BITS = 12.0  # of a link that a copied passage proves already
SILENT_BITS = -1.0  # of an answer whose words say nothing; below it they speak for another place
ROW_BITS = 8.0  # net bits for reporting a row of displaced answers at all
SAYS_UNITS = 60  # letters of an answer below which it may be a refusal or a word of thanks, and anybody's
Features = dict[str, Any]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Link:
    """One answer of a row, and whose it is."""

    row: Row
    place: int
    recipient: int
    source: int
    one: Weighed | None
    gain: float  # bits by its own words
    apart: bool = False  # just beyond an end of the row, or inside it and akin to its own prompt


@dataclass(frozen=True)
class Context:
    """What the parts of this module share."""

    corpus: Corpus
    texts: Texts
    strange: Strange
    prompts: Prompts
    scripts: npt.NDArray[np.int32]
    parameters: Parameters

    @property
    def world(self) -> World:
        """Requests and uses."""
        return self.corpus.world


def suspects_with(context: Context, sources: dict[int, set[int]], share: float = RARE_SHARE) -> list[Suspect]:
    """The response uses `sources`, each with its neighbours and the requests given for it.

    `share` of the tenants of the language that may use a term of theirs.
    """
    world, vocabulary = context.world, context.strange.vocabulary
    uses = sorted(sources)
    numbers = np.searchsorted(vocabulary.uses, np.array(uses, dtype=np.int64))
    terms, shares, coverage = vocabulary.rare(numbers, share)
    marks = vocabulary.marks(numbers)
    neighbours = Neighbours(world)
    found = []
    for place, use in enumerate(uses):
        request = int(world.uses.request[use])
        timed = world.requests.received[request] > EARLY and world.requests.finished[request] < LATE
        near = neighbours.of(request)[:REACH] if timed else np.zeros(0, dtype=np.int64)
        more = np.array(sorted(sources[use] - set(near.tolist())), dtype=np.int64)
        part = slice(int(terms.offsets[place]), int(terms.offsets[place + 1]))
        shown = marks.keys[marks.offsets[place] : marks.offsets[place + 1]]
        every, covered = np.concatenate([near, more]), float(coverage[place])
        found.append(Suspect(use, request, every, terms.keys[part], shares[part], shown, covered))
    return found


def find_rows(context: Context, pairs: list[Weighed], answered: Flags, named: dict[int, set[int]]) -> list[Link]:
    """The links of all rows, rings and paths that are worth ROW_BITS over their charge.

    `pairs`: the weighed suspects; of several responses of a request the one that says most counts. `answered`:
    requests with a response that is akin to their prompt; `named`: units that a copied passage of a use names already.
    """
    world = context.world
    weighed: dict[int, Weighed] = {}
    for pair in pairs:
        known = weighed.get(pair.request)
        if known is None or pair.gain.max(initial=-math.inf) > known.gain.max(initial=-math.inf):
            weighed[pair.request] = pair
    neighbours = Neighbours(world)
    for use in sorted(named):
        request = int(world.uses.request[use])
        around = neighbours.of(request)[:REACH]
        if around.size:
            mine = np.isin(world.requests.unit[around], sorted(named[use]))
            weighed[request] = Weighed(request, use, around, np.where(mine, KNOWN_BITS, -KNOWN_BITS))
    rows = rows_of(world, weighed, answered, ROW_BITS)
    taken = {request for row in rows for request in row.recipients}
    left = {request: one for request, one in weighed.items() if request not in taken}
    rows += links_of(world, left, ~answered, ROW_BITS)
    taken = {request for row in rows for request in row.recipients}
    inner = _inner(context, rows)
    links = []
    for row in rows:
        for place, (recipient, source) in enumerate(zip(row.recipients, row.sources, strict=True)):
            one = weighed.get(recipient)
            at = np.flatnonzero(one.near == source) if one else np.zeros(0, dtype=np.int64)
            gain = float(one.gain[at[0]]) if one and at.size else 0.0
            links.append(Link(row, place, recipient, source, one, gain))
        for recipient, source in row.skipped:
            one = inner.get(recipient)
            if one is not None and recipient not in taken:
                taken.add(recipient)
                gain = float(one.gain[np.flatnonzero(one.near == source)[0]])
                links.append(Link(row, -1, recipient, source, one, gain, True))
        for recipient, source in zip(row.doubtful, row.doubtful_sources, strict=True):
            if recipient not in taken:
                taken.add(recipient)
                links.append(Link(row, -1, recipient, source, weighed.get(recipient), 0.0, True))
    return links


def _inner(context: Context, rows: list[Row]) -> dict[int, Weighed]:
    """Pair weights of the responses inside rows that take up a little of their own prompt, by request."""
    world = context.world
    asked = dict(pair for row in rows for pair in row.skipped)
    sources: dict[int, set[int]] = {}
    for use in context.strange.vocabulary.uses.tolist() if asked else ():
        request = int(world.uses.request[use])
        if request in asked and asked[request] >= 0:
            sources[use] = {asked[request]}
    suspects = suspects_with(context, sources)
    pairs = weigh_pairs(
        context.corpus, context.texts, suspects, context.prompts, context.scripts,
        context.parameters.aligned_bytes, reader(context.corpus, suspects),
    )  # fmt: skip
    found: dict[int, Weighed] = {}
    for pair in sorted(pairs, key=lambda pair: -float(pair.gain.max(initial=-math.inf))):
        found.setdefault(pair.request, pair)
    return found


def features_of(world: World, link: Link) -> Features:
    """What a fragment tells of its chain."""
    row = link.row
    names = "\0".join(world.requests.request_id[request] for request in row.recipients)
    return {
        "chain_id": "C-" + hashlib.blake2b(names.encode("utf-8", "replace"), digest_size=6).hexdigest(),
        "chain_form": row.form,
        "chain_offset": row.offset,
        "chain_links": len(row.recipients),
        "chain_place": link.place + 1,  # 0: next to an end
        "chain_bits": round(row.bits, 2),
        "chain_net_bits": round(row.bits - row.charge, 2),
        "chain_link_bits": round(link.gain, 2),
        "chain_unclear_before": row.before,
        "chain_unclear_after": row.after,
    }


def judge_rows(
    context: Context, links: list[Link], reported: set[int], hits: Hits, correlated: bool
) -> tuple[list[Judged], dict[int, Features]]:
    """Fragments of the links, and the features of the chain for each response use that belongs to one.

    `reported`: uses that have fragments already; their chain is told, and nothing is added: that a passage is copied
    does not prove that the rest of the answer is its tenant's, too.
    """
    world = context.world
    uses = _uses(context, links)
    marks = {use: features_of(world, link) for use, link in uses}
    chosen = [(use, link) for use, link in uses if _foreign(world, link) and use not in reported]
    spoken = [
        (link.one, int(np.flatnonzero(link.one.near == link.source)[0]))
        for use, link in chosen
        if link.one and link.one.use == use and _speaks(world, link)
    ]
    claims = claims_of(context, spoken)
    kept = {
        claim.likely.suspect.use for claim in without_own(context.corpus, list(claims.values()), context.prompts, hits)
    }
    found = []
    for use, link in chosen:
        if use in claims:
            if use in kept:
                found.append(_spoken(context, link, claims[use], correlated))
        elif _is_silent(context, link) and link.row.form == "shifted" and not _is_phrase(context, use):
            found.append(_by_place(context, link, use))
    return found, marks


def _is_silent(context: Context, link: Link) -> bool:
    """Does the answer say nothing against its place in a row that is sure enough to speak for it?"""
    row = link.row
    return link.gain >= SILENT_BITS and row.bits - row.charge >= context.parameters.generated_bits


def _is_phrase(context: Context, use: int) -> bool:
    """Is the answer one that many tenants were given ("Done.")? It is nobody's, wherever it stands."""
    world = context.world
    content = int(world.uses.content[use])
    rows = slice(int(world.uses.of_content[content]), int(world.uses.of_content[content + 1]))
    given = world.uses.request[rows][world.uses.side[rows] == 1]
    units = np.unique(world.requests.unit[given])
    return int((units >= 0).sum()) >= context.parameters.phrase_limit


def _uses(context: Context, links: list[Link]) -> list[tuple[int, Link]]:
    """Response uses of each link that do not answer their own prompt."""
    world = context.world
    by_request: dict[int, list[int]] = defaultdict(list)
    wanted = {link.recipient for link in links}
    inner = {link.one.use for link in links if link.one is not None and link.apart}
    for use, akin in zip(context.strange.vocabulary.uses.tolist(), context.strange.beside.tolist(), strict=True):
        request = int(world.uses.request[use])
        if request in wanted and (not akin or use in inner):
            by_request[request].append(use)
    return [(use, link) for link in links for use in by_request[link.recipient]]


def _foreign(world: World, link: Link) -> bool:
    return bool(world.requests.unit[link.source] != world.requests.unit[link.recipient])


def _speaks(world: World, link: Link) -> bool:
    """Do the words of the answer point to the source, and to no other tenant's prompt nearby?"""
    assert link.one is not None
    unit = world.requests.unit
    rivals = link.one.gain[(unit[link.one.near] != unit[link.source])]
    return not link.apart and link.gain > 0 and link.gain >= float(rivals.max(initial=-math.inf)) + LINK_BITS


def claims_of(context: Context, chosen: list[tuple[Weighed, int]]) -> dict[int, Claim]:
    """Claims of weighed responses on the request at a place of their neighbours, by use."""
    world, texts = context.world, context.texts
    claims: dict[int, Claim] = {}
    for batch in texts.batches([{int(world.uses.content[one.use])} for one, _ in chosen]):
        for one, place in chosen[batch.start : batch.stop]:
            assert one.suspect is not None
            content = int(world.uses.content[one.use])
            size = texts.units(content).size
            whole = Candidate(one.use, one.request, content, 0, size, "target", False, (), frozenset())
            strength = measure(whole, texts, NOTHING, int(world.requests.unit[one.request]))
            suspect, held = one.suspect, one.held()
            likely = Likely(suspect, strength, suspect.terms, held[:-1], one.gain, 0.0, held[-1])
            claims[one.use] = Claim(likely, [place], float(one.gain[place]))
    return claims


def _verdict(context: Context, link: Link, correlated: bool) -> tuple[bool, bool]:
    """May the tenant be named, and is that probable?"""
    row, parameters = link.row, context.parameters
    net = row.bits - row.charge
    named = net >= (parameters.probable_bits if correlated else parameters.generated_bits)
    return named, named and not correlated and net >= parameters.probable_bits


def _spoken(context: Context, link: Link, claim: Claim, correlated: bool) -> Judged:
    named, probable = _verdict(context, link, correlated)
    named = named and is_throughout(context.world, context.texts, claim)
    probable = probable and named
    made = finding(context.world, context.texts, claim, context.prompts, link.row.charge, True, False, named, probable)
    row = link.row
    reason = (
        f"{made.reason}; {len(row.recipients)} answers in a {row.form} row bear each other out "
        f"({row.bits:.0f} bits less {row.charge:.0f} for the search)"
        + ("; contents follow each other across tenants" if correlated else "")
    )
    bits = row.bits
    evidence = replace(
        made.evidence, strength=replace(made.evidence.strength, bits=bits), features=features_of(context.world, link)
    )
    return replace(made, evidence=evidence, reason=reason)


def _by_place(context: Context, link: Link, use: int) -> Judged:
    """A link that says nothing itself."""
    world, texts, row = context.world, context.texts, link.row
    requests = world.requests
    content = int(world.uses.content[use])
    prompt = prompts_by_request(world, {link.source}).get(link.source, [])
    units = texts.units(content).size
    sources = []
    if prompt:
        asked = prompt[-1]
        field = next(
            world.uses.field[at]
            for at in range(int(world.uses.of_content[asked]), int(world.uses.of_content[asked + 1]))
            if world.uses.request[at] == link.source and world.uses.side[at] == 0
        )
        reach = texts.units(asked).size
        holder = Holder(asked, int(requests.unit[link.source]), 0, 0, units, 0, reach, 0)
        lag = int(requests.finished[link.recipient] - requests.received[link.source])
        overlap = bool(requests.finished[link.source] > requests.received[link.recipient])
        same = None if requests.worker[link.recipient] is None else True
        sources = [Source(holder, link.source, requests.request_id[link.source], field, lag, same, overlap)]
    whole = Candidate(use, link.recipient, content, 0, units, "target", False, (), frozenset())
    none = np.zeros(0, dtype=np.uint64)
    evidence = Evidence(
        strength=Strength(row.bits, 0.0, 0, 0.0, none, np.zeros(0), np.zeros(0)),
        charge=row.charge,
        sources=sources,
        kin_recipient=0.0,
        kin_source={},
        only={},
        share_of_response=1.0,
        features=features_of(world, link),
    )
    reason = (
        f"hardly takes up its own prompt, and stands in a row of {len(row.recipients)} answers that is shifted by "
        f"{row.offset}, or next to its end ({row.bits:.0f} bits less {row.charge:.0f} for the search); it says too "
        "little itself to name anybody"
    )
    return Judged(whole, evidence, "whole_response", STRATUM, "undetermined", reason, [], sources, TRIED, None)


def left_behind(context: Context, found: list[Judged], reported: set[int]) -> list[Judged]:
    """Responses of requests whose answer was found elsewhere, where they are strange to their prompt and not reported.

    An answer went to somebody else; what stands in its place is another's, too, but the place does not say whose.
    """
    world, texts = context.world, context.texts
    gone: dict[int, Judged] = {}
    for item in found:
        sure = item.evidence.net_bits >= context.parameters.probable_bits
        if item.stratum == STRATUM and sure and len(item.units) == 1 and len(item.ranked) == 1:
            gone.setdefault(item.ranked[0].request, item)
    told = reported | {item.candidate.use for item in found}
    vocabulary = context.strange.vocabulary
    uses = [
        use
        for use, akin in zip(vocabulary.uses.tolist(), context.strange.beside.tolist(), strict=True)
        if not akin and use not in told and int(world.uses.request[use]) in gone and not _is_phrase(context, use)
    ]
    made = []
    for batch in texts.batches([{int(world.uses.content[use])} for use in uses]):
        for use in uses[batch.start : batch.stop]:
            request, content = int(world.uses.request[use]), int(world.uses.content[use])
            size = texts.units(content).size
            if size < SAYS_UNITS:
                continue
            other = gone[request]
            whole = Candidate(use, request, content, 0, size, "target", False, (), frozenset())
            none = np.zeros(0, dtype=np.uint64)
            evidence = Evidence(
                strength=Strength(other.evidence.strength.bits, 0.0, 0, 0.0, none, np.zeros(0), np.zeros(0)),
                charge=other.evidence.charge,
                sources=[],
                kin_recipient=0.0,
                kin_source={},
                only={},
                share_of_response=1.0,
            )
            reason = (
                "has nothing to do with its own prompt, whose answer was given to another request; whose answer this "
                "is, it does not tell"
            )
            made.append(Judged(whole, evidence, "whole_response", STRATUM, "undetermined", reason, [], [], TRIED, None))
    return made


def joined(first: list[Judged], second: list[Judged]) -> list[Judged]:
    """Findings of two tests on the same responses: the stronger of each; nobody is named where they disagree."""
    rank = {"undetermined": 0, "possible": 1, "probable": 2}
    best = {item.candidate.use: item for item in first}
    for item in second:
        known = best.get(item.candidate.use)
        if known is None:
            best[item.candidate.use] = item
        elif known.units and item.units and known.units != item.units:
            reason = f"{item.reason}; by its words alone it is another tenant's: nobody is named"
            best[item.candidate.use] = replace(item, units=[], verdict="undetermined", reason=reason)
        elif rank[item.verdict] >= rank[known.verdict]:
            best[item.candidate.use] = item
        else:
            best[item.candidate.use] = known.with_features(item.evidence.features)
    return [best[use] for use in sorted(best)]


def marked(judged: list[Judged], marks: dict[int, Features]) -> list[Judged]:
    """The fragments with their chain's features, where their response is a link of one."""
    return [
        item.with_features({**marks[item.candidate.use], **item.evidence.features})
        if item.candidate.use in marks
        else item
        for item in judged
    ]
