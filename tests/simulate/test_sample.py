"""Is the shipped sample what its README says, by its own files?"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path

import pytest
import zstandard

from forensics.simulate.parameters import Parameters
from forensics.simulate.run import simulate

SAMPLE = Path(__file__).resolve().parents[2] / "sample_logs" / "glm-long-prompt"


def unpacked(path: Path) -> bytes:
    return zstandard.ZstdDecompressor().stream_reader(path.read_bytes()).read()


@pytest.fixture(scope="module")
def truth() -> list[dict]:
    return [json.loads(line) for line in (SAMPLE / "truth.jsonl").read_bytes().split(b"\n") if line]


@pytest.fixture(scope="module")
def finished() -> dict[str, dict]:
    found = {}
    for path in sorted((SAMPLE / "logs").glob("*.log.zst")):
        for line in unpacked(path).decode().split("\n"):
            if '"event": "request.finished"' in line[:120]:
                record = json.loads(line[line.index("] ") + 2 :])
                found[record["rid"]] = record
    return found


def test_it_is_small():
    assert sum(path.stat().st_size for path in SAMPLE.rglob("*") if path.is_file()) <= 8 << 20


def test_155_long_prompts_are_affected(truth: list[dict], finished: dict[str, dict]):
    affected = {row["response_request_id"] for row in truth}
    assert len(affected) == 155
    assert min(len(finished[rid]["obj"]["text"]) for rid in affected) > 4000
    assert sum(row["chars"] < 80 for row in truth) >= 155 / 5
    assert len({row["response_request_id"] for row in truth if row["ambiguous_with"]}) == 10


def test_ten_have_no_source_and_were_restored_twice(truth: list[dict], finished: dict[str, dict]):
    pages = defaultdict(set)
    for row in truth:
        if row["source_request_id"] is None:
            text = finished[row["response_request_id"]]["out"]["text"][row["char_start"] : row["char_end"]]
            pages[text].add(row["response_tenant_id"])
    assert sum(len(tenants) for tenants in pages.values()) == 10
    assert all(len(tenants) >= 2 for tenants in pages.values())
    assert sum(any("\u0590" < c < "\uffff" and c.isalpha() for c in text) for text in pages) >= 3


def test_over_a_hundred_lookalikes_of_every_class():
    rows = [json.loads(line) for line in (SAMPLE / "lookalikes.jsonl").read_bytes().split(b"\n") if line]
    classes = Counter(row["class"] for row in rows)
    assert set(classes) == {
        "own_quotation", "same_question", "template", "licence", "sister_account", "complaint", "model_phrase",
    }  # fmt: skip
    assert sum(count for name, count in classes.items() if name != "own_quotation") > 100


@pytest.mark.slow
@pytest.mark.long
def test_the_command_in_the_readme_makes_it_again(tmp_path: Path):
    body = json.loads((SAMPLE / "incident.json").read_bytes())["parameters"]
    body["corpus"], body["faults"] = None, tuple(body["faults"])
    simulate(tmp_path / "again", Parameters(**body))
    for path in sorted(SAMPLE.rglob("*")):
        if path.is_file():
            other = tmp_path / "again" / path.relative_to(SAMPLE)
            if path.suffix == ".zst":
                assert unpacked(path) == unpacked(other)
            else:
                assert path.read_bytes() == other.read_bytes()
