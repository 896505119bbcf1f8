"""A case that another version made: says what to do, whatever is missing in it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest
import typer

from forensics.case.store import Case
from forensics.cli.ask import ask
from forensics.cli.case import verify


@pytest.mark.parametrize(
    ("change", "verb"),
    [
        ("DROP TABLE controls", lambda root: ask(root, "controls", json=True)),
        ("DROP TABLE reference_sets", lambda root: ask(root, "references", json=True)),
        ("ALTER TABLE decoy_strata DROP COLUMN low_p_value", lambda root: ask(root, "decoys", json=True)),
        ("DROP TABLE appearances", lambda root: verify(root, json=True)),
    ],
)
def test_a_table_or_column_that_is_not_there(
    tmp_path: Path, capsys: Any, change: str, verb: Callable[[Path], None]
) -> None:
    root = tmp_path / "case"
    Case.create(root).close()
    with duckdb.connect(str(root / "case.duckdb")) as older:
        older.execute(change)
    with pytest.raises(typer.Exit) as left:
        verb(root)
    assert left.value.exit_code == 2
    error = json.loads(capsys.readouterr().out)["data"]["error"]
    assert "another version" in error["message"] and "forensics run" in error["message"]
