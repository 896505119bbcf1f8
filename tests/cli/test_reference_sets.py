"""`forensics reference`: adds, lists, removes; its errors have the exit codes of the contract."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer

from forensics.case import custody
from forensics.case.store import Case
from forensics.cli import reference_sets

TEXT = "The harbour committee met on the first Monday of each quarter, and its minutes record which berth was taken."


def called(capsys: Any, verb: Any, *arguments: Any, **options: Any) -> tuple[int, dict[str, Any]]:
    with pytest.raises(typer.Exit) as left:
        verb(*arguments, json=True, **options)
    return left.value.exit_code, json.loads(capsys.readouterr().out)


def test_add_list_remove(tmp_path: Path, capsys: Any) -> None:
    root = tmp_path / "case"
    Case.create(root).close()
    file = tmp_path / "minutes.jsonl"
    file.write_text(json.dumps({"body": TEXT}) + "\n{}\n", encoding="utf-8")
    code, added = called(capsys, reference_sets.add, root, file, name="min\x1b[31mutes", field="body")
    assert code == 0 and (added["data"]["texts"], added["data"]["rejected"]) == (1, 1)
    assert added["data"]["name"] == "min\\x1b[31mutes" and added["warnings"] == ["1 line or file held no text"]
    assert called(capsys, reference_sets.add, root, file, field="body")[0] == 2  # known already
    assert called(capsys, reference_sets.add, root, tmp_path / "absent.txt", name="x")[0] == 10
    _, listed = called(capsys, reference_sets.listed, root)
    assert [one["name"] for one in listed["data"]["references"]][:1] == ["min\\x1b[31mutes"]
    assert called(capsys, reference_sets.remove, root, "minutes")[0] == 2
    assert called(capsys, reference_sets.remove, root, "min\\x1b[31mutes")[0] == 0
    actions = [entry.action for entry in custody.read(root / "custody.jsonl")]
    assert actions[0] == "reference add" and actions[-1] == "reference remove"
    assert not any("harbour" in line for line in (root / "custody.jsonl").read_text(encoding="utf-8").split("\n"))


def test_there_must_be_a_case(tmp_path: Path, capsys: Any) -> None:
    assert called(capsys, reference_sets.listed, tmp_path / "none")[0] == 10
