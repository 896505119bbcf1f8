"""Which responses without a finding should a person read, and what do the readings say about those that were missed?

A stratified, seeded sample (elusion test of document review; Roitblat 2007): most is drawn where leaks are likely. The
list holds ids only; a person fills in `decision` and `name` and gives the file back.
"""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa

from forensics.case.csv_file import csv_bytes, csv_cell, csv_value
from forensics.case.errors import MissingInput, UsageError
from forensics.case.store import Case

FILE = "out/elusion_sample.csv"
COLUMNS = ("stratum", "stratum_size", "request_id", "tenant_id", "received_at", "worker", "decision", "name")
DECISIONS = ("leak", "clean", "unsure")


def draw_sample(case: Case, per_stratum: int, seed: int) -> int:
    """Fill elusion_sample: up to `per_stratum` of each stratum. Returns its size."""
    strata: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for stratum, request, request_id in case.rows("attribution/elusion_frame"):
        strata[stratum].append((request, request_id))
    rows = []
    for number, (stratum, members) in enumerate(sorted(strata.items())):
        dice = np.random.default_rng([seed, number])
        chosen = sorted(dice.choice(len(members), size=min(per_stratum, len(members)), replace=False).tolist())
        rows += [
            {"stratum": stratum, "stratum_size": len(members), "request": members[i][0], "request_id": members[i][1]}
            for i in chosen
        ]
    if rows:
        case.append("elusion_sample", pa.Table.from_pylist(rows))
    return len(rows)


def write_sample(case: Case) -> Path:
    """The sample as a list for a person, with what was decided already."""
    return case.write(FILE, csv_bytes(COLUMNS, case.rows("attribution/elusion_list")))


def elusion_counts(case: Case) -> list[tuple[str, int, int, int]]:
    """By stratum: responses in it, read (`unsure` counts as a leak: it bounds), leaks among them."""
    made: dict[str, tuple[int, int, int]] = {}
    for stratum, size, _, _, _, _, decision, _ in case.rows("attribution/elusion_list"):
        _, read, leaks = made.get(stratum, (size, 0, 0))
        made[stratum] = (size, read + (decision is not None), leaks + (decision in ("leak", "unsure")))
    return [(stratum, *counts) for stratum, counts in sorted(made.items())]


def record_readings(case: Case, path: Path) -> int:
    """Take in a filled-in list; rows without a decision are passed over. Readings are added, never changed.

    Raises MissingInput where the file is absent, UsageError for a row that cannot be understood (by its number).
    """
    if not path.is_file():
        raise MissingInput(f"{path} is not there")
    text = path.read_bytes().decode("utf-8-sig", "replace")
    reader = csv.DictReader(io.StringIO(text, newline=""))
    try:
        named = set(reader.fieldnames or ())
    except csv.Error:
        named = set()
    if not {"request_id", "decision", "name"} <= named:
        raise UsageError("a list of readings has the columns request_id, decision and name")
    # An id comes back as the list showed it: control characters visible, formulas inert.
    sampled = {csv_value(csv_cell(row[2])): row[2] for row in case.rows("attribution/elusion_list")}
    rows = []
    for number, row in _numbered(reader):
        decision = (row["decision"] or "").strip().lower()
        if not decision:
            continue
        request_id, name = csv_value(row["request_id"] or ""), csv_value(row["name"] or "").strip()
        if decision not in DECISIONS or not name:
            raise UsageError(f"row {number}: a decision is one of {', '.join(DECISIONS)}, with a name beside it")
        if request_id not in sampled:
            raise UsageError(f"row {number}: that request is not in the sample of this case")
        rows.append((sampled[request_id], decision, name))
    moment = datetime.now(UTC).replace(tzinfo=None)
    if rows:
        with case.transaction():
            case.append(
                "elusion_reviews",
                pa.table(
                    {
                        "request_id": [r[0] for r in rows],
                        "decision": [r[1] for r in rows],
                        "name": [r[2] for r in rows],
                        "at": pa.array([moment] * len(rows), pa.timestamp("us")),
                    }
                ),
            )
        case.record("elusion", f"{len(rows)} readings", reason=", ".join(sorted({r[2] for r in rows})))
    return len(rows)


def _numbered(reader: csv.DictReader[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """Rows with their numbers. Raises UsageError where it is no CSV."""
    number = 1
    try:
        for number, row in enumerate(reader, start=2):
            yield number, row
    except csv.Error:
        raise UsageError(f"row {number + 1} is not CSV; check its quotes") from None
