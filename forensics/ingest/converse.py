"""Bodies of Bedrock's Converse API. Knows no envelope, and not the native bodies of InvokeModel, which are other APIs'.

A request has `messages` and `system` as OpenAI's has them, with parts that are told by their keys, so that one reader
serves both; only its tools are read here. `inputTokens` leaves out what came from the cache or went into it.
"""

from __future__ import annotations

from typing import Any

from forensics.ingest.openai import count
from forensics.ingest.parts import add_answer, answer_of, compact
from forensics.ingest.record import Record, Text

Object = dict[str, Any]


def tool_texts(body: Object, texts: list[Text]) -> None:
    """Append the tools of a request."""
    config = body.get("toolConfig")
    tools = config.get("tools") if isinstance(config, dict) else None
    for i, tool in enumerate(tools if isinstance(tools, list) else ()):
        if isinstance(tool, dict):
            texts.append(("prompt", f"tools[{i}]", "tool", compact(tool)))


def message_of(body: Object) -> Object | None:
    """The message of an answer, or None where the body is none."""
    output = body.get("output")
    message = output.get("message") if isinstance(output, dict) else None
    if isinstance(message, dict) and isinstance(message.get("content"), list):
        return message
    return None


def response_texts(body: Object, texts: list[Text]) -> bool:
    """Append the texts of an answer; whether there was one."""
    message = message_of(body)
    if message is None:
        return False
    add_answer(0, answer_of(message["content"]), texts)
    return True


def is_usage(value: Object) -> bool:
    """Whether a usage object is this API's."""
    return "inputTokens" in value or "outputTokens" in value


def usage(record: Record, value: Object) -> None:
    """Fill the token counts of `record`."""
    names = (
        ("inputTokens",),
        ("cacheReadInputTokens", "cacheReadInputTokenCount"),
        ("cacheWriteInputTokens", "cacheWriteInputTokenCount"),
    )
    parts = [next((found for name in group if (found := count(value.get(name))) is not None), None) for group in names]
    if parts[0] is not None:
        record.prompt_tokens = sum(part or 0 for part in parts)
    record.completion_tokens = count(value.get("outputTokens"))
    record.cached_tokens = parts[1]


def finish_reason(body: Object) -> str | None:
    """Why the answer ended, in the API's words."""
    reason = body.get("stopReason")
    return reason if isinstance(reason, str) and reason else None
