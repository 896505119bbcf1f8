"""The house format: one JSON object a line, `request_id` first, bodies in OpenAI shapes. Only the id is mandatory.

`{"request_id": "r-1", "tenant_id": "t-1"}` alone is a valid gateway record. The vantage is `gateway` unless the
record names another.
"""

from __future__ import annotations

from forensics.ingest.envelope import parse_envelope
from forensics.ingest.envelope_keys import Object
from forensics.ingest.record import FileContext, Record
from forensics.ingest.sglang import PARTS

NAME = "house"
KIND = "object"
TITLE = "One JSON object a line, `request_id` first, bodies in the shapes of the OpenAI API"
VERSIONS = "this project's own format, version 1"
SOURCE = "docs/formats.md"
_MARKS = ("tenant_id", "timestamp", "finished_at", "vantage", "worker", "request", "response", "messages", "status")


def may(keys: frozenset[str]) -> bool:
    """Whether an object with these keys can be a record."""
    return "request_id" in keys and not keys.isdisjoint(_MARKS)


def accepts(obj: Object) -> bool:
    """Whether one object is a house record."""
    return obj.get("request_id") is not None and str(obj.get("event")) not in PARTS and may(frozenset(obj))


def parse(obj: Object, context: FileContext) -> tuple[Record, ...]:
    """The record of one object."""
    return parse_envelope(obj, context)
