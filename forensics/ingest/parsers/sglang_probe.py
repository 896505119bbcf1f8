"""The slot and batch probe's JSON lines: who got which row and which KV indices, and which rows each forward pass had.

One event a line. A batch is one event, whatever its size: its members stand in lists of equal length in `attributes`
(`rid`, `slot`, `gen`, `seq`, `prefix`, `req_slot`; a number that is not known is -1). `batch_repeat` stands for a run
of passes with the rows of an earlier one, and stays one event. Token ids are counted and not kept; keys are kept as
digests. Does not drop the copies that tensor-parallel ranks write: `tp_rank` tells them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from typing import Any

from forensics.ingest.counts import whole
from forensics.ingest.envelope_keys import Object
from forensics.ingest.record import EngineEvent, FileContext, Item, Reject
from forensics.ingest.timestamps import parse_time

NAME = "sglang_probe"
KIND = "object"
TITLE = "SGLang slot and batch probe (JSON lines)"
VERSIONS = "schema 1; SGLang 0.5.12 and later"
SOURCE = "the probe that ships with the program"

_MARKS = frozenset(("v", "ts", "ev"))
_KNOWN = frozenset(
    (
        "batch_start batch_repeat batch_end slot_alloc slot_free slot_clear kv_alloc kv_free match insert recv abort "
        "retract finish emit flush probe_start probe_stat"
    ).split()
)
_WORD = re.compile(r"[\w.:/-]{1,80}")
_LISTS = (("slot", "slot"), ("gen", "gen"), ("seq_len", "seq"), ("prefix_len", "prefix"), ("req_slot", "req_slot"))
_DIGEST = re.compile(r"sha256:[0-9a-f]{16}")
_MOST_PASSES = 100_000  # the probe writes a repeat after 200 passes at the latest
_MOST_ROWS = 65_536
_MOST_RANGES = 16_384
_MOST_ID = 512


def may(keys: frozenset[str]) -> bool:
    """Whether an object with these keys can be an event."""
    return keys >= _MARKS


def accepts(obj: Object) -> bool:
    """Whether an object is an event of the probe."""
    version = obj.get("v")
    return isinstance(version, int) and not isinstance(version, bool) and isinstance(obj.get("ev"), str)


def parse(obj: Object, context: FileContext) -> Sequence[Item]:
    """The event of one line. Raises Reject where the line says nothing that can be used."""
    name = obj["ev"]
    if _WORD.fullmatch(name) is None:
        raise Reject("unrecognised_line")
    at, _ = parse_time(obj["ts"], context)
    kind = f"probe_{name.removeprefix('probe_')}" if name in _KNOWN else "probe_other"
    event = EngineEvent(kind, at if at is not None else context.at)
    if name not in _KNOWN:
        event.attributes["ev"] = name
    host = _word(obj.get("host")) or context.worker or context.source
    data_rank = whole(obj.get("dp"))
    parts = [host, f"DP{data_rank}" if data_rank is not None else None]
    event.worker = " ".join(part for part in parts if part) or None
    for key, short in (("pid", "pid"), ("tp", "tp_rank"), ("dp", "dp_rank"), ("pp", "pp_rank")):
        if (number := whole(obj.get(key))) is not None:
            event.attributes[short] = number
    rid = obj.get("rid")
    if isinstance(rid, str) and 0 < len(rid) <= _MOST_ID:
        event.request_id = rid
    slot = whole(obj.get("slot"))
    event.slot = str(slot) if slot is not None else None
    for key in ("gen", "matched", "host", "node", "len", "new", "n", "out", "events", "dropped", "failed", "cost_us"):
        if (number := whole(obj.get(key))) is not None:
            event.counts[key] = number
    read = _READERS.get(name)
    if read is not None:
        read(event, obj, context)
    return (event,)


def _name(event: EngineEvent, iteration: int) -> str:
    """The name of a pass: each process counts its own."""
    process = [str(event.attributes.get(key, "")) for key in ("pid", "tp_rank", "pp_rank")]
    return ":".join((event.worker or "", *process, str(iteration)))


def _repeat(event: EngineEvent, obj: Object, context: FileContext) -> None:
    """Passes `iteration` to `last`, from `from_us` to `at`, with the rows of the pass `batch`."""
    passes = obj.get("iter")
    ends = passes if isinstance(passes, list) and len(passes) == 2 else [None, None]
    first, last, like = whole(ends[0]), whole(ends[1]), whole(obj.get("as"))
    if first is None or last is None or like is None or not like < first <= last < first + _MOST_PASSES:
        raise Reject("unrecognised_line")
    event.iteration, event.batch = first, _name(event, like)
    event.counts["last"] = last
    since, _ = parse_time(obj["ts_first"], context) if "ts_first" in obj else (None, None)
    if since is not None and event.at is not None and since <= event.at:
        event.counts["from_us"] = since
    _ranges(event, obj.get("out_kv"), context)


def _batch(event: EngineEvent, obj: Object, context: FileContext) -> None:
    event.iteration = whole(obj.get("iter"))
    if event.iteration is not None:
        event.batch = _name(event, event.iteration)
    rows = obj.get("rows")
    rows = rows if isinstance(rows, list) else []
    if len(rows) > _MOST_ROWS:
        context.notice("unreadable_entry", len(rows) - _MOST_ROWS)
        rows = rows[:_MOST_ROWS]
    members = [row for row in rows if isinstance(row, dict) and _id(row.get("rid")) is not None]
    if len(members) < len(rows):
        context.notice("unreadable_entry", len(rows) - len(members))
    event.counts["size"] = len(rows)
    if event.kind == "probe_batch_end":
        event.counts["tokens"] = sum(len(row["tok"]) for row in members if isinstance(row.get("tok"), list))
        return
    mode = _word(obj.get("mode"))
    if mode is not None:
        event.attributes["mode"] = mode
    lists: dict[str, Any] = {"rid": [row["rid"] for row in members]}
    for key, short in _LISTS:
        values = [_number(row.get(key)) for row in members]
        if any(value >= 0 for value in values):
            lists[short] = values
    for key in ("extra_key", "salt", "lora"):
        digests = [_digest(row.get(key)) for row in members]
        if any(digests):
            lists[key] = digests
    event.attributes.update(lists)
    _ranges(event, obj.get("out_kv"), context)


def _kv(event: EngineEvent, obj: Object, context: FileContext) -> None:
    _ranges(event, obj.get("kv"), context)
    _reason(event, obj, context)


def _ranges(event: EngineEvent, value: object, context: FileContext) -> None:
    """KV indices as `[first, last]` pairs, both included; a bare number is a range of one."""
    if not isinstance(value, list) or not value:
        return
    pairs: list[list[int]] = []
    for entry in value[:_MOST_RANGES]:
        ends = entry if isinstance(entry, list) and len(entry) == 2 else [entry, entry]
        first, last = whole(ends[0]), whole(ends[1])
        if first is None or last is None or last < first:
            context.notice("unreadable_entry")
            continue
        pairs.append([first, last])
    if len(value) > _MOST_RANGES:
        context.notice("unreadable_entry", len(value) - _MOST_RANGES)
    event.counts["kv_indices"] = sum(last - first + 1 for first, last in pairs)
    event.attributes["kv"] = pairs


def _match(event: EngineEvent, obj: Object, context: FileContext) -> None:
    path = obj.get("node_path")
    if isinstance(path, list):
        event.attributes["node_path"] = [node for node in map(whole, path[:1024]) if node is not None]
    for key in ("last_node_extra_key", "extra_key", "salt", "lora"):
        if digest := _digest(obj.get(key)):
            event.attributes[key] = digest


def _abort(event: EngineEvent, obj: Object, context: FileContext) -> None:
    hit = obj.get("match")
    if isinstance(hit, list):
        event.attributes["match"] = [rid for rid in hit[:_MOST_ROWS] if _id(rid) is not None]
        event.counts["matched_requests"] = len(hit)
    _reason(event, obj, context)


def _reason(event: EngineEvent, obj: Object, context: FileContext) -> None:
    for key in ("why", "reason", "to", "at"):
        if (word := _word(obj.get(key))) is not None:
            event.attributes[key] = word


def _flush(event: EngineEvent, obj: Object, context: FileContext) -> None:
    if isinstance(obj.get("ok"), bool):
        event.attributes["ok"] = obj["ok"]


def _start(event: EngineEvent, obj: Object, context: FileContext) -> None:
    for key in ("probe", "sglang", "process"):
        if (word := _word(obj.get(key))) is not None:
            event.attributes[key] = word


_READERS: dict[str, Callable[[EngineEvent, Object, FileContext], None]] = {
    "batch_start": _batch,
    "batch_repeat": _repeat,
    "batch_end": _batch,
    "kv_alloc": _kv,
    "kv_free": _kv,
    "match": _match,
    "insert": _match,
    "abort": _abort,
    "retract": _reason,
    "finish": _reason,
    "emit": _reason,
    "slot_free": _reason,
    "flush": _flush,
    "probe_start": _start,
}


def _id(value: object) -> str | None:
    return value if isinstance(value, str) and 0 < len(value) <= _MOST_ID else None


def _number(value: object) -> int:
    found = whole(value)
    return -1 if found is None else found


def _word(value: object) -> str | None:
    return value if isinstance(value, str) and _WORD.fullmatch(value) else None


def _digest(value: object) -> str | None:
    """A key as 16 hex digits: it may be a secret, or a customer's name. The probe's own digests stay what they are."""
    if not isinstance(value, str) or not value:
        return None
    if _DIGEST.fullmatch(value):
        return value
    return hashlib.blake2b(value.encode("utf-8", "replace"), digest_size=8).hexdigest()
