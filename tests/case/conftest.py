"""A case filled by hand: three tenants, one leak that is proven to the character, one without a source."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from forensics.case.store import Case

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

SOURCE_PROMPT = "Please review: account 4471-9920-1183 of Miriam Okonkwo, opened in Lagos."
RESPONSE = "Sure! Your plan is ready. account 4471-9920-1183 of Miriam Okonkwo, opened in Lagos. Bye."
LEAK = "account 4471-9920-1183 of Miriam Okonkwo, opened in Lagos."


def at(minute: int) -> datetime:
    return datetime(2026, 5, 11, 6, minute)


def fill(case: Case, table: str, rows: list[dict[str, Any]]) -> None:
    """Insert rows; columns that a row does not name get a plain default of their type."""
    schema = case.table(table).schema
    full = [{field.name: row.get(field.name, _default(field)) for field in schema} for row in rows]
    with case.transaction():
        case.append(table, pa.Table.from_pylist(full, schema=schema))


NULLABLE = {
    "first_at", "last_at", "user_id", "endpoint", "model", "first_token_at", "time_precision", "status",
    "finish_reason", "prompt_tokens", "completion_tokens", "cached_tokens", "stream", "q_value", "tenant_id",
    "received_at", "finished_at", "worker", "isolation_unit", "bits_null", "slot", "low", "high", "n", "total",
}  # fmt: skip


def _default(field: Any) -> Any:
    if field.name in NULLABLE:
        return None
    if pa.types.is_boolean(field.type):
        return True
    if pa.types.is_integer(field.type) or pa.types.is_floating(field.type):
        return 0
    if pa.types.is_list(field.type):
        return []
    return at(0) if pa.types.is_timestamp(field.type) else "x"


def contents(case: Case, texts: list[str]) -> None:
    fill(
        case,
        "contents",
        [
            {"content": i, "digest": f"{i:032x}", "text": t, "code_points": len(t), "bytes": len(t.encode())}
            for i, t in enumerate(texts)
        ],
    )


@pytest.fixture
def filled(tmp_path: Path) -> Iterator[Case]:
    """Request 0 (tenant acme) supplied the text; request 1 (globex) received it; request 2 (initech) is clean."""
    with Case.create(tmp_path / "case") as case:
        fill_case(case)
        yield case


@pytest.fixture
def case_root(tmp_path: Path) -> Path:
    """The same case, closed."""
    with Case.create(tmp_path / "case") as case:
        fill_case(case)
    return tmp_path / "case"


@pytest.fixture
def filler() -> Callable[[Case, str, list[dict[str, Any]]], None]:
    return fill


def fill_case(case: Case) -> None:
    contents(case, [SOURCE_PROMPT, "Here is my review.", "Plan my week.", RESPONSE, "Hello", "Hello, how can I help?"])
    fill(
        case,
        "evidence",
        [
            {
                "evidence": 0,
                "name": "engine.jsonl",
                "sha256": "ab" * 32,
                "bytes": 1000,
                "content_bytes": 1000,
                "format": "house",
                "records": 3,
                "rejected": 1,
                "record_bytes": 900,
                "rejected_bytes": 100,
            }
        ],
    )
    fill(case, "rejects", [{"evidence": 0, "byte_offset": 900, "length": 100, "line": 4, "reason": "bad_json"}])
    tenants = ("acme", "globex", "initech")
    fill(
        case,
        "requests",
        [
            {
                "key": i,
                "request": i,
                "byte_offset": i * 300,
                "byte_length": 300,
                "line": i + 1,
                "request_id": f"req-{i}",
                "ids": "{}",
                "vantage": "engine",
                "tenant_id": tenant,
                "worker": "w0",
                "received_at": at(i),
                "finished_at": at(i + 1),
                "prompt_state": "full",
                "response_state": "full",
            }
            for i, tenant in enumerate(tenants)
        ],
    )
    fill(
        case,
        "joined_requests",
        [
            {
                "request": i,
                "request_id": f"req-{i}",
                "tenant_id": tenant,
                "tenant_basis": "record",
                "isolation_unit": tenant,
                "worker": "w0",
                "received_at": at(i),
                "finished_at": at(i + 1),
                "prompt_state": "full",
                "response_state": "full",
                "vantages": "engine",
                "examinable_reason": "full",
            }
            for i, tenant in enumerate(tenants)
        ],
    )
    uses = [(i, "prompt", "messages[0].content", 2 * i) for i in range(3)]
    uses += [(i, "response", "choices[0].content", 2 * i + 1) for i in range(3)]
    fill(
        case,
        "request_contents",
        [
            {"request": r, "key": r, "side": side, "field": f, "role": side, "ordinal": 0, "content": c}
            for r, side, f, c in uses
        ],
    )
    start = RESPONSE.index(LEAK)
    fill(
        case,
        "fragments",
        [
            {
                "fragment_id": "f00d0001",
                "request": 1,
                "recipient_request_id": "req-1",
                "recipient_tenant_id": "globex",
                "vantage": "engine",
                "field": "choices[0].content",
                "start": start,
                "end": start + len(LEAK),
                "kind": "verbatim",
                "bits": 120.5,
                "net_bits": 90.25,
                "stratum": "verbatim/long",
                "machine_verdict": "probable",
                "verdict_reason": "one supplier, bits clear of the search charge",
                "sources": ["acme"],
                "content": 3,
                "features": '{"rare_words": 3, "word_bits": 88.0}',
                "exclusions_tried": ["own_material", "shared"],
            },
            {
                "fragment_id": "f00d0002",
                "request": 2,
                "recipient_request_id": "req-2",
                "recipient_tenant_id": "initech",
                "vantage": "engine",
                "field": "choices[0].content",
                "start": 7,
                "end": 22,
                "kind": "undetermined",
                "bits": 20.0,
                "net_bits": 2.0,
                "stratum": "undetermined",
                "machine_verdict": "undetermined",
                "verdict_reason": "no holder in the evidence",
                "sources": [],
                "content": 5,
                "features": "{}",
            },
        ],
    )
    source_start = SOURCE_PROMPT.index(LEAK)
    appearance = {"fragment_id": "f00d0001", "source_tenant_id": "acme", "side": "prompt", "content": 0}
    fill(
        case,
        "appearances",
        [
            {
                **appearance,
                "rank": 1,
                "request": 0,
                "source_request_id": "req-0",
                "field": "messages[0].content",
                "start": source_start,
                "end": source_start + len(LEAK),
                "similarity": 1.0,
                "raw_identity": 1.0,
                "named": True,
                "lag_us": 120_000_000,
            },
            {
                **appearance,
                "rank": 2,
                "request": 2,
                "source_request_id": "req-2",
                "source_tenant_id": "initech",
                "field": "messages[0].content",
                "content": 4,
                "start": 0,
                "end": 5,
                "similarity": 0.25,
                "raw_identity": 0.2,
                "named": False,
            },
        ],
    )
    fill(
        case,
        "exclusions",
        [
            {
                "request": 1,
                "recipient_request_id": "req-1",
                "recipient_tenant_id": "globex",
                "field": "choices[0].content",
                "start": 0,
                "end": 5,
                "rule": "model_phrase",
                "detail": "common opening",
                "holders": 9,
            }
        ],
    )
    fill(
        case,
        "verdicts",
        [
            {"fragment_id": "f00d0001", "verdict": "probable", "basis": "machine"},
            {"fragment_id": "f00d0002", "verdict": "undetermined", "basis": "machine"},
        ],
    )
    fill(
        case,
        "affected_requests",
        [
            {
                "request": 1,
                "request_id": "req-1",
                "tenant_id": "globex",
                "received_at": at(1),
                "worker": "w0",
                "verdict": "probable",
                "fragments": 1,
                "foreign_chars": len(LEAK),
                "source_tenants": ["acme"],
                "listed": "affected",
            },
            {
                "request": 2,
                "request_id": "req-2",
                "tenant_id": "initech",
                "received_at": at(2),
                "worker": "w0",
                "verdict": "undetermined",
                "fragments": 1,
                "foreign_chars": 15,
                "source_tenants": [],
                "listed": "possible",
            },
        ],
    )
    fill(
        case,
        "affected_tenants",
        [
            {"tenant_id": "acme", "role": "source", "notify": "review", "verdict": "probable", "requests_as_source": 1},
            {"tenant_id": "globex", "role": "recipient", "notify": "review", "verdict": "probable", "fragments": 1},
        ],
    )
