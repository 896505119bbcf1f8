"""What does a zip archive hold? Its directory is read by the library, its members by bounded decoders of our own.

Members that share bytes are a way to unfold without end; only the first of them is read. Where the directory is missing
(a cut file), or a stretch begins with a member that it does not list (archives put one after the other), the members'
own headers are followed. Writes nothing, decrypts nothing.
"""

from __future__ import annotations

import contextlib
import hashlib
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from forensics.ingest.decoders import StreamEnd, decompressed
from forensics.ingest.entries import Entry, Gap, shown

_STEP = 1 << 20
_LOCAL = struct.Struct("<4s5H3I2H")
_MARK, _DIRECTORY_MARK, _END_MARK, _DESCRIPTOR_MARK = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06", b"PK\x07\x08"
_FORMS = {0: "stored", 8: "deflate", 12: "bzip2", 14: "lzma", 20: "zstd", 93: "zstd", 95: "xz"}
_ENCRYPTED = 0x2041
_SIZES_FOLLOW = 8
_UTF8 = 0x800
_DIRECTORY_BYTES = 256  # of the directory, per member that may be read


class _TooLarge(Exception):
    """The directory is larger than the limit on members allows."""


class _Guarded:
    """The file for the library to read the directory from; no read larger than allowed."""

    def __init__(self, file: BinaryIO, most: int) -> None:
        self._file = file
        self._most = most
        self.seek, self.tell = file.seek, file.tell

    def read(self, size: int = -1) -> bytes:
        if size > self._most:
            raise _TooLarge
        return self._file.read(size if size >= 0 else self._most)

    def seekable(self) -> bool:
        return True

    def close(self) -> None:
        """The file is closed by whoever opened it."""


@dataclass
class _Slice:
    """A stretch of a file as a source to read from. `broken` is set where the file ends within it."""

    file: BinaryIO
    position: int
    end: int

    def read(self, size: int, /) -> bytes:
        self.file.seek(self.position)
        data = self.file.read(min(size, self.end - self.position))
        self.position += len(data)
        return data


@dataclass(frozen=True)
class _Facts:
    """What a header or the directory says of a member."""

    name: str
    flags: int
    method: int
    crc: int
    stored: int
    size: int


def zip_entries(path: Path, max_members: int) -> Iterator[Entry | Gap]:
    """Entries and gaps in the order of the archive's bytes. Raises StreamEnd where it is damaged or cut."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        found: list[zipfile.ZipInfo] = []
        directory = None
        reason = "damaged_stream"
        with contextlib.suppress(
            zipfile.BadZipFile, NotImplementedError, struct.error, ValueError, OSError, EOFError, IndexError
        ):
            try:
                guarded = _Guarded(file, max(1 << 17, _DIRECTORY_BYTES * max_members))
                opened = zipfile.ZipFile(guarded)
                found = opened.infolist()
                directory = min(max(int(opened.start_dir), 0), size)
            except _TooLarge:
                reason = "members"
        if directory is None:
            yield from _unlisted(file, 0, size)
            raise StreamEnd(reason)
        reached = 0
        for info in sorted(found, key=lambda info: info.header_offset):
            # A damaged directory may point anywhere; what is counted stays inside the file, and is counted once.
            if min(info.header_offset, directory) > reached:
                yield from _between(file, reached, min(info.header_offset, directory))
                reached = min(info.header_offset, directory)
            facts = _Facts(
                shown(info.filename), info.flag_bits, info.compress_type, info.CRC, info.compress_size, info.file_size
            )
            start = _data_start(file, info.header_offset)
            end = (start or 0) + facts.stored
            outside = not reached <= info.header_offset < directory
            if outside or (start is not None and end > directory):
                # Its bytes are counted where they belong: here it counts none.
                yield Entry(facts.name, "file", max(info.header_offset, 0), 0, iter(()), "overlapping_member")
            elif start is None:
                yield Entry(facts.name, "file", info.header_offset, 0, _broken())
            else:
                yield _entry(file, facts, start, kind=_kind(info))
                reached = end
        yield from _between(file, reached, directory)
        end = max(_end_of(file, size), directory)
        if end < size:
            yield from _unlisted(file, end, size)


def _kind(info: zipfile.ZipInfo) -> str:
    mode = info.external_attr >> 16
    if info.is_dir():
        return "folder"
    if stat.S_ISLNK(mode):
        return "link"
    if mode and stat.S_IFMT(mode) and not stat.S_ISREG(mode):
        return "special"
    return "file"


def _entry(file: BinaryIO, facts: _Facts, start: int, *, kind: str = "file", listed: bool = True) -> Entry:
    form = _FORMS.get(facts.method)
    if facts.flags & _ENCRYPTED:
        return Entry(facts.name, kind, start, facts.stored, _raw(file, facts, start), "encrypted_member", "", listed)
    if form is None:
        name = f"method {facts.method}"
        return Entry(
            facts.name, kind, start, facts.stored, _raw(file, facts, start), "unsupported_member", name, listed
        )
    return Entry(facts.name, kind, start, facts.stored, _content(file, facts, start, form), listed=listed)


def _raw(file: BinaryIO, facts: _Facts, start: int) -> Iterator[bytes]:
    source = _Slice(file, start, start + facts.stored)
    while piece := source.read(_STEP):
        yield piece
    if source.position < source.end:
        raise StreamEnd("damaged_stream")


def _content(file: BinaryIO, facts: _Facts, start: int, form: str) -> Iterator[bytes]:
    """The member's bytes, checked against the size and checksum that the archive gives."""
    raw = _raw(file, facts, start)
    pieces = raw if form == "stored" else decompressed(form, _Slice(file, start, start + facts.stored))
    crc = size = 0
    for piece in pieces:
        crc = zlib.crc32(piece, crc)
        size += len(piece)
        yield piece
    if crc != facts.crc or size != facts.size:
        raise StreamEnd("damaged_stream")


def _broken(pieces: Iterable[bytes] = ()) -> Iterator[bytes]:
    yield from pieces
    raise StreamEnd("damaged_stream")


def _data_start(file: BinaryIO, offset: int) -> int | None:
    if offset < 0:
        return None
    file.seek(offset)
    head = file.read(_LOCAL.size)
    if len(head) < _LOCAL.size or head[:4] != _MARK:
        return None
    fields = _LOCAL.unpack(head)
    return offset + _LOCAL.size + int(fields[9]) + int(fields[10])


def _between(file: BinaryIO, start: int, end: int) -> Iterator[Entry | Gap]:
    """What stands between listed members: what may follow a member, or members that the directory does not list."""
    file.seek(start)
    head = file.read(min(32, end - start))
    at = next((at for at in (0, 12, 16, 20, 24) if head[at : at + 4] == _MARK), None)
    if at is not None:
        try:
            yield from _unlisted(file, start + at, end)
        except StreamEnd:
            yield Gap(end, 0, hashlib.sha256(b"").hexdigest())


def _end_of(file: BinaryIO, size: int) -> int:
    """Where the archive ends, its comment included: the library looks for the last mark in the same stretch."""
    start = max(size - (1 << 16) - 22, 0)
    file.seek(start)
    tail = file.read()
    at = tail.rfind(_END_MARK)
    return min(start + at + 22 + int.from_bytes(tail[at + 20 : at + 22], "little"), size) if at >= 0 else size


def _unlisted(file: BinaryIO, start: int, end: int) -> Iterator[Entry | Gap]:
    """Members by their own headers, one after the other, from `start` on. Raises StreamEnd where that ends early."""
    while start < end:
        file.seek(start)
        head = file.read(min(_LOCAL.size, end - start))
        if head[:4] in (_DIRECTORY_MARK, _END_MARK):
            # Another archive may follow the directory of this one.
            following = _next_archive(file, start, end)
            if following is None:
                return
            start = following
            continue
        if len(head) < _LOCAL.size or head[:4] != _MARK:
            digest = hashlib.sha256()
            source = _Slice(file, start, end)
            while piece := source.read(_STEP):
                digest.update(piece)
            yield Gap(start, end - start, digest.hexdigest())
            raise StreamEnd("damaged_stream")
        _, _, flags, method, _, _, crc, stored, size, name_length, extra_length = _LOCAL.unpack(head)
        tail = file.read(name_length + extra_length)
        begin = start + _LOCAL.size + name_length + extra_length
        if begin > end:
            raise StreamEnd("damaged_stream")
        name = shown(tail[:name_length] if flags & _UTF8 else tail[:name_length].decode("cp437"))
        stored, size = _long_sizes(tail[name_length:], stored, size)
        follows = bool(flags & _SIZES_FOLLOW) and not stored
        if follows:
            measured = _measure(file, method, flags, begin, end)
            if measured is None:
                deflated = _FORMS.get(method) == "deflate" and not flags & _ENCRYPTED
                pieces = decompressed("deflate", _Slice(file, begin, end)) if deflated else ()
                yield Entry(name, "file", begin, end - begin, _broken(pieces), listed=False)
                raise StreamEnd("damaged_stream")
            stored, size, crc = measured
        facts = _Facts(name, flags, method, crc, min(stored, end - begin), size)
        kind = "folder" if name.endswith("/") and not size else "file"
        entry = _entry(file, facts, begin, kind=kind, listed=False)
        yield entry
        if begin + stored > end:
            raise StreamEnd("damaged_stream")
        start = begin + stored
        if follows:
            start = _after_descriptor(file, start, end)


def _long_sizes(extra: bytes, stored: int, size: int) -> tuple[int, int]:
    """The sizes from the zip64 field, where the short ones are all ones."""
    at = 0
    while at + 4 <= len(extra):
        kind, length = struct.unpack_from("<2H", extra, at)
        if kind == 1:
            values = extra[at + 4 : at + 4 + length]
            longs = [int.from_bytes(values[i : i + 8], "little") for i in range(0, len(values) - 7, 8)]
            if size == 0xFFFFFFFF and longs:
                size = longs.pop(0)
            if stored == 0xFFFFFFFF and longs:
                stored = longs.pop(0)
            break
        at += 4 + length
    return stored, size


def _measure(file: BinaryIO, method: int, flags: int, begin: int, end: int) -> tuple[int, int, int] | None:
    """Stored size, size and checksum of a member whose header does not tell; None where it cannot be told."""
    if method != 8 or flags & _ENCRYPTED:
        return None
    decoder = zlib.decompressobj(wbits=-15)
    source = _Slice(file, begin, end)
    crc = size = 0
    data = b""
    while not decoder.eof:
        data = data or source.read(1 << 14)
        if not data:
            return None
        try:
            piece = decoder.decompress(data, _STEP)
        except zlib.error:
            return None
        data = decoder.unconsumed_tail
        crc = zlib.crc32(piece, crc)
        size += len(piece)
        if size > max(64 << 20, 1100 * (source.position - begin)):
            return None
    return source.position - len(decoder.unused_data) - begin, size, crc


def _after_descriptor(file: BinaryIO, start: int, end: int) -> int:
    """Where the next header begins after a member's descriptor, which comes in four lengths."""
    file.seek(start)
    head = file.read(min(32, end - start))
    marks = (_MARK, _DIRECTORY_MARK, _END_MARK)
    lengths = (16, 24) if head[:4] == _DESCRIPTOR_MARK else (12, 20)
    for length in lengths:
        if head[length : length + 4] in marks or start + length == end:
            return start + length
    return start + lengths[0]


def _next_archive(file: BinaryIO, start: int, end: int) -> int | None:
    """The first member's header after a directory, where another archive was put behind it."""
    file.seek(start)
    held = b""
    position = start
    while position < end:
        piece = file.read(min(_STEP, end - position))
        if not piece:
            break
        held += piece
        # A directory holds names of files only; its end mark is what a member may follow.
        at = held.find(_END_MARK)
        if at >= 0:
            base = position + len(piece) - len(held)
            file.seek(base + at)
            tail = file.read(min(22, end - base - at))
            if len(tail) < 22:
                return None
            following = base + at + 22 + int.from_bytes(tail[20:22], "little")
            file.seek(following)
            return following if following < end and file.read(4) == _MARK else None
        position += len(piece)
        held = held[-3:]
    return None
