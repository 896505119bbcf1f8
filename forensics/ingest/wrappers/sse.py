"""Captures of server-sent streams: the lines of one stream joined into one unit, each line with the time it came at.

A capture may hold bare events; events behind a time (`2026-03-04T05:06:07.089Z data: ...`, `[1772600767.1] data: ...`);
one JSON object a line with a time and the data (`{"at": ..., "data": ...}`); and HTTP heads as `curl -i` and `curl -v`
print them, with the request before. What is given on begins with MARK, has the times taken off, and is read by the
parser `sse_capture`.

A new unit begins with a request, with a response after another response, after the end of a stream (`[DONE]`,
`message_stop`, `response.completed`), and with a new id after a stream whose choices have all finished. A chunk with
another id in the middle of a stream stays in it, where the parser sees that it is foreign, unless it begins an answer
of its own and the former id does not come back: then the former stream was broken off.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import orjson

from forensics.ingest.deltas import is_chunk
from forensics.ingest.record import FileContext
from forensics.ingest.timestamps import parse_time
from forensics.ingest.units import Unit, joined

NAME = "sse"
TITLE = "Capture of server-sent events, with or without times and HTTP heads"
VERSIONS = "the event stream of the HTML standard; curl 7 and 8 -i and -v; line times of capture scripts"
SOURCE = "the standard; public fixtures of captures; curl's documentation"
LEAST_SHARE = 0.3  # heads may be longer than the stream

MARK = b": framed"
MOST_BYTES = 256 << 20
MOST_LINES = 2_000_000
FINISHED = ("message_stop", "response.completed", "response.incomplete", "response.failed", "response.cancelled")

_FIELD = re.compile(rb"(?:data|event|id|retry):|: |:$")
_STRICT = re.compile(
    rb"data: ?(?:\{|\[DONE\]|\[\{)|event: ?(?:message|content_block|response\.|ping|error|completion)[\w.]*$|: [\w-]+"
)
_TIMED = re.compile(
    rb"\[?(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?: ?Z| ?[+-]\d\d:?\d\d)?|\d{10}(?:\.\d{1,9})?"
    rb"|\d{13}(?:\.\d{1,6})?"
    rb"|\d{16}|\d{19})\]?(?:[ \t|,;]+(?=(?:data|event|id|retry):|: )|[ \t|,;]*$)"
)
_STATUS = re.compile(rb"HTTP/\d(?:\.\d)? \d{3}(?: |$)")
_REQUEST = re.compile(rb"(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) \S+ HTTP/\d(?:\.\d)?$")
_HEADER = re.compile(rb"[A-Za-z][A-Za-z0-9-]{0,63}: ?")
_KNOWN_HEADER = re.compile(
    rb"(?i:(?:content-(?:type|length|encoding)|transfer-encoding|date|server|connection|cache-control|vary|via|host|accept"
    rb"|user-agent|authorization|x-request-id|request-id|cf-ray|openai-[a-z-]+|anthropic-[a-z-]+|x-ratelimit-[a-z-]+"
    rb"|strict-transport-security|set-cookie|alt-svc|access-control-[a-z-]+)): ?"
)
_CURL = re.compile(rb"[<>] |[<>]$|\* |[{}] \[\d+ bytes data\]")
_SIZE = re.compile(rb"[0-9a-fA-F]{1,8}$")
_TIME_KEYS = ("at", "ts", "t", "time", "timestamp", "received_at")
_DATA_KEYS = ("data", "chunk", "line", "raw")
_OTHER_KEYS = frozenset(("seq", "n", "i", "index", "event", "elapsed", "elapsed_ms"))
_ASKS = (b'"messages"', b'"prompt"', b'"input"', b'"contents"')


def accepts(line: bytes) -> bool:
    """Whether a line is one of a capture."""
    if line.startswith(MARK):
        return False
    if line.startswith(b"{"):
        return _entry(line) is not None
    timed = _TIMED.match(line)
    if timed:
        line = line[timed.end() :]
        return bool(line) and _STRICT.match(line) is not None
    if line[:2] in (b"< ", b"> "):
        line = line[2:]
        return bool(_STATUS.match(line) or _REQUEST.match(line) or _KNOWN_HEADER.match(line))
    return bool(_STRICT.match(line) or _STATUS.match(line) or _REQUEST.match(line) or _KNOWN_HEADER.match(line))


def _entry(line: bytes) -> tuple[Any, list[bytes]] | None:
    """The time and the stream's lines of a JSON entry of a capture; None where the line is none."""
    if b'"' not in line[:3] or not any(b'"%s"' % name.encode() in line[:400] for name in _DATA_KEYS):
        return None
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(value, dict) or len(value) > 6:
        return None
    times = [name for name in _TIME_KEYS if name in value]
    held = [name for name in _DATA_KEYS if name in value]
    if len(times) != 1 or len(held) != 1 or not set(value) - {times[0], held[0]} <= _OTHER_KEYS:
        return None
    data = value[held[0]]
    if isinstance(data, dict) and is_chunk(data):
        lines = [b"data: " + orjson.dumps(data), b""]
    elif isinstance(data, str) and (data.strip() == "[DONE]" or _is_chunk_text(data)):
        lines = [b"data: " + data.strip().encode("utf-8", "replace"), b""]
    elif isinstance(data, str) and (not data.strip() or _FIELD.match(data.encode("utf-8", "replace"))):
        lines = data.encode("utf-8", "replace").replace(b"\r\n", b"\n").split(b"\n")
    else:
        return None
    if isinstance(value.get("event"), str):
        lines.insert(0, b"event: " + value["event"].encode("utf-8", "replace").replace(b"\n", b" "))
    return value[times[0]], lines


def _is_chunk_text(data: str) -> bool:
    if not data.startswith("{"):
        return False
    try:
        value = orjson.loads(data)
    except (orjson.JSONDecodeError, UnicodeEncodeError):
        return False
    return isinstance(value, dict) and (is_chunk(value) or "error" in value)


@dataclass(slots=True)
class _Split:
    """Where, among units and lines, a chunk begins an answer of another id."""

    unit: int
    line: int
    own: str


class Peeler:
    """Joins the lines of one stream."""

    def __init__(self, context: FileContext) -> None:
        self._context = context
        self._clear()

    def _clear(self) -> None:
        self._units: list[Unit] = []
        self._lines: list[bytes] = []
        self._times: list[int | None] = []
        self._bytes = 0
        self._head = False  # a head is being read
        self._asked = False  # a request's line was seen
        self._answered = False  # a response's head or body was seen
        self._continued = False  # a response's head was seen that only says to go on
        self._events = False
        self._finished = False
        self._id = ""
        self._splits: list[_Split] = []
        self._places: dict[str, int] = {}  # of each split's id among the splits
        self._open: dict[str, dict[int, bool]] = {}  # id -> choice -> whether it is still open
        self._event = (0, 0)  # units and lines before the event at hand

    def feed(self, unit: Unit) -> Iterable[Unit]:
        """Take one line; gives on what is complete."""
        line = unit.data
        if unit.reason is not None:
            yield from self._flush()
            yield unit
            return
        if not line.strip():
            if self._units:
                self._take(unit, (line.strip(),), unit.at)
            else:
                yield unit
            return
        if self._bytes > MOST_BYTES or len(self._lines) > MOST_LINES:
            self._context.notice("stream_cut_by_limit")
            yield from self._flush()
        entry = _entry(line) if line.startswith(b"{") else None
        if entry is not None:
            at, _ = parse_time(entry[0], self._context)
            yield from self._fields(unit, entry[1], at)
            return
        timed = _TIMED.match(line)
        if timed and not (self._head and _SIZE.match(line)):
            at, _ = parse_time(timed.group(1).decode(), self._context)
            yield from self._fields(unit, [line[timed.end() :]], at)
            return
        if _FIELD.match(line):
            yield from self._fields(unit, [line], unit.at)
            return
        yield from self._other(unit, line)

    def _other(self, unit: Unit, line: bytes) -> Iterable[Unit]:
        """A line that is no field of a stream: a head, a body, what a tool prints between, or nothing of a capture."""
        curl = _CURL.match(line)
        bare = line[2:] if curl and line[:1] in b"<>" else line
        if _REQUEST.match(bare) and line[:1] != b"<":
            if self._events or self._answered or self._asked:
                yield from self._flush()
            self._head = self._asked = True
        elif _STATUS.match(bare) and line[:1] != b">":
            if self._events or (self._answered and not self._continued):
                yield from self._flush()
            self._head = self._answered = True
            self._continued |= b" 100 " in line[:16]
        elif curl:
            self._head = self._head or not self._events
        elif self._asks(line):
            if self._events or (self._answered and not self._head):
                yield from self._flush()
            self._head = True
        elif not self._head and not (self._events and _SIZE.match(line)):
            yield from self._flush()
            yield unit
            return
        self._take(unit, (line,), unit.at)

    def _asks(self, line: bytes) -> bool:
        return not self._head and line.startswith(b"{") and b'"model"' in line and any(mark in line for mark in _ASKS)

    def _fields(self, unit: Unit, lines: list[bytes], at: int | None) -> Iterable[Unit]:
        before = self._lines[-1] if self._lines else b""
        if not before.startswith((b"event:", b"id:", b"retry:")):
            self._event = (len(self._units), len(self._lines))
        for line in lines:
            if self._finished and line.startswith((b"data:", b"event:", b"id:")) and line[5:].strip() != b"[DONE]":
                yield from self._flush()
            if line.startswith(b"data:"):
                yield from self._data(line[5:].strip())
        self._events = True
        self._head = False
        self._take(unit, lines, at)

    def _data(self, data: bytes) -> Iterable[Unit]:
        """Look at a chunk before it is taken: does it end the stream, or begin another?"""
        if data == b"[DONE]":
            self._finished = True
            return
        try:
            chunk = orjson.loads(data)
        except orjson.JSONDecodeError:
            return
        if not isinstance(chunk, dict):
            return
        if chunk.get("type") in FINISHED:
            self._finished = True
        own, begins = _id_of(chunk)
        if own:
            yield from self._follow(own, begins)
        self._note(own or self._id, chunk)

    def _follow(self, own: str, begins: bool) -> Iterable[Unit]:
        """Decide which stream a chunk with an id belongs to."""
        latest = self._splits[-1].own if self._splits else self._id
        if not self._id:
            self._id = own
        elif own == self._id or own in self._places:
            # A former id is back: what came between is no stream of its own.
            kept = 0 if own == self._id else self._places[own] + 1
            for split in self._splits[kept:]:
                del self._places[split.own]
            del self._splits[kept:]
        elif (choices := self._open.get(latest)) and not any(choices.values()):
            # The stream before has come to its end.
            yield from self._flush(keep=self._event)
            self._id = own
        elif begins:
            self._places[own] = len(self._splits)
            self._splits.append(_Split(*self._event, own))

    def _note(self, own: str, chunk: dict[str, Any]) -> None:
        for choice in chunk.get("choices") or chunk.get("candidates") or ():
            if isinstance(choice, dict):
                index = choice.get("index")
                place = index if isinstance(index, int) else 0
                reason = choice.get("finish_reason") or choice.get("finishReason")
                held = self._open.setdefault(own, {})
                held[place] = held.get(place, True) and not reason

    def _take(self, unit: Unit, lines: Iterable[bytes], at: int | None) -> None:
        self._units.append(unit)
        self._bytes += len(unit.data)
        for line in lines:
            self._lines.append(line)
            self._times.append(at)

    def _flush(self, keep: tuple[int, int] | None = None) -> Iterable[Unit]:
        """Give on what is held, but for what stands from `keep` on."""
        units, lines, times, splits = self._units, self._lines, self._times, self._splits
        self._clear()
        if keep is not None:
            self._units, self._lines, self._times = units[keep[0] :], lines[keep[1] :], times[keep[1] :]
            self._events = bool(self._units)
            units, lines, times = units[: keep[0]], lines[: keep[1]], times[: keep[1]]
        unit = line = 0
        for split in splits:
            if unit < split.unit < len(units):
                yield _framed(units[unit : split.unit], lines[line : split.line], times[line : split.line])
                unit, line = split.unit, split.line
        if unit < len(units):
            yield _framed(units[unit:], lines[line:], times[line:])

    def end(self) -> Iterable[Unit]:
        """What is held at the end of the file."""
        yield from self._flush()


def _framed(units: list[Unit], lines: list[bytes], times: list[int | None]) -> Unit:
    made = joined(units, b"\n".join((MARK, *lines)))
    return replace(made, times=(None, *times) if any(at is not None for at in times) else None)


def _id_of(chunk: dict[str, Any]) -> tuple[str, bool]:
    """The id of the answer that a chunk belongs to, where it says so, and whether the chunk begins an answer."""
    kind = chunk.get("type")
    if isinstance(kind, str):
        inner = chunk.get("message" if kind == "message_start" else "response")
        own = inner.get("id") if isinstance(inner, dict) else None
        return (own if isinstance(own, str) else ""), kind in ("message_start", "response.created")
    own = chunk.get("id", chunk.get("responseId"))
    listed = chunk.get("choices")
    begins = any(
        isinstance(choice, dict) and isinstance(choice.get("delta"), dict) and bool(choice["delta"].get("role"))
        for choice in (listed if isinstance(listed, list) else ())
    )
    return (own if isinstance(own, str) else ""), begins
