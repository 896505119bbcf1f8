"""Cases made of a few lines each. All content is invented."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from forensics.case.stage import Summary
from forensics.case.store import Case
from forensics.ingest.run import Parameters, run


class Bench:
    """A case and a folder of evidence."""

    def __init__(self, root: Path) -> None:
        self.folder = root / "evidence"
        self.folder.mkdir()
        self.case = Case.create(root / "case")

    def put(self, name: str, data: bytes | str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return path

    def run(self, *paths: Path, **parameters: Any) -> Summary:
        return run(self.case, Parameters(paths or (self.folder,), **parameters))

    def rows(self, table: str, order: str) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self.case.table(table).to_pylist()
        return sorted(rows, key=lambda row: (row[order] is None, row[order]))

    def joined(self) -> dict[str, dict[str, Any]]:
        return {row["request_id"]: row for row in self.rows("joined_requests", "request")}

    def texts(self, request_id: str) -> dict[str, str]:
        """Field path -> text of one call; a response's path as it is, a prompt's with `<` before it."""
        contents = {row["content"]: row["text"] for row in self.rows("contents", "content")}
        requests = {
            row["request"] for row in self.rows("joined_requests", "request") if row["request_id"] == request_id
        }
        return {
            ("<" if row["side"] == "prompt" else "") + row["field"]: contents[row["content"]]
            for row in self.rows("request_contents", "ordinal")
            if row["request"] in requests
        }


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path)
    yield made
    made.case.close()


@pytest.fixture
def make_bench(tmp_path: Path) -> Iterator[Callable[[str], Bench]]:
    made: list[Bench] = []

    def make(name: str) -> Bench:
        root = tmp_path / name
        root.mkdir()
        made.append(Bench(root))
        return made[-1]

    yield make
    for one in made:
        one.case.close()
