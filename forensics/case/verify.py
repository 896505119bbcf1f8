"""Is the case still what was recorded? Custody chain, outputs, row accounting, audits, seal. Changes nothing.

It does not look at the evidence files themselves: a case keeps their names and digests, not their places.
"""

from __future__ import annotations

import stat
from dataclasses import dataclass
from typing import Any

from forensics.case import custody
from forensics.case.errors import HashMismatch
from forensics.case.manifest import ACTION, NAME, outputs, read_manifest, sha256_of
from forensics.case.problem import Problem
from forensics.case.queries import query_names
from forensics.case.seal import check_seal
from forensics.case.store import Case

SHOWN_PER_AUDIT = 20


@dataclass(frozen=True)
class Verification:
    """What was checked and what was found wrong. `notes` say what could not be checked."""

    custody_entries: int
    evidence_files: int
    outputs: int
    audits: tuple[str, ...]
    problems: tuple[Problem, ...]
    notes: tuple[str, ...]


def audit_names() -> tuple[str, ...]:
    """Every audit: queries that return the rows that should not be."""
    return tuple(name for name in query_names() if name.startswith("audits/"))


def verify(case: Case, public_key: bytes | None = None) -> Verification:
    """Check the whole case, offline. Problems are returned, not raised, so that all of them are seen at once.

    `public_key` (PEM or OpenSSH) is that of the one who is said to have signed the seal.
    """
    problems: list[Problem] = []
    notes: list[str] = ["evidence files are known by digest only; compare them with `sha256sum` where they are kept"]
    entries = _check_custody(case, problems)
    checked = _check_manifest(case, entries, problems, notes)
    problems.extend(_check_permissions(case))
    sealed, seal_notes = check_seal(case.root, public_key)
    problems.extend(sealed)
    notes.extend(seal_notes)
    for name in audit_names():
        rows = case.rows(name)
        problems.extend(Problem(name, str(row[0]), str(row[1])) for row in rows[:SHOWN_PER_AUDIT])
        if len(rows) > SHOWN_PER_AUDIT:
            problems.append(Problem(name, "more", f"{len(rows) - SHOWN_PER_AUDIT} further rows"))
    return Verification(
        len(entries), case.count("evidence"), checked, audit_names(), tuple(problems), tuple(sorted(notes))
    )


def _check_custody(case: Case, problems: list[Problem]) -> list[custody.CustodyEntry]:
    try:
        custody.verify(case.custody_path)
        return list(custody.read(case.custody_path))
    except HashMismatch as error:
        problems.append(Problem("custody", "custody.jsonl", str(error)))
        return []


def _check_manifest(case: Case, entries: list[custody.CustodyEntry], problems: list[Problem], notes: list[str]) -> int:
    """Manifest against custody, outputs against manifest. Returns the number of outputs compared."""
    recorded = [entry for entry in entries if entry.action == ACTION]
    try:
        manifest = read_manifest(case)
    except HashMismatch as error:
        problems.append(Problem("manifest", NAME, str(error)))
        return 0
    if manifest is None:
        if recorded:
            problems.append(Problem("manifest", NAME, "recorded in the custody log but missing"))
        else:
            notes.append("no run has finished yet, so there is no manifest to compare outputs with")
        return 0
    if not recorded or recorded[-1].sha256 != sha256_of(case.root / NAME):
        problems.append(Problem("manifest", NAME, "is not the one that the custody log recorded"))
    if not custody.begins_as(entries, manifest["custody"]):
        problems.append(Problem("custody", "custody.jsonl", "is shorter than, or not, the log the manifest saw"))
    stale = bool(recorded) and any(e.action == "stage" and e.sequence > recorded[-1].sequence for e in entries)
    if stale:
        notes.append("a stage ran after the manifest was written (an interrupted run?); run the command again")
    found = {output.path: output for output in outputs(case)}
    known: dict[str, dict[str, Any]] = {output["path"]: output for output in manifest["outputs"]}
    for path in sorted(found.keys() | known.keys()):
        if path not in found:
            problems.append(Problem("outputs", path, "is missing"))
        elif path not in known:
            problems.append(Problem("outputs", path, "is not in the manifest"))
        elif found[path].sha256 != known[path]["sha256"] or found[path].size != known[path]["size"]:
            problems.append(Problem("outputs", path, "does not have the recorded digest"))
    digests = [[name, sha256, size] for name, sha256, size in case.rows("case/evidence_digests")]
    if digests != [[item["name"], item["sha256"], item["bytes"]] for item in manifest["inputs"]] and not stale:
        problems.append(Problem("inputs", "evidence", "the evidence in the database is not that of the manifest"))
    return len(known)


def _check_permissions(case: Case) -> list[Problem]:
    """Paths of the case that others may read."""
    return [
        Problem("permissions", path.relative_to(case.root).as_posix(), "can be read by others")
        for path in sorted(case.root.rglob("*"))
        if path.name != "case.duckdb.wal"  # DuckDB makes and removes it at will; the directory guards it
        and not path.is_symlink()
        and stat.S_IMODE(path.stat().st_mode) & 0o077
    ]
