"""Columns of Arrow as values that JSON can hold: whole numbers exact, times as ISO 8601 with their zone, texts as text.

Bytes that are UTF-8 without control characters are text; others are base64. What has no form in JSON is null.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

import orjson
import pyarrow as pa
import pyarrow.compute as pc

_DEEPEST = 40
_EPOCH = datetime(1970, 1, 1)
_UNITS = {"s": 1, "ms": 1000, "us": 1_000_000, "ns": 1_000_000_000}
_DIGITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}
_FIXED_OFFSET = re.compile(r"([+-])(\d\d):?(\d\d)$")
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def repeated(kinds: Any, depth: int = 0) -> bool:
    """Whether a schema, or a struct inside it, has two fields of one name."""
    if depth > _DEEPEST:
        raise RecursionError
    fields = list(kinds)
    if len({field.name for field in fields}) != len(fields):
        return True
    return any(repeated(_inner(field.type), depth + 1) for field in fields)


def _inner(kind: Any) -> list[Any]:
    """The fields that values of a type are made of."""
    return [kind.field(number) for number in range(kind.num_fields)]


class Values:
    """Reads columns; `notices` counts what was odd in them."""

    def __init__(self) -> None:
        self.notices: dict[str, int] = {}

    def of(self, column: Any, depth: int = 0) -> list[Any]:
        """The values of one array."""
        if depth > _DEEPEST:
            raise RecursionError
        kind = column.type
        if isinstance(column, pa.ExtensionArray):
            return self.of(column.storage, depth + 1)
        for fits, read in _READERS:
            if fits(kind):
                return read(self, column, depth)
        if pa.types.is_null(kind):
            return [None] * len(column)
        self.notice("no_json_form")
        return [None] * len(column)

    def notice(self, name: str) -> None:
        """Count something."""
        self.notices[name] = self.notices.get(name, 0) + 1

    def plain(self, column: Any, depth: int) -> list[Any]:
        """Booleans and numbers."""
        found: list[Any] = column.to_pylist()
        return found

    def halves(self, column: Any, depth: int) -> list[Any]:
        """Numbers that are no Python float."""
        return [None if value is None else float(value) for value in column.to_pylist()]

    def texts(self, column: Any, depth: int) -> list[Any]:
        """Texts, whatever bytes the file holds in their place."""
        return [
            None if value is None else self._text(value) for value in column.cast(_bytes_of(column.type)).to_pylist()
        ]

    def _text(self, value: bytes) -> str:
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError:
            self.notice("bad_bytes")
            return value.decode("utf-8", "replace")

    def binary(self, column: Any, depth: int) -> list[Any]:
        """Bytes."""
        return [None if value is None else _readable(value) for value in column.to_pylist()]

    def decimals(self, column: Any, depth: int) -> list[Any]:
        """Numbers as the file's digits."""
        return [None if value is None else orjson.Fragment(format(value, "f").encode()) for value in column.to_pylist()]

    def times(self, column: Any, depth: int) -> list[Any]:
        """Times of day and date; an instant says its offset."""
        unit, name = column.type.unit, column.type.tz
        zone = _zone(name) if name else None
        return [
            None if value is None else _iso(value, unit, zone, instant=name is not None)
            for value in column.cast(pa.int64()).to_pylist()
        ]

    def dates(self, column: Any, depth: int) -> list[Any]:
        """Dates."""
        days = column.cast(pa.int32()).to_pylist() if pa.types.is_date32(column.type) else None
        if days is None:
            days = [None if ms is None else ms // 86_400_000 for ms in column.cast(pa.int64()).to_pylist()]
        return [None if day is None else _date(day) for day in days]

    def clock(self, column: Any, depth: int) -> list[Any]:
        """Times of a day."""
        unit = column.type.unit
        whole = pa.int32() if pa.types.is_time32(column.type) else pa.int64()
        return [
            None if value is None else _iso(value, unit, None, instant=False)[11:]
            for value in column.cast(whole).to_pylist()
        ]

    def spans(self, column: Any, depth: int) -> list[Any]:
        """Lengths of time, in the unit of the column."""
        found: list[Any] = column.cast(pa.int64()).to_pylist()
        return found

    def dictionary(self, column: Any, depth: int) -> list[Any]:
        """Values of a dictionary, only those that occur, each made once."""
        indices = column.indices.to_pylist()
        used = sorted({index for index in indices if index is not None})
        values = self.of(column.dictionary.take(pa.array(used, pa.int64())), depth + 1)
        known = dict(zip(used, values, strict=True))
        return [None if index is None else known[index] for index in indices]

    def lists(self, column: Any, depth: int) -> list[Any]:
        """Lists."""
        lengths = pc.list_value_length(column).to_pylist()
        return _cut(self.of(column.flatten(), depth + 1), lengths)

    def maps(self, column: Any, depth: int) -> list[Any]:
        """Maps: objects where all keys are texts, else lists of pairs."""
        offsets = column.offsets.to_pylist()
        first = offsets[0] if offsets else 0
        length = offsets[-1] - first if offsets else 0
        keys = self.of(column.keys.slice(first, length) if len(column.keys) != length else column.keys, depth + 1)
        items = self.of(column.items.slice(first, length) if len(column.items) != length else column.items, depth + 1)
        valid = column.is_valid().to_pylist()
        made: list[Any] = []
        for fine, (start, end) in zip(valid, pairwise(offsets), strict=True):
            pairs = list(zip(keys[start - first : end - first], items[start - first : end - first], strict=True))
            if not fine:
                made.append(None)
            elif all(isinstance(key, str) for key, _ in pairs):
                made.append(dict(pairs))
            else:
                made.append([list(pair) for pair in pairs])
        return made

    def structs(self, column: Any, depth: int) -> list[Any]:
        """Objects."""
        names = [column.type.field(number).name for number in range(column.type.num_fields)]
        fields = [self.of(field, depth + 1) for field in column.flatten()]
        valid = column.is_valid().to_pylist()
        if not fields:
            return [{} if fine else None for fine in valid]
        rows = zip(*fields, strict=True)
        return [dict(zip(names, row, strict=True)) if fine else None for fine, row in zip(valid, rows, strict=True)]


def _bytes_of(kind: Any) -> Any:
    return pa.large_binary() if pa.types.is_large_string(kind) else pa.binary()


def _readable(value: bytes) -> str:
    try:
        if not _CONTROL.search(value):
            return value.decode("utf-8")
    except UnicodeDecodeError:
        pass
    return base64.b64encode(value).decode()


def _cut(values: list[Any], lengths: list[int | None]) -> list[Any]:
    made: list[Any] = []
    start = 0
    for length in lengths:
        made.append(None if length is None else values[start : start + length])
        start += length or 0
    return made


def _zone(name: str) -> Any:
    fixed = _FIXED_OFFSET.match(name)
    if fixed:
        minutes = int(fixed.group(2)) * 60 + int(fixed.group(3))
        return timedelta(minutes=-minutes if fixed.group(1) == "-" else minutes)
    try:
        return ZoneInfo(name) if name.upper() not in ("UTC", "Z", "ETC/UTC") else None
    except (KeyError, ValueError, OSError):
        return None  # the instant is known all the same


def _iso(value: int, unit: str, zone: Any, *, instant: bool) -> Any:
    whole, part = divmod(value, _UNITS[unit])
    digits = f".{part:0{_DIGITS[unit]}d}" if _DIGITS[unit] else ""
    try:
        moment = _EPOCH + timedelta(seconds=whole)
        if not instant:
            return moment.isoformat() + digits
        if zone is None:
            return moment.isoformat() + digits + "Z"
        shift = zone if isinstance(zone, timedelta) else moment.replace(tzinfo=UTC).astimezone(zone).utcoffset()
        shift = shift or timedelta()
        minutes = round(shift.total_seconds() / 60)
        sign = "-" if minutes < 0 else "+"
        return (moment + shift).isoformat() + digits + f"{sign}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"
    except OverflowError:
        return str(value)  # beyond the years that have a name


def _date(day: int) -> str:
    try:
        return (date(1970, 1, 1) + timedelta(days=day)).isoformat()
    except OverflowError:
        return str(day)


_Reader = Callable[[Values, Any, int], list[Any]]
_READERS: tuple[tuple[Callable[[Any], bool], _Reader], ...] = (
    (pa.types.is_dictionary, Values.dictionary),
    (lambda kind: pa.types.is_string(kind) or pa.types.is_large_string(kind), Values.texts),
    (lambda kind: str(kind) in ("string_view", "binary_view"), lambda v, c, d: v.of(c.cast(_plain_of(c.type)), d)),
    (pa.types.is_boolean, Values.plain),
    (pa.types.is_integer, Values.plain),
    (pa.types.is_float16, Values.halves),
    (pa.types.is_floating, Values.plain),
    (pa.types.is_decimal, Values.decimals),
    (pa.types.is_timestamp, Values.times),
    (pa.types.is_date, Values.dates),
    (pa.types.is_time, Values.clock),
    (pa.types.is_duration, Values.spans),
    (
        lambda kind: pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind),
        Values.binary,
    ),
    (pa.types.is_map, Values.maps),
    (pa.types.is_struct, Values.structs),
    (
        lambda kind: pa.types.is_list(kind) or pa.types.is_large_list(kind),
        Values.lists,
    ),
    (pa.types.is_fixed_size_list, lambda v, c, d: v.lists(c.cast(pa.list_(c.type.value_type)), d)),
    (
        lambda kind: str(kind).startswith(("list_view", "large_list_view")),
        lambda v, c, d: v.lists(c.cast(pa.large_list(c.type.value_type)), d),
    ),
)


def _plain_of(kind: Any) -> Any:
    return pa.large_string() if str(kind) == "string_view" else pa.large_binary()
