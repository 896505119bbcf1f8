"""KV cache events of vLLM and SGLang as somebody recorded them in JSON: blocks stored and removed, caches cleared.

Numbers and the hashes of the first and last block only: the token ids of a block are a prompt's content. Events of the
array encoding and raw msgpack are not read. No event names a request.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from forensics.ingest.envelope_keys import Object
from forensics.ingest.record import STRUCTURE, EngineEvent, FileContext, Item
from forensics.ingest.timestamps import parse_time

NAME = "kv_events"
KIND = "object"
TITLE = "KV cache events of vLLM and SGLang (recorded as JSON objects)"
VERSIONS = "vLLM 0.10 to 0.33, SGLang 0.5.20 and later (objects with a type)"
SOURCE = "the projects' source; no public recording was found"

_KINDS = {"BlockStored": "blocks_stored", "BlockRemoved": "blocks_removed", "AllBlocksCleared": "cache_flush"}


def may(keys: frozenset[str]) -> bool:
    """Whether an object with these keys can be an event or a batch of them."""
    return "type" in keys or {"ts", "events"} <= keys


def accepts(obj: Object) -> bool:
    """Whether an object is an event or a batch of them."""
    if _kind(obj) is not None:
        return obj["type"] == "AllBlocksCleared" or isinstance(obj.get("block_hashes"), list)
    events = obj.get("events")
    first = events[0] if isinstance(events, list) and events else None
    return "ts" in obj and isinstance(first, dict) and _kind(first) is not None


def _kind(obj: Object) -> str | None:
    """The kind of an event; `type` may hold anything in the objects of other formats."""
    name = obj.get("type")
    return _KINDS.get(name) if isinstance(name, str) else None


def parse(obj: Object, context: FileContext) -> Sequence[Item]:
    """The events of one object."""
    at = parse_time(obj["ts"], context)[0] if "ts" in obj else None
    at = at if at is not None else context.at
    rank = obj.get("attn_dp_rank", obj.get("data_parallel_rank"))
    events = obj["events"] if isinstance(obj.get("events"), list) else [obj]
    items: list[Item] = []
    for value in events:
        kind = _kind(value) if isinstance(value, dict) else None
        if kind is None:
            context.notice("unreadable_entry")
            continue
        event = _event(kind, value)
        event.at, event.worker = at, context.worker or context.source
        if isinstance(rank, int) and not isinstance(rank, bool):
            event.attributes["dp_rank"] = rank
        items.append(event)
    return items or STRUCTURE


def _event(kind: str, value: dict[str, Any]) -> EngineEvent:
    event = EngineEvent(kind)
    for name, key in (("blocks", "block_hashes"), ("tokens", "token_ids")):
        if isinstance(value.get(key), list):
            event.counts[name] = len(value[key])
    size = value.get("block_size")
    if isinstance(size, int) and not isinstance(size, bool):
        event.counts["block_size"] = size
    hashes = value.get("block_hashes")
    ends = {"first_block": hashes[0], "last_block": hashes[-1]} if isinstance(hashes, list) and hashes else {}
    ends["parent_block"] = value.get("parent_block_hash")
    for name, block in ends.items():
        if isinstance(block, int | str) and not isinstance(block, bool):
            event.attributes[name] = str(block)[:80]
    medium = value.get("medium")
    if isinstance(medium, str) and len(medium) <= 40:
        event.attributes["medium"] = medium
    return event
