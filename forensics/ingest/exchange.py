"""One captured HTTP exchange as a record: what HAR files, cassettes, proxies' flows and raw captures have in common.

Decides whether an exchange is an inference call at all, decodes the bodies, and leaves the rest to the envelope. Times
are UTC microseconds. Secrets of headers never get further than their digest; queries of URLs are dropped.
"""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import unquote

from forensics.ingest import bodies, sse
from forensics.ingest.envelope import add_headers, parse_envelope, stream_body
from forensics.ingest.loose_json import loads
from forensics.ingest.record import FileContext, Record
from forensics.ingest.timestamps import parse_time

Object = dict[str, Any]
MOST_BODY = 256 << 20
_ENDPOINT = re.compile(
    r"/(?:chat/completions|completions|v\d+/responses|v\d+/messages|v\d+/embeddings|v1/generate|generate|api/chat|api/generate"
    r"|model/[^/]+/(?:converse|converse-stream|invoke|invoke-with-response-stream)"
    r"|[^/]+:(?:generateContent|streamGenerateContent|rawPredict|streamRawPredict))/?$"
)
_MODEL = re.compile(r"/(?:models|model|deployments)/([^/:]+)")
# What capture tools put in the place of a secret: the same for everybody, so it is no key.
_MASKED = re.compile(
    r"(?i)(?:bearer |basic )?(?:<[^<>]*>|\[[^\[\]]*\]|\{[^{}]*\}|[*x.]*|redacted|masked|dummy|fake|test)"
)
_KEY_HEADERS = ("authorization", "x-api-key", "api-key", "x-goog-api-key")


@dataclass(slots=True)
class Exchange:
    """One request and its response. Header names are in lower case. A body is text, bytes as sent, or None; a stream
    that was put together already stands in `stream`. `dropped`: there was a response body, but the capture left it out.
    """

    method: str | None = None
    url: str | None = None
    request_headers: dict[str, str] = field(default_factory=dict)
    request: str | bytes | None = None
    status: int | None = None
    response_headers: dict[str, str] = field(default_factory=dict)
    response: str | bytes | None = None
    stream: sse.Stream | None = None
    dropped: bool = False
    received_at: int | None = None
    first_byte_at: int | None = None
    finished_at: int | None = None
    precision: str | None = None


def record_of(exchange: Exchange, context: FileContext) -> Record | None:
    """The record of an exchange, at the client's vantage; None where it is no inference call."""
    path = _path(exchange.url)
    request, lost_request = _object(exchange.request, exchange.request_headers, context)
    response, lost_response = _object(exchange.response, exchange.response_headers, context)
    stream = exchange.stream or _stream(response)
    if stream is not None:
        response = stream_body(stream, context)
    body = response if isinstance(response, dict) else None
    asked = request if isinstance(request, dict) else None
    if not _is_call(exchange, path, asked, body, streamed=stream is not None):
        return None
    obj: Object = {"headers": {**exchange.request_headers, **exchange.response_headers}}
    for name, value in (
        ("url", path),
        ("status", exchange.status),
        ("request_body", asked),
        ("response_body", body),
    ):
        if value is not None:
            obj[name] = value
    for name in _KEY_HEADERS:
        if name in obj["headers"] and _MASKED.fullmatch(obj["headers"][name]):
            del obj["headers"][name]
        elif name in exchange.request_headers:
            obj.setdefault("api_key", exchange.request_headers[name])
    record = parse_envelope(obj, context, default_vantage="client", made_id=True)[0]
    own = exchange.request_headers.get("x-request-id")
    if own and own != record.request_id:
        record.ids["x-request-id"] = own
    for side, lost in (("prompt_state", lost_request), ("response_state", lost_response or exchange.dropped)):
        if lost and getattr(record, side) == "absent":
            setattr(record, side, "not_logged")
            if not exchange.dropped:
                context.notice("unreadable_body")
    if record.model is None and path is not None and (model := _MODEL.search(path)):
        record.model = unquote(model.group(1))
    record.received_at, record.finished_at = exchange.received_at, exchange.finished_at
    record.time_precision = exchange.precision
    if stream is not None:
        record.stream = True
        record.chunks = stream.made.chunks
        record.first_token_at = stream.made.first_at if stream.made.first_at is not None else exchange.first_byte_at
        if record.finished_at is None:
            record.finished_at = stream.made.last_at
    if record.received_at is None and record.finished_at is None:
        _end(record, exchange, body, context)
    return record


def _end(record: Record, exchange: Exchange, body: Object | None, context: FileContext) -> None:
    """A capture without times: when the service says that it made the answer, else when it sent the head."""
    for name in ("created", "created_at"):
        if body is not None and body.get(name):
            record.finished_at, record.time_precision = parse_time(body[name], context)
    if record.finished_at is None and (date := exchange.response_headers.get("date")):
        record.finished_at, record.time_precision = mail_time(date, context)


def mail_time(value: str, context: FileContext) -> tuple[int | None, str | None]:
    """A time as HTTP's `Date` writes it, as (UTC microseconds, precision); (None, None) where it is none."""
    try:
        at = parsedate_to_datetime(value)
    except (TypeError, ValueError, OverflowError, IndexError):
        return None, None
    return parse_time(at.isoformat(), context)


def decoded(data: bytes, headers: dict[str, str]) -> str | None:
    """A body as text: unpacked where it is packed, else as it is; None where it cannot be."""
    try:
        # A body may be packed twice: by the service and again by a proxy.
        for _ in range(3):
            if data[:2] == b"\x1f\x8b":
                data = _unpacked(data, 31)
            elif data[:4] == b"\x28\xb5\x2f\xfd":
                data = _unpacked_zstd(data)
            else:
                break
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            if "deflate" not in headers.get("content-encoding", ""):
                return None
        try:
            return _unpacked(data, 15).decode("utf-8", "replace")
        except zlib.error:
            return _unpacked(data, -15).decode("utf-8", "replace")
    except zlib.error:
        return None


def _unpacked_zstd(data: bytes) -> bytes:
    import zstandard

    try:
        with zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True) as reader:
            unpacked: bytes = reader.read(MOST_BODY)
    except zstandard.ZstdError:
        raise zlib.error("damaged") from None
    return unpacked


def _unpacked(data: bytes, bits: int) -> bytes:
    parts: list[bytes] = []
    left = MOST_BODY
    while True:
        unpacker = zlib.decompressobj(wbits=bits)
        parts.append(unpacker.decompress(data, left))
        left -= len(parts[-1])
        # A server that flushes a stream may send several gzip members, one after the other.
        data = unpacker.unused_data
        if left <= 0 or not data.startswith(b"\x1f\x8b"):
            return b"".join(parts)


def headers_of(values: object) -> dict[str, str]:
    """Headers as `add_headers` reads them."""
    found: dict[str, str] = {}
    add_headers(values, found)
    return found


def unpacked(text: str) -> bytes:
    """A body that a capture wrote as base64; what is none stays as it is, and so counts as one that cannot be read."""
    try:
        return base64.b64decode(text)
    except (binascii.Error, ValueError):
        return text.encode("utf-8", "replace")


def _path(url: str | None) -> str | None:
    if not url:
        return None
    path = url.partition("?")[0].partition("#")[0]
    _, mark, rest = path.partition("://")
    if mark:
        path = "/" + rest.partition("/")[2]
    return path


def _object(body: str | bytes | None, headers: dict[str, str], context: FileContext) -> tuple[Any, bool]:
    """A body as an object, a list or the text of a stream; and whether there was one that could not be read."""
    if isinstance(body, bytes):
        if not body:
            return None, False
        text = decoded(body, headers)
        if text is None:
            context.notice("undecoded_body")
            return None, True
    else:
        text = body
    if text is None or not text.strip():
        return None, False
    head = text.lstrip("\ufeff \r\n\t")
    if head[:1] in ("{", "["):
        try:
            return loads(head), False
        except ValueError:
            return None, True
    if sse.is_stream(text):
        return text, False
    return None, True


def _stream(response: object) -> sse.Stream | None:
    if isinstance(response, str):
        return sse.assemble_text(response)
    if isinstance(response, list) and sse.is_chunks(response):
        return sse.assemble_list(response)
    return None


def _is_call(
    exchange: Exchange, path: str | None, request: Object | None, response: Object | None, *, streamed: bool
) -> bool:
    if response is not None and bodies.is_response(response):
        # A stream has choices even where no chunk of it was one of an answer.
        return not streamed or bool(response["choices"]) or "error" in response
    if exchange.method not in (None, "POST"):
        return False
    if path is not None and _ENDPOINT.search(path):
        return True
    return request is not None and "model" in request and bodies.is_request(request)
