"""Rows of truth.jsonl from the fault plugin's record and from what was asked and answered.

Where the front end handed texts over, the record says which characters are foreign. Where the model read another
request's cache, foreign is what an answer has in common with the source's prompt, twelve characters or more, and with
no prompt of its own tenant; victims that read it and say nothing of it are in the record, not in the truth.
"""

from __future__ import annotations

import difflib
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from tests.sglang.harness.traffic import Call

SHORTEST = 12
Row = dict[str, Any]


@dataclass(frozen=True)
class Told:
    """What is known of the calls: by request id, the call itself and the answer that its client got (None: none)."""

    calls: dict[str, Call]
    answers: dict[str, str]


def leaks(fault: str, facts: list[Row]) -> list[Row]:
    """The record's leaks: victim, source, and start and end where they are exact."""
    if fault != "duplicate_rid":
        return [fact for fact in facts if fact["fact"] == "leak"]
    return [
        {"fault": fault, "victim": (fact["rid"], 2), "source": (fact["rid"], 1)}
        for fact in facts
        if fact["fact"] == "ended" and fact["order"] == 1 and fact["number"] == 1 and "ABORT" not in fact["reason"]
    ]


def truth(fault: str, facts: list[Row], told: Told) -> list[Row]:
    """The rows, in order of request and place."""
    twins: dict[str, list[str]] = defaultdict(list)  # rid -> request ids as they were sent
    for name, call in told.calls.items():
        twins[call.rid].append(name)
    for names in twins.values():
        names.sort(key=lambda name: told.calls[name].after)
    rows = []
    for leak in leaks(fault, facts):
        victim, source = (_request(leak[end], twins) for end in ("victim", "source"))
        if victim is None or source is None or told.calls[victim].tenant == told.calls[source].tenant:
            continue
        answer = told.answers.get(victim)
        if not answer:
            continue
        for start, end, field, kind in _places(fault, leak, answer, victim, source, told):
            rows.append(
                {
                    "response_request_id": victim, "field": "choices[0].content", "char_start": start, "char_end": end,
                    "source_request_id": source, "source_tenant_id": told.calls[source].tenant, "source_field": field,
                    "kind": kind, "altered": False, "ambiguous_with": [], "equivalent_sources": [],
                    "response_tenant_id": told.calls[victim].tenant, "class": f"engine/{fault}", "language": "en",
                    "source_chars": end - start, "pieces": [], "chain": None,
                }
            )  # fmt: skip
    return sorted(rows, key=lambda row: (row["response_request_id"], row["char_start"]))


def _places(
    fault: str, leak: Row, answer: str, victim: str, source: str, told: Told
) -> list[tuple[int, int, str | None, str]]:
    if fault in ("shifted", "duplicate_rid"):
        return [(*trimmed(answer, 0, len(answer)), None, "whole_response")]
    if fault == "random":
        return [(leak["start"], leak["end"], "prompt", "verbatim")]
    tenant = told.calls[victim].tenant
    own = "\n".join(call.text for call in told.calls.values() if call.tenant == tenant)
    return [(*run, "prompt", "verbatim") for run in runs(answer, told.calls[source].text, own)]


def _request(end: Any, twins: dict[str, list[str]]) -> str | None:
    rid, number = end if isinstance(end, tuple) else (end, 1)
    names = twins.get(rid, [])
    return names[number - 1] if len(names) >= number else None


def runs(text: str, source: str, own: str) -> list[tuple[int, int]]:
    """Runs of `text`, twelve characters or more, that stand in `source` and not in `own`."""
    found = []
    for block in difflib.SequenceMatcher(None, text, source, autojunk=False).get_matching_blocks():
        start, end = trimmed(text, block.a, block.a + block.size)
        if end - start >= SHORTEST and text[start:end] not in own:
            found.append((start, end))
    return found


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without spaces at its ends."""
    end = min(end, len(text))
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end
