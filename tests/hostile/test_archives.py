"""Archives as traps, through the public command: exit codes, words, and nothing written where it should not be."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def _log(make_record: Callable[..., Any], first: int, count: int) -> bytes:
    return b"".join(json.dumps(make_record(first + i)).encode() + b"\n" for i in range(count))


def _tar(members: list[tuple[str, bytes] | tarfile.TarInfo]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for member in members:
            if isinstance(member, tarfile.TarInfo):
                archive.addfile(member)
            else:
                info = tarfile.TarInfo(member[0])
                info.size = len(member[1])
                archive.addfile(info, io.BytesIO(member[1]))
    return out.getvalue()


def _link(name: str, target: str) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = tarfile.SYMTYPE, target
    return info


def _accounted(file: dict[str, Any]) -> bool:
    parts = ("record_bytes", "rejected_bytes", "blank_bytes", "structure_bytes")
    return sum(file[part] for part in parts) == file["content_bytes"]


def _private(case: Path) -> bool:
    return all(not path.stat().st_mode & 0o077 for path in case.rglob("*"))


def test_a_tar_with_links_and_parents(
    forensics: Callable[..., Any], make_record: Callable[..., Any], tmp_path: Path
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    names = ["../../../up.jsonl", "/abs.jsonl", "planted/in.jsonl", "\x1b[2J\u202e.jsonl", "a" * 3000]
    members = [(name, _log(make_record, 10 * i, 2)) for i, name in enumerate(names)]
    (work / "trap.tar.gz").write_bytes(gzip.compress(_tar([_link("planted", str(tmp_path)), *members])))
    done = forensics("ingest", work / "trap.tar.gz", "--case", tmp_path / "case", "--json")
    assert done.code == 0, done.stderr
    files = done.data["files"]
    assert len(files) == 6 and sum(file["records"] for file in files) == 10
    assert all(_accounted(file) for file in files)
    assert files[0]["name"] == "trap.tar.gz/../../../up.jsonl"
    assert all(file["container_sha256"] == files[-1]["sha256"] for file in files[:-1])
    assert any("1 entries of archives are links" in warning for warning in done.json["warnings"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["case", "work"]
    assert [path.name for path in work.iterdir()] == ["trap.tar.gz"]
    assert sorted(path.name for path in (tmp_path / "case" / "restricted").iterdir()) == ["spill"]
    assert _private(tmp_path / "case")
    assert forensics("case", "verify", tmp_path / "case").code == 0
    shown = forensics("ask", tmp_path / "case", "evidence")
    assert shown.code == 0 and "\x1b" not in shown.stdout and "\u202e" not in shown.stdout
    again = forensics("ingest", work / "trap.tar.gz", "--case", tmp_path / "case", "--json")
    assert again.code == 0 and again.data["skipped"] is True
    assert again.data["files"] == files


def test_a_zip_that_holds_itself(
    forensics: Callable[..., Any], make_record: Callable[..., Any], tmp_path: Path
) -> None:
    """A real quine is not needed: the same archive again and again is known by its digest, deeper ones by their depth."""
    data = _log(make_record, 0, 3)
    for level in range(12):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(f"{level}.zip", data)
            archive.writestr(f"again-{level}.zip", data)
        data = out.getvalue()
    (tmp_path / "deep.zip").write_bytes(data)
    (tmp_path / "log.jsonl").write_bytes(_log(make_record, 0, 3))
    done = forensics("ingest", tmp_path / "deep.zip", tmp_path / "log.jsonl", "--case", tmp_path / "case", "--json")
    assert done.code == 16, done.stderr
    assert len(done.data["files"]) == 4 + 1 + 1
    assert [file["reasons"] for file in done.data["files"]].count({"depth": 1}) == 1
    assert any("4 member(s) of archives hold the same bytes" in warning for warning in done.json["warnings"])
    whole = forensics(
        "ingest", tmp_path / "deep.zip", "--case", tmp_path / "whole", "--json", "--max-depth", 13, "--max-members", 23
    )
    assert whole.code == 16 and whole.data["files"][0]["records"] == 3


def test_limits_are_options(forensics: Callable[..., Any], make_record: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "a.tar").write_bytes(_tar([(f"{i}.jsonl", _log(make_record, i, 1)) for i in range(5)]))
    evidence = ("ingest", tmp_path / "a.tar", "--json", "--case")
    for number, (option, value, records, code) in enumerate(
        (
            ("--max-members", 3, 3, 16),
            ("--max-bytes", "1K", 2, 16),
            ("--max-line-bytes", "100", 0, 11),
            ("--max-depth", 1, 5, 0),
            ("--max-ratio", 1, 5, 0),
        )
    ):
        done = forensics(*evidence, tmp_path / f"case{number}", option, value)
        assert (done.code, sum(file["records"] for file in done.data["files"])) == (code, records), option
    assert forensics(*evidence, tmp_path / "no", "--max-bytes", "many").code == 2


@pytest.mark.slow
def test_twenty_gigabytes_of_zeros(
    forensics: Callable[..., Any], make_record: Callable[..., Any], tmp_path: Path
) -> None:
    """A log, then 20 GB of zeros in 20 MB of gzip, alone, in a tar and in a zip: stopped by ratio, soon, in little memory."""
    log = gzip.compress(_log(make_record, 0, 3))
    zeros = gzip.compress(bytes(200_000_000), 9)
    bomb = tmp_path / "bomb.gz"
    bomb.write_bytes(log + zeros * 100)
    assert bomb.stat().st_size < 25_000_000
    (tmp_path / "in.tar").write_bytes(_tar([("bomb.gz", bomb.read_bytes() + b"\0")]))
    with zipfile.ZipFile(tmp_path / "in.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb.gz", bomb.read_bytes() + b"\0\0")
    for name in ("bomb.gz", "in.tar", "in.zip"):
        done = forensics("ingest", tmp_path / name, "--case", tmp_path / f"case-{name}", "--json")
        assert 0 < done.peak < 2 << 30
        assert done.code == 16, done.stderr
        file = done.data["files"][0]
        assert file["records"] == 3 and file["complete"] is False and file["reasons"].get("ratio") == 1
        assert file["content_bytes"] < 100_000_000
        assert all(_accounted(one) for one in done.data["files"])


@pytest.mark.parametrize("cut", [0.3, 0.6, 0.999])
def test_a_cut_archive(
    forensics: Callable[..., Any], make_record: Callable[..., Any], tmp_path: Path, cut: float
) -> None:
    data = gzip.compress(_tar([(f"{i}.jsonl", _log(make_record, 100 * i, 60)) for i in range(3)]), mtime=0)
    (tmp_path / "cut.tgz").write_bytes(data[: int(len(data) * cut)])
    done = forensics("ingest", tmp_path / "cut.tgz", "--case", tmp_path / "case", "--json")
    assert done.code == 0, done.stderr
    outer = done.data["files"][-1]
    assert (outer["format"], outer["complete"]) == ("tar", False)
    assert outer["reasons"] == {"damaged_stream": 1}
    assert 0 < sum(file["records"] for file in done.data["files"]) <= 180
    assert any("not read to its end" in warning for warning in done.json["warnings"])
