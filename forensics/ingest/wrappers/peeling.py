"""What the wrappers have in common: units of what they peel, objects in lines, lines in texts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import orjson

from forensics.ingest.loose_json import loads
from forensics.ingest.units import Unit, shared

Object = dict[str, Any]

_BOM = b"\xef\xbb\xbf"
_OBJECT = re.compile(rb"(?:\xef\xbb\xbf)?\s*\[?\s*\{")
# /var/log/containers/POD_NAMESPACE_CONTAINER-<64 hex>.log and /var/log/pods/NAMESPACE_POD_UID/CONTAINER/0.log
_CONTAINER_FILE = re.compile(r"(?:^|/)([a-z0-9][a-z0-9.-]*)_[a-z0-9-]+_([a-z0-9-]+)-[0-9a-f]{64}\.log")
_POD_FILE = re.compile(r"(?:^|/)[a-z0-9-]+_([a-z0-9][a-z0-9.-]*)_[0-9a-f-]{8,36}/([a-z0-9-]+)/\d+\.log")


def object_of(line: bytes) -> Object | None:
    """The JSON object that is the whole line, or an element of an array that was written one a line; else None."""
    head = line[:1]
    if head != b"{":
        line = line.removeprefix(_BOM).strip()
        if line[:1] not in (b"{", b"["):
            return None
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        value = _loosely(line)
    return value if isinstance(value, dict) else None


def object_with(line: bytes, *marks: bytes) -> Object | None:
    """The object of a line that holds one of `marks`. Only a line that begins as an object is searched for them."""
    if _OBJECT.match(line) is None or not any(mark in line for mark in marks):
        return None
    return object_of(line)


def _loosely(line: bytes) -> Any:
    inner = line.strip()
    if inner[:1] == b"[":
        inner = inner[1:].lstrip()
    if inner[-1:] in (b",", b"]") and inner[:-1].rstrip()[-1:] == b"}":
        inner = inner[:-1].rstrip()
    if inner[:1] != b"{" or inner[-1:] != b"}":
        return None
    try:
        return loads(inner.decode("utf-8"))
    except ValueError:
        return None
    except RecursionError:
        return None


def peeled(unit: Unit, data: bytes, at: int | None, source: str | None) -> Unit:
    """`unit` with what was inside it. An inner wrapper's word is nearer to the writer than an outer one's."""
    return Unit(
        data,
        unit.offset,
        unit.size,
        unit.line,
        unit.lines,
        unit.at if at is None else at,
        source or unit.source,
        cut=unit.cut,
    )


def lines_of(unit: Unit, text: str | bytes, at: int | None = None, source: str | None = None) -> Sequence[Unit]:
    """A message as units: one, or one a line where a collector put several lines into one message.

    A message that is one JSON value over several lines stays whole.
    """
    data = text.encode("utf-8", "replace") if isinstance(text, str) else text
    if data[-1:] == b"\n":
        data = data[:-1]
    if data[-1:] == b"\r":
        data = data[:-1]
    if b"\n" not in data or _is_json(data):
        return (peeled(unit, data, at, source),)
    parts = [peeled(unit, line.removesuffix(b"\r"), at, source) for line in data.split(b"\n")]
    return shared(unit, parts)


def _is_json(data: bytes) -> bool:
    if data.lstrip()[:1] not in (b"{", b"["):
        return False
    try:
        orjson.loads(data)
    except orjson.JSONDecodeError:
        return False
    return True


def structure(unit: Unit) -> Unit:
    """`unit` as syntax of its wrapper: counted, not read."""
    return replace(unit, structure=True)


def refused(unit: Unit, reason: str) -> Unit:
    """`unit` as one that its wrapper cannot read, and why."""
    return replace(unit, reason=reason)


def text_at(obj: Object, *path: str) -> str | None:
    """The filled text at `path`, the keys nested or joined by dots; else None."""
    value: Any = obj
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    if value is None and len(path) > 1:
        value = obj.get(".".join(path))
    return value if isinstance(value, str) and value else None


def source_of_file(name: str) -> str | None:
    """Pod and container from the name of a log file of a Kubernetes node, or None."""
    match = _CONTAINER_FILE.search(name) or _POD_FILE.search(name)
    return f"{match.group(1)}/{match.group(2)}" if match else None
