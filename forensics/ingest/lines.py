"""One unit of evidence to items, structure or a reason why not. Knows the parsers, not the files."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import orjson

from forensics.ingest.envelope import ExactNumbers, Literal
from forensics.ingest.envelope_keys import Object
from forensics.ingest.loose_json import mended
from forensics.ingest.record import HELD, STRUCTURE, FileContext, Item, Reject
from forensics.ingest.registry import FALLBACK, registry

_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")
_BRACKETS = (b"[", b"]", b"],", b"[]")
_JSON_STARTS = frozenset('{["-0123456789tfnNI')


class LineReader:
    """Reads the units of one file with its format, and with the others where a unit is not of that format."""

    def __init__(
        self, format_name: str, context: FileContext, *, forced: bool = False, profiles: tuple[str, ...] = ()
    ) -> None:
        self.context = context
        self.known = registry(profiles)
        self.last: Any | None = None  # the parser that read the latest unit
        self._chosen = self.known.load(format_name)
        self._forced = forced and self._chosen.KIND == "object"
        self._stamped_json = self.known.load("sglang_json")
        self._text_log = self._chosen.KIND != "object" or self._chosen is self._stamped_json
        self._logs: dict[str, Any] = {}

    def read(self, line: bytes) -> Sequence[Item]:
        """The items of a unit that is not blank; none at all for recognised structure. Raises Reject."""
        try:
            return self._read(line)
        except RecursionError:
            raise Reject("too_deep") from None
        except Reject:
            raise
        except Exception:
            # A parser must not be able to stop the reading of a file; the unit is kept as a reject.
            raise Reject("parser_error") from None

    def end(self) -> Sequence[Item]:
        """What the readers of logs still hold at the end of the file."""
        items: list[Item] = []
        for log in self._logs.values():
            try:
                items += log.end()
            except Exception:
                self.context.notice("parser_error_at_end")
        self._logs.clear()
        return items

    def _read(self, line: bytes) -> Sequence[Item]:
        head = line[:1]
        if head == b"[":
            parts = self._stamped_json.split(line)
            if parts is not None:
                event = load_json(parts[0], self.context)
                if not isinstance(event, dict):
                    raise Reject("not_an_object")
                try:
                    return self._stamped(event, parts)
                except ExactNumbers:
                    return self._stamped(_exact(parts[0]), parts)
        if head != b"{":
            parser = self.known.of_line(line, self._chosen)
            if parser is not None:
                return self._text(parser, line)
            if self.known.is_structure(line):
                return STRUCTURE
            # In a log of texts what is no record is no JSON, unless it begins as an array of records does.
            if self._text_log and not (head == b"[" and line[1:].lstrip()[:1] == b"{"):
                _text_of(line)
                raise Reject("unrecognised_line")
        if line.strip() in _BRACKETS:
            return STRUCTURE
        return self._value(load_json(line, self.context), line)

    def _text(self, parser: Any, line: bytes) -> Sequence[Item]:
        self.last = parser
        if parser.KIND == "line":
            items: Sequence[Item] = parser.parse_line(line, self.context)
            return items
        items = self._log(parser).read(line)
        return items

    def _value(self, value: object, line: bytes) -> Sequence[Item]:
        if isinstance(value, dict):
            try:
                return self._object(value)
            except ExactNumbers:
                return self._object(_exact(line))
        if isinstance(value, list) and value:
            if isinstance(value[0], dict):
                return self._batch(value, line)
            if (obj := self.known.of_array(value)) is not None:
                return self._object(obj)
        raise Reject("not_an_object")

    def _batch(self, values: list[Any], line: bytes) -> Sequence[Item]:
        """A batch of records in one line; the line is rejected only where not one of them can be read."""
        items: list[Item] = []
        exact: list[Any] = []
        read = held = False
        refused = Reject("not_an_object")
        for number, value in enumerate(values):
            try:
                if not isinstance(value, dict):
                    raise refused
                try:
                    found = self._object(value)
                except ExactNumbers:
                    exact = exact or _literal(line)
                    found = self._object(exact[number])
                held |= found is HELD
                items += found
                read = True
            except Reject as reject:
                refused = reject
                self.context.notice("unreadable_entry")
        if not read:
            raise refused
        return HELD if held and not items else items

    def _stamped(self, event: Object, parts: tuple[bytes, str | None, str]) -> Sequence[Item]:
        if not self._stamped_json.accepts(event):
            raise Reject("unrecognised_line")
        items: Sequence[Item] = self._stamped_json.parse(event, self.context, parts[1], parts[2])
        return items

    def _object(self, value: Object) -> Sequence[Item]:
        parser = self._chosen if self._forced else self.known.of_object(value)
        if parser is None:
            parser = self.known.load(FALLBACK)
        self.last = parser
        if parser.KIND == "log":
            held: Sequence[Item] = self._log(parser).read_object(value)
            return held
        items: Sequence[Item] = parser.parse(value, self.context)
        return items

    def _log(self, parser: Any) -> Any:
        """The open log of a parser whose records span lines."""
        log = self._logs.get(parser.NAME)
        if log is None:
            log = self._logs[parser.NAME] = parser.open_log(self.context)
        return log


def _text_of(line: bytes) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        raise Reject("bad_utf8") from None


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
    value: Object = _literal(array_line(line) or line)
    if not isinstance(value, dict):
        raise Reject("not_an_object")
    return value


def _literal(line: bytes) -> Any:
    """The value of a line, each number as the log wrote it."""
    return mended(json.loads(line.decode("utf-8-sig"), strict=False, parse_float=Literal, parse_constant=Literal))
