"""Which format a file is in, and why. Looks at samples from the head, the middle and the end; reads no whole file."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from forensics.ingest import parsers
from forensics.ingest.record import FileContext, Reject
from forensics.ingest.sglang import STAMP, is_structure
from forensics.ingest.streams import Limits, StreamEnd, pieces

SAMPLE_LINES = 200
_HEAD = 4 << 20
_PART = 1 << 20


@dataclass(frozen=True)
class Detected:
    """The format (`unknown` where nothing fits), the reason in words, and whether the file is one JSON document."""

    format: str
    reason: str
    document: bool = False


def sample_of(path: Path, size: int, compression: str) -> list[bytes]:
    """The first bytes of a file and, where it is plain, parts of its middle and end, each from a line's start."""
    if compression != "none":
        head: list[bytes] = []
        with contextlib.suppress(StreamEnd):
            for piece, _ in pieces(path, compression, Limits(1 << 30, 64 * _HEAD)):
                head.append(piece)
                if sum(map(len, head)) >= _HEAD:
                    break
        return [b"".join(head)]
    with path.open("rb") as file:
        parts = [file.read(_HEAD)]
        if size > _HEAD + _PART:
            for position in (size // 2, size - _PART):
                file.seek(position)
                part = file.read(_PART)
                parts.append(part[part.find(b"\n") + 1 :])
    return parts


def detect(samples: Sequence[bytes], context: FileContext) -> Detected:
    """The format of a file, from its samples."""
    head = samples[0].removeprefix(b"\xef\xbb\xbf")
    if not head.strip():
        return Detected("unknown", "the file is empty" if not head else "the file holds blanks only")
    if is_document(head):
        return Detected("unknown", "one JSON document", document=True)
    return detect_lines(samples, context)


def detect_lines(samples: Sequence[bytes], context: FileContext) -> Detected:
    """The format of a file that is read line by line."""
    lines = _lines(samples)
    return judge(lines, [_object(line) for line in lines], context)


def judge(lines: Sequence[bytes], objects: Sequence[Any], context: FileContext) -> Detected:
    """The format that most of the sampled lines are in."""
    dicts = [value for value in objects if isinstance(value, dict)]
    scores: dict[str, int] = {name: parsers.load(name).detect(dicts) for name in parsers.OBJECT_PARSERS}
    text = parsers.load("sglang_text")
    scores["sglang_text"] = sum(1 for line in lines if text.accepts_line(line))
    name = max(scores, key=lambda key: scores[key])
    if scores[name]:
        return Detected(name, f"{scores[name]} of {len(lines)} sampled lines are {name} records")
    stamped = sum(1 for line in lines if STAMP.match(line) and is_structure(line))
    if stamped and stamped * 2 >= len(lines):
        return Detected("sglang_text", f"{stamped} of {len(lines)} sampled lines are SGLang log lines, none a request")
    return Detected("unknown", f"none of {len(lines)} sampled lines is a record of a known format")


def is_document(head: bytes) -> bool:
    """Whether a file is one JSON value over several lines, or an array of records."""
    first, _, rest = head.lstrip().partition(b"\n")
    first = first.strip()
    if first == b"{":
        return bool(rest.strip())
    if first[:1] != b"[" or STAMP.match(first):
        return False
    return first in (b"[", b"[]") or first[1:].lstrip()[:1] in (b"{", b"[", b"]")


def _lines(samples: Sequence[bytes]) -> list[bytes]:
    lines: list[bytes] = []
    for sample in samples:
        found = [line for line in sample.split(b"\n") if line.strip()]
        if len(found) > 1 and not sample.endswith(b"\n"):
            found.pop()
        step = max(1, len(found) // SAMPLE_LINES)
        lines += found[::step][:SAMPLE_LINES]
    return lines


def _object(line: bytes) -> Any:
    from forensics.ingest.lines import load_json

    split = parsers.load("sglang_json").split(line)
    try:
        return orjson.loads(split[0] if split else line)
    except orjson.JSONDecodeError:
        pass
    if len(line) > 1 << 20:
        return None
    try:
        return load_json(line, FileContext("", None))
    except (Reject, RecursionError):
        return None
