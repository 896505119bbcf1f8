"""What a parser is given where a line of the file is not yet a line of the log: the unit. Knows no wrapper by name.

A wrapper peels units off, joins several into one, or cuts one into several. Together the units of a file stand for
every byte of it once: where one becomes several, they share its bytes; where several become one, it has the bytes of
all of them, and the place of the first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from forensics.ingest.blocks import BLOCK_BYTES, Oversized
from forensics.ingest.worker import Block, FileFacts

_BLOCK_UNITS = 20_000
_LINE_END = 2


@dataclass(frozen=True, slots=True)
class Unit:
    """One logical line. `data` is what the parser reads, without a line end; `size` bytes and `lines` lines of the file
    are counted as this unit's; `at` (UTC microseconds) and `source` are what the wrapper said of it.
    """

    data: bytes
    offset: int
    size: int
    line: int
    lines: int
    at: int | None = None
    source: str | None = None
    times: tuple[int | None, ...] | None = None  # the wrapper's time of each line in `data`, where it joined some
    structure: bool = False  # syntax of a container: counted, not read
    cut: bool = False  # the file ends inside it
    reason: str | None = None  # why it cannot be read, where the wrapper knows
    digest: str | None = None  # SHA-256 (hex) of the whole content, where `data` does not hold it


def is_bare(unit: Unit) -> bool:
    """Whether `data` are bytes of the file, so that a place in them is one in the file: a line's end is all beyond."""
    return unit.size - len(unit.data) in range(_LINE_END + 1)


def joined(units: Sequence[Unit], data: bytes) -> Unit:
    """One unit out of several, with `data` as its content."""
    first = units[0]
    return replace(
        first,
        data=data,
        size=sum(unit.size for unit in units),
        lines=sum(unit.lines for unit in units),
        cut=units[-1].cut,
    )


def shared(unit: Unit, parts: Sequence[Unit]) -> list[Unit]:
    """`parts` of one unit with its bytes and lines dealt out among them; an empty list gives a structure unit."""
    if not parts:
        return [replace(unit, structure=True)]
    each, rest = divmod(unit.size, len(parts))
    lines, more = divmod(unit.lines, len(parts))
    return [
        replace(part, size=each + (number < rest), lines=lines + (number < more)) for number, part in enumerate(parts)
    ]


def line_units(blocks: Iterable[Block | Oversized]) -> Iterator[Unit | Oversized]:
    """The physical lines of a file as units; what was passed over stays what it is."""
    number = 0
    for block in blocks:
        if isinstance(block, Oversized):
            number += block.lines
            yield block
            continue
        lines = block.content().split(b"\n")
        ended = not lines[-1]
        if ended:
            lines.pop()
        offset = block.offset
        for index, line in enumerate(lines):
            open_end = not ended and index == len(lines) - 1
            size = len(line) + (0 if open_end else 1)
            yield Unit(line.removesuffix(b"\r"), offset, size, number, 1, cut=open_end and block.last)
            offset += size
            number += 1


def span_units(data: bytes, spans: Iterable[tuple[int, int]]) -> Iterator[Unit]:
    """The records of one JSON document as units; the syntax between them as structure."""
    position = line = 0
    for start, length in spans:
        if start > position:
            between = data[position:start]
            yield Unit(b"", position, len(between), line, between.count(b"\n"), structure=True)
            line += between.count(b"\n")
        piece = data[start : start + length]
        yield Unit(piece, start, length, line, piece.count(b"\n"))
        line += piece.count(b"\n")
        position = start + length
    if position < len(data):
        rest = data[position:]
        yield Unit(b"", position, len(rest), line, rest.count(b"\n"), structure=True)


def unit_blocks(units: Iterable[Unit | Oversized], facts: FileFacts) -> Iterator[Block | Oversized]:
    """Units put into blocks."""
    held: list[Unit] = []
    size = line = 0

    def block() -> Block:
        nonlocal line, size, held
        made = Block(facts, held[0].offset, units=tuple(held), line=line)
        line += sum(unit.lines for unit in held)
        held, size = [], 0
        return made

    for unit in units:
        if isinstance(unit, Oversized):
            if held:
                yield block()
            line += unit.lines
            yield unit
            continue
        held.append(unit)
        size += len(unit.data)
        if size >= BLOCK_BYTES or len(held) >= _BLOCK_UNITS:
            yield block()
    if held:
        yield block()
