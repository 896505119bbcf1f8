"""Folder of each tenant's letter, by the map in restricted/."""

from __future__ import annotations

import csv
from pathlib import Path

from forensics.case.csv_file import csv_value


def folders(root: Path) -> dict[str, Path]:
    with (root / "restricted/pseudonyms.csv").open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["kind"] == "tenant"]
    return {csv_value(row["id"]): root / "notify" / row["code"] for row in rows}
