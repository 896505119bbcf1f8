"""Which case does a notebook look at, and how does it show an answer? Inert text: no markup, no control character.

A notebook prints ids, offsets and counts, never text of a log, so that its output may be pasted where the ids may.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from forensics.case.ask import Answer, ask
from forensics.case.store import Case
from forensics.case.words import cell

DEFAULT_CASE = "demo-case"
WIDEST = 100  # characters of a cell; the answer itself holds all


def chosen_case() -> Path:
    """`FORENSICS_CASE`, else the first argument that is a case, else `demo-case`."""
    named = os.environ.get("FORENSICS_CASE")
    if named:
        return Path(named)
    return next((Path(a) for a in sys.argv[1:] if (Path(a) / "case.duckdb").is_file()), Path(DEFAULT_CASE))


def show(columns: Sequence[str], rows: Iterable[Sequence[Any]], most: int = 10) -> int:
    """Print the first `most` rows under their columns; returns the number of rows."""
    rows = list(rows)
    cells = [[_cell(value) for value in row] for row in [list(columns), *rows[:most]]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(columns))]
    for row in cells:
        print("  ".join(value.ljust(width) for value, width in zip(row, widths, strict=True)).rstrip())
    if len(rows) > most:
        print(f"... {len(rows) - most} more")
    print()
    return len(rows)


def show_answer(
    case: Case, name: str, parameters: dict[str, str] | None = None, *, columns: Sequence[str] = (), most: int = 10
) -> Answer:
    """Ask a named question and print it, or the given `columns` of it."""
    answer = ask(case, name, parameters)
    print(answer.question.question)
    chosen = [answer.columns.index(column) for column in columns] or list(range(len(answer.columns)))
    show([answer.columns[i] for i in chosen], ([row[i] for i in chosen] for row in answer.rows), most)
    return answer


def _cell(value: Any) -> str:
    text = cell(value)
    return text if len(text) <= WIDEST else text[: WIDEST - 3] + "..."
