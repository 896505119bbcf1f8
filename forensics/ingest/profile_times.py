"""The times of a record by a profile's rules: their forms, their zone, and durations that give the missing end."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from forensics.ingest.pointers import View
from forensics.ingest.profile_parts import TIMES, UNITS, DurationRule, TimeRule, Variant
from forensics.ingest.record import FileContext, Record
from forensics.ingest.timestamps import parse_duration, parse_ticks, parse_time

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DIGITS = re.compile(r"\d{1,20}(?:\.\d{1,20})?")
_LEAST, _MOST = 10**15, 10**16
_LONGEST = 10**13  # microseconds, about 116 days
_BEYOND = 10**30  # no time in any unit; infinity, and what a float cannot hold, lie beyond
_PRECISION = {"s": "s", "ms": "ms", "us": "us", "ns": "ns"}


def fill_times(record: Record, mapping: Variant, view: View) -> None:
    """Fill the times of `record`. A negative or senseless duration gives nothing."""
    for name in TIMES:
        rule = mapping.times.get(name)
        if rule is None:
            continue
        at, precision = _time(rule, mapping.zone, view)
        if at is not None:
            setattr(record, f"{name}_at", at)
            record.time_precision = record.time_precision or precision
    for given in mapping.durations:
        length = _length(given, view)
        if length is None:
            continue
        start, end = getattr(record, f"{given.start}_at"), getattr(record, f"{given.end}_at")
        if start is not None and end is None:
            setattr(record, f"{given.end}_at", start + length)
        elif end is not None and start is None:
            setattr(record, f"{given.start}_at", end - length)
        if given.start == "received" and given.end == "finished":
            record.latency_us = length
    if record.first_token_at is not None and record.first_token_at == record.finished_at and not record.stream:
        # Exporters repeat the end where there was no stream.
        record.first_token_at = None


def _time(rule: TimeRule, zone: ZoneInfo | None, view: View) -> tuple[int | None, str | None]:
    for pointer in rule.sources:
        value = pointer.first(view)
        if value is None or value == 0:
            continue
        if pointer.base == "@time":
            return value, "us"
        at, precision = _in_form(value, rule, zone, view.context)
        if at is not None:
            return at, precision
    return None, None


def _in_form(value: Any, rule: TimeRule, zone: ZoneInfo | None, context: FileContext) -> tuple[int | None, str | None]:
    if rule.form == "auto":
        if zone is None:
            return parse_time(value, context)
        declared = FileContext(context.name, zone, notices=context.notices)
        return parse_time(value, declared)
    if rule.form == "strptime":
        return _by_pattern(value, rule.pattern, zone, context)
    if rule.form == "ticks":
        return parse_ticks(value, context)
    number = _number(value)
    at = None if number is None else round(number * UNITS[rule.form])
    if at is None or not _LEAST <= at < _MOST:
        context.notice("unreadable_time")
        return None, None
    return at, _PRECISION[rule.form]


def _by_pattern(value: Any, pattern: str, zone: ZoneInfo | None, context: FileContext) -> tuple[int | None, str | None]:
    try:
        at = datetime.strptime(str(value), pattern)
        if at.tzinfo is None:
            if zone is None:
                context.naive_times += 1
            at = at.replace(tzinfo=zone or context.zone)
        delta = at - _EPOCH
        micros = (delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds
    except (ValueError, OverflowError):
        micros = 0
    if not _LEAST <= micros < _MOST:
        context.notice("unreadable_time")
        return None, None
    return micros, "us" if "%f" in pattern else "s"


def _number(value: Any) -> float | int | None:
    """A number, whole where it is written whole: ticks have more digits than a float keeps; None for no time."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return value if -_BEYOND < value < _BEYOND else None
    if isinstance(value, str) and _DIGITS.fullmatch(value.strip()):
        return float(value) if "." in value else int(value)
    return None


def _length(rule: DurationRule, view: View) -> int | None:
    for pointer in rule.sources:
        value = pointer.first(view)
        if value is not None:
            return duration(value, rule.unit)
    return None


def duration(value: Any, unit: str) -> int | None:
    """A duration in microseconds; None where it is none, negative, or longer than 116 days."""
    if unit == "text":
        return parse_duration(value) if isinstance(value, str) else None
    number = _number(value)
    if number is None:
        return None
    length = number * UNITS[unit]
    return round(length) if 0 <= length < _LONGEST else None
