"""The `--canaries` file: which strings were planted with which tenant? Reads and checks it; searches nothing.

CSV, UTF-8, header `canary,tenant_id` or `canary,tenant_id,label`. A line that cannot be used is left out and reported
by its number and the reason, never by its content; a file whose header is not understood stops the run. The list goes
into the case as a table of its own, and into the recorded parameters as a digest.
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import orjson

from forensics.case.errors import MissingInput, UsageError
from forensics.case.store import Case
from forensics.text.fold import fold
from forensics.text.patterns import MIN_UNITS

MOST_UNITS = 4096  # a longer line is no canary but a document
MIN_KINDS = 4  # different letters: `xxxxxxxx` stands in anybody's text
MOST_BYTES = 64 << 20
MOST_LINES = 100_000
MOST_LISTED = 12  # rejected lines that are named one by one
HEADERS = (["canary", "tenant_id"], ["canary", "tenant_id", "label"])


@dataclass(frozen=True)
class Canary:
    """One planted string. `label` stands for it wherever something is shown; `line` is 1-based."""

    value: str
    tenant_id: str
    label: str
    line: int


@dataclass(frozen=True)
class CanaryList:
    """The usable lines of a file, and what was wrong with the others: one sentence for people, counts, no content."""

    canaries: tuple[Canary, ...]
    rejected: int
    warnings: tuple[str, ...]

    @property
    def sha256(self) -> str:
        """Digest of the list; empty for an empty one."""
        if not self.canaries:
            return ""
        rows = [(c.value, c.tenant_id, c.label, c.line) for c in self.canaries]
        return hashlib.sha256(orjson.dumps(rows)).hexdigest()


def read_canaries(path: Path) -> CanaryList:
    """Read and check a file. Raises MissingInput, or UsageError with the remedy."""
    if not path.is_file():
        raise MissingInput(f"{path} is not there; --canaries needs a CSV file")
    if path.stat().st_size > MOST_BYTES:
        raise UsageError(f"{path} is over 64 MiB; --canaries needs one planted string per line")
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not UTF-8; save it as UTF-8 CSV") from None
    found: dict[bytes, Canary] = {}
    bad: list[tuple[int, str]] = []
    clashes: set[bytes] = set()
    for line, cells in _lines(text, path):
        canary, problem = _canary(line, cells)
        if canary is None:
            bad.append((line, problem))
            continue
        key = fold(canary.value).units.tobytes()
        known = found.setdefault(key, canary)
        if known is not canary:
            bad.append((line, f"repeats line {known.line}"))
            if known.tenant_id != canary.tenant_id:
                clashes.add(key)  # it tells nobody apart
    for key in clashes:
        line = found.pop(key).line
        bad.append((line, "a later line gives it to another tenant"))
    listed = ", ".join(f"line {line} ({problem})" for line, problem in sorted(bad)[:MOST_LISTED])
    more = f" and {len(bad) - MOST_LISTED} more" if len(bad) > MOST_LISTED else ""
    warnings = (f"{path}: {len(bad)} lines of the canaries were rejected: {listed}{more}",) if bad else ()
    return CanaryList(tuple(sorted(found.values(), key=lambda c: c.line)), len(bad), warnings)


def _lines(text: str, path: Path) -> Iterator[tuple[int, list[str]]]:
    """Number of the first line, and cells, of every filled record behind the header."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = [name.strip().lower() for name in next(reader, [])]
        if header not in HEADERS:
            raise UsageError(
                f"{path}: the header is not understood; it must be `canary,tenant_id` or `{','.join(HEADERS[1])}`"
            )
        before = reader.line_num
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield before + 1, cells
            before = reader.line_num
            if before > MOST_LINES:
                raise UsageError(f"{path} has more than {MOST_LINES} lines; split the canaries")
    except csv.Error:
        raise UsageError(f"{path} line {reader.line_num} is not CSV; check its quotes") from None


def _canary(line: int, cells: list[str]) -> tuple[Canary | None, str]:
    """The canary of one line, or what is wrong with it."""
    if len(cells) < 2 or len(cells) > 3:
        return None, "wrong number of cells"
    value, tenant = cells[0].strip(), cells[1].strip()
    label = cells[2].strip() if len(cells) == 3 else ""
    units = fold(value).units
    if not tenant:
        return None, "no tenant"
    if units.size < MIN_UNITS:
        return None, f"fewer than {MIN_UNITS} letters and digits"
    if units.size > MOST_UNITS:
        return None, f"more than {MOST_UNITS} letters and digits"
    if len(set(units.tolist())) < MIN_KINDS:
        return None, f"fewer than {MIN_KINDS} different letters and digits"
    if label and fold(label).units.tobytes().find(units.tobytes()) >= 0:
        return None, "the label holds the canary, and labels are shown"
    return Canary(value, tenant, label or f"line {line}", line), ""


def canaries_of(case: Case) -> CanaryList:
    """Those that the case holds already."""
    rows = case.rows("attribution/canaries")
    return CanaryList(tuple(Canary(*row) for row in rows), 0, ())


def keep(case: Case, canaries: CanaryList) -> None:
    """Replace the case's canaries by these."""
    import pyarrow as pa

    case.clear(("canaries",))
    rows = [{"canary": c.value, "tenant_id": c.tenant_id, "label": c.label, "line": c.line} for c in canaries.canaries]
    if rows:
        case.append("canaries", pa.Table.from_pylist(rows))
