"""Small incidents written as house-format logs, read by the ingest stage and attributed. All content is invented."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from forensics.attribution.parameters import Parameters
from forensics.attribution.run import run as attribute
from forensics.case.stage import Summary
from forensics.case.store import Case, Resources
from forensics.ingest.run import Parameters as IngestParameters
from forensics.ingest.run import run as ingest

ORIGIN = datetime(2026, 3, 4, 10, 0, 0)

# What ordinary traffic looks like around a leak: nothing in it is anybody's particular.
QUESTIONS = (
    ("How do I boil an egg?", "Put it in boiling water, wait seven minutes, then cool it under the tap."),
    ("Name three rivers in Europe.", "The Danube, the Rhine and the Loire are three of the longest."),
    ("Why is the sky blue?", "Air scatters short waves of light more than long ones, so that blue reaches us."),
    ("Explain recursion.", "A function that calls itself on a smaller problem until the problem is trivial."),
    ("What is a good breakfast?", "Oats with fruit and a handful of nuts keep most people going until noon."),
    ("Suggest a name for a cat.", "Pepper, Biscuit and Juniper are short and easy to call across a garden."),
)


@dataclass
class Result:
    """The tables after a run, sorted; and what the stage said."""

    fragments: list[dict[str, Any]]
    appearances: list[dict[str, Any]]
    exclusions: list[dict[str, Any]]
    strata: list[dict[str, Any]]
    summary: Summary

    def of(self, request_id: str) -> list[dict[str, Any]]:
        """Fragments of one recipient request."""
        return [row for row in self.fragments if row["recipient_request_id"] == request_id]

    def only(self) -> dict[str, Any]:
        """The one fragment of the case."""
        assert len(self.fragments) == 1, [(r["recipient_request_id"], r["kind"]) for r in self.fragments]
        return self.fragments[0]

    def best(self, fragment: dict[str, Any]) -> dict[str, Any]:
        """The first-ranked appearance of a fragment."""
        rows = [row for row in self.appearances if row["fragment_id"] == fragment["fragment_id"]]
        return min(rows, key=lambda row: row["rank"])

    def rules(self, request_id: str) -> set[str]:
        """Rules that dropped something of one recipient request."""
        return {row["rule"] for row in self.exclusions if row["recipient_request_id"] == request_id}


@dataclass
class Scene:
    """Calls of a made-up service, in seconds after ORIGIN."""

    root: Path
    records: list[dict[str, Any]] = field(default_factory=list)
    tenants: str | None = None
    _cases: list[Case] = field(default_factory=list)

    def call(
        self,
        tenant: str | None,
        prompt: str | list[dict[str, Any]],
        answer: str | dict[str, Any] | list[dict[str, Any]] | None,
        second: float | None = None,
        lasts: float = 5.0,
        worker: str | None = "w0",
        request_id: str | None = None,
        user: str | None = None,
        ends: bool = True,
    ) -> str:
        """One call; returns its id. `answer`: text, a message, or several messages (n > 1)."""
        name = request_id or f"r-{len(self.records):03d}"
        messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
        answers = answer if isinstance(answer, list) else [answer]
        choices = [
            {
                "index": i,
                "finish_reason": "stop",
                "message": one if isinstance(one, dict) else {"role": "assistant", "content": one},
            }
            for i, one in enumerate(answers)
        ]
        record: dict[str, Any] = {"request_id": name, "model": "glm", "request": {"messages": messages}}
        if user is not None:
            record["request"]["user"] = user
        if tenant is not None:
            record["tenant_id"] = tenant
        if worker is not None:
            record["worker"] = worker
        if second is not None:
            record["timestamp"] = (ORIGIN + timedelta(seconds=second)).isoformat() + "Z"
            if ends:
                record["finished_at"] = (ORIGIN + timedelta(seconds=second + lasts)).isoformat() + "Z"
        record["response"] = {"object": "chat.completion", "choices": choices}
        self.records.append(record)
        return name

    def traffic(self, second: float = 500.0, tenants: int = 4) -> None:
        """Ordinary calls of other tenants, each with a question of its own."""
        for i in range(tenants):
            question, answer = QUESTIONS[i]
            self.call(f"bystander-{i}", question, answer, second + 20 * i, worker="w1", request_id=f"ordinary-{i}")

    def run(
        self,
        parameters: Parameters | None = None,
        isolate_by: str = "tenant",
        threads: int = 2,
        order: Callable[[list[dict[str, Any]]], list[dict[str, Any]]] | None = None,
        files: int = 1,
    ) -> Result:
        """Write the logs, ingest, attribute."""
        number = len(self._cases)
        folder = self.root / f"logs-{number}"
        folder.mkdir()
        records = order(self.records) if order else self.records
        for part in range(files):
            lines = [json.dumps(record) for record in records[part::files]]
            (folder / f"{part}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        extra: dict[str, Any] = {"isolate_by": isolate_by, "workers": 1}
        if self.tenants is not None:
            extra["tenants"] = self.root / "tenants.csv"
            extra["tenants"].write_text(self.tenants, encoding="utf-8")
        case = Case.create(self.root / f"case-{number}", Resources(threads=threads))
        self._cases.append(case)
        ingest(case, IngestParameters((folder,), **extra))
        return self.again(parameters)

    def add(self, records: list[dict[str, Any]]) -> Result:
        """Ingest more calls into the last case and attribute it again; they join `records`."""
        path = self.root / f"later-{len(self.records)}.jsonl"
        path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
        ingest(self._cases[-1], IngestParameters((path,), workers=1))
        self.records += records
        return self.again()

    def again(self, parameters: Parameters | None = None) -> Result:
        """Attribute the last case again."""
        case = self._cases[-1]
        summary = attribute(case, parameters or Parameters())

        def rows(table: str, *by: str) -> list[dict[str, Any]]:
            found: list[dict[str, Any]] = case.table(table).to_pylist()
            return sorted(found, key=lambda row: tuple(row[name] for name in by))

        return Result(
            rows("fragments", "recipient_request_id", "field", "start"),
            rows("appearances", "fragment_id", "rank"),
            rows("exclusions", "recipient_request_id", "field", "start", "rule"),
            rows("decoy_strata", "stratum"),
            summary,
        )

    def close(self) -> None:
        for case in self._cases:
            case.close()


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    made = Scene(tmp_path)
    yield made
    made.close()
