"""Is a candidate a leak, whose text is it, and how sure is that?

The order of the tests is the order of the rules: public text, too little information, the same question, the
recipient's own subject, then origin among holders, then the verdict. Every test that a candidate survives is named in
`exclusions_tried`; every one it fails becomes an exclusion. A tenant is named only when its text reaches further than
all others'; several that cannot be told apart are named as a set; otherwise nobody is. Nobody is named either where
contents are known to follow each other and no worker speaks for a leak: there the same text comes to two tenants for
innocent reasons, and it says nothing of who it came from (`reconcile` names a tenant that something else speaks for).
"""

from __future__ import annotations

from collections.abc import Callable

from forensics.attribution.candidates import Candidate, Excluded
from forensics.attribution.findings import TRIED, Evidence, Judged
from forensics.attribution.generated import judge_generated, near
from forensics.attribution.mixed import is_mixed, judge_mixed
from forensics.attribution.parameters import Parameters
from forensics.attribution.sources import Source, leading, leading_units, rank

PUBLIC_SHARE = 0.5  # share of a text's fingerprints in public texts that makes it public
UNNAMED = ": nobody is named"  # how a reason ends that keeps a tenant unnamed
OWN_SUBJECT = 0.6  # kinship with the recipient's prompt above which a match may be a common subject
OWN_WORDS = 0.95  # the same from which it says nothing that the recipient did not


def judge(candidate: Candidate, evidence: Evidence, parameters: Parameters) -> Judged | Excluded:
    """Fragment or exclusion."""
    ranked = rank(evidence.sources)
    carriers = len(candidate.carriers)

    def dropped(rule: str, detail: str) -> Excluded:
        if rule in parameters.without_rules:
            rule = "too_weak"  # that rule is off, and nothing else speaks for a leak
        return Excluded(
            candidate.use, candidate.start, candidate.end, rule, detail, carriers, round(evidence.strength.bits, 1)
        )

    if "public_text" not in parameters.without_rules and (
        evidence.public_share >= PUBLIC_SHARE or evidence.public_token
    ):
        return dropped("public_text", "stands in the shipped list of public texts")
    if not ranked:
        return dropped("too_weak", "no request could have carried it before this response finished")
    supplied = [s for s in leading(ranked) if s.holder.side == 0]
    net = evidence.net_bits
    if candidate.token:
        net = max(net, evidence.agreeing_bits - evidence.charge)
    if supplied:
        return _supplied(candidate, evidence, parameters, ranked, supplied, net, dropped)
    if candidate.token:
        return dropped("model_phrase", "an identifier that nobody supplied: models invent such tokens")
    if is_mixed(candidate):
        return judge_mixed(candidate, evidence, parameters, ranked, net, dropped)
    return judge_generated(candidate, evidence, parameters, ranked, net, dropped)


def strays(candidate: Candidate, evidence: Evidence) -> bool:
    """Does a passage, by its broken edge and by its words, belong to the text of the one who supplied it?"""
    units = leading_units([source for source in leading(evidence.sources) if source.holder.side == 0])
    found = evidence.belongs.get(units[0]) if len(units) == 1 else None
    return found is not None and found.strays and not candidate.token and not evidence.quotation


def may_be_known(candidate: Candidate, evidence: Evidence) -> bool:
    """May the model have known a supplied passage by heart (a statute, a poem, a textbook function)? No q-value knows
    better, nothing in it is anybody's own, no source was near, and it is not cut out of that text in mid-sentence."""
    if candidate.token or evidence.q_value is not None or evidence.particular or strays(candidate, evidence):
        return False
    return not any(near(source) for source in leading(evidence.sources))


def least_bits(candidate: Candidate, evidence: Evidence, parameters: Parameters) -> float:
    """Net bits below which a supplied match is not reported."""
    q_value = evidence.q_value
    if candidate.token:
        return min(parameters.possible_identifier_bits, parameters.identifier_bits, parameters.possible_bits)
    if candidate.alteration is not None and q_value is None:
        return max(parameters.altered_bits, parameters.possible_bits)
    if q_value is None and strays(candidate, evidence):
        return min(parameters.stray_bits, parameters.possible_bits)
    return parameters.possible_bits


def _says_something(evidence: Evidence) -> bool:
    """Has the passage a word that tells what it is about, or were the two served beside each other?

    An altered match is made of pieces; of pieces that hold common words alone, two texts of one habit have many.
    """
    return bool(evidence.strength.term_bits.any()) or any(near(source) for source in leading(evidence.sources))


def _supplied(
    candidate: Candidate,
    evidence: Evidence,
    parameters: Parameters,
    ranked: list[Source],
    supplied: list[Source],
    net: float,
    dropped: Callable[[str, str], Excluded],
) -> Judged | Excluded:
    stratum = "supplied identifier" if candidate.token else "supplied text"
    kind = "identifier" if candidate.token else "altered" if _altered(candidate, supplied) else "verbatim"
    needed = parameters.identifier_bits if candidate.token else parameters.probable_bits
    least = least_bits(candidate, evidence, parameters)
    if net < least:
        return dropped("too_weak", f"net {net:.1f} bits, {least} needed")
    if kind == "altered" and not _says_something(evidence):
        return dropped("too_weak", f"net {net:.1f} bits, in pieces, of words that many tenants use")
    if candidate.alteration is not None and candidate.alteration.is_form:
        return dropped("template", "the two texts differ in their numbers: one form, filled by both with other values")
    if evidence.other_values and "template" not in parameters.without_rules:
        return dropped("template", "the two texts have other numbers and names in the same words: one form")
    if evidence.other_identifier:
        return dropped("too_weak", "the other identifier goes on differently: they are two")
    nothing_of_theirs = not any(theirs for theirs, _ in evidence.only.values())
    own_words = not candidate.token and evidence.kin_recipient >= OWN_WORDS and nothing_of_theirs
    if own_words and net < parameters.subject_bits:
        return dropped("echo", "the recipient's own prompt has every word in it that tells what it is about")
    if evidence.transcript and "same_question" not in parameters.without_rules:
        return dropped("same_question", "the other text quotes a conversation in which this question was asked")
    units = leading_units(supplied)
    told_apart = 0 < len(evidence.alike) < len(units)
    if told_apart:
        units = sorted(evidence.alike)
    if -1 in units:
        return Judged(
            candidate, evidence, "undetermined", stratum, "undetermined",
            "the text stands in a request whose tenant is not known", [], ranked, TRIED, None,
        )  # fmt: skip
    q_value = evidence.q_value
    unknown_time = all(s.lag_us is None for s in supplied)
    if q_value is not None and q_value > parameters.possible_q:
        return dropped("too_weak", f"q {q_value:.2f} by decoys, {parameters.possible_q} allowed")
    if q_value is None and evidence.least_q > parameters.possible_q:
        return dropped("too_weak", f"q {evidence.least_q:.2f} at least by decoys, {parameters.possible_q} allowed")
    if q_value is not None:
        strong, why = q_value <= parameters.q_limit, f"q {q_value:.3g} by decoys"
    else:
        plain = not candidate.token and evidence.strength.rarest_word_bits < parameters.plain_bits
        stray = strays(candidate, evidence)
        strong = net >= (parameters.possible_bits if stray else parameters.plain_net_bits if plain else needed)
        why = f"net {net:.0f} bits ({evidence.strength.bits:.0f} less {evidence.charge:.0f} for the search); no q-value"
        if evidence.least_q > parameters.q_limit:
            strong, why = False, f"{why}; it would be {evidence.least_q:.2f} at least: later texts do as well"
        if stray:
            why += "; it begins in mid-sentence, and its words stand in the rest of that text and not around it here"
    if may_be_known(candidate, evidence):
        strong, why = (
            False,
            f"{why}; no name, number or address in it, and no source near: perhaps known by heart",
        )
    if evidence.kin_recipient >= OWN_SUBJECT and net < parameters.subject_bits:
        strong, why = False, f"{why}; the recipient's own prompt has most of its telling words"
    telling = float(evidence.strength.term_bits.sum())
    if (
        len(candidate.carriers) > parameters.phrase_limit
        and telling < parameters.undetermined_bits
        and not candidate.token
    ):
        strong, why = False, f"{why}; many tenants carry it, and its words are ordinary: perhaps a phrase"
    if evidence.asks_for_text and not candidate.token:
        strong, why = False, f"{why}; the recipient asked for a text to be recited, which may be public"
    if evidence.quotation and not candidate.token:
        strong, why = False, f"{why}; the recipient asked for a quotation, and the answer presents it as one: public?"
    who = "one supplier" if len(units) == 1 else f"{len(units)} suppliers that cannot be told apart"
    if told_apart:
        who += ", the others' text differs in its signs"
    if evidence.capped:
        return Judged(
            candidate, evidence, kind, stratum, "undetermined",
            f"{who}; {why}; contents follow each other across tenants, and no worker speaks for a leak{UNNAMED}",
            [], ranked, TRIED, q_value,
        )  # fmt: skip
    if unknown_time:
        strong, why = False, f"{why}; no request time, so the order is not known"
    return Judged(
        candidate, evidence, kind, stratum, "probable" if strong else "possible",
        f"{who}; {why}", units, ranked, TRIED, q_value,
    )  # fmt: skip


def _altered(candidate: Candidate, best: list[Source]) -> bool:
    """Does the best source differ from the passage in more than folding hides?"""
    return candidate.alteration is not None or all(
        s.holder.matched < max(s.holder.end - s.holder.start, s.holder.other_end - s.holder.other_start) for s in best
    )
