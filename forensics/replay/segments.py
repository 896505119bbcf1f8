"""Where are the words, numbers and marks of a text? Cuts a text into segments without a rest; replaces nothing.

A chat mark (`<|im_start|>system`, `[INST]`) is one segment, so is a run of letters, a run of digits, a run of white
space; every other character stands alone, and so does every sign of a script that writes without spaces.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["mark", "sign", "word", "number", "space", "other"]
_SPACELESS = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_SEGMENT = re.compile(
    r"(?P<mark><\|[^|<>\s]{1,40}\|>(?:system|user|assistant|tool)?|\[/?INST\]|<</?SYS>>|</?s>|</?think>|\[gMASK\]|<sop>)"
    rf"|(?P<sign>[{_SPACELESS}])"
    rf"|(?P<word>[^\W\d_{_SPACELESS}]+)"
    r"|(?P<number>\d+)"
    r"|(?P<space>\s+)"
    r"|(?P<other>.)",
    re.S,
)
_WORD = re.compile(r"\w+")
GRAM = 8


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of a text; `start` in code points."""

    kind: Kind
    text: str
    start: int


def segments(text: str) -> list[Segment]:
    """All of `text`, in order."""
    return [Segment(found.lastgroup, found.group(), found.start()) for found in _SEGMENT.finditer(text)]  # type: ignore[arg-type]


def word_grams(text: str, size: int = GRAM) -> Iterator[tuple[str, ...]]:
    """Every run of `size` words of the text, case folded; chat marks are no words."""
    words: Sequence[str] = [
        word
        for piece in segments(text)
        if piece.kind in ("word", "sign", "number")
        for word in _WORD.findall(piece.text.casefold())
    ]
    for place in range(len(words) - size + 1):
        yield tuple(words[place : place + size])
