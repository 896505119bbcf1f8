"""Forward passes as the probe tells them and as the fault plugin recorded them, in one shape: number -> rows."""

from __future__ import annotations

import gzip
import json
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
