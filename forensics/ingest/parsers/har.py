"""Entries of HAR files: captures at the caller. Entries that are no inference calls are structure.

The first byte's time, for streams, is the start plus the phases before the answer: approximate. WebSocket messages are
not read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from forensics.ingest.exchange import Exchange, headers_of, record_of, unpacked
from forensics.ingest.record import STRUCTURE, FileContext, Item
from forensics.ingest.timestamps import milliseconds, parse_time

Object = dict[str, Any]
NAME = "har"
KIND = "object"
TITLE = "Entries of HAR files"
VERSIONS = "HAR 1.1 and 1.2; Chrome, Firefox, mitmproxy 11"
SOURCE = "the HAR 1.2 specification; a HAR written by mitmproxy 11"
_BEFORE = ("blocked", "dns", "connect", "send", "wait")


def may(keys: frozenset[str]) -> bool:
    """Whether an object with these keys can be an entry."""
    return "startedDateTime" in keys and "request" in keys


def accepts(obj: Object) -> bool:
    """Whether one object is an entry."""
    request = obj.get("request")
    return "startedDateTime" in obj and isinstance(request, dict) and "url" in request


def parse(obj: Object, context: FileContext) -> Sequence[Item]:
    """The record of one entry."""
    request = obj["request"]
    response = obj.get("response")
    response = response if isinstance(response, dict) else {}
    exchange = Exchange(
        _text(request.get("method")),
        _text(request.get("url")),
        headers_of(request.get("headers")),
        status=_status(response.get("status")),
        response_headers=headers_of(response.get("headers")),
    )
    posted = request.get("postData")
    if isinstance(posted, dict):
        # `encoding` is no field of the standard, but some exporters write it.
        exchange.request = _body(posted)
    content = response.get("content")
    if isinstance(content, dict):
        exchange.response = _body(content)
        size = content.get("size")
        exchange.dropped = exchange.response is None and isinstance(size, int | float) and size > 0
    exchange.received_at, exchange.precision = parse_time(obj["startedDateTime"], context)
    if exchange.received_at is not None:
        took = milliseconds(obj.get("time"))
        timings = obj.get("timings")
        if took is not None:
            exchange.finished_at = exchange.received_at + took
        if isinstance(timings, dict) and (timings.get("wait") or 0) != 0:
            phases = [milliseconds(timings.get(name)) or 0 for name in _BEFORE]
            exchange.first_byte_at = exchange.received_at + sum(phases)
    if obj.get("_webSocketMessages"):
        context.notice("websocket_capture")
    record = record_of(exchange, context)
    return STRUCTURE if record is None else (record,)


def _body(holder: Object) -> str | bytes | None:
    text = holder.get("text")
    if not isinstance(text, str):
        return None
    return unpacked(text) if holder.get("encoding") == "base64" else text


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _status(value: object) -> int | None:
    # 0 stands for a request that was cancelled or blocked.
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
