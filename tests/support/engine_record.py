"""Forward passes as the probe tells them and as the fault plugin recorded them, in one shape: number -> rows."""

from __future__ import annotations

import gzip
import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

Row = tuple[str, int, int]  # request, slot, length


def events(path: Path) -> list[dict[str, Any]]:
    """JSON lines of a file, packed or not."""
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return [json.loads(line) for line in data.split(b"\n") if line]


def probe_events(logs: Path) -> list[dict[str, Any]]:
    """All events of the probe's files in `logs`, file by file."""
    return [event for path in sorted(logs.glob("probe-*.jsonl*")) for event in events(path)]


def told_by_probe(found: list[dict[str, Any]]) -> dict[int, list[Row]]:
    """Passes of the scheduler by their number; repeats are written out."""
    passes: dict[int, list[Row]] = {}
    for event in found:
        if event["ev"] == "batch_start":
            passes[event["iter"]] = [(row["rid"], row["slot"], row["seq_len"]) for row in event["rows"]]
        elif event["ev"] == "batch_repeat":
            first, last = event["iter"]
            for number in range(first, last + 1):
                steps = number - event["as"]
                passes[number] = [(rid, slot, length + steps) for rid, slot, length in passes[event["as"]]]
    return passes


def recorded(facts: list[dict[str, Any]]) -> dict[int, list[Row]]:
    """The same from the fault plugin's record, which looked where attention reads the rows."""
    passes: dict[int, list[Row]] = {}
    for fact in facts:
        if fact["fact"] == "forward":
            for number in range(fact["first"], fact["last"] + 1):
                rows = zip(fact["rows"], fact["lengths"], strict=True)
                passes[number] = [(rid, slot, length + number - fact["first"]) for (rid, slot), length in rows]
    return passes


def batches_of_traces(folder: Path) -> tuple[list[list[str]], list[list[str]]]:
    """Members of the forward passes of an incident, sorted: as the engine's traces tell them, and as recorded.

    The engine keeps its traces by request id. Of two calls of one id the first loses its root span, and with it its
    name: members with such an id are compared by their number. A pass of which the traces do not tell every member is
    left out of the first list.
    """
    calls = Counter(record.get("rid") for record in events(folder / "logs" / "gateway.jsonl"))

    def name(rid: str | None) -> str:
        return "" if rid is None or calls[rid] > 1 else rid

    roots: dict[str, str] = {}
    scheduled: list[tuple[str, dict[str, Any]]] = []
    for line in events(folder / "logs" / "spans.otlp.jsonl.gz"):
        for span in (s for r in line["resourceSpans"] for scope in r["scopeSpans"] for s in scope["spans"]):
            if (rid := _facts(span).get("rid")) is not None:
                roots[span["traceId"]] = rid
            scheduled += [(span["traceId"], _facts(e)) for e in span.get("events", ()) if e["name"] == "schedule"]
    sizes: dict[str, int] = {}
    members: defaultdict[str, list[str]] = defaultdict(list)
    for trace, facts in scheduled:
        sizes[facts["bid"]] = int(facts["batch_size"])
        members[facts["bid"]].append(name(roots.get(trace)))
    told = sorted(sorted(rids) for batch, rids in members.items() if len(rids) == sizes[batch])
    passes = recorded(events(folder / "faults.jsonl.gz")).values()
    return told, sorted(sorted(name(rid) for rid, _, _ in rows) for rows in passes)


def _facts(span: dict[str, Any]) -> dict[str, Any]:
    return {a["key"]: next(iter(a["value"].values())) for a in span.get("attributes", ())}
