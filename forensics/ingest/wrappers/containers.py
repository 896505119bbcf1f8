"""Documents that hold many log lines: where in the bytes each of them stands. Does not know what the lines mean."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import replace
from json.decoder import scanstring  # type: ignore[attr-defined]

from forensics.ingest.units import Unit, is_bare, shared

_DECODER = json.JSONDecoder(strict=False)
_BLANKS = re.compile(r"[ \t\r\n]*")

Spans = Generator[tuple[int, int], None, bool]


def elements(data: bytes, path: Sequence[str], start: int = 0) -> Spans:
    """(start, length) in bytes of every value at `path`, where `*` is each element of an array.

    Returns whether the document could be read to its end; where not, the values before the fault were yielded.
    """
    # Latin-1 keeps one character per byte, so that positions are byte offsets; structure is ASCII in UTF-8.
    text = data.decode("latin-1")
    try:
        yield from _walk(text, start, tuple(path))
    except (ValueError, IndexError, RecursionError):
        return False
    return True


def holds(data: bytes, *path: str) -> bool:
    """Whether there is a value at `path`; looks no further than the first."""
    return next(elements(data, path), None) is not None


def member(data: bytes, *path: str) -> bytes | None:
    """The bytes of the value at `path` as the document wrote them, or None."""
    found = next(elements(data, path), None)
    return data[found[0] : found[0] + found[1]] if found else None


def _walk(text: str, at: int, path: tuple[str, ...]) -> Generator[tuple[int, int], None, int]:
    at = _skip(text, at)
    if not path:
        _, end = _DECODER.raw_decode(text, at)
        yield at, end - at
        return int(end)
    step, rest = path[0], path[1:]
    opened = text[at]
    if opened != ("[" if step == "*" else "{"):
        return int(_DECODER.raw_decode(text, at)[1])
    at = _skip(text, at + 1)
    closing = "]" if step == "*" else "}"
    while text[at] != closing:
        if step == "*":
            at = yield from _walk(text, at, rest)
        else:
            if text[at] != '"':
                raise ValueError
            key, at = scanstring(text, at + 1, False)
            at = _skip(text, at)
            if text[at] != ":":
                raise ValueError
            if key == step:
                at = yield from _walk(text, at + 1, rest)
            else:
                at = _DECODER.raw_decode(text, _skip(text, at + 1))[1]
        at = _skip(text, at)
        if text[at] == ",":
            at = _skip(text, at + 1)
        elif text[at] != closing:
            raise ValueError
    return at + 1


def _skip(text: str, at: int) -> int:
    match = _BLANKS.match(text, at)
    assert match is not None
    return match.end()


def array_units(unit: Unit, opening: re.Pattern[bytes]) -> list[Unit]:
    """`unit` cut into the elements of the array whose bracket `opening` ends in; as it is where there is no such array.

    So that each record of a document has its own place, and a broken one costs only itself and what follows.
    """
    begin = opening.search(unit.data)
    if begin is None:
        return [unit]
    return list(spread(unit, elements(unit.data, ("*",), begin.end() - 1), lambda one: (one,)))


def spread(unit: Unit, spans: Spans, read: Callable[[Unit], Iterable[Unit]]) -> Iterator[Unit]:
    """The values at `spans` as units with places of their own, what stands between them as structure.

    Where `unit` was itself peeled out of something, its bytes are dealt out among them instead. `read` makes units of
    the unit of one value. What follows a fault in the document is one unreadable unit.
    """
    for group in groups(unit, spans, read):
        yield from group


def groups(unit: Unit, spans: Spans, read: Callable[[Unit], Iterable[Unit]]) -> Iterator[Sequence[Unit]]:
    """What `spread` gives, the units of each value together."""
    if is_bare(unit):
        return _placed(unit, spans, read)
    return _dealt(unit, spans, read)


def _placed(unit: Unit, spans: Spans, read: Callable[[Unit], Iterable[Unit]]) -> Iterator[Sequence[Unit]]:
    data = unit.data
    position = 0
    lines = 0
    while True:
        try:
            start, length = next(spans)
        except StopIteration as stop:
            complete = bool(stop.value)
            if not complete and position:
                # What cannot be read begins behind the comma.
                start, length = len(data) - len(data[position:].lstrip(b" \t\r\n,")), 0
                if start > position:
                    more = data.count(b"\n", position, start)
                    between = Unit(
                        b"", unit.offset + position, start - position, unit.line + lines, more, structure=True
                    )
                    yield (between,)
                    lines += more
                    position = start
            break
        if start > position:
            more = data.count(b"\n", position, start)
            yield (Unit(b"", unit.offset + position, start - position, unit.line + lines, more, structure=True),)
            lines += more
        piece = data[start : start + length]
        more = piece.count(b"\n")
        yield tuple(
            read(Unit(piece, unit.offset + start, length, unit.line + lines, more, at=unit.at, source=unit.source))
        )
        lines += more
        position = start + length
    rest = replace(
        unit,
        data=data[position:],
        offset=unit.offset + position,
        size=unit.size - position,
        line=unit.line + lines,
        lines=unit.lines - lines,
    )
    yield (replace(rest, structure=True) if complete else replace(rest, reason="bad_json"),)


def _dealt(unit: Unit, spans: Spans, read: Callable[[Unit], Iterable[Unit]]) -> Iterator[Sequence[Unit]]:
    found: list[Sequence[Unit]] = []
    while True:
        try:
            start, length = next(spans)
        except StopIteration as stop:
            if not stop.value:
                found.append((replace(unit, reason="bad_json"),))
            break
        found.append(tuple(read(replace(unit, data=unit.data[start : start + length], size=0, lines=0, cut=False))))
    dealt = iter(shared(unit, [part for group in found for part in group]))
    if not any(found):
        yield tuple(dealt)
        return
    for group in found:
        yield [next(dealt) for _ in group]
