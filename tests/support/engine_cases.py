"""Cases made by hand with events of an engine: the builder of all cases, and rows of `engine_events` beside it."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
from case_builder import ORIGIN, CaseBuilder, at

from forensics.case.stage import Summary
from forensics.case.store import Case
from forensics.timeline.run import Parameters, run

COLUMNS = {
    "evidence": pa.int32(),
    "byte_offset": pa.int64(),
    "at": pa.timestamp("us"),
    "worker": pa.string(),
    "kind": pa.string(),
    "request_id": pa.string(),
    "slot": pa.string(),
    "batch": pa.string(),
    "iteration": pa.int64(),
    "counts": pa.string(),
    "attributes": pa.string(),
}
PROCESS = {"pid": 7, "tp_rank": 0, "dp_rank": 0, "pp_rank": 0}


def micros(second: float) -> int:
    return round((ORIGIN - datetime(1970, 1, 1)).total_seconds() * 1_000_000 + second * 1_000_000)


class Events:
    """Events in the order in which they are added; offsets count up."""

    def __init__(self, worker: str | None = "w0", evidence: int = 1) -> None:
        self.worker = worker
        self.evidence = evidence
        self.rows: list[dict[str, Any]] = []

    def add(
        self,
        kind: str,
        second: float | None = None,
        *,
        counts: dict[str, Any] | None = None,
        attributes: dict[str, Any] | None = None,
        **columns: Any,
    ) -> None:
        self.rows.append(
            {
                "evidence": self.evidence,
                "byte_offset": len(self.rows),
                "at": at(second),
                "worker": self.worker,
                "kind": kind,
                "counts": json.dumps(counts) if counts else None,
                "attributes": json.dumps(attributes, sort_keys=True) if attributes else None,
                **columns,
            }
        )

    def slot(self, rid: str, slot: int, given: float, freed: float | None, **process: int) -> None:
        attributes = {**PROCESS, **process}
        self.add("probe_slot_alloc", given, request_id=rid, slot=str(slot), attributes=attributes)
        if freed is not None:
            self.add("probe_slot_free", freed, request_id=rid, slot=str(slot), attributes=attributes)

    def batch(
        self,
        iteration: int,
        second: float,
        rows: list[tuple[str, int]],
        mode: str = "decode",
        size: int | None = None,
        **process: int,
    ) -> None:
        attributes = {**PROCESS, **process, "mode": mode, "rid": [r for r, _ in rows], "slot": [s for _, s in rows]}
        name = f"{self.worker}:{attributes['pid']}:{attributes['tp_rank']}:0:{iteration}"
        self.add(
            "probe_batch_start",
            second,
            batch=name,
            iteration=iteration,
            counts={"size": len(rows) if size is None else size},
            attributes=attributes,
        )

    def repeat(self, like: int, first: int, last: int, since: float, second: float, **process: int) -> None:
        attributes = {**PROCESS, **process}
        self.add(
            "probe_batch_repeat",
            second,
            batch=f"{self.worker}:{attributes['pid']}:{attributes['tp_rank']}:0:{like}",
            iteration=first,
            counts={"last": last, "from_us": micros(since)},
            attributes=attributes,
        )

    def schedule(self, bid: str, second: float, rids: list[str], size: int | None = None, **process: int) -> None:
        attributes = {"pid": 9, "tp_rank": 0, "forward_mode": "decode", **process}
        for rid in rids:
            self.add(
                "schedule",
                second,
                request_id=rid,
                batch=f"{attributes['pid']}:{bid}",
                counts={"batch_size": len(rids) if size is None else size},
                attributes=attributes,
            )

    def status(self, second: float, rids: list[str]) -> None:
        name = f"status:{len(self.rows)}"
        self.add(
            "scheduler_status", second, batch=name, counts={"running": len(rids), "queued": 0}, attributes={"rank": 0}
        )
        for row, rid in enumerate(rids):
            self.add("status_running", second, request_id=rid, batch=name, counts={"row": row})


def timeline(builder: CaseBuilder, root: Path, *events: Events, **parameters: Any) -> tuple[Case, Summary]:
    """The case, open, after the stage."""
    case = builder.write(root)
    rows = [row for part in events for row in part.rows]
    case.append(
        "engine_events",
        pa.table({name: pa.array([row.get(name) for row in rows], kind) for name, kind in COLUMNS.items()}),
    )
    return case, run(case, Parameters(**parameters))


def found(case: Case, table: str, **where: Any) -> list[dict[str, Any]]:
    return [row for row in case.table(table).to_pylist() if all(row[key] == value for key, value in where.items())]
