"""Ids can be copied from any window: a table keeps its words whole, or gives way to one block of lines per row."""

from __future__ import annotations

import io
from datetime import datetime
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console

from forensics.case.words import counted
from forensics.cli.render import preformatted, table

LONG = "9157d550bb47e2d7de5442509cc68922"
ROWS = [
    (LONG, "hollis-foods", 117, ["ambry-retail", "orbell-labs"], "one supplier, bits clear of the search charge"),
    ("req-東京-2", None, 5, [], "-"),
]
COLUMNS = ("request_id", "tenant_id", "foreign_chars", "source_tenants", "reason")


def _printed(renderable: Any, width: int) -> str:
    out = io.StringIO()
    Console(file=out, width=width, markup=False, emoji=False, highlight=False).print(renderable, crop=False)
    return out.getvalue()


@pytest.mark.parametrize("width", [200, 140, 110, 100, 96, 90, 80, 60, 40])
def test_no_width_breaks_an_id_or_overflows(width: int) -> None:
    shown = _printed(table(COLUMNS, ROWS), width)
    for word in (LONG, "hollis-foods", "ambry-retail", "orbell-labs", "req-東京-2"):
        assert any(word in line for line in shown.split("\n"))
    assert max(cell_len(line) for line in shown.split("\n")) <= width


def test_a_table_that_fits_is_a_table_and_one_that_does_not_is_blocks() -> None:
    assert "request_id:" not in _printed(table(COLUMNS, ROWS), 110)
    shown = _printed(table(COLUMNS, ROWS, title="who"), 80)
    assert shown.split("\n")[:5] == ["who", "", f"request_id: {LONG}", "tenant_id: hollis-foods", "foreign_chars: 117"]
    assert "\n\nrequest_id: req-東京-2\n" in shown


def test_an_id_wider_than_the_window_stays_whole() -> None:
    digest = "ab" * 32
    assert digest in _printed(table(("sha256",), [(digest,)]), 40).split()


def test_a_table_without_rows_still_prints() -> None:
    assert "tenant_id" in _printed(table(COLUMNS, []), 100)


def test_times_and_laid_out_blocks_are_not_torn() -> None:
    assert "2026-05-11 06:08:20.083Z" in _printed(table(("t",), [(datetime(2026, 5, 11, 6, 8, 20, 83_000),)]), 80)
    assert "a" * 70 in _printed(preformatted("a" * 70), 40)


@pytest.mark.parametrize(
    ("columns", "wide"), [(None, 100), ("60", 60), ("nonsense", 100)], ids=["unset", "set", "no-number"]
)
def test_a_pipe_has_a_width(columns: str | None, wide: int, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    from forensics.cli.terminal import console

    monkeypatch.delenv("COLUMNS", raising=False)
    if columns is not None:
        monkeypatch.setenv("COLUMNS", columns)
    assert console().width == wide


def test_counts_read_as_english() -> None:
    assert [counted(n, "file") for n in (0, 1, 2)] == ["0 files", "1 file", "2 files"]
    assert [counted(n, "entry", "entries") for n in (1, 2)] == ["1 entry", "2 entries"]
