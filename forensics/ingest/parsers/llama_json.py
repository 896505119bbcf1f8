"""Lines of llama.cpp's server from the years when each was a JSON object (`--log-format json`, early 2024).

The slot facts become events; the verbose line that holds a call's whole bodies becomes a record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from forensics.ingest import llama, loose_json
from forensics.ingest.envelope_keys import Object
from forensics.ingest.record import STRUCTURE, EngineEvent, FileContext, Item, Record
from forensics.ingest.timestamps import parse_time

NAME = "llama_json"
KIND = "object"
TITLE = "llama.cpp server log as JSON objects"
VERSIONS = "late 2023 to autumn 2024 (`message`, then `msg`); the source of June 2024 compared"
SOURCE = "the project's source at these releases"

_KEYS = frozenset(("level", "function", "line"))
_LEVELS = ("VERB", "VERBOSE", "INFO", "WARN", "WARNING", "ERR", "ERROR")


def may(keys: frozenset[str]) -> bool:
    """Whether an object with these keys can be a line of the server."""
    return keys >= _KEYS and ("msg" in keys or "message" in keys) and "timestamp" in keys


def accepts(obj: Object) -> bool:
    """Whether an object is a line of the server."""
    return obj.get("level") in _LEVELS and isinstance(obj.get("msg", obj.get("message")), str)


def parse(obj: Object, context: FileContext) -> Sequence[Item]:
    """The event or the record of one line."""
    return items_of(str(obj.get("msg", obj.get("message"))), obj, context)


def items_of(message: str, values: Mapping[str, Any], context: FileContext) -> Sequence[Item]:
    """The event or the record of a message with named values."""
    at = parse_time(values.get("timestamp"), context)[0]
    at = at if at is not None else context.at
    worker = context.worker or context.source
    if message == "request":
        if isinstance(values.get("request"), str):
            return _record(values, at, worker, context)
        status, path = values.get("status"), values.get("path")
        event = EngineEvent("http_end", at, worker)
        if isinstance(status, int):
            event.counts["status"] = status
        if isinstance(path, str) and len(path) <= 100:
            event.attributes["path"] = path.partition("?")[0]
        return (event,)
    if message.startswith(("HTTP server listening", "model loaded")):
        return (EngineEvent("process_start", at, worker),) if message.startswith("HTTP") else STRUCTURE
    found = llama.event_of_fields(message, values)
    if found is None:
        return STRUCTURE
    found.at, found.worker = at, worker
    return (found,)


def _record(values: Mapping[str, Any], at: int | None, worker: str | None, context: FileContext) -> Sequence[Item]:
    bodies = []
    for name in ("request", "response"):
        try:
            value = loose_json.loads(values[name]) if isinstance(values.get(name), str) and values[name] else None
        except ValueError:
            value = None
        bodies.append(value if isinstance(value, dict) else None)
    record = Record(None, "engine", worker=worker, finished_at=at, time_precision="s" if at is not None else None)
    llama.body_facts(record, *bodies)
    if not record.texts:
        return STRUCTURE
    own = bodies[1].get("id") if bodies[1] is not None else None
    if isinstance(own, str) and own:
        record.request_id = own
    else:
        assert context.place is not None
        record.request_id = f"sha256:{context.place.digest[:16]}"
        context.notice("made_id")
    return (record,)
