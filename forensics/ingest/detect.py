"""Which format a file is in, and why. Looks at samples from the head, the middle and the end; reads no whole file."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from forensics.ingest import parsers, wrappers
from forensics.ingest.record import FileContext, Reject
from forensics.ingest.registry import Registry
from forensics.ingest.sglang import STAMP
from forensics.ingest.streams import Limits, StreamEnd, pieces

SAMPLE_LINES = 200
_HEAD = 4 << 20
_PART = 1 << 20


@dataclass(frozen=True)
class Detected:
    """The format (`unknown` where nothing fits), the reason in words, whether the file is one JSON document, and the
    wrappers around its lines, outermost first.
    """

    format: str
    reason: str
    document: bool = False
    chain: tuple[str, ...] = ()


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


def detect(samples: Sequence[bytes], context: FileContext, known: Registry) -> Detected:
    """The format of a file, from its samples."""
    head = samples[0].removeprefix(b"\xef\xbb\xbf")
    if not head.strip():
        return Detected("unknown", "the file is empty" if not head else "the file holds blanks only")
    if is_document(head):
        return Detected("unknown", "one JSON document", document=True)
    return detect_lines(samples, context, known)


def detect_lines(samples: Sequence[bytes], context: FileContext, known: Registry) -> Detected:
    """The format of a file that is read line by line."""
    chain, lines = wrappers.chain_of(sampled_lines(samples), context)
    found = judge(lines, context, known)
    if not chain:
        return found
    return Detected(found.format, f"{found.reason}, inside {' inside '.join(reversed(chain))}", chain=chain)


def judge(lines: Sequence[bytes], context: FileContext, known: Registry, what: str = "lines") -> Detected:
    """The format that most of the sampled units are in; each counts for the first parser that takes it."""
    scores: dict[str, int] = {}
    for line in lines:
        parser = _parser_of(line, context, known)
        if parser is not None:
            scores[parser.NAME] = scores.get(parser.NAME, 0) + 1
    if scores:
        order = known.names
        name = max(scores, key=lambda key: (scores[key], -order.index(key)))
        # An engine's facts may outnumber its requests by far; the file is still a log of requests.
        beside = [key for key in getattr(known.load(name), "BESIDE", ()) if key in scores]
        name = max(beside, key=lambda key: scores[key]) if beside else name
        reason = f"{scores[name]} of {len(lines)} sampled {what} are {name} records"
        others = ", ".join(key for key in order if key in scores and key != name)
        return Detected(name, f"{reason}; others are {others}" if others else reason)
    for text in known.texts:
        structure = sum(1 for line in lines if known.is_structure(line, (text,)))
        if structure and structure * 2 >= len(lines):
            return Detected(
                text.NAME, f"{structure} of {len(lines)} sampled {what} are {text.NAME} lines, none a record"
            )
    return Detected("unknown", f"none of {len(lines)} sampled {what} is a record of a known format")


def _parser_of(line: bytes, context: FileContext, known: Registry) -> Any | None:
    value = _object(line, context)
    if isinstance(value, list):
        value = next(iter(value), None)
    if isinstance(value, dict):
        return known.of_object(value)
    return known.of_line(line)


def is_document(head: bytes) -> bool:
    """Whether a file is one JSON value over several lines, or an array of records."""
    first, _, rest = head.lstrip().partition(b"\n")
    first = first.strip()
    if first == b"{":
        return bool(rest.strip())
    if first[:1] != b"[" or STAMP.match(first):
        return False
    return first in (b"[", b"[]") or first[1:].lstrip()[:1] in (b"{", b"[", b"]")


def sampled_lines(samples: Sequence[bytes]) -> list[bytes]:
    """Up to 200 filled lines of every sample."""
    lines: list[bytes] = []
    for sample in samples:
        found = [line for line in sample.split(b"\n") if line.strip()]
        if len(found) > 1 and not sample.endswith(b"\n"):
            found.pop()
        step = max(1, len(found) // SAMPLE_LINES)
        lines += found[::step][:SAMPLE_LINES]
    return lines


def _object(line: bytes, context: FileContext) -> Any:
    from forensics.ingest.lines import load_json

    split = parsers.load("sglang_json").split(line)
    try:
        return orjson.loads(split[0] if split else line)
    except orjson.JSONDecodeError:
        pass
    if len(line) > 1 << 20:
        return None
    try:
        return load_json(line, FileContext(context.name, context.zone))
    except (Reject, RecursionError):
        return None
