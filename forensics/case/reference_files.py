"""Which texts does a reference file hold? Plain text, NDJSON, folders, zip, gzip and zstd; nothing else is looked into.

Texts come in pieces of bounded size, so that a file of any size can be read in the memory of a few pieces. A long plain
text is cut with an overlap, so that no run of words is lost at a cut. Files are never written, links never followed,
names inside an archive never used as paths.
"""

from __future__ import annotations

import codecs
import gzip
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import orjson

from forensics.case.errors import LimitHit, MissingInput, UsageError

PIECE = 4 << 20  # bytes read at a time
OVERLAP = 4096  # code points of a plain text that its next piece repeats
LINE = 64 << 20  # bytes of the longest NDJSON line that is read
FREE_BYTES = 64 << 20  # a compressed file may unfold to this much,
RATIO = 1000  # and beyond it to this many times its size
LINES = (".jsonl", ".ndjson")
PACKED = (".gz", ".zst")


@dataclass
class Account:
    """What became of the parts of a reference file."""

    texts: int = 0
    code_points: int = 0
    rejected: int = 0  # lines without the field, or that are no JSON; files that are no text


def texts_of(path: Path, field: str, account: Account) -> Iterator[str]:
    """Texts of a file or of all files in a folder, sorted by name; counted in `account`.

    `field` is the dotted path of the text in an NDJSON line. Raises MissingInput, UsageError and LimitHit.
    """
    if path.is_dir():
        files = [file for file in sorted(path.rglob("*")) if file.is_file() and not file.is_symlink()]
        if not files:
            raise MissingInput(f"{path} holds no file")
    elif path.is_file():
        files = [path]
    else:
        raise MissingInput(f"{path} is not there")
    for file in files:
        size = file.stat().st_size
        with file.open("rb") as source:
            if zipfile.is_zipfile(source):
                yield from _zipped(source, field, account)
            else:
                source.seek(0)
                yield from _stream(source, file.name, size, field, account)


def _zipped(source: IO[bytes], field: str, account: Account) -> Iterator[str]:
    with zipfile.ZipFile(source) as archive:
        for member in sorted(archive.infolist(), key=lambda m: (m.filename, m.header_offset)):
            if member.is_dir():
                continue
            if member.flag_bits & 1:
                account.rejected += 1  # encrypted
                continue
            try:
                with archive.open(member) as stream:
                    bounded = _Bounded(stream, member.compress_size)
                    yield from _stream(bounded, member.filename, member.compress_size, field, account)
            except (zipfile.BadZipFile, NotImplementedError, EOFError):
                account.rejected += 1


def _stream(source: Any, name: str, size: int, field: str, account: Account) -> Iterator[str]:
    lower = name.lower()
    opened = source
    if lower.endswith(".gz"):
        opened = _Bounded(gzip.GzipFile(fileobj=source), size)
    elif lower.endswith(".zst"):
        import zstandard

        opened = _Bounded(zstandard.ZstdDecompressor().stream_reader(source, read_across_frames=True), size)
    for ending in PACKED:
        lower = lower.removesuffix(ending)
    yield from _lines(opened, field, account) if lower.endswith(LINES) else _plain(opened, account)


def _plain(source: Any, account: Account) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8-sig")(errors="replace")
    kept = ""
    first = True
    while data := source.read(PIECE):
        if first and b"\0" in data[: 1 << 16]:
            account.rejected += 1  # no text
            return
        text = kept + decoder.decode(data)
        account.texts += first
        account.code_points += len(text) - len(kept)
        first = False
        yield text
        kept = text[-OVERLAP:]
    rest = decoder.decode(b"", final=True)
    if rest:
        account.code_points += len(rest)
        yield kept + rest


def _lines(source: Any, field: str, account: Account) -> Iterator[str]:
    for line in _split(source):
        if line is None:
            account.rejected += 1
            continue
        if not line.strip():
            continue
        try:
            value = orjson.loads(line)
        except orjson.JSONDecodeError:
            account.rejected += 1
            continue
        for part in field.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        if isinstance(value, str):
            account.texts += 1
            account.code_points += len(value)
            yield value
        else:
            account.rejected += 1


def _split(source: Any) -> Iterator[bytes | None]:
    """Lines by line feed alone; None for one longer than LINE."""
    rest = b""
    too_long = False
    while data := source.read(PIECE):
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            yield None if too_long else line
            too_long = False
        if len(rest) > LINE:
            rest, too_long = b"", True
    if rest or too_long:
        yield None if too_long else rest


class _Bounded:
    """A stream that ends with LimitHit when it unfolds beyond all measure."""

    def __init__(self, source: Any, packed: int) -> None:
        self._source = source
        self._left = max(FREE_BYTES, RATIO * packed)

    def read(self, size: int) -> bytes:
        try:
            data: bytes = self._source.read(size)
        except (OSError, EOFError) as error:
            if isinstance(error, gzip.BadGzipFile | EOFError):
                raise UsageError("the file is damaged: it does not unpack") from None
            raise
        except Exception as error:
            if type(error).__name__ in ("ZstdError", "error"):
                raise UsageError("the file is damaged: it does not unpack") from None
            raise
        self._left -= len(data)
        if self._left < 0:
            raise LimitHit(f"the file unfolds to more than {RATIO} times its size; nothing was added")
        return data
