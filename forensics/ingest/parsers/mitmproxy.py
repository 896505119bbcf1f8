"""HTTP flows of mitmproxy, as the transcoder gives them on. Flows that are no inference calls are structure.

Chunk times are not in a flow: its body is one piece.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from forensics.ingest.exchange import Exchange, headers_of, record_of, unpacked
from forensics.ingest.record import STRUCTURE, FileContext, Item
from forensics.ingest.timestamps import parse_time

Object = dict[str, Any]
NAME = "mitmproxy"
KIND = "object"
TITLE = "Flow files of mitmproxy"
VERSIONS = "flow formats 7 to 21 (mitmproxy 4 to 11)"
SOURCE = "mitmproxy 11's source; a flow file written by it"


def may(keys: frozenset[str]) -> bool:
    """Whether an object with these keys can be a flow."""
    return "mitmproxy_flow" in keys


def accepts(obj: Object) -> bool:
    """Whether one object is a flow."""
    return isinstance(obj.get("mitmproxy_flow"), dict)


def parse(obj: Object, context: FileContext) -> Sequence[Item]:
    """The record of one flow."""
    flow = obj["mitmproxy_flow"]
    request, response = flow.get("request"), flow.get("response")
    if not isinstance(request, dict):
        return STRUCTURE
    response = response if isinstance(response, dict) else {}
    status = response.get("status_code")
    exchange = Exchange(
        _text(request.get("method")),
        _text(request.get("path")),
        headers_of(request.get("headers")),
        _body(request),
        status if isinstance(status, int) else None,
        headers_of(response.get("headers")),
        _body(response),
    )
    exchange.received_at, exchange.precision = parse_time(request.get("timestamp_start"), context)
    exchange.first_byte_at, _ = parse_time(response.get("timestamp_start"), context)
    exchange.finished_at, _ = parse_time(response.get("timestamp_end"), context)
    record = record_of(exchange, context)
    if record is None:
        return STRUCTURE
    if isinstance(flow.get("id"), str):
        record.ids["flow_id"] = flow["id"]
    if record.status is None and flow.get("error"):
        record.status = "error"
    return (record,)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _body(message: Object) -> bytes | None:
    packed = message.get("content")
    return unpacked(packed) if isinstance(packed, str) else None
