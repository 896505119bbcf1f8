"""The elements of one array inside a JSON document as units of their own; the syntax around them as structure.

So that each record of a document has its own place, and a broken one costs itself alone. Knows no format.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace

from forensics.ingest.units import Unit, is_bare, shared

_BLANK = " \t\r\n,"


def array_units(unit: Unit, opening: re.Pattern[str]) -> list[Unit]:
    """`unit` cut into the elements of the array that `opening` ends in; as it is where there is no such array."""
    # Latin-1 keeps one character per byte; structure is ASCII in UTF-8.
    text = unit.data.decode("latin-1")
    begin = opening.search(text)
    if begin is None:
        return [unit]
    spans, end = _spans(text, begin.end())
    made: list[Unit] = []
    position = 0
    for start, stop, whole in spans:
        if start > position:
            made.append(Unit(b"", position, start - position, 0, 0, structure=True))
        cut = not whole
        made.append(Unit(unit.data[start:stop], start, stop - start, 0, 0, at=unit.at, source=unit.source, cut=cut))
        position = stop
    if end > position:
        made.append(Unit(b"", position, end - position, 0, 0, structure=True))
    if not is_bare(unit):
        # The bytes stand for others of the file: there is no exact place inside.
        return shared(unit, [replace(part, offset=unit.offset, line=unit.line) for part in made])
    return _placed(unit, made)


def _spans(text: str, position: int) -> tuple[list[tuple[int, int, bool]], int]:
    """(start, stop, whether it is whole) of every element from `position` on, and where the text ends."""
    decoder = json.JSONDecoder(strict=False)
    spans: list[tuple[int, int, bool]] = []
    end = len(text)
    while True:
        while position < end and text[position] in _BLANK:
            position += 1
        if position >= end or text[position] == "]":
            return spans, end
        try:
            _, stop = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            spans.append((position, end, False))
            return spans, end
        spans.append((position, stop, True))
        position = stop


def _placed(unit: Unit, parts: list[Unit]) -> list[Unit]:
    """The parts with their places in the file; what the unit counts beyond them (its line end) goes to the last."""
    placed: list[Unit] = []
    line = 0
    for part in parts:
        lines = unit.data.count(b"\n", part.offset, part.offset + part.size)
        placed.append(replace(part, offset=unit.offset + part.offset, line=unit.line + line, lines=lines))
        line += lines
    if not placed:
        return [unit]
    rest = unit.size - len(unit.data)
    placed[-1] = replace(placed[-1], size=placed[-1].size + rest, lines=placed[-1].lines + unit.lines - line)
    return placed
