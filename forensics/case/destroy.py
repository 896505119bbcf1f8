"""How does a case end when its retention is over? Removes what it holds; leaves a certificate and the custody log.

Every file is overwritten once and removed. That is no promise about the medium: copy-on-write file systems, snapshots,
flash memory and backups may keep older blocks, and the evidence files lie elsewhere. Where that matters, keep cases on
an encrypted volume and destroy its key.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from forensics.case import custody
from forensics.case.document import document_bytes, read_document
from forensics.case.errors import HashMismatch, MissingInput, UsageError
from forensics.case.manifest import NAME as MANIFEST
from forensics.case.manifest import sha256_of
from forensics.case.problem import Problem
from forensics.case.seal import CUSTODY
from forensics.case.store import DESTROYED, SEAL, Case

SCHEMA = "forensics.destruction/1.0"
KEPT = (CUSTODY, DESTROYED)
CHUNK = 1 << 20
# What the certificate counts: tables that stand in every case.
COUNTED = ("evidence", "joined_requests", "contents", "fragments", "reviews", "affected_requests", "affected_tenants")


@dataclass(frozen=True)
class Destruction:
    """What was removed: files and bytes, and the digest of the certificate."""

    files: int
    bytes: int
    sha256: str


def inventory(root: Path) -> list[Path]:
    """Every file that `destroy` would remove, sorted by path. Raises MissingInput where `root` is no case."""
    if not any((root / name).is_file() for name in ("case.duckdb", DESTROYED)):
        raise MissingInput(f"{root} is not a case: it has no case.duckdb")
    return [path for path in _files(root) if path.relative_to(root).as_posix() not in KEPT]


def destroy(root: Path, confirm: str, name: str, reason: str) -> Destruction:
    """Overwrite and remove everything in the case at `root` but its custody log; write the certificate first.

    `confirm` must be the name of the folder. An interrupted destruction goes on with the same call. Raises UsageError
    where a name, a reason or the confirmation is missing or wrong, or where the case is in use.
    """
    paths = inventory(root)
    expected = root.resolve().name
    if confirm != expected:
        raise UsageError("the confirmation is not the name of the case's folder; nothing was removed")
    if not name.strip() or not reason.strip():
        raise UsageError("a destruction needs --by, the name of who decides, and --reason")
    _make_writable(root)
    certificate = root / DESTROYED
    previous = os.umask(0o077)
    try:
        if not certificate.is_file():
            data = _certificate(root, paths, name, reason)
            custody.append(
                root / CUSTODY, "destroy", DESTROYED, hashlib.sha256(data).hexdigest(), f"by {name}: {reason}"
            )
            partial = certificate.with_name(DESTROYED + ".partial")
            partial.write_bytes(data)
            partial.replace(certificate)
        listed = orjson.loads(certificate.read_bytes())["files"]
        for path in _files(root):
            if path.relative_to(root).as_posix() not in KEPT:
                _wipe(path)
        for folder in sorted((path for path in root.rglob("*") if path.is_dir()), reverse=True):
            folder.rmdir()
        digest = sha256_of(certificate)
        custody.append(root / CUSTODY, "destroyed", DESTROYED, digest, f"{len(listed)} files")
    finally:
        os.umask(previous)
    return Destruction(len(listed), sum(item["bytes"] for item in listed), digest)


def verify_destroyed(root: Path) -> tuple[dict[str, Any], list[Problem]]:
    """The certificate of a destroyed case, and what does not fit the custody log or is still there."""
    problems: list[Problem] = []
    try:
        body = read_document(root / DESTROYED, SCHEMA) or {}
    except HashMismatch as error:
        return {}, [Problem("certificate", DESTROYED, str(error))]
    try:
        custody.verify(root / CUSTODY)
        entries = list(custody.read(root / CUSTODY))
    except HashMismatch as error:
        return body, [Problem("custody", CUSTODY, str(error))]
    recorded = [entry for entry in entries if entry.action in ("destroy", "destroyed")]
    # The last one counts: a destruction that was broken off before its certificate stood is recorded, too.
    if not recorded or recorded[-1].sha256 != sha256_of(root / DESTROYED):
        problems.append(Problem("certificate", DESTROYED, "is not the one that the custody log recorded"))
    if not recorded or recorded[-1].action != "destroyed":
        problems.append(Problem("certificate", DESTROYED, "the destruction was not finished; run it again"))
    for path in _files(root):
        relative = path.relative_to(root).as_posix()
        if relative not in KEPT:
            problems.append(Problem("certificate", relative, "is still there, or was added since"))
    return body, problems


def _certificate(root: Path, paths: list[Path], name: str, reason: str) -> bytes:
    evidence, counts = _contents(root)
    seal = root / SEAL
    body = {
        "destroyed_utc": datetime.now(UTC).isoformat(timespec="microseconds"),
        "destroyed_by": name,
        "reason": reason,
        "method": "each file overwritten once with zeros and removed; not covered are copies on the medium, in "
        "snapshots and backups, and the evidence files, which lie elsewhere",
        "evidence": evidence,
        "counts": counts,
        "files": [
            {"path": path.relative_to(root).as_posix(), "sha256": sha256_of(path), "bytes": path.stat().st_size}
            for path in paths
            if not path.is_symlink()
        ],
        "seal_sha256": sha256_of(seal) if seal.is_file() else None,
        "custody": custody.mark(list(custody.read(root / CUSTODY))),
    }
    return document_bytes(SCHEMA, body)


def _contents(root: Path) -> tuple[list[dict[str, Any]], dict[str, int] | None]:
    """Digests of the evidence and counts of rows. A damaged database costs the counts, not the destruction.

    Evidence files are named by digest alone: their names may say more than a certificate should.
    """
    try:
        with Case.open(root, read_only=True) as case:
            evidence = [{"sha256": row[1], "bytes": row[2]} for row in case.rows("case/evidence_digests")]
            return evidence, {table: case.count(table) for table in COUNTED}
    except UsageError:  # somebody is at work on it
        raise
    except Exception:  # of a damaged file, or of another version's tables
        return _evidence_of_manifest(root), None


def _evidence_of_manifest(root: Path) -> list[dict[str, Any]]:
    try:
        inputs = orjson.loads((root / MANIFEST).read_bytes())["inputs"]
        return [{"sha256": item["sha256"], "bytes": item["bytes"]} for item in inputs]
    except (OSError, orjson.JSONDecodeError, KeyError, TypeError):
        return []


def _files(root: Path) -> Iterator[Path]:
    for path in sorted(root.rglob("*")):
        if path.is_symlink() or not path.is_dir():
            yield path


def _make_writable(root: Path) -> None:
    """A sealed case is read-only. Links are not followed."""
    root.chmod(stat.S_IRWXU)
    for folder, names, files in os.walk(root):
        for name in names:
            path = Path(folder) / name
            if not path.is_symlink():
                path.chmod(stat.S_IRWXU)
        for name in files:
            path = Path(folder) / name
            if not path.is_symlink():
                path.chmod(stat.S_IRUSR | stat.S_IWUSR)


def _wipe(path: Path) -> None:
    """Overwrite a file with zeros and remove it. Of a link, and of anything that is no plain file, the name goes."""
    if not path.is_symlink() and path.is_file() and path.stat().st_nlink == 1:
        with path.open("r+b") as file:
            left = path.stat().st_size
            while left > 0:
                left -= file.write(bytes(min(CHUNK, left)))
            file.flush()
            os.fsync(file.fileno())
    path.unlink()
