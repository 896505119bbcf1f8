"""Rotation, counts, and a disk that fails."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from forensics.probe import writer as module
from forensics.probe.runs import runs
from forensics.probe.writer import Writer
from tests.support.fake_sglang import lines


@pytest.mark.parametrize(
    ("values", "coded"),
    [
        ([], []),
        ([7, 8, 9, 3], [[7, 9], [3, 3]]),
        ([5, 4, 3], [[5, 5], [4, 4], [3, 3]]),
        ([1, 1, 2], [[1, 1], [1, 2]]),
    ],
)
def test_runs_keep_order_and_repeats(values: list[int], coded: list[list[int]]) -> None:
    assert runs(values) == coded
    assert [number for start, end in coded for number in range(start, end + 1)] == values


def test_files_are_rotated_by_size_and_the_oldest_go(tmp_path: Path) -> None:
    writer = Writer(tmp_path, {"probe": "x"}, max_bytes=4096, keep=2)
    for number in range(200):
        writer.put("recv", {"rid": f"r-{number:03d}"})
    writer.flush()
    paths = sorted(tmp_path.glob("*.jsonl"))
    assert len(paths) == 2 and all(path.stat().st_size <= 4096 for path in paths)
    for path in paths:
        head = json.loads(path.read_bytes().split(b"\n")[0])
        assert head["ev"] == "probe_start" and f"-{head['file']:04d}" in path.name
    kept = [line["rid"] for line in lines(tmp_path) if line["ev"] == "recv"]
    assert kept == [f"r-{number:03d}" for number in range(200 - len(kept), 200)]


def test_what_does_not_fit_the_queue_is_dropped_and_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = Writer(tmp_path, {})
    monkeypatch.setattr(module, "WAITING", 0)
    writer.put("recv", {"rid": "a"})
    monkeypatch.setattr(module, "WAITING", 10)
    writer.flush()
    assert [line["dropped"] for line in lines(tmp_path) if line["ev"] == "probe_stat"] == [1]


def test_a_folder_that_cannot_be_written_costs_events_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "probe").write_text("a file where the folder should be", encoding="utf-8")
    writer = Writer(tmp_path / "probe", {})
    writer.put("recv", {"rid": "a"})
    writer.flush()
    assert writer.failed >= 1 and any(site.startswith("write: ") for site in writer.errors)


def test_a_value_that_is_no_json_is_counted(tmp_path: Path) -> None:
    writer = Writer(tmp_path, {})
    writer.put("recv", {"rid": object()})
    writer.put("recv", {"rid": "b"})
    writer.flush()
    assert [line["rid"] for line in lines(tmp_path) if line["ev"] == "recv"] == ["b"]
    assert sum(writer.errors.values()) == 1


def test_a_forked_child_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = Writer(tmp_path, {})
    monkeypatch.setattr(os, "getpid", lambda: writer.pid + 1)
    writer.put("recv", {"rid": "a"})
    monkeypatch.undo()
    writer.flush()
    assert all(line["ev"] != "recv" for line in lines(tmp_path))
