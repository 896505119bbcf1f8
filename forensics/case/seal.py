"""How is a case closed for good, and is it still as it was closed? Writes the seal and checks it. Destroys nothing.

A seal is a list of every file of the case with its digest, the digests of the evidence and the head of the custody
log, in `seal.json`; with a key there are `seal.sig` (64 bytes) and `seal.pub` beside it. A sealed case is read-only:
verbs that would write to it are refused. The custody log alone still grows, since looks at a sealed case are logged
too; the seal holds its length and head.
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

from forensics.case import custody
from forensics.case.document import document_bytes, read_document
from forensics.case.errors import HashMismatch, UsageError
from forensics.case.manifest import sha256_of
from forensics.case.problem import Problem
from forensics.case.signature import NotAKey, Signer, holds
from forensics.case.store import SEAL, Case

SCHEMA = "forensics.seal/1.0"
SIGNATURE, PUBLIC_KEY = "seal.sig", "seal.pub"
CUSTODY = "custody.jsonl"
SCRATCH = "restricted/spill"  # the database's own, empty between runs
OWN = (SEAL, SIGNATURE, PUBLIC_KEY, CUSTODY)


@dataclass(frozen=True)
class Seal:
    """What was sealed: files of the case and evidence files listed, the digest of `seal.json`, the signer's key."""

    files: int
    evidence_files: int
    sha256: str
    signer: str | None


def files_of(root: Path) -> Iterator[Path]:
    """Every file of a case that a seal covers, sorted by path. Links are not followed; scratch and our own are left."""
    for path in sorted(root.rglob("*")):
        relative = path.relative_to(root).as_posix()
        if relative in OWN or relative.startswith(SCRATCH + "/") or relative == "case.duckdb.wal":
            continue
        if path.is_symlink() or path.is_file():
            yield path


def seal(root: Path, name: str, reason: str, key: Path | None = None, *, with_problems: bool = False) -> Seal:
    """Seal the case at `root` and make its files read-only. `name` says who does it, `reason` why.

    The case must verify; `with_problems` seals one that does not, and the seal lists what is wrong. Raises Sealed where
    it is sealed already, HashMismatch where it does not verify, UsageError without a name or a reason.
    """
    from forensics.case.verify import verify

    if not name.strip() or not reason.strip():
        raise UsageError("a seal needs --by, the name of who seals, and --reason")
    signer = Signer(key) if key is not None else None
    with Case.open(root) as case:  # writable: nobody else may be at work on it
        problems = verify(case).problems
        if problems and not with_problems:
            raise HashMismatch(
                f"the case has {len(problems)} problem(s), the first with {problems[0].subject}; "
                f"`forensics case verify {root}` lists them. --with-problems seals it with that list"
            )
        evidence = case.rows("case/evidence_digests")
        case.record("seal", "case", reason=f"by {name}: {reason}")
    listed = [_listed(root, path) for path in files_of(root)]
    body = {
        "sealed_utc": datetime.now(UTC).isoformat(timespec="microseconds"),
        "sealed_by": name,
        "reason": reason,
        "signer": None if signer is None else signer.fingerprint,
        "problems": [vars(problem) for problem in problems],
        "evidence": [{"name": item[0], "sha256": item[1], "bytes": item[2]} for item in evidence],
        "files": listed,
        "custody": custody.mark(list(custody.read(root / CUSTODY))),
    }
    data = document_bytes(SCHEMA, body)
    previous = os.umask(0o077)
    try:
        for stale in (SIGNATURE, PUBLIC_KEY):  # of a seal that was interrupted
            (root / stale).unlink(missing_ok=True)
        if signer is not None:
            signature = signer.sign(data)
            (root / SIGNATURE).write_bytes(signature.value)
            (root / PUBLIC_KEY).write_bytes(signature.public_key)
        # Last, since a case with this file is sealed.
        partial = root / (SEAL + ".partial")
        partial.write_bytes(data)
        partial.replace(root / SEAL)
        digest = hashlib.sha256(data).hexdigest()
        custody.append(root / CUSTODY, "sealed", SEAL, digest)
    finally:
        os.umask(previous)
    _read_only(root)
    return Seal(len(listed), len(evidence), digest, None if signer is None else signer.fingerprint)


def read_seal(root: Path) -> dict[str, Any] | None:
    """The seal, or None where the case is not sealed. Raises HashMismatch where it is not a seal."""
    return read_document(root / SEAL, SCHEMA)


def check_seal(root: Path, public_key: bytes | None = None) -> tuple[list[Problem], list[str]]:
    """Problems with the seal of `root`, and notes on what they do not cover. Nothing for a case without a seal.

    `public_key` is that of the one who is expected to have signed; without it the key beside the seal is used, which
    shows damage and not who signed.
    """
    problems: list[Problem] = []
    notes: list[str] = []
    try:
        body = read_seal(root)
        if body is None:
            if public_key is not None:
                problems.append(Problem("seal", SEAL, "is missing: the case is not sealed, so nobody signed it"))
            return problems, notes
        return _check(root, body, public_key)
    except HashMismatch as error:
        return [Problem("seal", SEAL, str(error))], notes
    except (KeyError, TypeError):
        return [Problem("seal", SEAL, "lacks a part that every seal has: the file was changed")], notes


def _check(root: Path, body: dict[str, Any], public_key: bytes | None) -> tuple[list[Problem], list[str]]:
    problems: list[Problem] = []
    data = (root / SEAL).read_bytes()
    entries = list(custody.read(root / CUSTODY))
    if not custody.begins_as(entries, body["custody"]):
        problems.append(Problem("seal", CUSTODY, "does not begin with the log that was sealed"))
    after = [entry for entry in entries[body["custody"]["entries"] :] if entry.action == "sealed"]
    if not after or after[0].sha256 != hashlib.sha256(data).hexdigest():
        problems.append(Problem("seal", SEAL, "is not the one that the custody log recorded"))
    known = {item["path"]: item for item in body["files"]}
    found = {path.relative_to(root).as_posix(): path for path in files_of(root)}
    for path in sorted(known.keys() | found.keys()):
        if path not in found:
            problems.append(Problem("seal", path, "is missing"))
        elif path not in known:
            problems.append(Problem("seal", path, "was added after the seal"))
        elif _listed(root, found[path]) != known[path]:
            problems.append(Problem("seal", path, "does not have the sealed digest"))
    signed, notes = _check_signature(root, body, data, public_key)
    return problems + signed, notes


def _check_signature(
    root: Path, body: dict[str, Any], data: bytes, public_key: bytes | None
) -> tuple[list[Problem], list[str]]:
    sealed = f"sealed {body['sealed_utc'][:19]} UTC by {body['sealed_by']}"
    signer = body["signer"]
    files = {name: root / name for name in (SIGNATURE, PUBLIC_KEY)}
    if signer is None:
        if public_key is not None:
            return [Problem("signature", SIGNATURE, "the seal is not signed")], [sealed]
        return [], [f"{sealed}, not signed: whoever can write to the case could make a new seal"]
    missing = [name for name, path in files.items() if not path.is_file()]
    if missing:
        return [Problem("signature", name, "is missing") for name in missing], [sealed]
    try:
        good, fingerprint = holds(data, files[SIGNATURE].read_bytes(), public_key or files[PUBLIC_KEY].read_bytes())
    except NotAKey as error:
        if public_key is not None:
            raise
        return [Problem("signature", PUBLIC_KEY, str(error))], [sealed]
    if not good or fingerprint != signer:
        whose = "the given key" if public_key is not None else "the key beside it"
        return [Problem("signature", SIGNATURE, f"is not that of {SEAL} by {whose}")], [sealed]
    note = f"{sealed}, signed with the key {fingerprint}"
    if public_key is None:
        note += "; compare it with what the signer says, or give --public-key"
    return [], [note]


def _listed(root: Path, path: Path) -> dict[str, Any]:
    relative = path.relative_to(root).as_posix()
    if path.is_symlink():  # where it leads is part of the case, what stands there is not
        target = os.fsencode(path.readlink())
        return {"path": relative, "sha256": hashlib.sha256(target).hexdigest(), "bytes": len(target), "link": True}
    return {"path": relative, "sha256": sha256_of(path), "bytes": path.stat().st_size}


def _read_only(root: Path) -> None:
    """Files 0400, folders 0500. The custody log and the database's scratch stay as they are."""
    for path in sorted(root.rglob("*"), reverse=True):
        if path.is_symlink() or path in (root / SCRATCH, root / CUSTODY):
            continue
        path.chmod(stat.S_IRUSR | (stat.S_IXUSR if path.is_dir() else 0))
    root.chmod(stat.S_IRUSR | stat.S_IXUSR)
