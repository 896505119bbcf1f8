"""Compressed evidence as a bounded stream of bytes. A stream that ends early says so; it never reads short in silence.

Compression is told by the magic bytes. Several members or frames one after the other are read on. A zstd file is
walked frame by frame and block by block, because the library's own readers take a file that is cut at a block's
edge for a whole one.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

_READ = 1 << 14
_PIECE = 1 << 20
_FREE_OUTPUT = 64 << 20
_ZSTD_MAGIC = 0xFD2FB528
_SKIPPABLE = 0x184D2A50
_BLOCK_OUTPUT = 128 << 10
_BATCH_BLOCKS = 32

# Containers that are recognised by their first bytes and not read yet.
_OTHERS = (
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"PK\x03\x04", "zip"),
    (b"PAR1", "parquet"),
    (b"7z\xbc\xaf\x27\x1c", "7z"),
)


class StreamEnd(Exception):
    """The stream ends before its time. `reason` is damaged_stream, ratio or size."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class Limits:
    """Bounds of one file's decompressed content."""

    max_ratio: int
    max_bytes: int


def sniff(head: bytes) -> str:
    """`gzip`, `zstd`, `none`, or the name of a container that cannot be read."""
    if head[:2] == b"\x1f\x8b":
        return "gzip"
    if len(head) >= 4:
        magic = int.from_bytes(head[:4], "little")
        if magic == _ZSTD_MAGIC or magic & 0xFFFFFFF0 == _SKIPPABLE:
            return "zstd"
    for mark, name in _OTHERS:
        if head.startswith(mark):
            return name
    if head[257:262] == b"ustar":
        return "tar"
    return "none"


def pieces(path: Path, compression: str, limits: Limits) -> Iterator[tuple[bytes, int]]:
    """Decompressed pieces of a file and the compressed bytes read so far. Raises StreamEnd where it breaks off."""
    out = 0
    with path.open("rb") as file:
        source = _gzip(file) if compression == "gzip" else _zstd(file)
        for piece in source:
            out += len(piece)
            read = file.tell()
            if out > limits.max_bytes:
                if len(piece) > out - limits.max_bytes:
                    yield piece[: limits.max_bytes - out], read
                raise StreamEnd("size")
            if out > _FREE_OUTPUT and out > limits.max_ratio * max(read, 1):
                raise StreamEnd("ratio")
            yield piece, read


def _gzip(file: BinaryIO) -> Iterator[bytes]:
    member = zlib.decompressobj(wbits=31)
    fresh = True
    data = b""
    while True:
        if not data:
            data = file.read(_READ)
            if not data:
                if not fresh:
                    raise StreamEnd("damaged_stream")
                return
        if fresh:
            # Zero padding may follow a member; nothing else may.
            data = data.lstrip(b"\0")
            if not data:
                continue
        try:
            piece = member.decompress(data, _PIECE)
        except zlib.error:
            raise StreamEnd("damaged_stream") from None
        fresh = False
        if piece:
            yield piece
        if member.eof:
            data = member.unused_data
            member = zlib.decompressobj(wbits=31)
            fresh = True
        else:
            data = member.unconsumed_tail


def _zstd(file: BinaryIO) -> Iterator[bytes]:
    import zstandard

    reader = file
    while True:
        head = reader.read(4)
        if not head:
            return
        if len(head) < 4:
            raise StreamEnd("damaged_stream")
        magic = int.from_bytes(head, "little")
        if magic & 0xFFFFFFF0 == _SKIPPABLE:
            size = int.from_bytes(_exactly(reader, 4), "little")
            while size:
                skipped = reader.read(min(size, _READ))
                if not skipped:
                    raise StreamEnd("damaged_stream")
                size -= len(skipped)
            continue
        if magic != _ZSTD_MAGIC:
            raise StreamEnd("damaged_stream")
        try:
            yield from _zstd_frame(reader, head, zstandard.ZstdDecompressor().decompressobj())
        except zstandard.ZstdError:
            raise StreamEnd("damaged_stream") from None


def _zstd_frame(reader: BinaryIO, magic: bytes, frame: Any) -> Iterator[bytes]:
    descriptor = _exactly(reader, 1)[0]
    single = descriptor >> 5 & 1
    header = (0 if single else 1) + (0, 1, 2, 4)[descriptor & 3] + ((1 if single else 0), 2, 4, 8)[descriptor >> 6]
    pending = [magic, bytes([descriptor]), _exactly(reader, header)]
    blocks = size = 0
    last = False
    while not last:
        mark = _partly(reader, 3)
        number = int.from_bytes(mark, "little")
        last = bool(number & 1)
        kind = number >> 1 & 3
        body = b""
        short = len(mark) < 3 or kind == 3
        if not short:
            length = 1 if kind == 1 else number >> 3
            body = _partly(reader, length)
            short = len(body) < length
        if short:
            # What the whole blocks before hold is still evidence.
            if pending and (piece := frame.decompress(b"".join(pending))):
                yield piece
            raise StreamEnd("damaged_stream")
        pending += (mark, body)
        blocks += 1
        size += len(body)
        if blocks >= _BATCH_BLOCKS or size >= _BLOCK_OUTPUT:
            if piece := frame.decompress(b"".join(pending)):
                yield piece
            pending, blocks, size = [], 0, 0
    if descriptor >> 2 & 1:
        checksum = _partly(reader, 4)
        pending.append(checksum)
    if pending and (piece := frame.decompress(b"".join(pending))):
        yield piece
    if not frame.eof:
        raise StreamEnd("damaged_stream")


def _partly(reader: BinaryIO, size: int) -> bytes:
    parts = reader.read(size)
    while len(parts) < size:
        more = reader.read(size - len(parts))
        if not more:
            break
        parts += more
    return parts


def _exactly(reader: BinaryIO, size: int) -> bytes:
    data = _partly(reader, size)
    if len(data) < size:
        raise StreamEnd("damaged_stream")
    return data
