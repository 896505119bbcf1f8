"""What a reading process does: one block of lines in, Arrow tables and counts out. Opens evidence, writes nothing."""

from __future__ import annotations

import gc
import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from forensics.ingest.lines import LineReader
from forensics.ingest.record import HELD, FileContext, Item, Place, Reject

if TYPE_CHECKING:
    import pyarrow as pa

    from forensics.ingest.cloudflare import PrivateKey
    from forensics.ingest.columns import BlockColumns, TextCache
    from forensics.ingest.units import Unit

# A file is read in steps that stay in the processor's cache; a block read as a whole would be copied through memory.
_STEP = 256 << 10
_CUT_REASONS = ("bad_json", "bad_repr", "bad_utf8", "bad_row", "unrecognised_line")


@dataclass(frozen=True)
class FileFacts:
    """What every block of a file shares."""

    name: str
    format: str
    forced: bool
    zone: str
    worker: str | None
    max_line_bytes: int
    modified_at: int | None = None
    profiles: tuple[str, ...] = ()  # TOML of the user's own profiles
    sequential: bool = False  # the format's reader collects lines: blocks must be read in order, in one process
    private_keys: tuple[PrivateKey, ...] = ()


@dataclass(frozen=True)
class Block:
    """Whole lines of a file, as bytes or as a range of a plain file. `last` says that the file ends here.

    `spans`, where given, are the (offset in block, length) of records that are not lines: elements of an array.
    `units`, where given, are what wrappers made of the lines, and there are no bytes beside them. `closing` is the
    empty block after the last of a sequential file.
    """

    facts: FileFacts
    offset: int
    data: bytes | None = None
    path: Path | None = None
    length: int = 0
    last: bool = False
    spans: tuple[tuple[int, int], ...] | None = None
    units: tuple[Unit, ...] | None = None
    line: int = 0  # lines of the file before the block; only where units or a sequential reader need it
    closing: bool = False

    def content(self) -> bytes:
        """The bytes of a block that has no units."""
        if self.data is not None:
            return self.data
        assert self.path is not None
        with self.path.open("rb") as file:
            file.seek(self.offset)
            return file.read(self.length)

    def lines(self) -> Iterator[bytes]:
        """The lines of a block that has no units, each with its newline; the last may have none."""
        if self.data is None:
            assert self.path is not None
            with self.path.open("rb", buffering=_STEP) as file:
                file.seek(self.offset)
                left = self.length
                while left and (line := file.readline(left)):
                    left -= len(line)
                    yield line
            return
        start = 0
        while start < len(self.data):
            # Line by line: `split` looks at one byte after the other, and holds the block twice.
            stop = self.data.find(b"\n", start) + 1 or len(self.data)
            yield self.data[start:stop]
            start = stop


@dataclass
class BlockResult:
    """Tables of one block and its part of the file's account, in lines and in bytes."""

    tables: dict[str, pa.Table]
    lines: int = 0
    records: int = 0
    rejected: int = 0
    blank: int = 0
    structure: int = 0
    record_bytes: int = 0
    rejected_bytes: int = 0
    blank_bytes: int = 0
    structure_bytes: int = 0
    notices: dict[str, int] = field(default_factory=dict)
    reasons: dict[str, int] = field(default_factory=dict)
    naive_times: int = 0


_cache: TextCache | None = None
# The reader of the sequential file at hand, which remembers lines from block to block.
_sequential: LineReader | None = None


def read_block(block: Block, aside: Callable[[list[bytes]], bool] | None = None) -> BlockResult:
    """Parse one block. Every byte of it is counted once: as record, rejected, blank or structure.

    `aside` is offered the texts that go with the block (UTF-8); where it takes them, the table `texts` has no `text`.
    """
    global _cache
    from forensics.ingest.columns import BlockColumns, TextCache

    if _cache is None:
        _cache = TextCache()
    # The many small objects of a block hold no cycles; looking for some costs a fifth of the time.
    collecting = gc.isenabled()
    gc.disable()
    try:
        return _read(block, BlockColumns(_cache), aside)
    finally:
        if collecting:
            gc.enable()


def forget() -> None:
    """Drop what this process remembers of earlier texts and files."""
    global _cache, _sequential
    _cache = _sequential = None


def _reader(facts: FileFacts) -> LineReader:
    global _sequential
    if facts.sequential and _sequential is not None:
        return _sequential
    context = FileContext(
        facts.name,
        ZoneInfo(facts.zone),
        facts.worker,
        facts.modified_at,
        private_keys=facts.private_keys,
        max_line_bytes=facts.max_line_bytes,
    )
    reader = LineReader(facts.format, context, forced=facts.forced, profiles=facts.profiles)
    if facts.sequential:
        _sequential = reader
    return reader


def _read(block: Block, columns: BlockColumns, aside: Callable[[list[bytes]], bool] | None) -> BlockResult:
    global _sequential
    result = BlockResult({})
    reader = _reader(block.facts)
    size = 0
    if block.units is not None:
        size = _read_units(block, reader, columns, result)
    elif block.spans is not None:
        size = _read_spans(block, reader, columns, result)
    elif not block.closing:
        size = _read_lines(block, reader, columns, result)
    if block.closing or not block.facts.sequential:
        for item in reader.end():
            assert item.place is not None
            columns.add(item, item.place, block.line)
        _sequential = None
    result.rejected = len(columns.rejects)
    for reject in columns.rejects:
        result.reasons[reject[3]] = result.reasons.get(reject[3], 0) + 1
    context = reader.context
    result.notices, context.notices = context.notices, {}
    result.naive_times, context.naive_times = context.naive_times, 0
    result.tables = columns.tables(aside)
    total = result.record_bytes + result.rejected_bytes + result.blank_bytes + result.structure_bytes
    if total != size:
        raise AssertionError(f"{size - total} bytes of a block are not accounted for")
    return result


def _read_lines(block: Block, reader: LineReader, columns: BlockColumns, result: BlockResult) -> int:
    """Read the block's lines; returns their bytes."""
    start = offset = block.offset
    number = 0
    most = block.facts.max_line_bytes
    for whole in block.lines():
        size = len(whole)
        open_end = whole[-1] != 10
        line = whole if open_end else whole[:-1]
        if not line or not line.strip():
            result.blank += 1
            result.blank_bytes += size
        elif size > most:
            columns.reject(offset, size, number, "oversized_line", _sha256(line))
            result.rejected_bytes += size
        else:
            bare = line[:-1] if line[-1] == 13 else line
            reader.context.place = place = Place(offset, size, block.line + number, _sha256(bare))
            try:
                items = reader.read(bare)
            except Reject as reject:
                cut = open_end and block.last and reject.reason in _CUT_REASONS
                digest = place.digest if bare is line else _sha256(line)
                columns.reject(offset, size, number, "cut_last_line" if cut else reject.reason, digest)
                result.rejected_bytes += size
            else:
                _take(items, place, block.line, columns, result)
        offset += size
        number += 1
    result.lines = number
    return offset - start


def _take(items: Sequence[Item], place: Place, first: int, columns: BlockColumns, result: BlockResult) -> None:
    if items or items is HELD:
        for item in items:
            columns.add(item, item.place or place, first)
        result.records += 1
        result.record_bytes += place.size
    else:
        result.structure += 1
        result.structure_bytes += place.size


def _read_units(block: Block, reader: LineReader, columns: BlockColumns, result: BlockResult) -> int:
    """Read what wrappers made; returns the bytes that the units stand for."""
    total = 0
    context = reader.context
    for unit in block.units or ():
        total += unit.size
        result.lines += unit.lines
        if unit.structure or (unit.reason is None and not unit.data.strip()):
            kind = "structure" if unit.structure else "blank"
            setattr(result, kind, getattr(result, kind) + 1)
            setattr(result, f"{kind}_bytes", getattr(result, f"{kind}_bytes") + unit.size)
            continue
        digest = unit.digest or _sha256(unit.data)
        context.place = place = Place(unit.offset, unit.size, unit.line, digest)
        context.at, context.source, context.times = unit.at, unit.source, unit.times
        try:
            if unit.reason is not None:
                raise Reject(unit.reason)
            if len(unit.data) > block.facts.max_line_bytes:
                raise Reject("oversized_line")
            items = reader.read(unit.data)
        except Reject as reject:
            cut = unit.cut and reject.reason in _CUT_REASONS
            reason = "cut_last_line" if cut else reject.reason
            columns.reject(unit.offset, unit.size, unit.line - block.line, reason, place.digest)
            result.rejected_bytes += unit.size
        else:
            _take(items, place, block.line, columns, result)
    return total


def _read_spans(block: Block, reader: LineReader, columns: BlockColumns, result: BlockResult) -> int:
    """Read the elements of an array; returns the bytes of the block."""
    data = block.content()
    position = 0
    line = 0
    for start, length in block.spans or ():
        between = data[position:start]
        line += between.count(b"\n")
        result.structure_bytes += len(between)
        piece = data[start : start + length]
        reader.context.place = place = Place(block.offset + start, length, block.line + line, _sha256(piece))
        try:
            items = reader.read(piece)
        except Reject as reject:
            columns.reject(block.offset + start, length, line, reject.reason, place.digest)
            result.rejected_bytes += length
        else:
            _take(items, place, block.line, columns, result)
        line += piece.count(b"\n")
        position = start + length
    result.structure_bytes += len(data) - position
    result.lines = line + data[position:].count(b"\n")
    return len(data)


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
