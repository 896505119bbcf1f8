"""Logs that a small engine of the tests' own wrote, read by the public stages, against what that engine really did."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from small_engine import Engine, traffic

from forensics.case.stage import Summary
from forensics.case.store import Case
from forensics.ingest.run import Parameters as Ingest
from forensics.ingest.run import run as ingest
from forensics.timeline.run import Parameters, run


def read(root: Path, files: dict[str, str]) -> tuple[Case, Summary]:
    folder = root / "evidence"
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    case = Case.create(root / "case")
    ingest(case, Ingest((folder,)))
    return case, run(case, Parameters())


def served(*, lifo: bool) -> Engine:
    engine = Engine(lifo, rows=24, most=16)
    engine.serve(traffic(300, 10, seed=11))
    return engine


def by_id(case: Case, rows: list[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    ids = {row["request"]: row["request_id"] for row in case.table("joined_requests").to_pylist()}
    return [(ids[row["request"]], row) for row in rows]


def test_the_probes_slots_and_members_are_the_engines(tmp_path: Path) -> None:
    engine = served(lifo=True)
    case, summary = read(tmp_path, {"h1_0.log": engine.request_log(), "probe-h1-7-0000.jsonl": engine.probe_log()})
    with case:
        stays = [row for row in case.table("residencies").to_pylist() if row["phase"] == "slot"]
        assert {rid: row["slot"] for rid, row in by_id(case, stays)} == {c.rid: str(c.slot) for c in engine.calls}
        assert {row["worker"] for row in stays} == {"h1_0"}
        iterations = {row["batch"]: row["iteration"] for row in case.table("batches").to_pylist()}
        members = {
            (iterations[row["batch"]], rid, row["slot"])
            for rid, row in by_id(case, case.table("batch_members").to_pylist())
        }
        assert members == {(number, rid, str(slot)) for number, _, _, rows in engine.passes for rid, slot in rows}
        assert len(case.table("batch_members")) == len(members)
    assert summary.figures["slots_logged"] == 300


@pytest.mark.parametrize("lifo", [True, False], ids=["0.5.18", "0.5.15"])
def test_slots_that_lines_of_times_give_are_the_engines(lifo: bool, tmp_path: Path) -> None:
    engine = served(lifo=lifo)
    case, summary = read(tmp_path, {"h1_0.log": engine.request_log(), "engine.log": engine.stats_log()})
    with case:
        stays = [row for row in case.table("residencies").to_pylist() if row["phase"] == "slot"]
        truth = {call.rid: str(call.slot) for call in engine.calls}
        right = [truth[rid] == row["slot"] for rid, row in by_id(case, stays)]
        assert sum(right) >= 0.95 * len(right)
        assert len(right) >= 0.8 * len(engine.calls)
        assert {row["basis"] for row in stays} == {"derived"}
        (account,) = case.table("slot_derivations").to_pylist()
        assert account["policy"] == ("lifo" if lifo else "fifo")
        assert account["checks"] == account["agreed"] > 0
    assert summary.figures["slots_derived"] == len(right)


def test_a_log_that_begins_later_gives_no_slots(tmp_path: Path) -> None:
    engine = served(lifo=True)
    lines = engine.stats_log().split("\n")
    files = {"h1_0.log": engine.request_log(), "engine.log": "\n".join(lines[len(lines) // 2 :])}
    case, summary = read(tmp_path, files)
    with case:
        assert not [row for row in case.table("residencies").to_pylist() if row["phase"] == "slot"]
    assert any("does not show the scheduler's start" in warning for warning in summary.warnings)


def test_lines_that_are_missing_end_what_is_given(tmp_path: Path) -> None:
    engine = served(lifo=True)
    lines = engine.stats_log().split("\n")
    times = [i for i, line in enumerate(lines) if "ReqTimeStats" in line]
    kept = [line for i, line in enumerate(lines) if i not in times[100:110]]
    case, _ = read(tmp_path, {"h1_0.log": engine.request_log(), "engine.log": "\n".join(kept)})
    with case:
        stays = [row for row in case.table("residencies").to_pylist() if row["phase"] == "slot"]
        truth = {call.rid: str(call.slot) for call in engine.calls}
        wrong = [rid for rid, row in by_id(case, stays) if truth[rid] != row["slot"]]
        assert len(stays) < 150
        assert len(wrong) <= 0.05 * len(stays)
