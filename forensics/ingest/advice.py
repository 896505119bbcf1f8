"""What to switch on so that the next incident's logs say more: data that ships with the program, as a table.

`data/advice.csv`: format (a LIKE pattern of `evidence.format`; the longest that fits counts), finding (a name that
`ask readiness` gives), advice, since (versions), source.
"""

from __future__ import annotations

import csv
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

COLUMNS = ("format", "finding", "advice", "since", "source")


def read_advice() -> pa.Table:
    """The table `advice`."""
    import pyarrow as pa

    text = (files("forensics.ingest") / "data" / "advice.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.split("\n")))
    return pa.table({name: pa.array([row[name] for row in rows], pa.string()) for name in COLUMNS})
