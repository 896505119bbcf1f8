"""Texts handed over through a file are the texts of the block, and leave nothing behind."""

from __future__ import annotations

import json
import pickle
import stat
from pathlib import Path

import pytest

from forensics.ingest import handover
from forensics.ingest.handover import read_and_hand, received, use_folder
from forensics.ingest.worker import Block, FileFacts, forget, read_block


def block(count: int) -> Block:
    texts = [f"{number} \u00e9\U0001f600 " + "word " * 2000 for number in range(count)]
    records = [
        {"request_id": f"r{number}", "request": {"messages": [{"role": "user", "content": text}]}}
        for number, text in enumerate(texts)
    ]
    data = b"".join(json.dumps(record).encode() + b"\n" for record in records)
    return Block(FileFacts("f", "house", False, "UTC", None, 1 << 20), 0, data=data, last=True)


@pytest.fixture(autouse=True)
def clean(monkeypatch):
    forget()
    monkeypatch.setattr(handover, "_folder", None)
    yield
    forget()


@pytest.mark.parametrize(("count", "files"), [(1, 0), (100, 1)])
def test_what_is_received_is_what_was_read(count, files, tmp_path):
    expected = read_block(block(count)).tables
    forget()
    use_folder(tmp_path)
    # As it goes from one process to another.
    handed = pickle.loads(pickle.dumps(read_and_hand(block(count))))
    assert len(list(tmp_path.iterdir())) == files
    for path in tmp_path.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    result = received(handed)
    assert list(tmp_path.iterdir()) == []
    assert set(result.tables) == set(expected)
    for name, table in expected.items():
        assert result.tables[name].equals(table), name
    assert result.tables["texts"].num_rows == count


def test_a_case_read_by_two_processes_is_that_of_one(make_bench):
    """Over the size from which processes are used, with texts that repeat between blocks and are not ASCII."""
    lines = []
    for number in range(5000):
        content = f"{number % 700} \u00e9\u4e2d " + "a long way to the pier " * 180
        message = {"role": "user", "content": content}
        lines.append(json.dumps({"request_id": f"r{number}", "tenant_id": "t", "request": {"messages": [message]}}))
    data = ("\n".join(lines) + "\n").encode()
    assert len(data) > 20 << 20
    cases = []
    for workers in (1, 2):
        bench = make_bench(f"w{workers}")
        bench.put("log.jsonl", data)
        bench.run(workers=workers)
        assert not (Path(bench.case.root) / "restricted" / "members").exists()
        cases.append(
            {
                name: bench.case.table(name).to_pylist()
                for name in ("contents", "record_contents", "requests", "evidence")
            }
        )
    assert cases[0] == cases[1]
    assert len(cases[0]["contents"]) == 700
