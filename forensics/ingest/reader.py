"""One evidence file as a sequence of blocks and an account of every byte. Writes nothing."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from forensics.ingest import transcoders, wrappers
from forensics.ingest.blocks import BLOCK_BYTES, Oversized, plain_blocks, stream_blocks
from forensics.ingest.cloudflare import PrivateKey
from forensics.ingest.detect import (
    SAMPLE_LINES,
    Detected,
    detect,
    detect_lines,
    inside,
    judge,
    later_samples,
    sample_of,
)
from forensics.ingest.documents import document_blocks, value_spans
from forensics.ingest.files import EvidenceFile
from forensics.ingest.otlp_values import framed_stream
from forensics.ingest.record import FileContext
from forensics.ingest.registry import FALLBACK, Registry, registry
from forensics.ingest.sglang import worker_of_file
from forensics.ingest.streams import Limits, StreamEnd, pieces
from forensics.ingest.streams import peel as peel_streams
from forensics.ingest.units import Unit, line_units, span_units, unit_blocks
from forensics.ingest.worker import Block, BlockResult, FileFacts
from forensics.ingest.wrappers import peel

_LEAST_BLOCK = 256 << 10
_BLOCK_LINES = 40_000
LIMIT_REASONS = ("ratio", "size", "memory", "members", "depth")


@dataclass(frozen=True)
class Reading:
    """How evidence is read. A change of any of these reads the evidence anew."""

    format: str | None
    time_zone: str
    max_line_bytes: int
    max_ratio: int
    max_bytes: int
    max_members: int
    max_depth: int
    profiles: tuple[str, ...] = ()  # TOML of the user's own profiles
    private_keys: tuple[PrivateKey, ...] = ()  # that open encrypted fields
    allow_pickle: bool = False  # whether what pickles say of their data is read; they are never run

    def saved(self) -> dict[str, Any]:
        """What the case remembers of it: of a private key its fingerprint alone."""
        body = asdict(self)
        body["private_keys"] = [key.fingerprint for key in self.private_keys]
        if not self.allow_pickle:
            del body["allow_pickle"]
        return body


@dataclass
class Account:
    """What became of one file: lines and bytes of each sort."""

    file: EvidenceFile
    sha256: str
    compression: str
    detected: Detected
    lines: int = 0
    content_bytes: int = 0
    records: int = 0
    rejected: int = 0
    blank: int = 0
    structure: int = 0
    record_bytes: int = 0
    rejected_bytes: int = 0
    blank_bytes: int = 0
    structure_bytes: int = 0
    naive_times: int = 0
    complete: bool = True
    broken: str | None = None
    notices: dict[str, int] = field(default_factory=dict)

    def add(self, result: BlockResult) -> None:
        """Count a block."""
        for name in _COUNTS:
            setattr(self, name, getattr(self, name) + getattr(result, name))
        self.content_bytes += result.record_bytes + result.rejected_bytes + result.blank_bytes + result.structure_bytes
        for name, count in result.notices.items():
            self.notices[name] = self.notices.get(name, 0) + count

    def pass_over(self, stretch: Oversized) -> None:
        """Count a stretch that was not read."""
        self.rejected += 1
        self.rejected_bytes += stretch.length
        self.content_bytes += stretch.length
        self.lines += stretch.lines
        if not stretch.lines:
            self.complete = False
            self.broken = stretch.reason

    @property
    def format(self) -> str:
        """The format's name; `unknown` where nothing of it was found."""
        if not self.records and (not self.structure or self.detected.format == "unknown"):
            return "unknown"
        return self.detected.format if self.detected.format != "unknown" else FALLBACK

    def check(self) -> None:
        """Every byte is accounted for; an error here is a fault of the program."""
        parts = self.record_bytes + self.rejected_bytes + self.blank_bytes + self.structure_bytes
        if parts != self.content_bytes:
            raise AssertionError("the bytes of a file do not add up")
        if self.compression == "none" and self.content_bytes != self.file.size and self.complete:
            raise AssertionError("a file was not read to its end")


_COUNTS = (
    "lines",
    "records",
    "rejected",
    "blank",
    "structure",
    "record_bytes",
    "rejected_bytes",
    "blank_bytes",
    "structure_bytes",
    "naive_times",
)


def open_file(file: EvidenceFile, sha256: str, reading: Reading) -> tuple[Account, Iterator[Block | Oversized]]:
    """The account of a file, still empty, and its blocks, not yet read."""
    peeled = peel_streams(file.path, reading.max_depth)
    compression = peeled.compression
    with file.path.open("rb") as source:
        head = source.read(min(transcoders.HEAD, file.size))
    if peeled.inner != "none":
        return refuse(file, sha256, "depth" if peeled.inner == "depth" else "unsupported_container", peeled.inner)
    known = registry(reading.profiles)
    if compression == "none" and (container := transcoders.of_head(head)) is not None:
        return _transcoded(file, sha256, container, reading, known)
    if compression == "none" and (why := framed_stream(head, file.size)) is not None:
        return refuse(file, sha256, "unsupported_container", sentence=why)
    samples = sample_of(file.path, file.size, compression)
    if compression != "none" and (container := transcoders.of_head(samples[0][: transcoders.HEAD])) is not None:
        sentence = f"a {container} file inside {compression}, which is not supported; decompress it first"
        return refuse(file, sha256, "unsupported_container", sentence=sentence)
    context = _context(file, reading)
    detected = detect(samples, context, known)
    if detected.format == "unknown" and not detected.document and compression != "none":
        samples += later_samples(file.path, compression)
        detected = detect_lines(samples, context, known)
    limits = Limits(reading.max_ratio, reading.max_bytes, file.budget)
    document: bytes | None = None
    broken: str | None = None
    if detected.document:
        document, broken = _content(file, compression, limits, reading.max_line_bytes)
        if document is not None:
            detected = _judge_document(document, context, known)
        else:
            detected = detect_lines(samples, context, known)
            context.notice("document_too_long")
    elif detected.format == "unknown" and compression == "none" and b"\0" in samples[0] and reading.format is None:
        return refuse(file, sha256, "binary", "binary")
    if reading.format is not None:
        reason = inside("named by the user", detected.wrapped)
        detected = replace(detected, format=reading.format, reason=reason)
    facts = _facts(file, detected, reading, known)
    account = Account(file, sha256, compression, detected)
    blocks: Iterator[Block | Oversized]
    if document is not None:
        blocks = _document(document, broken, facts, detected.chain, context)
    else:
        # Short lines make many rows: fewer bytes a block keep the memory of a block level.
        lines = sum(sample.count(b"\n") for sample in samples) + 1
        block_bytes = min(BLOCK_BYTES, max(_LEAST_BLOCK, sum(map(len, samples)) // lines * _BLOCK_LINES))
        if compression == "none":
            blocks = plain_blocks(file.path, file.size, facts, block_bytes)
        else:
            blocks = stream_blocks(file.path, compression, limits, facts, block_bytes)
        if detected.chain:
            blocks = unit_blocks(peel(line_units(blocks), detected.chain, context), facts)
    return account, _noticed(_closed(blocks, facts), account, context)


def _transcoded(
    file: EvidenceFile, sha256: str, container: str, reading: Reading, known: Registry
) -> tuple[Account, Iterator[Block | Oversized]]:
    """A container whose records are no lines."""
    why = transcoders.missing(container)
    if why is not None:
        return refuse(file, sha256, "unsupported_container", sentence=why)
    forbidden = transcoders.forbidden(container, allow_pickle=reading.allow_pickle)
    if forbidden is not None:
        return refuse(file, sha256, forbidden[0], sentence=forbidden[1])
    context = _context(file, reading)
    limits = Limits(reading.max_ratio, reading.max_bytes, file.budget)
    units = transcoders.units(container, file.path, file.size, limits, context)
    # What is sampled is kept: some containers are read as a whole before they give the first record.
    first = list(itertools.islice(units, SAMPLE_LINES))
    sampled = [unit.data for unit in first if isinstance(unit, Unit) and unit.reason is None and unit.data]
    detected = judge(sampled, context, known, f"records of a {container} file")
    if not sampled:
        detected = Detected("unknown", f"a {container} file without one record that can be read")
    if reading.format is not None:
        detected = replace(detected, format=reading.format, reason="named by the user")
    facts = _facts(file, detected, reading, known)
    account = Account(file, sha256, "none", detected)
    return account, _noticed(_closed(unit_blocks(itertools.chain(first, units), facts), facts), account, context)


def _context(file: EvidenceFile, reading: Reading) -> FileContext:
    return FileContext(
        file.name,
        ZoneInfo(reading.time_zone),
        worker_of_file(file.name),
        file.modified_ns // 1000,
        max_line_bytes=reading.max_line_bytes,
    )


def _facts(file: EvidenceFile, detected: Detected, reading: Reading, known: Registry) -> FileFacts:
    name = detected.format if detected.format != "unknown" else FALLBACK
    return FileFacts(
        file.name,
        name,
        reading.format is not None,
        reading.time_zone,
        worker_of_file(file.name),
        reading.max_line_bytes,
        file.modified_ns // 1000,
        reading.profiles,
        known.load(name).KIND == "log",
        reading.private_keys,
    )


def _closed(blocks: Iterator[Block | Oversized], facts: FileFacts) -> Iterator[Block | Oversized]:
    """The blocks, each with the number of lines before it, and the closing one, where a reader collects lines."""
    if not facts.sequential:
        yield from blocks
        return
    line = end = 0
    for block in blocks:
        if isinstance(block, Oversized):
            line += block.lines
            yield block
            continue
        if block.units is not None:
            line += sum(unit.lines for unit in block.units)
        else:
            data = block.content()
            block = replace(block, data=data, line=line)
            line += data.count(b"\n") + (0 if data.endswith(b"\n") or not data else 1)
            end = block.offset + len(data)
        yield block
    yield Block(facts, end, data=b"", line=line, last=True, closing=True)


def _noticed(
    blocks: Iterator[Block | Oversized], account: Account, context: FileContext
) -> Iterator[Block | Oversized]:
    """The blocks; then what the wrappers noticed goes to the account."""
    yield from blocks
    account.naive_times += context.naive_times
    for name, count in context.notices.items():
        account.notices[name] = account.notices.get(name, 0) + count


def _document(
    document: bytes, broken: str | None, facts: FileFacts, chain: tuple[str, ...], context: FileContext
) -> Iterator[Block | Oversized]:
    if chain:
        yield from unit_blocks(peel(span_units(document, value_spans(document)), chain, context), facts)
    else:
        yield from document_blocks(document, facts)
    if broken is not None:
        yield Oversized(len(document), 0, broken, hashlib.sha256(b"").hexdigest(), 0)


_WHY = {
    "binary": "a binary file of no known format",
    "depth": "more layers of compression or archives than the limit allows",
    "unsupported_container": "a {} file, which is not supported",
    "unsupported_member": "a member of an archive in a form ({}) that is not supported",
    "encrypted_member": "an encrypted member of an archive",
    "overlapping_member": "a member of an archive that shares its bytes with another",
}


def refuse(
    file: EvidenceFile, sha256: str, reason: str, what: str = "", sentence: str = ""
) -> tuple[Account, Iterator[Block | Oversized]]:
    """A file that is not read: all of it is one reject. `what` names its form; `sentence` says more than the reason."""
    # A limit makes the run partial, and the stretch counts no line then.
    stretch = Oversized(0, file.size, reason, sha256, 0 if reason in LIMIT_REASONS else 1)
    return Account(file, sha256, "none", Detected("unknown", sentence or _WHY[reason].format(what))), iter((stretch,))


def _content(file: EvidenceFile, compression: str, limits: Limits, most: int) -> tuple[bytes | None, str | None]:
    """The whole content where it is within `most` bytes, and why it broke off, if it did."""
    if compression == "none":
        return (_read(file.path, file.size) if file.size <= most else None), None
    parts: list[bytes] = []
    size = 0
    try:
        for piece, _ in pieces(file.path, compression, limits):
            parts.append(piece)
            size += len(piece)
            if size > most:
                return None, None
    except StreamEnd as end:
        return b"".join(parts), end.reason
    return b"".join(parts), None


def _read(path: Path, size: int) -> bytes:
    with path.open("rb") as file:
        return file.read(size)


def _judge_document(document: bytes, context: FileContext, known: Registry) -> Detected:
    raws = [document[start : start + length] for start, length in itertools.islice(value_spans(document), 100)]
    chain, units, words = wrappers.chain_of(raws, context)
    found = judge(units, context, known, "lines" if chain else "values of one JSON document")
    return Detected(found.format, inside(found.reason, words), document=True, chain=chain, wrapped=words)
