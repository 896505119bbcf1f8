"""Log times to UTC microseconds. Does not guess zones: a naive time is read in the zone that the caller declares."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from forensics.ingest.record import FileContext

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FRACTION = re.compile(r"[.,](\d+)")
_NUMBER = re.compile(r"\d{9,20}(?:\.\d+)?")
_LONG_FRACTION = re.compile(r"([.,]\d{6})\d+")
_SPACED_OFFSET = re.compile(r"\s+(?=[+-]\d{2}:?\d{2}$|Z$)|\s+(?=UTC$)")
_YEARLESS = re.compile(r"(?:(\d\d)-?(\d\d)|([A-Z][a-z]{2}) +(\d{1,2})) (\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_SLACK = timedelta(days=1)
# Outside these years a number is not a time of a log (2001-09-09 to 2286-11-20 in every unit).
_LEAST, _MOST = 10**15, 10**16


def parse_time(value: object, context: FileContext) -> tuple[int | None, str | None]:
    """`value` as (UTC microseconds, precision), or (None, None) where it is no time.

    ISO 8601 with 0 to 9 fraction digits and any offset; epoch seconds, milliseconds, microseconds, nanoseconds, told
    apart by magnitude, as number or text. Digits below a microsecond are cut off, and `precision` still says `ns`.
    """
    if value is None or value is True or value is False:
        return None, None
    if isinstance(value, str):
        parsed = _text(value.strip(), context)
    elif isinstance(value, int | float):
        parsed = _number(value)
    else:
        parsed = None, None
    if parsed[0] is None:
        context.notice("unreadable_time")
    return parsed


def _text(value: str, context: FileContext) -> tuple[int | None, str | None]:
    if not 8 <= len(value) <= 64:
        return None, None
    if _NUMBER.fullmatch(value):
        return _number(float(value) if "." in value else int(value))
    try:
        at = datetime.fromisoformat(value)
    except ValueError:
        tidy = _SPACED_OFFSET.sub("", _LONG_FRACTION.sub(r"\1", value)).removesuffix("UTC")
        try:
            at = datetime.fromisoformat(tidy)
        except ValueError:
            return None, None
    if at.tzinfo is None:
        context.naive_times += 1
        at = at.replace(tzinfo=context.zone)
    try:
        delta = at - _EPOCH
    except OverflowError:
        return None, None
    fraction = _FRACTION.search(value, 14)
    digits = len(fraction.group(1)) if fraction else 0
    precision = "s" if digits == 0 else "ms" if digits <= 3 else "us" if digits <= 6 else "ns"
    return (delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds, precision


def _number(value: float) -> tuple[int | None, str | None]:
    if not 1e9 <= value < 1e19:
        return None, None
    if value < 1e10:
        return round(value * 1_000_000), "s" if value == int(value) else "us"
    for unit, top, precision in ((1_000, 1e13, "ms"), (1, 1e16, "us")):
        if value < top:
            micros = round(value * unit)
            return (micros, precision) if _LEAST <= micros < _MOST else (None, None)
    micros = int(value) // 1_000
    return (micros, "ns") if _LEAST <= micros < _MOST else (None, None)


def seconds(value: object) -> int | None:
    """A duration in seconds as microseconds, or None where it is no sane duration."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not 0 <= value < 1e7:
        return None
    return round(value * 1_000_000)


def parse_yearless(text: str, context: FileContext) -> tuple[int | None, str | None]:
    """A time without a year as (UTC microseconds, precision): `01-02 03:04:05`, `0102 03:04:05.678`, `Jan  2 03:04:05`.

    The year is the latest in which the time is not after the file's last change (or the wrapper's time of the line)
    by more than a day. Without either there is no year, and the time stays unknown.
    """
    match = _YEARLESS.fullmatch(text)
    limit = context.at if context.at is not None else context.modified_at
    if match is None or limit is None:
        context.notice("unreadable_time" if match is None else "yearless_time")
        return None, None
    month_text, day_text, name, named_day, hour, minute, second, fraction = match.groups()
    if name is not None and name not in _MONTHS:
        context.notice("unreadable_time")
        return None, None
    month = int(month_text) if name is None else _MONTHS.index(name) + 1
    latest = _EPOCH + timedelta(microseconds=limit) + _SLACK
    micros = int((fraction or "")[:6].ljust(6, "0"))
    # A 29 February may lie up to eight years back.
    for year in range(latest.year + 1, latest.year - 9, -1):
        try:
            at = datetime(
                year, month, int(day_text or named_day), int(hour), int(minute), int(second), micros, context.zone
            )
        except ValueError:
            continue
        if at <= latest:
            context.naive_times += 1
            delta = at - _EPOCH
            digits = len(fraction or "")
            precision = "s" if digits == 0 else "ms" if digits <= 3 else "us" if digits <= 6 else "ns"
            return (delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds, precision
    context.notice("unreadable_time")
    return None, None
