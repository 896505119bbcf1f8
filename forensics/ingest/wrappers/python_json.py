"""Lines of Python's logging printed as JSON objects, as a logging configuration of vLLM or SGLang makes them.

The text line that the engine prints without that configuration is put together again, so that one parser reads both.
Only loggers of these engines and of their web server are taken; other programs' JSON logs are left as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson

from forensics.ingest.record import FileContext
from forensics.ingest.timestamps import parse_time, parse_yearless
from forensics.ingest.units import Unit
from forensics.ingest.vllm import MESSAGE

NAME = "python_json"
TITLE = "Python logging as JSON (vLLM, SGLang)"
VERSIONS = "vLLM 0.6 to 0.33 by VLLM_LOGGING_CONFIG_PATH, SGLang 0.5 by SGLANG_LOGGING_CONFIG_PATH"
SOURCE = "the projects' documentation of logging configurations"

ANY_OF = frozenset(("message",))
_KEYS = frozenset(
    "args asctime created exc_info exc_text filename funcName level levelname levelno lineno message module msecs msg "
    "name pathname process processName relativeCreated stack_info taskName thread threadName time timestamp".split()
)
_LOGGERS = ("vllm", "sglang", "uvicorn")
_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
_TIMES = ("asctime", "timestamp", "time", "created")
_YEARLESS = re.compile(r"\d\d-\d\d \d\d:\d\d:\d\d")
_PROCESS = re.compile(r"[A-Za-z_]\w{0,60}")


def accepts(line: bytes) -> bool:
    """Whether a line is such an object."""
    return _object(line) is not None


def _object(line: bytes) -> dict[str, Any] | None:
    if line[:1] != b"{" or b'"message"' not in line[:4000]:
        return None
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(value, dict) or not isinstance(value.get("message"), str) or not _KEYS.issuperset(value):
        return None
    logger = value.get("name")
    if isinstance(logger, str):
        return value if logger.startswith(_LOGGERS) else None
    return value if MESSAGE.match(value["message"][:70_000].encode("utf-8", "replace")) else None


class Peeler:
    """Peels one file."""

    def __init__(self, context: FileContext) -> None:
        self._context = context

    def feed(self, unit: Unit) -> Iterable[Unit]:
        """The unit as the engine's text line; the object's own time is the better one."""
        value = _object(unit.data)
        if value is None:
            return (unit,)
        at = self._at(value)
        message = value["message"]
        level = value.get("levelname", value.get("level"))
        level = level if level in _LEVELS else "INFO"
        if str(value.get("name", "")).startswith("sglang"):
            head = self._stamp(at) if not message.startswith("[") else ""
        else:
            process = value.get("processName")
            known = isinstance(process, str) and process != "MainProcess" and _PROCESS.fullmatch(process)
            head = f"({process} pid={_pid(value)}) " if known else ""
            head += f"{level} 01-01 00:00:00 [json:0] "
        data = (head + message).encode("utf-8", "replace")
        return (replace(unit, data=data, at=at if at is not None else unit.at),)

    def _stamp(self, at: int | None) -> str:
        if at is None or not 0 <= at < 1 << 52:
            return ""
        local = (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=at)).astimezone(self._context.zone)
        return local.strftime("[%Y-%m-%d %H:%M:%S.%f] ")

    def _at(self, value: dict[str, Any]) -> int | None:
        for name in _TIMES:
            time = value.get(name)
            if isinstance(time, str) and _YEARLESS.fullmatch(time):
                return parse_yearless(time, self._context)[0]
            if time is not None:
                return parse_time(time, self._context)[0]
        return None

    def end(self) -> Iterable[Unit]:
        """Nothing is held back."""
        return ()


def _pid(value: dict[str, Any]) -> int:
    pid = value.get("process")
    return pid if isinstance(pid, int) and 0 <= pid < 10**10 else 0
