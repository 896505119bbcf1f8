"""Lines with a time, and nothing else, put before them: `docker logs -t`, `kubectl logs --timestamps` (nanoseconds),
CloudWatch's export to S3 (milliseconds); and the names that `kubectl logs --prefix` and `docker compose logs` put.

A log may write such times itself, so a time counts as a wrapper's only with more than six fraction digits, or where a
JSON object or another stamp follows it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from forensics.ingest.record import FileContext
from forensics.ingest.timestamps import parse_time
from forensics.ingest.units import Unit
from forensics.ingest.wrappers.peeling import peeled

NAME = "stamped"
TITLE = "a time or a container's name before each line (docker logs -t, docker compose logs, kubectl logs, S3 exports)"
VERSIONS = "docker logs -t, docker compose logs v2, kubectl logs --timestamps --prefix, CloudWatch's S3 export"
SOURCE = "notes on the tools' documentation; not checked"
LEAST_SHARE = 0.3
_LINE = re.compile(
    rb"(?:\[pod/(?P<pod>[a-z0-9.-]{1,253}/[a-z0-9-]{1,63})\] "
    rb"|(?P<service>[a-z0-9][a-z0-9_.-]{0,62}-\d{1,3}) {1,40}\| )?"
    rb"(?:(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.(?:\d{7,9}(?:Z|[+-]\d\d:\d\d)|\d{3,6}Z(?= \{| \[\d{4}-)))"
    rb"(?! std(?:out|err) [PF])(?: |$))?"
)


def accepts(line: bytes) -> bool:
    """Whether the line begins so."""
    match = _LINE.match(line)
    return match is not None and match.end() > 0


class Peeler:
    """Peels one file."""

    def __init__(self, context: FileContext) -> None:
        self._context = context

    def feed(self, unit: Unit) -> Iterable[Unit]:
        """The line without what stands before it."""
        match = _LINE.match(unit.data)
        if match is None or not match.end():
            return (unit,)
        at = parse_time(match["time"].decode(), self._context)[0] if match["time"] else None
        source = match["pod"] or match["service"]
        return (peeled(unit, unit.data[match.end() :], at, source.decode() if source else None),)

    def end(self) -> Iterable[Unit]:
        """Nothing: every line is whole."""
        return ()
