"""llama.cpp's `--log-jsonl` (late 2026): each message of the server in an object, with the time since its start.

The text line that the server prints without that flag is put together again, so that one parser reads both. Objects
of other types are the server's own reports and are passed over.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import orjson

from forensics.ingest.record import FileContext
from forensics.ingest.units import Unit, shared

NAME = "llama_jsonl"
TITLE = "llama.cpp server log as JSON lines (--log-jsonl)"
VERSIONS = "2026; the source in llama-cpp-python 0.3.36 compared"
SOURCE = "the project's source at this release"

_LEVELS = {"debug": "D", "info": "I", "warn": "W", "warning": "W", "error": "E"}
ANY_OF = frozenset(("type",))
_KEYS = frozenset(("type", "time", "level", "msg"))


def accepts(line: bytes) -> bool:
    """Whether a line is such an object."""
    return _object(line) is not None


def _object(line: bytes) -> dict[str, Any] | None:
    if line[:1] != b"{" or b'"type"' not in line or (b'"msg"' not in line and b'"data"' not in line):
        return None
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(value, dict):
        return None
    if value.get("type") == "log" and _KEYS.issuperset(value) and isinstance(value.get("msg"), str):
        return value
    return None


class Peeler:
    """Peels one file."""

    def __init__(self, context: FileContext) -> None:
        self._any = False

    def feed(self, unit: Unit) -> Iterable[Unit]:
        """The lines of one message, each with the message's time."""
        value = _object(unit.data)
        if value is None:
            return (replace(unit, structure=True),) if self._any and _report(unit.data) else (unit,)
        self._any = True
        time, level = value.get("time"), value.get("level")
        head = ""
        if isinstance(time, int) and 0 < time < 1 << 52:
            micros, milliseconds = time % 1000, time // 1000 % 1000
            head = f"{time // 60_000_000}.{time // 1_000_000 % 60:02}.{milliseconds:03}.{micros:03} "
        if isinstance(level, str) and level in _LEVELS:
            head += f"{_LEVELS[level]} "
        lines = [line for line in value["msg"].replace("\r", "\n").split("\n") if line.strip()]
        # A message may hold a whole answer with its line ends; only the server's own lists are cut into lines.
        if len(lines) > 1 and " time = " not in value["msg"]:
            lines = [value["msg"].rstrip("\r\n")]
        return shared(unit, [replace(unit, data=(head + line).encode("utf-8", "replace")) for line in lines[:1000]])

    def end(self) -> Iterable[Unit]:
        """Nothing is held back."""
        return ()


def _report(line: bytes) -> bool:
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        return False
    return isinstance(value, dict) and set(value) == {"type", "data"}
