"""SGLang itself, made to leak: what does it write, and does the toolkit find what the fault plugin did? `make test-sglang`."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sglang.harness import capture
from tests.sglang.harness.traffic import FAULTS
from tests.support.engine_record import events, probe_events, recorded, told_by_probe
from tests.support.incident import check

ENGINE = Path(os.environ.get("FORENSICS_ENGINE", ".engine")).resolve()
ENOUGH = 30

pytestmark = [
    pytest.mark.engine,
    pytest.mark.skipif(not (ENGINE / "model").exists(), reason="no engine: make test-sglang installs it"),
]


@pytest.fixture(scope="module")
def running() -> Iterator[capture.Session]:
    with capture.session(ENGINE, traces=True) as session:
        yield session


@pytest.fixture(scope="module", params=FAULTS)
def incident(
    request: pytest.FixtureRequest, running: capture.Session, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Path]:
    out = tmp_path_factory.mktemp(request.param) / "incident"
    running.incident(request.param, out)
    return request.param, out


def test_the_probe_equals_the_fault_plugins_record(incident: tuple[str, Path]) -> None:
    _, folder = incident
    found = probe_events(folder / "logs")
    assert told_by_probe(found) == recorded(events(folder / "faults.jsonl.gz"))
    assert all(not e["errors"] and not e["dropped"] for e in found if e["ev"] == "probe_stat")


def test_spans_name_the_same_batches(incident: tuple[str, Path]) -> None:
    _, folder = incident
    spans: dict[str, str] = {}
    batches: dict[str, tuple[int, list[str]]] = {}
    scheduled = []
    for line in events(folder / "logs" / "spans.otlp.jsonl.gz"):
        for resource in line["resourceSpans"]:
            for scope in resource["scopeSpans"]:
                for span in scope["spans"]:
                    about = {a["key"]: next(iter(a["value"].values())) for a in span.get("attributes", ())}
                    if "rid" in about:
                        spans[span["traceId"]] = about["rid"]
                    for event in span.get("events", ()):
                        if event["name"] == "schedule":
                            facts = {a["key"]: next(iter(a["value"].values())) for a in event["attributes"]}
                            scheduled.append((span["traceId"], facts))
    # The engine keeps its traces by request id. Of two calls of one id the first loses its root span, and with it its
    # name: such members are compared by their number.
    calls = Counter(record.get("rid") for record in events(folder / "logs" / "gateway.jsonl"))

    def name(rid: str | None) -> str:
        return "" if rid is None or calls[rid] > 1 else rid

    for trace, facts in scheduled:
        _, members = batches.setdefault(facts["bid"], (int(facts["batch_size"]), []))
        members.append(name(spans.get(trace)))
    complete = sorted(sorted(members) for size, members in batches.values() if size == len(members))
    assert len(complete) >= 0.99 * len(batches)
    passes = recorded(events(folder / "faults.jsonl.gz")).values()
    assert complete == sorted(sorted(name(rid) for rid, _, _ in rows) for rows in passes)


def test_the_toolkit_finds_what_leaked_and_through_what(incident: tuple[str, Path], tmp_path: Path) -> None:
    fault, folder = incident
    victims = {row["response_request_id"] for row in events(folder / "truth.jsonl")}
    assert len(victims) >= (0 if fault == "clean" else ENOUGH)
    check(fault, folder, tmp_path / "case")
