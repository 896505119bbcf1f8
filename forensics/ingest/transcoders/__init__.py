"""Containers that are no lines of text: which of them a file is, and its records as units of JSON.

A transcoder is a module of this folder with

* `accepts(head: bytes) -> bool`: do these first bytes (HEAD of them, or all of a shorter file) begin such a container?
* `NAME`, `TITLE`, `VERSIONS`, `SOURCE`: as of a parser, whose name it may share;
* `PERMISSION`, `REFUSED`, optional: the reason and the sentence of a file that the user has not allowed to be read;
* `missing() -> str | None`: a sentence where it cannot work in this installation (a library is not there);
* `units(path, size, limits, context) -> Iterator[Unit | Oversized]`: the records, each as one JSON object that a parser
  takes. The sizes of all units add up to the file's bytes; what cannot be read is an `Oversized` with a reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

from forensics.ingest.blocks import Oversized
from forensics.ingest.record import FileContext
from forensics.ingest.streams import Limits
from forensics.ingest.units import Unit

HEAD = 4096
NAMES = ("mitmproxy", "parquet_rows", "sglang_dump", "vcr")


@cache
def load(name: str) -> ModuleType:
    """The transcoder module `name`."""
    if name not in NAMES:
        raise KeyError(name)
    return import_module(f"forensics.ingest.transcoders.{name}")


def of_head(head: bytes) -> str | None:
    """The transcoder for a file that begins with `head`, or None."""
    return next((name for name in NAMES if load(name).accepts(head)), None)


def missing(name: str) -> str | None:
    """Why the transcoder cannot work here, as a sentence; None where it can."""
    reason: str | None = load(name).missing()
    return reason


def forbidden(name: str, *, allow_pickle: bool) -> tuple[str, str] | None:
    """The reason and the sentence why a container is not read without the user's word; None where it is."""
    module = load(name)
    if allow_pickle or not hasattr(module, "PERMISSION"):
        return None
    return module.PERMISSION, module.REFUSED


def units(name: str, path: Path, size: int, limits: Limits, context: FileContext) -> Iterator[Unit | Oversized]:
    """The records of the first `size` bytes of a container as units."""
    yield from load(name).units(path, size, limits, context)
