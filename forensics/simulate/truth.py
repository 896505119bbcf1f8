"""What really leaked: checked after the fact by exact search over everything received, not taken from the plan alone.

`ambiguous_with` and `equivalent_sources` come from that search: who else had supplied the very same text, and which
other requests hold it; `passage_holders` who had supplied passages that a leaked answer only quotes. Texts that hold a
leak themselves (a victim's answer, a complaint) make nobody a source.
"""

from __future__ import annotations

import lzma
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from forensics.simulate.cuts import maximal
from forensics.simulate.render import fields
from forensics.simulate.requests import Lookalike, Planted, Request
from forensics.simulate.sources import language_of

_ANCHOR = 8
_BLOCK = 4_000_000
_PASSAGE = 32  # characters of a passage that is looked for in others' prompts


@dataclass(slots=True, eq=False)
class Held:
    """One distinct text and the requests that hold it."""

    text: str
    tenant: str
    organisation: str
    side: str
    language: str = ""
    uses: list[Request] = field(default_factory=list)


def held_texts(requests: Sequence[Request]) -> list[Held]:
    """Every text that a tenant supplied or received, once, without the tainted ones."""
    found: dict[int | tuple[str, int], Held] = {}
    for request in requests:
        tenant = request.tenant
        for message in request.messages:
            if message.content and not message.tainted:
                held = found.get(id(message))
                if held is None:
                    language = language_of(message.content, message.language, message.role) if message.private else ""
                    held = found[id(message)] = Held(
                        message.content, tenant.name, tenant.organisation, "prompt", language
                    )
                held.uses.append(request)
        if not request.aborted and not request.planted:
            for _, text, part, number in fields(request, "house"):
                key = (f"{request.rid}/{part}", number)
                found[key] = Held(text, tenant.name, tenant.organisation, "response", "", [request])
    return list(found.values())


def search(needles: Sequence[str], texts: Sequence[str]) -> list[list[int]]:
    """For each needle the numbers of the texts that contain it. Needles under eight characters cost most."""
    table = np.zeros(1 << 22, dtype=np.bool_)
    by_hash: dict[int, list[int]] = {}
    for number, needle in enumerate(needles):
        if len(needle) < _ANCHOR:
            continue
        # The middle of a needle is more telling than its first letters.
        at = max(0, len(needle) // 2 - _ANCHOR)
        value = int(_hashes(needle[at : at + _ANCHOR])[0])
        table[value >> 42] = True
        by_hash.setdefault(value, []).append(number)
    found: list[set[int]] = [set() for _ in needles]
    for number, needle in enumerate(needles):
        if len(needle) < _ANCHOR:  # a name of few characters: looked for one by one
            found[number].update(place for place, text in enumerate(texts) if needle in text)
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
    hits = search([leak.origin or leak.text for _, leak in planted], [entry.text for entry in held])
    rows = [
        _row(request, leak, [held[number] for number in numbers], form)
        for (request, leak), numbers in zip(planted, hits, strict=True)
    ]
    if any(leak.label for _, leak in planted):
        bits = bits_per_character(held)
        quoted = [_quoted(leak) for _, leak in planted]
        prompts = [entry for entry in held if entry.side == "prompt"]
        standing = iter(search([part for parts in quoted for part in parts], [entry.text for entry in prompts]))
        for (request, leak), parts, row in zip(planted, quoted, rows, strict=True):
            holders = [prompts[number] for _ in parts for number in next(standing)]
            row["passage_holders"] = _passage_holders(request, leak, holders)
            row["bits"] = round(row["source_chars"] * bits.get(row["language"], bits["en"]), 1)
    return sorted(rows, key=lambda row: (row["finished"], row["response_request_id"], row["char_start"]))


def _quoted(leak: Planted) -> list[str]:
    """Passages that a whole answer quotes from its source's prompt."""
    if leak.source is None or not leak.label.startswith("whole_response"):
        return []
    asked = [message.content for message in leak.source.messages if message.content]
    parts = [leak.text[at : at + _PASSAGE] for at in range(0, max(0, len(leak.text) - _PASSAGE) + 1, _PASSAGE // 2)]
    return [part for part in parts if any(part in text for text in asked)]


def _passage_holders(request: Request, leak: Planted, holders: Sequence[Held]) -> list[str]:
    """Tenants whose prompts hold a passage that a whole answer quotes, of `holders` of any of them.

    The answer is the source's; a passage of it may be anybody's who had sent the same document.
    """
    found = {
        holder.tenant
        for holder in holders
        if holder.organisation != request.tenant.organisation
        and any(use.received < request.finished for use in holder.uses)
    }
    return sorted(found - {leak.source.tenant.name}) if leak.source else []


def _row(request: Request, leak: Planted, holders: Sequence[Held], form: str) -> dict[str, Any]:
    path, text, start = _locate(request, leak, form)
    end = start + len(leak.text)
    at = leak.source_text.find(leak.text)
    if at >= 0 and not leak.pieces:
        start, end = maximal(text, start, end, leak.source_text, at)
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
    side = leak.source_side
    if leak.label and side == "response" and source is not None and (source.aborted or source.planted):
        side = None  # what it would have received is in no log
    row = {
        "response_request_id": request.rid,
        "field": path,
        "char_start": start,
        "char_end": end,
        "source_request_id": source.rid if source else None,
        "source_tenant_id": source.tenant.name if source else None,
        "source_field": side if known else None,
        "kind": leak.kind,
        "altered": bool(leak.origin) and not leak.pieces and leak.text != leak.origin,
        "ambiguous_with": sorted(suppliers - {source.tenant.name}) if source else [],
        "equivalent_sources": sorted({use.rid for _, use in earlier} - {source.rid}) if source else [],
        "response_tenant_id": request.tenant.name,
        "fault": leak.fault,
        "chars": end - start,
        "own_material": own,
        "finished": round(request.finished, 6),
    }
    return row | _class_of(leak, start) if leak.label else row


def _class_of(leak: Planted, start: int) -> dict[str, Any]:
    """What an incident with all kinds says beside: class, language, length in the source, foreign parts, chain."""
    label = leak.label
    if label == "whole_response/swapped" and leak.source is not None and leak.source.aborted:
        label = "whole_response/no_original"
    if label.startswith("interleaved"):
        altered = True
    elif label.startswith("structure"):
        altered = False
    else:
        altered = leak.text != leak.origin
    return {
        "class": label,
        "altered": altered,
        "language": leak.language,
        "source_chars": sum(high - low for low, high in leak.pieces) if leak.pieces else len(leak.origin),
        "pieces": [[start + low, start + high] for low, high in leak.pieces],
        "chain": list(leak.chain) if leak.chain else None,
    }


def bits_per_character(held: Sequence[Held], sample: int = 40_000) -> dict[str, float]:
    """How much a character says in each language: compressed size of as much of it as English has, at most `sample`.

    A yardstick that knows nothing of any detector, so that recall can be compared at equal information.
    """
    texts: dict[str, list[str]] = {}
    sizes: dict[str, int] = {}
    for entry in held:
        if entry.language and entry.side == "prompt" and sizes.get(entry.language, 0) < sample:
            texts.setdefault(entry.language, []).append(entry.text)
            sizes[entry.language] = sizes.get(entry.language, 0) + len(entry.text)
    found = {"en": 2.0}
    for language, parts in sorted(texts.items()):
        joined = "\n".join(parts)[:sample]
        if len(joined) > 4000:
            found[language] = 8 * len(lzma.compress(joined.encode("utf-8", "surrogatepass"))) / len(joined)
    return found


def _locate(request: Request, leak: Planted, form: str) -> tuple[str, str, int]:
    if leak.part == "tool_name" and form == "house":
        return f"choices[{leak.choice}].tool_calls[0].function.name", leak.source_text, 0
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
