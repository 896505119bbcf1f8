"""One line of evidence to records, structure or a reason why not. Knows the parsers, not the files."""

from __future__ import annotations

import json
import re
from typing import Any

import orjson

from forensics.ingest import parsers
from forensics.ingest.envelope import ExactNumbers, Literal
from forensics.ingest.envelope_keys import Object
from forensics.ingest.loose_json import mended
from forensics.ingest.record import STRUCTURE, FileContext, Record, Reject
from forensics.ingest.sglang import is_structure

_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")
_TEXT_STARTS = (b"[", b"R", b"F")
_BRACKETS = (b"[", b"]", b"],", b"[]")
_JSON_STARTS = frozenset('{["-0123456789tfnNI')


class LineReader:
    """Reads the lines of one file with its format, and with the others where a line is not of that format."""

    def __init__(self, format_name: str, context: FileContext, *, forced: bool = False) -> None:
        self.context = context
        self._chosen = parsers.load(format_name)
        self._forced = forced and self._chosen.KIND == "object"
        self._objects = [parsers.load(name) for name in parsers.OBJECT_PARSERS]
        self._split = parsers.load("sglang_json").split
        self._text = parsers.load("sglang_text")
        self._engine_log = format_name in ("sglang_json", "sglang_text")

    def read(self, line: bytes) -> tuple[Record, ...]:
        """The records of a line that is not blank; none at all for recognised structure. Raises Reject."""
        try:
            return self._read(line)
        except RecursionError:
            raise Reject("too_deep") from None
        except Reject:
            raise
        except Exception:
            # A parser must not be able to stop the reading of a file; the line is kept as a reject.
            raise Reject("parser_error") from None

    def read_object(self, value: object, line: bytes) -> tuple[Record, ...]:
        """The records of a decoded JSON value that stands in `line`."""
        if not isinstance(value, dict):
            raise Reject("not_an_object")
        try:
            return self._dispatch(value)
        except ExactNumbers:
            return self._dispatch(_exact(line))

    def _read(self, line: bytes) -> tuple[Record, ...]:
        if line[:1] == b"[":
            parts = self._split(line)
            if parts is not None:
                event = load_json(parts[0], self.context)
                if not isinstance(event, dict):
                    raise Reject("not_an_object")
                try:
                    return self._stamped(event, parts)
                except ExactNumbers:
                    return self._stamped(_exact(parts[0]), parts)
        if line[:1] in _TEXT_STARTS and self._text.accepts_line(line):
            records: tuple[Record, ...] = self._text.parse_line(line, self.context)
            return records
        if self._engine_log and line[:1] != b"{":
            if is_structure(line):
                return STRUCTURE
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                raise Reject("bad_utf8") from None
            raise Reject("unrecognised_line")
        if line.strip() in _BRACKETS:
            return STRUCTURE
        return self.read_object(load_json(line, self.context), line)

    def _stamped(self, event: Object, parts: tuple[bytes, str | None, str]) -> tuple[Record, ...]:
        parser = self._objects[0]
        if not parser.accepts(event):
            raise Reject("unrecognised_line")
        records: tuple[Record, ...] = parser.parse(event, self.context, parts[1], parts[2])
        return records

    def _dispatch(self, value: Object) -> tuple[Record, ...]:
        parser = self._chosen
        if not self._forced and (parser.KIND != "object" or not parser.accepts(value)):
            for other in self._objects:
                if other.accepts(value):
                    parser = other
                    break
            else:
                parser = self._objects[-1]
        records: tuple[Record, ...] = parser.parse(value, self.context)
        return records


def load_json(line: bytes, context: FileContext) -> Any:
    """The JSON value of a line. Raises Reject with the reason where it is none.

    What the fast parser refuses is read again by a lenient one: lone surrogates become U+FFFD, and NaN, Infinity and
    raw control characters, which Python programs do write, are accepted; each is counted as a notice.
    """
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        return _lenient(line, context)


def _lenient(line: bytes, context: FileContext) -> Any:
    if line.startswith(b"\xef\xbb\xbf"):
        context.notice("byte_order_mark")
        return load_json(line[3:], context)
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        raise Reject("bad_utf8") from None
    if text.lstrip()[:1] not in _JSON_STARTS:
        raise Reject("bad_json")
    try:
        value = json.loads(text, strict=False)
    except RecursionError:
        raise Reject("too_deep") from None
    except ValueError:
        inner = array_line(line)
        if inner is None:
            raise Reject("bad_json") from None
        return load_json(inner, context)
    if _SURROGATE_ESCAPE.search(line):
        context.notice("lone_surrogate")
        return mended(value)
    context.notice("lenient_json")
    return value


def array_line(line: bytes) -> bytes | None:
    """The record in a line of an array that is too long to be read as one document; None where the line is no such."""
    inner = line.strip()
    opened = inner[:1] == b"[" and inner[1:].lstrip()[:1] == b"{"
    if opened:
        inner = inner[1:].lstrip()
    closed = inner[-1:] in (b",", b"]") and inner[:-1].rstrip()[-1:] == b"}"
    if closed:
        inner = inner[:-1].rstrip()
    return inner if (opened or closed) and inner[:1] == b"{" else None


def _exact(line: bytes) -> Object:
    text = (array_line(line) or line).decode("utf-8-sig")
    value = json.loads(text, strict=False, parse_float=Literal, parse_constant=Literal)
    if not isinstance(value, dict):
        raise Reject("not_an_object")
    whole: Object = mended(value)
    return whole
