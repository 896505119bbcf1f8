"""A stream of another answer runs through a response in pieces, and nobody supplied its text: whose is it?

That a text stands in two answers may be a habit of the model. That it stands in one piece in the one and in pieces
between something else in the other, while both were in flight, is none: the whole one is the original, the other is
mixed. What is left open is whether the original was that tenant's own. Its prompt may show it (`probable`); where
neither prompt has words of it, the only tenant that has the text whole is named, and the doubt is said (`possible`);
where the recipient's prompt has them, or several tenants hold the text, nobody is named.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from forensics.attribution.candidates import Candidate, Excluded
from forensics.attribution.findings import TRIED_GENERATED, Evidence, Judged
from forensics.attribution.generated import (
    GENERATED,
    LATER_BITS,
    ONLY_BITS,
    ONLY_SHARE,
    OTHERS,
    PARTICULARS_BITS,
    explained_by,
    phrase,
)
from forensics.attribution.parameters import Parameters
from forensics.attribution.sources import Source, leading, leading_units

COVERED = 0.5  # share of the stream's original that a finding must cover to say whose that is


def is_mixed(candidate: Candidate) -> bool:
    """Is the candidate a stream in pieces?"""
    return candidate.alteration is not None and candidate.alteration.pieces


def judge_mixed(
    candidate: Candidate,
    evidence: Evidence,
    parameters: Parameters,
    ranked: list[Source],
    net: float,
    dropped: Callable[[str, str], Excluded],
) -> Judged | Excluded:
    """Fragment with its sources, `undetermined`, or exclusion; for a text that nobody supplied."""
    if (out := phrase(candidate, parameters, net, dropped)) is not None:
        return out
    if len(candidate.carriers) > OTHERS:  # pieces of what several tenants were given whole are a frame, not a stream
        return dropped("model_phrase", f"{len(candidate.carriers)} tenants were given it whole, and nobody supplied it")
    units = leading_units(ranked)
    beside = [s for s in leading(ranked) if s.overlapped and s.same_worker is not False]
    asked_alike = any(value >= parameters.same_question for unit, value in evidence.likeness.items() if unit >= 0)
    needed = ONLY_BITS if any(source.same_worker for source in beside) else LATER_BITS
    needed = PARTICULARS_BITS if asked_alike else needed
    needed = max(needed, ONLY_SHARE * float(evidence.strength.term_bits.sum()))
    only = {unit: evidence.only.get(unit, (0.0, 0.0)) for unit in units}
    related = explained_by(evidence, dict.fromkeys(units, needed))
    most = max((only[unit][0] for unit in related), default=0.0)

    def found(kind: str, verdict: str, reason: str, named: list[int]) -> Judged:
        return Judged(candidate, evidence, kind, GENERATED, verdict, reason, named, ranked, TRIED_GENERATED, None)

    whole = f"stands in pieces here and whole in another answer in flight; net {net:.0f} bits"
    if related:
        return found(
            "altered",
            "probable" if net >= parameters.probable_bits else "possible",
            f"{whole}; answers the source's prompt ({most:.0f} bits of words that only it has), not the recipient's; "
            "decoys do not apply to generated text",
            related,
        )
    if asked_alike:
        return dropped("same_question", "the two prompts ask much the same")
    if not beside or net < parameters.unexplained_bits:
        return dropped("model_phrase", "given to other tenants in other words; models vary what they always say")
    if any(mine >= ONLY_BITS and mine > theirs for theirs, mine in only.values()):
        return found(
            "undetermined", "undetermined",
            f"{whole}, but it is about the recipient's prompt: which of the two it belongs to cannot be told", [],
        )  # fmt: skip
    if len(units) > 1 or units[0] < 0:
        return found("undetermined", "undetermined", f"{whole}; which of its holders it belongs to cannot be told", [])
    return found(
        "altered", "possible",
        f"{whole}; no other tenant has it, but neither prompt has telling words of it: the other answer may itself "
        "not be its tenant's own",
        units,
    )  # fmt: skip


def follow_origins(judged: list[Judged]) -> list[Judged]:
    """Streams whose original is itself a finding are that finding's tenants'; or nobody's, where it names nobody.

    Where the original was the recipient's own text, delivered to somebody else, the stream is its own and goes.
    """
    by_answer: dict[tuple[int, int], list[Judged]] = {}
    for item in judged:
        by_answer.setdefault((item.candidate.request, item.candidate.content), []).append(item)
    kept = []
    for item in judged:
        if not is_mixed(item.candidate) or item.stratum != GENERATED or not item.ranked:
            kept.append(item)
            continue
        holder, request = item.ranked[0].holder, item.ranked[0].request
        covering = [
            other
            for other in by_answer.get((request, holder.content), [])
            if min(other.candidate.end, holder.other_end) - max(other.candidate.start, holder.other_start)
            >= COVERED * (holder.other_end - holder.other_start)
        ]
        if not covering:
            kept.append(item)
            continue
        recipients = {
            source.holder.unit
            for other in covering
            for source in other.ranked
            if source.request == item.candidate.request
        }
        named = sorted({unit for other in covering for unit in other.units})
        if any(set(other.units) & recipients for other in covering):
            continue
        reason = f"{item.reason}; the other answer is itself a finding"
        if named:
            sources = [source for other in covering for source in other.ranked]
            kept.append(replace(item, units=named, ranked=[*item.ranked, *sources], verdict="possible", reason=reason))
        else:
            kept.append(replace(item, units=[], kind="undetermined", verdict="undetermined", reason=reason))
    return kept
