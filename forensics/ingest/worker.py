"""What a reading process does: one block of lines in, Arrow tables and counts out. Opens evidence, writes nothing."""

from __future__ import annotations

import gc
import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from forensics.ingest.lines import LineReader
from forensics.ingest.record import FileContext, Reject

if TYPE_CHECKING:
    import pyarrow as pa

    from forensics.ingest.columns import TextCache


@dataclass(frozen=True)
class FileFacts:
    """What every block of a file shares."""

    name: str
    format: str
    forced: bool
    zone: str
    worker: str | None
    max_line_bytes: int
    modified_at: int | None = None  # UTC microseconds


@dataclass(frozen=True)
class Block:
    """Whole lines of a file, as bytes or as a range of a plain file. `last` says that the file ends here.

    `spans`, where given, are the (offset in block, length) of records that are not lines: elements of an array.
    """

    facts: FileFacts
    offset: int
    data: bytes | None = None
    path: Path | None = None
    length: int = 0
    last: bool = False
    spans: tuple[tuple[int, int], ...] | None = None


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


def read_block(block: Block) -> BlockResult:
    """Parse one block. Every byte of it is counted once: as record, rejected, blank or structure."""
    global _cache
    from forensics.ingest.columns import BlockColumns, TextCache

    if _cache is None:
        _cache = TextCache()
    # The many small objects of a block hold no cycles; looking for some costs a fifth of the time.
    collecting = gc.isenabled()
    gc.disable()
    try:
        return _read(block, BlockColumns(_cache))
    finally:
        if collecting:
            gc.enable()


def forget() -> None:
    """Drop what this process remembers of earlier texts."""
    global _cache
    _cache = None


def _read(block: Block, columns: BlockColumns) -> BlockResult:  # type: ignore[name-defined]  # noqa: F821
    data = block.data
    if data is None:
        assert block.path is not None
        with block.path.open("rb") as file:
            file.seek(block.offset)
            data = file.read(block.length)
    facts = block.facts
    context = FileContext(facts.name, ZoneInfo(facts.zone), facts.worker, modified_at=facts.modified_at)
    reader = LineReader(facts.format, context, forced=facts.forced)
    result = BlockResult({})
    if block.spans is None:
        _read_lines(data, block, reader, columns, result)
    else:
        _read_spans(data, block, reader, columns, result)
    result.rejected = len(columns.rejects)
    for reject in columns.rejects:
        result.reasons[reject[3]] = result.reasons.get(reject[3], 0) + 1
    result.notices = context.notices
    result.naive_times = context.naive_times
    result.tables = columns.tables()
    total = result.record_bytes + result.rejected_bytes + result.blank_bytes + result.structure_bytes
    if total != len(data):
        raise AssertionError(f"{len(data) - total} bytes of a block are not accounted for")
    return result


def _read_lines(data: bytes, block: Block, reader: LineReader, columns: BlockColumns, result: BlockResult) -> None:  # type: ignore[name-defined]  # noqa: F821
    lines = data.split(b"\n")
    ended = not lines[-1]
    if ended:
        lines.pop()
    final = len(lines) - 1
    offset = block.offset
    most = block.facts.max_line_bytes
    for number, line in enumerate(lines):
        open_end = number == final and not ended
        size = len(line) + (0 if open_end else 1)
        if not line or not line.strip():
            result.blank += 1
            result.blank_bytes += size
        elif size > most:
            columns.reject(offset, size, number, "oversized_line", _sha256(line))
            result.rejected_bytes += size
        else:
            bare = line[:-1] if line[-1] == 13 else line
            try:
                records = reader.read(bare)
            except Reject as reject:
                cut = (
                    open_end
                    and block.last
                    and reject.reason in ("bad_json", "bad_repr", "bad_utf8", "unrecognised_line")
                )
                columns.reject(offset, size, number, "cut_last_line" if cut else reject.reason, _sha256(line))
                result.rejected_bytes += size
            else:
                if records:
                    digest = _sha256(bare)
                    for record in records:
                        columns.add(record, offset, size, number, digest)
                    result.records += 1
                    result.record_bytes += size
                else:
                    result.structure += 1
                    result.structure_bytes += size
        offset += size
    result.lines = len(lines)


def _read_spans(data: bytes, block: Block, reader: LineReader, columns: BlockColumns, result: BlockResult) -> None:  # type: ignore[name-defined]  # noqa: F821
    position = 0
    line = 0
    for start, length in block.spans or ():
        between = data[position:start]
        line += between.count(b"\n")
        result.structure_bytes += len(between)
        piece = data[start : start + length]
        digest = _sha256(piece)
        try:
            records = reader.read(piece)
        except Reject as reject:
            columns.reject(block.offset + start, length, line, reject.reason, digest)
            result.rejected_bytes += length
        else:
            for record in records:
                columns.add(record, block.offset + start, length, line, digest)
            result.records += 1 if records else 0
            if records:
                result.record_bytes += length
            else:
                result.structure += 1
                result.structure_bytes += length
        line += piece.count(b"\n")
        position = start + length
    result.structure_bytes += len(data) - position
    result.lines = line + data[position:].count(b"\n")


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
