"""Google Cloud Logging entries: `textPayload` is the line; `jsonPayload` is the record, or holds the line as `message`.

`gcloud logging read --format=json` writes an array; sinks write one entry a line. Payloads keep their bytes.
"""

from __future__ import annotations

from collections.abc import Iterable

from forensics.ingest.record import FileContext
from forensics.ingest.timestamps import parse_time
from forensics.ingest.units import Unit
from forensics.ingest.wrappers.containers import member
from forensics.ingest.wrappers.peeling import Object, lines_of, object_with, peeled, text_at
from forensics.ingest.wrappers.records import is_record

NAME = "gcp_logging"
TITLE = "Google Cloud Logging entries"
VERSIONS = "LogEntry v2: textPayload, jsonPayload"
SOURCE = "notes on the vendor's documentation; not checked against real exports"
ANY_OF = frozenset(("textPayload", "jsonPayload"))
_MARKS = frozenset(("logName", "insertId", "resource"))
_MESSAGE = frozenset(
    ("message", "severity", "level", "logger", "time", "timestamp", "pid", "stream", "logging.googleapis.com/trace")
)


def accepts(line: bytes) -> bool:
    """Whether the line is a log entry."""
    return _entry(line) is not None


def _entry(line: bytes) -> Object | None:
    obj = object_with(line, b'"textPayload"', b'"jsonPayload"')
    if obj is None or _MARKS.isdisjoint(obj):
        return None
    return obj if isinstance(obj.get("textPayload"), str) or isinstance(obj.get("jsonPayload"), dict) else None


class Peeler:
    """Peels one file."""

    def __init__(self, context: FileContext) -> None:
        self._context = context

    def feed(self, unit: Unit) -> Iterable[Unit]:
        """The lines of one entry."""
        obj = _entry(unit.data)
        if obj is None:
            return (unit,)
        at, _ = parse_time(obj.get("timestamp"), self._context)
        source = _source(obj)
        if isinstance(obj.get("textPayload"), str):
            return lines_of(unit, obj["textPayload"], at, source)
        payload = obj["jsonPayload"]
        message = text_at(payload, "message")
        if message is not None and _MESSAGE.issuperset(payload) and not is_record(payload):
            return lines_of(unit, message, at, source)
        return (peeled(unit, member(unit.data, "jsonPayload") or unit.data, at, source),)

    def end(self) -> Iterable[Unit]:
        """Nothing: every entry is whole."""
        return ()


def _source(obj: Object) -> str | None:
    resource = obj.get("resource")
    labels = resource.get("labels") if isinstance(resource, dict) else None
    if not isinstance(labels, dict):
        return None
    parts = [part for name in ("pod_name", "container_name") if (part := text_at(labels, name))]
    return "/".join(parts) or text_at(labels, "instance_id") or text_at(labels, "revision_name")
