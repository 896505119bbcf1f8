"""SGLang request logs in JSON: `[stamp] {"timestamp":..., "event": "request.finished", ...}`; the stamp may be absent.

Levels 2 and 3 hold texts; level 2 cuts them; levels 0 and 1 hold none, and the record says so.
"""

from __future__ import annotations

from collections.abc import Sequence

from forensics.ingest.envelope_keys import Object
from forensics.ingest.record import FileContext, Item
from forensics.ingest.sglang import PARTS, STAMP, records_of_event
from forensics.ingest.sglang_events import STATUS, status_events

NAME = "sglang_json"
KIND = "object"
TITLE = "SGLang request log in JSON"
VERSIONS = "SGLang 0.5.8 to 0.5.23, levels 0 to 3"
SOURCE = "the engine's source at these releases; logs of a running engine"


def may(keys: frozenset[str]) -> bool:
    """Whether an object with these keys can be a record."""
    return "event" in keys


def accepts(obj: Object) -> bool:
    """Whether one object is an SGLang request event, or the scheduler's account of who runs and who waits."""
    event = obj.get("event")
    return isinstance(event, str) and (event in PARTS or event == STATUS)


def split(line: bytes) -> tuple[bytes, str | None, str] | None:
    """The JSON, the stamp and its tags of a stamped line; None where the line is none."""
    stamp = STAMP.match(line)
    if stamp is None or line[stamp.end() : stamp.end() + 1] != b"{":
        return None
    return line[stamp.end() :], stamp.group(1).decode(), stamp.group(2).decode("ascii", "replace")


def parse(obj: Object, context: FileContext, stamp: str | None = None, tags: str = "") -> Sequence[Item]:
    """The records of one event."""
    if obj.get("event") == STATUS:
        return status_events(obj, stamp, tags, context)
    return records_of_event(obj, stamp, tags, context)
