"""Does a response switch to another language of the same script, and nothing in the request explains it?

A German paragraph in an English answer to an English question is what a leak looks like whose source is not in the
evidence. Languages of one script are told apart by their function words (`text/languages`). Such a passage is reported
as `undetermined`, nobody named, unless the prompt is written in the language, speaks of languages or asks for a text
that may be in one, or the tenant's other texts are in it, or another rule has the passage already. A response that is
foreign as a whole is not a switch; other scripts are `foreign_script`'s.

How sure: the passage differs from the answer's language for certain (its votes are given); that it is somebody else's
is not. In 14,103 answers of real models to real questions, in twenty languages, with code, translations and quotations,
none was reported.
"""

from __future__ import annotations

import numpy as np

from forensics.attribution.candidates import Candidate, Excluded, prompts_by_request
from forensics.attribution.corpus import Corpus, TextBatch
from forensics.attribution.findings import Evidence, Judged
from forensics.attribution.foreign_script import LANGUAGE_WORDS
from forensics.attribution.nearby import prompts_of_case
from forensics.attribution.own_terms import OwnTexts
from forensics.attribution.strength import Strength
from forensics.attribution.texts import Texts
from forensics.text.characters import character_model
from forensics.text.languages import LANGUAGES, switches, votes_of
from forensics.text.runs import total_weight

MIN_VOTES = 6  # function words of the other language in the passage,
MIN_SHARE = 0.2  # and share of its words: prose has a third and more,
MIN_WORDS = 12  # of which it has at least so many;
MAX_AGAINST = 0.2  # words of the main language only, to one vote
MAIN_VOTES = 6  # function words of the main language in the rest of the answer
EXPLAINED = 3  # function words of the language in a prompt that explain it
MAJORITY = 0.6  # most of the answer that the passage may be
# Folded words in a prompt that explain a passage in another language of the script.
ASKED_WORDS = (
    *LANGUAGE_WORDS,
    "german", "deutsch", "french", "franc", "spanish", "espanol", "portug", "italian", "dutch", "neder", "polish",
    "polsk", "swedish", "svensk", "danish", "dansk", "norweg", "norsk", "czech", "cesk", "cestin", "hungar",
    "magyar", "roman", "turkish", "turkce", "indones", "malay", "english", "englisch", "anglais", "ingles", "latin",
    "idioma", "sprache", "langue", "lingua", "jezyk", "quote", "zitat", "citation", "lyrics", "songtext", "poem",
    "gedicht", "anthem", "hymn", "recite", "original", "multilang", "i18n", "vocabular", "phrase", "proverb",
    "sprichwort", "по-английски", "английск", "немецк", "украин",
)  # fmt: skip


Suspects = dict[int, tuple[int, int, int, int, int, int, int]]


def find_language_switches(
    corpus: Corpus, texts: Texts, suspects: Suspects, judged: list[Judged], excluded: list[Excluded]
) -> list[Judged]:
    """Undetermined fragments, sorted by use. `judged`, `excluded`: what is known of the responses already."""
    world = corpus.world
    taken: dict[int, list[tuple[int, int]]] = {}
    for item in judged:
        taken.setdefault(item.candidate.use, []).append((item.candidate.start, item.candidate.end))
    dropped: dict[int, list[tuple[int, int]]] = {}
    for other in excluded:
        dropped.setdefault(other.use, []).append((other.start, other.end))
    uses = world.uses
    rows = [
        use
        for content in sorted(suspects)
        for use in range(int(uses.of_content[content]), int(uses.of_content[content + 1]))
        if uses.side[use] == 1 and world.requests.unit[uses.request[use]] >= 0
    ]
    prompts = prompts_by_request(world, {int(uses.request[use]) for use in rows})
    own = OwnTexts(corpus, prompts_of_case(world)) if rows else None
    needs = []
    for use in rows:
        request = int(uses.request[use])
        before = own.before(request) if own is not None else []
        needs.append((prompts.get(request, []), [text for text in before if text != uses.content[use]]))
    found: list[Judged] = []
    for batch in texts.batches([{int(uses.content[use]), *a, *b} for use, (a, b) in zip(rows, needs, strict=True)]):
        for place in batch:
            use, (asked, before) = rows[place], needs[place]
            content = int(uses.content[use])
            main, language, start, end, votes, against, words = suspects[content]
            if not asked or _explained(texts, asked, before, language, main):
                continue
            folded = texts.folded(content)
            low, high = folded.span(start, end)
            if _overlaps(taken.get(use, []), start, end) or _overlaps(dropped.get(use, []), low, high):
                continue
            units = folded.units[start:end]
            share = total_weight(units) / max(1, total_weight(folded.units))
            if share > MAJORITY:
                continue
            bits = float(character_model().bits(units).sum())
            none = np.zeros(0, dtype=np.uint64)
            evidence = Evidence(
                strength=Strength(bits, bits, words, 0.0, none, np.zeros(0), np.zeros(0)),
                charge=0.0,
                sources=[],
                kin_recipient=0.0,
                kin_source={},
                only={},
                share_of_response=share,
                features={
                    "passage_language": LANGUAGES[language],
                    "answer_language": LANGUAGES[main],
                    "language_votes": votes,
                    "language_votes_against": against,
                },
            )
            reason = (
                f"a passage in {LANGUAGES[language]} ({votes} of its {words} words are function words of that language "
                f"and not of {LANGUAGES[main]}) that nothing in the request or the tenant's other requests explains; "
                "nobody in the evidence holds it"
            )
            candidate = Candidate(use, int(uses.request[use]), content, start, end, "target", False, (), frozenset())
            tried = ("own_material", "language_request")
            found.append(
                Judged(
                    candidate, evidence, "undetermined", "foreign language", "undetermined", reason, [], [], tried, None
                )
            )
    return sorted(found, key=lambda item: item.candidate.use)


def switching_texts(corpus: Corpus) -> Suspects:
    """Response texts with a passage in another language: main, language, start, end, votes, against, words."""
    found: Suspects = {}

    def look(batch: TextBatch) -> list[tuple[int, ...]]:
        keys, buffer, offsets = batch
        s = switches(buffer, offsets)
        enough = (s.votes >= MIN_VOTES) & (s.words >= MIN_WORDS) & (s.votes >= MIN_SHARE * s.words)
        enough &= (s.against <= MAX_AGAINST * s.votes) & (s.all_votes - s.against >= MAIN_VOTES)
        columns = (keys, s.main, s.language, s.start, s.end, s.votes, s.against, s.words)
        return list(zip(*(column[enough].tolist() for column in columns), strict=True))

    for part in corpus.over(corpus.world.is_response, look):
        for content, *row in part:
            found[content] = tuple(row)  # type: ignore[assignment]
    return found


def _explained(texts: Texts, asked: list[int], before: list[int], language: int, main: int) -> bool:
    """Does the prompt or another text of the tenant explain the language?"""
    for content in asked:
        lowered = texts.units(content).astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
        if any(word in lowered for word in ASKED_WORDS):
            return True
    return any(votes_of(texts.raw(content), language, main) >= EXPLAINED for content in [*asked, *before])


def _overlaps(spans: list[tuple[int, int]], start: int, end: int) -> bool:
    return any(low < end and start < high for low, high in spans)
