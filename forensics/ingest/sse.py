"""A server-sent stream as events, and as one response body. Knows no API: `deltas` puts the events together.

Lines that are no field of the protocol (sizes of transfer chunks, what a capture tool prints between) are passed over.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from forensics.ingest.deltas import Assembled, assemble, is_chunk
from forensics.ingest.loose_json import loads

Object = dict[str, Any]
DONE = "[DONE]"


@dataclass(slots=True)
class Stream:
    """A stream put together, and how many of its events could not be read."""

    made: Assembled
    unread: int


def is_stream(text: str) -> bool:
    """Whether a body is a server-sent stream."""
    head = text[:2000].lstrip("\ufeff \r\n")
    return head.startswith(("data:", "event:", ": ", "id:")) and "data:" in head


def is_chunks(value: object) -> bool:
    """Whether a list is one of stream chunks."""
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict) and is_chunk(value[0])


def assemble_text(text: str) -> Stream:
    """The stream in a text, without times."""
    lines = text.replace("\r\n", "\n").split("\n")
    return assemble_lines(lines, None)


def assemble_list(values: Sequence[Any]) -> Stream:
    """The stream in a list of chunks; the word `[DONE]` may stand among them."""
    chunks = [(value, None) for value in values if isinstance(value, dict)]
    done = any(value == DONE for value in values if isinstance(value, str))
    return Stream(assemble(chunks, done), 0)


def assemble_lines(lines: Sequence[str], times: Sequence[int | None] | None) -> Stream:
    """The stream in the lines; `times` (UTC microseconds) are those of the lines, where a capture tool wrote them."""
    chunks: list[tuple[Object, int | None]] = []
    unread = 0
    done = False
    done_at: int | None = None
    for data, at in _events(lines, times):
        if data.strip() == DONE:
            done, done_at = True, at
            continue
        try:
            chunk = loads(data)
        except ValueError:
            unread += 1
            continue
        if isinstance(chunk, dict):
            chunks.append((chunk, at))
    return Stream(assemble(chunks, done, done_at), unread)


def _events(lines: Sequence[str], times: Sequence[int | None] | None) -> Iterator[tuple[str, int | None]]:
    """The data of each event and the time of its first line."""
    held: list[tuple[str, int | None]] = []
    for number, line in enumerate((*lines, "")):
        if line.startswith("data:"):
            held.append((line[5:].removeprefix(" "), times[number] if times is not None else None))
        elif not line and held:
            yield from _dispatched(held)
            held = []


def _dispatched(held: list[tuple[str, int | None]]) -> Iterator[tuple[str, int | None]]:
    data = "\n".join(part for part, _ in held)
    # Some proxies drop the blank lines: then each line is an event.
    if len(held) == 1 or _readable(data):
        if data.strip():
            yield data, held[0][1]
        return
    for part, at in held:
        if part.strip():
            yield part, at


def _readable(data: str) -> bool:
    try:
        loads(data)
    except ValueError:
        return False
    return True
