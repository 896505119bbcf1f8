"""What happened to the affected requests and their sources, as events for a timeline viewer (Timesketch JSONL)?

Beside them stand what befell whole engines (starts, flushes, alarms) and the estimated ends of the fault. Messages are
made of fields, never of text of a log.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import Any

from forensics.case.pseudonyms import Pseudonyms
from forensics.case.store import Case

# A keyword field of the viewer's index holds 32,766 bytes; a code point takes up to 4, and JSON escapes take more.
_LONGEST = 4_000


def events(case: Case, pseudonyms: Pseudonyms) -> Iterator[dict[str, Any]]:
    """One event per moment of a request, fragment or engine, sorted by time."""
    yield from heapq.merge(_of_engines(case, pseudonyms), _of_requests(case, pseudonyms), key=lambda e: e["timestamp"])


def _of_engines(case: Case, pseudonyms: Pseudonyms) -> Iterator[dict[str, Any]]:
    for datetime, timestamp, description, worker, low, high in case.rows("scope/out_engine_moments"):
        title = description.replace("_", " ").title()
        fault = description.startswith("fault_")
        message = title
        if fault:
            message = f"{title} (estimate): between {low or 'before these logs'} and {high or 'after these logs'}"
        yield {
            "message": message,
            "datetime": datetime,
            "timestamp": timestamp,
            "timestamp_desc": title,
            "data_type": "llm:fault" if fault else "llm:engine",
            "case_id": pseudonyms.case_ref,
            "server": _short(worker or ""),
            "tag": ["fault"] if fault else ["engine"],
        }


def _of_requests(case: Case, pseudonyms: Pseudonyms) -> Iterator[dict[str, Any]]:
    for row in case.rows("scope/out_events"):
        (
            datetime,
            timestamp,
            description,
            data_type,
            fragment_id,
            request,
            request_id,
            tenant_id,
            worker,
            verdict,
            fragments,
            characters,
            supplied,
            peers,
            slot,
        ) = row
        yield {
            "message": _message(description, fragment_id, verdict, fragments, characters, supplied, peers),
            "datetime": datetime,
            "timestamp": timestamp,
            "timestamp_desc": description,
            "data_type": data_type,
            "case_id": pseudonyms.case_ref,
            "request_uid": request,
            "rid": _short(request_id),
            "tenant_ref": pseudonyms.tenant(tenant_id),
            "peer_tenant_ref": [pseudonyms.tenant(peer) for peer in peers or ()],
            "server": _short(worker or ""),
            "slot": _short(slot or ""),
            "fragment_id": fragment_id or "",
            "verdict": verdict or "",
            "tag": _tags(fragment_id, verdict, supplied),
        }


def _message(
    description: str,
    fragment_id: str | None,
    verdict: str | None,
    fragments: int,
    characters: int,
    supplied: int,
    peers: list[str] | None,
) -> str:
    if fragment_id is not None:
        return f"{description}: {characters} foreign characters, verdict {verdict}, possible sources {len(peers or ())}"
    parts = []
    if fragments:
        parts.append(f"recipient of {fragments} fragments with {characters} foreign characters, verdict {verdict}")
    if supplied:
        parts.append(f"source of {supplied} fragments")
    return f"{description}: {'; '.join(parts)}"


def _tags(fragment_id: str | None, verdict: str | None, supplied: int) -> list[str]:
    if fragment_id is not None:
        return ["fragment"]
    return [tag for tag, applies in (("recipient", verdict), ("source", supplied)) if applies]


def _short(value: str) -> str:
    rest = len(value) - _LONGEST
    return value if rest <= 0 else f"{value[:_LONGEST]} (and {rest} more characters)"
