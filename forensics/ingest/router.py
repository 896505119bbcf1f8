"""What SGLang's router and its successor (smg) log of a call: entry point, status, the worker that was chosen. No text.

The id is the gateway's own; the engine's rid is another one. A line is printed when the head of the answer is there, so
that it tells when a call came, not when its stream ended.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from forensics.ingest.envelope import id_text
from forensics.ingest.record import STRUCTURE, EngineEvent, FileContext, Item, Record
from forensics.ingest.timestamps import parse_duration, parse_time

TARGETS = ("smg", "sglang_router")
_ENDED = ("finished processing request", "request failed with client error", "request failed with server error")
_STARTED = "started processing request"
_BROKEN = "response stream failed"
_ROUTED = ("Cache-aware selection", "Sticky routing decision", "Prefix-hash selection", "Event-driven routing")
_PATHS = ("/generate", "/v1/chat/completions", "/v1/completions", "/v1/responses", "/v1/messages", "/v1/embeddings")
_SHORT = re.compile(r"[\w:/.\[\]-]{1,200}")


def items_of(
    time: object, message: str, span: Mapping[str, Any], values: Mapping[str, Any], context: FileContext
) -> Sequence[Item]:
    """The record or event of one line: its time (UTC, no zone), message, the span's fields and its own."""
    at, precision = parse_time(f"{time}+00:00", context) if isinstance(time, str) else (None, None)
    at = at if at is not None else context.at
    request_id = id_text(span.get("request_id")) if isinstance(span.get("request_id"), str | int) else None
    if message.startswith(_ROUTED):
        return _routed(at, request_id, values)
    uri = span.get("uri")
    path = uri.partition("?")[0] if isinstance(uri, str) else ""
    if span.get("method") != "POST" or path not in _PATHS:
        return STRUCTURE
    status = span.get("status_code")
    latency = _microseconds(span.get("latency"))
    if message.startswith(_ENDED) and request_id is not None:
        record = Record(request_id, "gateway", endpoint=path, prompt_state="not_logged", response_state="not_logged")
        record.ids["x-request-id"] = request_id
        record.status = str(status) if isinstance(status, int | str) else None
        if at is not None and latency is not None:
            record.received_at, record.time_precision = at - latency, precision
        return (record,)
    kind = "http_start" if message.startswith(_STARTED) else "http_end" if message.startswith(_ENDED) else None
    kind = "stream_failed" if message.startswith(_BROKEN) else kind
    if kind is None:
        return STRUCTURE
    event = EngineEvent(kind, at, request_id=request_id, attributes={"path": path})
    if isinstance(status, int):
        event.counts["status"] = status
    return (event,)


def _routed(at: int | None, request_id: str | None, values: Mapping[str, Any]) -> Sequence[Item]:
    event = EngineEvent("routed", at, request_id=request_id)
    worker = values.get("worker")
    if isinstance(worker, str) and _SHORT.fullmatch(worker):
        event.worker = worker
    for name in ("branch", "index", "source"):
        value = values.get(name)
        if isinstance(value, str) and _SHORT.fullmatch(value):
            event.attributes[name] = value
    ratio = values.get("matched_ratio")
    if isinstance(ratio, int | float) and not isinstance(ratio, bool):
        event.counts["matched_ratio"] = ratio
    return (event,)


def _microseconds(value: object) -> int | None:
    """A latency: microseconds as a number, or a duration as Rust prints it."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value if 0 <= value < 1 << 44 else None
    return parse_duration(value) if isinstance(value, str) else None
