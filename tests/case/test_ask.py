"""Named questions: each has a header, runs, and answers what it says on a case whose answers are known."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from forensics.case.ask import ask, questions, to_csv
from forensics.case.errors import UsageError
from forensics.case.store import Case

# question -> parameters -> the answer's rows, restricted to the columns named
EXPECTED: dict[str, tuple[dict[str, str], tuple[str, ...], list[tuple[Any, ...]]]] = {
    "affected-requests": (
        {},
        ("request_id", "verdict", "source_tenants", "listed"),
        [("req-1", "probable", ["acme"], "affected"), ("req-2", "undetermined", [], "possible")],
    ),
    "affected-tenants": ({}, ("tenant_id", "role"), [("acme", "source"), ("globex", "recipient")]),
    "ambiguous": ({}, ("fragment_id",), []),
    "decoys": ({}, ("stratum",), []),
    "evidence": ({}, ("name", "records", "rejected"), [("engine.jsonl", 3, 1)]),
    "examinable-per-hour": ({}, ("reason", "requests", "share"), [("full", 3, 1.0)]),
    "examinable-per-tenant": (
        {},
        ("tenant_id", "standing"),
        [("acme", "affected"), ("globex", "affected"), ("initech", "examined, nothing found")],
    ),
    "exclusions": ({}, ("rule", "runs", "code_points", "most_holders"), [("model_phrase", 1, 5, 9)]),
    "exclusions-of-request": ({"request": "req-1"}, ("start", "end", "rule"), [(0, 5, "model_phrase")]),
    "fragments-of-request": (
        {"request": "req-1"},
        ("fragment_id", "start", "end", "verdict", "sources"),
        [("f00d0001", 26, 84, "probable", ["acme"])],
    ),
    "join-keys": ({}, ("vantages", "tenant_basis", "requests"), [("engine", "record", 3)]),
    "numbers": ({}, ("name",), []),
    "rejects": ({}, ("evidence_name", "line", "byte_offset", "reason"), [("engine.jsonl", 4, 900, "bad_json")]),
    "repeated-ids": ({}, ("request_id",), []),
    "request": (
        {"request": "req-0"},
        ("request_id", "vantage", "tenant_id", "evidence_name", "line"),
        [("req-0", "engine", "acme", "engine.jsonl", 1)],
    ),
    "review-queue": ({}, ("fragment_id", "verdict"), [("f00d0001", "probable"), ("f00d0002", "undetermined")]),
    "reviews": ({}, ("fragment_id",), []),
    "tenant-as-recipient": ({"tenant": "globex"}, ("request_id", "fragment_id"), [("req-1", "f00d0001")]),
    "tenant-as-source": (
        {"tenant": "acme"},
        ("source_request_id", "source_start", "source_end", "recipient_request_id", "recipient_tenant_id"),
        [("req-0", 15, 73, "req-1", "globex")],
    ),
    "unattributed": ({}, ("fragment_id", "recipient_request_id"), [("f00d0002", "req-2")]),
    "verdicts": ({}, ("kind", "verdict", "fragments"), [("undetermined", "undetermined", 1), ("verbatim", "probable", 1)]),
    "who-to-whom": (
        {},
        ("source_tenant_id", "recipient_tenant_id", "responses", "code_points"),
        [("acme", "globex", 1, 58)],
    ),
    "window": ({}, ("verdict", "requests"), [("probable", 1), ("undetermined", 1)]),
    "worker-rates": ({}, ("worker",), []),
}  # fmt: skip


def test_every_question_has_an_expected_answer() -> None:
    assert sorted(EXPECTED) == [question.name for question in questions()]


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_answer(filled: Case, name: str) -> None:
    parameters, columns, rows = EXPECTED[name]
    answer = ask(filled, name, parameters)
    assert set(columns) <= set(answer.columns)
    found = [tuple(record[column] for column in columns) for record in answer.records()]
    assert found == rows


def test_repeated_ids_are_listed_with_their_tenants(filled: Case, filler: Any) -> None:
    filler(filled, "joined_requests", [{"request": 7, "request_id": "req-1", "tenant_id": "acme"}])
    found = ask(filled, "repeated-ids").records()
    assert [(row["request_id"], row["requests"], row["tenant_ids"]) for row in found] == [
        ("req-1", 2, ["acme", "globex"])
    ]


def test_a_parameter_that_a_question_does_not_take_is_named(filled: Case) -> None:
    with pytest.raises(UsageError, match="foo"):
        ask(filled, "request", {"foo": "1"})  # the one it needs is missing as well
    with pytest.raises(UsageError, match="foo"):
        ask(filled, "evidence", {"foo": "1"})


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("no-such", {}),
        ("../schema/ingest", {}),
        ("tenant-as-source", {}),
        ("affected-requests", {"tenant": "acme"}),
        ("tenant-as-source", {"tenant": "acme", "other": "x"}),
    ],
)
def test_wrong_questions_are_usage_errors(filled: Case, name: str, parameters: dict[str, str]) -> None:
    with pytest.raises(UsageError):
        ask(filled, name, parameters)


def test_a_parameter_is_data_not_sql(filled: Case) -> None:
    assert ask(filled, "tenant-as-source", {"tenant": "acme' OR '1'='1"}).rows == ()


@pytest.mark.parametrize("hostile", ["=cmd()", "+1", "-1", "@x", " =x", "＝cmd()", "\t=x", "\x1b[31mred", "<script>"])
def test_csv_cells_do_not_act(filled: Case, filler: Any, hostile: str) -> None:
    filler(
        filled, "affected_tenants", [{"tenant_id": hostile, "role": "source", "notify": "no", "verdict": "possible"}]
    )
    rows = list(csv.reader(io.StringIO(to_csv(ask(filled, "affected-tenants")))))
    cells = [row[0] for row in rows[1:]]
    assert len(cells) == 3
    assert not any(cell.lstrip(" \t'\"").startswith(tuple("=+-@＝")) and not cell.startswith("'") for cell in cells)
    assert not any(ord(character) < 32 for cell in cells for character in cell)
