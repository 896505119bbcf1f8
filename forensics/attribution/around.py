"""What only the texts around a passage tell, for the judge. Read for the passages where it may matter, in batches."""

from __future__ import annotations

from dataclasses import replace

from forensics.attribution.belonging import alike_in_signs, belongs, figures, quotes_question
from forensics.attribution.candidates import Candidate
from forensics.attribution.findings import Evidence
from forensics.attribution.forms import differs_in_an_identifier, slots
from forensics.attribution.parameters import Parameters
from forensics.attribution.questions import Question
from forensics.attribution.quotations import is_quotation
from forensics.attribution.sources import leading, leading_units
from forensics.attribution.texts import Texts
from forensics.text.words import Keys

FEW = 8  # holders, and messages of the own prompt, that are compared word by word


def look_around(
    texts: Texts,
    asked: list[tuple[Candidate, Evidence]],
    terms: dict[int, Keys],
    questions: dict[int, Question],
    prompts: dict[int, list[int]],
    parameters: Parameters,
) -> list[tuple[Candidate, Evidence]]:
    """The same with what only the texts around a passage tell, read where it may matter."""
    needs = []
    for candidate, evidence in asked:
        needed: set[int] = set()
        if _worth_a_look(candidate, evidence, parameters):
            needed = {candidate.content, *(source.holder.content for source in leading(evidence.sources))}
            needed.update(prompts.get(candidate.request, [])[-1:])
        if _may_differ(candidate, evidence, parameters):
            best = [source for source in leading(evidence.sources) if source.holder.side == 0]
            needed.update({candidate.content, *(source.holder.content for source in best[:FEW])})
            needed.update(prompts.get(candidate.request, [])[-FEW:])
        needs.append(needed)
    found = list(asked)
    for batch in texts.batches(needs):
        for i in batch:
            candidate, evidence = asked[i]
            if _may_differ(candidate, evidence, parameters):
                evidence = _with_differences(texts, candidate, evidence, prompts)
                found[i] = candidate, evidence
            if not _worth_a_look(candidate, evidence, parameters):
                continue
            best = [source for source in leading(evidence.sources) if source.holder.side == 0]
            question = questions.get(candidate.request)
            asked_text = "".join(texts.raw(key) for key in prompts.get(candidate.request, [])[-1:])
            low, high = texts.folded(candidate.content).span(candidate.start, candidate.end)
            where = belongs(texts, candidate, best or evidence.sources, evidence.strength, terms)
            found[i] = candidate, replace(
                evidence,
                belongs=where,
                features={**evidence.features, **figures(where)},
                quotation=bool(best) and is_quotation(asked_text, texts.raw(candidate.content), low, high),
                transcript=bool(best) and question is not None
                and all(quotes_question(texts, candidate, question, source.holder) for source in best),
                alike=alike_in_signs(texts, candidate, best) if len(leading_units(best)) > 1 else frozenset(),
            )  # fmt: skip
    return found


def _may_differ(candidate: Candidate, evidence: Evidence, parameters: Parameters) -> bool:
    """Is it a passage or an identifier that somebody supplied, and strong enough to be judged? Pieces of a stream have
    no words of their own around."""
    if candidate.family != "target" or (candidate.alteration is not None and candidate.alteration.pieces):
        return False
    if not candidate.token and evidence.net_bits < parameters.stray_bits:
        return False
    return any(source.holder.side == 0 for source in leading(evidence.sources))


def _with_differences(
    texts: Texts, candidate: Candidate, evidence: Evidence, prompts: dict[int, list[int]]
) -> Evidence:
    """Do all that supplied it have other values in it, or another identifier?"""
    best = [source.holder for source in leading(evidence.sources) if source.holder.side == 0][:FEW]
    own = prompts.get(candidate.request, [])[-FEW:]
    exact = candidate.alteration is None
    return replace(
        evidence,
        other_values=not candidate.token and all(slots(texts, candidate, one, own).is_form for one in best),
        other_identifier=exact and all(differs_in_an_identifier(texts, candidate, one) for one in best),
    )


def _worth_a_look(candidate: Candidate, evidence: Evidence, parameters: Parameters) -> bool:
    """Is a passage strong enough, and not explained by what is known already? Exact runs alone: what varies is judged
    by how it varies."""
    if candidate.token or candidate.alteration is not None or candidate.family != "target":
        return False
    if any(source.holder.side == 0 for source in leading(evidence.sources)):
        return evidence.net_bits >= parameters.stray_bits
    like = max((value for unit, value in evidence.likeness.items() if unit >= 0), default=0.0)
    return (
        evidence.net_bits >= parameters.possible_bits
        and candidate.crowd < parameters.phrase_limit
        and like < parameters.same_question
    )
