"""Tables in Parquet and in Arrow's file format (Feather 2): each row one JSON object, the column names its keys.

The file is read by a process of its own, row group by row group, with bounds of memory and time.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from forensics.ingest import child
from forensics.ingest.blocks import Oversized
from forensics.ingest.record import FileContext
from forensics.ingest.streams import Limits
from forensics.ingest.units import Unit

NAME = "parquet_rows"
TITLE = "Tables in Parquet or Arrow files: each row goes to the parsers and profiles as one object"
VERSIONS = "Parquet 1 and 2, Arrow IPC files (Feather 2); not Feather 1, not Arrow streams, nothing encrypted"
SOURCE = "the formats' specifications; files written by PyArrow"

_MARKS = (b"PAR1", b"PARE", b"ARROW1\0\0")


def accepts(head: bytes) -> bool:
    """Whether a file begins as such a table does."""
    return head.startswith(_MARKS)


def missing() -> str | None:
    """What it needs here."""
    return child.missing()


def units(path: Path, size: int, limits: Limits, context: FileContext) -> Iterator[Unit | Oversized]:
    """One unit per row."""
    yield from child.units("table_rows", path, size, limits, context, libraries=True)
