"""A destroyed case leaves a certificate and its custody log, and nothing else of what it held."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from forensics.case import custody
from forensics.case import destroy as module
from forensics.case.destroy import destroy, verify_destroyed
from forensics.case.errors import MissingInput, UsageError
from forensics.case.manifest import sha256_of
from forensics.case.seal import seal
from forensics.case.store import Case

NEEDLE = b"account 4471-9920-1183"  # of the case that conftest makes
ARGUMENTS = ("case", "R. Iqbal", "retention is over")


def _files(root: Path) -> set[str]:
    return {path.relative_to(root).as_posix() for path in root.rglob("*")}


def test_only_certificate_and_custody_stay(case_root: Path) -> None:
    (case_root / "notify" / "T-1").mkdir(mode=0o700)
    (case_root / "notify" / "T-1" / "letter.md").write_bytes(NEEDLE)
    size = (case_root / "case.duckdb").stat().st_size
    digest = sha256_of(case_root / "case.duckdb")
    gone = destroy(case_root, *ARGUMENTS)
    assert _files(case_root) == {"custody.jsonl", "destroyed.json"}
    assert all(NEEDLE not in (case_root / name).read_bytes() for name in _files(case_root))
    body = json.loads((case_root / "destroyed.json").read_bytes())
    assert (body["destroyed_by"], body["reason"], body["seal_sha256"]) == ("R. Iqbal", "retention is over", None)
    assert body["evidence"] == [{"sha256": "ab" * 32, "bytes": 1000}]
    assert (body["counts"]["joined_requests"], body["counts"]["fragments"]) == (3, 2)
    assert {"path": "case.duckdb", "sha256": digest, "bytes": size} in body["files"]
    assert (gone.files, gone.bytes) == (2, size + len(NEEDLE))
    entries = list(custody.read(case_root / "custody.jsonl"))
    assert [entry.action for entry in entries[-2:]] == ["destroy", "destroyed"]
    assert {entry.sha256 for entry in entries[-2:]} == {gone.sha256} == {sha256_of(case_root / "destroyed.json")}
    assert "by R. Iqbal: retention is over" in entries[-2].reason
    assert verify_destroyed(case_root)[1] == []


def test_what_is_removed_is_overwritten_first(case_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another name of the same blocks would still show the content, so the bytes are looked at just before removal."""
    seen: dict[str, bytes] = {}
    unlink = Path.unlink

    def looking(path: Path, missing_ok: bool = False) -> None:
        if path.is_file() and not path.is_symlink():
            seen[path.name] = path.read_bytes()
        unlink(path, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", looking)
    destroy(case_root, *ARGUMENTS)
    assert set(seen["case.duckdb"]) == {0}


def test_links_lead_nowhere_and_shared_blocks_are_left_alone(case_root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_bytes(b"not of this case")
    (case_root / "replay" / "link").symlink_to(outside)
    (case_root / "replay" / "folder").symlink_to(tmp_path)
    os.link(outside, case_root / "replay" / "hard")
    destroy(case_root, *ARGUMENTS)
    assert outside.read_bytes() == b"not of this case"
    assert _files(case_root) == {"custody.jsonl", "destroyed.json"}


@pytest.mark.parametrize(
    "arguments", [("Case", "who", "why"), ("", "who", "why"), ("case", "", "why"), ("case", "who", " ")]
)
def test_nothing_goes_without_confirmation_name_and_reason(case_root: Path, arguments: tuple[str, str, str]) -> None:
    before = _files(case_root)
    with pytest.raises(UsageError):
        destroy(case_root, *arguments)
    assert _files(case_root) == before and "destroyed.json" not in before


def test_an_interrupted_destruction_goes_on(case_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(path: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(module, "_wipe", stop)
        with pytest.raises(KeyboardInterrupt):
            destroy(case_root, *ARGUMENTS)
    assert {problem.subject for problem in verify_destroyed(case_root)[1]} >= {"case.duckdb", "destroyed.json"}
    destroy(case_root, *ARGUMENTS)
    assert _files(case_root) == {"custody.jsonl", "destroyed.json"}
    assert verify_destroyed(case_root)[1] == []


def test_one_broken_off_before_its_certificate_stood_goes_on(case_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(path: Path, target: Path) -> Path:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", stop)
        with pytest.raises(KeyboardInterrupt):
            destroy(case_root, *ARGUMENTS)
    destroy(case_root, *ARGUMENTS)
    assert verify_destroyed(case_root)[1] == []


@pytest.mark.parametrize("data", [b"[]", b"{}", b"no JSON"])
def test_a_certificate_that_is_none_is_a_problem(case_root: Path, data: bytes) -> None:
    destroy(case_root, *ARGUMENTS)
    (case_root / "destroyed.json").write_bytes(data)
    assert [problem.check for problem in verify_destroyed(case_root)[1]] == ["certificate"]


def test_a_case_in_use_is_left_alone(case_root: Path) -> None:
    holder = duckdb.connect(str(case_root / "case.duckdb"))
    try:
        code = f"from pathlib import Path\nfrom forensics.case.destroy import destroy\ndestroy(Path({str(case_root)!r}), 'case', 'a', 'b')"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert "in use" in done.stderr
        assert (case_root / "case.duckdb").is_file() and not (case_root / "destroyed.json").exists()
    finally:
        holder.close()


def test_a_damaged_database_can_still_be_destroyed(case_root: Path) -> None:
    (case_root / "case.duckdb").write_bytes(b"no database")
    destroy(case_root, *ARGUMENTS)
    body = json.loads((case_root / "destroyed.json").read_bytes())
    assert body["counts"] is None
    assert _files(case_root) == {"custody.jsonl", "destroyed.json"}


def test_a_sealed_case_can_be_destroyed(case_root: Path) -> None:
    made = seal(case_root, "R. Iqbal", "done")
    destroy(case_root, *ARGUMENTS)
    body = json.loads((case_root / "destroyed.json").read_bytes())
    assert body["seal_sha256"] == made.sha256
    assert _files(case_root) == {"custody.jsonl", "destroyed.json"}


def test_afterwards_the_case_says_what_happened(case_root: Path) -> None:
    destroy(case_root, *ARGUMENTS)
    with pytest.raises(MissingInput, match="was destroyed"):
        Case.open(case_root, read_only=True)
    (case_root / "destroyed.json").write_bytes((case_root / "destroyed.json").read_bytes() + b" ")
    assert [problem.subject for problem in verify_destroyed(case_root)[1]] == ["destroyed.json"]


def test_a_folder_that_is_no_case_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("x")
    with pytest.raises(MissingInput):
        destroy(tmp_path, tmp_path.name, "who", "why")
    assert (tmp_path / "x").read_text() == "x"


def test_the_command_asks_for_the_name(case_root: Path) -> None:
    command = [sys.executable, "-m", "forensics", "case", "destroy", str(case_root)]
    asked = subprocess.run(command, capture_output=True, text=True)
    assert asked.returncode == 2 and "--confirm case" in asked.stderr
    assert (case_root / "case.duckdb").is_file()
    names = ["--confirm", "case", "--by", "R. Iqbal", "--reason", "over"]
    done = subprocess.run([*command, *names], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    checked = subprocess.run(
        [sys.executable, "-m", "forensics", "case", "verify", str(case_root)], capture_output=True, text=True
    )
    assert checked.returncode == 0 and "was destroyed" in checked.stdout
