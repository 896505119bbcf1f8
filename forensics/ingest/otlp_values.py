"""OTLP's JSON encoding: attribute values of all kinds, ids in hex or base64, times. Knows no convention of names."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable
from typing import Any

from forensics.ingest.record import FileContext
from forensics.ingest.timestamps import parse_time

Object = dict[str, Any]

_DEEPEST = 32
_MOST_ATTRIBUTES = 100_000
_HEX = re.compile(r"(?:[0-9a-fA-F]{16}|[0-9a-fA-F]{32})")
_WHOLE = re.compile(r"-?\d{1,19}")
_MOST_FRAME = 256 << 20
_ZSTD = b"\x28\xb5\x2f\xfd"
_FIRST_FIELD = 0x0A  # the first field of every top-level message of OTLP, with its length before it
_NAMES = {
    "string_value": "stringValue",
    "int_value": "intValue",
    "double_value": "doubleValue",
    "bool_value": "boolValue",
    "array_value": "arrayValue",
    "kvlist_value": "kvlistValue",
    "bytes_value": "bytesValue",
}


def at(obj: Object, name: str) -> Any:
    """The member `name` (camelCase), also where the writer kept the schema's snake_case."""
    value = obj.get(name)
    return obj.get(_snake(name)) if value is None else value


def _snake(name: str) -> str:
    return re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower()


def value_of(value: Any, depth: int = 0) -> Any:
    """What an AnyValue holds: text, number, truth value, list, object; bytes stay base64 text. None where empty."""
    if not isinstance(value, dict) or depth > _DEEPEST:
        return None
    for key, inner in value.items():
        kind = _NAMES.get(key, key)
        if kind in ("stringValue", "bytesValue"):
            return inner if isinstance(inner, str) else None
        if kind == "intValue":
            # 64 bits travel as text.
            if isinstance(inner, str) and _WHOLE.fullmatch(inner):
                return int(inner)
            return inner if isinstance(inner, int) else None
        if kind in ("doubleValue", "boolValue"):
            return inner if isinstance(inner, int | float | bool) else None
        if kind == "arrayValue":
            values = inner.get("values") if isinstance(inner, dict) else inner
            return [value_of(item, depth + 1) for item in values] if isinstance(values, list) else []
        if kind == "kvlistValue":
            return attributes(inner.get("values") if isinstance(inner, dict) else inner, depth + 1)
    return None


def attributes(pairs: Any, depth: int = 0) -> Object:
    """Key/value pairs as an object; the first value of a key stays. Pairs that already are an object are read too."""
    if isinstance(pairs, dict):
        return {key: value_of(value, depth) if isinstance(value, dict) else value for key, value in pairs.items()}
    found: Object = {}
    if isinstance(pairs, list):
        for pair in pairs[:_MOST_ATTRIBUTES]:
            if isinstance(pair, dict) and isinstance(pair.get("key"), str):
                found.setdefault(pair["key"], value_of(pair.get("value"), depth))
    return found


def hex_id(value: object) -> str | None:
    """A trace or span id in lower-case hex; protobuf's own JSON writes base64. None where it is none or all zero."""
    if not isinstance(value, str) or not value:
        return None
    if _HEX.fullmatch(value):
        found = value.lower()
    else:
        try:
            data = base64.b64decode(value.replace("-", "+").replace("_", "/"), validate=True)
        except (binascii.Error, ValueError):
            return None
        if len(data) not in (8, 16):
            return None
        found = data.hex()
    return found if found.strip("0") else None


def time_of(obj: Object, names: Iterable[str], context: FileContext) -> tuple[int | None, str | None]:
    """The first of the times `names` that is set, as (UTC microseconds, precision)."""
    for name in names:
        value = at(obj, name)
        if value not in (None, "", "0", 0):
            return parse_time(value, context)
    return None, None


def events_of(span: Object) -> list[Object]:
    """The events of a span."""
    found = span.get("events")
    return [event for event in found if isinstance(event, dict)] if isinstance(found, list) else []


def framed_stream(head: bytes, size: int) -> str | None:
    """Why a file of `size` bytes cannot be read, if it begins as the collector's file exporter writes all but plain
    JSON: each message behind its length in four bytes. None where it does not.
    """
    sorts: set[str] = set()
    position = 0
    for _ in range(3):
        length = int.from_bytes(head[position : position + 4], "big")
        payload = head[position + 4 : position + 8]
        if len(payload) < 4 or not 4 <= length <= min(_MOST_FRAME, size - position - 4):
            return None
        if payload == _ZSTD:
            sorts.add("zstd")
        elif payload[0] == _FIRST_FIELD:
            sorts.add("proto")
        else:
            return None
        position += 4 + length
        if position >= min(size, len(head) - 8):
            break
    if position > size or len(sorts) != 1:
        return None
    what = "proto messages" if "proto" in sorts else "zstd-compressed messages"
    return (
        f"an OpenTelemetry collector's file of {what}, each behind its length, which is not supported: export with "
        "`format: json` and without `compression`"
    )
