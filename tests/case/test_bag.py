"""A bag holds what it was given, and no path that leads elsewhere."""

from __future__ import annotations

from pathlib import Path

import bagit
import pytest

from forensics.case.bag import write_bag
from forensics.case.errors import UsageError


def test_bytes_and_files_become_a_valid_bag(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(bytes(range(256)))
    made = write_bag(
        tmp_path / "bag",
        {"a/b.bin": tmp_path / "file", "empty.txt": b""},
        [("Note", "one\ntwo: three")],
    )
    bag = bagit.Bag(str(tmp_path / "bag"))
    assert bag.is_valid() and bag.info["Note"] == "one two: three"
    assert (made.files, made.bytes) == (2, 256)
    assert (tmp_path / "bag" / "data" / "a" / "b.bin").read_bytes() == bytes(range(256))


def test_an_empty_payload_is_a_bag(tmp_path: Path) -> None:
    write_bag(tmp_path / "bag", {}, [])
    (tmp_path / "bag" / "data").mkdir(exist_ok=True)
    assert bagit.Bag(str(tmp_path / "bag")).info["Payload-Oxum"] == "0.0"


@pytest.mark.parametrize("path", ["../x", "/etc/x", "a//b", "a/./b", "", "a b", "line\nbreak", "x\\y"])
def test_paths_that_lead_elsewhere_are_refused(tmp_path: Path, path: str) -> None:
    with pytest.raises(UsageError):
        write_bag(tmp_path / "bag", {path: b"x"}, [])
    assert not (tmp_path / "bag").exists()
