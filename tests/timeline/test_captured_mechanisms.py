"""Incidents captured from a real engine with a known fault: what the timeline makes of them, against the fault plugin's
own record (faults.jsonl.gz: rows of every forward pass, each victim with its source) and the truth drawn from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from engine_record import events, recorded
from served import append

from forensics.case.store import Case
from forensics.ingest.run import Parameters as Ingest
from forensics.ingest.run import run as ingest
from forensics.timeline.run import Parameters, run
from tests.support.incident import MECHANISMS, check

SAMPLES = Path(__file__).parents[2] / "sample_logs"
CAPTURED = [fault for fault in MECHANISMS if (SAMPLES / f"sglang-{fault}" / "faults.jsonl.gz").exists()]


@dataclass(frozen=True)
class Read:
    """One incident, read with the leaks of its truth in the place of attribution's findings."""

    fault: str
    folder: Path
    figures: dict[str, Any]
    ids: dict[int, str]
    members: list[dict[str, Any]]
    iterations: dict[int, int]
    stays: list[dict[str, Any]]
    tests: list[dict[str, Any]]


@pytest.fixture(scope="module", params=CAPTURED)
def read(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Read]:
    fault = str(request.param)
    folder = SAMPLES / f"sglang-{fault}"
    with Case.create(tmp_path_factory.mktemp(fault) / "case") as case:
        ingest(case, Ingest((folder / "logs",)))
        put_in(case, events(folder / "truth.jsonl"))
        summary = run(case, Parameters())
        yield Read(
            fault,
            folder,
            summary.figures,
            {row["request"]: row["request_id"] for row in case.table("joined_requests").to_pylist()},
            case.table("batch_members").to_pylist(),
            {row["batch"]: row["iteration"] for row in case.table("batches").to_pylist()},
            [row for row in case.table("residencies").to_pylist() if row["phase"] == "slot"],
            case.table("mechanism_tests").to_pylist(),
        )


def put_in(case: Case, truth: list[dict[str, Any]]) -> None:
    """The leaks of the truth as probable fragments, each with its source."""
    numbers = {row["request_id"]: row["request"] for row in case.table("joined_requests").to_pylist()}
    fragments, appearances = [], []
    for place, row in enumerate(truth):
        victim, source = row["response_request_id"], row["source_request_id"]
        shared = {"fragment_id": f"f{place:04d}", "content": 0, "field": row["field"]}
        fragments.append(
            shared
            | {
                "request": numbers[victim], "recipient_request_id": victim, "recipient_tenant_id": row["response_tenant_id"],
                "vantage": "gateway", "start": row["char_start"], "end": row["char_end"], "kind": row["kind"],
                "bits": 99.0, "net_bits": 60.0, "stratum": "text", "machine_verdict": "probable", "verdict_reason": "truth",
                "sources": [row["source_tenant_id"]], "features": "{}", "exclusions_tried": [],
            }
        )  # fmt: skip
        appearances.append(
            shared
            | {
                "rank": 1, "request": numbers[source], "source_request_id": source,
                "source_tenant_id": row["source_tenant_id"], "side": row["source_field"] or "response", "start": 0,
                "end": row["char_end"] - row["char_start"], "similarity": 1.0, "raw_identity": 1.0, "named": True,
            }
        )  # fmt: skip
    append(case, "fragments", fragments)
    append(case, "appearances", appearances)


def test_passes_and_slots_are_those_of_the_record(read: Read) -> None:
    record = recorded(events(read.folder / "faults.jsonl.gz"))
    twins = read.fault == "duplicate_rid"  # two calls of one id: the id alone does not tell which
    told = {
        (read.iterations[row["batch"]], "" if twins else read.ids[row["request"]], row["slot"]) for row in read.members
    }
    assert told == {
        (number, "" if twins else rid, str(slot)) for number, rows in record.items() for rid, slot, _ in rows
    }
    assert {row["basis"] for row in read.stays} == {"logged"}


def test_the_fault_is_the_mechanism_that_comes_first(read: Read) -> None:
    stands = [row for row in read.tests if row["status"] == "stands"]
    expected = MECHANISMS[read.fault]
    if expected is None:
        assert stands == []
    else:
        first = [row for row in stands if row["rank"] == 1]
        assert expected in {row["hypothesis"] for row in first}
        assert all(row["p_holm"] < 0.01 for row in first)
        # Nothing else is claimed beside the class.
        assert len({row["predicate"] for row in stands}) == 1


def test_a_change_after_the_engine_is_seen_where_both_places_logged_the_answer(read: Read) -> None:
    """Of answers that were handed over right both hold one text, and that is known, not unknown."""
    if read.fault == "shifted":
        (row,) = (row for row in read.tests if row["hypothesis"] == "M28")
        assert row["predicate"] == "diverged"
        assert row["p_holm"] < 1e-20


def test_a_cache_that_fills_is_no_poisoned_prefix(read: Read) -> None:
    if read.fault in ("shifted", "random"):
        (row,) = (row for row in read.tests if row["hypothesis"] == "M7")
        assert row["status"] in ("falls", "undecided")


@pytest.mark.parametrize(
    ("fault", "relation"), [("slot_reuse", "slot"), ("cross_salt", "prefix"), ("poisoned_prefix", "prefix")]
)
def test_a_victim_whose_answer_shows_nothing_is_an_exposure(fault: str, relation: str, tmp_path: Path) -> None:
    """Every fifth victim is kept from the toolkit, as if it had said nothing readable of what it read."""
    folder = SAMPLES / f"sglang-{fault}"
    truth = events(folder / "truth.jsonl")
    silent = set(sorted({row["response_request_id"] for row in truth})[::5])
    with Case.create(tmp_path / "case") as case:
        ingest(case, Ingest((folder / "logs",)))
        put_in(case, [row for row in truth if row["response_request_id"] not in silent])
        run(case, Parameters())
        names = {row["request"]: row["request_id"] for row in case.table("joined_requests").to_pylist()}
        found = [row for row in case.table("exposures").to_pylist() if row["relation"] == relation]
        ranked = {row["hypothesis"] for row in case.table("mechanism_tests").to_pylist() if row["rank"] == 1}
    assert silent and silent <= {names[row["request"]] for row in found}
    assert MECHANISMS[fault] in ranked


@pytest.mark.slow
@pytest.mark.parametrize(
    "fault",
    [f if f in ("shifted", "slot_reuse", "clean") else pytest.param(f, marks=pytest.mark.long) for f in CAPTURED],
)
def test_from_files_to_the_mechanism(fault: str, tmp_path: Path) -> None:
    """All of it, with attribution's own findings: nobody is named wrongly, and the mechanism is the same."""
    check(fault, SAMPLES / f"sglang-{fault}", tmp_path / "case")
