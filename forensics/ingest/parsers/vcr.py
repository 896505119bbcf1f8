"""Interactions of cassettes: test rigs' captures at the caller. Interactions that are no inference calls are structure.

vcrpy writes no times: then the time is the one that the answer's body or its `Date` header names.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from forensics.ingest.exchange import Exchange, headers_of, mail_time, record_of, unpacked
from forensics.ingest.parts import compact
from forensics.ingest.record import STRUCTURE, FileContext, Item
from forensics.ingest.timestamps import parse_time

Object = dict[str, Any]
NAME = "vcr"
KIND = "object"
TITLE = "Interactions of cassettes"
VERSIONS = "vcrpy 1 to 7, Ruby VCR 6, betamax 0.9"
SOURCE = "public fixtures of cassettes; the serializers' source"


def may(keys: frozenset[str]) -> bool:
    """Whether an object with these keys can be an interaction."""
    return "request" in keys and "response" in keys and len(keys) <= 4


def accepts(obj: Object) -> bool:
    """Whether one object is an interaction."""
    request, response = obj.get("request"), obj.get("response")
    return (
        isinstance(request, dict)
        and isinstance(response, dict)
        and "uri" in request
        and "method" in request
        and (isinstance(response.get("status"), dict) or "status_code" in response)
    )


def parse(obj: Object, context: FileContext) -> Sequence[Item]:
    """The record of one interaction."""
    request, response = obj["request"], obj["response"]
    status = response.get("status")
    method = request.get("method")
    exchange = Exchange(
        method.upper() if isinstance(method, str) else None,
        request["uri"] if isinstance(request["uri"], str) else None,
        headers_of(request.get("headers")),
        _body(request.get("body")),
        _number(status.get("code") if isinstance(status, dict) else response.get("status_code")),
        headers_of(response.get("headers")),
        _body(response.get("body", response.get("content"))),
    )
    recorded = obj.get("recorded_at")
    if isinstance(recorded, str) and recorded:
        known = mail_time(recorded, context)
        exchange.finished_at, exchange.precision = known if known[0] is not None else parse_time(recorded, context)
    record = record_of(exchange, context)
    return STRUCTURE if record is None else (record,)


def _body(value: object) -> str | bytes | None:
    """A body as text or bytes: a text, `{"string": ...}`, `{"base64_string": ...}`, or JSON that was left as it is."""
    if isinstance(value, str):
        return value
    if not isinstance(value, dict):
        return None
    for name in ("base64_string", "base64"):
        packed = value.get(name)
        if isinstance(packed, str):
            return unpacked(packed)
    if "string" in value:
        return _body(value["string"])
    return compact(value) if value else None


def _number(value: object) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdecimal():
        return int(value[:9])
    return value if isinstance(value, int) and not isinstance(value, bool) else None
