"""Log times to UTC microseconds. Does not guess zones: a naive time is read in the zone that the caller declares.

`parse_time` takes the forms that say what they are. Times without a year, ticks, clocks that start with a process and
durations have functions of their own, because only the parser of a format knows that it has one of those before it.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

from forensics.ingest.record import FileContext

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NAIVE_EPOCH = datetime(1970, 1, 1)
_FRACTION = re.compile(r"[.,](\d+)")
_NUMBER = re.compile(r"\d{9,20}(?:\.\d+)?")
_LONG_FRACTION = re.compile(r"([.,]\d{6})\d+")
_SPACED_OFFSET = re.compile(r"\s+(?=[+-]\d{2}:?\d{2}$|Z$)|\s+(?=UTC$)")
_MONTHS = {name: number for number, name in enumerate("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(), 1)}
_CLOCK = r"(?P<H>\d\d):(?P<M>\d\d):(?P<S>\d\d)(?:[.,](?P<f>\d{1,9}))?"
_ZONE = r"(?: ?(?P<zone>[+-]\d\d:?\d\d|Z|UTC|GMT))?"
# Forms of web servers and of Go programs; each names its year.
_OTHER_FORMS = (
    re.compile(r"\[?(?P<d>\d\d)/(?P<b>[A-Z][a-z]{2})/(?P<y>\d{4}):" + _CLOCK + _ZONE + r"\]?"),  # nginx, Apache
    re.compile(r"(?P<y>\d{4})/(?P<m>\d\d)/(?P<d>\d\d)(?: -)? " + _CLOCK + _ZONE),  # Go, nginx errors, GIN
    re.compile(r"(?:[A-Z][a-z]{2}, )?(?P<d>\d\d)[ -](?P<b>[A-Z][a-z]{2})[ -](?P<y>\d{4}) " + _CLOCK + _ZONE),  # HTTP
    re.compile(r"(?P<b>[A-Z][a-z]{2}) (?P<d>\d{1,2}), (?P<y>\d{4}) @ " + _CLOCK + _ZONE),  # Kibana
    re.compile(r"(?P<y>\d{4})-(?P<m>\d\d)-(?P<d>\d\d)_(?P<H>\d\d)[-:](?P<M>\d\d)[-:](?P<S>\d\d)(?P<f>)(?P<zone>)"),
)
_MONTH_FIRST = re.compile(r"(?P<m>\d\d)[/-](?P<d>\d\d)[/-](?P<y>\d{4})[- ]" + _CLOCK + _ZONE)
_YEARLESS = (
    re.compile(r"(?P<m>\d\d)-(?P<d>\d\d) " + _CLOCK),  # vLLM
    re.compile(r"(?P<b>[A-Z][a-z]{2}) {1,2}(?P<d>\d{1,2}) " + _CLOCK),  # syslog, journald
    re.compile(r"[DIWEF]?(?P<m>\d\d)(?P<d>\d\d) {1,2}" + _CLOCK),  # glog, Triton
)
_UPTIME = re.compile(r"(\d{1,9})\.(\d\d)\.(\d{3})\.(\d{3})")
_DURATION_PART = re.compile(r"(\d+(?:\.\d+)?)(ns|us|µs|μs|ms|s|m|h)")
_UNITS = {"ns": 1e-3, "us": 1.0, "µs": 1.0, "μs": 1.0, "ms": 1e3, "s": 1e6, "m": 60e6, "h": 3600e6}
_TICKS_AT_EPOCH = 621_355_968_000_000_000  # .NET counts 100 ns from the year 1
_DAY = timedelta(days=1)
# Outside these years nothing is a time of a log (2001-09-09 to 2286-11-20; of numbers in every unit).
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
    if value[4] != "-" and _NUMBER.fullmatch(value):
        return _number(float(value) if "." in value else int(value))
    try:
        at = datetime.fromisoformat(value)
    except ValueError:
        tidy = _SPACED_OFFSET.sub("", _LONG_FRACTION.sub(r"\1", value)).removesuffix("UTC")
        try:
            at = datetime.fromisoformat(tidy)
        except ValueError:
            for form in _OTHER_FORMS:
                if match := form.fullmatch(value):
                    return _matched(match, match["y"], context)
            return None, None
    return _micros(at, _fraction_digits(value), context)


def _fraction_digits(value: str) -> int:
    """How many digits the fraction of an ISO time has."""
    if value[19:20] == "." and len(value) == 26 and value[20:].isdecimal():
        return 6  # as Python writes it without a zone: nearly all times of engines' logs
    fraction = _FRACTION.search(value, 14)
    return len(fraction.group(1)) if fraction else 0


def _micros(at: datetime, digits: int, context: FileContext) -> tuple[int | None, str | None]:
    try:
        if at.tzinfo is None:
            context.naive_times += 1
            # The zone is asked directly: to make another datetime of nearly every time takes as long as all the rest.
            delta = at - _NAIVE_EPOCH - context.zone.utcoffset(at)
        else:
            delta = at - _EPOCH
    except OverflowError:
        return None, None
    micros = (delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds
    if not _LEAST <= micros < _MOST:
        return None, None  # 0001-01-01, 1970-01-01: how programs write that there is no time
    return micros, "s" if digits == 0 else "ms" if digits <= 3 else "us" if digits <= 6 else "ns"


def _matched(match: re.Match[str], year: str | int, context: FileContext) -> tuple[int | None, str | None]:
    at, digits = _datetime(match, int(year))
    return (None, None) if at is None else _micros(at, digits, context)


def _datetime(match: re.Match[str], year: int) -> tuple[datetime | None, int]:
    """The time that a form found, naive where it names no zone, and its fraction's digits."""
    found = match.groupdict()
    month = _MONTHS.get(found["b"], 0) if found.get("b") else int(found["m"])
    fraction = found["f"] or ""
    zone = found.get("zone")
    micros = int(fraction[:6].ljust(6, "0"))
    try:
        clock = int(found["H"]), int(found["M"]), int(found["S"])
        return datetime(year, month, int(found["d"]), *clock, micros, _fixed(zone) if zone else None), len(fraction)
    except ValueError:
        return None, 0


def _fixed(zone: str) -> timezone:
    if zone[0] not in "+-":
        return UTC
    hours, minutes = int(zone[1:3]), int(zone[-2:])
    return timezone((timedelta(hours=hours, minutes=minutes)) * (-1 if zone[0] == "-" else 1))


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


def milliseconds(value: object) -> int | None:
    """A duration in milliseconds as microseconds, or None where it is no sane duration."""
    # An integer of any length can be compared, but not divided.
    return seconds(value / 1000) if isinstance(value, int | float) and 0 <= value < 1e10 else None


def parse_month_first(text: str, context: FileContext) -> tuple[int | None, str | None]:
    """`MM/DD/YYYY-HH:MM:SS` and `MM-DD-YYYY HH:MM:SS.f` (TensorRT-LLM, Triton) as (UTC microseconds, precision)."""
    match = _MONTH_FIRST.fullmatch(text.strip())
    parsed = _matched(match, match["y"], context) if match else (None, None)
    if parsed[0] is None:
        context.notice("unreadable_time")
    return parsed


def parse_yearless(text: str, context: FileContext) -> tuple[int | None, str | None]:
    """A time that names no year as (UTC microseconds, precision): `MM-DD HH:MM:SS` (vLLM), `Mon DD HH:MM:SS` (journald,
    syslog), `I0114 11:20:08.401772` (glog); read in the context's zone.

    The year is the last in which that day had come when the wrapper wrote the line, or, where none did, when the file
    was written; a day's grace for zones. In the second case the notice `yearless_time` makes the `year_basis` say
    so; calls that other files date can correct it later.
    """
    text = text.strip()
    for form in _YEARLESS:
        if match := form.fullmatch(text):
            break
    else:
        context.notice("unreadable_time")
        return None, None
    limit = context.at if context.at is not None else context.modified_at
    if limit is None:
        context.notice("no_year")
        return None, None
    written = _EPOCH + timedelta(microseconds=limit) + _DAY
    naive = context.naive_times
    # A 29th of February may lie up to eight years back.
    for year in range(written.year, written.year - 9, -1):
        at, digits = _datetime(match, year)
        if at is None:
            continue
        context.naive_times = naive
        micros, precision = _micros(at, digits, context)
        if micros is not None and micros <= limit + 86_400_000_000:
            if context.at is None:
                context.notice("yearless_time")
            return micros, precision
    context.notice("unreadable_time")
    return None, None


def parse_ticks(value: object, context: FileContext) -> tuple[int | None, str | None]:
    """.NET ticks, number or text (100 ns since the year 1, taken as UTC), as (UTC microseconds, precision `ns`)."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 19:
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        micros = (value - _TICKS_AT_EPOCH) // 10
        if _LEAST <= micros < _MOST:
            return micros, "ns"
    context.notice("unreadable_time")
    return None, None


def parse_uptime(text: str) -> int | None:
    """llama.cpp's `M.SS.mmm.uuu` (minutes since the process started, seconds, ms, us) as microseconds, or None."""
    match = _UPTIME.fullmatch(text.strip())
    if match is None:
        return None
    minutes, rest, millis, micros = map(int, match.groups())
    return ((minutes * 60 + rest) * 1000 + millis) * 1000 + micros


def parse_duration(text: str) -> int | None:
    """A duration with units as whole microseconds: `1.3s`, `812.3ms`, `5.190277341s`, `1m2.5s`, `90µs`; else None."""
    text = text.strip()
    end, total = 0, 0.0
    for part in _DURATION_PART.finditer(text):
        if part.start() != end:
            return None
        total += float(part[1]) * _UNITS[part[2]]
        end = part.end()
    if not end or end != len(text) or total >= 1e13:
        return None
    return round(total)
