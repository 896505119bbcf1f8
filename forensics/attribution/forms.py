"""Did two texts fill one form with different values, or do two identifiers only begin alike?

A letter, a notice, a log line of a product: two tenants that use one form have most of its words, and each has its own
values in it. A copy of such a text has the values, too, whatever else was altered. So both texts are aligned word by
word, a little beyond the passage on either side: between stretches of equal words stand the slots. Where both have a
value in a slot, a number or a name, and the values are unlike, the one text is no copy of the other.

An identifier that agrees with another in part is another identifier: an account number with other last digits, an
address with another first letter, another file in the same folder.

Measures; the verdict is the judge's. Words of scripts without capitals count as values by their digits alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from forensics.attribution.candidates import Candidate, Holder
from forensics.attribution.texts import Texts
from forensics.text.identifiers import is_nested

REACH_WORDS = 40  # words on either side of the passage that are compared, too
EDGE_WORDS = 24  # and so many inside, at either end of an exact one: between them nothing differs
MOST_WORDS = 1500  # of an altered one, above which its ends alone are compared
LOOKED_BACK = 8  # signs before a word in which a sentence may have ended
FRAME_WORDS, FRAME_UNITS = 3, 12  # equal words in a row, and their units, that make the frame of a slot
SLOT_WORDS = 12  # a slot of more is no slot: the texts go on differently
UNLIKE = 0.5  # likeness of two names, and of two numbers of more than SHORT digits, below which they are two
SHORT = 3
OWN_WORD = 3  # letters of a value that may stand in the own prompt by itself
PLAIN_SHARE = 0.5  # slots with other words, for each with a value, that a form may have
CUT_SHARE = 0.5  # of a passage in identifiers that go on differently, so that it is about them
_TOKEN, _JOINT = r"[A-Za-z0-9\-_.@/:+%#=?&~]", r"[\-_.@/:+%#=?&~]"
_AT_START, _AT_END = re.compile(_TOKEN + "+"), re.compile(_TOKEN + "+$")
_GOES_ON, _COMES = re.compile(_JOINT + "*[A-Za-z0-9]"), re.compile("[A-Za-z0-9]" + _JOINT + "*$")
_GROUP = re.compile(r"\s\d")


@dataclass(frozen=True)
class Slots:
    """Slots in which the two texts have unlike values: by number, by name; those filled from the own prompt; and those
    in which they differ in other words, as a damaged copy does in all sorts of words."""

    numbers: int = 0
    names: int = 0
    own: int = 0
    plain: int = 0

    @property
    def is_form(self) -> bool:
        """Two values, or one number, or one value that the recipient gave itself; and little else."""
        values = self.numbers + self.names
        return self.plain <= PLAIN_SHARE * values and (self.numbers > 0 or self.names > 1 or self.own > 0)


@dataclass(frozen=True)
class _Word:
    units: str
    inside: bool  # of the passage
    is_name: bool  # has a capital where its language writes one for names

    @property
    def is_number(self) -> bool:
        return any(sign.isdigit() for sign in self.units)


def slots(texts: Texts, candidate: Candidate, holder: Holder, prompts: Sequence[int]) -> Slots:
    """Slots of the two texts in and around the passage. `prompts`: the recipient's own; what both texts have around the
    passage out of those is no frame of it."""
    inside = texts.words(candidate.content).within(candidate.start, candidate.end)
    size = inside.stop - inside.start
    edges = size > (MOST_WORDS if candidate.alteration is not None else 2 * EDGE_WORDS)
    here = _pieces(texts, candidate.content, candidate.start, candidate.end, edges)
    there = _pieces(texts, holder.content, holder.other_start, holder.other_end, edges)
    own = _Own(texts, prompts)
    numbers = names = filled = plain = 0
    between = (slot for one, other in zip(here, there, strict=True) for slot in _between(one, other, own))
    for mine, theirs in between:
        number = _other_digits(mine, theirs)
        name = _unlike([w.units for w in mine if w.is_name], [w.units for w in theirs if w.is_name])
        if not (number or name):
            plain += 1
            continue
        numbers, names = numbers + number, names + (name and not number)
        values = [w.units for w in mine if w.is_number or (w.is_name and len(w.units) >= OWN_WORD)]
        filled += bool(values) and own.words.issuperset(values)
    return Slots(numbers, names, filled, plain)


class _Own:
    """The recipient's own prompts; read when first asked."""

    def __init__(self, texts: Texts, prompts: Sequence[int]) -> None:
        self._texts, self._prompts = texts, prompts

    @cached_property
    def words(self) -> set[str]:
        """Folded words."""
        made: set[str] = set()
        for key in self._prompts:
            units, found = "".join(map(chr, self._texts.units(key).tolist())), self._texts.words(key)
            made.update(units[a:b] for a, b in zip(found.starts.tolist(), found.ends.tolist(), strict=True))
        return made

    @cached_property
    def text(self) -> str:
        """Units, one prompt after the other."""
        return "\n".join("".join(map(chr, self._texts.units(key).tolist())) for key in self._prompts)


def _pieces(texts: Texts, content: int, start: int, end: int, edges: bool) -> list[list[_Word]]:
    """Words from REACH_WORDS before a passage to as many behind it; or its two ends alone, with what is around them."""
    found = texts.words(content)
    inside = found.within(start, end)
    low, high = max(0, inside.start - REACH_WORDS), min(int(found.starts.size), inside.stop + REACH_WORDS)
    if not edges:
        return [_words(texts, content, range(low, high), start, end)]
    first, last = min(high, inside.start + EDGE_WORDS), max(low, inside.stop - EDGE_WORDS)
    return [_words(texts, content, part, start, end) for part in (range(low, first), range(last, high))]


def _words(texts: Texts, content: int, which: range, start: int, end: int) -> list[_Word]:
    found, folded, raw = texts.words(content), texts.folded(content), texts.raw(content)
    made = []
    for i in which:
        low, high = int(found.starts[i]), int(found.ends[i])
        first = int(folded.positions[low])
        before = raw[max(0, first - LOOKED_BACK) : first].rstrip(" \t\"'(„“«")
        name = raw[first].isupper() and before[-1:] not in ("", ".", "!", "?", "\n", "\r")
        made.append(_Word("".join(map(chr, folded.units[low:high].tolist())), low < end and high > start, name))
    return made


def _between(here: list[_Word], there: list[_Word], own: _Own) -> Iterator[tuple[list[_Word], list[_Word]]]:
    """What both texts have between two stretches of equal words."""
    from rapidfuzz.distance import Levenshtein

    ops = Levenshtein.opcodes([word.units for word in here], [word.units for word in there])
    frames = [
        (op.src_start, op.src_end, op.dest_start, op.dest_end)
        for op in ops
        if op.tag == "equal" and _is_frame(here[op.src_start : op.src_end], own)
    ]
    for (_, low, _, other_low), (high, _, other_high, _) in pairwise(frames):
        if 0 < high - low <= SLOT_WORDS and 0 < other_high - other_low <= SLOT_WORDS:
            yield here[low:high], there[other_low:other_high]


def _is_frame(words: list[_Word], own: _Own) -> bool:
    units = "".join(word.units for word in words)
    if len(words) < FRAME_WORDS or len(units) < FRAME_UNITS:
        return False
    return any(word.inside for word in words) or units not in own.text


def _other_digits(mine: list[_Word], theirs: list[_Word]) -> bool:
    """Are there digits on both sides, and others, however they are parted? Of up to SHORT digits any two differ."""
    here, there = ("".join(filter(str.isdigit, "".join(w.units for w in side))) for side in (mine, theirs))
    short = bool(here and there) and max(len(here), len(there)) <= SHORT
    return here != there and (short or _unlike([here], [there]))


def _unlike(mine: list[str], theirs: list[str]) -> bool:
    """Are there values on both sides, and is none like one of the other side?"""
    from rapidfuzz.distance import Indel

    return all([*mine, *theirs, mine, theirs]) and all(
        Indel.normalized_similarity(a, b) < UNLIKE for a in mine for b in theirs
    )


def differs_in_an_identifier(texts: Texts, candidate: Candidate, holder: Holder) -> bool:
    """Is the passage, by half or more, the part in which two different identifiers agree?"""
    if texts.corpus.is_escaped(candidate.content) or texts.corpus.is_escaped(holder.content):
        return False  # every letter is digits there
    low, high = texts.folded(candidate.content).span(candidate.start, candidate.end)
    first, last = texts.folded(holder.content).span(holder.other_start, holder.other_end)
    here, there = texts.raw(candidate.content), texts.raw(holder.content)
    if candidate.token:  # groups of digits of a longer run, of which both texts have one more at the same end
        data = texts.corpus.data
        if not is_nested(data(candidate.content), candidate.start, candidate.end):
            return False
        if not is_nested(data(holder.content), holder.other_start, holder.other_end):
            return False
        behind = _GROUP.match(here, high) and _GROUP.match(there, last)
        before = _GROUP.match(here[:low][::-1]) and _GROUP.match(there[:first][::-1])
        return bool(behind or before)
    cut = 0
    if _GOES_ON.match(here, high) and _GOES_ON.match(there, last):
        cut += _cut_off(_AT_END.search(here[low:high]))
    if _COMES.search(here[max(0, low - REACH_WORDS) : low]) and _COMES.search(
        there[max(0, first - REACH_WORDS) : first]
    ):
        cut += _cut_off(_AT_START.match(here[low:high]))
    return cut >= CUT_SHARE * (high - low)


def _cut_off(token: re.Match[str] | None) -> int:
    """Signs of a token that could identify somebody."""
    found = token.group() if token is not None else ""
    return len(found) if any(sign.isdigit() or sign in "@/" for sign in found) else 0
