"""CSV and TSV tables with a header: one object a row, named by it. Strings stay strings, empty cells are absent.

Fields in double quotes may hold delimiters, doubled quotes and line ends (RFC 4180). The delimiter is the one of `,`,
`;`, tab and `|` that gives the header the most names. A row that does not fit the header is refused as `bad_row`; a
quote that is never closed costs its own line, not the lines after it. Backslash escapes are not known. A table with
two columns of one name is refused line by line as `repeated_column`: one of them would hide the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

import orjson

from forensics.ingest import envelope_keys
from forensics.ingest.record import FileContext
from forensics.ingest.units import Unit, joined
from forensics.ingest.wrappers.peeling import refused, structure

NAME = "csv_rows"
TITLE = "CSV and TSV tables with a header, columns of texts or JSON"
VERSIONS = "RFC 4180, delimiters , ; tab |"
SOURCE = "the standard"
DELIMITERS = (b",", b";", b"\t", b"|")
_BOM = b"\xef\xbb\xbf"
_NAME = re.compile(rb"[A-Za-z_@$][\w @$.:/()\[\]-]{0,79}")
_MOST_RECOVERIES = 1000
_MOST_LINES = 200_000  # of one row
# What a table of log lines or calls has at least one of, whatever the case of its letters.
_KNOWN = frozenset(
    name.lower()
    for name in (
        *envelope_keys.REQUEST_KEYS,
        *envelope_keys.RESPONSE_KEYS,
        *envelope_keys.ID_KEYS,
        *envelope_keys.TENANT_KEYS,
        *envelope_keys.RECEIVED_KEYS,
        *envelope_keys.FINISHED_KEYS,
        *envelope_keys.PROMPT_KEYS,
        "choices",
        "message",
        "@message",
        "line",
        "log",
        "LogMessage",
        "LogEntry",
        "_source",
        "event.original",
        "body",
        "content",
        "textPayload",
        "jsonPayload",
        "id",
        "model",
        "trace_id",
        "startTime",
        "properties",
    )
)


def accepts(line: bytes) -> bool:
    """Never: a line alone is no table; `header_of` tells one by the first line of a file."""
    return False


def header_of(line: bytes) -> tuple[bytes, list[str]] | None:
    """The delimiter and the column names, where `line` is the header of a table of calls or log lines; else None.

    Names may repeat.
    """
    line = line.removeprefix(_BOM).removesuffix(b"\r")
    best: tuple[bytes, list[bytes]] | None = None
    for delimiter in DELIMITERS:
        row = _Row(delimiter)
        if row.feed(line) and not row.broken and (best is None or len(row.cells) > len(best[1])):
            best = delimiter, row.cells
    if best is None or len(best[1]) < 2:
        return None
    names = [cell.strip() for cell in best[1]]
    if len(set(names)) < 2 or not all(_NAME.fullmatch(name) for name in names):
        return None
    texts = [name.decode() for name in names]
    return (best[0], texts) if any(name.lower() in _KNOWN for name in texts) else None


def is_table(head: bytes) -> bool:
    """Whether the first bytes of a file are a table: a header, and most rows after it with as many cells."""
    first, _, rest = head.partition(b"\n")
    found = header_of(first)
    if found is None:
        return False
    row = _Row(found[0])
    rows = fitting = 0
    for line in rest.split(b"\n")[:400]:
        if not line.strip() and not row.inside:
            continue
        if row.feed(line.removesuffix(b"\r")) or row.broken:
            rows += 1
            fitting += not row.broken and len(row.cells) == len(found[1])
            row = _Row(found[0])
    return not rows or fitting * 2 >= rows


class _Row:
    """One row, fed line by line."""

    def __init__(self, delimiter: bytes) -> None:
        self._delimiter = delimiter
        self._open: list[bytes] | None = None  # of a quoted cell that is not closed yet
        self.cells: list[bytes] = []
        self.broken = False

    @property
    def inside(self) -> bool:
        """Whether the row goes on in the next line."""
        return self._open is not None

    def feed(self, line: bytes, ending: bytes = b"\n") -> bool:
        """Read a line; whether the row ends with it. `ending` is what ended the line, and belongs to an open cell."""
        delimiter = self._delimiter
        at = 0
        while True:
            if self._open is None:
                if line[at : at + 1] != b'"':
                    stop = line.find(delimiter, at)
                    if stop < 0:
                        self.cells.append(line[at:])
                        return True
                    self.cells.append(line[at:stop])
                    at = stop + 1
                    continue
                self._open = []
                at += 1
            stop = line.find(b'"', at)
            if stop < 0:
                self._open += (line[at:], ending)
                return False
            if line[stop + 1 : stop + 2] == b'"':
                self._open.append(line[at : stop + 1])
                at = stop + 2
                continue
            self._open.append(line[at:stop])
            self.cells.append(b"".join(self._open))
            self._open = None
            at = stop + 1
            if at >= len(line):
                return True
            if line[at : at + 1] != delimiter:
                self.broken = True
                return True
            at += 1


class Peeler:
    """Peels one file."""

    def __init__(self, context: FileContext) -> None:
        self._context = context
        self._most = context.max_line_bytes
        self._delimiter = b","
        self._names: list[str] | None = None
        self._repeated = False  # two columns have one name
        self._row: _Row | None = None
        self._held: list[Unit] = []
        self._size = 0
        self._recoveries = 0

    def feed(self, unit: Unit) -> Iterable[Unit]:
        """The row that this line ends, as an object."""
        waiting = [unit]
        while waiting:
            yield from self._line(waiting.pop(), waiting)

    def _line(self, unit: Unit, waiting: list[Unit]) -> Iterator[Unit]:
        if self._names is None:
            found = header_of(unit.data)
            if found is None:
                yield unit
                return
            self._delimiter, self._names = found
            self._repeated = len(set(self._names)) != len(self._names)
            yield refused(unit, "repeated_column") if self._repeated else structure(unit)
            return
        if self._repeated:
            yield refused(unit, "repeated_column") if unit.data.strip() else unit
            return
        if self._row is None:
            if not unit.data.strip():
                yield unit
                return
            self._row = _Row(self._delimiter)
        self._held.append(unit)
        self._size += len(unit.data)
        ended = self._row.feed(unit.data, b"\r\n" if unit.size - len(unit.data) == 2 else b"\n")
        if self._row.broken or (not ended and (self._size > self._most or len(self._held) > _MOST_LINES)):
            yield from self._recover(waiting)
        elif ended:
            units, row = self._held, self._row
            self._held, self._row, self._size = [], None, 0
            yield self._object(units, row.cells)

    def _object(self, units: list[Unit], cells: list[bytes]) -> Unit:
        names = self._names
        assert names is not None
        whole = joined(units, b"") if len(units) > 1 else units[0]
        if len(cells) != len(names):
            return replace(whole, data=units[0].data, reason="bad_row")
        try:
            texts = [cell.decode("utf-8") for cell in cells]
        except UnicodeDecodeError:
            return replace(whole, data=units[0].data, reason="bad_utf8")
        if texts == names:
            # Tables that were put one after the other repeat the header.
            return structure(whole)
        row = {name: text for name, text in zip(names, texts, strict=True) if text}
        return replace(whole, data=orjson.dumps(row) if row else b"")

    def _recover(self, waiting: list[Unit]) -> Iterator[Unit]:
        """Refuse the line in which the row began and read those after it anew; the whole row, where that fails."""
        held = self._held
        self._held, self._row, self._size = [], None, 0
        self._recoveries += 1
        if self._recoveries > _MOST_RECOVERIES:
            yield refused(replace(joined(held, held[0].data)), "bad_row")
            return
        yield refused(held[0], "bad_row")
        waiting += reversed(held[1:])

    def end(self) -> Iterable[Unit]:
        """What a quote that is never closed held back."""
        waiting: list[Unit] = []
        while self._row is not None:
            cut = not waiting and self._held[-1].cut
            if cut and len(self._held) == 1:
                yield refused(self._held[0], "bad_row")
                return
            yield from self._recover(waiting)
            while waiting:
                yield from self._line(waiting.pop(), waiting)
