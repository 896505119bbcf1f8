"""Does a passage belong where it stands, or where its source has it?

An excerpt that strayed into an answer keeps the words of the text it was cut out of: they stand in the rest of that
text (and in the question that it answers), and not in the rest of the answer nor in its question. It often begins in
the middle of a sentence, where the answer had just ended one. What a model says to many, and what two tenants took from
a common source, fits the answer it stands in.

In 14,103 answers of real models to real questions (120 tenants made up, no leak) 338 passages of 24 net bits and more
that nobody supplied stand in answers to unlike questions: of those whose edge is broken none has 15 bits of words
that only the other's surroundings hold; of the rest some have 50. So the edge is asked for. Two victims of a source
that is not in the logs hold its passage, too, and the words around it in one of them may meet it by chance: hence no
more than `possible` for text that nobody supplied.

Measures, and says from where on it counts; the verdict is the judge's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from forensics.attribution.candidates import Candidate, Holder
from forensics.attribution.questions import ASKED, ASKED_REACH, SAME_END, Question
from forensics.attribution.sources import Source, leading
from forensics.attribution.strength import Strength
from forensics.attribution.texts import Texts
from forensics.text.fold import fold
from forensics.text.keys import among, distinct
from forensics.text.runs import tail_overlap
from forensics.text.words import Keys, Words, terms

STRAY_BITS = 20.0  # bits of words that only the source's surroundings hold
REPEATED_SHARE = 0.75  # of the passage's bits in the source's surroundings, above which these say it twice
OWN_RATIO = 8.0  # how many times more than the recipient's surroundings alone have
LOOKED_BACK = 24  # code points before an edge in which its last sign is looked for
# What a transcript writes before an answer, as the last thing before it.
ANSWERS = re.compile(
    r"(?:\b(?:assistant|answer|response|reply|model|chatgpt|gpt|bot|ai|a)\b|回答|答|助手)[^\w\n]{0,12}\s*$",
    re.IGNORECASE,
)
EDGE = 4  # units at the beginning that may agree by chance
SENTENCE_ENDS = frozenset(".!?。！？…؟۔।:：\n")
FIRST_UNITS = 10  # at most before the passage in the response, for it to be the answer that is quoted there
RAW_RIVAL = 0.9  # likeness of signs, case and spaces apart, from which another supplier is no worse than an equal one
COMPARED = 4000  # code points of a passage that are compared sign by sign


@dataclass(frozen=True)
class Belonging:
    """`theirs`: bits of the passage's words that only its source's surroundings hold; `own`: only the recipient's;
    `share`: of all its words' bits, that are theirs. `broken`: it begins after a sentence here, in mid-sentence there.
    """

    theirs: float
    own: float
    share: float
    broken: bool

    @property
    def strays(self) -> bool:
        """Does the passage belong to the source's text, and not to the answer it stands in?"""
        return self.broken and self.theirs >= STRAY_BITS and self.theirs >= OWN_RATIO * self.own

    @property
    def repeated(self) -> bool:
        """Do the surroundings say the passage again, rather than speak of the same?"""
        return self.share > REPEATED_SHARE


def belongs(
    texts: Texts, candidate: Candidate, sources: Sequence[Source], strength: Strength, prompts: Mapping[int, Keys]
) -> dict[int, Belonging]:
    """By unit of the leading sources. `prompts`: terms of requests' prompts; those of an answer's request count."""
    empty = np.zeros(0, dtype=np.uint64)
    mine = distinct(
        np.concatenate(
            [
                _rest(texts, candidate.content, candidate.start, candidate.end),
                prompts.get(candidate.request, empty),
            ]
        )
    )
    found: dict[int, Belonging] = {}
    for source in leading(list(sources)):
        holder = source.holder
        around = _rest(texts, holder.content, holder.other_start, holder.other_end)
        if holder.side == 1:
            around = distinct(np.concatenate([around, prompts.get(source.request, empty)]))
        in_theirs, in_mine = among(strength.terms, around), among(strength.terms, mine)
        bits = strength.all_term_bits
        one = Belonging(
            float(bits[in_theirs & ~in_mine].sum()),
            float(bits[in_mine & ~in_theirs].sum()),
            float(bits[in_theirs].sum()) / max(1.0, float(bits.sum())),
            breaks(texts, candidate, holder),
        )
        known = found.get(holder.unit)
        if known is None or (one.strays, one.theirs) > (known.strays, known.theirs):
            found[holder.unit] = one
    return found


def figures(found: Mapping[int, Belonging]) -> dict[str, float]:
    """What is kept with the fragment: of the unit to which the passage belongs most."""
    if not found:
        return {}
    most = max(found.values(), key=lambda one: (one.strays, one.theirs))
    return {
        "surroundings_source_bits": round(most.theirs, 2),
        "surroundings_own_bits": round(most.own, 2),
        "broken_edge": float(most.broken),
    }


def breaks(texts: Texts, candidate: Candidate, holder: Holder) -> bool:
    """Does the passage begin in mid-sentence in the other text, and after a sentence, or first, in the response?"""
    here, there = texts.folded(candidate.content), texts.folded(holder.content)
    answer, text = texts.raw(candidate.content), texts.raw(holder.content)
    for step in range(EDGE):
        one, other = candidate.start + step, holder.other_start + step
        if one >= here.units.size or other >= there.units.size or here.units[one] != there.units[other]:
            return False
        if _ends(_last(answer, here.span(one, one + 1)[0])) and _goes_on(_last(text, there.span(other, other + 1)[0])):
            return True
    return False


def quotes_question(texts: Texts, candidate: Candidate, question: Question, holder: Holder) -> bool:
    """Does the source's text hold the recipient's own question before the passage?

    A short question is anybody's: all of it must stand right there, with the label of an answer behind it.
    """
    asked = question.end
    if asked.size == 0 or candidate.start > FIRST_UNITS:
        return False
    before = texts.units(holder.content)[: holder.other_start]
    if asked.size < ASKED // 4:
        low, _ = texts.folded(holder.content).span(holder.other_start, holder.other_end)
        label = ANSWERS.search(texts.raw(holder.content)[max(0, low - LOOKED_BACK) : low])
        behind = 0 if label is None else int(fold(label.group()).units.size)
        return behind > 0 and bool(np.array_equal(before[:-behind][-asked.size :], asked))
    return before.size >= asked.size and tail_overlap(asked, before[-ASKED_REACH:], ASKED, ASKED_REACH) >= SAME_END


def alike_in_signs(texts: Texts, candidate: Candidate, sources: Sequence[Source]) -> frozenset[int]:
    """Of several leading units, those whose text has the passage sign by sign, if the others' differ; else none.

    Case and white space do not count: they are what an alteration changes first.
    """
    from rapidfuzz.distance import Levenshtein

    low, high = texts.folded(candidate.content).span(candidate.start, candidate.end)
    passage = _signs(texts.raw(candidate.content)[low:high])
    best: dict[int, float] = {}
    for source in leading(list(sources)):
        holder = source.holder
        first, last = texts.folded(holder.content).span(holder.other_start, holder.other_end)
        other = _signs(texts.raw(holder.content)[first:last])
        likeness = float(Levenshtein.normalized_similarity(passage, other))
        best[holder.unit] = max(best.get(holder.unit, 0.0), likeness)
    equal = frozenset(unit for unit, likeness in best.items() if likeness == 1.0)
    return equal if all(best[unit] < RAW_RIVAL for unit in best.keys() - equal) else frozenset()


def _signs(text: str) -> str:
    return "".join(text[:COMPARED].casefold().split())


def _rest(texts: Texts, content: int, start: int, end: int) -> Keys:
    """Terms of a text outside of a passage."""
    found = texts.words(content)
    outside = (found.ends <= start) | (found.starts >= end)
    part = Words(found.starts[outside], found.ends[outside], found.hashes[outside], found.single[outside])
    return distinct(terms(part))


def _last(text: str, end: int) -> str:
    """The sign before `end`, spaces apart; empty at the beginning of a text."""
    return text[max(0, end - LOOKED_BACK) : end].rstrip(" \t")[-1:]


def _ends(last: str) -> bool:
    return not last or last in SENTENCE_ENDS


def _goes_on(last: str) -> bool:
    return last.isalnum() or (bool(last) and last in ",、，،(（-")
