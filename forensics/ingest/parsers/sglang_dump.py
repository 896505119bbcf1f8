"""Calls of SGLang's request dumps and crash dumps, as the transcoder gives them on.

A request that had not ended when the engine died has no finish; that it was in flight then is an engine event.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from forensics.ingest import openai
from forensics.ingest.envelope_keys import Object
from forensics.ingest.record import STRUCTURE, EngineEvent, FileContext, Item
from forensics.ingest.sglang import record_of_dump
from forensics.ingest.timestamps import parse_time

NAME = "sglang_dump"
KIND = "object"
TITLE = "SGLang request dumps and crash dumps"
VERSIONS = "SGLang 0.4.4 to 0.5.23"
SOURCE = "public copies of the engine's source; no dump of a running engine was read"


def may(keys: frozenset[str]) -> bool:
    """Whether an object with these keys can be a call of a dump."""
    return "sglang_dump" in keys


def accepts(obj: Object) -> bool:
    """Whether one object is a call of a dump."""
    return isinstance(obj.get("sglang_dump"), dict)


def parse(obj: Object, context: FileContext) -> Sequence[Item]:
    """The record of one call, or one per item of a batch."""
    call = obj["sglang_dump"]
    request, out = _object(call.get("request")), call.get("out")
    rid = request.get("rid")
    if isinstance(rid, list):
        texts = request.get("text")
        outs = out if isinstance(out, list) else []
        items: list[Item] = []
        for number, one in enumerate(rid):
            said = outs[number] if number < len(outs) else None
            text = texts[number] if isinstance(texts, list) and number < len(texts) else None
            items += _one({**request, "rid": one, "text": text}, said, call, context)
        return tuple(items)
    return _one(request, out, call, context)


def _one(request: Object, out: Any, call: Object, context: FileContext) -> Sequence[Item]:
    out = _object(out)
    meta = _object(out.get("meta_info"))
    record = record_of_dump(request, out, context)
    if record is None:
        return STRUCTURE
    record.received_at, _ = parse_time(call.get("created"), context)
    ended, _ = parse_time(call.get("finished"), context)
    # Both are floats of the engine's clock, however few digits one happens to need.
    record.time_precision = "us" if record.received_at is not None else None
    if meta.get("finish_reason") is not None:
        record.finished_at = ended
        record.time_precision = record.time_precision or ("us" if ended is not None else None)
        written = openai.count(out.get("output_tokens"))
        if written is not None and record.completion_tokens is not None and written + 8 < record.completion_tokens:
            # With incremental streaming a dump holds the last piece of the answer alone.
            record.response_state = "partial_stream"
        return (record,)
    record.status = record.finish_reason = None
    record.response_state = "partial_stream" if out.get("text") else "not_logged"
    event = EngineEvent("in_flight_at_dump", ended, record.worker, record.request_id)
    written = openai.count(out.get("output_tokens"))
    if written is not None:
        event.counts["output_tokens"] = written
    return (record, event)


def _object(value: object) -> Object:
    return value if isinstance(value, dict) else {}
