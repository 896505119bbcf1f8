"""Bodies of Anthropic's Messages API: answers made of blocks, and their usage. Knows no envelope.

A request has the shape of OpenAI's (`messages`, `system`, `tools`), so that one reader serves both; its blocks are
parts. `input_tokens` leaves out what came from the cache or went into it; here the prompt's tokens count all of them.
"""

from __future__ import annotations

from typing import Any

from forensics.ingest.openai import count
from forensics.ingest.parts import add_answer, answer_of
from forensics.ingest.record import Record, Text

Object = dict[str, Any]
_CACHE = ("cache_read_input_tokens", "cache_creation_input_tokens")


def is_response(body: Object) -> bool:
    """Whether a body is an answer: a message with a list of blocks."""
    return isinstance(body.get("content"), list) and (
        body.get("type") == "message" or ("stop_reason" in body and body.get("role") == "assistant")
    )


def response_texts(body: Object, texts: list[Text]) -> bool:
    """Append the texts of an answer; always True."""
    add_answer(0, answer_of(body["content"]), texts)
    return True


def is_usage(value: Object) -> bool:
    """Whether a usage object counts the prompt without its cached part."""
    return "input_tokens" in value and any(name in value for name in _CACHE)


def usage(record: Record, value: Object) -> None:
    """Fill the token counts of `record`."""
    parts = [count(value.get(name)) for name in ("input_tokens", *_CACHE)]
    if parts[0] is not None:
        record.prompt_tokens = sum(part or 0 for part in parts)
    record.completion_tokens = count(value.get("output_tokens"))
    record.cached_tokens = parts[1]


def finish_reason(body: Object) -> str | None:
    """Why the answer ended, in the API's words."""
    reason = body.get("stop_reason")
    return reason if isinstance(reason, str) and reason else None
