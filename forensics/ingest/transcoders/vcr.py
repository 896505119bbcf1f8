"""Cassettes in YAML (vcrpy's, Ruby VCR's): the interactions as JSON. Needs PyYAML, the extra `vcr`.

The document is read as events and never built by the library: every scalar stays the text that it is, whatever it looks
like; bytes are kept as base64; no tag is obeyed but that of bytes. Depth, aliases and the number of nodes are bounded.
"""

from __future__ import annotations

import hashlib
import importlib.util
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import orjson

from forensics.ingest.blocks import Oversized
from forensics.ingest.files import stretch_digest
from forensics.ingest.record import FileContext
from forensics.ingest.streams import Limits
from forensics.ingest.units import Unit, shared

NAME = "vcr"
TITLE = "Cassettes in YAML, with the extra `vcr`"
VERSIONS = "vcrpy 1 to 7, Ruby VCR 6"
SOURCE = "public fixtures of cassettes; the serializers' source"

MOST_BYTES = 64 << 20
MOST_DEPTH = 60
MOST_NODES = 2_000_000
_BEGIN = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:[ \t]*(?:#[^\n]{0,400})?\r?\n|---[^\n]{0,100}\n"
    rb"|(?:version|recorded_with|name|record_mode): [^\n]{0,400}\n){0,40}"
    rb"(?:http_)?interactions:[ \t]*\r?(?:\n|$)"
)
_KEYS = ("interactions", "http_interactions")
_BINARY = ("tag:yaml.org,2002:binary", "!binary")


class _Refused(Exception):
    """The document is beyond the bounds."""


def accepts(head: bytes) -> bool:
    """Whether a file begins as a cassette does."""
    return _BEGIN.match(head) is not None


def missing() -> str | None:
    """What is not installed."""
    if importlib.util.find_spec("yaml") is None:
        return "a VCR cassette in YAML; to read it, install the extra: pip install leak-forensics[vcr]"
    return None


def units(path: Path, size: int, limits: Limits, context: FileContext) -> Iterator[Unit | Oversized]:
    """One unit per interaction; the lines around them are structure."""
    if size > MOST_BYTES:
        yield Oversized(0, size, "oversized_line", stretch_digest(path, 0, size), 1)
        return
    with path.open("rb") as file:
        data = file.read(size)
    try:
        found = _interactions(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        yield _refused(data, "bad_utf8")
        return
    except (ValueError, _Refused):
        yield _refused(data, "bad_yaml")
        return
    yield from _placed(data, found)


def _refused(data: bytes, reason: str) -> Oversized:
    return Oversized(0, len(data), reason, hashlib.sha256(data).hexdigest(), max(1, data.count(b"\n")))


def _placed(data: bytes, found: list[tuple[int, Any]]) -> Iterator[Unit]:
    """Each interaction with the lines from its first one to the next interaction's."""
    starts = [0]
    for line in data.split(b"\n")[:-1]:
        starts.append(starts[-1] + len(line) + 1)
    rows = [row for row, _ in found]
    texts = [orjson.dumps(value) for _, value in found]
    if not found or any(a >= b for a, b in pairwise(rows)) or rows[-1] >= len(starts):
        # Several interactions in one line have no places of their own.
        whole = Unit(b"", 0, len(data), 0, data.count(b"\n"))
        yield from shared(whole, [replace(whole, data=text) for text in texts])
        return
    if starts[rows[0]]:
        yield Unit(b"", 0, starts[rows[0]], 0, rows[0], structure=True)
    ends = [*(starts[row] for row in rows[1:]), len(data)]
    for row, end, text in zip(rows, ends, texts, strict=True):
        start = starts[row]
        yield Unit(text, start, end - start, row, data.count(b"\n", start, end))


def _interactions(text: str) -> list[tuple[int, Any]]:
    """(line, value) of every interaction. Raises ValueError where the text is no YAML, _Refused beyond the bounds."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return _built(yaml.parse(text, Loader=loader))
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError("no YAML") from error


def _built(events: Any) -> list[tuple[int, Any]]:
    """The interactions, from the events of the document."""
    import yaml

    found: list[tuple[int, Any]] = []
    anchors: dict[str, tuple[Any, int]] = {}
    # Open containers: (value, its anchor, key at hand or None, the number of nodes before it)
    stack: list[list[Any]] = []
    nodes = 0
    for event in events:
        if isinstance(event, yaml.SequenceStartEvent | yaml.MappingStartEvent):
            if len(stack) >= MOST_DEPTH:
                raise _Refused
            value: Any = [] if isinstance(event, yaml.SequenceStartEvent) else {}
            stack.append([value, event.anchor, None, nodes, event.start_mark.line if event.start_mark else 0])
            nodes += 1
        elif isinstance(event, yaml.SequenceEndEvent | yaml.MappingEndEvent):
            value, anchor, _, before, row = stack.pop()
            if anchor:
                anchors[anchor] = (value, nodes - before)
            if stack and _is_interaction(stack):
                found.append((row, value))
                _put(stack, None)
            else:
                _put(stack, value)
        elif isinstance(event, yaml.ScalarEvent):
            # Texts weigh as well, lest an alias repeat a long one without end.
            weight = 1 + len(event.value) // 100
            nodes += weight
            value = _scalar(event)
            if event.anchor:
                anchors[event.anchor] = (value, weight)
            _put(stack, value)
        elif isinstance(event, yaml.AliasEvent):
            value, cost = anchors.get(event.anchor or "", (None, 1))
            nodes += cost
            _put(stack, value)
        if nodes > MOST_NODES:
            raise _Refused
    return found


def _is_interaction(stack: list[list[Any]]) -> bool:
    return len(stack) == 2 and isinstance(stack[1][0], list) and stack[0][2] in _KEYS


def _put(stack: list[list[Any]], value: Any) -> None:
    if not stack:
        return
    top = stack[-1]
    holder = top[0]
    if isinstance(holder, list):
        holder.append(value)
    elif top[2] is None:
        # A key that is no text has no place in JSON.
        top[2] = value if isinstance(value, str) else ""
    else:
        holder[top[2]] = value
        top[2] = None


def _scalar(event: Any) -> Any:
    if event.tag in _BINARY:
        return {"base64": "".join(event.value.split())}
    if event.style is None and event.tag is None and event.value in ("", "~", "null", "Null", "NULL"):
        return None
    # Half of a pair of surrogates has no UTF-8 form.
    return event.value.encode("utf-8", "replace").decode("utf-8")
