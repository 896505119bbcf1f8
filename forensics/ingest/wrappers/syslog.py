"""Syslog messages of RFC 5424: `<134>1 TIME HOST APP PROCID MSGID [data] text`. RFC 3164: `journald_text`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from forensics.ingest.record import FileContext
from forensics.ingest.timestamps import parse_time
from forensics.ingest.units import Unit
from forensics.ingest.wrappers.peeling import peeled

NAME = "syslog"
TITLE = "syslog messages (RFC 5424)"
VERSIONS = "RFC 5424"
SOURCE = "the standard"
_HEAD = re.compile(
    rb"<\d{1,3}>1 (?P<time>-|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|[+-]\d\d:\d\d)) "
    rb"(?P<host>[!-~]{1,255}) (?P<app>[!-~]{1,48}) [!-~]{1,128} [!-~]{1,32} (?=-|\[)"
)
# Values escape quotes, backslashes and closing brackets.
_DATA = re.compile(rb'\[[^ "=\]]{1,32}(?: [^ "=\]]{1,32}="(?:[^"\\]|\\.)*")*\]', re.S)
_BOM = b"\xef\xbb\xbf"


def accepts(line: bytes) -> bool:
    """Whether the line is one message."""
    return _HEAD.match(line) is not None


class Peeler:
    """Peels one file."""

    def __init__(self, context: FileContext) -> None:
        self._context = context

    def feed(self, unit: Unit) -> Iterable[Unit]:
        """The text of one message."""
        match = _HEAD.match(unit.data)
        if match is None:
            return (unit,)
        end = match.end()
        if unit.data[end : end + 1] == b"-":
            end += 1
        else:
            while (data := _DATA.match(unit.data, end)) is not None:
                end = data.end()
            if end == match.end():
                return (unit,)
        text = unit.data[end:].removeprefix(b" ").removeprefix(_BOM)
        at = parse_time(match["time"].decode(), self._context)[0] if match["time"] != b"-" else None
        names = [name.decode() for name in (match["host"], match["app"]) if name != b"-"]
        return (peeled(unit, text, at, "/".join(names) or None),)

    def end(self) -> Iterable[Unit]:
        """Nothing: every message is whole."""
        return ()
