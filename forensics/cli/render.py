"""How do results look to people? Tables, boxes and passages as Rich renderables; every cell passes `safe_text`."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from forensics.case.words import cell
from forensics.text.safe_text import safe_text

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, Group, RenderResult
    from rich.panel import Panel
    from rich.table import Table
    from rich.text import Text


def text(value: str) -> Text:
    """A sentence of safe text, wrapped between words."""
    from rich.text import Text

    return Text(safe_text(value))


def preformatted(value: str) -> Group:
    """A block of safe text whose lines are laid out already: a window that is too narrow wraps them, nothing else."""
    from rich.console import Group
    from rich.text import Text

    # In a group, as a console that is given a text alone copies it without its settings.
    return Group(Text(safe_text(value, keep_newlines=True), no_wrap=True, overflow="ignore"))


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]], title: str | None = None) -> Rows:
    """A plain table; numbers stand to the right. In a console that is too narrow, one block of lines per row."""
    rows = list(rows)
    numeric = []
    for index in range(len(columns)):
        values = [row[index] for row in rows if row[index] is not None]
        numeric.append(bool(values) and all(isinstance(v, int | float) and not isinstance(v, bool) for v in values))
    cells = tuple(tuple(cell(value) for value in row) for row in rows)
    return Rows(
        tuple(safe_text(c) for c in columns), cells, tuple(numeric), None if title is None else safe_text(title)
    )


@dataclass(frozen=True)
class Rows:
    """Rows of safe cells. No word of a cell is broken: an id that is broken over two lines cannot be copied."""

    columns: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    numeric: tuple[bool, ...]
    title: str | None = None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        widths = self._widths(options.max_width)
        yield self._blocks(options.max_width) if widths is None else self._grid(widths)

    def _widths(self, width: int) -> list[int] | None:
        """A width per column such that words stay whole and all columns fit; None where there is none."""
        from rich.cells import cell_len

        texts = [[head, *(row[i] for row in self.cells)] for i, head in enumerate(self.columns)]
        words = [max((cell_len(word) for text in column for word in text.split()), default=1) for column in texts]
        lines = [max(1, *(cell_len(text) for text in column)) for column in texts]
        # The box has an edge on each side and a divider, with a blank on each side of it, between columns.
        left = width - (3 * len(self.columns) - 1) - sum(words)
        if left < 0:
            return None
        for i in sorted(range(len(words)), key=lambda i: lines[i] - words[i]):  # the least wish first
            more = min(lines[i] - words[i], left)
            words[i] += more
            left -= more
        return words

    def _grid(self, widths: list[int]) -> Table:
        from rich.box import SIMPLE
        from rich.table import Table
        from rich.text import Text

        grid = Table(box=SIMPLE, title=self.title, title_justify="left", pad_edge=False)
        for column, numeric, width in zip(self.columns, self.numeric, widths, strict=True):
            grid.add_column(Text(column), justify="right" if numeric else "left", overflow="fold", width=width)
        for row in self.cells:
            grid.add_row(*(Text(value) for value in row))
        return grid

    def _blocks(self, width: int) -> Text:
        from rich.text import Text

        shown = Text(no_wrap=True, overflow="ignore")
        if self.title:
            shown.append(f"{self.title}\n", style="italic")
        for row in self.cells:
            shown.append("\n")
            for column, value in zip(self.columns, row, strict=True):
                shown.append(_folded(f"{column}: {value}", width) + "\n")
        return shown


def _folded(line: str, width: int) -> str:
    """A line over several, broken between words only."""
    return textwrap.fill(line, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def box(title: str, sections: Sequence[tuple[str, Sequence[str]]]) -> Panel:
    """A box of named sections, each a few sentences."""
    from rich.panel import Panel
    from rich.text import Text

    body = Text()
    for index, (heading, lines) in enumerate(sections):
        if index:
            body.append("\n")
        if heading:
            body.append(f"{safe_text(heading)}\n", style="bold")
        for line in lines:
            body.append(f"  {safe_text(line)}\n")
    body.rstrip()
    return Panel(body, title=Text(safe_text(title)), title_align="left", expand=False)
