"""Evidence that is empty, junk, damaged or a trap: a clear message, a count, nothing lost, the right exit code."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

MEBIBYTE = 1 << 20


def _accounted(file: dict[str, Any]) -> bool:
    parts = ("record_bytes", "rejected_bytes", "blank_bytes", "structure_bytes")
    return sum(file[part] for part in parts) == file["content_bytes"]


def test_an_empty_file(forensics: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").touch()
    done = forensics("ingest", tmp_path / "empty.jsonl", "--case", tmp_path / "case", "--json")
    assert done.code == 11
    [file] = done.data["files"]
    assert (file["name"], file["format"], file["records"], file["rejected"]) == ("empty.jsonl", "unknown", 0, 0)
    assert "not one record" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_missing_file(forensics: Callable[..., Any], tmp_path: Path) -> None:
    done = forensics("run", tmp_path / "none.jsonl", "--case", tmp_path / "case", "--json")
    assert done.code == 10
    assert done.json["ok"] is False
    assert done.data["error"]["exit_code"] == 10


def test_a_directory_of_junk(forensics: Callable[..., Any], tmp_path: Path) -> None:
    dice = random.Random(4)
    junk = tmp_path / "junk"
    junk.mkdir()
    (junk / "noise.bin").write_bytes(dice.randbytes(200_000))
    (junk / "prose.txt").write_bytes(b"nothing to see here\n" * 50)
    (junk / "cut.jsonl").write_bytes(b'{"request_id": "a", "time')
    (junk / "broken.gz").write_bytes(b"\x1f\x8b\x08" + dice.randbytes(100))
    (junk / "broken.zst").write_bytes(b"\x28\xb5\x2f\xfd" + dice.randbytes(100))
    (junk / "nulls").write_bytes(bytes(10_000))
    (junk / "link").symlink_to("/etc/hostname")
    done = forensics("ingest", junk, "--case", tmp_path / "case", "--json")
    assert done.code == 11
    files = done.data["files"]
    assert {"noise.bin", "prose.txt", "cut.jsonl", "broken.gz", "broken.zst", "nulls"} <= {
        Path(file["name"]).name for file in files
    }
    assert all(file["format"] == "unknown" and file["records"] == 0 and _accounted(file) for file in files)
    assert all(file["rejected"] == sum(file["reasons"].values()) for file in files)
    asked = forensics("ask", tmp_path / "case", "rejects", "--format", "json")
    assert len(asked.data["rows"]) == sum(file["rejected"] for file in files)


def _mutated(line: bytes, dice: random.Random) -> bytes:
    data = bytearray(line)
    for _ in range(dice.randint(1, 4)):
        place = dice.randrange(len(data))
        what = dice.randrange(5)
        if what == 0:
            data[place] = dice.choice([i for i in range(256) if i != 10])
        elif what == 1:
            del data[place:]
        elif what == 2:
            data[place:place] = dice.choice([b"\\ud800", b"\xff\xfe", b"\x00", b"NaN", b"[" * 300, b'"', b"}{", b"\r"])
        elif what == 3:
            del data[place : place + dice.randint(1, 20)]
        else:
            data[place:place] = bytes(data[: dice.randint(1, 30)])
        data = data or bytearray(b"x")
    return bytes(data).replace(b"\n", b"")


def test_a_thousand_mutated_lines(
    forensics: Callable[..., Any], make_record: Callable[..., Any], tmp_path: Path
) -> None:
    dice = random.Random(7)
    lines = [json.dumps(make_record(number, f"tenant-{number % 7}")).encode() for number in range(1000)]
    mutated = [_mutated(line, dice) for line in lines]
    honest = [json.dumps(make_record(5000 + number, "globex")).encode() for number in range(10)]
    data = b"\n".join([*mutated, *honest]) + b"\n"
    (tmp_path / "log.jsonl").write_bytes(data)
    done = forensics("ingest", tmp_path / "log.jsonl", "--case", tmp_path / "case", "--json")
    assert done.code == 0, done.stderr
    [file] = done.data["files"]
    assert file["format"] == "house"
    assert file["content_bytes"] == len(data)
    assert _accounted(file)
    assert file["records"] + file["rejected"] + file["blank"] + file["structure"] == 1010
    assert file["records"] >= 10 and file["rejected"] >= 300
    rows = forensics("ask", tmp_path / "case", "rejects", "--format", "json").data["rows"]
    for row in rows:
        start, length = row["byte_offset"], row["length"]
        assert data.split(b"\n")[row["line"] - 1] == data[start : start + length].rstrip(b"\n")
    assert forensics("case", "verify", tmp_path / "case").code == 0


def test_max_rejects(forensics: Callable[..., Any], make_record: Callable[..., Any], tmp_path: Path) -> None:
    lines = [json.dumps(make_record(1)), "{", "{", json.dumps(make_record(2))]
    (tmp_path / "log.jsonl").write_text("\n".join(lines) + "\n")
    evidence = ("ingest", tmp_path / "log.jsonl", "--json")
    assert forensics(*evidence, "--case", tmp_path / "a").code == 0
    assert forensics(*evidence, "--case", tmp_path / "b", "--max-rejects", 2).code == 0
    refused = forensics(*evidence, "--case", tmp_path / "c", "--max-rejects", 1)
    assert refused.code == 11
    assert refused.data["files"][0]["rejected"] == 2


def test_a_gzip_bomb_stops_early(
    forensics: Callable[..., Any], make_record: Callable[..., Any], tmp_path: Path
) -> None:
    honest = b"".join(json.dumps(make_record(number)).encode() + b"\n" for number in range(3))
    with gzip.open(tmp_path / "bomb.jsonl.gz", "wb", 9) as file:
        file.write(honest)
        for _ in range(400):
            file.write(bytes(MEBIBYTE))
    assert (tmp_path / "bomb.jsonl.gz").stat().st_size < MEBIBYTE
    done = forensics("ingest", tmp_path / "bomb.jsonl.gz", "--case", tmp_path / "case", "--json")
    assert done.code == 16
    [file] = done.data["files"]
    assert file["records"] == 3
    assert file["complete"] is False
    assert file["reasons"].get("ratio") == 1
    assert _accounted(file)


@pytest.mark.slow
def test_a_line_of_300_megabytes(
    forensics: Callable[..., Any], make_record: Callable[..., Any], tmp_path: Path
) -> None:
    before, after = (json.dumps(make_record(number)).encode() + b"\n" for number in (1, 2))
    with (tmp_path / "log.jsonl").open("wb") as file:
        file.write(before)
        file.write(b'{"request_id": "big", "request": {"messages": [{"role": "user", "content": "')
        for _ in range(300):
            file.write(b"a" * 1_000_000)
        file.write(b'"}]}}\n')
        file.write(after)
    done = forensics("ingest", tmp_path / "log.jsonl", "--case", tmp_path / "case", "--json", "--quiet")
    assert done.code == 0, done.stderr
    [file] = done.data["files"]
    assert (file["records"], file["rejected"]) == (2, 1)
    assert file["content_bytes"] == (tmp_path / "log.jsonl").stat().st_size
    assert _accounted(file)
    assert 50_000_000 < done.peak < 1 << 30  # of no command that runs at all is it less


def test_the_same_file_twice_changes_nothing(
    forensics: Callable[..., Any], make_record: Callable[..., Any], tmp_path: Path
) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps(make_record(number)) + "\n" for number in range(5)))
    first = forensics("ingest", log, "--case", tmp_path / "case", "--json")
    again = forensics("ingest", log, "--case", tmp_path / "case", "--json")
    assert (first.code, again.code) == (0, 0)
    assert first.data["files"] == again.data["files"]
    assert any("before" in warning for warning in again.json["warnings"])
