"""Texts and facts of a model call by OpenInference's flat attributes (Phoenix, Arize): messages, or the whole bodies.

`llm.input_messages.N.message.*` and `llm.output_messages.N.message.*` hold the texts; `input.value` and `output.value`
the request and response as JSON text, which tells ids and several choices better. Knows no OTLP and makes no record.
"""

from __future__ import annotations

from typing import Any

from forensics.ingest import bodies, openai
from forensics.ingest.decode import CutList, CutObject, decoded
from forensics.ingest.genai import Told, listed, masked
from forensics.ingest.record import FileContext, Record

Object = dict[str, Any]

KIND = "openinference.span.kind"
_COUNTS = {
    "prompt_tokens": "llm.token_count.prompt",
    "completion_tokens": "llm.token_count.completion",
    "cached_tokens": "llm.token_count.prompt_details.cache_read",
}


def is_call(attributes: Object) -> bool:
    """Whether a span is a model call: chains, agents, tools, retrievers and embeddings are none."""
    return attributes.get(KIND) == "LLM"


def told_of(attributes: Object, context: FileContext) -> Told:
    """The texts of a call."""
    told = Told()
    _prompt(told, attributes, context)
    _answer(told, attributes, context)
    masked(told)
    return told


def _prompt(told: Told, attributes: Object, context: FileContext) -> None:
    texts = told.texts
    value = attributes.get("input.value")
    body = _json(value, context)
    messages = [_message(item) for item in listed(attributes, "llm.input_messages.")]
    prompts = [item for item in listed(attributes, "llm.prompts.") if isinstance(item, dict)]
    if messages:
        for i, message in enumerate(messages):
            role = openai.ROLES.get(str(message.get("role")), "user")
            openai.add_message(f"messages[{i}]", message, "prompt", role, texts)
        told.prompt_state = "full" if any(len(m) > ("role" in m) for m in messages) else "not_logged"
        if isinstance(body, dict):
            beside = {name: body[name] for name in ("system", "instructions") if name in body}
            openai.request_texts(beside, texts)
    elif prompts:
        found = [_at(item, "prompt", "text") for item in prompts]
        openai.request_texts({"prompt": [text for text in found if isinstance(text, str)]}, texts)
        told.prompt_state = "full"
    elif isinstance(body, dict) and bodies.is_request(body):
        bodies.request_texts(body, texts)
        told.prompt_state = "truncated" if isinstance(body, CutObject) else bodies.request_state(body)
        return
    elif isinstance(body, list) and body and all(isinstance(item, dict) and "role" in item for item in body):
        bodies.request_texts({"messages": body}, texts)
        told.prompt_state = "truncated" if isinstance(body, CutList) else "full"
    elif isinstance(value, str) and value:
        texts.append(("prompt", "prompt", "prompt", value))
        told.prompt_state = "full"
    tools = [_at(item, "tool", "json_schema") for item in listed(attributes, "llm.tools.")]
    schemas = [decoded(tool, ("json",), context) for tool in tools]
    openai.request_texts({"tools": [schema for schema in schemas if isinstance(schema, dict)]}, texts)


def _answer(told: Told, attributes: Object, context: FileContext) -> None:
    texts = told.texts
    value = attributes.get("output.value")
    body = response_of(attributes, context)
    messages = [_message(item) for item in listed(attributes, "llm.output_messages.")]
    completions = [_at(item, "completion", "text") for item in listed(attributes, "llm.choices.")]
    several = body is not None and isinstance(body.get("choices"), list) and len(body["choices"]) > 1
    # The items of a Responses answer are messages here, though there is one choice.
    items = body is not None and "choices" not in body and len(messages) > 1
    if messages and not several and not items:
        for i, message in enumerate(messages):
            openai.add_message(f"choices[{i}]", message, "response", "response", texts)
        told.response_state = "full" if any(len(m) > ("role" in m) for m in messages) else "not_logged"
    elif body is not None:
        bodies.response_texts(body, texts)
        told.response_state = "truncated" if isinstance(body, CutObject) else "full"
    elif completions:
        choices = [{"text": text} for text in completions if isinstance(text, str)]
        openai.response_texts({"choices": choices}, texts)
        told.response_state = "full"
    elif isinstance(value, str) and value:
        texts.append(("response", "choices[0].content", "response", value))
        told.response_state = "full"


def response_of(attributes: Object, context: FileContext) -> Object | None:
    """The response body in `output.value`, or None."""
    body = _json(attributes.get("output.value"), context)
    return body if isinstance(body, dict) and bodies.is_response(body) else None


def facts(record: Record, attributes: Object, context: FileContext) -> None:
    """Fill what the attributes and the response body say, where the record does not have it yet."""
    model = attributes.get("llm.model_name")
    if record.model is None and isinstance(model, str) and model:
        record.model = model
    for name, key in _COUNTS.items():
        if getattr(record, name) is None:
            setattr(record, name, openai.count(attributes.get(key)))
    reason = attributes.get("llm.finish_reason")
    if record.finish_reason is None and isinstance(reason, str) and reason:
        record.finish_reason = reason
    body = response_of(attributes, context)
    if body is not None:
        bodies.response_facts(record, body)
    parameters = _json(attributes.get("llm.invocation_parameters"), context)
    if record.stream is None and isinstance(parameters, dict) and isinstance(parameters.get("stream"), bool):
        record.stream = parameters["stream"]
    if record.endpoint is None:
        record.endpoint = "chat" if any(key.startswith("llm.input_messages.") for key in attributes) else None


def metadata_of(attributes: Object, context: FileContext) -> Object:
    """The span's metadata, which the application chose."""
    found = _json(attributes.get("metadata"), context)
    return found if isinstance(found, dict) else {}


def _json(value: Any, context: FileContext) -> Any:
    return decoded(value, ("json",), context) if isinstance(value, str) else value


def _at(value: Any, *path: str) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _message(item: Any) -> Object:
    """A flat message in the shape of a chat completion's."""
    flat = _at(item, "message")
    if not isinstance(flat, dict):
        return {}
    message: Object = {}
    for name in ("role", "content", "refusal"):
        if isinstance(flat.get(name), str):
            message[name] = flat[name]
    contents = flat.get("contents")
    if isinstance(contents, list):
        parts = [_at(part, "message_content") for part in contents]
        made = [part if isinstance(part, dict) else {} for part in parts]
        if isinstance(message.get("content"), str) and message["content"]:
            made.insert(0, {"type": "text", "text": message["content"]})
        message["content"] = made
    calls = flat.get("tool_calls")
    if isinstance(calls, list):
        functions = [_at(call, "tool_call", "function") for call in calls]
        message["tool_calls"] = [{"function": call} for call in functions if isinstance(call, dict)]
    elif isinstance(flat.get("function_call_name"), str):
        arguments = flat.get("function_call_arguments_json")
        message["function_call"] = {"name": flat["function_call_name"], "arguments": arguments}
    return message
