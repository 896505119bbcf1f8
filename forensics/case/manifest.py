"""What went into a case and what came out: the manifest, with a digest of everything. Does not judge any of it.

The manifest is the one result that holds wall-clock times. Its own digest goes into the custody log, so that an
edited manifest shows.
"""

from __future__ import annotations

import hashlib
import platform
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any

import orjson

from forensics.case import custody
from forensics.case.document import document_bytes, read_document
from forensics.case.queries import load_query, query_names
from forensics.case.store import Case

SCHEMA = "forensics.manifest/1.0"
NAME = "manifest.json"
ACTION = "manifest"
OUTPUT_FOLDERS = ("out", "report", "notify")
CHUNK = 1 << 20


@dataclass(frozen=True)
class Output:
    """A file that the tool wrote: path inside the case, SHA-256, size in bytes."""

    path: str
    sha256: str
    size: int


def sha256_of(path: Path) -> str:
    """SHA-256 of a file, read in pieces."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(CHUNK):
            digest.update(piece)
    return digest.hexdigest()


def outputs(case: Case) -> Iterator[Output]:
    """Every file in the folders that hold results, sorted by path. Links are not followed."""
    for folder in OUTPUT_FOLDERS:
        for path in sorted((case.root / folder).rglob("*")):
            if path.is_file() and not path.is_symlink():
                yield Output(path.relative_to(case.root).as_posix(), sha256_of(path), path.stat().st_size)


def write_manifest(case: Case, command: str, started: datetime, settings: Mapping[str, Any]) -> Path:
    """Write `manifest.json` for the case as it stands now and enter its digest in the custody log.

    `command` is the verb that ran, `started` its start in UTC, `settings` what bounds the run but not its result
    (memory, threads).
    """
    body = {
        "command": command,
        "python": sys.version.split()[0],
        "platform": platform.platform(),
        "dependencies": dependency_versions(),
        "started_utc": started.isoformat(timespec="microseconds"),
        "finished_utc": datetime.now(UTC).isoformat(timespec="microseconds"),
        "settings": dict(settings),
        "stages": {
            stage: {"version": tool, "parameters": orjson.loads(parameters), "input_digest": digest, "rows": rows}
            for stage, tool, parameters, digest, rows in (
                (row[0], row[1], row[2], row[3], orjson.loads(row[4])) for row in case.rows("schema/stage_rows")
            )
        },
        "inputs": [
            {"name": name, "sha256": sha256, "bytes": size} for name, sha256, size in case.rows("case/evidence_digests")
        ],
        "queries": [{"name": name, "sha256": _sha256(load_query(name).encode())} for name in query_names()],
        "outputs": [vars(output) for output in outputs(case)],
        "custody": custody.mark(list(custody.read(case.custody_path))),
    }
    data = document_bytes(SCHEMA, body)
    path = case.write(NAME, data)
    case.record(ACTION, NAME, _sha256(data))
    return path


def read_manifest(case: Case) -> dict[str, Any] | None:
    """The manifest, or None where no run has finished. Raises HashMismatch where it is not a manifest."""
    return read_document(case.root / NAME, SCHEMA)


def dependency_versions() -> dict[str, str]:
    """Installed versions of the packages that this one requires."""
    found: dict[str, str] = {}
    try:
        declared = requires("leak-forensics") or []
    except PackageNotFoundError:
        declared = []
    for line in declared:
        if "extra ==" in line:
            continue
        name = line.split(";")[0].split("<")[0].split(">")[0].split("=")[0].split("!")[0].split("[")[0].strip()
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "absent"
    return dict(sorted(found.items()))


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
