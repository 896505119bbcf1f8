"""OTLP in JSON, as the collector's file exporter and SDKs write it: a batch a line or document, cut into its spans and
log records, each a unit at its own place.

A unit is `{"otlp": "span" | "log", "resource": {...}, "scope": name, "record": ...}` with plain attributes of the
resource. A log record that is no event of a model call gives what it holds: the line of a log that the collector read,
or an object. Metrics are structure.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import orjson

from forensics.ingest.otlp_values import Object, at, attributes, time_of, value_of
from forensics.ingest.record import FileContext
from forensics.ingest.units import Unit, shared
from forensics.ingest.wrappers.containers import Spans, elements, spread
from forensics.ingest.wrappers.peeling import lines_of, object_of, structure

NAME = "otlp_batches"
TITLE = "OTLP JSON batches of spans and log records (collector file exporter, SDK exporters)"
VERSIONS = "OTLP 0.9 to 1.x: scopeSpans and instrumentationLibrarySpans, ids in hex and base64, Tempo's `batches`"
SOURCE = "the specification of the protocol and of its file exporter"

_OPENING = re.compile(
    rb'\s*\{\s*(?:"trace"\s*:\s*\{\s*)?"(resourceSpans|resourceLogs|resourceMetrics|resource_spans|resource_logs|'
    rb'resource_metrics|batches)"\s*:\s*\['
)
_SIGNALS = {
    "resourceSpans": (("scopeSpans", "scope_spans", "instrumentationLibrarySpans"), ("spans",), "span"),
    "resourceLogs": (("scopeLogs", "scope_logs", "instrumentationLibraryLogs"), ("logRecords", "log_records"), "log"),
}
_SIGNALS["resource_spans"] = _SIGNALS["batches"] = _SIGNALS["resourceSpans"]
_SIGNALS["resource_logs"] = _SIGNALS["resourceLogs"]
_SOURCES = ("k8s.pod.name", "service.instance.id", "host.name", "container.name", "service.name")


def accepts(line: bytes) -> bool:
    """Whether the line (or document) is a batch."""
    found = _OPENING.match(line)
    if found is None:
        return False
    return found[1] != b"batches" or b'"scopeSpans"' in line or b'"instrumentationLibrarySpans"' in line


class Peeler:
    """Peels one file."""

    def __init__(self, context: FileContext) -> None:
        self._context = context

    def feed(self, unit: Unit) -> Iterable[Unit]:
        """The spans and log records of a line or document."""
        if not accepts(unit.data):
            return (unit,)
        obj = object_of(unit.data)
        if obj is None:
            return (replace(unit, reason="bad_json"),)
        signals = list(_members(obj))
        if len(signals) == 1:
            sort, path, wanted = signals[0]
            spans = [*elements(unit.data, path)]
            if len(spans) == len(wanted):
                return self._placed(unit, sort, spans, wanted)
        # Several signals or spellings in one batch, or a key that stands twice: no places inside it.
        whole = replace(unit, size=0, lines=0)
        parts = [part for sort, _, wanted in signals for found in wanted for part in self._unit(whole, sort, *found)]
        return shared(unit, parts)

    def _placed(
        self, unit: Unit, sort: str, spans: list[tuple[int, int]], wanted: list[tuple[Object, str, Any]]
    ) -> Iterable[Unit]:
        """The records of one signal, each at its place; `wanted` has them in the order of the document."""
        waiting = iter(wanted)

        def read(piece: Unit) -> Iterable[Unit]:
            digest = hashlib.sha256(piece.data).hexdigest()
            return self._unit(piece, sort, *next(waiting), digest=digest)

        def again() -> Spans:
            yield from spans
            return True

        return list(spread(unit, again(), read))

    def _unit(
        self, piece: Unit, sort: str, resource: Object, scope: str, record: Any, digest: str | None = None
    ) -> Iterable[Unit]:
        if not isinstance(record, dict):
            return (structure(piece),)
        if sort == "log" and not is_event(record):
            return self._inner(piece, resource, record)
        whole = {"otlp": sort, "resource": resource, "scope": scope, "record": record}
        try:
            data = orjson.dumps(whole)
            return (replace(piece, data=data, digest=digest or hashlib.sha256(orjson.dumps(record)).hexdigest()),)
        except (orjson.JSONEncodeError, RecursionError):
            return (replace(piece, reason="bad_json"),)

    def _inner(self, piece: Unit, resource: Object, record: Object) -> Iterable[Unit]:
        """What a collector read from a log, or an application logged."""
        written, _ = time_of(record, ("timeUnixNano", "observedTimeUnixNano"), self._context)
        source = next((resource[name] for name in _SOURCES if isinstance(resource.get(name), str)), None)
        body = value_of(record.get("body"))
        if isinstance(body, dict | list) and body:
            body = orjson.dumps(body).decode()
        if not isinstance(body, str) or not body.strip():
            return (structure(piece),)
        return lines_of(piece, body, written, source)

    def end(self) -> Iterable[Unit]:
        """Nothing: every batch is whole."""
        return ()


def is_event(record: Object) -> bool:
    """Whether a log record is an event of a model call."""
    return event_name(record).startswith("gen_ai.")


def event_name(record: Object) -> str:
    """The name of the event that a log record is; empty where it is none."""
    name = at(record, "eventName")
    if isinstance(name, str) and name:
        return name
    pairs = record.get("attributes")
    if isinstance(pairs, list):
        for pair in pairs:
            if isinstance(pair, dict) and pair.get("key") == "event.name":
                found = value_of(pair.get("value"))
                return found if isinstance(found, str) else ""
    return ""


def _members(obj: Object) -> Iterator[tuple[str, tuple[str, ...], list[tuple[Object, str, Any]]]]:
    """(sort, path in the document, (resource, scope, record) in order) of each signal and spelling that is there."""
    outer: tuple[str, ...] = ()
    if isinstance(obj.get("trace"), dict):
        outer, obj = ("trace",), obj["trace"]
    for top, (scopes, lists, sort) in _SIGNALS.items():
        batches = obj.get(top)
        if not isinstance(batches, list):
            continue
        for scope in scopes:
            for records in lists:
                found = list(_listed(batches, scope, records))
                if found:
                    yield sort, (*outer, top, "*", scope, "*", records, "*"), found


def _listed(batches: list[Any], scopes: str, records: str) -> Iterator[tuple[Object, str, Any]]:
    for batch in batches:
        if not isinstance(batch, dict):
            continue
        holder = batch.get("resource")
        resource = attributes(holder.get("attributes")) if isinstance(holder, dict) else {}
        for group in _list(batch.get(scopes)):
            if not isinstance(group, dict):
                continue
            scope = group.get("scope", group.get("instrumentationLibrary"))
            name = scope.get("name") if isinstance(scope, dict) else None
            for record in _list(group.get(records)):
                yield resource, name if isinstance(name, str) else "", record


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
