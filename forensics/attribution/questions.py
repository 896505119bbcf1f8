"""What does a request ask, as far as the end of its prompt tells? Do two requests ask the same?

The end alone is read: what stands before may be documents, rules and turns of a conversation. Decides no verdict; what
it says of a single question only ever makes one weaker.
"""

from __future__ import annotations

from dataclasses import dataclass

from forensics.attribution.parameters import Parameters
from forensics.attribution.strength import Strength, asked_share
from forensics.attribution.texts import Texts
from forensics.text.fold import Units
from forensics.text.keys import distinct
from forensics.text.languages import asks_language
from forensics.text.match import containment, grams_of
from forensics.text.runs import tail_overlap
from forensics.text.words import Keys, Words, terms

ASKED = 120  # units at the end of a prompt that are taken for the question,
ASKED_REACH = 1200  # and where in another prompt it may stand
SAME_END = 0.5  # share of the question's end that must stand in the other prompt,
SAME_SUBJECT = (
    0.2  # and share of the answer that must be about what both questions hold, for the question to be the same
)
RECITE_WORDS = (
    "recite", "openingline", "openingparagraph", "openingsentence", "firstline", "firstparagraph", "firstverse",
    "firstchapter", "fulltextof", "wordforword", "wordingof", "lyricsof", "lyricsto", "quotefrom", "famousquote",
    "poemby",
    "anfangvon", "erstezeile", "erstenzeilen", "ersterabsatz", "wortlaut", "zitiere", "gedichtvon", "premiereslignes",
    "primeraslineas", "背诵", "背誦", "默写", "默寫", "第一章", "暗唱",
)  # fmt: skip


@dataclass(frozen=True)
class Question:
    """The end of a prompt: `units` (folded) and `terms` of its last ASKED_REACH units. `in_language`: it asks for its
    answer in some language."""

    units: Units
    terms: Keys
    in_language: bool

    @property
    def end(self) -> Units:
        """The last units of it, as a question."""
        return self.units[-ASKED:]

    @property
    def recites(self) -> bool:
        """Does it ask for a known text? By folded words."""
        asked = "".join(map(chr, self.end.tolist()))
        return any(word in asked for word in RECITE_WORDS)


def read_question(texts: Texts, content: int) -> Question:
    """The question at the end of a prompt's last text."""
    folded, found = texts.folded(content), texts.words(content)
    low = max(0, folded.units.size - ASKED_REACH)
    inside = found.starts >= low
    part = Words(found.starts[inside], found.ends[inside], found.hashes[inside], found.single[inside])
    return Question(folded.units[low:].copy(), distinct(terms(part)), asks_language(texts.raw(content)))


def same_question(first: Question | None, second: Question | None, strength: Strength, parameters: Parameters) -> bool:
    """Do two requests end in the same question, or share much of the rarer one, and is the candidate about it?

    The second half keeps "summarise this" over two different documents from counting as the same question.
    """
    if first is None or second is None or asked_share(strength, first.terms, second.terms) < SAME_SUBJECT:
        return False
    return (
        tail_overlap(first.units, second.units, ASKED, ASKED_REACH) >= SAME_END
        or containment(grams_of(first.units).hashes, grams_of(second.units).hashes) > parameters.same_question_seeds
    )
