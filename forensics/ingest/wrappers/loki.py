"""Grafana Loki: query responses, push bodies, `logcli -o jsonl`, and Grafana's download of log lines as JSON.

Queries answer with the newest line first unless told otherwise; the lines of a stream are put into the order of time.
The name of the writer is taken from the labels: pod and container, else instance, else host.
"""

from __future__ import annotations

from collections.abc import Iterable

import orjson

from forensics.ingest.record import FileContext
from forensics.ingest.timestamps import parse_time
from forensics.ingest.units import Unit
from forensics.ingest.wrappers.containers import elements, groups, holds, spread
from forensics.ingest.wrappers.peeling import Object, lines_of, object_of, object_with, refused, text_at

NAME = "loki"
TITLE = "Grafana Loki: query responses, push bodies, logcli jsonl, Grafana downloads"
VERSIONS = "HTTP API v1, logcli -o jsonl; the older entries with ts and line"
SOURCE = "notes on the project's documentation; not checked against a running server"
ANY_OF = frozenset(("data", "streams", "line", "Line"))
_DOCUMENTS = ((b'"result"', ("data", "result", "*")), (b'"streams"', ("streams", "*")))
_LISTS = ("values", "entries")


def accepts(line: bytes) -> bool:
    """Whether the line (or document) is Loki's."""
    return _path(line) is not None or _entry(line) is not None


def _path(line: bytes) -> tuple[str, ...] | None:
    head = line[:4096]
    for mark, path in _DOCUMENTS:
        if mark in head and any(holds(line, *path, name, "*") for name in _LISTS):
            return path
        if mark in head and b'"resultType"' in head and holds(line, "data", "resultType"):
            return path
    return None


def _entry(line: bytes) -> Object | None:
    obj = object_with(line, b'"line"', b'"Line"')
    if obj is None:
        return None
    if isinstance(obj.get("line"), str) and "timestamp" in obj:
        return obj if isinstance(obj.get("labels", obj.get("fields", {})), dict) else None
    # Grafana's table of log lines as CSV.
    if isinstance(obj.get("Line"), str) and ("tsNs" in obj or "Time" in obj):
        return obj
    return None


class Peeler:
    """Peels one file."""

    def __init__(self, context: FileContext) -> None:
        self._context = context

    def feed(self, unit: Unit) -> Iterable[Unit]:
        """The lines of a line or document."""
        path = _path(unit.data)
        if path is not None:
            return spread(unit, elements(unit.data, path), self._stream)
        obj = _entry(unit.data)
        if obj is None:
            return (unit,)
        at, _ = parse_time(obj.get("tsNs", obj.get("timestamp", obj.get("Time"))), self._context)
        labels = obj.get("labels", obj.get("fields"))
        return lines_of(unit, str(obj.get("line", obj.get("Line"))), at, _source(labels))

    def _stream(self, unit: Unit) -> Iterable[Unit]:
        obj = object_of(unit.data) or {}
        source = _source(obj.get("stream"))
        name = "values" if isinstance(obj.get("values"), list) else "entries"

        order: list[int] = []

        def line(piece: Unit) -> Iterable[Unit]:
            try:
                value = orjson.loads(piece.data)
            except orjson.JSONDecodeError:
                return (refused(piece, "bad_json"),)
            if isinstance(value, dict):
                value = [value.get("ts"), value.get("line")]
            if not isinstance(value, list) or len(value) < 2 or not isinstance(value[1], str):
                return (refused(piece, "bad_json"),)
            at, _ = parse_time(value[0], self._context)
            # Lines of one microsecond are told apart by their nanoseconds.
            order.append(int(value[0]) if isinstance(value[0], str) and value[0].isdecimal() else at or 0)
            return lines_of(piece, value[1], at, source)

        found = list(groups(unit, elements(unit.data, (name, "*")), line))
        if len(order) > 1 and order[0] > order[-1]:
            found.reverse()
        return [unit for group in found for unit in group]

    def end(self) -> Iterable[Unit]:
        """Nothing: every line is whole."""
        return ()


def _source(labels: object) -> str | None:
    if not isinstance(labels, dict):
        return None
    for names in (("pod", "container"), ("instance",), ("host", "unit"), ("hostname",), ("container",), ("filename",)):
        parts = [part for name in names if (part := text_at(labels, name))]
        if parts:
            return "/".join(parts)
    return None
