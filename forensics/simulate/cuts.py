"""Where a leak is cut out of its source and where it is set into an answer. Pure functions on text."""

from __future__ import annotations

import json
from collections.abc import Sequence

from forensics.simulate.dice import Dice

# Name -> shortest and longest leak in characters. `identifier` leaks are one particular and nothing else.
BANDS = {
    "identifier": (10, 39),
    "short": (40, 79),
    "medium": (80, 199),
    "long": (200, 599),
    "very_long": (600, 1999),
    "page": (2000, 4000),
}
BAND_WEIGHTS = {"identifier": 9, "short": 18, "medium": 30, "long": 26, "very_long": 13, "page": 4}


def cut(text: str, particulars: Sequence[str], band: str, dice: Dice, where: str = "any") -> tuple[int, int] | None:
    """`[start, end)` of a leak of `band` in `text`, between words; None where the text has none to offer.

    Short ones hold a particular: forty characters of plain prose would prove little. `where` is any or tail.
    """
    low, high = BANDS[band]
    if band == "identifier":
        # A postal address alone is words and a number, no identifier.
        fitting = [value for value in particulars if low <= len(value) <= high and ", " not in value]
        if not fitting:
            return None
        value = dice.pick(fitting)
        start = text.find(value)
        return (start, start + len(value)) if start >= 0 else None
    if len(text) < low + 10:
        return None
    for _ in range(12):
        wanted = min(dice.between(low, high), len(text) - 4)
        if band == "short" and where != "tail":
            fitting = [value for value in particulars if len(value) <= high - 4]
            if not fitting:
                return None
            value = dice.pick(fitting)
            at = text.find(value)
            start = max(0, at - dice.between(0, max(0, wanted - len(value))))
        elif where == "tail":
            start = len(text) - wanted
        else:
            start = dice.between(0, len(text) - wanted)
        end = len(text) if where == "tail" else min(len(text), start + wanted)
        start, end = to_words(text, start, end)
        if band == "short" and where != "tail" and not start <= at <= at + len(value) <= end:
            continue
        if low <= end - start <= high:
            return start, end
    return None


def to_words(text: str, start: int, end: int) -> tuple[int, int]:
    """Shrink to whole words where words are spaced; then to no space at either end."""
    if start > 0 and text[start - 1].isalnum() and text[start].isascii():
        space = _next_space(text, start, start + 25)
        start = space if space >= 0 else start
    if end < len(text) and text[end].isalnum() and text[end - 1].isascii():
        space = max(text.rfind(mark, max(start, end - 25), end) for mark in " \n")
        end = space if space >= 0 else end
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def _next_space(text: str, start: int, end: int) -> int:
    found = [at for at in (text.find(mark, start, end) for mark in " \n") if at >= 0]
    return min(found) if found else -1


def splice(own: str, leak: str, before: str, after: str, form: str, protected: Sequence[str], dice: Dice) -> str | None:
    """`own` with `leak` at its head, in its middle or at its tail; None where no place fits.

    `before` and `after` are what stands beside the leak in its source: the neighbours in the answer must differ, or
    the leak would be longer than planted. `protected` texts stay whole.
    """
    if form == "head":
        places = [0]
    elif form == "tail":
        places = [len(own)]
    else:
        middle = [at for at in range(len(own) // 8, len(own) * 7 // 8) if own[at] in " \n。"]
        places = [dice.pick(middle) for _ in range(12)] if middle else [len(own)]
    held = [(at, at + len(text)) for text in protected if (at := own.find(text)) >= 0]
    for place in [*places, len(own), 0]:
        left, right = own[:place].rstrip(), own[place:].lstrip()
        if any(start < place < end for start, end in held):
            continue
        if _same(left[-1:], before.rstrip()[-1:]) or _same(right[:1], after.lstrip()[:1]):
            continue
        gap = dice.pick((" ", " ", "\n\n", "\n"))
        return (left + gap if left else "") + leak + (dice.pick((" ", " ", "\n\n")) + right if right else "")
    return None


def plain_in_json(text: str) -> bool:
    """Is a text written inside a JSON string as it stands? Quotes, backslashes and control characters are not."""
    return json.dumps(text, ensure_ascii=False) == f'"{text}"'


def _same(first: str, second: str) -> bool:
    return bool(first) and first.casefold() == second.casefold()


def maximal(answer: str, start: int, end: int, source: str, at: int) -> tuple[int, int]:
    """Grow `[start, end)` of `answer`, equal to `source` from `at` on, as far as both agree; no space at the ends."""
    length = end - start
    while start > 0 and at > 0 and answer[start - 1] == source[at - 1]:
        start, at, length = start - 1, at - 1, length + 1
    while start + length < len(answer) and at + length < len(source) and answer[start + length] == source[at + length]:
        length += 1
    end = start + length
    while answer[start].isspace():
        start += 1
    while answer[end - 1].isspace():
        end -= 1
    return start, end
