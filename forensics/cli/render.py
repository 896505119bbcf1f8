"""How do results look to people? Tables, boxes and passages as Rich renderables; every cell passes `safe_text`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from forensics.text.safe_text import safe_text

if TYPE_CHECKING:
    from rich.panel import Panel
    from rich.table import Table
    from rich.text import Text


def cell(value: object) -> str:
    """One value as one line of safe text. Times are UTC, lists are joined, nothing is `-`."""
    if value is None:
        return "-"
    if isinstance(value, datetime):
        return value.isoformat(sep=" ", timespec="milliseconds") + "Z"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list | tuple):
        return ", ".join(cell(item) for item in value) or "-"
    return safe_text(str(value))


def text(value: str, *, keep_newlines: bool = False) -> Text:
    """A line or a block of safe text."""
    from rich.text import Text

    return Text(safe_text(value, keep_newlines=keep_newlines))


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]], title: str | None = None) -> Table:
    """A plain table; numbers stand to the right."""
    from rich.box import SIMPLE
    from rich.table import Table
    from rich.text import Text

    rows = list(rows)
    grid = Table(box=SIMPLE, title=title, title_justify="left", pad_edge=False)
    for index, column in enumerate(columns):
        values = [row[index] for row in rows if row[index] is not None]
        numeric = bool(values) and all(isinstance(v, int | float) and not isinstance(v, bool) for v in values)
        grid.add_column(safe_text(column), justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        grid.add_row(*(Text(cell(value)) for value in row))
    return grid


def box(title: str, sections: Sequence[tuple[str, Sequence[str]]]) -> Panel:
    """A box of named sections, each a few sentences."""
    from rich.panel import Panel
    from rich.text import Text

    body = Text()
    for index, (heading, lines) in enumerate(sections):
        if index:
            body.append("\n")
        if heading:
            body.append(f"{heading}\n", style="bold")
        for line in lines:
            body.append(f"  {safe_text(line)}\n")
    body.rstrip()
    return Panel(body, title=Text(title), title_align="left", expand=False)
