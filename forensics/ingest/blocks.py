"""A file cut into blocks of whole lines. Does not look into the lines; a line too long to hold is passed over.

A block of a plain file is a range that the reading process opens itself; a block of a compressed one carries bytes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from forensics.ingest.streams import Limits, StreamEnd, pieces
from forensics.ingest.worker import Block, FileFacts

BLOCK_BYTES = 6 << 20
_STEP = 1 << 20


@dataclass(frozen=True)
class Oversized:
    """A line longer than the limit, or the place where a stream broke off (length 0)."""

    offset: int
    length: int
    reason: str
    sha256: str
    lines: int


def plain_blocks(
    path: Path, size: int, facts: FileFacts, block_bytes: int = BLOCK_BYTES
) -> Iterator[Block | Oversized]:
    """Blocks of an uncompressed file of `size` bytes; what is appended later is not read."""
    with path.open("rb") as file:
        start = 0
        while start < size:
            target = start + block_bytes
            end = _line_end(file, target, size, facts.max_line_bytes) if target < size else size
            if end is None:
                begin = _line_start(file, start, target)
                if begin > start:
                    yield Block(facts, start, path=path, length=begin - start)
                passed = _pass_over(file, begin, size)
                yield passed
                start = begin + passed.length
                continue
            yield Block(facts, start, path=path, length=end - start, last=end == size)
            start = end


def _line_end(file: BinaryIO, position: int, size: int, most: int) -> int | None:
    """The end of the line that holds `position`; None where it is more than `most` bytes away."""
    file.seek(position)
    passed = 0
    while position + passed < size:
        chunk = file.read(min(_STEP, size - position - passed))
        if not chunk:
            break
        found = chunk.find(b"\n")
        if found >= 0:
            return position + passed + found + 1
        passed += len(chunk)
        if passed > most:
            return None
    return size


def _line_start(file: BinaryIO, start: int, position: int) -> int:
    """The start of the line that holds `position`, not before `start`."""
    while position > start:
        step = min(_STEP, position - start)
        file.seek(position - step)
        found = file.read(step).rfind(b"\n")
        if found >= 0:
            return position - step + found + 1
        position -= step
    return start


def _pass_over(file: BinaryIO, begin: int, size: int) -> Oversized:
    file.seek(begin)
    digest = hashlib.sha256()
    length = 0
    while begin + length < size:
        chunk = file.read(min(_STEP, size - begin - length))
        if not chunk:
            break
        found = chunk.find(b"\n")
        if found >= 0:
            digest.update(chunk[:found])
            return Oversized(begin, length + found + 1, "oversized_line", digest.hexdigest(), 1)
        digest.update(chunk)
        length += len(chunk)
    return Oversized(begin, length, "oversized_line", digest.hexdigest(), 1)


def stream_blocks(
    path: Path, compression: str, limits: Limits, facts: FileFacts, block_bytes: int = BLOCK_BYTES
) -> Iterator[Block | Oversized]:
    """Blocks of a compressed file. A stream that breaks off ends with an `Oversized` of length 0 that names why."""
    held: list[bytes] = []  # no newline in these but perhaps in the last
    size = offset = 0
    skipping: hashlib._Hash | None = None
    skipped = 0
    broken: str | None = None
    source = pieces(path, compression, limits)
    while True:
        try:
            piece, _ = next(source)
        except StopIteration:
            break
        except StreamEnd as end:
            broken = end.reason
            break
        if skipping is not None:
            found = piece.find(b"\n")
            if found < 0:
                skipping.update(piece)
                skipped += len(piece)
                continue
            skipping.update(piece[:found])
            skipped += found + 1
            yield Oversized(offset, skipped, "oversized_line", skipping.hexdigest(), 1)
            offset += skipped
            skipping, skipped = None, 0
            piece = piece[found + 1 :]
        held.append(piece)
        size += len(piece)
        if size < block_bytes or b"\n" not in piece:
            if size > facts.max_line_bytes + block_bytes:
                data = b"".join(held)
                cut = data.rfind(b"\n") + 1
                if cut:
                    yield Block(facts, offset, data=data[:cut])
                    offset += cut
                skipping = hashlib.sha256(data[cut:])
                skipped = len(data) - cut
                held, size = [], 0
            continue
        data = b"".join(held)
        cut = data.rfind(b"\n") + 1
        yield Block(facts, offset, data=data[:cut])
        offset += cut
        held = [data[cut:]]
        size = len(data) - cut
    if skipping is not None:
        yield Oversized(offset, skipped, "oversized_line", skipping.hexdigest(), 1)
        offset += skipped
    elif size:
        yield Block(facts, offset, data=b"".join(held), last=True)
        offset += size
    if broken is not None:
        yield Oversized(offset, 0, broken, hashlib.sha256(b"").hexdigest(), 0)
