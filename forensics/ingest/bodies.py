"""Texts and facts of a request body and of a response body, whichever API they are of. Knows no envelope.

Each API has a module of its own: OpenAI chat and text completions, Responses, Anthropic Messages, Gemini, Bedrock
Converse. A body is told by its keys. Field paths are those of docs/formats.md for all of them.
"""

from __future__ import annotations

from typing import Any

from forensics.ingest import anthropic, converse, gemini, openai, responses_api
from forensics.ingest.record import Record, Text
from forensics.ingest.settings import sampling_of

Object = dict[str, Any]

# Keys that an object in place of a request has, and those of an answer: what tells a body from a text that is JSON.
REQUEST_MARKS = frozenset(("messages", "prompt", "input", "body", "contents"))
RESPONSE_MARKS = frozenset(
    ("choices", "body", "usage", "object", "candidates", "usageMetadata", "stop_reason", "stopReason")
)


def request_texts(body: Object, texts: list[Text]) -> bool:
    """Append the prompt texts of a request body; whether the body held a prompt at all."""
    if "messages" in body:
        if "toolConfig" in body:
            converse.tool_texts(body, texts)
        return openai.request_texts(body, texts)
    if "contents" in body and gemini.is_request(body):
        return gemini.request_texts(body, texts)
    found = openai.request_texts(body, texts)
    if not found and "input" in body and responses_api.is_request(body):
        return responses_api.request_texts(body, texts)
    return found


def request_state(body: Object) -> str:
    """The state of a prompt whose texts were read: `full`, or `offloaded` where the service holds a part of it."""
    return "offloaded" if "messages" not in body and responses_api.is_stored(body) else "full"


def is_request(body: Object) -> bool:
    """Whether a body is a request of one of the APIs."""
    return (
        isinstance(body.get("messages"), list)
        or isinstance(body.get("prompt"), str | list)
        or responses_api.is_request(body)
        or gemini.is_request(body)
    )


def is_response(body: Object) -> bool:
    """Whether a body is an answer of one of the APIs."""
    return (
        isinstance(body.get("choices"), list)
        or anthropic.is_response(body)
        or responses_api.is_response(body)
        or gemini.is_response(body)
        or converse.message_of(body) is not None
    )


def response_texts(body: Object, texts: list[Text]) -> bool:
    """Append the response texts of a response body; whether it held an answer at all."""
    if "choices" in body:
        return openai.response_texts(body, texts)
    if "output" in body:
        if responses_api.is_response(body):
            return responses_api.response_texts(body, texts)
        return converse.response_texts(body, texts)
    if "content" in body and anthropic.is_response(body):
        return anthropic.response_texts(body, texts)
    if gemini.is_response(body):
        return gemini.response_texts(body, texts)
    return False


def usage(record: Record, value: object) -> None:
    """Fill the token counts of `record` from a usage object."""
    if not isinstance(value, dict):
        return
    if "prompt_tokens" in value:
        openai.usage(record, value)
    elif anthropic.is_usage(value):
        anthropic.usage(record, value)
    elif converse.is_usage(value):
        converse.usage(record, value)
    else:
        openai.usage(record, value)


def finish_reason(body: Object) -> str | None:
    """Why the answer ended, in the API's words; None where the body does not say."""
    if "choices" in body:
        return openai.finish_reason(body)
    if "stop_reason" in body:
        return anthropic.finish_reason(body)
    if "stopReason" in body:
        return converse.finish_reason(body)
    if "output" in body and responses_api.is_response(body):
        return responses_api.finish_reason(body)
    if gemini.is_response(body):
        return gemini.finish_reason(body)
    return None


def request_facts(record: Record, body: Object) -> None:
    """Fill model, user, cache salt, sampling and stream of `record` from the body that an engine was asked with."""
    record.sampling = sampling_of(body)
    for name in ("model", "user", "cache_salt"):
        value = body.get(name)
        if not isinstance(value, str | int) or isinstance(value, bool) or value == "":
            continue
        if name == "cache_salt":
            record.ids[name] = str(value)
        else:
            setattr(record, "user_id" if name == "user" else name, str(value))
    stream = body.get("stream")
    record.stream = stream if isinstance(stream, bool) else None


def response_facts(record: Record, body: Object) -> None:
    """Fill token counts, finish reason and model of `record` from a response body, where it does not have them yet."""
    if record.prompt_tokens is None and record.completion_tokens is None:
        found = body.get("usage")
        if isinstance(found, dict) and "prompt_tokens" in found:
            openai.usage(record, found)
        elif found is not None:
            usage(record, found)
        elif (found := gemini.usage_of(body)) is not None:
            gemini.usage(record, found)
    if record.finish_reason is None:
        record.finish_reason = openai.finish_reason(body) if "choices" in body else finish_reason(body)
    if record.model is None:
        for name in ("model", "modelVersion", "model_version"):
            if isinstance(body.get(name), str) and body[name]:
                record.model = body[name]
                break
