"""Texts that several reading processes met get one key each, in order of first appearance, however they alternate."""

from __future__ import annotations

import hashlib
import json

import pytest

from forensics.case.store import Case
from forensics.ingest.worker import Block, BlockResult, FileFacts, forget, read_block
from forensics.ingest.writer import Writer


def result(texts: list[str]) -> BlockResult:
    """What a process gives that has read nothing before."""
    forget()
    lines = [
        json.dumps({"request_id": f"r{number}", "request": {"messages": [{"role": "user", "content": text}]}}).encode()
        for number, text in enumerate(texts)
    ]
    return read_block(Block(FileFacts("f", "house", False, "UTC", None, 1 << 20), 0, data=b"\n".join(lines)))


@pytest.mark.parametrize("count", [6, 60])
def test_texts_met_by_two_processes_stand_once(count, tmp_path):
    texts = [f"text \u00e9 {number}" for number in range(count)]
    with Case.create(tmp_path / "case") as case:
        writer = Writer(case)
        writer.add(0, result(texts[::2]), 0)
        writer.add(0, result(texts), count)
        writer.flush()
        contents = sorted(case.table("contents").to_pylist(), key=lambda row: row["content"])
        uses = sorted(case.table("record_contents").to_pylist(), key=lambda row: row["record"])
    assert [row["text"] for row in contents] == texts[::2] + texts[1::2]
    assert [row["content"] for row in contents] == list(range(count))
    for row in contents:
        data = row["text"].encode()
        assert row["digest"] == hashlib.blake2b(data, digest_size=16).hexdigest()
        assert (row["bytes"], row["code_points"]) == (len(data), len(row["text"]))
    assert [contents[row["content"]]["text"] for row in uses] == texts[::2] + texts
    forget()
