"""Which format a file is in, and why. Looks at samples from the head, the middle and the end; reads no whole file."""

from __future__ import annotations

import contextlib
import re
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

# The first line of an object that is written over several lines, and no object whose line was cut short.
_OPENED = re.compile(rb"""\{\s*"[^"\\]{1,80}"\s*:\s*(?:[\[{]|-?\d+,|true,|false,|null,|"[^"\\]{0,200}",)$""")
SAMPLE_LINES = 200
_RUN = 20  # lines that are sampled together: records over several lines, and lines in pieces, stay whole
_HEAD = 4 << 20
_PART = 1 << 20
_DEEPEST = 256 << 20
_TABLE_LINES = 2000


@dataclass(frozen=True)
class Detected:
    """The format (`unknown` where nothing fits), the reason in words, whether the file is one JSON document, and the
    wrappers around its lines, outermost first.
    """

    format: str
    reason: str
    document: bool = False
    chain: tuple[str, ...] = ()
    wrapped: str = ""  # the chain in words


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


def later_samples(path: Path, compression: str) -> list[bytes]:
    """Parts of a compressed file after its head, at doubling distances, and the last that was reached; each from a
    line's start. Reads 256 MiB at most: only for files whose head says nothing.
    """
    parts: list[bytearray] = []
    position, target = 0, _HEAD
    last = b""
    with contextlib.suppress(StreamEnd):
        for piece, _ in pieces(path, compression, Limits(1000, _DEEPEST)):
            position += len(piece)
            if position >= target:
                target *= 2
                parts.append(bytearray())
            if parts and len(parts[-1]) < _PART // 4:
                parts[-1] += piece[: _PART // 4]
            last = (last + piece)[-_PART:]
            if position >= _DEEPEST:
                break
    found = [*map(bytes, parts), last] if parts else []
    return [part[part.find(b"\n") + 1 :] for part in found]


def detect(samples: Sequence[bytes], context: FileContext, known: Registry) -> Detected:
    """The format of a file, from its samples."""
    head = samples[0].removeprefix(b"\xef\xbb\xbf")
    if not head.strip():
        return Detected("unknown", "the file is empty" if not head else "the file holds blanks only")
    if is_document(head):
        return Detected("unknown", "one JSON document", document=True)
    if wrappers.load(wrappers.TABLES).is_table(head):
        return detect_lines([head], context, known, (wrappers.TABLES,))
    return detect_lines(samples, context, known)


def detect_lines(
    samples: Sequence[bytes], context: FileContext, known: Registry, outer: tuple[str, ...] = ()
) -> Detected:
    """The format of a file that is read line by line; `outer` are the wrappers that are known to be there."""
    # The rows of a table may have several lines: they are read on from the first.
    if outer:
        sampled = [line.removesuffix(b"\r") for line in samples[0].split(b"\n")[:_TABLE_LINES]]
    else:
        sampled = sampled_lines(samples)
    chain, lines, words = wrappers.chain_of(sampled, context, outer)
    found = judge(lines, context, known)
    return Detected(found.format, inside(found.reason, words), chain=chain, wrapped=words)


def inside(reason: str, words: str) -> str:
    """`reason`, and what the lines are wrapped in."""
    return f"{reason}, inside {words}" if words else reason


def judge(lines: Sequence[bytes], context: FileContext, known: Registry, what: str = "lines") -> Detected:
    """The format that most of the sampled units are in; each counts for the first parser that takes it."""
    lines = [line for line in lines if line.strip()]
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
        others = sorted((key for key in scores if key != name), key=lambda key: (-scores[key], order.index(key)))
        listed = ", ".join(f"{key} ({scores[key]})" for key in others)
        return Detected(name, f"{reason}; others are {listed}" if listed else reason)
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
        value = value[0] if value and isinstance(value[0], dict) else known.of_array(value)
    if isinstance(value, dict):
        return known.of_object(value)
    return known.of_line(line)


def is_document(head: bytes) -> bool:
    """Whether a file is one JSON value over several lines, or an array of records."""
    first, _, rest = head.lstrip().partition(b"\n")
    first = first.strip()
    if first[:1] == b"{":
        # A brace alone, or an object that opens something or goes on after a comma.
        opened = first == b"{" or (first[-1:] in (b"{", b"[", b",") and _OPENED.match(first) is not None)
        return opened and bool(rest.strip())
    if first[:1] != b"[" or STAMP.match(first):
        return False
    return first in (b"[", b"[]") or first[1:].lstrip()[:1] in (b"{", b"[", b"]")


def sampled_lines(samples: Sequence[bytes]) -> list[bytes]:
    """Up to 200 filled lines of every sample, in runs of 20."""
    lines: list[bytes] = []
    for sample in samples:
        found = [line for line in sample.split(b"\n") if line.strip()]
        if len(found) > 1 and not sample.endswith(b"\n"):
            found.pop()
        if len(found) <= SAMPLE_LINES:
            lines += found
            continue
        runs = SAMPLE_LINES // _RUN
        for run in range(runs):
            start = run * (len(found) - _RUN) // (runs - 1)
            lines += found[start : start + _RUN]
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
