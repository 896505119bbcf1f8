"""What really leaked: checked after the fact by exact search over everything received, not taken from the plan alone.

`ambiguous_with` and `equivalent_sources` come from that search: who else had supplied the very same text, and which
other requests hold it. Texts that hold a leak themselves (a victim's answer, a complaint) make nobody a source.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from forensics.simulate.cuts import maximal
from forensics.simulate.render import fields
from forensics.simulate.requests import Lookalike, Planted, Request

_ANCHOR = 8
_BLOCK = 4_000_000


@dataclass(slots=True, eq=False)
class Held:
    """One distinct text and the requests that hold it."""

    text: str
    tenant: str
    organisation: str
    side: str
    uses: list[Request] = field(default_factory=list)


def held_texts(requests: Sequence[Request]) -> list[Held]:
    """Every text that a tenant supplied or received, once, without the tainted ones."""
    found: dict[int | tuple[str, int], Held] = {}
    for request in requests:
        tenant = request.tenant
        for message in request.messages:
            if message.content and not message.tainted:
                held = found.setdefault(id(message), Held(message.content, tenant.name, tenant.organisation, "prompt"))
                held.uses.append(request)
        if not request.aborted and not request.planted:
            for _, text, part, number in fields(request, "house"):
                key = (f"{request.rid}/{part}", number)
                found[key] = Held(text, tenant.name, tenant.organisation, "response", [request])
    return list(found.values())


def search(needles: Sequence[str], texts: Sequence[str]) -> list[list[int]]:
    """For each needle the numbers of the texts that contain it. Needles have at least eight characters."""
    table = np.zeros(1 << 22, dtype=np.bool_)
    by_hash: dict[int, list[int]] = {}
    for number, needle in enumerate(needles):
        # The middle of a needle is more telling than its first letters.
        at = max(0, len(needle) // 2 - _ANCHOR)
        value = int(_hashes(needle[at : at + _ANCHOR])[0])
        table[value >> 42] = True
        by_hash.setdefault(value, []).append(number)
    found: list[set[int]] = [set() for _ in needles]
    block: list[int] = []
    size = 0
    for number, text in enumerate(texts):
        block.append(number)
        size += len(text) + 1
        if size < _BLOCK and number + 1 < len(texts):
            continue
        joined = "\0".join(texts[member] for member in block) + "\0" * _ANCHOR
        starts = np.cumsum([0, *(len(texts[member]) + 1 for member in block)])
        hashes = _hashes(joined)
        for at in np.flatnonzero(table[(hashes >> np.uint64(42)).astype(np.int64)]).tolist():
            for needle_number in by_hash.get(int(hashes[at]), ()):
                member = block[int(np.searchsorted(starts, at, side="right")) - 1]
                if member not in found[needle_number] and needles[needle_number] in texts[member]:
                    found[needle_number].add(member)
        block, size = [], 0
    return [sorted(members) for members in found]


def _hashes(text: str) -> Any:
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.uint64)
    count = len(points) - _ANCHOR + 1
    value = np.zeros(count, dtype=np.uint64)
    for offset in range(_ANCHOR):
        value = (value ^ points[offset : offset + count]) * np.uint64(0x9E3779B97F4A7C15)
        value ^= value >> np.uint64(29)
    return value


def truth_rows(requests: Sequence[Request], form: str) -> list[dict[str, Any]]:
    """Rows of truth.jsonl, by time of the response. Needs all requests, also those that nothing happened to."""
    planted = [(request, leak) for request in requests if not request.aborted for leak in request.planted]
    if not planted:
        return []
    held = held_texts(requests)
    hits = search([leak.text for _, leak in planted], [entry.text for entry in held])
    rows = [
        _row(request, leak, [held[number] for number in numbers], form)
        for (request, leak), numbers in zip(planted, hits, strict=True)
    ]
    return sorted(rows, key=lambda row: (row["finished"], row["response_request_id"], row["char_start"]))


def _row(request: Request, leak: Planted, holders: Sequence[Held], form: str) -> dict[str, Any]:
    path, text, start = _locate(request, leak, form)
    at = leak.source_text.find(leak.text)
    start, end = maximal(text, start, start + len(leak.text), leak.source_text, at)
    earlier = [
        (entry, use)
        for entry in holders
        for use in entry.uses
        if use.received < request.finished and use is not request
    ]
    source = leak.source
    prompts = {entry.tenant for entry, _ in earlier if entry.side == "prompt"}
    generated = {entry.tenant for entry, _ in earlier if entry.side == "response"}
    suppliers = prompts or generated
    own = sorted({e.tenant for e, _ in earlier if e.organisation == request.tenant.organisation})
    known = source is not None
    return {
        "response_request_id": request.rid,
        "field": path,
        "char_start": start,
        "char_end": end,
        "source_request_id": source.rid if source else None,
        "source_tenant_id": source.tenant.name if source else None,
        "source_field": leak.source_side if known else None,
        "kind": leak.kind,
        "altered": False,
        "ambiguous_with": sorted(suppliers - {source.tenant.name}) if source else [],
        "equivalent_sources": sorted({use.rid for _, use in earlier} - {source.rid}) if source else [],
        "response_tenant_id": request.tenant.name,
        "fault": leak.fault,
        "chars": end - start,
        "own_material": own,
        "finished": round(request.finished, 6),
    }


def _locate(request: Request, leak: Planted, form: str) -> tuple[str, str, int]:
    for path, text, part, number in fields(request, form):
        if number == leak.choice and (form == "sglang" or part == leak.part):
            at = text.find(leak.text)
            if at >= 0:
                return path, text, at
    raise AssertionError("a planted leak is not in its response")


def lookalike_rows(lookalikes: Sequence[Lookalike], form: str) -> list[dict[str, Any]]:
    """Rows of lookalikes.jsonl: innocent shared text that stands in a delivered response."""
    rows: dict[tuple[str, str, int, str], dict[str, Any]] = {}
    for entry in lookalikes:
        request = entry.request
        if request.aborted:
            continue
        for path, text, _, _ in fields(request, form):
            at = text.find(entry.text)
            if at >= 0:
                rows[(request.rid, path, at, entry.kind)] = {
                    "class": entry.kind,
                    "request_ids": [request.rid, *entry.others],
                    "field": path,
                    "char_start": at,
                    "char_end": at + len(entry.text),
                    "tenant_id": request.tenant.name,
                }
    return list(rows.values())
