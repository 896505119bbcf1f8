"""What does a finding rest on, and what would change it? Figures and sentences for `explain`, by its own rules.

Three things that the judge knew and the tables would lose: the bits of each word (`parts`), what each rule that the
finding survived has measured (`tried`), and which fact would have led to another verdict (`would_change`). Sentences
hold counts, never text of a log. Judges nothing anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from forensics.attribution import displaced, generated, swapped
from forensics.attribution.decoys import Stratum
from forensics.attribution.findings import Judged
from forensics.attribution.judge import OWN_SUBJECT, PUBLIC_SHARE, least_bits, may_be_known
from forensics.attribution.parameters import Parameters
from forensics.attribution.sources import TIE_UNITS, leading
from forensics.attribution.templates import SUPPLIERS
from forensics.text.fold import Folded

MOST_PARTS = 16  # words named by themselves, the strongest
OFF_RULE = "this rule was switched off"


def grounds(item: Judged, folded: Folded, strata: list[Stratum], parameters: Parameters) -> dict[str, list[Any]]:
    """`parts`, `tried` and `would_change` of a finding. Offsets of parts are code points of the response field."""
    return {
        "parts": _parts(item, folded),
        "tried": [_tried(item, rule, parameters) for rule in item.tried],
        "would_change": list(_changes(item, strata, parameters)),
    }


def _parts(item: Judged, folded: Folded) -> list[list[float]]:
    """`[start, end, bits]` of the words that carry most, in the order of the text; signs of scripts without spaces that
    stand side by side are one part. None for evidence by subject, and for mixed streams, whose words are broken."""
    strength = item.evidence.strength
    read_here = item.candidate.read is item.candidate
    if strength.word_bits.size == 0 or item.stratum == displaced.STRATUM or not read_here:
        return []
    best = np.sort(np.argsort(-strength.word_bits, kind="stable")[:MOST_PARTS])
    parts: list[list[float]] = []
    last = -1
    for i in best.tolist():
        start, end = folded.span(int(strength.word_starts[i]), int(strength.word_ends[i]))
        bits = float(strength.word_bits[i])
        if i == last + 1 and parts and parts[-1][1] == start:
            parts[-1][1:] = [end, parts[-1][2] + bits]
        else:
            parts.append([start, end, bits])
        last = i
    return [[start, end, round(bits, 1)] for start, end, bits in parts]


def _suppliers(item: Judged) -> int:
    return len({source.holder.unit for source in item.ranked if source.holder.side == 0})


def _tried(item: Judged, rule: str, parameters: Parameters) -> dict[str, Any]:
    """What a rule measured and from where on it would have dropped the finding (None: it does not count)."""
    evidence = item.evidence
    measured: float | None = None
    limit: float | None = None
    meaning = {
        "own_material": "earlier text of the recipient's tenant that holds it",
        "echo": "share of it in the request's own prompt",
        "language_request": "something that asks for this script",
    }.get(rule, "")
    if rule == "shared":
        measured, limit, meaning = _suppliers(item), parameters.shared_limit, "unrelated tenants that supplied it"
    elif rule == "template":
        measured, limit = _suppliers(item), SUPPLIERS
        meaning = f"suppliers in one template (near-duplicate system prompts of {parameters.template_tenants} tenants)"
    elif rule == "public_text":
        measured, limit = round(evidence.public_share, 3), PUBLIC_SHARE
        meaning = "share of it in the shipped public texts"
    elif rule == "too_weak":
        measured, limit, meaning = round(_net(item), 1), _least(item, parameters), "net bits (at least)"
    elif rule == "model_phrase":
        measured, limit, meaning = item.candidate.crowd, parameters.phrase_limit, "tenants that were given it"
    elif rule == "same_question":
        measured, limit = round(max(evidence.likeness.values(), default=0.0), 3), parameters.same_question
        meaning = "likeness of the two prompts"
    if rule in parameters.without_rules:
        limit, meaning = None, OFF_RULE
    return {"rule": rule, "measured": measured, "limit": limit, "meaning": meaning}


def _net(item: Judged) -> float:
    net = item.evidence.net_bits
    return max(net, item.evidence.agreeing_bits - item.evidence.charge) if item.candidate.token else net


def _least(item: Judged, parameters: Parameters) -> float:
    """Net bits below which a finding of this sort is dropped."""
    if item.stratum == displaced.STRATUM:
        return swapped.UNNAMED_NET_BITS
    if item.stratum == generated.GENERATED:
        return parameters.generated_bits
    return least_bits(item.candidate, item.evidence, parameters)


def _changes(item: Judged, strata: list[Stratum], parameters: Parameters) -> Iterator[str]:
    """Which fact would lead to another verdict, by the rules that made this one."""
    if item.verdict == "undetermined":
        yield from _undetermined(item, parameters)
    elif item.stratum == displaced.STRATUM:
        yield from _by_subject(item, parameters)
    elif item.stratum == generated.GENERATED:
        yield from _generated(item, parameters)
    else:
        yield from _supplied(item, strata, parameters)
    yield "weaker: an earlier request of the recipient's tenant that holds the text would make it own material"


def _undetermined(item: Judged, parameters: Parameters) -> Iterator[str]:
    if any(source.holder.unit < 0 for source in leading(item.ranked)):
        yield "stronger: a tenant for the request that holds it (--tenants, or the gateway's log) could be named"
        return
    if item.evidence.capped:
        yield (
            "stronger: a source that the recipient's worker served could be named, since tenants' contents follow each "
            "other here (worker names, or the logs of that worker)"
        )
        yield "stronger: something else of that tenant's in the response (a canary, a passage with its worker) as well"
        yield "weaker: a public text that holds it would set it aside (forensics reference add)"
        return
    yield (
        "stronger: evidence in which a tenant supplied it (missing logs, another vantage, an earlier day) "
        "could name a source"
    )
    if item.stratum == displaced.STRATUM and _net(item) >= parameters.generated_bits:
        yield "stronger: its bits would name the request it answers, were it not for what the reason says"
    elif item.stratum == displaced.STRATUM:
        yield (
            f"stronger: {parameters.generated_bits:.0f} net bits would name the request it answers; it has "
            f"{_net(item):.1f}"
        )
    elif item.candidate.family == "repeated":
        yield "stronger: nothing names a source here, since this tenant was the first to be given it"
    elif item.ranked and item.evidence.only:
        needed = min(
            generated.needed_bits(
                item.candidate, item.evidence, parameters, unit,
                generated.unit_close(item.candidate, item.ranked, unit),
            )
            for unit in item.evidence.only
        )  # fmt: skip
        most = max(pair[0] for pair in item.evidence.only.values())
        yield (
            f"stronger: {needed:.0f} bits of words that only one holder's prompt has, and {generated.ONLY_RATIO:g} "
            f"times what only the recipient's has, would name that tenant; the most is {most:.1f}"
        )
    yield "weaker: a public text that holds it would set it aside (forensics reference add)"


def _by_subject(item: Judged, parameters: Parameters) -> Iterator[str]:
    net = _net(item)
    if item.verdict == "possible":
        yield (
            f"stronger: {parameters.probable_bits:.0f} net bits and a neighbour whose answer is displaced too would "
            f"make it probable; it has {net:.1f}"
        )
        yield "stronger: the answer in full, in a log of another vantage, would be evidence by copy"
    yield (
        f"weaker: a second prompt nearby that it fits nearly as well (within {swapped.MARGIN_BITS:.0f} bits), or an "
        "answer of its own to the source's request"
    )


def _generated(item: Judged, parameters: Parameters) -> Iterator[str]:
    net, evidence = _net(item), item.evidence
    if item.verdict == "possible":
        yield f"stronger: net bits {net:.1f}; {parameters.probable_bits:.0f} would make it probable"
    more = parameters.phrase_limit - item.candidate.crowd
    if "model_phrase" not in parameters.without_rules and more > 0:
        yield f"weaker: {more} more {_tenants(more)} being given it would make it a phrase of the model"
    likeness = max(evidence.likeness.values(), default=0.0)
    if "same_question" not in parameters.without_rules:
        yield (
            f"weaker: prompts that ask the same (likeness {parameters.same_question:g}; it is {likeness:.2f}) would "
            "explain it"
        )
    if not any(generated.near(source) for source in leading(item.ranked)):
        yield "stronger: worker names and request times that bring the two requests together would speak for it"
    yield (
        "stronger: the original in a prompt of one tenant would make it supplied text; weaker: in one of another "
        "tenant, it would be theirs"
    )


def _supplied(item: Judged, strata: list[Stratum], parameters: Parameters) -> Iterator[str]:
    net, evidence, candidate = _net(item), item.evidence, item.candidate
    stratum = next((s for s in strata if s.name == item.stratum), None)
    if item.verdict == "possible":
        yield from _stronger(item, parameters)
    if item.q_value is not None:
        yield (
            f"q-value {item.q_value:.3g}: up to {parameters.q_limit} is probable, above {parameters.possible_q} it is "
            "set aside"
        )
    elif stratum is not None and not stratum.valid:
        yield f"a q-value would count instead of bits; none is printed: {stratum.reason}"
    least = _least(item, parameters)
    if item.q_value is None:
        yield f"weaker: below {least:g} net bits it would be set aside as too weak; it has {net:.1f}"
    suppliers = _suppliers(item)
    if "shared" not in parameters.without_rules and suppliers < parameters.shared_limit:
        more = parameters.shared_limit - suppliers
        yield (
            f"weaker: {more} more unrelated {_tenants(more)} supplying it would make it shared "
            f"({suppliers} did; {parameters.shared_limit} are shared)"
        )
    if "public_text" not in parameters.without_rules:
        yield "weaker: a public text that holds most of it would set it aside (forensics reference add)"
    if len(item.units) > 1:
        yield (
            f"clearer: a holder whose text reaches {TIE_UNITS} letters further than the others' would be named alone; "
            f"now {len(item.units)} reach equally far"
        )
    elif len(item.units) == 1 and not candidate.token:
        yield f"less clear: another supplier that reaches as far (within {TIE_UNITS} letters) would be named beside"
    if evidence.sources and all(source.lag_us is None for source in leading(item.ranked)):
        yield "stronger: request times would tell which came first, and rank the sources"


def _stronger(item: Judged, parameters: Parameters) -> Iterator[str]:
    """What keeps a supplied match at `possible`: each reason that holds, with what would lift it."""
    net, evidence, candidate = _net(item), item.evidence, item.candidate
    needed = parameters.identifier_bits if candidate.token else parameters.probable_bits
    plain = not candidate.token and evidence.strength.rarest_word_bits < parameters.plain_bits
    if plain and net < parameters.plain_net_bits:
        yield (
            f"stronger: net bits {net:.1f} in everyday words; {parameters.plain_net_bits:.0f} would make it probable, "
            f"or {parameters.probable_bits:.0f} with a word worth {parameters.plain_bits:.0f} "
            f"(the rarest is worth {evidence.strength.rarest_word_bits:.1f})"
        )
    elif net < needed and item.q_value is None:
        yield f"stronger: net bits {net:.1f}; {needed:.0f} would make it probable"
    if item.q_value is None and evidence.least_q > parameters.q_limit:
        yield (
            f"stronger: fewer later texts that match as well; by those q would be {evidence.least_q:.2f} at least, and "
            f"up to {parameters.q_limit} is probable"
        )
    if may_be_known(candidate, evidence):
        yield "stronger: a source nearby, or a name, a number or an address in it: then it is no text known by heart"
    if evidence.kin_recipient >= OWN_SUBJECT and net < parameters.subject_bits:
        yield (
            f"stronger: the recipient's own prompt has {evidence.kin_recipient:.0%} of its telling words; below "
            f"{OWN_SUBJECT:.0%}, or from {parameters.subject_bits:.0f} net bits on, that would not count"
        )
    telling = float(evidence.strength.term_bits.sum())
    if len(candidate.carriers) > parameters.phrase_limit and telling < parameters.undetermined_bits:
        yield (
            f"stronger: {len(candidate.carriers)} tenants carry it; {parameters.undetermined_bits:.0f} bits of telling "
            f"words would outweigh that, it has {telling:.1f}"
        )
    if evidence.asks_for_text and not candidate.token:
        yield "stronger: proof that the text is not public, since the recipient asked for a text to be recited"
    elif evidence.quotation and not candidate.token:
        yield "stronger: proof that the text is not public, since the recipient asked for a quotation"
    if all(source.lag_us is None for source in leading(item.ranked) if source.holder.side == 0):
        yield "stronger: with request times the order would be known, and it could be probable"


def _tenants(number: int) -> str:
    return "tenant" if number == 1 else "tenants"
