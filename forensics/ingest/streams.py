"""Compressed evidence as a bounded stream of bytes. A stream that ends early says so; it never reads short in silence.

Compression is told by the magic bytes, layer by layer: what is inside a gzip stream may be a zstd stream again. Several
members, frames or streams one after the other are read on. Archives are not opened here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from forensics.ingest.decoders import SKIPPABLE, ZSTD_MAGIC, Source, StreamEnd, decompressed

__all__ = ["ARCHIVES", "Budget", "Limits", "Peeled", "PieceReader", "StreamEnd", "peel", "pieces", "sniff"]

_FREE_OUTPUT = 64 << 20
_HEAD = 512

# Containers that are recognised by their first bytes and not read.
_OTHERS = ((b"7z\xbc\xaf\x27\x1c", "7z"),)
# A block of bzip2, or the end of an empty stream.
_BZIP2_BLOCKS = (b"\x31\x41\x59\x26\x53\x59", b"\x17\x72\x45\x38\x50\x90")
COMPRESSIONS = ("gzip", "zstd", "bzip2", "xz")
ARCHIVES = ("tar", "zip")


class Budget:
    """What one file as given may unfold into, over all its layers and members, in bytes."""

    def __init__(self, size: int, max_ratio: int, max_bytes: int) -> None:
        self._by_ratio = max(_FREE_OUTPUT, size * max_ratio)
        self._by_size = max_bytes
        self.read = 0  # bytes of the file itself read so far, for the progress shown

    def take(self, size: int) -> None:
        """Count `size` bytes. Raises StreamEnd where that is too much."""
        self._by_ratio -= size
        self._by_size -= size
        if self._by_size < 0:
            raise StreamEnd("size")
        if self._by_ratio < 0:
            raise StreamEnd("ratio")


@dataclass(frozen=True)
class Limits:
    """Bounds of one file's decompressed content; `budget`, where given, is shared with other files."""

    max_ratio: int
    max_bytes: int
    budget: Budget | None = None

    def take(self, step: int, out: int, read: int) -> None:
        """Count `step` bytes, with which `out` came of `read` bytes of the file. Raises StreamEnd beyond the bounds."""
        if out > self.max_bytes:
            raise StreamEnd("size")
        if out > _FREE_OUTPUT and out > self.max_ratio * max(read, 1):
            raise StreamEnd("ratio")
        if self.budget is not None:
            self.budget.take(step)


@dataclass(frozen=True)
class Peeled:
    """Compressions from the outside in, and what is inside: `none`, an archive, or what cannot be read."""

    layers: tuple[str, ...]
    inner: str

    @property
    def compression(self) -> str:
        """The layers as one word, `none` where there is none."""
        return "+".join(self.layers) or "none"


def sniff(head: bytes) -> str:
    """A compression, `tar`, `zip`, `none`, or the name of a container that cannot be read."""
    if head[:2] == b"\x1f\x8b":
        return "gzip"
    if head[:3] == b"BZh" and head[3:4] in b"123456789" and head[4:10] in _BZIP2_BLOCKS:
        return "bzip2"
    if head[:6] == b"\xfd7zXZ\x00":
        return "xz"
    if len(head) >= 4:
        magic = int.from_bytes(head[:4], "little")
        if magic == ZSTD_MAGIC or magic & 0xFFFFFFF0 == SKIPPABLE:
            return "zstd"
    if head[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
        return "zip"
    for mark, name in _OTHERS:
        if head.startswith(mark):
            return name
    if _is_tar(head):
        return "tar"
    return "none"


def _is_tar(head: bytes) -> bool:
    """By the mark of a tar header, or in the oldest form, which has none, by its checksum."""
    if len(head) < _HEAD or not head[0]:
        return False
    if head[257:262] == b"ustar":
        return b"\0" in head[:257]
    try:
        checksum = int(head[148:156].strip(b" \0"), 8)
    except ValueError:
        return False
    return checksum == sum(head) - sum(head[148:156]) + 8 * 32


def peel(path: Path, most: int) -> Peeled:
    """Which compressions lie around the content of a file, told by content; `inner` is `depth` beyond `most` layers."""
    layers: tuple[str, ...] = ()
    with path.open("rb") as file:
        head = file.read(_HEAD)
    while (inner := sniff(head)) in COMPRESSIONS:
        if len(layers) == most:
            return Peeled(layers, "depth")
        layers += (inner,)
        head = _head_of(path, layers)
    return Peeled(layers, inner)


def _head_of(path: Path, layers: tuple[str, ...]) -> bytes:
    head = b""
    try:
        for piece, _ in pieces(path, "+".join(layers), Limits(1 << 30, _FREE_OUTPUT)):
            head += piece[:_HEAD]
            if len(head) >= _HEAD:
                break
    except StreamEnd:
        pass
    return head[:_HEAD]


def pieces(path: Path, compression: str, limits: Limits) -> Iterator[tuple[bytes, int]]:
    """Decompressed pieces of a file and the compressed bytes read so far. Raises StreamEnd where it breaks off.

    `compression` is one name of `COMPRESSIONS`, or several joined by `+`, the outermost first.
    """
    names = compression.split("+")
    below: list[PieceReader] = []
    with path.open("rb") as file:
        source: Source = file
        for name in names[:-1]:
            # Each layer is bounded: one that yields next to nothing may stand on one that yields without end.
            inner = _bounded(decompressed(name, source), file, Limits(limits.max_ratio, limits.max_bytes))
            below.append(PieceReader(piece for piece, _ in inner))
            source = below[-1]
        try:
            yield from _bounded(decompressed(names[-1], source), file, limits)
        except StreamEnd as end:
            # A layer that broke off looks like an early end to the layer above it.
            raise StreamEnd(next((lower.broken for lower in below if lower.broken), end.reason)) from None
        for lower in below:
            if lower.broken:
                raise StreamEnd(lower.broken)


def _bounded(source: Iterator[bytes], file: BinaryIO, limits: Limits) -> Iterator[tuple[bytes, int]]:
    out = 0
    for piece in source:
        out += len(piece)
        read = file.tell()
        if 0 < out - limits.max_bytes < len(piece):
            yield piece[: limits.max_bytes - out], read
        limits.take(len(piece), out, read)
        yield piece, read


class PieceReader:
    """Pieces as a source to read from. It reads short only at the end; `broken` then says why, if it broke off."""

    def __init__(self, source: Iterator[bytes]) -> None:
        self._source = source
        self._piece = b""
        self._at = 0
        self._ended = False
        self.position = 0
        self.broken: str | None = None

    def read(self, size: int, /) -> bytes:
        """`size` bytes, fewer at the end only."""
        parts: list[bytes] = []
        left = size
        while left:
            if self._at == len(self._piece):
                if not self._next():
                    break
                continue
            part = self._piece[self._at : self._at + left]
            self._at += len(part)
            left -= len(part)
            parts.append(part)
        self.position += size - left
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _next(self) -> bool:
        if self._ended:
            return False
        try:
            self._piece = next(self._source)
        except StopIteration:
            self._ended = True
        except StreamEnd as end:
            self._ended = True
            self.broken = end.reason
        else:
            self._at = 0
        return not self._ended
