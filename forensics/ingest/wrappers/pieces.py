"""Long lines that a collector cut into several records, put together again, each stream for itself.

Bounded: of a line over the limit only its bytes are counted on, and no more than the limit is held of all open lines.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace

from forensics.ingest.record import FileContext
from forensics.ingest.units import Unit
from forensics.ingest.wrappers.peeling import lines_of

_MOST_OPEN = 1000
_PART_BYTES = 40  # of memory that a piece costs beside its bytes
_REPLACED = b"\xef\xbf\xbd"


@dataclass(slots=True)
class _Open:
    """A line of which more pieces are to come."""

    first: Unit
    at: int | None
    source: str | None
    size: int = 0
    lines: int = 0
    cut: bool = False
    parts: list[bytes] = field(default_factory=list)
    held: int = 0
    passed: hashlib._Hash | None = None  # of a line that is too long to be held

    def take(self, unit: Unit, data: bytes) -> int:
        """Add a piece; returns how many bytes are held more than before."""
        self.size += unit.size
        self.lines += unit.lines
        self.cut = unit.cut
        if self.passed is not None:
            self.passed.update(data)
            return 0
        self.parts.append(data)
        self.held += len(data) + _PART_BYTES
        return len(data) + _PART_BYTES

    def drop(self) -> int:
        """Hold no more of the line than its digest; returns how many bytes are let go."""
        freed = self.held
        if self.passed is None:
            self.passed = hashlib.sha256(b"".join(self.parts))
        self.parts.clear()
        self.held = 0
        return freed


class Pieces:
    """The open lines of a file, by stream."""

    def __init__(self, context: FileContext) -> None:
        self._context = context
        self._most = context.max_line_bytes
        self._open: dict[Hashable, _Open] = {}
        self._held = 0

    def add(
        self, key: Hashable, unit: Unit, data: bytes, *, more: bool, at: int | None, source: str | None
    ) -> Sequence[Unit]:
        """The line that `data` ends, as units; none where `more` of it is to come on stream `key`."""
        line = self._open.get(key)
        if line is None:
            if not more:
                return lines_of(unit, data, at, source)
            line = self._open[key] = _Open(unit, unit.at if at is None else at, source or unit.source)
        elif line.parts and line.parts[-1].endswith(_REPLACED) and data.startswith(_REPLACED):
            self._context.notice("split_character")
        self._held += line.take(unit, data)
        if line.held > self._most:
            self._held -= line.drop()
        elif self._held > self._most:
            self._held -= next(other for other in self._open.values() if other.held).drop()
        if not more:
            del self._open[key]
            return self._closed(line)
        if len(self._open) > _MOST_OPEN:
            self._context.notice("unfinished_line")
            return self._closed(self._open.pop(next(iter(self._open))))
        return ()

    def close(self, key: Hashable) -> Sequence[Unit]:
        """The open line of stream `key`, if there is one, as it is: it goes on no further."""
        line = self._open.pop(key, None)
        return self._closed(line) if line is not None else ()

    def opened(self, key: Hashable) -> bool:
        """Whether a line of stream `key` is open."""
        return key in self._open

    def end(self) -> Sequence[Unit]:
        """What is left at the end of the file, in the order in which it began."""
        units: list[Unit] = []
        for line in sorted(self._open.values(), key=lambda line: line.first.offset):
            self._context.notice("unfinished_line")
            line.cut = True
            units += self._closed(line)
        self._open.clear()
        return units

    def _closed(self, line: _Open) -> Sequence[Unit]:
        self._held -= line.held
        whole = replace(line.first, size=line.size, lines=line.lines, cut=line.cut)
        if line.passed is not None:
            return (replace(whole, data=b"", reason="oversized_line", digest=line.passed.hexdigest()),)
        return lines_of(whole, b"".join(line.parts), line.at, line.source)
