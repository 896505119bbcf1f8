"""Whether the fields beside a shipper's message are a record themselves: then the object is read, not the message."""

from __future__ import annotations

from forensics.ingest.envelope_keys import ID_KEYS, REQUEST_KEYS, RESPONSE_KEYS, TENANT_KEYS
from forensics.ingest.wrappers.peeling import Object, text_at

_FIELDS = frozenset((*REQUEST_KEYS, *RESPONSE_KEYS, "messages", "choices", "prompt")) - {"input"}
_MESSAGES = (("event", "original"), ("message",), ("log",))


def is_record(obj: Object) -> bool:
    """Whether `obj` has the request or the response of a call as fields, or names a call and its tenant beside a text.

    Shippers have an `input` of their own.
    """
    if any(obj.get(key) for key in _FIELDS if key in obj):
        return True
    if any(obj.get(key) for key in ID_KEYS) and any(obj.get(key) for key in TENANT_KEYS):
        # The text is what a gateway says of the call; where it is the record itself, the fields are copied from it.
        return not any((text_at(obj, *path) or "").lstrip()[:1] == "{" for path in _MESSAGES)
    # A pipeline may have flattened an object that it decoded.
    return any(key.startswith(("request.messages", "response.choices")) for key in obj)
