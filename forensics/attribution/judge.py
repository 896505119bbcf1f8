"""Is a candidate a leak, whose text is it, and how sure is that?

The order of the tests is the order of the rules: public text, too little information, the same question, the
recipient's own subject, then origin among holders, then the verdict. Every test that a candidate survives is named in
`exclusions_tried`; every one it fails becomes an exclusion. A tenant is named only when its text reaches further than
all others'; several that cannot be told apart are named as a set; otherwise nobody is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from forensics.attribution.candidates import Candidate, Excluded
from forensics.attribution.holdings import World
from forensics.attribution.parameters import Parameters
from forensics.attribution.sources import Source, leading, leading_units, rank
from forensics.attribution.strength import Strength

WHOLE = 0.9  # share of a response that must be foreign for it to be another request's whole answer
PUBLIC_SHARE = 0.5  # share of a text's fingerprints in public texts that makes it public
ONLY_BITS = 10.0  # bits of terms that the source's prompt alone has, for a generated text to be the source's own: one
# telling word, where that tenant generated it first,
LATER_BITS = 24.0  # two or more where another tenant was given it earlier
ONLY_RATIO = 3.0  # how many times more than the recipient's prompt alone has
PARTICULARS_BITS = 40.0  # the same where the two prompts ask much the same: particulars of the source's prompt
NO_KIN = 0.1  # kinship below which a text has nothing to do with a prompt
OWN_SUBJECT = 0.6  # kinship with the recipient's prompt above which a match may be a common subject

TRIED = ("own_material", "echo", "shared", "public_text", "too_weak")
TRIED_GENERATED = (*TRIED, "model_phrase", "same_question")


@dataclass(frozen=True)
class Evidence:
    """What the judge may ask about a candidate, all measured before."""

    strength: Strength
    charge: float
    sources: list[Source]
    kin_recipient: float
    kin_source: dict[int, float]  # by unit
    likeness: dict[int, float]  # of the prompts, by unit
    only: dict[
        int, tuple[float, float]
    ]  # bits of terms in the source's prompt alone, in the recipient's alone; by unit
    not_before: frozenset[int]  # units that were given a generated text no earlier than the recipient
    first_unit: int  # the unit that was first given a generated text; -1 where it was supplied
    share_of_response: float
    public_share: float
    public_token: bool
    agreeing_bits: float  # bits of all identifier tokens of this response that the same unit holds
    q_value: Callable[[float], float | None]

    @property
    def net_bits(self) -> float:
        """Bits less the search charge."""
        return self.strength.bits - self.charge


@dataclass(frozen=True)
class Judged:
    """A fragment to be."""

    candidate: Candidate
    evidence: Evidence
    kind: str
    stratum: str
    verdict: str
    reason: str
    units: list[int]  # named units
    ranked: list[Source]
    tried: tuple[str, ...]
    q_value: float | None


def judge(world: World, candidate: Candidate, evidence: Evidence, parameters: Parameters) -> Judged | Excluded:
    """Fragment or exclusion."""
    ranked = rank(evidence.sources)
    carriers = len(candidate.carriers)

    def dropped(rule: str, detail: str) -> Excluded:
        return Excluded(
            candidate.use, candidate.start, candidate.end, rule, detail, carriers, round(evidence.strength.bits, 1)
        )

    if evidence.public_share >= PUBLIC_SHARE or evidence.public_token:
        return dropped("public_text", "stands in the shipped or supplied list of public texts")
    if not ranked:
        return dropped("too_weak", "no request could have carried it before this response finished")
    supplied = [s for s in leading(ranked) if s.holder.side == 0]
    net = evidence.net_bits
    if candidate.token:
        net = max(net, evidence.agreeing_bits - evidence.charge)
    if supplied:
        return _supplied(world, candidate, evidence, parameters, ranked, supplied, net, dropped)
    if candidate.token:
        return dropped("model_phrase", "an identifier that nobody supplied: models invent such tokens")
    return _generated(world, candidate, evidence, parameters, ranked, net, dropped)


def _supplied(
    world: World,
    candidate: Candidate,
    evidence: Evidence,
    parameters: Parameters,
    ranked: list[Source],
    supplied: list[Source],
    net: float,
    dropped: Callable[[str, str], Excluded],
) -> Judged | Excluded:
    stratum = "supplied identifier" if candidate.token else "supplied text"
    kind = "identifier" if candidate.token else "verbatim"
    needed = parameters.identifier_bits if candidate.token else parameters.probable_bits
    if net < min(needed, parameters.possible_bits):
        return dropped("too_weak", f"net {net:.1f} bits, {min(needed, parameters.possible_bits)} needed")
    units = leading_units(supplied)
    if -1 in units:
        return Judged(
            candidate, evidence, "undetermined", stratum, "undetermined",
            "the text stands in a request whose tenant is not known", [], ranked, TRIED, None,
        )  # fmt: skip
    q_value = evidence.q_value(net)
    unknown_time = all(s.lag_us is None for s in supplied)
    if q_value is not None and q_value > parameters.possible_q:
        return dropped("too_weak", f"q {q_value:.2f} by decoys, {parameters.possible_q} allowed")
    if q_value is not None:
        strong, why = q_value <= parameters.q_limit, f"q {q_value:.3g} by decoys"
    else:
        strong = net >= needed
        why = f"net {net:.0f} bits ({evidence.strength.bits:.0f} less {evidence.charge:.0f} for the search); no q-value"
    if evidence.kin_recipient >= OWN_SUBJECT and net < parameters.subject_bits:
        strong, why = False, f"{why}; the recipient's own prompt has most of its telling words"
    if unknown_time:
        strong, why = False, f"{why}; no request time, so the order is not known"
    who = "one supplier" if len(units) == 1 else f"{len(units)} suppliers that cannot be told apart"
    return Judged(
        candidate, evidence, kind, stratum, "probable" if strong else "possible",
        f"{who}; {why}", units, ranked, TRIED, q_value,
    )  # fmt: skip


def _generated(
    world: World,
    candidate: Candidate,
    evidence: Evidence,
    parameters: Parameters,
    ranked: list[Source],
    net: float,
    dropped: Callable[[str, str], Excluded],
) -> Judged | Excluded:
    """A text that nobody supplied and several tenants were given: whose question does it answer?"""
    if net < parameters.generated_bits:
        return dropped("model_phrase", f"generated for several tenants; net {net:.1f} bits")
    own = evidence.kin_recipient
    kin = {unit: value for unit, value in evidence.kin_source.items() if unit >= 0}
    strongest = max(kin.values(), default=0.0)
    whole = evidence.share_of_response >= WHOLE
    kind = "whole_response" if whole else "verbatim"
    related = []
    for unit in leading_units(ranked):
        theirs, mine = evidence.only.get(unit, (0.0, 0.0))
        needed = ONLY_BITS if unit == evidence.first_unit else LATER_BITS
        if unit in evidence.not_before:
            needed = PARTICULARS_BITS
        if evidence.likeness.get(unit, 0.0) >= parameters.same_question:
            needed = PARTICULARS_BITS
        if unit >= 0 and theirs >= needed and theirs >= ONLY_RATIO * mine:
            related.append(unit)
    if candidate.family == "target" and related:
        # The origin is the tenant whose question it answers; several such cannot be told apart.
        most = max(evidence.only[unit][0] for unit in related)
        units = sorted(unit for unit in related if evidence.only[unit][0] >= most / 2)
        strong = net >= parameters.probable_bits
        return Judged(
            candidate,
            evidence,
            kind,
            "generated text",
            "probable" if strong else "possible",
            f"answers the source's prompt ({most:.0f} bits of words that only it has), not the recipient's; "
            f"net {net:.0f} bits; decoys do not apply to generated text",
            units,
            ranked,
            TRIED_GENERATED,
            None,
        )
    if any(evidence.likeness.get(unit, 0.0) >= parameters.same_question for unit in kin):
        return dropped("same_question", "the two prompts ask much the same")
    nobodys = all(max(pair) < LATER_BITS for pair in evidence.only.values())
    particular = float(evidence.strength.term_bits.sum())
    if nobodys and own < NO_KIN and strongest < NO_KIN and particular >= parameters.undetermined_bits:
        return Judged(
            candidate, evidence, "undetermined", "generated text", "undetermined",
            f"the same passage was given to {len(candidate.carriers) + 1} tenants and has nothing to do with any of "
            f"their prompts; nobody in the evidence supplied it",
            [], ranked, TRIED_GENERATED, None,
        )  # fmt: skip
    if nobodys and candidate.family == "target" and net >= parameters.unexplained_bits and own < NO_KIN:
        return Judged(
            candidate,
            evidence,
            kind,
            "generated text",
            "undetermined",
            f"the same passage was given to another tenant before (net {net:.0f} bits), the prompts are unlike, and it "
            "is not clearly about either; which of the two it belongs to cannot be told",
            [],
            ranked,
            TRIED_GENERATED,
            None,
        )
    if own >= strongest:
        return dropped("same_question", "the recipient's own prompt is about it at least as much as any other's")
    return dropped(
        "model_phrase",
        f"given to several tenants; kinship {own:.2f} with the own prompt, {strongest:.2f} with another's",
    )
