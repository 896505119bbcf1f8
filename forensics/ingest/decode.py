"""Fields that hold something encoded: JSON in a text, base64, gzip, percent signs, Cloudflare's encryption.

What cannot be decoded stays as it was; JSON that is cut short is closed where it breaks off and marked as cut. Bounded:
nothing unpacks to more than 64 MiB.
"""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from typing import Any
from urllib.parse import unquote_plus

from forensics.ingest.loose_json import loads
from forensics.ingest.record import FileContext

STEPS = ("json", "json*", "base64", "gzip", "url", "cloudflare")
_MOST_BYTES = 64 << 20
_MOST_LAYERS = 3
_DEEPEST = 200
_TOKEN = re.compile(r'[\[\]{},:]|"(?:[^"\\]|\\.)*+(?:"|\\\Z)?|[^\s\[\]{},:"]++', re.DOTALL)
_HALF_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?\Z")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]*={0,2}\Z")


class CutObject(dict[str, Any]):
    """An object whose JSON text was cut short; what stood before the cut is in it."""


class CutList(list[Any]):
    """A list whose JSON text was cut short."""


class Encrypted(dict[str, Any]):
    """An encrypted object for which there is no key."""


def decoded(value: Any, chain: tuple[str, ...], context: FileContext) -> Any:
    """`value` with the steps of `chain` undone, as far as they can be."""
    for step in chain:
        if step == "json":
            value = _json(value)
        elif step == "json*":
            for _ in range(_MOST_LAYERS):
                inner = _json(value)
                if inner is value:
                    break
                value = inner
        elif step == "cloudflare":
            from forensics.ingest.cloudflare import opened

            value = opened(value, context)
        else:
            inner = _packed(value, step)
            if inner is None:
                context.notice("undecodable_field")
                break
            value = inner
    if isinstance(value, bytes):
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError:
            context.notice("undecodable_field")
            return None
    return value


def _json(value: Any) -> Any:
    """The value of a JSON text; the same object where it is none."""
    if isinstance(value, bytes):
        try:
            value = value.decode("utf-8")
        except UnicodeDecodeError:
            return value
    if not isinstance(value, str):
        return value
    text = value.strip()
    if text[:1] not in ("{", "[", '"'):
        return value
    try:
        return loads(text)
    except ValueError:
        pass
    closed = closed_json(text)
    return value if closed is None else closed


def closed_json(text: str) -> CutObject | CutList | None:
    """The object or list of a JSON text that breaks off, closed at the break; None where it is no such text."""
    stack: list[str] = []
    safe = 0  # up to here the text is whole members and elements
    closers = ""
    expecting_key = False
    position = 0
    for match in _TOKEN.finditer(text):
        piece = match.group()
        position = match.end()
        if piece in "[{":
            stack.append("}" if piece == "{" else "]")
            expecting_key = piece == "{"
            if len(stack) > _DEEPEST:
                return None
            safe, closers = position, "".join(reversed(stack))
        elif piece in "]}":
            if not stack or stack.pop() != piece:
                return None
            if not stack:
                return None  # it is complete, or not JSON at all
            safe, closers = position, "".join(reversed(stack))
        elif piece == ",":
            expecting_key = bool(stack) and stack[-1] == "}"
        elif piece == ":":
            expecting_key = False
        elif expecting_key:
            continue
        elif piece[0] == '"' and stack:
            if len(piece) > 1 and piece.endswith('"') and _ends_whole(piece):
                safe, closers = position, "".join(reversed(stack))
            elif position == len(text):
                cut = _HALF_ESCAPE.sub("", piece) if _open_escape(piece) else piece
                return _made(text[: match.start()] + cut + '"' + "".join(reversed(stack)))
        elif stack and position < len(text):
            safe, closers = position, "".join(reversed(stack))
    if not stack:
        return None
    return _made(text[:safe] + closers)


def _ends_whole(piece: str) -> bool:
    """Whether the last quote of a text piece closes it."""
    slashes = len(piece) - 1 - len(piece[:-1].rstrip("\\"))
    return slashes % 2 == 0


def _open_escape(piece: str) -> bool:
    """Whether a text that breaks off does so inside an escape."""
    match = _HALF_ESCAPE.search(piece)
    if match is None:
        return False
    before = piece[: match.start()]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 0


def _made(text: str) -> CutObject | CutList | None:
    try:
        value = loads(text)
    except ValueError:
        return None
    return CutObject(value) if isinstance(value, dict) else CutList(value) if isinstance(value, list) else None


def _packed(value: Any, step: str) -> bytes | str | None:
    """`value` without one layer of packing; None where it has no such layer."""
    if step == "url":
        return unquote_plus(value) if isinstance(value, str) else None
    data = value.encode("utf-8", "replace") if isinstance(value, str) else value
    if not isinstance(data, bytes):
        return None
    if step == "base64":
        text = b"".join(data.split()).decode("ascii", "replace")
        if len(text) > _MOST_BYTES or not _BASE64.match(text):
            return None
        try:
            return base64.b64decode(text.replace("-", "+").replace("_", "/") + "=" * (-len(text.rstrip("=")) % 4))
        except (binascii.Error, ValueError):
            return None
    unpacker = zlib.decompressobj(wbits=31)
    try:
        content = unpacker.decompress(data, _MOST_BYTES)
    except zlib.error:
        return None
    return content if unpacker.eof else None
