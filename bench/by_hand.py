"""Turns the incidents written by hand (`by_hand_texts.py`) into logs in the house format, with truth.

    python bench/by_hand.py OUT

makes one folder per incident: `logs/requests.jsonl`, `truth.jsonl`, `lookalikes.jsonl`, `tenants.csv`.
"""

from __future__ import annotations

import csv
import json
import re
import sys
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from by_hand_texts import INCIDENTS, Incident, Turn

_MARK = re.compile(r"\[\[(leak|like) ([^|]*)\|(.*?)\]\]", re.DOTALL)
_START = datetime(2026, 5, 4, 8, 0, tzinfo=UTC)
FIELD = "choices[0].content"


def parsed(text: str) -> tuple[str, list[tuple[str, list[str], int, int]]]:
    """The text without marks; and the marks as (leak or like, words, start, end)."""
    pieces: list[str] = []
    marks: list[tuple[str, list[str], int, int]] = []
    length, reached = 0, 0
    for match in _MARK.finditer(text):
        before = text[reached : match.start()]
        pieces += [before, match.group(3)]
        start = length + len(before)
        length = start + len(match.group(3))
        marks.append((match.group(1), match.group(2).split(), start, length))
        reached = match.end()
    pieces.append(text[reached:])
    return "".join(pieces), marks


def record(turn: Turn, text: str) -> dict[str, Any]:
    """One request in the house format."""
    begun = _START + timedelta(minutes=turn.minute)
    messages = [{"role": "system", "content": turn.system}] if turn.system else []
    return {
        "request_id": turn.rid, "tenant_id": turn.tenant, "timestamp": begun.isoformat(), "worker": "by-hand-1",
        "finished_at": (begun + timedelta(seconds=20)).isoformat(), "model": "none", "stream": False,
        "request": {"messages": [*messages, {"role": "user", "content": turn.prompt}]},
        "response": {"choices": [{"index": 0, "message": {"role": "assistant", "content": text},
                                  "finish_reason": "stop"}]},
    }  # fmt: skip


def truth_of(incident: Incident) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[dict[str, Any]]]:
    """Records, rows of the truth, rows of the lookalikes."""
    turns = {turn.rid: turn for turn in incident.turns}
    records, truth, lookalikes = [], [], []
    for turn in incident.turns:
        text, marks = parsed(turn.response)
        records.append(record(turn, text))
        groups: dict[tuple[str, ...], list[tuple[int, int]]] = defaultdict(list)
        for number, (what, words, start, end) in enumerate(marks):
            if what == "like":
                lookalikes.append(
                    {"class": words[0], "request_ids": [turn.rid], "field": FIELD, "char_start": start,
                     "char_end": end, "tenant_id": turn.tenant}
                )  # fmt: skip
            else:
                key = (*words, "" if "#" in words[2] else str(number))
                groups[key].append((start, end))
        for (source, kind, label, language, _), pieces in groups.items():
            start, end = pieces[0][0], pieces[-1][1]
            while text[end - 1].isspace():
                end -= 1
            pieces[-1] = (pieces[-1][0], end)
            known = source != "-"
            leak = text[start:end]
            side = "prompt" if known else None
            if known and kind == "whole_response":
                side = None
            elif known and label.startswith("interleaved"):
                side = "response"
            truth.append(
                {
                    "response_request_id": turn.rid, "field": FIELD, "char_start": start, "char_end": end,
                    "source_request_id": source if known else None,
                    "source_tenant_id": turns[source].tenant if known else None, "source_field": side,
                    "kind": kind, "altered": known and side is not None and leak not in turns[source].prompt,
                    "ambiguous_with": [], "equivalent_sources": [], "response_tenant_id": turn.tenant,
                    "class": f"by_hand/{label.partition('#')[0]}", "language": language, "chars": end - start,
                    "source_chars": sum(high - low for low, high in pieces),
                    "pieces": [list(piece) for piece in pieces] if len(pieces) > 1 else [], "chain": None,
                }
            )  # fmt: skip
    return records, truth, lookalikes


def write(incident: Incident, out: Path) -> None:
    """The files of one incident in `out`, which is made."""
    (out / "logs").mkdir(parents=True)
    records, truth, lookalikes = truth_of(incident)
    lines(out / "logs" / "requests.jsonl", records)
    lines(out / "truth.jsonl", truth)
    lines(out / "lookalikes.jsonl", lookalikes)
    organisation = {sister: first for first, sister in incident.sisters}
    with (out / "tenants.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("key_kind", "key", "tenant_id", "organisation"))
        for tenant in sorted({turn.tenant for turn in incident.turns}):
            writer.writerow(("tenant", tenant, tenant, organisation.get(tenant, tenant)))


def lines(path: Path, rows: list[dict[str, Any]]) -> None:
    """Rows as JSON lines."""
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8", newline="")


def main(out: Path) -> None:
    """All incidents under `out`."""
    for number, incident in enumerate(INCIDENTS, start=1):
        write(incident, out / f"{number:02d}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
