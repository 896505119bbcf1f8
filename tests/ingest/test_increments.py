"""Evidence added bit by bit, given twice, read by one process or by two: the same case."""

from __future__ import annotations

import gzip
import json
import random

import pytest

from forensics.case import custody
from forensics.case.errors import UsageError

TABLES = (
    "evidence",
    "rejects",
    "records",
    "record_ids",
    "record_contents",
    "requests",
    "joined_requests",
    "contents",
    "request_contents",
)


def log(seed: int, count: int, size: int = 200) -> str:
    random_ = random.Random(seed)
    words = [f"word{i}" for i in range(500)]
    shared = " ".join(random_.choices(words, k=size))
    out = []
    for i in range(count):
        text = " ".join(random_.choices(words, k=size))
        record = {
            "request_id": f"r{seed}-{i}",
            "tenant_id": f"t{i % 5}",
            "timestamp": 1772600767 + i,
            "request": {"messages": [{"role": "system", "content": shared}, {"role": "user", "content": text}]},
            "response": {
                "id": f"rid{seed}-{i}",
                "choices": [{"message": {"content": text[::-1]}, "finish_reason": "stop"}],
            },
        }
        out.append(json.dumps(record) if i % 50 else "broken")
    return "\n".join(out) + "\n"


def snapshot(bench) -> dict[str, list[str]]:
    return {
        table: sorted(json.dumps(row, default=str, sort_keys=True) for row in bench.case.table(table).to_pylist())
        for table in TABLES
    }


def test_the_second_reading_of_a_file_is_a_no_op_with_a_notice(bench):
    path = bench.put("g.jsonl", log(1, 60))
    bench.run()
    before = snapshot(bench)
    again = bench.run(path)
    assert again.skipped
    assert any("read before" in warning for warning in again.warnings)
    copy = bench.put("copy.jsonl", path.read_bytes())
    assert bench.run(copy).skipped
    assert snapshot(bench) == before
    assert [entry.action for entry in custody.read(bench.case.custody_path)] == ["stage", "ingest"]


def test_a_second_file_that_repeats_records_adds_no_requests(bench):
    text = log(1, 60)
    bench.put("a.jsonl", text)
    first = bench.run()
    before = {
        table: snapshot(bench)[table] for table in ("requests", "joined_requests", "contents", "request_contents")
    }
    bench.put("b.jsonl.gz", gzip.compress(text.replace("\n", "\r\n").encode()))
    second = bench.run()
    assert (first.figures["repeated"], second.figures["repeated"]) == (0, 58)
    assert second.figures["files"][1]["repeated"] == 58
    assert any("repeat" in warning for warning in second.warnings)
    assert {table: snapshot(bench)[table] for table in before} == before


def test_adding_a_file_gives_the_case_that_both_at_once_give(make_bench):
    one, two = make_bench("one"), make_bench("two")
    gateway = "".join(
        json.dumps({"request_id": f"r1-{i}", "tenant_id": "late", "vantage": "client"}) + "\n" for i in range(60)
    )
    for bench in (one, two):
        bench.put("a.jsonl", log(1, 60))
        if bench is one:
            bench.run()
        bench.put("b.jsonl", gateway)
        bench.put("c.jsonl", log(2, 30))
        bench.run()
    assert snapshot(one) == snapshot(two)
    assert one.case.count("joined_requests") == 60 + 29  # the client's 60 hold the gateway's 58


def test_keys_are_dense_and_in_order_of_appearance(bench):
    bench.put("a.jsonl", log(1, 20))
    bench.run()
    contents = bench.rows("contents", "content")
    assert [row["content"] for row in contents] == list(range(len(contents)))
    assert [row["key"] for row in bench.rows("requests", "key")] == list(range(19))
    assert [row["request"] for row in bench.rows("joined_requests", "request")] == list(range(19))
    shared = next(row for row in contents if row["content"] == 0)
    assert len(shared["text"]) == shared["code_points"] == shared["bytes"]


def test_settings_that_change_the_reading_need_all_evidence_again(bench):
    a = bench.put("a.jsonl", log(1, 20))
    bench.put("b.jsonl", log(2, 20))
    bench.run()
    with pytest.raises(UsageError):
        bench.run(a, time_zone="Asia/Tokyo")
    assert not bench.run(time_zone="Asia/Tokyo").skipped
    assert bench.case.count("requests") == 38


def test_isolation_and_tenants_change_without_reading_again(bench):
    bench.put("e/a.jsonl", log(1, 20))
    bench.run(bench.folder / "e")
    table = bench.put("tenants.csv", "key,tenant\nt0,t1\n")
    summary = bench.run(bench.folder / "e", tenants=table)
    assert not summary.skipped
    assert {row["tenant_id"] for row in bench.rows("joined_requests", "request")} == {"t1", "t2", "t3", "t4"}
    # The file stays with the case.
    assert bench.run(bench.folder / "e").skipped


def test_one_and_two_processes_give_the_same_tables(make_bench, monkeypatch):
    """Several blocks, plain and compressed, so that both ways of handing blocks over are used."""
    monkeypatch.setattr("forensics.ingest.run._PARALLEL_BYTES", 0)
    found = []
    for workers in (1, 2):
        bench = make_bench(f"w{workers}")
        bench.put("a.jsonl", log(1, 800, 500))
        bench.put("b.jsonl.gz", gzip.compress(log(2, 800, 500).encode(), 1, mtime=0))
        bench.put("c.jsonl", log(1, 40, 500))
        bench.run(workers=workers)
        found.append(snapshot(bench))
    for table in TABLES:
        assert found[0][table] == found[1][table], table
    assert len(found[0]["requests"]) == 784 + 784
    assert sum('"repeated": 39' in row for row in found[0]["evidence"]) == 1
