"""SGLang's scheduler lines among its requests: batch sizes, retractions, aborts, times per request, integrity findings.

They hold no text and, but for aborts and times, no request id. They confirm a timeline; they do not make one.
"""

from __future__ import annotations

from collections.abc import Sequence

from forensics.ingest.record import FileContext, Item
from forensics.ingest.sglang_events import events_of_line, start_of_message

NAME = "sglang_engine"
KIND = "line"
BESIDE = ("sglang_json", "sglang_text")  # a file that has records of these is named after them
TITLE = "SGLang scheduler log lines"
VERSIONS = (
    "0.1 to 0.5.23; the batch, retraction, abort and time lines of 0.4.4, 0.4.9, 0.5.4, 0.5.10 and 0.5.23 compared"
)
SOURCE = "the project's published packages of these releases"


def accepts_line(line: bytes) -> bool:
    """Whether a line states a fact of the scheduler."""
    return start_of_message(line) is not None


def parse_line(line: bytes, context: FileContext) -> Sequence[Item]:
    """The events of one line."""
    return events_of_line(line, context)
