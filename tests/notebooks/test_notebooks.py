"""The notebooks run top to bottom on captured and sample logs, use the library only, and show no text of a log."""

from __future__ import annotations

import ast
import re
import runpy
from pathlib import Path
from typing import Any

import pytest
from case_builder import SECRET, hostile_case

from forensics import pipeline
from forensics.case.ask import ask
from forensics.case.store import Case

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.py"))
NAMES = [path.stem for path in NOTEBOOKS]
SAMPLES = ROOT / "sample_logs"


def _run(name: str, case: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setenv("FORENSICS_CASE", str(case))
    return runpy.run_path(str(ROOT / "notebooks" / f"{name}.py"), run_name="__main__")


def _made(sample: str, root: Path) -> Path:
    logs = SAMPLES / sample
    pipeline.run(root, pipeline.PipelineParameters(evidence=(logs / "logs",), tenants=logs / "tenants.csv"))
    return root


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real SGLang whose slots were handed on too early, as captured."""
    return _made("sglang-slot_reuse", tmp_path_factory.mktemp("engine") / "case")


def _texts(case: Path) -> list[str]:
    """Every passage that leaked, as it was received."""
    with Case.open(case, read_only=True) as opened:
        contents = dict(
            zip(*(opened.table("contents").column(c).to_pylist() for c in ("content", "text")), strict=True)
        )
        fragments = opened.table("fragments").to_pylist()
    return [contents[row["content"]][row["start"] : row["end"]] for row in fragments]


def _shows_nothing(printed: str, case: Path) -> None:
    flat = " ".join(printed.split())
    for text in _texts(case):
        for start in range(0, max(1, len(text) - 24), 8):
            assert " ".join(text[start : start + 24].split()) not in flat
    assert not any((ord(sign) < 32 and sign != "\n") or 0x7F <= ord(sign) < 0xA0 for sign in printed)


def test_the_four_stories_are_there() -> None:
    assert NAMES == ["bounds", "leak", "mechanism", "triage"]


@pytest.mark.parametrize("name", NAMES)
def test_it_runs_on_a_captured_engine(
    name: str, engine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    counts = _run(name, engine, monkeypatch)["counts"]
    printed = capsys.readouterr().out
    _shows_nothing(printed, engine)
    with Case.open(engine, read_only=True) as case:
        affected = len(ask(case, "affected-requests").rows)
        fragments = case.count("fragments")
    assert affected > 30
    expected = {
        "triage": {"affected-requests": affected, "review-queue": fragments},
        "leak": {"fragments": fragments},
        "mechanism": {
            "stands": 3,
            "onset": 2,
        },  # the fault that was switched on: M3, M4 and M19 look alike in these logs
        "bounds": {"controls": 0, "recomputed": 2},
    }[name]
    assert expected.items() <= counts.items(), counts
    if name == "leak":
        assert counts["slots"] >= 2 and counts["moments"] >= 4 and counts["candidates"] >= 1
    if name == "mechanism":
        assert "slot_reused" in printed and counts["recomputed"] > 5
    if name == "bounds":
        assert "controls have not been run" in printed


@pytest.mark.slow
def test_they_run_on_the_sample(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    case = _made("glm-long-prompt", tmp_path / "case")
    for name in NAMES:
        counts = _run(name, case, monkeypatch)["counts"]
        _shows_nothing(capsys.readouterr().out, case)
        assert counts
    assert counts["affected-requests"] == 155  # triage, the last: all that were planted


@pytest.mark.parametrize("name", NAMES)
def test_hostile_names_do_nothing(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from forensics.scope.run import Parameters, run
    from forensics.timeline.run import Parameters as TimelineParameters
    from forensics.timeline.run import run as timeline

    monkeypatch.setattr("forensics.case.explain.SHORTEST_PREFIX", 2)  # the ids of the hand-made fragments are short
    with hostile_case().write(tmp_path / "case") as case:
        timeline(case, TimelineParameters())
        run(case, Parameters())
    _run(name, tmp_path / "case", monkeypatch)
    printed = capsys.readouterr().out
    assert SECRET not in printed
    assert not any((ord(sign) < 32 and sign != "\n") or sign == "\u202e" for sign in printed)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_it_is_plain_text_in_cells_and_uses_the_library_only(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    assert source.startswith("# %% [markdown]\n# # ")
    assert source.count("\n# %%") >= 8
    tree = ast.parse(source)
    modules = {
        (node.module or "") if isinstance(node, ast.ImportFrom) else alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    ours = {module for module in modules if module.startswith("forensics")}
    assert ours and all(module.startswith(("forensics.case", "forensics.text")) for module in ours)
    assert modules - ours <= {"os", "collections", "orjson", "scipy.stats"}
    assert not re.search(r"reveal=True|subprocess|os\.system|\.write", source)
    assert "read_only=True" in source
    # A cell at a time: nothing hides in functions that only the last cell calls.
    assert sum(isinstance(node, ast.FunctionDef) for node in tree.body) <= 1


def test_no_notebook_with_outputs_is_committed() -> None:
    assert not [path for path in ROOT.rglob("*.ipynb") if ".venv" not in path.parts and ".engine" not in path.parts]
