"""Ollama's log: calls at their end (Gin), prompts and cache slots at DEBUG (slog). Answers are never in it.

No line carries a request id. A prompt is put to a call's end only where no other call can be meant; else both stand
alone. Lines of a llama.cpp runner among them are that format's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from forensics.ingest.counts import number
from forensics.ingest.python_repr import mend
from forensics.ingest.record import HELD, STRUCTURE, EngineEvent, FileContext, Item, Place, Record, Reject
from forensics.ingest.timestamps import parse_duration, parse_time

NAME = "ollama"
KIND = "log"
TITLE = "Ollama server log"
VERSIONS = "0.1 to 0.13: Gin lines, slog text lines; the cache lines compared with the source of 2026"
SOURCE = "the project's source (cache lines and chat requests); the Gin lines from memory"

_GIN = re.compile(
    rb"\[GIN\] (\d{4}/\d\d/\d\d - \d\d:\d\d:\d\d) \| +(\d{3}) \| +([\w.\xc2\xb5\xce\xbc]{1,30}) \| "
    rb' *(\S{1,64}) \| ([A-Z]{3,7}) +"(/[^"\n]{0,2000})"'
)
_SLOG = re.compile(rb"time=([\w:.+-]{19,40}) level=(\S{1,12}) source=\S{1,200} msg=")
_PAIR = re.compile(r' ?([\w.]{1,60})=("(?:[^"\\]|\\.)*+"|[^\s"]*+)(?=\s|$)', re.S)
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.S)
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_CALLS = (
    "/api/chat",
    "/api/generate",
    "/v1/chat/completions",
    "/v1/completions",
    "/v1/responses",
    "/v1/messages",
    "/api/embed",
    "/api/embeddings",
    "/v1/embeddings",
)
_PROMPTS = ("chat request", "generate request", "chat handler", "generate handler")
_EVENTS = {
    "loading cache slot": "cache_reuse",
    "evicting cache slot": "slot_evicted",
    "forking cache slot": "slot_copied",
    "context limit hit - shifting": "context_shift",
    "truncating input prompt": "input_truncated",
}
_SLOT_NAMES = ("id", "dst")
_COUNTS = frozenset("cache prompt used remaining inputs total src limit input keep discard new".split())
_RENAMED = {"used": "kept", "src": "from_slot"}
_SLACK_US = 1_500_000  # the end of a call is printed in whole seconds
_MOST_OPEN = 2000


@dataclass(frozen=True, slots=True)
class _Prompt:
    record: Record
    at: int
    source: str | None  # who wrote it, where a wrapper says so


def accepts_line(line: bytes) -> bool:
    """Whether a line is one of the web server's, or of the program's own log."""
    if line[:1] == b"[":
        return _GIN.match(line) is not None
    return line.startswith(b"time=") and _SLOG.match(line) is not None


def is_structure(line: bytes) -> bool:
    """Whether a line is one that the web server prints at its start."""
    return line.startswith((b"[GIN-debug]", b"[GIN] "))


def open_log(context: FileContext) -> _Log:
    """A reader for one file."""
    return _Log(context)


class _Log:
    def __init__(self, context: FileContext) -> None:
        self.context = context
        self._open: list[_Prompt] = []

    def read(self, line: bytes) -> Sequence[Item]:
        """The items of one line."""
        gin = _GIN.match(line)
        if gin is not None:
            return self._ended(gin)
        slog = _SLOG.match(line)
        if slog is None:
            raise Reject("unrecognised_line")
        try:
            text = line[slog.end() - 4 :].decode("utf-8")
        except UnicodeDecodeError:
            raise Reject("bad_utf8") from None
        first = _PAIR.match(text)
        message = _unquoted(first.group(2)) if first else ""
        if first is None or (message not in _PROMPTS and message not in _EVENTS):
            return STRUCTURE
        values, whole = _values(text, first.end())
        at, precision = parse_time(slog.group(1).decode(), self.context)
        at = at if at is not None else self.context.at
        if message in _EVENTS:
            return (self._event(_EVENTS[message], values, at),)
        if not whole:
            raise Reject("bad_repr")
        return self._prompt(values, at, precision)

    def _event(self, kind: str, values: dict[str, str], at: int | None) -> EngineEvent:
        event = EngineEvent(kind, at, self.context.worker or self.context.source)
        event.slot = next((values[name][:9] for name in _SLOT_NAMES if values.get(name, "").isdecimal()), None)
        for name, text in values.items():
            value = number(text) if name in _COUNTS else None
            if value is not None:
                event.counts[_RENAMED.get(name, name)] = value
        return event

    def _prompt(self, values: dict[str, str], at: int | None, precision: str | None) -> Sequence[Item]:
        prompt = values.get("prompt")
        if not prompt:
            return STRUCTURE
        place = self.context.place
        assert place is not None
        record = Record(None, "engine", worker=self.context.worker or self.context.source, place=place)
        record.received_at, record.time_precision = at, precision
        record.texts = [("prompt", "prompt", "prompt", prompt)]
        record.prompt_state, record.response_state = "full", "not_logged"
        if at is None:
            return (self._named(record, place),)
        self._open.append(_Prompt(record, at, self.context.source))
        if len(self._open) > _MOST_OPEN:
            self.context.notice("open_calls_closed")
            oldest = self._open.pop(0).record
            return (self._named(oldest, oldest.place),)
        return HELD

    def _ended(self, match: re.Match[bytes]) -> Sequence[Item]:
        time, status, took, _, method, path = (part.decode("utf-8", "replace") for part in match.groups())
        endpoint = path.partition("?")[0]
        if method != "POST" or endpoint not in _CALLS:
            return STRUCTURE
        at, precision = parse_time(time, self.context)
        place = self.context.place
        assert place is not None
        latency = parse_duration(took)
        items: list[Item] = []
        record = Record(None, "engine", worker=self.context.worker or self.context.source, place=place)
        record.prompt_state = record.response_state = "not_logged"
        if at is not None and latency is not None and "embed" not in endpoint:
            # Whatever started before this call's end can be its prompt; with several, none is taken.
            earliest = at - latency - _SLACK_US
            others = [prompt for prompt in self._open if prompt.source != self.context.source]
            own = [prompt for prompt in self._open if prompt.source == self.context.source]
            begun = [prompt for prompt in own if prompt.at >= earliest]
            stale = [prompt for prompt in own if prompt.at < earliest]
            if status == "200" and len(begun) == 1 and not stale:
                record = begun[0].record
                self._open = others
            elif status == "200" and begun:
                items += [self._named(prompt.record, prompt.record.place) for prompt in begun]
                self._open = [*others, *stale]
        record.endpoint, record.status = endpoint, status
        record.finished_at, record.latency_us = at, latency
        if record.received_at is None and at is not None and latency is not None:
            record.received_at = at - latency
        record.time_precision = precision or record.time_precision
        return [*items, self._named(record, place)]

    def _named(self, record: Record, place: Place | None) -> Record:
        """There is no id: one is made of the record's own first line."""
        place = record.place or place
        assert place is not None
        record.request_id = f"sha256:{place.digest[:16]}"
        self.context.notice("made_id")
        return record

    def end(self) -> Sequence[Item]:
        """Prompts whose call has no end in the log."""
        held, self._open = self._open, []
        return [self._named(prompt.record, prompt.record.place) for prompt in held]


def _values(text: str, position: int) -> tuple[dict[str, str], bool]:
    """The pairs after the message, and whether they were read to the end."""
    values: dict[str, str] = {}
    while position < len(text):
        pair = _PAIR.match(text, position)
        if pair is None:
            return values, not text[position:].strip()
        values.setdefault(pair.group(1), _unquoted(pair.group(2)))
        position = pair.end()
    return values, True


def _unquoted(text: str) -> str:
    """A value as Go prints it: bare, or quoted with escapes."""
    if text[:1] != '"':
        return text
    body = text[1:-1]
    return mend(_ESCAPE.sub(_unescape, body)) if "\\" in body else body


def _unescape(match: re.Match[str]) -> str:
    two, four, eight, other = match.groups()
    if other is not None:
        return _SIMPLE.get(other, other)
    if two is not None:
        # A single byte that is no character of its own.
        return chr(int(two, 16)) if int(two, 16) < 0x80 else "\ufffd"
    point = int(four or eight, 16)
    return chr(point) if point < 0x110000 else "\ufffd"
