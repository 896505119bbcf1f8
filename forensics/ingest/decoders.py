"""How is a compressed stream read without trusting it? One decoder per form, each bounded in what it holds.

A stream that is cut or damaged ends with StreamEnd; a whole one ends without. Everything before that place was handed
on then, but for a MiB at most of damaged bzip2 and xz, whose library gives nothing of a call that fails. A zstd file is
walked frame by frame and block by block, because the library's own readers take a file that is cut at a block's edge
for a whole one. How much may come out in all is not decided here.
"""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable, Iterator
from typing import Any, Protocol

ZSTD_MAGIC = 0xFD2FB528
SKIPPABLE = 0x184D2A50
_READ = 1 << 14
_PIECE = 1 << 20
# What one decoder may hold: xz, lzma and zstd let the file name the size of the window.
_MEMORY = 256 << 20


class StreamEnd(Exception):
    """The stream ends before its time. `reason` is damaged_stream, ratio, size or memory."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Source(Protocol):
    """What can be read from: a file, a part of one, or a stream that is decompressed on the way."""

    def read(self, size: int, /) -> bytes:
        """Up to `size` bytes; none at the end."""


def decompressed(kind: str, source: Source) -> Iterator[bytes]:
    """Pieces of at most a few MiB. `deflate` and `lzma` are the bare streams of zip members.

    Raises StreamEnd where the stream is cut or damaged, or asks for too much memory."""
    if kind == "gzip":
        return _gzip(source)
    if kind == "zstd":
        return _zstd(source)
    if kind == "bzip2":
        return _streams(source, bz2.BZ2Decompressor)
    if kind == "xz":
        return _streams(source, lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_MEMORY))
    if kind == "deflate":
        return _deflate(source)
    if kind == "lzma":
        return _lzma(source)
    raise ValueError(kind)


def _streams(file: Source, make: Callable[[], Any]) -> Iterator[bytes]:
    """bzip2 and xz: decoders that hand out a bounded piece at a time."""
    decoder = make()
    fresh = True
    data = b""
    while True:
        if not data and (fresh or decoder.needs_input):
            data = file.read(_READ)
            if not data:
                if not fresh:
                    raise StreamEnd("damaged_stream")
                return
        if fresh:
            # Zero padding may follow a stream; nothing else may.
            data = data.lstrip(b"\0")
            if not data:
                continue
        try:
            piece = decoder.decompress(data, _PIECE)
        except (OSError, EOFError, ValueError):
            raise StreamEnd("damaged_stream") from None
        except MemoryError:
            raise StreamEnd("memory") from None
        except lzma.LZMAError as error:
            raise StreamEnd("memory" if "emory" in str(error) else "damaged_stream") from None
        fresh = False
        data = b""
        if piece:
            yield piece
        if decoder.eof:
            data = decoder.unused_data
            decoder = make()
            fresh = True


def _gzip(file: Source) -> Iterator[bytes]:
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
        before = member.copy()
        try:
            piece = member.decompress(data, _PIECE)
        except zlib.error:
            yield from _up_to_the_damage(before, data)
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


def _up_to_the_damage(member: Any, data: bytes) -> Iterator[bytes]:
    """What can still be read of a stretch that does not decode as a whole: it is evidence like the rest."""
    for at in range(len(data)):
        try:
            piece = member.decompress(data[at : at + 1])
        except zlib.error:
            return
        if piece:
            yield piece


def _deflate(file: Source) -> Iterator[bytes]:
    """One bare deflate stream, which must fill the source."""
    decoder: Any = zlib.decompressobj(wbits=-15)
    while True:
        data = file.read(_READ)
        if not data:
            break
        if decoder.eof:
            raise StreamEnd("damaged_stream")
        while not decoder.eof:
            before = decoder.copy()
            try:
                piece = decoder.decompress(data, _PIECE)
            except zlib.error:
                yield from _up_to_the_damage(before, data)
                raise StreamEnd("damaged_stream") from None
            data = decoder.unconsumed_tail
            if piece:
                yield piece
            if not data and len(piece) < _PIECE:
                break
        if decoder.eof and decoder.unused_data:
            raise StreamEnd("damaged_stream")
    if not decoder.eof:
        raise StreamEnd("damaged_stream")


def _lzma(file: Source) -> Iterator[bytes]:
    """The LZMA stream of a zip member: version, size of properties, properties, data. Its end need not be marked."""
    head = _exactly(file, 9)
    if int.from_bytes(head[2:4], "little") != 5 or head[4] >= 9 * 5 * 5:
        raise StreamEnd("damaged_stream")
    window = int.from_bytes(head[5:9], "little")
    if window > _MEMORY:
        raise StreamEnd("memory")
    properties = {"lc": head[4] % 9, "lp": head[4] // 9 % 5, "pb": head[4] // 45}
    try:
        decoder = lzma.LZMADecompressor(
            lzma.FORMAT_RAW, filters=[{"id": lzma.FILTER_LZMA1, "dict_size": max(window, 4096), **properties}]
        )
        while not decoder.eof:
            data = file.read(_READ) if decoder.needs_input else b""
            if not data and decoder.needs_input:
                return
            if piece := decoder.decompress(data, _PIECE):
                yield piece
    except (lzma.LZMAError, ValueError):
        raise StreamEnd("damaged_stream") from None


def _zstd(reader: Source) -> Iterator[bytes]:
    import zstandard

    while True:
        head = _partly(reader, 4)
        if not head:
            return
        if len(head) < 4:
            raise StreamEnd("damaged_stream")
        magic = int.from_bytes(head, "little")
        if magic & 0xFFFFFFF0 == SKIPPABLE:
            size = int.from_bytes(_exactly(reader, 4), "little")
            while size:
                skipped = reader.read(min(size, _READ))
                if not skipped:
                    raise StreamEnd("damaged_stream")
                size -= len(skipped)
            continue
        if magic != ZSTD_MAGIC:
            raise StreamEnd("damaged_stream")
        try:
            yield from _zstd_frame(reader, head, zstandard.ZstdDecompressor(max_window_size=_MEMORY).decompressobj())
        except zstandard.ZstdError:
            raise StreamEnd("damaged_stream") from None


def _zstd_frame(reader: Source, magic: bytes, frame: Any) -> Iterator[bytes]:
    descriptor = _exactly(reader, 1)[0]
    single = descriptor >> 5 & 1
    header = (0 if single else 1) + (0, 1, 2, 4)[descriptor & 3] + ((1 if single else 0), 2, 4, 8)[descriptor >> 6]
    fields = _exactly(reader, header)
    if not single and _window(fields[0]) > _MEMORY:
        raise StreamEnd("memory")
    pending = magic + bytes([descriptor]) + fields
    last = False
    while not last:
        mark = _exactly(reader, 3)
        number = int.from_bytes(mark, "little")
        last = bool(number & 1)
        kind = number >> 1 & 3
        if kind == 3:
            raise StreamEnd("damaged_stream")
        body = _exactly(reader, 1 if kind == 1 else number >> 3)
        # Block by block: what one that is damaged would have brought is lost with it, and nothing before it.
        if piece := frame.decompress(pending + mark + body):
            yield piece
        pending = b""
    if descriptor >> 2 & 1 and (piece := frame.decompress(_exactly(reader, 4))):
        yield piece
    if not frame.eof:
        raise StreamEnd("damaged_stream")


def _window(code: int) -> int:
    """Bytes of the window that a frame asks for."""
    base = 1 << (10 + (code >> 3))
    return base + base // 8 * (code & 7)


def _partly(reader: Source, size: int) -> bytes:
    parts = reader.read(size)
    while len(parts) < size:
        more = reader.read(size - len(parts))
        if not more:
            break
        parts += more
    return parts


def _exactly(reader: Source, size: int) -> bytes:
    data = _partly(reader, size)
    if len(data) < size:
        raise StreamEnd("damaged_stream")
    return data
