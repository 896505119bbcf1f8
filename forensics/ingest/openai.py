"""The texts of OpenAI-shaped requests and responses, each with its field path. Knows no envelope.

Nothing is joined or normalised: one content for every string of the record, so that an offset points into the log.
"""

from __future__ import annotations

from typing import Any

from forensics.ingest.parts import add_call, add_listed, add_parts, compact
from forensics.ingest.record import Record, Text

# Roles are ours, not the log's words: an unknown one counts as the user's.
ROLES = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
    "model": "assistant",
}
_MOST_PATHS = 512
_PATHS = tuple(f"messages[{i}].content" for i in range(_MOST_PATHS))
_CUT_LENGTH = 2051  # a text that SGLang cut at level 2: 1024 code points, "...", 1024 code points
_MOST_TOKENS = 1 << 40


def is_cut(text: str) -> bool:
    """Whether SGLang's level 2 has cut the middle out of this text."""
    return len(text) == _CUT_LENGTH and text[1024:1027] == "..."


def request_texts(body: dict[str, Any], texts: list[Text]) -> bool:
    """Append the prompt texts of a request body; whether the body held a prompt at all."""
    found = False
    messages = body.get("messages")
    if isinstance(messages, list):
        found = True
        for i, message in enumerate(messages):
            if isinstance(message, dict):
                content = message.get("content")
                if isinstance(content, str) and len(message) == 2 and "role" in message and i < _MOST_PATHS:
                    # Nearly every message of a log is a role and a text.
                    if content:
                        role = message["role"]
                        role = ROLES.get(role, "user") if isinstance(role, str) else "user"
                        texts.append(("prompt", _PATHS[i], role, content))
                    continue
                role = ROLES.get(message["role"], "user") if isinstance(message.get("role"), str) else "user"
                add_message(f"messages[{i}]", message, "prompt", role, texts)
            elif isinstance(message, str) and message:
                texts.append(("prompt", f"messages[{i}].content", "user", message))
    prompt = body.get("prompt")
    if isinstance(prompt, str):
        found = True
        if prompt:
            texts.append(("prompt", "prompt", "prompt", prompt))
    elif isinstance(prompt, list) and prompt:
        for i, item in enumerate(prompt):
            if isinstance(item, str):
                found = True
                if item:
                    texts.append(("prompt", f"prompt[{i}]", "prompt", item))
    for name in ("system", "instructions"):
        value = body.get(name)
        if isinstance(value, str) and value:
            texts.append(("prompt", name, "system", value))
        elif isinstance(value, list):
            add_parts(name, value, "prompt", "system", texts)
    for name in ("tools", "functions"):
        tools = body.get(name)
        if isinstance(tools, list):
            for i, tool in enumerate(tools):
                if isinstance(tool, dict | list):
                    texts.append(("prompt", f"tools[{i}]", "tool", compact(tool)))
    schema = body.get("response_format")
    if isinstance(schema, dict) and len(schema) > 1:
        texts.append(("prompt", "response_format", "system", compact(schema)))
    return found


def response_texts(body: dict[str, Any], texts: list[Text]) -> bool:
    """Append the response texts of a body with `choices`; whether there was at least one choice with a message."""
    choices = body.get("choices")
    found = False
    if not isinstance(choices, list):
        return False
    for i, choice in enumerate(choices):
        if not isinstance(choice, dict):
            continue
        message = choice.get("message")
        if isinstance(message, dict):
            found = True
            add_message(f"choices[{i}]", message, "response", "response", texts)
        elif isinstance(message, str):
            found = True
            if message:
                texts.append(("response", f"choices[{i}].content", "response", message))
        text = choice.get("text")
        if isinstance(text, str):
            found = True
            if text:
                texts.append(("response", f"choices[{i}].content", "response", text))
        if message is None and text is None and choice.get("reasoning_content"):
            found = True
            add_message(f"choices[{i}]", choice, "response", "response", texts)
    return found


def usage(record: Record, value: object) -> None:
    """Fill the token counts of `record` from a `usage` object."""
    if not isinstance(value, dict):
        return
    record.prompt_tokens = count(value.get("prompt_tokens", value.get("input_tokens")))
    record.completion_tokens = count(value.get("completion_tokens", value.get("output_tokens")))
    details = value.get("prompt_tokens_details", value.get("input_tokens_details"))
    if isinstance(details, dict):
        record.cached_tokens = count(details.get("cached_tokens"))
    elif "cached_tokens" in value:
        record.cached_tokens = count(value["cached_tokens"])


def count(value: object) -> int | None:
    """A token count, or None where the value is none."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST_TOKENS:
        return value
    return None


def finish_reason(body: dict[str, Any]) -> str | None:
    """The first finish reason among the choices; several different ones are joined by a comma."""
    choices = body.get("choices")
    if not isinstance(choices, list):
        return None
    seen: list[str] = []
    for choice in choices:
        reason = choice.get("finish_reason") if isinstance(choice, dict) else None
        if isinstance(reason, str) and reason not in seen:
            seen.append(reason)
    return ",".join(seen) or None


def add_message(path: str, message: dict[str, Any], side: str, role: str, texts: list[Text]) -> None:
    content = message.get("content")
    if isinstance(content, str):
        if content:
            texts.append((side, f"{path}.content", role, content))
        if len(message) == 2 and "role" in message:
            return
    elif isinstance(content, list):
        add_listed(path, content, side, role, texts)
    reasoning = message.get("reasoning_content")
    if not reasoning:
        reasoning = message.get("reasoning")
    if isinstance(reasoning, str):
        if reasoning:
            texts.append((side, f"{path}.reasoning", role, reasoning))
    elif isinstance(reasoning, list):
        add_parts(f"{path}.reasoning", reasoning, side, role, texts)
    refusal = message.get("refusal")
    if isinstance(refusal, str) and refusal:
        texts.append((side, f"{path}.refusal", role, refusal))
    elif isinstance(refusal, list):
        add_parts(f"{path}.refusal", refusal, side, role, texts)
    calls = message.get("tool_calls")
    if isinstance(calls, list):
        for j, call in enumerate(calls):
            if isinstance(call, dict):
                function = call.get("function")
                if not isinstance(function, dict):
                    function = call
                _function(f"{path}.tool_calls[{j}].function", function, side, role, texts)
    function = message.get("function_call")
    if isinstance(function, dict) and not calls:
        _function(f"{path}.tool_calls[0].function", function, side, role, texts)


def _function(path: str, function: dict[str, Any], side: str, role: str, texts: list[Text]) -> None:
    add_call(path, function.get("name"), function.get("arguments"), side, role, texts)
