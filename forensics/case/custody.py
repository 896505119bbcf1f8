"""The custody log: who did what to the case, in a chain that shows tampering. Does not decide what is worth logging.

One JSON object a line. Each line carries the SHA-256 of the line before it, so that a changed, removed or inserted
line breaks the chain from there on. The log holds wall-clock times; no result does.
"""

from __future__ import annotations

import fcntl
import getpass
import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from forensics.case.errors import HashMismatch

GENESIS = "0" * 64


@dataclass(frozen=True)
class CustodyEntry:
    """One action. `object` names what was touched (an evidence digest, a stage, a fragment id), never log text."""

    sequence: int
    utc: str
    actor: str
    action: str
    object: str
    sha256: str
    reason: str
    previous: str
    this: str


def _digest(body: dict[str, object]) -> str:
    return hashlib.sha256(orjson.dumps(body, option=orjson.OPT_SORT_KEYS)).hexdigest()


def append(path: Path, action: str, object_: str, sha256: str = "", reason: str = "") -> None:
    """Append one action to the log at `path`, chained to the last line. One process appends at a time."""
    append_all(path, [(action, object_, sha256, reason)])


def append_all(path: Path, actions: Iterable[tuple[str, str, str, str]]) -> None:
    """Append (action, object, SHA-256, reason) of each in turn. All reach the disk, or the call does not return.

    The log is read once to find its end, and made durable once: for each of thousands of files of evidence, both would
    take longer than the files do.
    """
    with path.open("ab") as log:
        fcntl.flock(log, fcntl.LOCK_EX)  # readers of a case log their looks, and several may read at once
        entries = list(read(path))
        sequence, previous = (entries[-1].sequence + 1, entries[-1].this) if entries else (0, GENESIS)
        lines: list[bytes] = []
        for number, action in enumerate(actions, start=sequence):
            body = _body(number, previous, *action)
            previous = _digest(body)
            lines.append(orjson.dumps({**body, "this": previous}, option=orjson.OPT_SORT_KEYS) + b"\n")
        log.write(b"".join(lines))
        log.flush()
        os.fsync(log.fileno())


def _body(sequence: int, previous: str, action: str, object_: str, sha256: str, reason: str) -> dict[str, object]:
    return {
        "sequence": sequence,
        "utc": datetime.now(UTC).isoformat(timespec="microseconds"),
        "actor": os.environ.get("FORENSICS_ACTOR") or _user(),
        "action": action,
        "object": object_,
        "sha256": sha256,
        "reason": reason,
        "previous": previous,
    }


def read(path: Path) -> Iterator[CustodyEntry]:
    """Entries of the log, in order. An absent log is empty. Raises HashMismatch for a line that is not JSON."""
    if not path.exists():
        return
    for number, line in enumerate(path.read_bytes().split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            yield CustodyEntry(**orjson.loads(line))
        except (orjson.JSONDecodeError, TypeError) as error:
            raise HashMismatch(f"custody.jsonl line {number} is not a custody entry") from error


def mark(entries: list[CustodyEntry]) -> dict[str, Any]:
    """How long the log is, and its last digest: what a record keeps to know it by."""
    return {"entries": len(entries), "head": entries[-1].this if entries else GENESIS}


def begins_as(entries: list[CustodyEntry], marked: dict[str, Any]) -> bool:
    """Whether the log still begins with the one that was `marked`: a log cut at its end has a sound chain, too."""
    count = marked["entries"]
    return 0 <= count <= len(entries) and bool(mark(entries[:count])["head"] == marked["head"])


def verify(path: Path) -> int:
    """Recompute the chain; returns the number of entries. Raises HashMismatch at the first broken link."""
    previous = GENESIS
    count = 0
    for count, entry in enumerate(read(path), start=1):
        body = {k: v for k, v in vars(entry).items() if k != "this"}
        if entry.previous != previous or entry.sequence != count - 1 or _digest(body) != entry.this:
            raise HashMismatch(
                f"custody.jsonl entry {count - 1} does not follow from the one before: the log was changed"
            )
        previous = entry.this
    return count


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"
