"""The triage notebook runs top to bottom on a case, and what it prints is inert."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
from case_builder import SECRET, hostile_case

NOTEBOOK = Path(__file__).resolve().parents[2] / "notebooks" / "triage.py"


def _notebook() -> ModuleType:
    spec = importlib.util.spec_from_file_location("triage", NOTEBOOK)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_it_tells_the_story_without_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from forensics.scope.run import Parameters, run

    with hostile_case().write(tmp_path / "case") as case:
        run(case, Parameters())
        fragments = case.count("fragments")
    counts = _notebook().triage(tmp_path / "case")
    printed = capsys.readouterr().out
    assert fragments > 0
    assert counts["affected-requests"] > 0 and counts["affected-tenants"] > 0 and counts["who-to-whom"] > 0
    assert SECRET not in printed
    assert not any(ord(sign) < 32 and sign not in "\n\t" for sign in printed)
