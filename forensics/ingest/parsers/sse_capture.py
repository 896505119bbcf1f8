"""Captures of streamed answers that are files of their own: chat and text completions, Responses, Anthropic, Gemini.

Reads the units that the wrapper `sse` makes: one stream, with the HTTP heads and the request before it where the
capture has them. A capture of an answer that was not streamed is read as well. The vantage is the client's. The
prompt is known only where the capture holds the request.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from forensics.ingest import sse
from forensics.ingest.exchange import Exchange, record_of
from forensics.ingest.record import STRUCTURE, FileContext, Item, Reject
from forensics.ingest.wrappers.sse import MARK

NAME = "sse_capture"
KIND = "line"
TITLE = "Capture of one streamed answer, with its HTTP heads and request where they were captured"
VERSIONS = "streams of OpenAI chat and text completions, Responses, Anthropic Messages, Gemini; schemas of 2026"
SOURCE = "the published schemas; public fixtures of captures"

_FIELD = re.compile(r"(?:data|event|id|retry):|: |:$")
_STATUS = re.compile(r"HTTP/\d(?:\.\d)? (\d{3})(?: |$)")
_REQUEST = re.compile(r"(GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) (\S+) HTTP/\d(?:\.\d)?$")
_HEADER = re.compile(r"([A-Za-z][A-Za-z0-9_-]{0,63}): ?(.*)$")
_NOISE = re.compile(r"\* |[{}] \[\d+ bytes data\]")
_SIZE = re.compile(r"[0-9a-fA-F]{1,8}$")


def accepts_line(line: bytes) -> bool:
    """Whether the unit was made by the wrapper."""
    return line.startswith(MARK)


def parse_line(line: bytes, context: FileContext) -> Sequence[Item]:
    """The record of one stream; structure where no chunk of an answer is in it. Raises Reject."""
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        text = line.decode("utf-8", "replace")
        context.notice("bad_bytes")
    lines = text.split("\n")
    times: list[int | None] = list(context.times or (None,) * len(lines))
    exchange = Exchange()
    begin = _head(lines, times, exchange)
    stream = sse.assemble_lines(lines[begin:], times[begin:])
    if stream.made.body["choices"] or "error" in stream.made.body or stream.unread:
        exchange.stream = stream
    record = record_of(exchange, context)
    if record is None:
        if exchange.stream is not None and stream.unread:
            raise Reject("bad_json")
        return STRUCTURE
    return (record,)


def _head(lines: Sequence[str], times: Sequence[int | None], exchange: Exchange) -> int:
    """Read requests, heads and bodies into `exchange`; returns the number of the first line of the stream."""
    asked: list[str] = []
    answered: list[str] = []
    headers: dict[str, str] | None = None  # of the head at hand; None inside a body
    body = asked
    for number in range(1, len(lines)):
        line = lines[number]
        bare = line[2:] if line[:2] in ("< ", "> ") else "" if line in ("<", ">") else line
        if request := _REQUEST.match(bare):
            exchange.method, exchange.url = request.group(1), request.group(2)
            exchange.received_at = times[number]
            headers, body = exchange.request_headers, asked
        elif status := _STATUS.match(bare):
            exchange.status = int(status.group(1))
            exchange.first_byte_at = times[number]
            headers, body = exchange.response_headers, answered
        elif _NOISE.match(line):
            continue
        elif headers is None and _FIELD.match(line):
            _close(exchange, asked, answered)
            return number
        elif headers is not None:
            header = _HEADER.match(bare)
            if header:
                headers.setdefault(header.group(1).lower(), header.group(2).strip())
                continue
            headers = None
            if bare:
                body.append(line)
        elif bare and not (_SIZE.match(bare) and not body):
            body.append(line)
        if headers is not None and number + 1 < len(lines) and lines[number + 1].startswith(("data:", "event:")):
            headers = None
    _close(exchange, asked, answered)
    return len(lines)


def _close(exchange: Exchange, asked: list[str], answered: list[str]) -> None:
    if asked:
        exchange.request = "\n".join(asked)
    if answered:
        # The size that ends a body sent in chunks.
        while len(answered) > 1 and _SIZE.match(answered[-1]):
            answered.pop()
        exchange.response = "\n".join(answered)
