"""Facts in SGLang's scheduler lines: batches, retractions, aborts, times per request, cache and integrity findings.

Messages are told by their first words and read by name, so that one table holds all releases. Counts of a batch line
name no requests. Does not read request lines, and never keeps a message's own words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from forensics.ingest import counts
from forensics.ingest.record import STRUCTURE, EngineEvent, FileContext, Item
from forensics.ingest.sglang import STAMP, worker_of
from forensics.ingest.timestamps import parse_time

STATUS = "scheduler.status"
# A logging configuration may put source and level between stamp and message.
_SOURCE = rb"(?:\[[\w./-]{1,120}:\d{1,7}\]|\[?(?:DEBUG|INFO|WARNING|ERROR)\]?:? ?){0,2}:? ?"
_KNOWN = re.compile(
    _SOURCE + rb"(?=(?:Prefill batch|Decode batch)[.,\s]|new fill batch\. #|#running-req: \d|"
    rb"Req Time Stats\(rid=|ReqTimeStats\(rid=|Decode out of memory happened\.|KV cache pool is full\. Retract|"
    rb"Testing retraction\.|retract_decode: aborted |Cache flushed successfully|Cache not flushed because|"
    rb"Abort (?:queued|running|grammar queue|bootstrap queue|inflight queue|prealloc queue|transfer queue) request\.|"
    rb"Received output for rid=|(?:Prefill bootstrap|Prefill transfer|Decode handshake|Decode transfer) failed for |"
    rb"Context corruption detected: Request |KV double free: |kv_canary violation: |Health check failed\.|"
    rb"Capping max_new_tokens of request |Grammar accept_token failed for req |[\w ]{0,60}memory leak detected!|"
    rb"KV cache pool leak detected!|max_total_num_tokens=\d|server_args=(?:ServerArgs\(|\{))"
)
# Up to 0.3 the stamp had no date, or there was none.
_BARE = re.compile(
    rb"(?:\[(?:gpu(?:_id)?=\d{1,3}|\d\d:\d\d:\d\d([^\]\n]{0,80}))\] )?"
    rb"(?=(?:Prefill|Decode) batch[.,\s]+(?:\[\d+\],\s)?#|new fill batch\. #seq: |#running-req: \d+, #token: )"
)
_BATCH = re.compile(r"(Prefill|Decode) batch(?: \[(\d{1,18})\])?[.,]?\s*(.*)", re.S)
_PAIR = re.compile(r"(\w{1,40})=(-?\d{1,18}(?:\.\d{1,9})?)\b")
_RATIO = re.compile(r"#new_token_ratio: (\d(?:\.\d{1,9})?) -> (\d(?:\.\d{1,9})?)")
_TIMES = re.compile(
    r"Req ?Time ?Stats\(rid=(.{1,512}?)(?:, bootstrap_room=(\d{1,20}))?, input[ _]len=(\d{1,12})"
    r"((?:, \w{1,20}(?: \w{1,20})?=\d{1,12}){0,6}), type=(\w{1,20})\): (.*)",
    re.S,
)
_TIME = re.compile(r"#?(\w{1,40})(?:=|\()(-?\d{1,18}(?:\.\d{1,9})?) ?(ms|s|GB/s|MB)?")
_RID = re.compile(r"rid='([^'\n]{1,512})'|rid=\"([^\"\n]{1,512})\"")
_ROOM = re.compile(r"bootstrap_room=(\d{1,20})")
_STAGE = re.compile(r"Abort (\w+)|(\w+ \w+) failed for request")
_CORRUPTION = re.compile(
    r"Context corruption detected: Request (\S{1,512}) \(bootstrap_room=(\d{1,20})\) received metadata from "
    r"bootstrap_room=(\d{1,20})(?:\. Metadata buffer index: (\d{1,9}))?"
)
_RETRACTED = re.compile(r"retract_decode: aborted (?:last )?request (\S{1,512}?)(?:: | due )")
_NAMED = re.compile(r"(?:Capping max_new_tokens of request|Grammar accept_token failed for req) (\S{1,512})")
_DOUBLE = re.compile(r"KV double free: sub-pool (\d{1,6}) has (\d{1,12}) duplicate")
_CANARY = re.compile(r"launch_tag=([\w()]{1,40}) fail_reason=([\w+]{1,120}) ")
_LEAK = re.compile(r"(\w{1,60})(?: pool)? memory leak detected!")
_RANK = re.compile(r"\b(ATTN_CP|MOE_DP|DP|TP|PP|EP)(\d{1,5})\b")
_SANE_EPOCH = (1e9, 1e10)
# What of the server's arguments bears on slots, batches and the prefix cache. Paths and names of models are left out.
_ARGUMENT = re.compile(
    r"\b(schedule_policy|disable_radix_cache|page_size|chunked_prefill_size|max_running_requests|dp_size|tp_size|pp_size|"
    r"disable_overlap_schedule|disaggregation_mode|speculative_algorithm|enable_hierarchical_cache|max_loras_per_batch|"
    r"enable_lora|enable_deterministic_inference|enable_dp_attention|kv_canary|decode_log_interval|"
    r"enable_request_time_stats_logging|enable_mixed_chunk|enable_priority_scheduling)"
    r"['\"]?[=:] ?(?:'([\w.-]{1,40})'|\"([\w.-]{1,40})\"|(-?\d{1,15})\b|(True|False|true|false)\b)"
)


def start_of_message(line: bytes) -> int | None:
    """Where the message of an engine line begins; None where the line is none that is known here."""
    stamp = STAMP.match(line)
    if stamp is None:
        bare = _BARE.match(line) if line[:1] in b"PD[n#" else None
        return bare.end() if bare else None
    known = _KNOWN.match(line, stamp.end())
    return known.end() if known else None


def events_of_line(line: bytes, context: FileContext) -> Sequence[Item]:
    """The events of one line that `start_of_message` knows."""
    start = start_of_message(line)
    if start is None:
        return STRUCTURE
    stamp = STAMP.match(line)
    at, tags = context.at, ""
    if stamp is not None:
        tags = stamp.group(2).decode("ascii", "replace")
        stamped, _ = parse_time(stamp.group(1).decode(), context)
        at = stamped if stamped is not None else at
    elif (bare := _BARE.match(line)) is not None and bare.group(1):
        tags = bare.group(1).decode("ascii", "replace")
    message = line[start : start + 20_000].decode("utf-8", "replace")
    event = _event(message)
    if event is None:
        return STRUCTURE
    event.at = at
    event.worker = context.worker or worker_of(context.source, tags)
    for name, rank in _RANK.findall(tags):
        event.attributes[f"{name.lower()}_rank"] = int(rank)
    return (event,)


def status_events(obj: dict[str, Any], stamp: str | None, tags: str, context: FileContext) -> Sequence[Item]:
    """Which requests ran (in the order of the batch's rows) and which waited when the scheduler looked."""
    at, _ = parse_time(obj.get("timestamp") or stamp, context)
    at = at if at is not None else context.at
    rank = obj.get("rank")
    worker = context.worker or worker_of(context.source, tags)
    place = context.place
    batch = f"status:{place.offset}" if place is not None else None
    lists = {kind: obj.get(name) for kind, name in (("running", "running_rids"), ("queued", "queued_rids"))}
    members = {kind: rids if isinstance(rids, list) else [] for kind, rids in lists.items()}
    whole = EngineEvent("scheduler_status", at, worker, batch=batch)
    whole.counts = {kind: len(rids) for kind, rids in members.items()}
    if isinstance(rank, int) and not isinstance(rank, bool):
        whole.attributes["rank"] = rank
    events: list[Item] = [whole]
    for kind, rids in members.items():
        for row, rid in enumerate(rids):
            if isinstance(rid, str) and rid:
                event = EngineEvent(f"status_{kind}", at, worker, rid, batch=batch, counts={"row": row})
                events.append(event)
    return tuple(events)


def _event(message: str) -> EngineEvent | None:
    for start, read in _READERS:
        if message.startswith(start):
            return read(message)
    if "leak detected!" in message[:200]:
        return _leak(message)
    return None


def _batch(message: str) -> EngineEvent | None:
    match = _BATCH.match(message)
    if match is None:
        return None
    kind, iteration, rest = match.groups()
    event = EngineEvent(f"{kind.lower()}_batch", counts=counts.listed(rest))
    event.iteration = int(iteration) if iteration is not None else None
    return event if event.counts else None


def _first_releases(message: str) -> EngineEvent | None:
    """The lines of 0.1 and 0.2."""
    if message.startswith("#running-req"):
        return EngineEvent("decode_batch", counts=counts.listed(message))
    parts = re.split(r"\. ", message.partition(". ")[2].rstrip(". "))
    return EngineEvent("prefill_batch", counts=counts.named(parts))


def _times(message: str) -> EngineEvent | None:
    match = _TIMES.match(message)
    if match is None:
        return None
    rid, room, input_len, more, sort, rest = match.groups()
    found: dict[str, int | float] = {"input_len": int(input_len), **counts.listed(more.removeprefix(", "))}
    for name, text, unit in _TIME.findall(rest[:2000]):
        value = counts.number(text)
        if value is None:
            continue
        if name == "entry_time" and _SANE_EPOCH[0] <= value < _SANE_EPOCH[1]:
            found["entry_at_us"] = round(value * 1_000_000)
        elif name in ("start_time", "start"):
            found["start_s"] = value  # of the host's monotonic clock, no time of day
        elif name.endswith("duration") or unit == "ms":
            found[f"{name}_ms"] = value
        else:
            found[counts.snake(name)] = value
    # 0.4.9 to 0.5.1 set no start: what they print as duration is the time of completion, in epoch milliseconds.
    forward = found.get("forward_duration_ms")
    if forward is not None and forward >= _SANE_EPOCH[0] * 1000:
        del found["forward_duration_ms"]
        found.pop("start_s", None)
        found.pop("queue_duration_ms", None)
        found["completed_at_us"] = round(forward * 1000)
    event = EngineEvent("request_time_stats", request_id=rid, counts=found)
    event.attributes["type"] = sort
    if room is not None:
        event.attributes["bootstrap_room"] = room
    return event


def _retraction(message: str) -> EngineEvent:
    event = EngineEvent("retraction", counts=counts.listed(re.sub(r"^[^#]*", "", message)))
    ratio = _RATIO.search(message)
    if ratio:
        event.counts["new_token_ratio_before"] = float(ratio.group(1))
        event.counts["new_token_ratio_after"] = float(ratio.group(2))
    if message.startswith("Testing"):
        event.attributes["test"] = True
    return event


def _of_request(kind: str) -> Callable[[str], EngineEvent | None]:
    """A reader of a line that names a request by `rid='...'`, the stage and perhaps the pairing number."""

    def read(message: str) -> EngineEvent | None:
        rid = _RID.search(message)
        if rid is None:
            return None
        event = EngineEvent(kind, request_id=rid.group(1) or rid.group(2))
        stage = _STAGE.match(message)
        if stage:
            event.attributes["stage"] = counts.snake(stage.group(1) or stage.group(2))
        room = _ROOM.search(message)
        if room:
            event.attributes["bootstrap_room"] = room.group(1)
        return event

    return read


def _by_name(kind: str, pattern: re.Pattern[str]) -> Callable[[str], EngineEvent | None]:
    """A reader of a line that names a request by a bare word."""

    def read(message: str) -> EngineEvent | None:
        match = pattern.match(message)
        return EngineEvent(kind, request_id=match.group(1).rstrip(":,")) if match else None

    return read


def _corruption(message: str) -> EngineEvent | None:
    match = _CORRUPTION.match(message)
    if match is None:
        return None
    rid, room, foreign, index = match.groups()
    event = EngineEvent("context_corruption", request_id=rid)
    event.attributes = {"bootstrap_room": room, "foreign_bootstrap_room": foreign}
    if index is not None:
        event.counts["metadata_index"] = int(index)
    return event


def _double_free(message: str) -> EngineEvent:
    match = _DOUBLE.match(message)
    event = EngineEvent("kv_double_free")
    if match:
        event.counts = {"sub_pool": int(match.group(1)), "duplicate_pages": int(match.group(2))}
    return event


def _canary(message: str) -> EngineEvent:
    event = EngineEvent("kv_canary_violation")
    names = {"slot_idx": "kv_index"} | {name: name for name in ("position", "stored_token", "expected_token")}
    for name, text in _PAIR.findall(message):
        value = counts.number(text)
        if name in names and value is not None:
            event.counts[names[name]] = value
    match = _CANARY.search(message)
    if match:
        event.attributes = {"launch_tag": match.group(1), "fail_reason": match.group(2)}
    return event


def _leak(message: str) -> EngineEvent:
    event = EngineEvent("memory_leak")
    match = _LEAK.search(message[:200])
    if match:
        event.attributes["pool"] = match.group(1)
    for name, text in _PAIR.findall(message[:4000]):
        value = counts.number(text)
        if value is not None and len(event.counts) < 32:
            event.counts.setdefault(counts.snake(name), value)
    return event


def _flush(message: str) -> EngineEvent:
    if message.startswith("Cache flushed"):
        return EngineEvent("cache_flush")
    return EngineEvent("cache_flush_refused", counts=counts.listed(re.sub(r"^[^#]*", "", message)))


def _pool(message: str) -> EngineEvent:
    """What the scheduler says once, when it starts: the sizes of its pools."""
    event = EngineEvent("scheduler_start")
    for name, text in _PAIR.findall(message[:2000]):
        value = counts.number(text)
        if value is not None:
            event.counts.setdefault(name, value)
    return event


def _arguments(message: str) -> EngineEvent | None:
    event = EngineEvent("server_args")
    for name, quoted, double, number, flag in _ARGUMENT.findall(message):
        value: str | int | bool = int(number) if number else flag.lower() == "true" if flag else quoted or double
        event.attributes.setdefault(name, value)
    return event if event.attributes else None


def _health(message: str) -> EngineEvent:
    return EngineEvent("health_check_failed")


_READERS: tuple[tuple[str, Callable[[str], EngineEvent | None]], ...] = (
    ("Prefill batch", _batch),
    ("Decode batch", _batch),
    ("Req Time Stats(", _times),
    ("ReqTimeStats(", _times),
    ("new fill batch", _first_releases),
    ("#running-req", _first_releases),
    ("Decode out of memory", _retraction),
    ("KV cache pool is full", _retraction),
    ("Testing retraction", _retraction),
    ("retract_decode", _by_name("abort", _RETRACTED)),
    ("Cache ", _flush),
    ("Abort ", _of_request("abort")),
    ("Received output for", _of_request("output_without_state")),
    ("Prefill ", _of_request("transfer_failed")),
    ("Decode ", _of_request("transfer_failed")),
    ("Context corruption", _corruption),
    ("KV double free", _double_free),
    ("kv_canary violation", _canary),
    ("Health check failed", _health),
    ("max_total_num_tokens=", _pool),
    ("server_args=", _arguments),
    ("Capping ", _by_name("max_new_tokens_capped", _NAMED)),
    ("Grammar ", _by_name("grammar_failure", _NAMED)),
)
