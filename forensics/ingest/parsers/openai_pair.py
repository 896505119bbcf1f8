"""Request/response pairs of any API in the envelopes that gateways and proxies use.

`{"request":{},"response":{}}`, `req`/`res`, `request_body`/`response_body` as objects or JSON text, `input`/`output`,
flattened `request.body`, one merged object, a bare request or a bare response. The bodies may be of any API that
`bodies` knows. Not here: captures that are files of their own, batch files.
"""

from __future__ import annotations

from forensics.ingest import bodies
from forensics.ingest.envelope import parse_envelope
from forensics.ingest.envelope_keys import ID_KEYS, REQUEST_KEYS, RESPONSE_KEYS, Object
from forensics.ingest.record import FileContext, Record

NAME = "openai_pair"
KIND = "object"
TITLE = "Request and response of an inference API in an envelope of a gateway or proxy"
VERSIONS = "OpenAI, Anthropic, Gemini and Bedrock Converse API schemas of 2026; envelopes of docs/formats.md"
SOURCE = "the published schemas; public fixtures of captures"


def accepts(obj: Object) -> bool:
    """Whether one object is a pair, or half of one."""
    if isinstance(obj.get("choices"), list):
        return True
    named = "model" in obj or any(key in obj for key in ID_KEYS)
    if named and (isinstance(obj.get("messages"), list) or isinstance(obj.get("contents"), list)):
        return True
    if any(obj.get(key) is not None for key in REQUEST_KEYS) or any(obj.get(key) is not None for key in RESPONSE_KEYS):
        return True
    return bodies.is_response(obj)


def parse(obj: Object, context: FileContext) -> tuple[Record, ...]:
    """The record of one object."""
    return parse_envelope(obj, context)
