"""`journalctl` and syslog files: `Jan 02 03:04:05 host unit[pid]: text`, the time in journalctl's short forms.

`short` and `short-precise` times have no year and no zone: the year is the latest that does not lie after the file's
last change, the zone is the declared one. `short-monotonic` times say nothing of the date. Lines that the journal cut
at its usual 48 KiB are put together again; a message with several lines is shown indented, and stays several lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from forensics.ingest.record import FileContext
from forensics.ingest.timestamps import parse_time
from forensics.ingest.units import Unit
from forensics.ingest.wrappers.peeling import structure
from forensics.ingest.wrappers.pieces import Pieces

NAME = "journald_text"
TITLE = "journalctl short output and syslog files (RFC 3164)"
VERSIONS = "short, short-precise, short-full, short-iso, short-iso-precise, short-unix, short-monotonic"
SOURCE = "notes on the project's documentation; not checked against a running journal"
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_LINE = re.compile(
    rb"(?:<\d{1,3}>)?"
    rb"(?:(?P<yearless>(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]\d \d\d:\d\d:\d\d(?:\.\d{1,6})?)"
    rb"|(?P<iso>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d))"
    rb"|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (?P<full>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?) "
    rb"(?P<zone>[A-Z][A-Za-z]{0,5}|[+-]\d\d)"
    rb"|(?P<unix>\d{9,10}\.\d{6})"
    rb"|(?P<monotonic>\[ {0,12}\d{1,12}\.\d{6}\]))"
    # A host does not end in a colon, nor does a program's name hold quotes: `data: {"a":` is of a captured stream.
    # Nor is a host named as a level: `TIME ERROR router: text` is a line of a Rust program's own.
    rb" (?!(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|CRITICAL|FATAL) )"
    rb"(?P<host>\w(?:[\w.:-]{0,253}\w)?) (?P<unit>[\w@%./()+~-]{1,128}|[\w@%./()+~:-]{1,128}(?=\[\d))"
    rb"(?:\[(?P<pid>\d{1,10})\])?:(?: |$)"
)
_MARK = re.compile(rb"-- (?:Logs begin at|Journal begins at|Boot [0-9a-f]{32}|Reboot|No entries|cursor:)")
_BLOB = re.compile(rb"\[[\d.]+[KMG]?B? blob data\]$")
_LINE_MAX = 48 * 1024
_DAY = 86_400_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def accepts(line: bytes) -> bool:
    """Whether the line is one entry."""
    return _LINE.match(line) is not None


class Peeler:
    """Peels one file."""

    def __init__(self, context: FileContext) -> None:
        self._context = context
        self._pieces = Pieces(context)
        self._indent = 0  # of the last entry: what is indented as deep goes on with its message
        self._last: Unit | None = None

    def feed(self, unit: Unit) -> Iterable[Unit]:
        """The line that this entry ends."""
        match = _LINE.match(unit.data)
        if match is None:
            if _MARK.match(unit.data):
                return (structure(unit),)
            indent = self._indent
            if self._last is not None and indent and unit.data[:indent].isspace() and len(unit.data) > indent:
                return (replace(unit, data=unit.data[indent:], at=self._last.at, source=self._last.source),)
            return (unit,)
        text = unit.data[match.end() :]
        if _BLOB.match(text):
            self._context.notice("message_left_out")
            return (replace(unit, reason="message_left_out"),)
        at = self._at(match)
        source = f"{match['host'].decode('utf-8', 'replace')}/{match['unit'].decode('utf-8', 'replace')}"
        self._indent = match.end()
        self._last = replace(unit, data=b"", at=at, source=source)
        stream = (source, match["pid"])
        return self._pieces.add(stream, unit, text, more=len(text) == _LINE_MAX, at=at, source=source)

    def end(self) -> Iterable[Unit]:
        """Lines whose end is not in the file."""
        return self._pieces.end()

    def _at(self, match: re.Match[bytes]) -> int | None:
        if match["yearless"]:
            return yearless(match["yearless"].decode(), self._context)
        if match["iso"]:
            return parse_time(match["iso"].decode().replace(",", "."), self._context)[0]
        if match["full"]:
            # The name of a zone is no offset; all but UTC are read in the declared zone.
            zone = match["zone"].decode()
            offset = "+00:00" if zone in ("UTC", "GMT") else f"{zone}:00" if zone[0] in "+-" else ""
            return parse_time(match["full"].decode() + offset, self._context)[0]
        if match["unix"]:
            return parse_time(match["unix"].decode(), self._context)[0]
        return None


def yearless(text: str, context: FileContext) -> int | None:
    """`Jan 02 03:04:05.678` in the declared zone and the latest year that does not lie after the file's last change, a
    day allowed for zones, as UTC microseconds; None where the file's age is unknown or there is no such day.
    """
    if context.modified_at is None:
        return None
    clock, _, fraction = text[7:].partition(".")
    try:
        month, day = _MONTHS.index(text[:3]) + 1, int(text[4:6])
        hour, minute, second = map(int, clock.split(":"))
        newest = (_EPOCH + timedelta(microseconds=context.modified_at)).year + 1
    except (ValueError, OverflowError):
        return None
    for year in range(newest, newest - 10, -1):
        try:
            at = datetime(year, month, day, hour, minute, second, int(fraction.ljust(6, "0") or 0), context.zone)
            delta = at - _EPOCH
        except (ValueError, OverflowError):
            continue
        micros = (delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds
        if micros <= context.modified_at + _DAY:
            context.naive_times += 1
            context.notice("yearless_time")
            return micros
    return None
