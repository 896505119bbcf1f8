"""A run of a real engine with a known fault, from its files to the mechanism: is what leaked found, nobody else named,
and the fault recognised? For runs that were captured and for those that are made now."""

from __future__ import annotations

from pathlib import Path

from forensics import pipeline
from forensics.case.store import Case
from forensics.ingest.run import Parameters as Ingest
from forensics.ingest.run import run as ingest
from forensics.timeline.run import Parameters
from forensics.timeline.run import run as timeline
from tests.support.engine_record import events

# What each fault is in the catalogue of mechanisms; one of its class must come first. None may where there is none.
MECHANISMS = {
    "slot_reuse": "M4",
    "cross_salt": "M20",
    "poisoned_prefix": "M7",
    "shifted": "M28",
    "duplicate_rid": "M1",
    "random": None,
    "clean": None,
}
FOUND = 0.9  # share of the leaks that must be probable
FOUND_OF_SHORT = 0.5  # the same of those that were planted at random: some are a few words


def check_cache(folder: Path, case_folder: Path) -> tuple[float, float]:
    """Hold the hits of the prefix cache to its own events: beyond what it held for a call went exactly the calls that
    the fault plugin recorded. Of the hits, the share that events judge, and of those without a fault the share whose
    count is exactly what is expected. Raises AssertionError.
    """
    with Case.create(case_folder) as case:
        ingest(case, Ingest((folder / "logs",)))
        timeline(case, Parameters())
        names = {row["request"]: row["request_id"] for row in case.table("joined_requests").to_pylist()}
        hits = {names[row["request"]]: row for row in case.table("cache_hits").to_pylist()}
    leaks = {fact["victim"] for fact in events(folder / "faults.jsonl.gz") if fact["fact"] == "leak"}
    judged = {name: row for name, row in hits.items() if row["expected_basis"] == "kv_events"}
    assert {name for name, row in judged.items() if row["excess_tokens"]} == leaks & set(hits)
    sound = [row for name, row in judged.items() if name not in leaks]
    equal = [row for row in sound if row["cached_tokens"] == row["expected_tokens"]]
    return len(judged) / len(hits), len(equal) / len(sound)


def check(fault: str, folder: Path, case_folder: Path) -> None:
    """Run the toolkit on `folder` and hold it to the truth beside the logs. Raises AssertionError."""
    settings = pipeline.PipelineParameters((folder / "logs",), tenants=folder / "tenants.csv")
    root = pipeline.run(case_folder, settings).root
    found = [f for f in events(root / "out" / "fragments.jsonl") if f["verdict"] == "probable"]
    told = {(f["recipient_request_id"], tuple(f["sources"])) for f in found}
    truth = {(r["response_request_id"], (r["source_tenant_id"],)) for r in events(folder / "truth.jsonl")}
    assert told <= truth  # a wrong tenant is worse than a miss
    assert len(told) >= (FOUND_OF_SHORT if fault == "random" else FOUND) * len(truth)
    with Case.open(root) as case:
        stands = [row for row in case.table("mechanism_tests").to_pylist() if row["status"] == "stands"]
    expected = MECHANISMS[fault]
    first = {row["hypothesis"] for row in stands if row["rank"] == 1}
    assert expected in first if expected else not stands
    assert all(row["p_holm"] < 0.01 for row in stands)
