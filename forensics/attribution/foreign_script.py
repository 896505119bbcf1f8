"""Does a response suddenly switch to a script that nothing in the request explains?

A leak whose source is not in the evidence leaves no match. One trace it can leave is a passage in a script that
neither the request nor anything the tenant had sent so far is written in, inside a response in another script, or the
whole of a response. What the tenant sent later explains nothing: the leak itself comes back in the history of its
conversation. Such a passage is reported as `undetermined`: foreign-looking, nobody named. A request that
mentions a language or a translation explains a switch. Changes of language within one script, and of register, are
not looked for.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from forensics.attribution.candidates import Candidate, Excluded, prompts_by_request
from forensics.attribution.findings import Evidence, Judged
from forensics.attribution.holdings import LATE, World
from forensics.attribution.strength import Strength
from forensics.attribution.texts import Texts
from forensics.text.characters import character_model
from forensics.text.runs import total_weight
from forensics.text.scripts import DIGIT, NAMES, longest_run

MIN_WEIGHT = 32  # weight of the foreign passage
EXPLAINED = 3  # units of the script in the own prompt that explain it
BATCH = 128
MAJORITY = 0.5  # share that the main script must have in the response
GAP = 12  # units of another script that a foreign passage may hold at a time: a product's name, a term

# Words (folded) in a prompt that explain another script.
LANGUAGE_WORDS = (
    "translat", "arabic", "hebrew", "russian", "ukrain", "greek", "chinese", "mandarin", "cantonese",
    "japanese", "kanji", "kana", "korean", "hangul", "thai", "hindi", "bilingual", "multilingual", "locali",
    "ubersetz", "traduc", "tradui", "tlumacz", "перевод", "перевед", "翻译", "翻訳", "翻譯", "번역",
)  # fmt: skip
# The same only near the end of a prompt: long instructions speak of language when they mean words.
ASKED_WORDS = ("language", "语言", "言語")
ASKED_UNITS = 400


def find_switches(
    world: World,
    scripts: npt.NDArray[np.int32],
    texts: Texts,
    taken: dict[int, list[tuple[int, int]]],
    excluded: list[Excluded],
) -> list[Judged]:
    """Undetermined fragments. `taken`: unit spans per use that are fragments already; exclusions count as taken too."""
    wrote = _Wrote(world, scripts)
    suspects = _suspects(world, scripts)
    uses = world.uses
    rows = [
        (use, script)
        for content, script in suspects
        for use in range(int(uses.of_content[content]), int(uses.of_content[content + 1]))
        if uses.side[use] == 1 and world.requests.unit[uses.request[use]] >= 0 and not wrote.before(use, script)
    ]
    prompts = prompts_by_request(world, {int(uses.request[use]) for use, _ in rows})
    dropped: dict[int, list[tuple[int, int]]] = {}
    for item in excluded:
        dropped.setdefault(item.use, []).append((item.start, item.end))
    found: list[Judged] = []
    for place, (use, script) in enumerate(rows):
        if place % BATCH == 0:
            texts.forget()
        content, request = int(uses.content[use]), int(uses.request[use])
        own_prompts = prompts.get(request, [])
        if not own_prompts or _explained(texts, own_prompts, script):
            continue
        folded = texts.folded(content)
        start, end = longest_run(folded.units, script, GAP)
        if end <= start or total_weight(folded.units[start:end]) < MIN_WEIGHT:
            continue
        low, high = folded.span(start, end)
        if _overlaps(taken.get(use, []), start, end) or _overlaps(dropped.get(use, []), low, high):
            continue
        candidate = Candidate(use, request, content, start, end, "target", False, (), frozenset())
        bits = float(character_model().bits(folded.units[start:end]).sum())
        none = np.zeros(0, dtype=np.uint64)
        evidence = Evidence(
            strength=Strength(bits, bits, 0, 0.0, none, np.zeros(0), np.zeros(0)),
            charge=0.0,
            sources=[],
            kin_recipient=0.0,
            kin_source={},
            only={},
            share_of_response=total_weight(folded.units[start:end]) / total_weight(folded.units),
        )
        found.append(
            Judged(
                candidate,
                evidence,
                "undetermined",
                "foreign script",
                "undetermined",
                f"a passage in {NAMES[script]} script that nothing in the request or the tenant's other "
                "requests explains; nobody in the evidence holds it",
                [],
                [],
                ("own_material", "language_request"),
                None,
            )
        )
    texts.forget()
    return found


class _Wrote:
    """When each tenant first wrote in a script, by the time its request was received (us)."""

    def __init__(self, world: World, scripts: npt.NDArray[np.int32]) -> None:
        self._world = world
        self._first = np.full((len(world.requests.unit_names) + 1, len(NAMES)), LATE, dtype=np.int64)
        holdings = world.holdings
        held_by = np.repeat(np.arange(world.text_bytes.size), np.diff(holdings.of_content))
        # What came back as history of an earlier answer is not something the tenant wrote.
        wrote = (holdings.supplied <= holdings.finished) & world.is_prompt[held_by]
        for script in range(len(NAMES)):
            rows = np.flatnonzero(wrote & (scripts[held_by, script] >= EXPLAINED))
            np.minimum.at(self._first[:, script], holdings.unit[rows], holdings.supplied[rows])

    def before(self, use: int, script: int) -> bool:
        """Had the tenant that was given this response written in the script before the response was finished?"""
        request = int(self._world.uses.request[use])
        unit = int(self._world.requests.unit[request])
        return bool(self._first[unit, script] < self._world.requests.finished[request])


def _suspects(world: World, scripts: npt.NDArray[np.int32]) -> list[tuple[int, int]]:
    """Response texts with a long passage in a script besides their main one, or in another one than Latin: (content,
    script)."""
    foreign = world.is_response & (scripts[:, 2:].sum(axis=1) >= EXPLAINED)
    found: list[tuple[int, int]] = []
    for content in np.flatnonzero(foreign).tolist():
        letters = scripts[content].copy()
        letters[DIGIT] = 0
        main = int(letters.argmax())
        if letters[main] < MAJORITY * letters.sum():
            continue
        letters[[9, 11] if main in (9, 11) else [main]] = 0
        script = int(letters.argmax())
        found.append((content, main))
        if letters[script]:
            found.append((content, script))
    return [(content, script) for content, script in found if NAMES[script] not in ("latin", "other")]


def _explained(texts: Texts, prompts: list[int], script: int) -> bool:
    for content in prompts:
        folded = texts.folded(content)
        start, end = longest_run(folded.units, script)
        if end - start >= EXPLAINED:
            return True
        lowered = "".join(map(chr, folded.units.tolist()))
        if any(word in lowered for word in LANGUAGE_WORDS):
            return True
        if any(word in lowered[-ASKED_UNITS:] for word in ASKED_WORDS):
            return True
    return False


def _overlaps(spans: list[tuple[int, int]], start: int, end: int) -> bool:
    return any(low < end and start < high for low, high in spans)
