"""A case as a served engine leaves it: requests that took slots and sat in forward passes, and leaks put in by a rule.

The tables are written as ingest, attribution and the timeline would; nothing of the code under test makes them.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
from case_builder import SECRET, CaseBuilder, at

from forensics.case.store import Case

TENANTS = tuple(f"tenant-{i}" for i in range(8))


@dataclass
class Call:
    number: int
    tenant: str
    worker: str
    slot: int
    start: float
    end: float
    aborted: bool
    prefix: int
    former: int | None = None
    salt: str = ""
    cached: int = 0
    excess: int = 0
    matched: int | None = None
    rid: str | None = None
    engine_text: str | None = None


@dataclass
class Served:
    """`calls` in the order of arrival; `passes`: worker, iteration, time, members."""

    calls: list[Call]
    passes: list[tuple[str, int, float, list[int]]]
    leaks: list[tuple[int, int]] = field(default_factory=list)
    flushes: list[float] = field(default_factory=list)
    with_slots: bool = True
    with_passes: bool = True
    with_cache: bool = True
    possible: bool = False

    def call(self, number: int) -> Call:
        return self.calls[number]

    def write(self, root: Path) -> Case:
        b = CaseBuilder()
        leaked: dict[int, list[int]] = {}
        for source, recipient in self.leaks:
            leaked.setdefault(recipient, []).append(source)
        for c in self.calls:
            text = f"answer {c.number} " + " ".join(f"{SECRET} {s}" for s in leaked.get(c.number, ()))
            prefix = f"You are assistant number {c.prefix}, and you answer as such in every case. "
            b.request(
                f"req-{c.number}",
                c.tenant,
                c.start,
                c.end,
                worker=c.worker,
                prompt=prefix + f"Question {c.number}? {SECRET} {c.number}",
                response=text,
                finish_reason="abort" if c.aborted else "stop",
            )
            if c.rid is not None:
                b.requests[-1]["ids"] = '{"rid":"' + c.rid + '"}'
            b.joined[-1]["prompt_tokens"] = b.requests[-1]["prompt_tokens"] = 30
            b.joined[-1]["cached_tokens"] = b.requests[-1]["cached_tokens"] = c.cached
        for i, (source, recipient) in enumerate(self.leaks):
            b.fragment(
                f"f{i:04d}",
                recipient,
                10,
                10 + len(SECRET),
                [self.calls[source].tenant],
                [(source, "prompt")],
                machine_verdict="possible" if self.possible else "probable",
            )
        case = b.write(root)
        append(case, "engine_events", [_flush(moment) for moment in self.flushes])
        return case

    def fill(self, case: Case) -> None:
        """What the timeline derives before mechanisms are tested."""
        stays: list[dict[str, Any]] = []
        hits: list[dict[str, Any]] = []
        for c in self.calls:
            shared = {
                "request": c.number,
                "worker": c.worker,
                "start": at(c.start),
                "end": at(c.end),
                "confidence": 1.0,
            }
            stays.append(shared | {"slot": None, "phase": "serve", "basis": "derived", "source": "request_times"})
            if self.with_slots:
                stays.append(shared | {"slot": str(c.slot), "phase": "slot", "basis": "logged", "source": "probe"})
            if self.with_cache:
                hits.append(
                    {
                        "request": c.number,
                        "worker": c.worker,
                        "at": at(c.start),
                        "cached_tokens": c.cached,
                        "expected_tokens": c.cached - c.excess,
                        "expected_basis": "tokens",
                        "excess_tokens": c.excess,
                        "matched_request": c.matched,
                        "own_namespace": c.salt,
                        "basis": "logged",
                    }
                )
        append(case, "residencies", stays)
        append(case, "cache_hits", hits)
        if self.with_passes:
            append(
                case,
                "batches",
                [
                    {
                        "batch": i,
                        "worker": w,
                        "iteration": n,
                        "at": at(t),
                        "kind": "decode",
                        "basis": "logged",
                        "size": len(m),
                        "confidence": 1.0,
                        "source": "probe",
                    }
                    for i, (w, n, t, m) in enumerate(self.passes)
                ],
            )
            append(
                case,
                "batch_members",
                [{"batch": i, "request": r, "slot": None} for i, (_, _, _, m) in enumerate(self.passes) for r in m],
            )


def served(seed: int, calls: int = 600, workers: int = 2, slots: int = 6) -> Served:
    """Arrivals at random times, each in the slot that was freed last; a pass of all that run, every half second."""
    dice = random.Random(seed)
    free = {f"w{w}": list(range(slots)) for w in range(workers)}
    last: dict[tuple[str, int], int] = {}
    running: list[Call] = []
    made: list[Call] = []
    now = 0.0
    while len(made) < calls:
        now += dice.expovariate(1.6 * workers)
        worker = dice.choice(sorted(free))
        done = sorted((c for c in running if c.end <= now), key=lambda c: c.end)
        for c in done:
            running.remove(c)
            free[c.worker].append(c.slot)
        if not free[worker]:
            continue
        slot = free[worker].pop()
        aborted = dice.random() < 0.15
        call = Call(
            len(made),
            dice.choice(TENANTS),
            worker,
            slot,
            round(now, 6),
            round(now + dice.uniform(0.5, 4.5), 6),
            aborted,
            prefix=dice.randrange(12),
            former=last.get((worker, slot)),
            cached=dice.choice((0, 16)),
        )
        call.salt = call.tenant
        last[worker, slot] = call.number
        running.append(call)
        made.append(call)
    passes = []
    end = max(c.end for c in made)
    for worker in sorted(free):
        own = [c for c in made if c.worker == worker]
        for step in range(int(end * 2) + 1):
            moment = step / 2
            members = [c.number for c in own if c.start <= moment < c.end]
            if members:
                passes.append((worker, step, moment, members))
    return Served(made, passes)


def _flush(moment: float) -> dict[str, Any]:
    return {"evidence": 0, "byte_offset": 0, "at": at(moment), "worker": "w0", "kind": "cache_flush"}


def append(case: Case, table: str, rows: list[dict[str, Any]]) -> None:
    if rows:
        schema = case.table(table).schema
        columns = {name: [row.get(name) for row in rows] for name in schema.names}
        case.append(table, pa.table({name: pa.array(columns[name], schema.field(name).type) for name in schema.names}))
