"""Kubernetes node logs (CRI): `2026-01-02T03:04:05.123456789Z stderr P text`, where `P` is a part of a line and `F` its
end. Each stream is put together for itself; tags after a colon are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from forensics.ingest.record import FileContext
from forensics.ingest.timestamps import parse_time
from forensics.ingest.units import Unit
from forensics.ingest.wrappers.peeling import source_of_file
from forensics.ingest.wrappers.pieces import Pieces

NAME = "kubernetes_cri"
TITLE = "Kubernetes CRI container logs (containerd, CRI-O, Podman k8s-file)"
VERSIONS = "CRI logging format since Kubernetes 1.5"
SOURCE = "the format's design document, from memory"
_LINE = re.compile(
    rb"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)) (stdout|stderr) ([PF])(?::[^ ]{0,80})?(?: |$)"
)


def accepts(line: bytes) -> bool:
    """Whether the line is one entry."""
    return _LINE.match(line) is not None


class Peeler:
    """Peels one file."""

    def __init__(self, context: FileContext) -> None:
        self._context = context
        self._pieces = Pieces(context)
        self._source = source_of_file(context.name)

    def feed(self, unit: Unit) -> Iterable[Unit]:
        """The line that this entry ends."""
        match = _LINE.match(unit.data)
        if match is None:
            return (unit,)
        at, _ = parse_time(match.group(1).decode(), self._context)
        return self._pieces.add(
            (match.group(2), unit.source),
            unit,
            unit.data[match.end() :],
            more=match.group(3) == b"P",
            at=at,
            source=self._source,
        )

    def end(self) -> Iterable[Unit]:
        """Lines whose end is not in the file."""
        return self._pieces.end()
