"""SGLang itself, made to leak: what does it write, and does the toolkit find what the fault plugin did? `make test-sglang`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sglang.harness import capture
from tests.sglang.harness.traffic import FAULTS
from tests.support.engine_record import batches_of_traces, events, probe_events, recorded, told_by_probe
from tests.support.incident import check, check_cache

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
    told, truth = batches_of_traces(folder)
    assert told == truth


def test_the_toolkit_finds_what_leaked_and_through_what(incident: tuple[str, Path], tmp_path: Path) -> None:
    fault, folder = incident
    victims = {row["response_request_id"] for row in events(folder / "truth.jsonl")}
    assert len(victims) >= (0 if fault == "clean" else ENOUGH)
    check(fault, folder, tmp_path / "case")


@pytest.mark.parametrize("fault", ["cross_salt", "poisoned_prefix", "clean"])
def test_nothing_goes_beyond_what_the_cache_says_it_held_without_a_fault(
    fault: str, running: capture.Session, tmp_path: Path
) -> None:
    """Salts; one document asked about again and again, with hang-ups and flushes; more than the cache can hold."""
    running.incident(fault, tmp_path / "incident", quiet=True)
    judged, equal = check_cache(tmp_path / "incident", tmp_path / "case")
    assert judged > 0.9 and equal > 0.9


def test_beyond_what_the_cache_says_it_held_goes_who_was_given_anothers(
    incident: tuple[str, Path], tmp_path: Path
) -> None:
    fault, folder = incident
    if fault not in capture.BY_TOKENS:
        pytest.skip("its prompts are logged as texts")
    judged, _ = check_cache(folder, tmp_path / "case")
    assert judged > 0.9
