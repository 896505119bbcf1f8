"""Cases made by hand: a few requests and fragments, put into the tables as ingest and attribution would."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa

from forensics.case.store import Case

ORIGIN = datetime(2026, 3, 4, 10, 0, 0)


def at(seconds: float | None) -> datetime | None:
    return None if seconds is None else ORIGIN + timedelta(seconds=seconds)


@dataclass
class CaseBuilder:
    requests: list[dict[str, Any]] = field(default_factory=list)
    joined: list[dict[str, Any]] = field(default_factory=list)
    contents: list[str] = field(default_factory=list)
    uses: list[dict[str, Any]] = field(default_factory=list)
    fragments: list[dict[str, Any]] = field(default_factory=list)
    appearances: list[dict[str, Any]] = field(default_factory=list)
    exclusions: list[dict[str, Any]] = field(default_factory=list)
    reviews: list[dict[str, Any]] = field(default_factory=list)
    replays: list[dict[str, Any]] = field(default_factory=list)
    tenants: list[dict[str, Any]] = field(default_factory=list)

    def request(
        self,
        request_id: str,
        tenant: str | None,
        received: float | None,
        finished: float | None,
        worker: str | None = "w0",
        prompt: str = "a question",
        response: str = "an answer",
        examinable_reason: str = "full",
        finish_reason: str = "stop",
        precision: str | None = "us",
    ) -> int:
        request = len(self.joined)
        shared = {
            "request": request,
            "request_id": request_id,
            "tenant_id": tenant,
            "user_id": None,
            "endpoint": "/v1/chat/completions",
            "model": "glm",
            "worker": worker,
            "received_at": at(received),
            "first_token_at": None,
            "finished_at": at(finished),
            "status": "200",
            "finish_reason": finish_reason,
            "prompt_tokens": 10,
            "completion_tokens": 5,
            "cached_tokens": None,
            "stream": False,
            "prompt_state": "full",
            "response_state": "full",
        }
        self.joined.append(
            {
                **shared,
                "tenant_basis": "record" if tenant else "none",
                "isolation_unit": tenant,
                "vantages": "gateway",
                "examinable": examinable_reason == "full",
                "examinable_reason": examinable_reason,
            }
        )
        digest = hashlib.blake2b(repr(shared).encode(), digest_size=16).hexdigest()
        self.requests.append(
            {
                **shared,
                "key": request,
                "evidence": 0,
                "byte_offset": request * 100,
                "byte_length": 99,
                "line": request + 1,
                "record_digest": digest,
                "ids": "{}",
                "vantage": "gateway",
                "time_precision": precision,
            }
        )
        for side, path, role, text in (
            ("prompt", "messages[0].content", "user", prompt),
            ("response", "choices[0].content", "response", response),
        ):
            content = len(self.contents)
            self.contents.append(text)
            self.uses.append(
                {
                    "request": request,
                    "key": request,
                    "side": side,
                    "field": path,
                    "role": role,
                    "ordinal": 0,
                    "content": content,
                }
            )
        return request

    def fragment(
        self,
        fragment_id: str,
        recipient: int,
        start: int,
        end: int,
        sources: list[str],
        found_in: list[tuple[int, str]] = (),  # (source request, side), best first
        machine_verdict: str = "probable",
        kind: str = "verbatim",
        q_value: float | None = 0.01,
        field_path: str = "choices[0].content",
    ) -> None:
        j = self.joined[recipient]
        content = next(u["content"] for u in self.uses if u["request"] == recipient and u["side"] == "response")
        self.fragments.append(
            {
                "fragment_id": fragment_id,
                "request": recipient,
                "recipient_request_id": j["request_id"],
                "recipient_tenant_id": j["tenant_id"],
                "vantage": "gateway",
                "field": field_path,
                "start": start,
                "end": end,
                "kind": kind,
                "bits": 120.5,
                "net_bits": 90.25,
                "q_value": q_value,
                "stratum": "all",
                "machine_verdict": machine_verdict,
                "verdict_reason": "made by hand",
                "sources": sources,
                "content": content,
                "features": "{}",
                "exclusions_tried": ["own_material", "shared"],
            }
        )
        for rank, (source, side) in enumerate(found_in, start=1):
            s = self.joined[source]
            use = next(u for u in self.uses if u["request"] == source and u["side"] == side)
            self.appearances.append(
                {
                    "fragment_id": fragment_id,
                    "rank": rank,
                    "request": source,
                    "source_request_id": s["request_id"],
                    "source_tenant_id": s["tenant_id"],
                    "side": side,
                    "field": use["field"],
                    "start": 0,
                    "end": end - start,
                    "similarity": 1.0,
                    "raw_identity": 1.0,
                    "named": s["tenant_id"] in sources,
                    "lag_us": None,
                    "same_worker": s["worker"] == j["worker"],
                    "overlapped": None,
                    "content": use["content"],
                }
            )

    def exclusion(self, recipient: int, start: int, end: int, rule: str = "shared") -> None:
        j = self.joined[recipient]
        self.exclusions.append(
            {
                "request": recipient,
                "recipient_request_id": j["request_id"],
                "recipient_tenant_id": j["tenant_id"],
                "field": "choices[0].content",
                "start": start,
                "end": end,
                "rule": rule,
                "detail": "held by 4 tenants",
                "holders": 4,
                "bits": 10.0,
            }
        )

    def review(self, fragment_id: str, decision: str, second: float = 0) -> None:
        self.reviews.append(
            {
                "fragment_id": fragment_id,
                "decision": decision,
                "reason": "looked at it",
                "name": "R. Eviewer",
                "at": at(second),
            }
        )

    def trial(self, fragment_id: str, verdict: str, plan_id: str = "p0", text: str = "original") -> None:
        """A leak of a plan that was replayed."""
        self.replays.append(
            {
                "plan_id": plan_id,
                "fragment_id": fragment_id,
                "verdict": verdict,
                "because": "as the trials show",
                "text": text,
                "figures": "{}",
            }
        )

    def write(self, root: Path) -> Case:
        case = Case.create(root)
        evidence = {
            "evidence": 0,
            "name": "gateway.jsonl",
            "sha256": hashlib.sha256(b"evidence").hexdigest(),
            "bytes": 1000,
            "compression": "none",
            "content_bytes": 1000,
            "format": "house",
            "format_reason": "first record",
            "time_zone": "UTC",
            "time_zone_basis": "absolute",
            "first_at": ORIGIN,
            "last_at": ORIGIN + timedelta(hours=2),
            "records": len(self.requests),
            "repeated": 0,
            "rejected": 1,
            "blank": 0,
            "structure": 0,
            "record_bytes": 900,
            "rejected_bytes": 100,
            "blank_bytes": 0,
            "structure_bytes": 0,
            "complete": True,
        }
        ingested = {"stage": "ingest", "version": "0", "parameters": "{}", "input_digest": "", "outputs": "{}"}
        ingested["summary"] = "{}"
        contents = [
            {
                "content": index,
                "digest": hashlib.blake2b(text.encode(), digest_size=16).hexdigest(),
                "text": text,
                "code_points": len(text),
                "bytes": len(text.encode()),
            }
            for index, text in enumerate(self.contents)
        ]
        for table, rows in (
            ("stages", [ingested]),
            ("evidence", [evidence]),
            ("requests", self.requests),
            ("joined_requests", self.joined),
            ("contents", contents),
            ("request_contents", self.uses),
            ("fragments", self.fragments),
            ("appearances", self.appearances),
            ("exclusions", self.exclusions),
            ("reviews", self.reviews),
            ("replay_verdicts", self.replays),
            ("tenants", self.tenants),
        ):
            if rows:
                columns = case.table(table).schema
                case.append(table, pa.Table.from_pylist(rows, schema=columns))
        return case


SECRET = "invoice 4471-A for Maria Okonkwo, 12 Elm Row, account GB29-7731-0045"
OTHER_SECRET = "the merger memo names Halloran Freight at 4.2 million, signing on Friday"


def small_case() -> CaseBuilder:
    """Three tenants: beta and gamma receive alpha's text, gamma's second leak is from one of two, one has no source."""
    b = CaseBuilder()
    alpha = b.request("req-a1", "alpha", 0, 20, prompt=SECRET)
    b.request("req-a2", "alpha", 5, 15, worker="w1")
    beta = b.request("req-b1", "beta", 60, 90.5, response="Sure. " + SECRET + " Done.")
    gamma = b.request("req-c1", "gamma", 120, 150, worker="w1", response=OTHER_SECRET + SECRET)
    delta = b.request("req-d1", "delta", 30, 200, worker="w1", prompt=OTHER_SECRET)
    weak = b.request("req-d2", "delta", 240, 250, response="foreign looking text from nowhere known")
    b.request("req-b2", "beta", 300, 310)
    b.request("req-c2", "gamma", 400, 410, examinable_reason="response truncated")
    b.fragment("f1", beta, 6, 6 + len(SECRET), ["alpha"], [(alpha, "prompt")])
    b.fragment(
        "f2", gamma, 0, len(OTHER_SECRET), ["alpha", "delta"], [(delta, "prompt"), (alpha, "prompt")], q_value=0.02
    )
    b.fragment("f3", gamma, len(OTHER_SECRET), len(OTHER_SECRET) + len(SECRET), ["alpha"], [(alpha, "prompt")])
    b.fragment("f4", weak, 0, 30, [], machine_verdict="undetermined", kind="undetermined", q_value=None)
    b.exclusion(beta, 0, 8)
    return b


HOSTILE_TENANTS = (
    "../../x",
    "=cmd()",
    "<script>alert(1)</script>",
    "\x1b[31mred\x1b[0m\u202eevil",
    "a;b|c`d`\n## heading\r![x](http://example.invalid/x.png)",
    "' onmouseover='alert(1)",
)


def hostile_case() -> CaseBuilder:
    """Each hostile tenant leaks to the next; request ids are as hostile as the tenants."""
    b = CaseBuilder()
    size = len(HOSTILE_TENANTS)
    for i, tenant in enumerate(HOSTILE_TENANTS):
        b.request(f"{tenant}/source", tenant, i * 10, i * 10 + 5, worker=tenant, prompt=SECRET + str(i))
    for i, tenant in enumerate(HOSTILE_TENANTS):
        text = SECRET + str((i + 1) % size)
        recipient = b.request(f"{tenant}/victim", tenant, 200 + i * 10, 205 + i * 10, worker=tenant, response=text)
        source = (i + 1) % size
        b.fragment(f"h{i}", recipient, 0, len(text), [HOSTILE_TENANTS[source]], [(source, "prompt")])
    return b
