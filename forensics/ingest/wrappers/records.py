"""Whether the fields beside a shipper's message are a record themselves: then the object is read, not the message."""

from __future__ import annotations

from forensics.ingest.envelope_keys import REQUEST_KEYS, RESPONSE_KEYS
from forensics.ingest.wrappers.peeling import Object

_FIELDS = frozenset((*REQUEST_KEYS, *RESPONSE_KEYS, "messages", "choices", "prompt")) - {"input"}


def is_record(obj: Object) -> bool:
    """Whether `obj` has the request or the response of a call as fields. Shippers have an `input` of their own."""
    if any(obj.get(key) for key in _FIELDS if key in obj):
        return True
    # A pipeline may have flattened an object that it decoded.
    return any(key.startswith(("request.messages", "response.choices")) for key in obj)
