"""Elasticsearch and OpenSearch exports: hits with `_source` (a line each, as elasticdump writes, or `hits.hits` of a
search response), bulk files, events of Filebeat and Logstash as lines, rows of Kibana's CSV reports.

Of an event: `event.original`, else its `message` (or Fluentd's `log`), else, or where a pipeline decoded the message
into fields that are a request or a response, the event itself, byte for byte. What a pipeline dropped is not there.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from forensics.ingest.record import FileContext
from forensics.ingest.timestamps import parse_time
from forensics.ingest.units import Unit
from forensics.ingest.wrappers.containers import elements, holds, member, spread
from forensics.ingest.wrappers.peeling import Object, lines_of, object_of, object_with, peeled, structure, text_at
from forensics.ingest.wrappers.records import is_record

NAME = "elastic"
TITLE = "Elasticsearch and OpenSearch: hits, search responses, bulk files, Beats and Logstash events"
VERSIONS = "search API 7 and 8, elasticdump, bulk NDJSON, ECS events, Kibana CSV reports"
SOURCE = "notes on the vendor's documentation; not checked against real exports"
_ACTIONS = ("index", "create")
ANY_OF = frozenset(("hits", "_source", "_index", "@timestamp", *_ACTIONS))
_PARTS = frozenset(("logtag", "partial_message"))  # marks of a shipper that the next layer knows
_ACTION = frozenset(("_index", "_id", "_type", "routing", "pipeline"))


def accepts(line: bytes) -> bool:
    """Whether the line (or document) is Elastic's."""
    if _is_response(line):
        return True
    obj = _object(line)
    return obj is not None and (_is_hit(obj) or _is_event(obj) or _is_action(obj))


def _object(line: bytes) -> Object | None:
    return object_with(line, b'"_source"', b'"@timestamp"', b'"_index"')


def _is_response(line: bytes) -> bool:
    return b'"hits"' in line[:4096] and line.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"{" and holds(line, "hits", "hits")


def _is_hit(obj: Object) -> bool:
    if isinstance(obj.get("_source"), dict):
        return "_index" in obj or "_id" in obj or len(obj) == 1
    return "_index" in obj and isinstance(obj.get("fields"), dict)


def _is_action(obj: Object) -> bool:
    if len(obj) != 1:
        return False
    action = next((obj[name] for name in _ACTIONS if name in obj), None)
    return isinstance(action, dict) and "_index" in action and _ACTION.issuperset(action)


def _is_event(obj: Object) -> bool:
    return "@timestamp" in obj and _text(obj) is not None and not is_record(obj) and _PARTS.isdisjoint(obj)


def _text(event: Object) -> str | None:
    original = text_at(event, "event", "original")
    if original is not None:
        return original
    return next((event[name] for name in ("message", "log") if isinstance(event.get(name), str)), None)


class Peeler:
    """Peels one file."""

    def __init__(self, context: FileContext) -> None:
        self._context = context

    def feed(self, unit: Unit) -> Iterable[Unit]:
        """The lines of a line or document."""
        if _is_response(unit.data):
            return spread(unit, elements(unit.data, ("hits", "hits", "*")), self._hit)
        obj = _object(unit.data)
        if obj is None:
            return (unit,)
        if _is_action(obj):
            return (structure(unit),)
        return self._one(unit, obj)

    def _hit(self, unit: Unit) -> Iterable[Unit]:
        obj = object_of(unit.data)
        return (unit,) if obj is None else self._one(unit, obj)

    def _one(self, unit: Unit, obj: Object) -> Iterable[Unit]:
        if not _is_hit(obj):
            return self._event(unit, obj) if _is_event(obj) else (unit,)
        if isinstance(obj.get("_source"), dict):
            return self._event(unit, obj["_source"], "_source")
        # Kibana asks for fields, whose values are lists.
        return self._event(unit, {name: _first(value) for name, value in obj["fields"].items()}, "fields")

    def _event(self, unit: Unit, event: Object, *path: str) -> Iterable[Unit]:
        at = self._time(event.get("@timestamp"))
        source = _source(event)
        text = text_at(event, "event", "original")
        if text is None and not is_record(event) and _PARTS.isdisjoint(event):
            text = _text(event)
        if text is not None:
            return lines_of(unit, text, at, source)
        raw = member(unit.data, *path) if path else unit.data
        return (peeled(unit, raw or unit.data, at, source),)

    def _time(self, value: Any) -> int | None:
        if isinstance(value, str) and " @ " in value:
            # As Kibana shows times: Mar 4, 2026 @ 05:06:07.089
            with contextlib.suppress(ValueError):
                value = datetime.strptime(value, "%b %d, %Y @ %H:%M:%S.%f").isoformat()
        return parse_time(value, self._context)[0]

    def end(self) -> Iterable[Unit]:
        """Nothing: every event is whole."""
        return ()


def _first(value: Any) -> Any:
    return value[0] if isinstance(value, list) and value else value


def _source(event: Object) -> str | None:
    kubernetes = event.get("kubernetes")
    if isinstance(kubernetes, dict):
        pod = text_at(kubernetes, "pod", "name") or text_at(kubernetes, "pod_name")
        container = text_at(kubernetes, "container", "name") or text_at(kubernetes, "container_name")
    else:
        pod = text_at(event, "kubernetes.pod.name") or text_at(event, "kubernetes.pod_name")
        container = text_at(event, "kubernetes.container.name") or text_at(event, "kubernetes.container_name")
    if pod is not None:
        return "/".join(filter(None, (pod, container)))
    return text_at(event, "container", "name") or text_at(event, "host", "name") or text_at(event, "host")
