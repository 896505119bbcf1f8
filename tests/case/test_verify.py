"""Verification sees each kind of change: custody, manifest, outputs, permissions, and every audited rule."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest

from forensics.case.manifest import write_manifest
from forensics.case.store import Case
from forensics.case.verify import audit_names, verify

Breaks = Callable[[Case, Callable[..., None]], None]


def _checks(case: Case) -> set[str]:
    return {problem.check for problem in verify(case).problems}


@pytest.fixture
def finished(filled: Case) -> Case:
    """A case with two outputs and a manifest."""
    filled.write("out/affected_requests.csv", b"request_id\nreq-1\n")
    filled.write("report/report.md", b"# Report\n")
    filled.record("stage", "scope", "00")
    write_manifest(filled, "run", datetime(2026, 5, 12, tzinfo=UTC), {"threads": 2})
    return filled


def test_a_sound_case_has_no_problems(finished: Case) -> None:
    found = verify(finished)
    assert found.problems == ()
    assert (found.outputs, found.evidence_files) == (2, 1)


def test_the_manifest_names_everything(finished: Case) -> None:
    body = orjson.loads((finished.root / "manifest.json").read_bytes())
    assert [output["path"] for output in body["outputs"]] == ["out/affected_requests.csv", "report/report.md"]
    assert body["inputs"] == [{"name": "engine.jsonl", "sha256": "ab" * 32, "bytes": 1000}]
    assert {"duckdb", "polars", "pyarrow"} <= body["dependencies"].keys()
    assert "ask/affected_requests" in {query["name"] for query in body["queries"]}


@pytest.mark.parametrize(
    ("change", "check"),
    [
        (lambda root: (root / "out/affected_requests.csv").write_bytes(b"request_id\nreq-9\n"), "outputs"),
        (lambda root: (root / "out/affected_requests.csv").unlink(), "outputs"),
        (lambda root: (root / "out/new.csv").write_bytes(b""), "outputs"),
        (lambda root: (root / "manifest.json").unlink(), "manifest"),
        (lambda root: (root / "manifest.json").write_bytes(b"{"), "manifest"),
        (lambda root: _edit(root / "manifest.json", b'"threads": 2', b'"threads": 3'), "manifest"),
        (lambda root: _edit(root / "custody.jsonl", b'"scope"', b'"scopf"'), "custody"),
        (lambda root: (root / "custody.jsonl").write_bytes(b""), "custody"),
        (lambda root: (root / "report/report.md").chmod(0o644), "permissions"),
    ],
    ids=[
        "edited",
        "deleted",
        "added",
        "no-manifest",
        "bad-manifest",
        "edited-manifest",
        "edited-log",
        "cut-log",
        "open",
    ],
)
def test_each_change_is_seen(finished: Case, change: Callable[[Path], Any], check: str) -> None:
    change(finished.root)
    assert check in _checks(finished)


def _edit(path: Path, old: bytes, new: bytes) -> None:
    data = path.read_bytes()
    assert old in data
    path.write_bytes(data.replace(old, new))


def _stage(name: str) -> dict[str, str]:
    return {"stage": name, "version": "0", "parameters": "{}", "input_digest": "", "outputs": "{}", "summary": "{}"}


# audit -> (table, row to add): what must make it report
BROKEN: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "affected_agree": [
        (
            "affected_requests",
            {"request": 0, "request_id": "req-0", "verdict": "probable", "listed": "affected", "tenant_id": "acme"},
        )
    ],
    "affected_tenants_complete": [
        (
            "affected_requests",
            {"request": 0, "request_id": "req-0", "verdict": "probable", "listed": "affected", "tenant_id": "nobody"},
        )
    ],
    "appearances_in_bounds": [("appearances", {"fragment_id": "absent", "rank": 1, "start": 0, "end": 1})],
    "bytes_accounted": [("evidence", {"evidence": 1, "content_bytes": 10, "record_bytes": 9})],
    "categories_in_bounds": [
        (
            "fragment_categories",
            {"fragment_id": "f00d0001", "category": "wealth", "detector": "x", "start": 0, "end": 9, "checked": "no"},
        )
    ],
    "confirmed_by_someone": [("verdicts", {"fragment_id": "f00d0003", "verdict": "confirmed", "basis": "x"})],
    "contents_measured": [("contents", {"content": 99, "digest": "d", "text": "four", "code_points": 5, "bytes": 4})],
    "fragments_in_bounds": [
        (
            "fragments",
            {"fragment_id": "f00d0003", "request": 1, "content": 3, "start": 80, "end": 900, "features": "{}"},
        )
    ],
    "keys_unique": [("contents", {"content": 99, "digest": f"{0:032x}", "text": "a", "code_points": 1, "bytes": 1})],
    "rejects_counted": [("rejects", {"evidence": 0, "reason": "bad_utf8"})],
    "releases_whole": [
        (
            "notice_releases",
            {
                "tenant_id": "acme",
                "version": 1,
                "file": "a",
                "prepared_by": "A",
                "approved_by": " a",
                "acknowledged": [],
            },
        )
    ],
    "residencies_ordered": [("residencies", {"request": 0, "worker": "w0", "end": datetime(2020, 1, 1)})],
    "sources_have_evidence": [("fragments", {"fragment_id": "f00d0003", "sources": ["acme"], "features": "{}"})],
    "sources_possible": [
        (
            "appearances",
            {"fragment_id": "f00d0001", "rank": 3, "request": 1, "source_tenant_id": "globex", "named": True},
        )
    ],
    "uses_have_ends": [("request_contents", {"request": 1, "key": 1, "content": 77, "field": "x", "side": "prompt"})],
    "vantages_joined": [("joined_requests", {"request": 7, "request_id": "req-7"})],
    "verdicts_known": [("verdicts", {"fragment_id": "f00d0003", "verdict": "sure", "basis": "x"})],
}


def test_every_audit_has_a_breaking_row() -> None:
    assert sorted(f"audits/{name}" for name in BROKEN) == sorted(audit_names())


def test_the_filled_case_passes_every_audit(filled: Case) -> None:
    assert [name for name in audit_names() if filled.rows(name)] == []


@pytest.mark.parametrize("audit", sorted(BROKEN))
def test_audit_reports_the_bad_row(filled: Case, filler: Callable[..., None], audit: str) -> None:
    for table, row in BROKEN[audit]:
        filler(filled, table, [row])
    rows = filled.rows(f"audits/{audit}")
    assert rows and all(isinstance(subject, str) and isinstance(problem, str) for subject, problem in rows)
    assert f"audits/{audit}" in _checks(filled)


def test_a_request_id_that_two_tenants_use_is_no_fault(filled: Case, filler: Callable[..., None]) -> None:
    again = {"request_id": "req-1", "tenant_id": "initech", "vantages": "engine", "tenant_basis": "record"}
    filler(filled, "joined_requests", [{"request": 7, "isolation_unit": "initech", **again}])
    filler(filled, "requests", [{"key": 7, "request": 7, "request_id": "req-1", "ids": "{}", "vantage": "engine"}])
    assert [name for name in audit_names() if filled.rows(name)] == []


def test_a_missing_verdict_counts_once_scope_has_run(filled: Case, filler: Callable[..., None]) -> None:
    filler(filled, "fragments", [{"fragment_id": "f00d0003", "machine_verdict": "possible", "features": "{}"}])
    assert filled.rows("audits/verdicts_known") == []
    filler(filled, "stages", [_stage("scope")])
    assert [row[0] for row in filled.rows("audits/verdicts_known")] == ["fragment f00d0003"]
