"""Texts and facts of a request body and of a response body, whichever API they are of. Knows no envelope.

Each API has a module of its own; a body is told by its keys. Field paths are those of docs/formats.md for all of them.
"""

from __future__ import annotations

from typing import Any

from forensics.ingest import openai
from forensics.ingest.record import Record, Text

Object = dict[str, Any]


def request_texts(body: Object, texts: list[Text]) -> bool:
    """Append the prompt texts of a request body; whether the body held a prompt at all."""
    return openai.request_texts(body, texts)


def response_texts(body: Object, texts: list[Text]) -> bool:
    """Append the response texts of a response body; whether it held an answer at all."""
    return openai.response_texts(body, texts)


def response_facts(record: Record, body: Object) -> None:
    """Fill token counts, finish reason and model of `record` from a response body, where it does not have them yet."""
    if record.prompt_tokens is None and record.completion_tokens is None:
        openai.usage(record, body.get("usage"))
    if record.finish_reason is None:
        record.finish_reason = openai.finish_reason(body)
    if record.model is None and isinstance(body.get("model"), str):
        record.model = body["model"] or None
