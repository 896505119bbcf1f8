"""The JSON log of SGLang's router and of smg (`--log-json`): calls with the gateway's id, and the worker chosen."""

from __future__ import annotations

from collections.abc import Sequence

from forensics.ingest import router
from forensics.ingest.envelope_keys import Object
from forensics.ingest.record import FileContext, Item

NAME = "sglang_router_json"
KIND = "object"
TITLE = "SGLang router and smg gateway log (JSON)"
VERSIONS = "sgl-router 0.2 to smg 1.11"
SOURCE = "the projects' source and documentation"

_KEYS = frozenset(("timestamp", "level", "target"))


def may(keys: frozenset[str]) -> bool:
    """Whether an object with these keys can be a line of the router."""
    return keys >= _KEYS


def accepts(obj: Object) -> bool:
    """Whether an object is a line of the router."""
    target = obj.get("target")
    return isinstance(target, str) and target.startswith(router.TARGETS)


def parse(obj: Object, context: FileContext) -> Sequence[Item]:
    """The record or event of one line."""
    spans = obj.get("spans")
    fields = {}
    for span in [*(spans if isinstance(spans, list) else []), obj.get("span")]:
        if isinstance(span, dict) and span.get("name") == "http_request":
            fields = span
    message = obj.get("message")
    return router.items_of(obj.get("timestamp"), message if isinstance(message, str) else "", fields, obj, context)
