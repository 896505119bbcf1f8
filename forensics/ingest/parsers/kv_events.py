"""KV cache events of vLLM and SGLang as somebody recorded them in JSON: blocks stored and removed, caches cleared.

Maps with a `type` and tagged arrays, alone or in a batch (`{"ts", "events"}` or `[ts, events, rank]`). Kept are numbers
and the hashes of blocks; the token ids of a block are a prompt's content and only counted, keys are kept as digests.
What follows on within a batch is one event, as new engines write it. Raw msgpack is not read. No event names a request.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Any

from forensics.ingest.counts import whole
from forensics.ingest.envelope_keys import Object
from forensics.ingest.record import STRUCTURE, Blocks, EngineEvent, FileContext, Item
from forensics.ingest.timestamps import parse_time

NAME = "kv_events"
KIND = "object"
TITLE = "KV cache events of vLLM and SGLang (recorded as JSON)"
VERSIONS = "vLLM 0.10 to 0.33; SGLang 0.4.9 to 0.5.18 (tagged arrays), 0.5.20 and later (objects with a type)"
SOURCE = "the projects' source; SGLang 0.5.23 recorded from a real engine"

_KINDS = {"BlockStored": "blocks_stored", "BlockRemoved": "blocks_removed", "AllBlocksCleared": "cache_flush"}
_SEEN = "kv_seen"
_FIELDS = {
    "BlockStored": ("type", "block_hashes", "parent_block_hash", "token_ids", "block_size", "lora_id", "medium"),
    "BlockRemoved": ("type", "block_hashes", "medium"),
    "AllBlocksCleared": ("type",),
}
_KEYS = (("cache_salt", "salt"), ("lora_name", "adapter"), ("lora_id", "adapter"), ("session_id", "session"))
_RANKS = ("attn_dp_rank", "data_parallel_rank", "dp_rank")
_WORD = re.compile(r"[\w.:-]{1,80}")
_DIGEST = re.compile(r"sha256:[0-9a-f]{16}")
_MOST_NUMBER = 1 << 31


def may(keys: frozenset[str]) -> bool:
    """Whether an object with these keys can be an event or a batch of them."""
    return "type" in keys or {"ts", "events"} <= keys


def accepts(obj: Object) -> bool:
    """Whether an object is an event or a batch of them; of a batch without events, whether it has a number."""
    if _name(obj) is not None:
        return obj["type"] == "AllBlocksCleared" or isinstance(obj.get("block_hashes"), list)
    events = obj.get("events")
    if "ts" not in obj or not isinstance(events, list):
        return False
    return _name(_object(events[0])) is not None if events else "seq" in obj


def of_array(value: list[Any]) -> Object | None:
    """The object that an array stands for: a batch `[ts, events, rank]` or one tagged event; else None."""
    if len(value) in (2, 3) and _is_number(value[0]) and isinstance(value[1], list):
        batch = {"ts": value[0], "events": value[1], "attn_dp_rank": value[2] if len(value) == 3 else None}
        return batch if accepts(batch) else None
    event = _object(value)
    return event if accepts(event) else None


def parse(obj: Object, context: FileContext) -> Sequence[Item]:
    """The events of one object."""
    at = parse_time(obj["ts"], context)[0] if "ts" in obj else None
    at = at if at is not None else context.at
    rank = next((obj[key] for key in _RANKS if obj.get(key) is not None), None)
    seq = whole(obj.get("seq"))
    host = obj.get("host")
    worker = host if isinstance(host, str) and _WORD.fullmatch(host) else context.worker or context.source
    given = obj.get("events")
    told = [_object(value) for value in given] if isinstance(given, list) else [obj]
    events: list[EngineEvent] = []
    for ordinal, value in enumerate(told):
        blocks = _blocks(value, ordinal, seq)
        if blocks is None:
            context.notice("unreadable_entry")
            continue
        blocks.rank = whole(rank, _MOST_NUMBER)
        event = _event(blocks, value)
        before = events[-1] if events else None
        if before is not None and before.blocks is not None and _follows(blocks, before.blocks):
            before.blocks.hashes.extend(blocks.hashes)
            before.attributes["last_block"] = event.attributes["last_block"]
            before.counts = {
                name: before.counts.get(name, 0) + count if name != "block_size" else count
                for name, count in event.counts.items()
            }
        else:
            events.append(event)
    if not told:
        events = [EngineEvent(_SEEN, blocks=Blocks(_SEEN, 0, seq, whole(rank, _MOST_NUMBER)))]
    for event in events:
        event.at, event.worker = at, worker
    return events or STRUCTURE


def _object(value: Any) -> Object:
    """An event as an object, whether it is one or a tagged array; what is neither has no type."""
    if isinstance(value, dict):
        return value
    names = _FIELDS.get(value[0]) if isinstance(value, list) and value and isinstance(value[0], str) else None
    if names is None:
        return {}
    event: Object = dict(zip(names, value, strict=False))
    rest = value[len(names) :]
    for part in rest if value[0] == "BlockStored" else ():
        if isinstance(part, dict):
            event |= {key: part[key] for key, _ in _KEYS if key in part}
    return event


def _name(obj: Object) -> str | None:
    """The kind of an event; `type` may hold anything in the objects of other formats."""
    name = obj.get("type")
    return _KINDS.get(name) if isinstance(name, str) else None


def _blocks(value: Object, ordinal: int, seq: int | None) -> Blocks | None:
    kind = _name(value)
    hashes = value.get("block_hashes")
    if kind is None or (kind != "cache_flush" and not isinstance(hashes, list)):
        return None
    blocks = Blocks(kind, ordinal, seq)
    if isinstance(hashes, list):
        for one in hashes:
            number = _hash(one)
            if number is None:
                return None
            blocks.hashes.append(number)
    blocks.parent = _hash(value.get("parent_block_hash"))
    blocks.size = whole(value.get("block_size"), _MOST_NUMBER)
    medium = value.get("medium")
    blocks.medium = medium if isinstance(medium, str) and _WORD.fullmatch(medium) else None
    for key, name in _KEYS:
        if value.get(key) is not None and getattr(blocks, name) is None:
            setattr(blocks, name, _digest(value[key]))
    return blocks


def _follows(blocks: Blocks, before: Blocks) -> bool:
    """Whether blocks go on where those before them ended, so that both are one event."""
    if blocks.kind != before.kind or blocks.medium != before.medium or not blocks.hashes or not before.hashes:
        return False
    if blocks.kind == "blocks_removed":
        return True
    same = all(getattr(blocks, name) == getattr(before, name) for name in ("size", "salt", "adapter", "session"))
    return same and blocks.parent == before.hashes[-1]


def _event(blocks: Blocks, value: Object) -> EngineEvent:
    event = EngineEvent(blocks.kind, blocks=blocks)
    hashes, tokens = value.get("block_hashes"), value.get("token_ids")
    ends = {"first_block": hashes[0], "last_block": hashes[-1]} if isinstance(hashes, list) and hashes else {}
    ends["parent_block"] = value.get("parent_block_hash")
    event.attributes = {name: str(end)[:80] for name, end in ends.items() if _hash(end) is not None}
    if isinstance(hashes, list):
        event.counts["blocks"] = len(hashes)
    if isinstance(tokens, list):
        event.counts["tokens"] = len(tokens)
    if blocks.size is not None:
        event.counts["block_size"] = blocks.size
    if blocks.medium is not None:
        event.attributes["medium"] = blocks.medium
    if blocks.rank is not None:
        event.attributes["dp_rank"] = blocks.rank
    return event


def _hash(value: object) -> int | None:
    """A block's hash as 64 signed bits: SGLang's own as it is, any other number or name by a digest."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    if isinstance(value, int) and -(1 << 63) <= value < 1 << 63:
        return value
    if isinstance(value, int) and value.bit_length() > 1024:
        return None
    name = str(value).encode("utf-8", "replace")
    return int.from_bytes(hashlib.blake2b(name, digest_size=8).digest(), "big", signed=True)


def _digest(value: object) -> str:
    """A key as 16 hex digits: it may be a secret, or a customer's name. The recorder's digests stay what they are."""
    if isinstance(value, str) and _DIGEST.fullmatch(value):
        return value
    return hashlib.blake2b(str(value).encode("utf-8", "replace"), digest_size=8).hexdigest()


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
