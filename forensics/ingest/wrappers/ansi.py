"""Terminal colours in text logs (`ESC [ 32 m`). What stands inside JSON is text of the log and stays as it is."""

from __future__ import annotations

import re
from collections.abc import Iterable

from forensics.ingest.record import FileContext
from forensics.ingest.units import Unit
from forensics.ingest.wrappers.peeling import peeled

NAME = "ansi"
TITLE = "ANSI colour codes in text logs"
VERSIONS = "ECMA-48 control sequences of colour (m) and of clearing the line (K)"
SOURCE = "the standard"
ANY_OF: frozenset[str] = frozenset()  # codes stand outside of objects
_CODE = re.compile(rb"\x1b\[[0-9;:]{0,40}[mK]")
# Where JSON begins: at once, or after a stamp in brackets.
_JSON = re.compile(
    rb"(?:\x1b\[[0-9;:]{0,40}[mK])*(?:\[[^\]\n]{0,120}\] ?)?(?:\x1b\[[0-9;:]{0,40}[mK]| )*(?=\{\s*[\"}]|\[\{)"
)


def accepts(line: bytes) -> bool:
    """Whether the line holds colours outside JSON."""
    return b"\x1b[" in line and _stripped(line) != line


def _stripped(line: bytes) -> bytes:
    before = _JSON.match(line)
    if before is None:
        return _CODE.sub(b"", line)
    end = before.end()
    if not end:
        return line
    rest = line[end:]
    # Behind the closing bracket is outside again; between the two, a code is content.
    close = max(rest.rfind(b"}"), rest.rfind(b"]")) + 1
    return _CODE.sub(b"", line[:end]) + rest[:close] + _CODE.sub(b"", rest[close:])


class Peeler:
    """Peels one file."""

    def __init__(self, context: FileContext) -> None:
        pass

    def feed(self, unit: Unit) -> Iterable[Unit]:
        """The line without colours."""
        if b"\x1b[" not in unit.data:
            return (unit,)
        data = _stripped(unit.data)
        return (unit,) if data is unit.data else (peeled(unit, data, None, None),)

    def end(self) -> Iterable[Unit]:
        """Nothing: every line is whole."""
        return ()
