"""Which files are the evidence: walks folders, hashes, tells what is left out. Opens regular files only."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from forensics.case import errors

if TYPE_CHECKING:
    from forensics.ingest.streams import Budget

# Small enough to stay in the processor's cache, where what was read is hashed at once.
_STEP = 256 << 10


@dataclass(frozen=True)
class EvidenceFile:
    """One file as it lies on disk. `name` is for display and never becomes a path.

    A member of an archive has the archive's digest in `container_sha256`, lies at `path` in the case's own folder until
    it is read, and shares its `budget` with all that comes of the same given file. `broken` says why it ends early.
    """

    path: Path
    name: str
    size: int
    modified_ns: int
    container_sha256: str | None = None
    budget: Budget | None = None
    broken: str | None = None


def find_evidence(given: Sequence[Path], leave_out: Path) -> tuple[list[EvidenceFile], list[str]]:
    """Every regular file of `given`, folders walked, sorted; and sentences about what was left out.

    Raises MissingInput for a path that is not there, or that cannot be read. The case's own folder is left out.
    """
    found: dict[Path, EvidenceFile] = {}
    notes: list[str] = []
    skipped = 0
    inside = leave_out.resolve()
    for top in given:
        if not top.exists():
            raise errors.MissingInput(f"{top} does not exist; give evidence files or folders")
        if top.is_dir():
            for folder, folders, names in os.walk(top):
                folders.sort()
                folders[:] = [name for name in folders if (Path(folder) / name).resolve() != inside]
                for name in sorted(names):
                    path = Path(folder) / name
                    label = Path(top.resolve().name) / path.relative_to(top)
                    entry = _entry(path, label)
                    if entry is None:
                        skipped += 1
                    else:
                        found.setdefault(path.resolve(), entry)
        else:
            entry = _entry(top, Path(top.name))
            if entry is None:
                raise errors.MissingInput(
                    f"{top} is not a regular file that can be read; give evidence files or folders"
                )
            found.setdefault(top.resolve(), entry)
    if skipped:
        notes.append(f"{skipped} entries of the folders are no regular files, or may not be read; they were left out")
    return sorted(found.values(), key=lambda entry: (entry.name, str(entry.path))), notes


def _entry(path: Path, label: Path) -> EvidenceFile | None:
    try:
        facts = path.stat()
    except OSError:
        return None
    if not stat.S_ISREG(facts.st_mode) or not os.access(path, os.R_OK):
        return None
    name = os.fsencode(str(label)).decode("utf-8", "replace")
    return EvidenceFile(path, name, facts.st_size, facts.st_mtime_ns)


def stretch_digest(path: Path, offset: int, length: int, report: Callable[[int], None] | None = None) -> str:
    """SHA-256 (hex) of `length` bytes of a file from `offset` on; `report` is told the bytes of every step."""
    digest = hashlib.sha256()
    left = length
    held = memoryview(bytearray(min(_STEP, length)))
    with path.open("rb", buffering=0) as source:
        source.seek(offset)
        while left and (size := source.readinto(held[:left])):
            digest.update(held[:size])
            left -= size
            if report is not None:
                report(size)
    return digest.hexdigest()


def unchanged(file: EvidenceFile) -> bool:
    """Whether the file still is what it was when it was found. Members are copies that nobody else writes."""
    if file.container_sha256 is not None:
        return True
    facts = file.path.stat()
    return facts.st_size == file.size and facts.st_mtime_ns == file.modified_ns
