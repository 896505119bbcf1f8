"""`journalctl -o json`, `json-pretty`, `json-sse`, `json-seq`: objects with `MESSAGE` and `__REALTIME_TIMESTAMP` (us).

`MESSAGE` is text, a list of byte values where it is no UTF-8 or holds control characters, or null where it is over
4 KiB and `--all` was not given: such a line is not in the export, and counts as `message_left_out`. A line that the
journal (`_LINE_BREAK`: line-max) or Docker (`CONTAINER_PARTIAL_MESSAGE`) cut is put together again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from forensics.ingest.record import FileContext
from forensics.ingest.timestamps import parse_time
from forensics.ingest.units import Unit
from forensics.ingest.wrappers.peeling import Object, object_with, refused, text_at
from forensics.ingest.wrappers.pieces import Pieces

NAME = "journald_json"
TITLE = "journalctl -o json (json-pretty, json-sse, json-seq)"
VERSIONS = "systemd's journal JSON format"
SOURCE = "notes on the project's documentation; not checked against a running journal"
ANY_OF = frozenset(("__REALTIME_TIMESTAMP",))


def accepts(line: bytes) -> bool:
    """Whether the line is one journal entry."""
    return _entry(line) is not None


def _entry(line: bytes) -> Object | None:
    obj = object_with(line.removeprefix(b"data: ").lstrip(b"\x1e"), b'"__REALTIME_TIMESTAMP"')
    return obj if obj is not None and isinstance(obj.get("__REALTIME_TIMESTAMP"), str | int) else None


def _messages(value: Any) -> Sequence[bytes] | None:
    """The contents of MESSAGE; None where the export left it out. A field that was set twice is a list of contents."""
    if isinstance(value, str):
        return (value.encode("utf-8", "replace"),)
    if not isinstance(value, list):
        return None
    if value and all(type(item) is int and 0 <= item < 256 for item in value):
        return (bytes(value),)
    found: list[bytes] = []
    for item in value:
        if isinstance(item, str):
            found.append(item.encode("utf-8", "replace"))
        elif isinstance(item, list) and all(type(byte) is int and 0 <= byte < 256 for byte in item):
            found.append(bytes(item))
        else:
            return None
    return found


class Peeler:
    """Peels one file."""

    def __init__(self, context: FileContext) -> None:
        self._context = context
        self._pieces = Pieces(context)

    def feed(self, unit: Unit) -> Iterable[Unit]:
        """The lines that this entry ends."""
        obj = _entry(unit.data)
        if obj is None:
            return (unit,)
        messages = _messages(obj.get("MESSAGE"))
        if messages is None:
            if "MESSAGE" in obj:
                self._context.notice("message_left_out")
            return (refused(unit, "message_left_out" if "MESSAGE" in obj else "bad_json"),)
        at, _ = parse_time(obj["__REALTIME_TIMESTAMP"], self._context)
        source = _source(obj)
        stream = (source, text_at(obj, "_STREAM_ID"), text_at(obj, "_PID"), text_at(obj, "CONTAINER_PARTIAL_ID"))
        more = obj.get("_LINE_BREAK") == "line-max" or obj.get("CONTAINER_PARTIAL_MESSAGE") == "true"
        return self._pieces.add(stream, unit, b"\n".join(messages), more=more, at=at, source=source)

    def end(self) -> Iterable[Unit]:
        """Lines whose end is not in the file."""
        return self._pieces.end()


def _source(obj: Object) -> str | None:
    unit = text_at(obj, "CONTAINER_NAME") or text_at(obj, "_SYSTEMD_UNIT") or text_at(obj, "SYSLOG_IDENTIFIER")
    parts = [part for part in (text_at(obj, "_HOSTNAME"), unit and unit.removesuffix(".service")) if part]
    return "/".join(parts) or None
