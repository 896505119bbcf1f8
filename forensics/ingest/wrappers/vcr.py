"""Cassettes in JSON (vcrpy's and betamax's): the interactions, each as a unit of its own. YAML is for a transcoder."""

from __future__ import annotations

import re
from collections.abc import Iterable

from forensics.ingest.record import FileContext
from forensics.ingest.units import Unit
from forensics.ingest.wrappers.containers import array_units

NAME = "vcr"
TITLE = "Cassettes of recorded HTTP exchanges"
VERSIONS = "vcrpy 1 to 7, Ruby VCR 6, betamax 0.9; YAML with the extra `vcr`"
SOURCE = "public fixtures of cassettes; the serializers' source"

_BEGIN = re.compile(
    rb'\s*\{\s*(?:"(?:version|recorded_with|name)"\s*:\s*(?:"[^"]{0,200}"|[\d.]+)\s*,\s*)*"(?:http_)?interactions"\s*:\s*\['
)
_INTERACTIONS = re.compile(rb'"(?:http_)?interactions"\s*:\s*\[')


def accepts(line: bytes) -> bool:
    """Whether a unit is a cassette."""
    return _BEGIN.match(line) is not None


class Peeler:
    """Cuts cassettes."""

    def __init__(self, context: FileContext) -> None:
        self._context = context

    def feed(self, unit: Unit) -> Iterable[Unit]:
        """Take one unit."""
        return array_units(unit, _INTERACTIONS) if unit.reason is None and accepts(unit.data) else [unit]

    def end(self) -> Iterable[Unit]:
        """Nothing is held."""
        return ()
