"""Docker's json-file: `{"log": "...\\n", "stream": "stderr", "time": "..."}`, a line over 16 KiB in several records.

All but the last record of a long line lack the line feed. A container that ends in the middle of a line lacks it, too:
there the record is shorter than Docker's buffer and no more of the line comes soon. Docker writes U+FFFD for each byte
of a character that its buffer cut; it cannot be had back, and is counted.
"""

from __future__ import annotations

from collections.abc import Iterable

from forensics.ingest.record import FileContext
from forensics.ingest.timestamps import parse_time
from forensics.ingest.units import Unit
from forensics.ingest.wrappers.peeling import Object, object_with, source_of_file, text_at
from forensics.ingest.wrappers.pieces import Pieces

NAME = "docker_json"
TITLE = "Docker json-file log driver"
VERSIONS = "json-file since Docker 1.13; split at 16 KiB, attrs of --log-opt labels/tag"
SOURCE = "the project's source (daemon/logger/copier.go, one older version)"
ANY_OF = frozenset(("log",))
_KEYS = frozenset(("log", "stream", "time", "attrs"))
_BUFFER = 16 * 1024
_SOON = 5_000_000  # microseconds: pieces of one line are written as fast as they are read


def accepts(line: bytes) -> bool:
    """Whether the line is one record of the driver."""
    return _record(line) is not None


def _record(line: bytes) -> Object | None:
    obj = object_with(line, b'"log"')
    if obj is None or not _KEYS.issuperset(obj) or not isinstance(obj.get("log"), str):
        return None
    return obj if "stream" in obj or "time" in obj else None


class Peeler:
    """Peels one file."""

    def __init__(self, context: FileContext) -> None:
        self._context = context
        self._pieces = Pieces(context)
        self._source = source_of_file(context.name)
        self._short: dict[object, int | None] = {}  # streams whose last record was short and had no line feed

    def feed(self, unit: Unit) -> Iterable[Unit]:
        """The lines that this record ends."""
        obj = _record(unit.data)
        if obj is None:
            yield unit
            return
        log = obj["log"]
        at, _ = parse_time(obj.get("time"), self._context)
        attrs = obj.get("attrs")
        source = (text_at(attrs, "tag") if isinstance(attrs, dict) else None) or self._source
        stream = str(obj.get("stream"))
        # The same driver's records of two containers may be nested in one outer wrapper.
        key = (stream, source or unit.source)
        if key in self._short:
            before = self._short.pop(key)
            if at is not None and before is not None and at - before > _SOON:
                yield from self._pieces.close(key)
        data = log.encode("utf-8", "replace")
        more = data[-1:] != b"\n"
        if more and len(data) < _BUFFER:
            self._short[key] = at
        yield from self._pieces.add(key, unit, data, more=more, at=at, source=source)

    def end(self) -> Iterable[Unit]:
        """Lines whose end is not in the file."""
        return self._pieces.end()
