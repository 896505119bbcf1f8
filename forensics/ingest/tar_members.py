"""What does a tar archive hold? Walks its headers in one pass, forward, in bounded memory; writes nothing.

The library's own reader ends at a damaged or cut header as if the archive ended there, and takes whatever size a header
names into memory. Here the end is the end only where it is marked, names and maps are bounded, what is damaged is
passed over up to the next sound header, and archives that were put one after the other are read on.
"""

from __future__ import annotations

import contextlib
import hashlib
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass, field

from forensics.ingest.decoders import StreamEnd
from forensics.ingest.entries import Entry, Gap, shown
from forensics.ingest.streams import PieceReader

_BLOCK = tarfile.BLOCKSIZE
_STEP = 1 << 20
_EXTRA_MOST = 1 << 20
_HOLES_MOST = 100_000
_FILES = (tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.CONTTYPE)
_LINKS = (tarfile.LNKTYPE, tarfile.SYMTYPE)
_NO_DATA = (*_LINKS, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE)
_PAX = (tarfile.XHDTYPE, tarfile.SOLARIS_XHDTYPE)


@dataclass
class _Extra:
    """What extended headers say of the next entry."""

    name: str | None = None
    size: int | None = None
    sparse: dict[str, str] = field(default_factory=dict)


class _Bad(Exception):
    """A header that cannot be right."""


def tar_entries(reader: PieceReader) -> Iterator[Entry | Gap]:
    """Entries and gaps in the order of the archive. Raises StreamEnd where the archive breaks off."""
    extra = _Extra()
    ended = False
    gap: tuple[int, hashlib._Hash] | None = None
    while True:
        start = reader.position
        block = reader.read(_BLOCK)
        if not block.strip(b"\0") and (len(block) == _BLOCK or ended):
            if len(block) < _BLOCK:
                break
            ended = ended or gap is None
            if gap is not None:
                gap[1].update(block)
            continue
        try:
            header = _header(block)
        except _Bad:
            if len(block) < _BLOCK and gap is None and not ended:
                raise StreamEnd(reader.broken or "damaged_stream") from None
            gap = gap or (start, hashlib.sha256())
            gap[1].update(block)
            if len(block) < _BLOCK:
                break
            continue
        if gap is not None:
            yield Gap(gap[0], start - gap[0], gap[1].hexdigest())
            gap = None
        ended = False
        if header.type in (*_PAX, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK):
            digest = hashlib.sha256(block)
            try:
                _extend(extra, header, reader, digest)
            except _Bad:
                yield Gap(start, reader.position - start, digest.hexdigest())
                extra = _Extra()
            continue
        yield from _entry(header, block, extra, start, reader)
        extra = _Extra()
    if gap is not None:
        yield Gap(gap[0], reader.position - gap[0], gap[1].hexdigest())
    if reader.broken:
        raise StreamEnd(reader.broken)


def _header(block: bytes) -> tarfile.TarInfo:
    try:
        header = tarfile.TarInfo.frombuf(block, "utf-8", "replace")
    except (tarfile.TarError, ValueError, OverflowError):
        raise _Bad from None
    if header.size < 0:
        raise _Bad
    return header


def _extend(extra: _Extra, header: tarfile.TarInfo, reader: PieceReader, digest: hashlib._Hash) -> None:
    data = b""
    for piece in _data(reader, _padded(header.size)):
        digest.update(piece)
        data = piece if header.size <= _EXTRA_MOST else b""
    if header.size > _EXTRA_MOST:
        raise _Bad
    data = data[: header.size]
    if header.type == tarfile.GNUTYPE_LONGNAME:
        extra.name = shown(data.split(b"\0", 1)[0])
    elif header.type in _PAX:
        for key, value in _pax(data):
            if key == "path":
                extra.name = shown(value)
            elif key == "size":
                extra.size = _number(value)
            elif key.startswith("GNU.sparse."):
                extra.sparse[key.removeprefix("GNU.sparse.")] = value


def _pax(data: bytes) -> Iterator[tuple[str, str]]:
    at = 0
    while at < len(data):
        space = data.find(b" ", at, at + 20)
        length = _number(data[at:space].decode("ascii", "replace")) if space > at else 0
        record = data[space + 1 : at + length]
        key, equals, value = record.partition(b"=")
        if at + length > len(data) or not equals or record[-1:] != b"\n":
            raise _Bad
        yield key.decode("utf-8", "replace"), value[:-1].decode("utf-8", "replace")
        at += length


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise _Bad
    return int(text)


def _entry(
    header: tarfile.TarInfo, block: bytes, extra: _Extra, start: int, reader: PieceReader
) -> Iterator[Entry | Gap]:
    stored = 0 if header.type in _NO_DATA else header.size if extra.size is None else extra.size
    end = reader.position + _padded(stored)
    name = extra.sparse.get("name") or extra.name or shown(header.name)
    kind = "special"
    if header.type in _LINKS:
        kind = "link"
    elif header.type == tarfile.DIRTYPE:
        kind = "folder"
    elif header.type in _FILES or header.type == tarfile.GNUTYPE_SPARSE:
        kind = "file"
    old = header.type == tarfile.GNUTYPE_SPARSE and not extra.sparse
    if kind == "file" and (old or extra.sparse):
        size, parts = -1, tuple[tuple[int, int], ...]()
        with contextlib.suppress(_Bad):
            size, parts = _old_map(header, block, reader) if old else _pax_map(extra, reader, end)
        if old:
            # The blocks that such a map goes on in are no part of the member's size.
            end = reader.position + _padded(stored)
        left = end - reader.position
        if _fits(size, parts, left):
            chunks = _expanded(reader, size, parts)
            yield Entry(shown(name), kind, reader.position, sum(part[1] for part in parts), chunks)
        else:
            yield Entry(shown(name), kind, reader.position, left, _data(reader, left), "unsupported_member", "sparse")
    else:
        yield Entry(shown(name), kind, reader.position, stored, _data(reader, stored))
    _skip(reader, end - reader.position)


def _padded(size: int) -> int:
    return -(-size // _BLOCK) * _BLOCK


def _data(reader: PieceReader, size: int) -> Iterator[bytes]:
    while size:
        piece = reader.read(min(_STEP, size))
        if piece:
            yield piece
        size -= len(piece)
        if size and not piece:
            raise StreamEnd(reader.broken or "damaged_stream")


def _skip(reader: PieceReader, size: int) -> None:
    for _ in _data(reader, size):
        pass


def _old_map(header: tarfile.TarInfo, block: bytes, reader: PieceReader) -> tuple[int, tuple[tuple[int, int], ...]]:
    """Size and (offset, length) of the stretches that are stored, from the header of an old GNU sparse member."""
    parts: list[tuple[int, int]] = []
    try:
        size = tarfile.nti(block[483:495])  # type: ignore[attr-defined]
        fields, more = block[386:482], block[482]
        while True:
            for at in range(0, len(fields) - 23, 24):
                one = fields[at : at + 24]
                if one[0]:
                    parts.append((tarfile.nti(one[:12]), tarfile.nti(one[12:])))  # type: ignore[attr-defined]
            if not more:
                return size, tuple(parts)
            if len(parts) > _HOLES_MOST:
                raise _Bad
            following = reader.read(_BLOCK)
            if len(following) < _BLOCK:
                raise StreamEnd(reader.broken or "damaged_stream")
            fields, more = following[:504], following[504]
    except (tarfile.TarError, ValueError):
        raise _Bad from None


def _pax_map(extra: _Extra, reader: PieceReader, end: int) -> tuple[int, tuple[tuple[int, int], ...]]:
    """The same from extended headers; in version 1.0 the map stands before the data, which ends at `end`."""
    sparse = extra.sparse
    if sparse.get("major") == "1" and sparse.get("minor") == "0":
        text = b""
        numbers: list[bytes] = []
        count: int | None = None
        while count is None or len(numbers) < 1 + count:
            if reader.position >= end:
                raise _Bad
            block = reader.read(_BLOCK)
            if len(block) < _BLOCK:
                raise StreamEnd(reader.broken or "damaged_stream")
            lines = (text + block).split(b"\n")
            text = lines.pop()
            numbers += lines
            if numbers and count is None:
                count = 2 * _number(numbers[0].decode("ascii", "replace"))
            if len(numbers) > 2 * _HOLES_MOST or (len(text) > 20 and (count is None or len(numbers) < 1 + count)):
                raise _Bad
        values = [_number(number.decode("ascii", "replace")) for number in numbers[1 : 1 + count]]
        size = _number(sparse.get("realsize", ""))
    elif "map" in sparse:
        values = [_number(number) for number in sparse["map"].split(",")] if sparse["map"] else []
        size = _number(sparse.get("size", ""))
    else:
        raise _Bad
    if len(values) % 2:
        raise _Bad
    return size, tuple(zip(values[::2], values[1::2], strict=True))


def _fits(size: int, parts: tuple[tuple[int, int], ...], stored: int) -> bool:
    """Whether the stretches stand one after the other within the size, and are there."""
    position = total = 0
    for offset, length in parts:
        if offset < position or length < 0:
            return False
        position = offset + length
        total += length
    return position <= size and total <= stored


def _expanded(reader: PieceReader, size: int, parts: tuple[tuple[int, int], ...]) -> Iterator[bytes]:
    """A sparse member as the file it was made from: zeros where it has holes."""
    position = 0
    for offset, length in (*parts, (size, 0)):
        while position < offset:
            zeros = bytes(min(_STEP, offset - position))
            yield zeros
            position += len(zeros)
        yield from _data(reader, length)
        position += length
