"""Reads findings (`out/`) and ground truth. Judges nothing.

Both come from JSON lines whose fields stand in the contracts; fields that are not needed are ignored.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from forensics.case.errors import UsageError

BANDS = ((0, 40, "<40"), (40, 80, "40-79"), (80, 200, "80-199"), (200, 1 << 60, "200+"))


@dataclass(frozen=True)
class Leak:
    """One row of truth.jsonl. `[start, end)` in code points; `tenants` who may be named, empty where nobody may.

    Where only parts of the span are foreign (streams that cross, the keys of another's schema), `pieces` are these.
    `label` is the class, `size` the characters of the source that leaked, `bits` what they say, `chain` the number of
    the chain of shifted answers; truths of plain copies leave them empty. `beside`: tenants who had supplied a passage
    that the leaked answer quotes as well as its source; a set that holds the source may hold them.
    """

    request_id: str
    field: str
    start: int
    end: int
    source_tenant: str | None
    tenants: frozenset[str]
    kind: str
    recipient_tenant: str | None
    label: str = ""
    language: str = ""
    size: int = 0
    bits: float | None = None
    pieces: tuple[tuple[int, int], ...] = ()
    chain: int | None = None
    beside: frozenset[str] = frozenset()

    @property
    def characters(self) -> int:
        """Foreign characters: of the source, where the truth says how many, else of the span."""
        return self.size or self.end - self.start


@dataclass(frozen=True)
class Lookalike:
    """One row of lookalikes.jsonl: innocent shared text in a response."""

    request_id: str
    field: str
    start: int
    end: int
    label: str


@dataclass(frozen=True)
class Finding:
    """One reported fragment."""

    request_id: str
    field: str
    start: int
    end: int
    sources: frozenset[str]
    kind: str
    verdict: str
    recipient_tenant: str | None


def band(length: int) -> str:
    """The length band of a run of `length` code points."""
    return next(name for low, high, name in BANDS if low <= length < high)


def read_truth(path: Path) -> list[Leak]:
    """Leaks in `path`, in file order. Raises UsageError naming the line that is not one."""
    leaks = []
    for row in _rows(path):
        source = row.get("source_tenant_id")
        leaks.append(
            Leak(
                row["response_request_id"],
                row["field"],
                int(row["char_start"]),
                int(row["char_end"]),
                source,
                frozenset([source, *row.get("ambiguous_with", ())]) if source else frozenset(),
                row["kind"],
                row.get("response_tenant_id"),
                row.get("class", ""),
                row.get("language") or "",
                int(row.get("source_chars") or 0),
                row.get("bits"),
                tuple((int(low), int(high)) for low, high in row.get("pieces") or ()),
                row["chain"][0] if row.get("chain") else None,
                frozenset(row.get("passage_holders") or ()),
            )
        )
    return leaks


def wrongly_named(finding: Finding, leaks: Iterable[Leak]) -> frozenset[str]:
    """Tenants that the finding names though none of the leaks that it touches allows it."""
    leaks = list(leaks)
    allowed = frozenset[str]().union(*(leak.tenants for leak in leaks))
    if finding.sources & allowed:
        allowed = allowed.union(*(leak.beside for leak in leaks))
    return finding.sources - allowed


def read_lookalikes(path: Path) -> list[Lookalike]:
    """Innocent shared texts in `path`; an absent file is an empty list."""
    if not path.is_file():
        return []
    return [
        Lookalike(row["request_ids"][0], row["field"], int(row["char_start"]), int(row["char_end"]), row["class"])
        for row in _rows(path)
    ]


def read_findings(path: Path) -> list[Finding]:
    """Reported fragments in `path`, in file order, without those that were excluded."""
    return [
        Finding(
            row["recipient_request_id"],
            row["field"],
            int(row["start"]),
            int(row["end"]),
            frozenset(row.get("sources") or ()),
            row["kind"],
            row["verdict"],
            row.get("recipient_tenant_id"),
        )
        for row in _rows(path)
        if row["verdict"] != "excluded"
    ]


def read_column(path: Path, column: str) -> list[str]:
    """One column of a CSV list; an absent file is an empty list. The quote before a formula sign is taken off."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        values = [row[column] or "" for row in csv.DictReader(file)]
    return [value[1:] if value[:1] == "'" and value[1:2] in tuple("=+-@") else value for value in values]


def _rows(path: Path) -> list[dict[str, Any]]:
    rows = []
    for number, line in enumerate(path.read_bytes().split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            row = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise UsageError(f"{path.name} line {number} is not JSON") from error
        if not isinstance(row, dict):
            raise UsageError(f"{path.name} line {number} is not an object")
        rows.append(row)
    return rows
