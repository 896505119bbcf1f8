"""Incidents that a real engine produced with an injected fault: is what is kept whole, true and without text in the
probe's files? No engine is needed."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.engine_record import batches_of_traces, events, probe_events, recorded, told_by_probe

SAMPLES = Path(__file__).resolve().parents[2] / "sample_logs"
INCIDENTS = sorted(path for path in SAMPLES.glob("sglang-*") if (path / "faults.jsonl.gz").exists())
TRACED = [path for path in INCIDENTS if (path / "logs" / "spans.otlp.jsonl.gz").exists()]
FAULTY = [path for path in INCIDENTS if path.name != "sglang-clean"]
# Victims that the truth of an incident holds; a mechanism is told from chance by thirty.
ENOUGH = 30


def named(path: Path) -> str:
    return path.name


def gateway(folder: Path) -> dict[str, dict[str, Any]]:
    return {record["request_id"]: record for record in events(folder / "logs" / "gateway.jsonl")}


@pytest.mark.parametrize("folder", INCIDENTS, ids=named)
def test_the_probe_tells_every_pass_as_the_fault_plugin_saw_it(folder: Path) -> None:
    told = told_by_probe(probe_events(folder / "logs"))
    truth = recorded(events(folder / "faults.jsonl.gz"))
    assert len(truth) > 100 and truth == told


@pytest.mark.parametrize("folder", TRACED, ids=named)
def test_traces_tell_every_pass_as_the_fault_plugin_saw_it(folder: Path) -> None:
    told, truth = batches_of_traces(folder)
    assert len(truth) > 100 and told == truth


@pytest.mark.parametrize("folder", INCIDENTS, ids=named)
def test_slots_are_taken_and_given_back_in_turn(folder: Path) -> None:
    held: dict[int, str] = {}
    for event in probe_events(folder / "logs"):
        if event["ev"] == "slot_alloc":
            assert event["slot"] not in held
            held[event["slot"]] = event["rid"]
        elif event["ev"] == "slot_free":
            assert held.pop(event["slot"]) == event["rid"]
        elif event["ev"] == "batch_start":
            assert all(held[row["slot"]] == row["rid"] for row in event["rows"])
    assert not held


@pytest.mark.parametrize("folder", INCIDENTS, ids=named)
def test_the_probe_failed_nowhere_and_holds_no_text(folder: Path) -> None:
    found = probe_events(folder / "logs")
    starts = [event for event in found if event["ev"] == "probe_start"]
    assert {"batch_start", "slot_alloc", "slot_free", "recv", "finish", "match", "emit"} <= {e["ev"] for e in found}
    assert not any(event["missing"] for event in starts)
    assert all(not e["errors"] and not e["dropped"] and not e["failed"] for e in found if e["ev"] == "probe_stat")
    raw = json.dumps(found)
    assert "Record of" not in raw and "-space" not in raw


@pytest.mark.parametrize("folder", INCIDENTS, ids=named)
def test_truth_is_about_answers_that_were_given(folder: Path) -> None:
    calls = gateway(folder)
    rows = events(folder / "truth.jsonl")
    prompts = prompts_of(folder)
    for row in rows:
        victim, source = calls[row["response_request_id"]], calls[row["source_request_id"]]
        assert victim["tenant_id"] == row["response_tenant_id"] != row["source_tenant_id"] == source["tenant_id"]
        answer = victim["response"]["choices"][0]["message"]["content"]
        text = answer[row["char_start"] : row["char_end"]]
        assert text == text.strip() and len(text) >= 12
        if row["source_field"] == "prompt":
            assert text in prompts[source["request_id"]]
        elif folder.name != "sglang-duplicate_rid":
            assert text == answer.strip()
    if folder in FAULTY:
        assert len({row["response_request_id"] for row in rows}) >= ENOUGH
    else:
        assert rows == []


def prompts_of(folder: Path) -> dict[str, str]:
    """As the engine logged them; of prompts that came as tokens it logs the text when they are finished."""
    prompts = {}
    for path in (folder / "logs").glob("engine-0_0.log*"):
        for line in path_lines(path):
            if '"request.' in line:
                record = json.loads(line[line.index("{") :])
                prompts[record["rid"]] = prompts.get(record["rid"]) or record["obj"]["text"]
    return prompts


def path_lines(path: Path) -> list[str]:
    import gzip

    return gzip.decompress(path.read_bytes()).decode().split("\n")


@pytest.mark.parametrize("folder", INCIDENTS, ids=named)
def test_an_incident_is_small_and_names_no_machine(folder: Path) -> None:
    import gzip

    files = [path for path in folder.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 1_500_000
    for path in files:
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        assert re.search(rb"(?<![\w.:/-])/(?:home|root|tmp|work|mnt|Users)\b", data) is None
    with (folder / "tenants.csv").open(encoding="utf-8", newline="") as table:
        assert next(csv.reader(table)) == ["key", "tenant"]
