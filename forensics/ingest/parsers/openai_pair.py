"""OpenAI-compatible request/response pairs in the envelopes that gateways and proxies use.

`{"request":{},"response":{}}`, `req`/`res`, `request_body`/`response_body` as objects or JSON text, `input`/`output`,
flattened `request.body`, one merged object, a bare request or a bare response. Not here: SSE captures, the Responses
API's output items, Anthropic Messages, batch files.
"""

from __future__ import annotations

from forensics.ingest.envelope import parse_envelope
from forensics.ingest.envelope_keys import ID_KEYS, REQUEST_KEYS, RESPONSE_KEYS, Object
from forensics.ingest.record import FileContext, Record

NAME = "openai_pair"
KIND = "object"
TITLE = "OpenAI-compatible request and response in an envelope of a gateway or proxy"
VERSIONS = "OpenAI API schema of 2026-09 and the envelopes listed in docs/formats.md"
SOURCE = "the OpenAI schema; public fixtures of captures"


def accepts(obj: Object) -> bool:
    """Whether one object is a pair, or half of one."""
    if isinstance(obj.get("choices"), list):
        return True
    if isinstance(obj.get("messages"), list) and ("model" in obj or any(key in obj for key in ID_KEYS)):
        return True
    return any(obj.get(key) is not None for key in REQUEST_KEYS) or any(
        obj.get(key) is not None for key in RESPONSE_KEYS
    )


def parse(obj: Object, context: FileContext) -> tuple[Record, ...]:
    """The record of one object."""
    return parse_envelope(obj, context)
