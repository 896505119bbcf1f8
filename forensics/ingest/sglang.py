"""What SGLang's JSON and text request logs have in common: stamps, worker names, events to records.

An event is `{event, rid, obj, headers, out, timestamp}` however the line spelt it. One engine call is several lines
(received, received.openai, finished); each becomes a record with its `part`, and SQL puts them together.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from typing import Any

from forensics.ingest import loose_json, openai
from forensics.ingest.envelope import add_headers, id_text
from forensics.ingest.envelope_keys import TENANT_HEADERS, TENANT_HEADERS_LAST
from forensics.ingest.record import STRUCTURE, EngineEvent, FileContext, Item, Record, Reject, Text
from forensics.ingest.settings import sampling_of, token_ids
from forensics.ingest.timestamps import parse_time, seconds

STAMP = re.compile(rb"\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:[.,]\d{1,9})?)([^\]\n]{0,80})\] ?")
_RANK = re.compile(r"\b(DP\d+)\b")
_TENSOR_RANK = re.compile(r"\b(TP\d+)\b")
_LOG_FILE = re.compile(r"(?:^|.*/)([^/]+_\d+)\.log(?:\.\d{4}-\d\d-\d\d_\d\d)?(?:\.(?:gz|zst|zstd))?$", re.S)
# The web server's lines carry no stamp of the engine.
_UNSTAMPED = re.compile(rb"(?:INFO|WARNING|ERROR|DEBUG): ")
# Fields of a request that the first release which has them marks; reference: the published packages, 0.4.4 to 0.5.23.
_RELEASES = (
    ("0.5.23", ("watermark", "kv_hints")),
    ("0.5.18", ("cache_salt", "mm_content_hashes")),
    ("0.5.15", ("mm_hashes", "return_prompt_token_ids")),
    ("0.5.10", ("routed_dp_rank",)),
    ("0.5.8", ("received_time", "routing_key")),
    ("0.5.6", ("http_worker_ipc", "return_entropy")),
    ("0.5.3", ("extra_key", "custom_labels")),
    ("0.5.1", ("lora_id",)),
    ("0.4.9", ("bootstrap_room",)),
    ("0.4.4", ("lora_path",)),
)
_LEAST_FIELDS = 16  # the smallest of these releases logs 18; fewer were picked out by somebody, and prove nothing
PARTS = {
    "request.received": "received",
    "request.received.openai": "received_openai",
    "request.finished": "finished",
}


def worker_of_file(name: str) -> str | None:
    """`{hostname}_{rank}` from the name of a request log file, or None."""
    match = _LOG_FILE.match(name)
    return match.group(1) if match else None


def worker_of_tags(tags: str) -> str | None:
    """The data-parallel rank from the stamp's tags, else the tensor-parallel one, else None."""
    match = _RANK.search(tags) or _TENSOR_RANK.search(tags)
    return match.group(1) if match else None


def worker_of(source: str | None, tags: str) -> str | None:
    """The rank of the stamp's tags, after who wrote the line where that is known: every engine has a rank 0."""
    return " ".join(part for part in (source, worker_of_tags(tags)) if part) or None


def is_structure(line: bytes) -> bool:
    """Whether a line that is no request record is a known line of an SGLang log.

    A stamped line that holds an object must be a record; where it could not be read, it is no structure.
    """
    stamp = STAMP.match(line)
    if stamp:
        rest = line[stamp.end() : stamp.end() + 200]
        return b"obj=" not in rest and b'"event"' not in rest and not rest.startswith(b"{")
    return _UNSTAMPED.match(line) is not None


def records_of_event(event: dict[str, Any], stamp: str | None, tags: str, context: FileContext) -> Sequence[Item]:
    """The records of one event: one, or one per item of a batch. Raises Reject where no id can be had."""
    part = PARTS.get(str(event.get("event")))
    if part is None:
        return STRUCTURE
    obj = event.get("obj")
    obj = obj if isinstance(obj, dict) else {}
    out = event.get("out")
    at, precision = parse_time(event.get("timestamp") or stamp, context)
    if at is None:
        at = context.at
    headers: dict[str, str] = {}
    add_headers(event.get("headers"), headers)
    rids = _rids(event, obj, out)
    if not rids:
        if part == "received_openai":
            # The engine prints the same call again, with an id.
            context.notice("openai_line_without_rid")
            return STRUCTURE
        raise Reject("no_id")
    worker = context.worker or worker_of(context.source, tags)
    batch = len(rids) > 1 or isinstance(event.get("rid"), list)
    records: list[Item] = []
    if part == "received":
        release = release_of(obj)
        if release is not None and f"{release} {worker}" not in context.told:
            context.told.add(f"{release} {worker}")
            at_least, below = release
            event_of_release = EngineEvent("engine_release", at, worker)
            event_of_release.attributes = {"at_least": at_least} | ({"below": below} if below else {})
            records.append(event_of_release)
    for item, rid in enumerate(rids):
        if not rid:
            context.notice("unreadable_entry")
            continue
        if rid.startswith("HEALTH_CHECK"):
            continue
        record = Record(rid, "engine", part, worker=worker, time_precision=precision)
        texts: list[Text] = []
        record.texts = texts
        _people(record, obj, headers)
        if part == "received_openai":
            found = openai.request_texts(obj, texts)
            cut = any(openai.is_cut(text[3]) for text in texts)
            record.prompt_state = "truncated" if cut else "full" if found else "not_logged"
            record.sampling = sampling_of(obj)
        else:
            record.sampling = _sampling(obj, item)
            record.input_ids = _tokens(obj, item if batch else None)
            record.prompt_state = _prompt(obj, item if batch else None, texts)
        if part == "finished":
            record.finished_at = at
            said = out[item] if isinstance(out, list) and item < len(out) else out
            _finish(record, said, texts)
            records += _tiers(said, rid, at, worker, context)
        else:
            record.received_at = at
        records.append(record)
    return tuple(records)


def _tiers(out: object, rid: str, at: int | None, worker: str | None, context: FileContext) -> list[Item]:
    """That part of a prefix came from beyond the device; and once a worker, that its log tells such things."""
    meta = out.get("meta_info") if isinstance(out, dict) else None
    details = meta.get("cached_tokens_details") if isinstance(meta, dict) else None
    if not isinstance(details, dict):
        return []
    events: list[Item] = []
    if f"tiers {worker}" not in context.told:
        context.told.add(f"tiers {worker}")
        events.append(EngineEvent("cache_tiers", at, worker))
    restored: dict[str, int | float] = {tier: openai.count(details.get(tier)) or 0 for tier in ("host", "storage")}
    if any(restored.values()):
        events.append(EngineEvent("host_restored", at, worker, rid, counts=restored))
    return events


def release_of(obj: dict[str, Any]) -> tuple[str, str | None] | None:
    """(first release that has the fields of a logged request, first that has more than them); None: cannot be told.

    The engine logs a request with all of its fields, so that a field that is not there did not exist yet.
    """
    if len(obj) < _LEAST_FIELDS:
        return None
    below: str | None = None
    for release, fields in _RELEASES:
        if any(field in obj for field in fields):
            return release, below
        below = release
    return None


def record_of_export(obj: dict[str, Any], context: FileContext) -> Sequence[Item]:
    """The record of one line of the metrics export. Raises Reject where no id can be had."""
    try:
        parameters = loose_json.loads(obj["request_parameters"])
    except ValueError:
        raise Reject("bad_json") from None
    parameters = parameters if isinstance(parameters, dict) else {}
    rids = _rids({"rid": obj.get("id")}, parameters, None)
    if len(rids) != 1:
        raise Reject("no_id")
    if rids[0].startswith("HEALTH_CHECK"):
        return STRUCTURE
    record, texts = _asked(rids[0], parameters, context)
    for name in ("request_finished_ts", "response_sent_to_client_ts"):
        if record.finished_at is None and obj.get(name):
            record.finished_at, record.time_precision = parse_time(obj[name], context)
    _finish(record, {"meta_info": obj}, texts)
    if obj.get("request_received_ts"):
        received, precision = parse_time(obj["request_received_ts"], context)
        record.received_at = received if received is not None else record.received_at
        record.time_precision = record.time_precision or precision
    return (record,)


def record_of_dump(request: dict[str, Any], out: dict[str, Any], context: FileContext) -> Record | None:
    """The record of one call of a request dump, without its times; None for a health check. Raises Reject."""
    rids = _rids({}, request, out)
    if len(rids) != 1:
        raise Reject("no_id")
    if rids[0].startswith("HEALTH_CHECK"):
        return None
    record, texts = _asked(rids[0], request, context)
    _finish(record, out, texts)
    if record.prompt_tokens is None:
        record.prompt_tokens = openai.count(request.get("input_tokens"))
    return record


def _asked(rid: str, request: dict[str, Any], context: FileContext) -> tuple[Record, list[Text]]:
    """The record of one call with what its request says, and the list that its texts stand in."""
    record = Record(rid, "engine", worker=context.worker or context.source)
    texts: list[Text] = []
    record.texts = texts
    _people(record, request, {})
    record.sampling = _sampling(request, 0)
    record.input_ids = _tokens(request, None)
    record.prompt_state = _prompt(request, None, texts)
    return record, texts


def _rids(event: dict[str, Any], obj: dict[str, Any], out: object) -> list[str]:
    value = event.get("rid")
    if value is None:
        value = obj.get("rid")
    if value is None:
        value = obj.get("request_id")
    if value is None and isinstance(out, dict) and isinstance(out.get("meta_info"), dict):
        value = out["meta_info"].get("id")
    if isinstance(value, list):
        # An item without an id keeps its place: texts and outputs go by it.
        rids = [id_text(item) or "" for item in value]
        return rids if any(rids) else []
    rid = id_text(value)
    if rid is None:
        return []
    prompts = obj.get("text")
    if isinstance(prompts, list) and event.get("event") == "request.received":
        # A batch with one id: the engine calls its items `id_0`, `id_1` and so on.
        return [f"{rid}_{i}" for i in range(len(prompts))]
    return [rid]


def _sampling(obj: dict[str, Any], item: int) -> str | None:
    """The sampling parameters of one item of a native request."""
    parameters = obj.get("sampling_params")
    if isinstance(parameters, list):
        parameters = parameters[item] if item < len(parameters) else None
    return sampling_of(parameters)


def _tokens(obj: dict[str, Any], item: int | None) -> array[int] | None:
    """The prompt's tokens: a caller's own, or what a chat was rendered and cut into. None where a picture, film or
    sound is a part of it: what stands in its place in the cache is not logged.
    """
    if any(obj.get(name) for name in ("image_data", "video_data", "audio_data", "input_embeds")):
        return None
    tokens = obj.get("input_ids")
    if item is not None:
        tokens = tokens[item] if isinstance(tokens, list) and item < len(tokens) else None
    return token_ids(tokens)


def _prompt(obj: dict[str, Any], item: int | None, texts: list[Text]) -> str:
    text = obj.get("text")
    if isinstance(text, list):
        if item is None or item >= len(text):
            return "not_logged"
        text = text[item]
    if not isinstance(text, str):
        return "not_logged"
    if text:
        texts.append(("prompt", "text", "prompt", text))
    return "truncated" if openai.is_cut(text) else "full"


def _people(record: Record, obj: dict[str, Any], headers: dict[str, str]) -> None:
    for name in (*TENANT_HEADERS, *TENANT_HEADERS_LAST):
        if name in headers:
            record.ids[name] = headers[name]
            record.tenant_id = record.tenant_id or headers[name]
    for name in ("x-request-id", "x-smg-routing-key"):
        if name in headers and headers[name] != record.request_id:
            record.ids[name] = headers[name]
    for name in ("cache_salt", "extra_key", "lora_path", "conversation_id", "session_id", "bootstrap_room"):
        if (value := id_text(obj.get(name))) is not None:
            record.ids[name] = value
    user = obj.get("user")
    record.user_id = user if isinstance(user, str) and user else None
    model = obj.get("model")
    record.model = model if isinstance(model, str) and model else None
    stream = obj.get("stream")
    record.stream = stream if isinstance(stream, bool) else None


def _finish(record: Record, out: object, texts: list[Text]) -> None:
    if not isinstance(out, dict):
        record.response_state = "not_logged"
        return
    text = out.get("text")
    if isinstance(text, str):
        if text:
            texts.append(("response", "choices[0].content", "response", text))
        record.response_state = "truncated" if openai.is_cut(text) else "full"
    else:
        record.response_state = "not_logged"
    record.output_ids = token_ids(out.get("output_ids"))
    meta = out.get("meta_info")
    if not isinstance(meta, dict):
        return
    reason = meta.get("finish_reason")
    if isinstance(reason, dict):
        reason = reason.get("type")
    record.finish_reason = reason if isinstance(reason, str) else None
    record.status = "aborted" if record.finish_reason == "abort" else "ok"
    if reason is None and "finish_reason" in meta and record.response_state == "full":
        record.response_state = "partial_stream"
    record.prompt_tokens = openai.count(meta.get("prompt_tokens"))
    record.completion_tokens = openai.count(meta.get("completion_tokens"))
    record.cached_tokens = openai.count(meta.get("cached_tokens"))
    rank = openai.count(meta.get("dp_rank"))
    record.dp_rank = rank if rank is not None and rank < 1 << 20 else None
    record.latency_us = seconds(meta.get("e2e_latency"))
    if record.finished_at is not None and record.latency_us is not None:
        record.received_at = record.finished_at - record.latency_us
        first = seconds(meta.get("first_token_latency"))
        if first is None:
            first = _between(meta, "request_received_ts", ("prefill_finished_ts", "prefill_finished_time"))
        if first is not None and first <= record.latency_us:
            record.first_token_at = record.received_at + first


def _between(meta: dict[str, Any], start: str, ends: tuple[str, ...]) -> int | None:
    begin = meta.get(start)
    for end in ends:
        value = meta.get(end)
        if isinstance(begin, int | float) and isinstance(value, int | float):
            return seconds(value - begin)
    return None
