"""Flow files of mitmproxy: tnetstrings one after the other, each a dictionary. Reads HTTP flows; keeps no certificates.

A tnetstring is `LENGTH:PAYLOAD TYPE`; the types are those of mitmproxy, where text is `;` and bytes are `,`. Nothing in
it is run or evaluated. What stands in a flow beside the exchange is left out.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from forensics.ingest.blocks import Oversized
from forensics.ingest.files import stretch_digest
from forensics.ingest.record import FileContext
from forensics.ingest.streams import Limits
from forensics.ingest.units import Unit

NAME = "mitmproxy"
TITLE = "Flow files of mitmproxy, which are tnetstrings"
VERSIONS = "flow formats 7 to 21 (mitmproxy 4 to 11)"
SOURCE = "mitmproxy 11's source; a flow file written by it"

MOST_FLOW = 256 << 20
MOST_DEPTH = 60
_STEP = 1 << 20
_BEGIN = re.compile(
    rb"\d{1,12}:\d{1,3}:(?:version|type|id|error|client_conn|server_conn|request|response|intercepted|marked|metadata"
    rb"|is_replay|comment|timestamp_created|websocket|backup|mode)[;,]"
)
_LENGTH = re.compile(rb"(\d{1,12}):")


class TnetstringError(ValueError):
    """The bytes are no tnetstring."""


def accepts(head: bytes) -> bool:
    """Whether a file begins with a flow."""
    return _BEGIN.match(head) is not None


def missing() -> str | None:
    """Nothing is needed."""
    return None


def units(path: Path, size: int, limits: Limits, context: FileContext) -> Iterator[Unit | Oversized]:
    """One unit per flow."""

    def refused(length: int, reason: str) -> Oversized:
        return Oversized(position, length, reason, stretch_digest(path, position, length), 1)

    position = 0
    with path.open("rb") as file:
        while position < size:
            file.seek(position)
            head = file.read(14)
            length = _LENGTH.match(head)
            if length is None:
                file.seek(position)
                rest = file.read(min(size - position, _STEP))
                if rest.strip() or len(rest) < size - position:
                    yield refused(size - position, "bad_container")
                else:
                    yield Unit(b"", position, len(rest), 0, 0)
                return
            whole = length.end() + int(length.group(1)) + 1
            if position + whole > size:
                yield refused(size - position, "cut_last_line")
                return
            if whole > MOST_FLOW:
                yield refused(whole, "oversized_line")
            else:
                file.seek(position)
                yield _flow(file.read(whole), position, context)
            position += whole


def _flow(data: bytes, position: int, context: FileContext) -> Unit | Oversized:
    try:
        value, end = parse(data)
    except TnetstringError:
        value, end = None, 0
    if not isinstance(value, dict) or end != len(data):
        return Oversized(position, len(data), "bad_container", hashlib.sha256(data).hexdigest(), 1)
    if value.get("type", "http") != "http" or not isinstance(value.get("request"), dict):
        return Unit(b"", position, len(data), 0, 1, structure=True)
    if value.get("websocket"):
        context.notice("websocket_capture")
    flow: dict[str, Any] = {
        "id": _word(value.get("id")),
        "error": value.get("error") is not None,
        "request": _message(value["request"], ("method", "path")),
    }
    if isinstance(value.get("response"), dict):
        flow["response"] = _message(value["response"], ("status_code",))
    return Unit(orjson.dumps({"mitmproxy_flow": flow}), position, len(data), 0, 1)


def _message(message: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    made: dict[str, Any] = {name: _word(message.get(name)) for name in names}
    for name in ("timestamp_start", "timestamp_end"):
        value = message.get(name)
        made[name] = value if isinstance(value, float) and 0 <= value < 1e11 else None
    headers = message.get("headers")
    made["headers"] = [
        [_word(pair[0]), _word(pair[1])]
        for pair in (headers if isinstance(headers, list) else ())
        if isinstance(pair, list) and len(pair) == 2
    ]
    content = message.get("content")
    made["content"] = base64.b64encode(content).decode() if isinstance(content, bytes) else None
    return made


def _word(value: object) -> str | int | None:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 53:
        return value
    return value if isinstance(value, str) else None


def parse(data: bytes, begin: int = 0, end: int | None = None, depth: int = 0) -> tuple[Any, int]:
    """One value at `begin`, and where it ends. Raises TnetstringError, and nothing else."""
    end = len(data) if end is None else end
    length = _LENGTH.match(data, begin, end)
    if length is None:
        raise TnetstringError("no length")
    start = length.end()
    stop = start + int(length.group(1))
    if stop >= end:
        raise TnetstringError("cut short")
    if depth > MOST_DEPTH:
        raise TnetstringError("too deep")
    sort = data[stop : stop + 1]
    if sort in (b"]", b"}"):
        return (_items if sort == b"]" else _mapping)(data, start, stop, depth), stop + 1
    return _scalar(sort, data[start:stop]), stop + 1


def _scalar(sort: bytes, payload: bytes) -> Any:
    if sort == b",":
        return payload
    if sort == b";":
        return payload.decode("utf-8", "replace")
    if sort == b"~" and not payload:
        return None
    if sort == b"!" and payload in (b"true", b"false"):
        return payload == b"true"
    if sort in (b"#", b"^") and len(payload) <= 400:
        try:
            return int(payload) if sort == b"#" else float(payload)
        except ValueError:
            pass
    raise TnetstringError("no such value")


def _items(data: bytes, begin: int, end: int, depth: int) -> list[Any]:
    items: list[Any] = []
    while begin < end:
        value, begin = parse(data, begin, end, depth + 1)
        items.append(value)
    return items


def _mapping(data: bytes, begin: int, end: int, depth: int) -> dict[str, Any]:
    items: dict[str, Any] = {}
    while begin < end:
        key, begin = parse(data, begin, end, depth + 1)
        value, begin = parse(data, begin, end, depth + 1)
        if isinstance(key, bytes):
            key = key.decode("utf-8", "replace")
        if isinstance(key, str):
            items[key] = value
    return items
