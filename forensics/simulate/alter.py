"""How a copy changes on its way: pure functions on text, one per alteration; None where it changes nothing."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Sequence

from forensics.simulate.dice import Dice

_TOKEN = re.compile(r"\w+|[^\w\s]")
_SPACED = re.compile(r"\S+")
_FULL_WIDTH = {point: point + 0xFEE0 for point in range(0x21, 0x7F)} | {0x20: 0x3000}
_CJK_SPACELESS = ("zh", "ja")
_POINTS = {
    "he": "\u05b0\u05b1\u05b4\u05b5\u05b6\u05b7\u05b8\u05b9\u05bb\u05bc",
    "ar": "\u064b\u064c\u064d\u064e\u064f\u0650\u0651\u0652",
}


def alter(name: str, text: str, language: str, vocabulary: Sequence[str], dice: Dice) -> str | None:
    """`text` altered in the named way; None where that changes nothing or cannot be done."""
    made = _WAYS[name](text, language, vocabulary, dice)
    return made if made is not None and made != text and made.strip() else None


def point(text: str, language: str, dice: Dice) -> str:
    """`text` with vowel points after most letters of its script (Hebrew, Arabic)."""
    marks = _POINTS[language]
    block = "\u05d0" if language == "he" else "\u0621"
    top = "\u05ea" if language == "he" else "\u064a"
    return "".join(c + dice.pick(marks) if block <= c <= top and dice.chance(0.7) else c for c in text)


def unpoint(text: str) -> str:
    """`text` without combining marks of Hebrew and Arabic."""
    return "".join(c for c in text if not (unicodedata.combining(c) and "\u0591" <= c <= "\u0670"))


def _case_space(text: str, language: str, vocabulary: Sequence[str], dice: Dice) -> str | None:
    cased = dice.pick((str.upper, str.lower, str.title))(text)
    if language in _CJK_SPACELESS:
        return _sprinkle(cased, dice)
    return re.sub(r"[ \n]+", lambda match: _gap(match.group(), dice), cased)


def _gap(gap: str, dice: Dice) -> str:
    return dice.pick(("  ", "\n", "\u00a0", "\t")) if dice.chance(0.25) else gap


def _sprinkle(text: str, dice: Dice) -> str:
    pieces, at = [], 0
    while at < len(text):
        step = dice.between(3, 9)
        pieces.append(text[at : at + step])
        at += step
    return "".join(piece + dice.pick((" ", "\n", " ")) for piece in pieces).strip()


def _detokenised(text: str, language: str, vocabulary: Sequence[str], dice: Dice) -> str | None:
    if language in _CJK_SPACELESS:
        return " ".join(c for c in text if not c.isspace())
    tokens = _TOKEN.findall(text)
    words = text.split()
    return " ".join(tokens) if len(tokens) > len(words) else None


def _markdown(text: str, language: str, vocabulary: Sequence[str], dice: Dice) -> str | None:
    way = dice.pick(("bullets", "bold", "quote", "fence"))
    if way == "bullets":
        pieces = [piece.strip() for piece in re.split(r"(?<=[.!?。,，;])\s*", text) if piece.strip()]
        if len(pieces) > 1:
            return "\n".join(f"- {piece}" for piece in pieces)
        way = "bold"
    if way == "bold":
        if language in _CJK_SPACELESS:
            return re.sub(r"\w{2,4}", lambda m: f"**{m.group()}**" if dice.chance(0.3) else m.group(), text)
        return _SPACED.sub(lambda m: f"**{m.group()}**" if dice.chance(0.3) else m.group(), text)
    if way == "quote":
        width = 24 if language in _CJK_SPACELESS else 60
        return "\n".join(f"> {line}" for line in _wrap(text, width))
    return f"```text\n{text}\n```"


def _wrap(text: str, width: int) -> list[str]:
    words = text.split()
    if len(words) < len(text) / 30:  # no spaces to speak of
        flat = "".join(words)
        return [flat[at : at + width] for at in range(0, len(flat), width)]
    lines, line = [], ""
    for word in words:
        if line and len(line) + len(word) >= width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}".strip()
    return [*lines, line]


def _escapes(text: str, language: str, vocabulary: Sequence[str], dice: Dice) -> str | None:
    made = json.dumps(text, ensure_ascii=dice.chance(0.5))[1:-1]
    if made == text or dice.chance(0.25):
        made = json.dumps(json.dumps({"text": text}, ensure_ascii=dice.chance(0.5)))[1:-1]
    return made


def _table(text: str, language: str, vocabulary: Sequence[str], dice: Dice) -> str | None:
    cells: list[str] = []
    if language in _CJK_SPACELESS:
        at = 0
        while at < len(text):
            step = dice.between(5, 12)
            cells.append(text[at : at + step].strip())
            at += step
    else:
        words = text.split()
        at = 0
        while at < len(words):
            step = dice.between(2, 5)
            cells.append(" ".join(words[at : at + step]))
            at += step
    cells = [cell for cell in cells if cell]
    if len(cells) < 3:
        return None
    rows = [cells[at : at + 3] for at in range(0, len(cells), 3)]
    if dice.chance(0.5):
        return "\n".join("| " + " | ".join(row) + " |" for row in rows)
    return "\n".join(",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in rows)


def _points_removed(text: str, language: str, vocabulary: Sequence[str], dice: Dice) -> str | None:
    return unpoint(text)


def _full_width(text: str, language: str, vocabulary: Sequence[str], dice: Dice) -> str | None:
    return text.translate(_FULL_WIDTH)


def _noise(text: str, language: str, vocabulary: Sequence[str], dice: Dice) -> str | None:
    letters = [c for c in text if c.isalnum()]
    if not letters:
        return None
    made: list[str] = []
    for c in text:
        if not dice.chance(0.05):
            made.append(c)
            continue
        way = dice.between(0, 2)
        if way == 0:
            made.append(dice.pick(letters))
        elif way == 1:
            made += [c, dice.pick(letters)]
    return "".join(made)


def _dropped(text: str, language: str, vocabulary: Sequence[str], dice: Dice) -> str | None:
    words = list(text) if language in _CJK_SPACELESS else text.split(" ")
    gone = _tenth(words, dice)
    glue = "" if language in _CJK_SPACELESS else " "
    return glue.join(word for place, word in enumerate(words) if place not in gone) if gone else None


def _replaced(text: str, language: str, vocabulary: Sequence[str], dice: Dice) -> str | None:
    words = list(text) if language in _CJK_SPACELESS else text.split(" ")
    gone = _tenth(words, dice)
    glue = "" if language in _CJK_SPACELESS else " "
    made = [dice.pick(vocabulary) if place in gone else word for place, word in enumerate(words)]
    return glue.join(made) if gone else None


def _tenth(words: Sequence[str], dice: Dice) -> set[int]:
    """A tenth of the places, not the first or last."""
    inner = range(1, len(words) - 1)
    return set(dice.sample(inner, min(len(inner), max(1, round(len(words) / 10))))) if len(words) > 4 else set()


def _paraphrased_edges(text: str, language: str, vocabulary: Sequence[str], dice: Dice) -> str | None:
    words = list(text) if language in _CJK_SPACELESS else text.split(" ")
    edge = round(len(words) * 0.15)
    if edge < 2:
        return None
    glue = "" if language in _CJK_SPACELESS else " "
    places = set(range(0, edge, 2)) | {len(words) - 1 - place for place in range(0, edge, 2)}
    return glue.join(dice.pick(vocabulary) if place in places else word for place, word in enumerate(words))


_WAYS: dict[str, Callable[[str, str, Sequence[str], Dice], str | None]] = {
    "case_space": _case_space,
    "detokenised": _detokenised,
    "markdown": _markdown,
    "escapes": _escapes,
    "table": _table,
    "points_removed": _points_removed,
    "full_width": _full_width,
    "noise5": _noise,
    "dropped10": _dropped,
    "replaced10": _replaced,
    "paraphrased_edges": _paraphrased_edges,
}


def inside_words(text: str, start: int, end: int) -> tuple[int, int] | None:
    """`[start, end)` moved so that both ends stand inside words; None where there is none near."""
    low = next((at for at in range(start, min(start + 40, end - 1)) if _inside(text, at)), None)
    high = next((at for at in range(end, max(end - 40, start + 1), -1) if _inside(text, at)), None)
    return (low, high) if low is not None and high is not None and low < high else None


def _inside(text: str, at: int) -> bool:
    return 1 < at < len(text) - 1 and text[at - 2 : at + 2].isalnum()


def tokens(text: str, language: str, dice: Dice) -> list[str]:
    """`text` in pieces of the size of model tokens; joined they are `text` again."""
    if language in _CJK_SPACELESS:
        pieces, at = [], 0
        while at < len(text):
            step = dice.between(1, 2)
            pieces.append(text[at : at + step])
            at += step
        return pieces
    found: list[str] = []
    for word in re.findall(r"\s*\w+|\s*[^\w\s]+|\s+", text):
        while len(word) > 7:
            found.append(word[:5])
            word = word[5:]
        found.append(word)
    return found


def interleave(streams: Sequence[Sequence[str]], dice: Dice) -> tuple[str, list[list[tuple[int, int]]]]:
    """Streams merged token by token, mostly in turns, until all are at their end; and where each one's pieces stand."""
    at = [0] * len(streams)
    pieces: list[list[tuple[int, int]]] = [[] for _ in streams]
    made: list[str] = []
    length, turn = 0, 0
    while any(at[number] < len(stream) for number, stream in enumerate(streams)):
        stream = streams[turn]
        for _ in range(1 if dice.chance(0.75) else dice.between(2, 3)):
            if at[turn] < len(stream):
                token = stream[at[turn]]
                made.append(token)
                mine = pieces[turn]
                if mine and mine[-1][1] == length:
                    mine[-1] = (mine[-1][0], length + len(token))
                else:
                    mine.append((length, length + len(token)))
                length += len(token)
                at[turn] += 1
        turn = (turn + 1) % len(streams)
    return "".join(made), pieces
