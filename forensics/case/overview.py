"""What does a case hold, in a few counts? For the box at the end of a run, and for `ingest --json`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from forensics.case.store import Case


@dataclass(frozen=True)
class Overview:
    """Counts of a case. `affected` are requests that are probable or better; times are UTC."""

    files: int
    unknown_files: int
    incomplete_files: int
    content_bytes: int
    records: int
    rejected: int
    requests: int
    examined: int
    tenants: int
    affected: int
    confirmed: int
    probable: int
    possible: int
    undetermined: int
    fragments: int
    recipient_tenants: int
    source_tenants: int
    first_at: Any
    last_at: Any
    not_examinable: tuple[tuple[str, int], ...]

    def at_least(self, verdict: str) -> int:
        """Affected requests with this verdict (`confirmed`, `probable` or `possible`) or a stronger one."""
        counts = {"confirmed": self.confirmed, "probable": self.probable, "possible": self.possible}
        names = list(counts)
        return sum(counts[name] for name in names[: names.index(verdict) + 1])


def overview(case: Case) -> Overview:
    """The counts of a case as it stands."""
    row = case.arrow("case/overview").to_pylist()[0]
    return Overview(**row, not_examinable=tuple(case.rows("case/not_examinable")))


def files(case: Case) -> list[dict[str, Any]]:
    """One object per evidence file: name, format, counts, and `reasons` of rejects as `{reason: count}`."""
    listed: list[dict[str, Any]] = case.arrow("case/files").to_pylist()
    for row in listed:
        row["reasons"] = dict(zip(row["reasons"], row.pop("reason_counts"), strict=True))
    return listed
