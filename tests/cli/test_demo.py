"""The demo is the main job on the sample incident: it must be right, end with where to look, and work twice."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))


def _demo(cwd: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "forensics", "demo", *options]
    return subprocess.run(command, cwd=cwd, capture_output=True, encoding="utf-8", check=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo")
    done = _demo(folder, "--json")
    assert done.returncode == 0, done.stderr
    (folder / "demo.json").write_text(done.stdout)
    return folder


@pytest.fixture(scope="module")
def evaluation(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "demo.json").read_text())["data"]["evaluation"]


@pytest.mark.slow
def test_the_sample_has_the_shape_of_the_reported_incident(evaluation: dict[str, Any]) -> None:
    assert evaluation["affected_requests"]["expected"] == 155
    short = sum(
        cell["leaks"] for cell in evaluation["cells"] if cell["kind"] == "all" and cell["band"] in ("<40", "40-79")
    )
    assert short >= 155 / 5


@pytest.mark.slow
def test_the_affected_requests_and_no_other(evaluation: dict[str, Any]) -> None:
    assert (evaluation["affected_requests"]["missing"], evaluation["affected_requests"]["extra"]) == ([], [])


@pytest.mark.slow
def test_no_wrong_tenant(evaluation: dict[str, Any]) -> None:
    assert evaluation["wrong_tenants"] == 0
    assert evaluation["false_strong"] == 0
    assert evaluation["source_tenants"]["extra"] == []


@pytest.mark.slow
def test_the_36_questions_are_answered_on_the_sample(folder: Path) -> None:
    from acceptance_walk import walk

    answers = walk(folder / "demo-case")
    assert len(answers["foreign-text"].rows) == 155
    assert "not in these logs" in {row["slot_basis"] for row in answers["shared-places"].records()}


@pytest.mark.slow
def test_the_report_of_the_sample_opens_in_a_browser(folder: Path) -> None:
    from browser import chromium, look

    report = folder / "demo-case" / "report" / "report.html"
    assert report.stat().st_size < 3_000_000
    with chromium() as browser:
        seen = look(browser, report)
    assert (seen.console, seen.requests, seen.overflow, seen.faults) == ((), (), 0, ())


@pytest.mark.slow
def test_a_second_demo_reuses_the_case(folder: Path) -> None:
    done = _demo(folder)
    assert done.returncode == 0, done.stderr
    assert "where to look" in done.stdout
    assert "against the ground truth" in done.stdout
    rows = {}
    for name in ("affected_requests.csv", "affected_possible.csv"):
        with (folder / "demo-case/out" / name).open(encoding="utf-8", newline="") as file:
            rows[name] = len({row["request_id"] for row in csv.DictReader(file)})
    shown = " ".join(done.stdout.replace("│", " ").split())
    assert " and ".join(f"{count} in {name}" for name, count in rows.items()) in shown
    assert "note: slots and batches are not in these logs" in done.stderr
    assert "warning: slots" not in done.stderr


@pytest.mark.slow
def test_the_demo_leaves_a_strange_case_alone(folder: Path, tmp_path: Path) -> None:
    from forensics.case.store import Case

    with Case.create(tmp_path / "demo-case"):
        pass
    (tmp_path / "log.jsonl").write_text('{"request_id": "a", "timestamp": "2026-05-11T06:00:00Z"}\n')
    ingest = [sys.executable, "-m", "forensics", "ingest", "log.jsonl", "--case", "demo-case"]
    assert subprocess.run(ingest, cwd=tmp_path, capture_output=True, check=False).returncode == 0
    done = _demo(tmp_path)
    assert done.returncode == 2
    assert "other evidence" in done.stderr
