"""How does a CSV file of the case look? UTF-8, LF, RFC 4180, and safe to open in a spreadsheet. Knows no table.

Text of a log can be a formula (`=cmd()`), hold line breaks or hide characters. Cells show such characters as visible
escapes, and a cell that a spreadsheet would compute starts with an apostrophe. The exact values stand in Parquet.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence

from forensics.text.safe_text import safe_text

Cell = str | int | float | Sequence[str] | None

# A spreadsheet computes these even behind blanks and quotes, and in their full-width forms.
_FORMULA = re.compile("[\\s\"'`\u2018\u2019\u201c\u201d]*[=+\\-@\uff1d\uff0b\uff0d\uff20]")


def csv_cell(value: Cell) -> str:
    """One cell: numbers as they are, None as empty, lists joined by `;`, text made visible and inert."""
    if value is None:
        return ""
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, str):
        return _inert(safe_text(value))
    return _inert(";".join(safe_text(item).replace(";", "\\x3b") for item in value))


def csv_bytes(header: Sequence[str], rows: Iterable[Sequence[Cell]]) -> bytes:
    """A whole CSV file."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    for row in rows:
        writer.writerow([csv_cell(value) for value in row])
    return text.getvalue().encode("utf-8")


def csv_value(cell: str) -> str:
    """The text of a cell without the apostrophe that `csv_cell` put before a formula."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell[1:]) else cell


def _inert(text: str) -> str:
    return "'" + text if _FORMULA.match(text) else text
