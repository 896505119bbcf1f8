"""TensorRT-LLM's iteration lines and the statistics that its Triton backend prints: batch sizes, no ids, no text.

Fields move between releases and are read by name. The token counts of a batch include padding.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from forensics.ingest import counts, loose_json
from forensics.ingest.record import STRUCTURE, EngineEvent, FileContext, Item, Reject
from forensics.ingest.timestamps import parse_month_first

NAME = "trtllm"
KIND = "line"
TITLE = "TensorRT-LLM and Triton backend statistics"
VERSIONS = "TensorRT-LLM 0.9 to 1.2 (iteration lines), Triton backend of 2024 and 2025"
SOURCE = "the project's source (iteration lines); logs in public issues (backend)"

_STAMP = rb"(?:\d{1,5}: )?\[(\d\d/\d\d/\d{4}-\d\d:\d\d:\d\d)\] (?:\[[\w .:/-]{1,40}\] ?){1,4}"
_ITERATION = re.compile(_STAMP + rb"iter = (\d{1,18}), ")
_OTHER = re.compile(_STAMP + rb"|\[TensorRT-LLM\]\[(?:INFO|WARNING|ERROR)\] |\[TRT-LLM\] \[[IWEDV]\] ")
_BACKEND = re.compile(
    rb"(?:\[TensorRT-LLM\]\[INFO\] |[IWE]\d{4} \d\d:\d\d:\d\d\.\d{1,9} +\d{1,9} [\w./-]{1,100}:\d{1,7}\] )"
    rb'(?="?\{\\?"[A-Z])'
)
_MARK = b"Iteration Counter"
_PAIR = re.compile(
    r"'?([A-Za-z_]\w{0,60})'?(?: = |: )(-?\d{1,18}(?:\.\d{1,20})?(?:e-?\d{1,3})?)(?:/(\d{1,18}))?(ms|s)?(?=[,}\s]|$)"
)
_UNITS = {"ms": "_ms", "s": "_s"}


def accepts_line(line: bytes) -> bool:
    """Whether a line holds the counts of one iteration."""
    if line[:1] not in b"[IWE0123456789":
        return False
    if _ITERATION.match(line) is not None:
        return True
    return _MARK in line[:4000] and _BACKEND.match(line) is not None


def is_structure(line: bytes) -> bool:
    """Whether a line is another one of the engine's."""
    return _OTHER.match(line) is not None


def parse_line(line: bytes, context: FileContext) -> Sequence[Item]:
    """The event of one line."""
    match = _ITERATION.match(line)
    if match is None:
        return _backend(line, context)
    time, number = (part.decode() for part in match.groups())
    text = line[match.end() : match.end() + 4000].decode("utf-8", "replace")
    at, _ = parse_month_first(time, context)
    event = EngineEvent("iteration", at if at is not None else context.at, context.worker or context.source)
    event.iteration = int(number)
    for name, value, most, unit in _PAIR.findall(text):
        read = counts.number(value)
        if read is None or name == "timestamp" or len(event.counts) >= 64:
            continue
        name = counts.snake(name) + _UNITS.get(unit, "")
        if name in ("rank", "global_rank"):
            event.attributes[name] = int(read)
            continue
        event.counts.setdefault(name, read)
        if most:
            event.counts.setdefault(f"{name}_limit", int(most))
    return (event,)


def _backend(line: bytes, context: FileContext) -> Sequence[Item]:
    match = _BACKEND.match(line)
    if match is None:
        raise Reject("unrecognised_line")
    try:
        value: Any = loose_json.loads(line[match.end() :].decode("utf-8"))
        value = loose_json.loads(value) if isinstance(value, str) else value
    except UnicodeDecodeError:
        raise Reject("bad_utf8") from None
    except ValueError:
        raise Reject("bad_json") from None
    if not isinstance(value, dict):
        return STRUCTURE
    at = context.at
    stamp = value.get("Timestamp")
    if isinstance(stamp, str):
        stamped, _ = parse_month_first(stamp, context)
        at = stamped if stamped is not None else at
    event = EngineEvent("iteration", at, context.worker or context.source)
    for name, held in value.items():
        known = isinstance(held, int | float) and not isinstance(held, bool) and abs(held) < 1 << 62
        if name == "Iteration Counter" and isinstance(held, int) and known:
            event.iteration = held
        elif known and len(name) <= 80 and len(event.counts) < 64:
            event.counts[counts.snake(name)] = held
    return (event,)
