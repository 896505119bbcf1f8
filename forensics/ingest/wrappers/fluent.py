"""Objects of Fluentd, Fluent Bit, Vector and Azure's container tables: the line under `log`, `message` or `LogMessage`
beside what the shipper knows of its writer.

Parts of a line are told by `logtag` (P and F), by `partial_message`, or, where neither is there, by the absence of a
line feed after 16 KiB. Where the fields beside the message are a request or a response, the object is left as it is.
"""

from __future__ import annotations

from collections.abc import Iterable

from forensics.ingest.record import FileContext
from forensics.ingest.timestamps import parse_time
from forensics.ingest.units import Unit
from forensics.ingest.wrappers.containers import member
from forensics.ingest.wrappers.peeling import Object, object_of, peeled, text_at
from forensics.ingest.wrappers.pieces import Pieces
from forensics.ingest.wrappers.records import is_record

NAME = "fluent"
TITLE = "Fluentd, Fluent Bit, Vector, Azure ContainerLog: one object a line"
VERSIONS = "their usual fields; ContainerLogV2"
SOURCE = "notes on the projects' documentation; not checked against real exports"
_TEXTS = ("log", "message", "LogMessage", "LogEntry")
ANY_OF = frozenset(_TEXTS)
_MARKS = frozenset(
    (
        "kubernetes",
        "docker",
        "container_id",
        "container_name",
        "logtag",
        "partial_message",
        "source_type",
        "fluentd_tag",
        "_p",
        "PodName",
        "ContainerName",
        "ContainerID",
    )
)
_TIMES = ("time", "timestamp", "@timestamp", "date", "TimeGenerated", "TimeGenerated [UTC]")
_BUFFER = 16 * 1024


def accepts(line: bytes) -> bool:
    """Whether the line is a shipper's object."""
    return _event(line) is not None


def _event(line: bytes) -> Object | None:
    if line[:1] != b"{" or not any(b'"%b"' % name.encode() in line for name in _TEXTS):
        return None
    obj = object_of(line)
    if obj is None or _MARKS.isdisjoint(obj) or is_record(obj):
        return None
    return obj if isinstance(_text(obj), str | dict) else None


def _text(obj: Object) -> object:
    return next((obj[name] for name in _TEXTS if name in obj), None)


class Peeler:
    """Peels one file."""

    def __init__(self, context: FileContext) -> None:
        self._context = context
        self._pieces = Pieces(context)

    def feed(self, unit: Unit) -> Iterable[Unit]:
        """The line that this object ends."""
        obj = _event(unit.data)
        if obj is None:
            return (unit,)
        at, _ = parse_time(next((obj[name] for name in _TIMES if name in obj), None), self._context)
        source = _source(obj)
        text = _text(obj)
        if not isinstance(text, str):
            # Azure keeps a message that is JSON as an object.
            name = next(name for name in _TEXTS if name in obj)
            return (peeled(unit, member(unit.data, name) or unit.data, at, source),)
        data = text.encode("utf-8", "replace")
        stream = str(obj.get("stream", obj.get("source", obj.get("LogSource"))))
        key = (source, stream, text_at(obj, "partial_id"))
        if "logtag" in obj:
            more = obj["logtag"] == "P"
        elif "partial_message" in obj:
            more = str(obj["partial_message"]).lower() == "true" and str(obj.get("partial_last")).lower() != "true"
        else:
            more = len(data) == _BUFFER and data[-1:] != b"\n"
        return self._pieces.add(key, unit, data, more=more, at=at, source=source)

    def end(self) -> Iterable[Unit]:
        """Lines whose end is not in the file."""
        return self._pieces.end()


def _source(obj: Object) -> str | None:
    pod = text_at(obj, "kubernetes", "pod_name") or text_at(obj, "PodName")
    container = text_at(obj, "kubernetes", "container_name") or text_at(obj, "ContainerName")
    container = container or text_at(obj, "container_name")
    return "/".join(part.removeprefix("/") for part in (pod, container) if part) or text_at(obj, "host")
