"""SGLang request logs in text: `[stamp] Receive: obj=GenerateReqInput(...)`, `Finish: obj=..., out={...}`.

Fields are read by name, never by position: their order changed from release to release. Nothing is evaluated.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from forensics.ingest.python_repr import ReprError, parse_fields
from forensics.ingest.record import FileContext, Item, Reject
from forensics.ingest.sglang import STAMP, is_structure, records_of_event

__all__ = ["accepts_line", "is_structure", "parse_line"]

NAME = "sglang_text"
KIND = "line"
TITLE = "SGLang request log in text"
VERSIONS = "SGLang 0.4.0 to 0.5.23, levels 0 to 3"
SOURCE = "the engine's source at these releases; logs of a running engine"
_EVENT = re.compile(rb"(?:Receive OpenAI: |Receive: |Finish: )?(?=obj=|in=)")
# Without a stamp only the words tell.
_BARE = re.compile(rb"(?:Receive OpenAI: |Receive: |Finish: )(?=obj=)")
_EVENTS = {
    b"Receive OpenAI: ": "request.received.openai",
    b"Receive: ": "request.received",
    b"Finish: ": "request.finished",
    b"": "request.finished",
}


def accepts_line(line: bytes) -> bool:
    """Whether the line is a request line of the text log."""
    stamp = STAMP.match(line)
    if stamp is None:
        return _BARE.match(line) is not None
    return _EVENT.match(line, stamp.end()) is not None


def parse_line(line: bytes, context: FileContext) -> Sequence[Item]:
    """The records of one request line. Raises Reject where it is cut short or is no repr."""
    stamp = STAMP.match(line)
    event = _EVENT.match(line, stamp.end()) if stamp else _BARE.match(line)
    if event is None:
        raise Reject("unrecognised_line")
    try:
        text = line[event.end() :].decode("utf-8").rstrip("\r\n ")
    except UnicodeDecodeError:
        raise Reject("bad_utf8") from None
    try:
        fields = parse_fields(text, 0)
    except ReprError as error:
        raise Reject("too_deep" if str(error) == "too deep" else "bad_repr") from None
    if "in" in fields:
        fields["obj"] = fields.pop("in")
    fields["event"] = _EVENTS[event.group()]
    at = stamp.group(1).decode() if stamp else None
    tags = stamp.group(2).decode("ascii", "replace") if stamp else ""
    return records_of_event(fields, at, tags, context)
