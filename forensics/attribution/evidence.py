"""Everything the judge needs to know about each candidate, measured once for all of them.

One background pass counts the words of all candidates together; decoy strata are assessed before anything is judged.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from forensics.attribution import decoys
from forensics.attribution.around import look_around
from forensics.attribution.candidates import Candidate, Excluded, prompts_by_request
from forensics.attribution.charges import Charges, TokenCounts
from forensics.attribution.findings import Evidence, Judged
from forensics.attribution.holdings import World
from forensics.attribution.judge import PUBLIC_SHARE, judge
from forensics.attribution.parameters import Parameters
from forensics.attribution.questions import Question, read_question, same_question
from forensics.attribution.sources import (
    Source,
    first_generations,
    first_unit,
    leading,
    leading_units,
    locate,
    not_before,
    settle_roles,
)
from forensics.attribution.strata import assess
from forensics.attribution.strength import (
    Counts,
    Strength,
    count_background,
    keys_of,
    kinship,
    likeness,
    measure,
    particulars,
    prompt_terms,
)
from forensics.attribution.texts import Texts
from forensics.text.identifiers import is_nested
from forensics.text.match import pack
from forensics.text.names import PAIR, names
from forensics.text.public import is_public_constant, is_public_form, is_public_token, public_share
from forensics.text.runs import total_weight
from forensics.text.words import Keys

RECITED_SHARE = 0.5  # share of the response that must be the text for it to be the recitation asked for
GROUPS_BITS = 2.0  # a run of groups gives up to three identifiers beside itself: four chances where others have one
MAX_CONSTANT = 256  # units; no well-known constant is longer
NO_TERMS: Keys = np.zeros(0, dtype=np.uint64)


def gather(
    texts: Texts,
    candidates: list[Candidate],
    tokens: TokenCounts,
    parameters: Parameters,
) -> tuple[list[Judged], list[Excluded], list[decoys.Stratum]]:
    """Judged fragments, exclusions and decoy strata."""
    world = texts.corpus.world
    sources = [_located(world, candidate) for candidate in candidates]
    prompts = prompts_by_request(world, _asked(candidates, sources))
    terms: dict[int, Keys] = {}
    questions: dict[int, Question] = {}
    keys: list[Keys] = []
    needs: list[set[int]] = []
    planned: set[int] = set()
    for candidate, found in zip(candidates, sources, strict=True):
        needed = {candidate.content, candidate.read.content}
        if candidate.family != "decoy":
            for request in _requests_of(candidate, found):
                if request not in planned:
                    planned.add(request)
                    needed.update(prompts.get(request, ()))
        needs.append(needed)
    for batch in texts.batches(needs):
        for i in batch:
            candidate = candidates[i]
            keys.append(keys_of(candidate.read, texts.words(candidate.read.content))[1])
            if candidate.family != "decoy":
                generated = not any(s.holder.side == 0 for s in leading(sources[i]))
                for request in _requests_of(candidate, sources[i]):
                    if request not in terms:
                        contents = prompts.get(request, [])
                        terms[request] = prompt_terms(texts, contents)
                        if contents:
                            questions[request] = read_question(texts, contents[-1])
                    if generated:
                        keys.append(terms[request])
    counts = (
        count_background(texts.corpus, np.concatenate(keys), parameters.background_bytes)
        if keys
        else Counts(NO_TERMS, np.zeros((0, 1), dtype=np.int32), 0)
    )
    strengths: list[Strength] = []
    shares: list[tuple[float, float, bool]] = []
    of_groups: list[float] = []
    named: list[bool] = []  # a name of two words stands in it
    for batch in texts.batches([_read_for(candidate) for candidate in candidates]):
        for i in batch:
            candidate = candidates[i]
            whole = measure(candidate.read, texts, counts, int(world.requests.unit[candidate.request]))
            strengths.append(replace(whole, bits=whole.bits * _agreement(candidate)))
            shares.append(_shares(candidate, texts))
            named.append(candidate.family == "target" and not candidate.token and _names_somebody(candidate, texts))
            of_groups.append(GROUPS_BITS if candidate.token and _is_nested(candidate, texts) else 0.0)
    price = Charges(world, tokens)
    charges = [
        (price.of_token(c.end - c.start, _beside(found)) if c.token else price.of_text(_beside(found)))
        + (c.alteration.freedom if c.alteration else 0.0)
        + more
        for c, found, more in zip(candidates, sources, of_groups, strict=True)
    ]
    agreeing = _agreeing(candidates, sources, strengths)
    public = [share[1] >= PUBLIC_SHARE or share[2] for share in shares]
    strata = assess(texts, candidates, strengths, sources, public, parameters)
    asked: list[tuple[Candidate, Evidence]] = []
    for i, candidate in enumerate(candidates):
        if candidate.family == "decoy":
            continue
        own = terms.get(candidate.request, NO_TERMS)
        asks = questions.get(candidate.request)
        left_out = candidate.carriers | {int(world.requests.unit[candidate.request])}
        generated = not any(s.holder.side == 0 for s in leading(sources[i]))
        placed = _on_same_worker(sources[i])
        kin: dict[int, float] = {}
        like: dict[int, float] = {}
        only: dict[int, tuple[float, float]] = {}
        origins = first_generations(world, sources[i]) if generated else []
        for source in origins:
            unit = source.holder.unit
            theirs = terms.get(source.request, NO_TERMS)
            kin[unit] = kinship(strengths[i], theirs)
            like[unit] = likeness(own, theirs, counts, left_out)
            if same_question(asks, questions.get(source.request), strengths[i], parameters):
                like[unit] = 1.0
            only[unit] = particulars(strengths[i], theirs, own)
        evidence = Evidence(
            strength=strengths[i],
            charge=charges[i],
            sources=sources[i],
            kin_recipient=kinship(strengths[i], own),
            kin_source=kin,
            likeness=like,
            only=only,
            not_before=not_before(world, candidate, origins),
            first_unit=first_unit(world, origins),
            share_of_response=shares[i][0],
            public_share=shares[i][1],
            public_token=shares[i][2],
            agreeing_bits=agreeing.get((candidate.use, _single(sources[i])), 0.0),
            q_value=strata.q_values.get(i),
            least_q=strata.least_q.get(i, 0.0),
            particular=named[i] or i in strata.with_identifiers,
            features=dict(strata.measured.get(i, {})),
            question_units=0 if asks is None else asks.units.size,
            asks_language=asks is not None and asks.in_language,
            asks_for_text=asks is not None and asks.recites and shares[i][0] >= RECITED_SHARE,
            capped=strata.correlated
            and (not placed or i in strata.unsupported or strata.q_values.get(i, 0.0) > parameters.q_limit),
        )
        asked.append((candidate, evidence))
    judged: list[Judged] = []
    dropped: list[tuple[Candidate, Excluded]] = []
    for candidate, evidence in look_around(texts, asked, terms, questions, prompts, parameters):
        result = judge(candidate, evidence, parameters)
        if isinstance(result, Judged):
            judged.append(result)
        elif candidate.family == "target":
            dropped.append((candidate, result))
    excluded: list[Excluded] = []
    for batch in texts.batches([{candidate.content} for candidate, _ in dropped]):
        for candidate, result in dropped[batch.start : batch.stop]:
            low, high = texts.folded(candidate.content).span(candidate.start, candidate.end)
            excluded.append(replace(result, start=low, end=high))
    return _without_inner_tokens(_without_lone_firsts(judged)), excluded, strata.rows


def _without_lone_firsts(judged: list[Judged]) -> list[Judged]:
    """Keep the first tenant to be given a passage only where a later one's fragment could not be explained either."""
    unexplained: dict[int, list[tuple[int, int]]] = {}
    for item in judged:
        if item.candidate.family == "target" and item.verdict == "undetermined":
            for source in item.ranked:
                holder = source.holder
                unexplained.setdefault(holder.content, []).append((holder.other_start, holder.other_end))
    return [
        j
        for j in judged
        if j.candidate.family != "repeated"
        or any(
            min(end, j.candidate.end) > max(start, j.candidate.start)
            for start, end in unexplained.get(j.candidate.content, ())
        )
    ]


def _without_inner_tokens(judged: list[Judged]) -> list[Judged]:
    """Drop identifier fragments inside another fragment; what they prove (a smaller search) is said of that one."""
    tokens: dict[int, list[Judged]] = {}
    for item in judged:
        if item.candidate.token:
            tokens.setdefault(item.candidate.use, []).append(item)
    kept = []
    inner: set[int] = set()
    for item in judged:
        if item.candidate.token:
            continue
        inside = [t for t in tokens.get(item.candidate.use, ()) if _within(t.candidate, item.candidate)]
        inner.update(id(t) for t in inside)
        strong = [t for t in inside if t.verdict == "probable" and t.units == item.units]
        if item.verdict == "possible" and strong:
            item = replace(item, verdict="probable", reason=f"{strong[0].reason}; by the identifier inside it")
        kept.append(item)
    return sorted(
        [*kept, *(t for found in tokens.values() for t in found if id(t) not in inner)],
        key=lambda item: (item.candidate.use, item.candidate.start, item.candidate.end),
    )


def _within(inner: Candidate, outer: Candidate) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


def _agreement(candidate: Candidate) -> float:
    """Share of the candidate's units that its best holder has: joined runs pay for the gaps between them."""
    if candidate.alteration is not None and not candidate.alteration.pieces:  # only what agrees was measured
        return 1.0
    if candidate.alteration is not None:
        best_holder = candidate.holders[0]
        return min(1.0, best_holder.matched / max(1, best_holder.other_end - best_holder.other_start))
    reach = max(holder.end - holder.start for holder in candidate.holders)
    best = max(h.matched for h in candidate.holders if h.end - h.start == reach)
    return min(1.0, best / reach)


def _located(world: World, candidate: Candidate) -> list[Source]:
    if candidate.family == "decoy":
        return []
    if candidate.family == "repeated":  # the others were given it later; where they stand matters, not whether before
        found = [_later(world, candidate, i) for i in range(len(candidate.holders))]
    else:
        found = [locate(world, candidate, holder) for holder in candidate.holders]
    return settle_roles(world, [source for source in found if source is not None])


def _later(world: World, candidate: Candidate, index: int) -> Source | None:
    holder = candidate.holders[index]
    uses = world.uses
    for row in range(int(uses.of_content[holder.content]), int(uses.of_content[holder.content + 1])):
        request = int(uses.request[row])
        if int(uses.side[row]) == holder.side and int(world.requests.unit[request]) == holder.unit:
            return Source(holder, request, world.requests.request_id[request], uses.field[row], None, None, None)
    return None


def _requests_of(candidate: Candidate, sources: list[Source]) -> list[int]:
    return [candidate.request, *(s.request for s in sources if s.holder.side == 1)]


def _asked(candidates: list[Candidate], sources: list[list[Source]]) -> set[int]:
    asked: set[int] = set()
    for candidate, found in zip(candidates, sources, strict=True):
        if candidate.family != "decoy":
            asked.update(_requests_of(candidate, found))
    return asked


def _read_for(candidate: Candidate) -> set[int]:
    """Texts that a candidate's own numbers are read from."""
    needed = {candidate.content, candidate.read.content}
    return needed | {candidate.holders[0].content} if candidate.token else needed


def _is_nested(candidate: Candidate, texts: Texts) -> bool:
    """Is the identifier cut out of a longer run of groups, in the response or where it comes from?"""
    holder = candidate.holders[0]
    here = is_nested(texts.corpus.data(candidate.content), candidate.start, candidate.end)
    return here or is_nested(texts.corpus.data(holder.content), holder.other_start, holder.other_end)


def _shares(candidate: Candidate, texts: Texts) -> tuple[float, float, bool]:
    """Share of the response that is foreign (by weight), share that is public, and is it a public token."""
    folded = texts.folded(candidate.content)
    part = folded.units[candidate.start : candidate.end]
    whole = total_weight(folded.units)
    low, high = folded.span(candidate.start, candidate.end)
    units = "".join(map(chr, part[:MAX_CONSTANT].tolist()))
    raw = texts.raw(candidate.content)[low:high]
    constant = is_public_token(units) if candidate.token else part.size < MAX_CONSTANT and is_public_constant(units)
    public = 0.0 if candidate.token else public_share(raw)
    return total_weight(part) / max(1, whole), public, constant or is_public_form(raw)


def _names_somebody(candidate: Candidate, texts: Texts) -> bool:
    """Do two capitalised words in a row stand in the passage?"""
    low, high = texts.folded(candidate.content).span(candidate.start, candidate.end)
    found = names(*pack([texts.raw(candidate.content)[low:high]]))
    return bool((found.kinds == PAIR).any())


def _beside(sources: list[Source]) -> bool:
    """Was every leading source in flight on the recipient's worker at the same time?"""
    best = leading(sources)
    return bool(best) and all(source.same_worker and source.overlapped for source in best)


def _single(sources: list[Source]) -> int:
    """The one unit that leads, or -2."""
    supplied = [s for s in leading(sources) if s.holder.side == 0]
    if not supplied:
        return -2
    units = leading_units(supplied)
    return units[0] if len(units) == 1 else -2


def _agreeing(
    candidates: list[Candidate], sources: list[list[Source]], strengths: list[Strength]
) -> dict[tuple[int, int], float]:
    """Bits of the distinct identifier tokens of one response that one and the same tenant supplied."""
    best: dict[tuple[int, int, int], float] = {}
    for candidate, found, strength in zip(candidates, sources, strengths, strict=True):
        if candidate.token and candidate.family == "target":
            unit = _single(found)
            if unit >= 0:
                key = (candidate.use, unit, hash_of(strength))
                best[key] = max(best.get(key, 0.0), strength.bits)
    total: dict[tuple[int, int], float] = {}
    for (use, unit, _), bits in sorted(best.items()):
        total[use, unit] = total.get((use, unit), 0.0) + bits
    return total


def hash_of(strength: Strength) -> int:
    """One number for the words of a token, so that a repeated token counts once."""
    return int(np.bitwise_xor.reduce(strength.terms)) if strength.terms.size else 0


def _on_same_worker(sources: list[Source]) -> bool:
    """Did the recipient's worker serve a leading source?"""
    return any(source.same_worker for source in leading(sources))
