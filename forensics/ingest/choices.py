"""The choices of a streamed answer while it is put together: blocks of pieces with their times. Knows no API."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from forensics.ingest.parts import Piece, compact
from forensics.ingest.record import Chunk

Object = dict[str, Any]
MOST_INDEX = 1000


@dataclass(slots=True)
class Block:
    """One text, piece of reasoning, refusal, call or result; each piece with the time it came at."""

    sort: str
    pieces: list[str] = field(default_factory=list)
    name: list[str] = field(default_factory=list)
    value: Any = None  # of a call or result that came in one piece
    times: list[int | None] = field(default_factory=list)


@dataclass(slots=True)
class Choice:
    """One answer, its blocks in the order in which they came, and why it ended."""

    blocks: dict[Any, Block] = field(default_factory=dict)
    finish: str | None = None

    def pieces(self) -> list[Piece]:
        """The choice's blocks as pieces."""
        made: list[Piece] = []
        for block in self.blocks.values():
            text = "".join(block.pieces)
            if block.sort == "call":
                made.append(("call", ("".join(block.name), text if block.pieces else block.value)))
            elif block.sort == "result":
                made.append(("result", block.value))
            else:
                made.append((block.sort, text))
        return made


def index_of(value: object, otherwise: int) -> int:
    """An index that a chunk names, or `otherwise` where it names none that is sane."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < MOST_INDEX:
        return value
    return otherwise


def body_of(pieces: Sequence[Piece], index: Any, finish: str | None) -> Object:
    """A choice in the shape of a chat completion's."""
    message: Object = {}
    for sort, name in (("text", "content"), ("reasoning", "reasoning_content"), ("refusal", "refusal")):
        found = [value for kind, value in pieces if kind == sort and isinstance(value, str) and value]
        if len(found) == 1:
            message[name] = found[0]
        elif found:
            message[name] = [{"type": "text", "text": value} for value in found]
        elif any(kind == sort for kind, _ in pieces):
            message[name] = ""
    calls = [value for kind, value in pieces if kind == "call"]
    if calls:
        message["tool_calls"] = [{"function": {"name": name, "arguments": arguments}} for name, arguments in calls]
    results = [value for kind, value in pieces if kind == "result"]
    if results:
        message["results"] = results
    return {"index": index, "message": message, "finish_reason": finish}


def said(pieces: Sequence[Piece]) -> dict[str, list[str]]:
    """What was said, by sort, for a comparison."""
    said: dict[str, list[str]] = {}
    for sort, value in pieces:
        if sort == "call":
            name, arguments = value
            text = f"{name} " + (arguments if isinstance(arguments, str) else compact(arguments) if arguments else "")
        else:
            text = value if isinstance(value, str) else ""
        if text and sort != "result":
            said.setdefault(sort, []).append(text)
    return said


def ranges_of(place: int, block: Block) -> list[Chunk]:
    """The code points that each piece of a text brought; `place` is the choice's."""
    made: list[Chunk] = []
    start = 0
    for piece, at in zip(block.pieces, block.times, strict=True):
        if piece:
            made.append((place, len(made), at, start, start + len(piece)))
            start += len(piece)
    return made
