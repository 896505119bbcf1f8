"""Ids, model, tokens, finish reasons and user of a model call, by the attributes of GenAI conventions and OpenLLMetry.

Names of all generations stand beside each other, the newest first. Knows no texts.
"""

from __future__ import annotations

from typing import Any

from forensics.ingest import openai
from forensics.ingest.genai import unpacked
from forensics.ingest.record import FileContext, Record
from forensics.ingest.timestamps import seconds

Object = dict[str, Any]


def facts(record: Record, attributes: Object, context: FileContext) -> None:
    """Fill ids, models, tokens, finish reason and user from attributes, where the record does not have them yet."""
    record.model = record.model or _text(
        attributes, "gen_ai.request.model", "llm.request.model", "gen_ai.response.model", "llm.response.model"
    )
    record.endpoint = record.endpoint or _text(attributes, "gen_ai.operation.name", "llm.request.type")
    for name, keys in _COUNTS.items():
        if getattr(record, name) is None:
            found = (openai.count(_whole(attributes.get(key))) for key in keys)
            setattr(record, name, next((count for count in found if count is not None), None))
    if record.finish_reason is None:
        record.finish_reason = _finish(attributes, context)
    for kind, keys in _IDS.items():
        if (value := _text(attributes, *keys)) is not None:
            record.ids.setdefault(kind, value)
    record.user_id = record.user_id or _text(attributes, *_USERS)
    for key in ("gen_ai.request.stream", "gen_ai.is_streaming", "llm.is_streaming"):
        if record.stream is None and isinstance(attributes.get(key), bool):
            record.stream = attributes[key]
    if record.first_token_at is None and record.received_at is not None:
        for key in _FIRST:
            if (wait := seconds(attributes.get(key))) is not None:
                record.first_token_at = record.received_at + wait
                break


_COUNTS = {
    "prompt_tokens": ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.usage.prompt_tokens"),
    "completion_tokens": (
        "gen_ai.usage.output_tokens",
        "gen_ai.usage.completion_tokens",
        "llm.usage.completion_tokens",
    ),
    "cached_tokens": (
        "gen_ai.usage.cache_read.input_tokens",
        "gen_ai.usage.cache_read_input_tokens",
        "gen_ai.usage.cached_tokens",
        "gen_ai.usage.details.cache_read_input_tokens",
    ),
}
_IDS = {
    "gen_ai.request.id": ("gen_ai.request.id",),
    "conversation_id": ("gen_ai.conversation.id",),
    "session_id": ("session.id", "traceloop.association.properties.session_id"),
}
_USERS = ("gen_ai.user", "user.id", "enduser.id", "llm.user", "traceloop.association.properties.user_id")
_FIRST = (
    "gen_ai.response.time_to_first_chunk",
    "gen_ai.server.time_to_first_token",
    "gen_ai.latency.time_to_first_token",
)


def _finish(attributes: Object, context: FileContext) -> str | None:
    """Finish reasons, one a choice; also where a library wrote the list as text."""
    for key in ("gen_ai.response.finish_reasons", "gen_ai.response.finish_reason", "llm.response.finish_reason"):
        value = unpacked(attributes.get(key), context)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, list):
            reasons = [item for item in value if isinstance(item, str) and item]
            if reasons:
                return ",".join(dict.fromkeys(reasons))
    return None


def _text(attributes: Object, *keys: str) -> str | None:
    for key in keys:
        value = attributes.get(key)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
    return None


def _whole(value: Any) -> Any:
    """A count; some libraries write it as a float."""
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else value
