"""Amazon CloudWatch Logs: lines `{"timestamp", "message"}`, documents with `events`, subscription records with
`logEvents` (several may stand on one line, as Firehose writes them), Logs Insights results with `@message`.

A message over several lines becomes several, unless it is one JSON value. `@message` may be an object: its bytes stay.
"""

from __future__ import annotations

from collections.abc import Iterable

from forensics.ingest.documents import value_spans
from forensics.ingest.record import FileContext
from forensics.ingest.timestamps import parse_time
from forensics.ingest.units import Unit
from forensics.ingest.wrappers.containers import Spans, elements, holds, member, spread
from forensics.ingest.wrappers.peeling import Object, lines_of, object_of, object_with, structure, text_at

NAME = "cloudwatch"
TITLE = "Amazon CloudWatch Logs: events, exports, subscriptions, Insights results"
VERSIONS = "get-log-events, filter-log-events, subscription records, Insights API and console exports"
SOURCE = "notes on the vendor's documentation; not checked against real exports"
ANY_OF = frozenset(
    ("@timestamp", "@message", "message", "messageType", "logEvents", "events", "results", "nextForwardToken",
     "searchedLogStreams")
)  # fmt: skip
_EVENT = frozenset(
    ("timestamp", "message", "ingestionTime", "eventId", "id", "logStreamName", "logGroupName", "logStream", "logGroup",
     "extractedFields")
)  # fmt: skip
# What distinguishes a document of events: the path of its events.
_DOCUMENTS = ((b'"logEvents"', ("logEvents", "*")), (b'"events"', ("events", "*")), (b'"results"', ("results", "*")))


def accepts(line: bytes) -> bool:
    """Whether the line (or document) is CloudWatch's."""
    return _path(line) is not None or _event(line) is not None


def _event(line: bytes) -> Object | None:
    obj = object_with(line, b"message", b'"@timestamp"')
    if obj is None:
        return None
    if isinstance(obj.get("@message"), str | dict):
        return obj
    if "@timestamp" in obj and all(key.startswith("@") for key in obj) and "@message" not in obj:
        # A row of a table whose message is empty.
        return {**obj, "@message": ""}
    if isinstance(obj.get("message"), str) and _EVENT.issuperset(obj) and isinstance(obj.get("timestamp"), str | int):
        return obj
    return None


def _path(line: bytes) -> tuple[str, ...] | None:
    if line.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] != b"{":
        return None
    head = line[:4096]
    for mark, path in _DOCUMENTS:
        if mark not in head and mark not in line[-4096:]:
            continue
        first = member(line, *path)
        if first is None:
            if mark == b'"logEvents"' and holds(line, "messageType"):
                return path
            if mark == b'"events"' and (holds(line, "nextForwardToken") or holds(line, "searchedLogStreams")):
                return path
        elif mark == b'"results"':
            if b'"@message"' in first and b'"field"' in first:
                return path
        elif (event := object_of(first)) is not None and isinstance(event.get("message"), str) and "timestamp" in event:
            return path
    return None


class Peeler:
    """Peels one file."""

    def __init__(self, context: FileContext) -> None:
        self._context = context

    def feed(self, unit: Unit) -> Iterable[Unit]:
        """The messages of a line or document."""
        path = _path(unit.data)
        if path is None:
            obj = _event(unit.data)
            return (unit,) if obj is None else self._message(unit, obj)
        if path[0] == "logEvents" and object_of(unit.data) is None:
            return spread(unit, _whole(value_spans(unit.data)), self._document)
        return self._read(unit, path)

    def _document(self, unit: Unit) -> Iterable[Unit]:
        path = _path(unit.data)
        return (unit,) if path is None else self._read(unit, path)

    def _read(self, unit: Unit, path: tuple[str, ...]) -> Iterable[Unit]:
        stream = member(unit.data, "logStream") if path[0] == "logEvents" else None
        source = stream.decode("utf-8", "replace").strip('"') if stream else None

        def event(piece: Unit) -> Iterable[Unit]:
            if path[0] == "results":
                return self._row(piece)
            obj = object_of(piece.data)
            return (piece,) if obj is None else self._message(piece, obj, source)

        return spread(unit, elements(unit.data, path), event)

    def _row(self, unit: Unit) -> Iterable[Unit]:
        """One row of an Insights result: a list of fields and values."""
        obj = object_of(b'{"row":' + unit.data + b"}") or {}
        row = obj.get("row")
        fields: Object = {}
        for field in row if isinstance(row, list) else ():
            if isinstance(field, dict) and isinstance(field.get("field"), str):
                fields[field["field"]] = field.get("value")
        return self._message(unit, fields)

    def _message(self, unit: Unit, obj: Object, source: str | None = None) -> Iterable[Unit]:
        message = obj.get("@message", obj.get("message"))
        if isinstance(message, dict):
            message = member(unit.data, "@message")
        if not isinstance(message, str | bytes):
            return (structure(unit),)
        at, _ = parse_time(obj.get("timestamp", obj.get("@timestamp")), self._context)
        for key in ("logStreamName", "logStream", "@logStream"):
            source = text_at(obj, key) or source
        return lines_of(unit, message, at, source)

    def end(self) -> Iterable[Unit]:
        """Nothing: every message is whole."""
        return ()


def _whole(spans: Iterable[tuple[int, int]]) -> Spans:
    yield from spans
    return True
