"""A text that nobody supplied and several tenants were given: a leak, and whose, or a habit of the model?

Models repeat themselves. In 14,103 answers of real models to real questions (120 tenants made up, no leak) some 250
passages stand in the answers to unlike questions of different tenants, a few of them more than 300 bits strong. So the
text alone does not make a leak. What a leak has and a habit lacks is asked for besides:

* words that only the source's prompt explains (the source's particulars), and none that only the recipient's does;
* nearness: the same worker, a short time before (see `near`), or a strength that no habit reaches (FAR_BITS).

Without the first nobody is named; without the second nothing is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from forensics.attribution.candidates import Candidate, Excluded
from forensics.attribution.findings import TRIED_GENERATED, Evidence, Judged
from forensics.attribution.parameters import Parameters
from forensics.attribution.sources import Source, leading, leading_units

GENERATED = "generated text"  # the stratum
WHOLE = 0.9  # share of a response that must be foreign for it to be another request's whole answer
# Bits of terms that only the source's prompt has, for a text to be its own: near by, one telling word is enough,
ONLY_BITS = 10.0
# and this share of the passage's telling terms: in a long passage one rare word meets a prompt by chance,
ONLY_SHARE = 0.02
LATER_BITS = 24.0  # two or more where another tenant was given it earlier
ONLY_RATIO = 3.0  # how many times more than the recipient's prompt alone has
PARTICULARS_BITS = 40.0  # the same where time, place, the question or the wording speaks against it
OTHERS = 2  # where so many more tenants were given it and none supplied it, the model may say it to anybody:
OTHERS_SHARE = 0.2  # then what only one prompt has must be so much of it,
FAR_OTHERS_SHARE = 0.5  # most of it where none of them was near either: a quotation, say, that several asked for
OTHER_SHARE = 0.1  # and so much where one more was given it
ALIKE = 0.3  # likeness of two prompts from which they may be after the same, though they do not ask alike;
ALIKE_SHARE = 0.5  # then the source's prompt must have so much of what the text says
SHORT_QUESTION = 160  # letters of all that the recipient asked, up to which it says little about its answer;
SHORT_SHARE = 0.35  # then the source's prompt must have so much of what the text says,
ELSEWHERE_SHARE = 0.5  # and so much where the recipient asked for an answer in some language
SIGNS = 0.5  # share of the telling bits in pairs of signs from which the same is asked for
NO_KIN = 0.1  # kinship below which a text has nothing to do with a prompt
NEAR_US = 1_800_000_000  # from the source's arrival to the recipient's end, on the same worker (stale caches live long)
NEAR_US_UNPLACED = 120_000_000  # the same where the worker is not known
CLOSE_US = 30_000_000  # the same for text that is taken up at once (a stream's buffer, a slot's rows)
PLACED_BITS = 150.0  # net bits above which the same worker is enough, however long ago (a host cache lives for hours)
FAR_BITS = 300.0  # net bits above which a match counts wherever it comes from
FAR_NAMED_BITS = 200.0  # the same where the source's particulars are in it


def near(source: Source) -> bool:
    """Was the other request on the same worker not long before?"""
    return source.lag_us is not None and near_in_time(source.lag_us, source.same_worker)


def near_in_time(lag_us: int, same_worker: bool | None) -> bool:
    """The same by the time from the other's arrival to the recipient's end, and by whether they shared a worker."""
    if same_worker is None:
        return lag_us <= NEAR_US_UNPLACED
    return same_worker and lag_us <= NEAR_US


def is_placed(candidate: Candidate, ranked: list[Source], net: float) -> bool:
    """Do place and time, or strength with the worker alone, speak for a leak?"""
    return candidate.family == "repeated" or any(
        near(source) or (bool(source.same_worker) and net >= PLACED_BITS) for source in leading(ranked)
    )


def _unit_placed(candidate: Candidate, ranked: list[Source], unit: int, net: float) -> bool:
    """The same for one tenant: that somebody else was near does not speak for it."""
    return is_placed(candidate, [source for source in ranked if source.holder.unit == unit], net) and any(
        source.holder.unit == unit for source in leading(ranked)
    )


def unit_close(candidate: Candidate, ranked: list[Source], unit: int) -> bool:
    """Was this tenant near? The same worker alone says little: of a few workers any two requests share one."""
    return candidate.family == "repeated" or any(
        near(source) for source in leading(ranked) if source.holder.unit == unit
    )


def _one_place(candidate: Candidate, ranked: list[Source], net: float) -> bool:
    """Was every other tenant that was given the text given it near, or (where it is strong) on the same worker?"""
    near_units = {
        source.holder.unit
        for source in leading(ranked)
        if near(source) or (bool(source.same_worker) and net >= PLACED_BITS)
    }  # of several places of one tenant, one is enough
    return candidate.family == "repeated" or near_units == {source.holder.unit for source in leading(ranked)}


def needed_bits(candidate: Candidate, evidence: Evidence, parameters: Parameters, unit: int, close: bool) -> float:
    """Bits of terms that only this unit's prompt has, for the text to be its own. `close`: it was near (`near`)."""
    needed = ONLY_BITS if unit == evidence.first_unit else LATER_BITS
    # Far off, and in other words, models say the same to everybody at some length: then particulars have to tell.
    varied = candidate.alteration is not None and not candidate.alteration.pieces
    if varied or not close:
        needed = PARTICULARS_BITS
    if unit in evidence.not_before or evidence.likeness.get(unit, 0.0) >= parameters.same_question:
        needed = PARTICULARS_BITS
    share = ONLY_SHARE
    # The crowd is of any time, and has the recipient and this unit in it.
    others = max(len(candidate.carriers - {unit}), candidate.crowd - 2)
    if others >= OTHERS or said_again(evidence.sources, unit):
        needed, share = max(needed, PARTICULARS_BITS), OTHERS_SHARE
        if others >= OTHERS and not close:
            share = FAR_OTHERS_SHARE
    elif others:
        share = OTHER_SHARE
    if evidence.likeness.get(unit, 0.0) >= ALIKE:
        share = max(share, ALIKE_SHARE)  # two tasks of one kind, and the models' usual answer to it
    # A long prompt in a script without spaces holds some of any text's pairs of signs. A saying is no whole answer.
    if evidence.strength.sign_share > SIGNS and evidence.share_of_response < WHOLE:
        needed, share = max(needed, PARTICULARS_BITS), max(share, OTHERS_SHARE)
    return max(needed, share * float(evidence.strength.term_bits.sum()))


def said_again(sources: list[Source], unit: int) -> bool:
    """Does the text stand in two or more different answers that this tenant was given? Then the model may say it to
    others as well."""
    return len({s.holder.content for s in leading(sources) if s.holder.unit == unit and s.holder.side == 1}) > 1


def phrase(
    candidate: Candidate, parameters: Parameters, net: float, dropped: Callable[[str, str], Excluded]
) -> Excluded | None:
    """The exclusion of a text that says too little, or that the model gives to many."""
    if net < parameters.generated_bits:
        return dropped("model_phrase", f"given to other tenants too; net {net:.1f} bits")
    if candidate.crowd >= parameters.phrase_limit:
        return dropped("model_phrase", f"{candidate.crowd} tenants hold it, and nobody supplied it")
    return None


def explained_by(evidence: Evidence, needed: Mapping[int, float]) -> list[int]:
    """Of the units in `needed` (bits each), those whose prompt alone explains the text; far weaker ones left out."""
    related = []
    for unit, bits in needed.items():
        theirs, mine = evidence.only.get(unit, (0.0, 0.0))
        if unit >= 0 and theirs >= bits and theirs >= ONLY_RATIO * mine:
            related.append(unit)
    most = max((evidence.only[unit][0] for unit in related), default=0.0)
    return sorted(unit for unit in related if evidence.only[unit][0] >= most / 2)


def judge_generated(
    candidate: Candidate,
    evidence: Evidence,
    parameters: Parameters,
    ranked: list[Source],
    net: float,
    dropped: Callable[[str, str], Excluded],
) -> Judged | Excluded:
    """Fragment with a named source, `undetermined`, or exclusion."""
    if (out := phrase(candidate, parameters, net, dropped)) is not None:
        return out
    best = leading(ranked)
    placed = is_placed(candidate, ranked, net)
    close = any(near(source) and source.lag_us is not None and source.lag_us <= CLOSE_US for source in best)
    copy = "altered" if candidate.alteration is not None else "verbatim"
    kind = "whole_response" if evidence.share_of_response >= WHOLE else copy

    def found(kind: str, verdict: str, reason: str, units: list[int]) -> Judged:
        return Judged(candidate, evidence, kind, GENERATED, verdict, reason, units, ranked, TRIED_GENERATED, None)

    units = _origins(candidate, evidence, parameters, ranked, net)
    if units and (net >= FAR_NAMED_BITS or all(_unit_placed(candidate, ranked, unit, net) for unit in units)):
        most = max(evidence.only[unit][0] for unit in units)
        return found(
            kind,
            "probable" if net >= parameters.probable_bits else "possible",
            f"answers the source's prompt ({most:.0f} bits of words that only it has), not the recipient's; "
            f"net {net:.0f} bits; decoys do not apply to generated text",
            units,
        )
    if candidate.alteration is not None:
        return dropped("model_phrase", "given to other tenants in other words; models vary what they always say")
    if _least_share(evidence) > 0.0 and _about_others(candidate, evidence, parameters, net):
        return found(
            kind, "undetermined",
            f"another tenant was given the same, net {net:.0f} bits, and its prompt has more of it; but the question "
            "of the recipient is short, or asks for a language, and it may answer that, too: nobody is named", [],
        )  # fmt: skip
    units = _strayed(candidate, evidence, parameters, ranked, net)
    if units:
        most = max(evidence.belongs[unit].theirs for unit in units)
        # Spliced into that answer, too, it would look the same: two victims of a source that no log holds.
        return found(
            copy,
            "undetermined",
            f"it begins in mid-sentence there, and its words stand in the rest of that answer and prompt ({most:.0f} "
            f"bits), not around it here; net {net:.0f} bits; whose it was first cannot be told: nobody is named",
            [],
        )
    own = evidence.kin_recipient
    strongest = max((value for unit, value in evidence.kin_source.items() if unit >= 0), default=0.0)
    if any(value >= parameters.same_question for unit, value in evidence.likeness.items() if unit >= 0):
        return dropped("same_question", "the two prompts ask much the same")
    when = "later" if candidate.family == "repeated" else "before"
    nobodys = own < NO_KIN and all(max(pair) < LATER_BITS for pair in evidence.only.values())
    particular = float(evidence.strength.term_bits.sum())
    enough = net >= (parameters.close_bits if close else parameters.unexplained_bits)
    # One fault leaves its passage in one place; what stands on several workers is what models say.
    if nobodys and enough and (_one_place(candidate, ranked, net) or net >= FAR_BITS):
        if strongest < NO_KIN and particular >= parameters.undetermined_bits:
            return found(
                "undetermined",
                "undetermined",
                f"the same passage was given to {len(candidate.carriers) + 1} tenants and has nothing to do with any "
                "of their prompts; nobody in the evidence supplied it",
                [],
            )
        # In everyday words models repeat themselves at greater length.
        # Who was given a whole answer first is its owner rather than a victim.
        first = candidate.family == "repeated" and kind == "whole_response"
        if not first and (particular >= ONLY_BITS or net >= PLACED_BITS):
            return found(
                kind,
                "undetermined",
                f"the same passage was given to another tenant {when} (net {net:.0f} bits), the prompts are unlike, "
                "and it is not clearly about either; which of the two it belongs to cannot be told",
                [],
            )
    if own > strongest and "same_question" not in parameters.without_rules:
        return dropped("same_question", "the recipient's own prompt is about it more than any other's")
    return dropped(
        "model_phrase",
        f"given to other tenants too; kinship {own:.2f} with the own prompt, {strongest:.2f} with another's"
        + ("" if placed else "; not on the same worker shortly before"),
    )


def _origins(
    candidate: Candidate, evidence: Evidence, parameters: Parameters, ranked: list[Source], net: float
) -> list[int]:
    """Units whose question the text answers; several that cannot be told apart stand together; none is a guess."""
    if candidate.family != "target":
        return []
    varied = candidate.alteration is not None and not candidate.alteration.pieces
    close = {unit: unit_close(candidate, ranked, unit) for unit in leading_units(ranked)}
    # Answers to like questions are alike but for some words, code most of all; far from each other nothing tells such
    # a pair from a copy that was altered.
    units = explained_by(
        evidence,
        {
            unit: needed_bits(candidate, evidence, parameters, unit, near_by)
            for unit, near_by in close.items()
            if near_by or not varied
        },
    )
    least = _least_share(evidence) * float(evidence.strength.term_bits.sum())
    return [unit for unit in units if evidence.only[unit][0] >= least]


def _about_others(candidate: Candidate, evidence: Evidence, parameters: Parameters, net: float) -> bool:
    """Is it strong, no echo of what the recipient asked, and more about what somebody else asked?"""
    theirs = max((pair[0] for unit, pair in evidence.only.items() if unit >= 0), default=0.0)
    return (
        candidate.family == "target"
        and net >= parameters.possible_bits
        and evidence.kin_recipient < NO_KIN
        and theirs >= PARTICULARS_BITS
    )


def _least_share(evidence: Evidence) -> float:
    """Of what the text says, how much must the source's prompt have, since the recipient's own question may be answered
    by it without sharing a word? A short one, in other words (a semantic cache gives both the same answer), or one that
    asks for an answer in another language."""
    if evidence.share_of_response < WHOLE:
        return 0.0  # an excerpt answers nothing: what stands around it does
    if evidence.asks_language:
        return ELSEWHERE_SHARE
    return SHORT_SHARE if 0 < evidence.question_units <= SHORT_QUESTION else 0.0


def _strayed(
    candidate: Candidate, evidence: Evidence, parameters: Parameters, ranked: list[Source], net: float
) -> list[int]:
    """Units to whose answer the passage belongs rather than to the recipient's, wherever they were served."""
    if candidate.family != "target" or evidence.capped or net < parameters.possible_bits:
        return []
    if evidence.kin_recipient >= NO_KIN or evidence.share_of_response >= WHOLE:
        return []
    if any(value >= parameters.same_question for unit, value in evidence.likeness.items() if unit >= 0):
        return []
    return [
        unit
        for unit in leading_units(ranked)
        if unit >= 0 and unit not in evidence.not_before and _belongs(evidence, unit)
    ]


def _belongs(evidence: Evidence, unit: int) -> bool:
    found = evidence.belongs.get(unit)
    return found is not None and found.strays and not found.repeated
