"""The text log of SGLang's router and of smg: calls with the gateway's id, and which worker was chosen (DEBUG)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from forensics.ingest import loose_json, router
from forensics.ingest.record import FileContext, Item, Reject

NAME = "sglang_router"
KIND = "line"
TITLE = "SGLang router and smg gateway log (text)"
VERSIONS = "sgl-router 0.1.9 to smg 1.11"
SOURCE = "the projects' source and documentation; lines in public files"

_LINE = re.compile(
    rb"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) +(?:TRACE|DEBUG|INFO|WARN|ERROR) +"
    rb"((?:[\w.]{1,60}(?:\{[^{}\n]{0,4000}\})?: ?){0,6}?)"
    rb"(?:smg|sglang_router)[\w:]{0,100}: (?:[\w./-]{1,200}:\d{1,6}: )?"
)
_SPAN = re.compile(r"http_request\{([^{}\n]*)\}")
_PAIR = re.compile(r'([\w.]{1,60})=("(?:[^"\\]|\\.)*+"|[^\s"]++)')


def accepts_line(line: bytes) -> bool:
    """Whether a line is one of the router's own."""
    return line[:2] == b"20" and _LINE.match(line) is not None


def parse_line(line: bytes, context: FileContext) -> Sequence[Item]:
    """The record or event of one line."""
    match = _LINE.match(line)
    if match is None:
        raise Reject("unrecognised_line")
    try:
        head = match.group(2).decode("utf-8")
        message = line[match.end() : match.end() + 4000].decode("utf-8", "replace")
    except UnicodeDecodeError:
        raise Reject("bad_utf8") from None
    span = _SPAN.search(head)
    fields = _values(span.group(1)) if span else {}
    return router.items_of(match.group(1).decode(), message, fields, _values(message), context)


def _values(text: str) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, value in _PAIR.findall(text):
        try:
            read = loose_json.loads(value)
        except ValueError:
            read = value
        values.setdefault(name, read if isinstance(read, str | int | float) else value)
    return values
