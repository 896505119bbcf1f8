"""HAR files: the entries of the log, each as a unit of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable

from forensics.ingest.record import FileContext
from forensics.ingest.units import Unit
from forensics.ingest.wrappers.containers import array_units

NAME = "har"
TITLE = "HAR: HTTP exchanges as browsers and proxies export them"
VERSIONS = "HAR 1.1 and 1.2; Chrome, Firefox, mitmproxy 11"
SOURCE = "the HAR 1.2 specification; a HAR written by mitmproxy 11"

_LOG = re.compile(rb'\s*\{\s*"log"\s*:\s*\{')
_ENTRIES = re.compile(rb'(?<!\\)"entries"\s*:\s*\[')


def accepts(line: bytes) -> bool:
    """Whether a unit is a HAR document."""
    return _LOG.match(line) is not None and b'"entries"' in line


class Peeler:
    """Cuts HAR documents."""

    def __init__(self, context: FileContext) -> None:
        self._context = context

    def feed(self, unit: Unit) -> Iterable[Unit]:
        """Take one unit."""
        return array_units(unit, _ENTRIES) if unit.reason is None and accepts(unit.data) else [unit]

    def end(self) -> Iterable[Unit]:
        """Nothing is held."""
        return ()
