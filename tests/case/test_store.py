"""The case directory, its transactions, its stages and its custody log."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from forensics.case import custody
from forensics.case.errors import HashMismatch, MissingInput, UnsafePermissions, UsageError
from forensics.case.stage import run_stage
from forensics.case.store import Case


def test_a_case_is_private(tmp_path: Path) -> None:
    with Case.create(tmp_path / "case") as case:
        case.write("out/x.csv", b"x")
        case.record("test", "x")
    modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in [tmp_path / "case", *(tmp_path / "case").rglob("*")]}
    assert {name: oct(mode) for name, mode in modes.items() if mode & 0o077} == {}


def test_an_open_directory_is_refused(tmp_path: Path) -> None:
    with Case.create(tmp_path / "case"):
        pass
    (tmp_path / "case").chmod(0o755)
    with pytest.raises(UnsafePermissions):
        Case.open(tmp_path / "case")


def test_a_foreign_directory_is_not_taken_over(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(UsageError):
        Case.create(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_missing_case_is_said(tmp_path: Path) -> None:
    with pytest.raises(MissingInput):
        Case.open(tmp_path / "none")


def test_a_case_in_use_is_said(tmp_path: Path) -> None:
    with Case.create(tmp_path / "case"):
        code = f"from pathlib import Path; from forensics.case.store import Case; Case.open(Path({str(tmp_path / 'case')!r}))"
        other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "UsageError" in other.stderr and "in use" in other.stderr


def test_stages_are_skipped_and_rolled_back(filled: Case) -> None:
    calls: list[str] = []

    def work() -> tuple[dict[str, object], tuple[str, ...]]:
        calls.append("ran")
        return {"n": 1}, ("careful",)

    first = run_stage(filled, "demo", {"a": 1}, ("ingest",), ("numbers",), work)
    second = run_stage(filled, "demo", {"a": 1}, ("ingest",), ("numbers",), work)
    third = run_stage(filled, "demo", {"a": 2}, ("ingest",), ("numbers",), work)
    assert [first.skipped, second.skipped, third.skipped] == [False, True, False]
    assert second.figures == {"n": 1} and second.warnings == ("careful",)
    assert calls == ["ran", "ran"]

    def fail() -> tuple[dict[str, object], tuple[str, ...]]:
        raise KeyboardInterrupt

    before = filled.count("fragments")
    with pytest.raises(KeyboardInterrupt):
        run_stage(filled, "demo", {"a": 3}, ("ingest",), ("fragments",), fail)
    assert filled.count("fragments") == before > 0


def test_queries_cannot_reach_files(filled: Case, tmp_path: Path) -> None:
    import duckdb

    (tmp_path / "secret.csv").write_text("a\n1\n")
    with pytest.raises(duckdb.Error):
        filled._connection.execute(f"SELECT * FROM '{tmp_path}/secret.csv'")


_DECLARED = """
import pyarrow as pa, sys
from pathlib import Path
from forensics.case.store import Case
declared = '{"fault_began": "2026-05-11T06:30:00", "fault_fixed": "2026-05-11T09:00:00+02:00"}'
row = {"stage": "controls", "version": "1", "parameters": declared, "input_digest": "", "outputs": "", "summary": ""}
with Case.create(Path(sys.argv[1])) as case:
    case.append("stages", pa.Table.from_pylist([row]))
    print([value for name, value, _ in case.rows("scope/window") if name.startswith("declared")])
"""


def test_a_declared_time_without_an_offset_is_utc_on_every_machine(tmp_path: Path) -> None:
    called = [sys.executable, "-c", _DECLARED, str(tmp_path / "case")]
    environment = {**os.environ, "TZ": "Asia/Tokyo"}
    shown = subprocess.run(called, env=environment, capture_output=True, text=True, check=True).stdout
    assert shown.strip() == "['2026-05-11T06:30:00.000000Z', '2026-05-11T07:00:00.000000Z']"


def test_several_custody_entries_are_one_chain_and_the_log_is_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "custody.jsonl"
    custody.append(log, "ingest", "first")
    reads = []
    read = custody.read
    monkeypatch.setattr(custody, "read", lambda path: reads.append(path) or read(path))
    custody.append_all(log, [("ingest", f"file {number}", f"{number:064x}", "why") for number in range(50)])
    custody.append_all(log, [])
    custody.append(log, "stage", "ingest")
    assert len(reads) == 3
    assert custody.verify(log) == 52
    entries = list(read(log))
    assert [entry.object for entry in entries[:3]] == ["first", "file 0", "file 1"]
    assert (entries[50].sequence, entries[50].sha256, entries[50].reason) == (50, f"{49:064x}", "why")
    assert (entries[51].action, entries[51].previous) == ("stage", entries[50].this)


@pytest.mark.parametrize("line", [0, 1, 2])
def test_a_changed_custody_line_breaks_the_chain(tmp_path: Path, line: int) -> None:
    log = tmp_path / "custody.jsonl"
    for number in range(3):
        custody.append(log, "action", f"object {number}")
    assert custody.verify(log) == 3
    lines = log.read_bytes().split(b"\n")
    lines[line] = lines[line].replace(b"object", b"objecT")
    log.write_bytes(b"\n".join(lines))
    with pytest.raises(HashMismatch):
        custody.verify(log)


def test_a_removed_custody_line_breaks_the_chain(tmp_path: Path) -> None:
    log = tmp_path / "custody.jsonl"
    for number in range(3):
        custody.append(log, "action", f"object {number}")
    lines = log.read_bytes().split(b"\n")
    log.write_bytes(b"\n".join([lines[0], *lines[2:]]))
    with pytest.raises(HashMismatch):
        custody.verify(log)
