"""What can a reader, or a program of his, get out of the bytes of a file? Judges nothing of what it finds.

A file is given as several views: the text as it stands; markup with tags gone and entities undone; the strings of JSON
(notebooks too); backslash, percent and quoted-printable escapes undone; what base64 and hexadecimal hold; members of
zip archives and gzip streams; and all of that again of what was found, three deep. Bounded: what is too large, no text,
or an archive too deep is named in `unread`, so that nobody takes it for checked; a text written in more than three
layers is a view as it stands there, its inner layers are not undone.
"""

from __future__ import annotations

import base64
import binascii
import html
import io
import json
import quopri
import re
import unicodedata
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from urllib.parse import unquote_to_bytes

DEPTH = 3
MOST_BYTES = 64 << 20  # of one file, unfolded
MOST_MEMBERS = 1_000
MOST_VIEWS = 10_000
SHORTEST = 8  # bytes that an encoded passage must hold to be worth a look
SHORTEST_GZIP = 18  # bytes of a gzip stream that holds nothing
_SHORT = 200  # signs of a passage of which is kept what it holds: our own words come in every file

_TAG = re.compile(
    r"<[/!?]?[A-Za-z](?>[^<>\"']{0,2000})(?>(?:\"[^\"]{0,4000}\"|'[^']{0,4000}')(?>[^<>\"']{0,2000})){0,40}>"
)
_EDGES = re.compile(r"<!--|-->|<!\[CDATA\[|\]\]>")
_ESCAPE = re.compile(
    r"\\(?:u\{([0-9A-Fa-f]{1,6})\}|u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})|U([0-9A-Fa-f]{8})|([nrtbf/\"'\\]))"
)
_PERCENT = re.compile(r"%[0-9A-Fa-f]{2}")
_QUOTED = re.compile(r"=[0-9A-Fa-f]{2}|=\r?\n")
# Patterns that are looked for everywhere begin with a set of signs: `re` passes over all others at once.
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{12,}={0,2}")
_LINE = 20  # signs of the shortest line of wrapped base64
# From the beginning of a run of signs only: tried from each sign of a long one, it would take the square of its length.
_WRAPPED = re.compile(r"(?<![A-Za-z0-9+/])(?:[A-Za-z0-9+/]{20,}={0,2}\r?\n[ \t]*)+[A-Za-z0-9+/]+={0,2}")
# Base64 of any text of that length has both; one that has not is met once in thousands.
_MIXED = re.compile(r"[A-Z][^A-Z]*[a-z]|[a-z][^a-z]*[A-Z]")
_HEX = re.compile(r"[0-9A-Fa-f][0-9A-Fa-f][ :]?(?:[0-9A-Fa-f]{2}[ :]?){11,}")
# Of Markdown, inside a word: outside of words they part nothing.
_MARKS = re.compile(
    r"[*`~\\](?:(?<=[\w.@-][*`])[*`]{0,2}(?=[\w@-]|\.\w)|(?<=[\w.@-]~)~(?=[\w@-]|\.\w)|(?<=\\)(?=[!-/:-@\[-`{-~]))"
)
_WIDE = re.compile("[\uff01-\uff5e]")
_CONTROL = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}


@dataclass(frozen=True)
class View:
    """One text of a file. `place`: how it is had, such as `base64 at 120 of as read`. Its repr holds no text."""

    path: str
    place: str
    text: str = field(repr=False)


@dataclass
class Unfolded:
    """The views of a file, and the places that could not be read."""

    views: list[View] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)


def unfold(path: str, data: bytes) -> Unfolded:
    """Every view of a file; the name of the file is one of them."""
    work = _Work(path)
    work.raw("", data, 0)
    work.found.views.append(View(path, "name of the file", path))
    return work.found


class _Work:
    def __init__(self, path: str) -> None:
        self.path = path
        self.found = Unfolded()
        self.seen: dict[str, int] = {}  # text and the least depth at which it was met
        self.left = MOST_BYTES

    def raw(self, place: str, data: bytes, depth: int) -> None:
        """Bytes that may be an archive, a stream or a text."""
        self.left -= len(data)
        if self.left < 0 or len(self.found.views) > MOST_VIEWS:
            self.found.unread.append(f"{place or 'file'}: too large")
        elif data[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
            self.archive(place, data, depth)
        elif data[:2] == b"\x1f\x8b":
            self.stream(place, data, depth)
        else:
            text = _decoded(data)
            if text is None:
                self.found.unread.append(f"{place or 'file'}: neither text nor an archive that is known")
            else:
                self.text(place or "text", text, depth)

    def archive(self, place: str, data: bytes, depth: int) -> None:
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                members = archive.infolist()
                if depth >= DEPTH or len(members) > MOST_MEMBERS:
                    self.found.unread.append(f"{place or 'file'}: too deep, or too many members")
                    return
                for number, member in enumerate(members, start=1):
                    where = _of(f"member {number}", place)
                    self.text(_of("name", where), member.filename, DEPTH)
                    if member.comment:
                        self.raw(_of("comment", where), member.comment, DEPTH)
                    if member.file_size > self.left:
                        self.found.unread.append(f"{where}: too large")
                        continue
                    with archive.open(member) as file:
                        self.raw(where, file.read(self.left + 1), depth + 1)
        except (zipfile.BadZipFile, RuntimeError, NotImplementedError, zlib.error, OSError, EOFError):
            self.found.unread.append(f"{place or 'file'}: an archive that cannot be opened")

    def stream(self, place: str, data: bytes, depth: int) -> None:
        stream = zlib.decompressobj(wbits=31)
        try:
            unpacked = stream.decompress(data, max(1, self.left))
        except zlib.error:
            self.found.unread.append(f"{place or 'file'}: a gzip stream that cannot be opened")
            return
        if depth >= DEPTH or not stream.eof or stream.unused_data:
            self.found.unread.append(f"{place or 'file'}: too deep, too large, or with more behind it")
        else:
            self.raw(_of("gzip", place), unpacked, depth + 1)

    def text(self, place: str, text: str, depth: int) -> None:
        """A text, and what stands in it behind one more layer of writing."""
        met = self.seen.get(text)
        if met is not None and met <= depth:
            return
        self.seen[text] = depth
        if met is None:
            self.found.views.append(View(self.path, place, text))
        if depth >= DEPTH:
            return
        for how, inner in _layers(text):
            self.left -= len(inner)
            if self.left < 0 or len(self.found.views) > MOST_VIEWS:
                self.found.unread.append(f"{place}: too large")
                return
            if isinstance(inner, bytes):
                self.inner_bytes(_of(how, place), inner, depth + 1)
            else:
                self.text(_of(how, place), inner, depth + 1)

    def inner_bytes(self, place: str, data: bytes, depth: int) -> None:
        """What base64 or hexadecimal holds; digests and keys hold nothing that can be read, and are passed over."""
        if data[:4] == b"PK\x03\x04" or _is_gzip(data):
            self.raw(place, data, depth)
            return
        text = _readable_short(data) if len(data) <= _SHORT else _readable(data)
        if text is not None:
            self.text(place, text, depth)


def _of(how: str, place: str) -> str:
    return f"{how} of {place}" if place else how


def _is_gzip(data: bytes) -> bool:
    """Does a gzip stream begin here (RFC 1952, 2.3)? Its first two bytes alone stand in one of 65,000 digests and names
    that are read as base64; what has another method, or flags that must not be set, nobody can open."""
    return data[:3] == b"\x1f\x8b\x08" and len(data) >= SHORTEST_GZIP and not data[3] & 0xE0


def _decoded(data: bytes) -> str | None:
    """Bytes as text: UTF-8, or UTF-16 where it is that; None where it is neither."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace")
    sample = data[:4096]
    if sample.count(0) > len(sample) // 8:
        for name, zeros, signs in (("utf-16-le", sample[1::2], sample[::2]), ("utf-16-be", sample[::2], sample[1::2])):
            if zeros.count(0) > len(zeros) // 2 and not signs.count(0):
                return data.decode(name, "replace")
        return None
    text = data.decode("utf-8-sig", "replace")
    return None if text.count("\ufffd") > max(8, len(text) // 20) else text


def _readable(data: bytes) -> str | None:
    """Bytes as text where nearly all of it can be printed."""
    text = _decoded(data)
    if text is None or sum(sign.isprintable() or sign.isspace() for sign in text) < 0.9 * len(text):
        return None
    return text


# Files of one run share their words, and so most of what looks like an encoded passage.
_readable_short = lru_cache(maxsize=4096)(_readable)


def _layers(text: str) -> Iterable[tuple[str, str | bytes]]:
    """The text with one layer of writing undone, for each layer that it shows signs of."""
    return _layers_short(text) if len(text) <= _SHORT else _undone(text)


@lru_cache(maxsize=4096)
def _layers_short(text: str) -> tuple[tuple[str, str | bytes], ...]:
    return tuple(_undone(text))


def _undone(text: str) -> Iterator[tuple[str, str | bytes]]:
    stripped = text.lstrip()
    if stripped[:1] in ("{", "[", '"'):
        strings = _json_text(text)
        if strings is not None:
            yield "strings", strings
    if "<" in text:
        yield from _markup(text)
    elif "&" in text:
        plain = html.unescape(text)
        if plain != text:
            yield "entities", plain
    if _MARKS.search(text):
        yield "marks taken out", _MARKS.sub("", text)
    if _WIDE.search(text):
        yield "plain forms", unicodedata.normalize("NFKC", text)
    if "\\" in text and _ESCAPE.search(text):
        yield "escapes", _ESCAPE.sub(_unescape, text)
    if _PERCENT.search(text):
        yield "percent", unquote_to_bytes(text.replace("+", " ")).decode("utf-8", "replace")
    if _QUOTED.search(text):
        yield "quoted-printable", quopri.decodestring(text.encode("utf-8", "replace")).decode("utf-8", "replace")
    tokens = list(_BASE64.finditer(text))
    # Each line of wrapped base64 is such a token or the end of one.
    if any(token.end() - token.start() >= _LINE and text.startswith(("\r", "\n"), token.end()) for token in tokens):
        tokens += _WRAPPED.finditer(text)
    for match in tokens:
        if not _MIXED.search(match.group()):
            continue  # a word, a number, a digest
        token = match.group()
        for inner in _base64_short(token) if len(token) <= _SHORT else _base64(token):
            yield f"base64 at {match.start()}", inner
    for match in _HEX.finditer(text):
        signs = re.sub("[ :]", "", match.group())
        yield f"hexadecimal at {match.start()}", bytes.fromhex(signs[: len(signs) // 2 * 2])


def _base64(token: str) -> tuple[bytes, ...]:
    """What a token holds, read from each of the four places where its first group may begin."""
    made = []
    plain = re.sub(r"\s", "", token).rstrip("=").replace("-", "+").replace("_", "/")
    for skip in range(4):
        part = plain[skip:]
        part = part[: len(part) - (len(part) % 4 == 1)]
        try:
            inner = base64.b64decode(part + "=" * (-len(part) % 4), validate=True)
        except (binascii.Error, ValueError):
            continue
        if len(inner) >= SHORTEST:
            made.append(inner)
    return tuple(made)


_base64_short = lru_cache(maxsize=4096)(_base64)


def _unescape(match: re.Match[str]) -> str:
    braced, four, two, eight, short = match.groups()
    if short is not None:
        return _CONTROL.get(short, short)
    code = int(braced or four or two or eight, 16)
    return chr(code) if code < 0x110000 else match.group()


def _json_text(text: str) -> str | None:
    """All keys and strings, in order. Lists of strings are joined without a gap, as notebooks keep their lines."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return "\n".join(_json_strings(value))


def _json_strings(value: object) -> Iterator[str]:
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            for key, inner in reversed(item.items()):
                waiting += [inner, str(key)]
        elif isinstance(item, list):
            if item and all(isinstance(part, str) for part in item):
                yield "".join(item)
            else:
                waiting += reversed(item)


def _markup(text: str) -> Iterator[tuple[str, str]]:
    """Markup without its tags, and the tags; entities undone. By patterns of bounded reach and not by a parser: the
    standard one takes the square of the length of markup that never closes.

    Tags part no words: a passage is found across them. Where entities hide signs, once more with tags as spaces, so
    that a number does not grow into its neighbour; without entities the text as it stands shows that.
    """
    bare = _EDGES.sub("", text)
    yield "as read", html.unescape(_TAG.sub("", bare))
    if "&" in text:
        yield "as read, apart", html.unescape(_TAG.sub(" ", bare))
        yield "tags", html.unescape(" ".join(_TAG.findall(text)))
