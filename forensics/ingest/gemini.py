"""Bodies of Gemini's generateContent, in camel case (REST) and snake case (protos). Knows no envelope.

`contents[i]` is `messages[i]`, `systemInstruction` is `system`, the i-th candidate is `choices[i]`. Generated tokens
count the thoughts as well.
"""

from __future__ import annotations

from typing import Any

from forensics.ingest.openai import ROLES, count
from forensics.ingest.parts import add_answer, add_listed, add_parts, answer_of, compact
from forensics.ingest.record import Record, Text

Object = dict[str, Any]


def is_request(body: Object) -> bool:
    """Whether a body is a request."""
    return isinstance(body.get("contents"), list | dict | str)


def request_texts(body: Object, texts: list[Text]) -> bool:
    """Append the texts of a request; always True."""
    contents = body["contents"]
    for i, item in enumerate(contents if isinstance(contents, list) else [contents]):
        path = f"messages[{i}]"
        if isinstance(item, str):
            if item:
                texts.append(("prompt", f"{path}.content", "user", item))
        elif isinstance(item, dict):
            role = item.get("role")
            parts = _parts(item)
            add_listed(path, parts, "prompt", ROLES.get(role, "user") if isinstance(role, str) else "user", texts)
    system = _either(body, "systemInstruction", "system_instruction")
    if isinstance(system, str) and system:
        texts.append(("prompt", "system", "system", system))
    elif isinstance(system, dict):
        add_parts("system", _parts(system), "prompt", "system", texts)
    tools = body.get("tools")
    for i, tool in enumerate(tools if isinstance(tools, list) else ()):
        if isinstance(tool, dict | list) and tool:
            texts.append(("prompt", f"tools[{i}]", "tool", compact(tool)))
    config = _either(body, "generationConfig", "generation_config")
    schema = _either(config, "responseSchema", "response_schema") if isinstance(config, dict) else None
    if isinstance(schema, dict):
        texts.append(("prompt", "response_format", "system", compact(schema)))
    return True


def is_response(body: Object) -> bool:
    """Whether a body is an answer, or says why there is none."""
    if isinstance(body.get("candidates"), list):
        return True
    return any(isinstance(body.get(name), dict) for name in ("promptFeedback", "prompt_feedback"))


def response_texts(body: Object, texts: list[Text]) -> bool:
    """Append the texts of an answer; whether there was a candidate."""
    candidates = body.get("candidates")
    found = False
    for i, candidate in enumerate(candidates if isinstance(candidates, list) else ()):
        if isinstance(candidate, dict):
            found = True
            content = candidate.get("content")
            if isinstance(content, dict):
                add_answer(i, answer_of(_parts(content)), texts)
    return found


def usage_of(body: Object) -> Object | None:
    """The usage object of an answer."""
    value = _either(body, "usageMetadata", "usage_metadata")
    return value if isinstance(value, dict) else None


def usage(record: Record, value: Object) -> None:
    """Fill the token counts of `record`."""
    record.prompt_tokens = count(_either(value, "promptTokenCount", "prompt_token_count"))
    made = count(_either(value, "candidatesTokenCount", "candidates_token_count"))
    thoughts = count(_either(value, "thoughtsTokenCount", "thoughts_token_count"))
    if made is not None or thoughts is not None:
        record.completion_tokens = (made or 0) + (thoughts or 0)
    record.cached_tokens = count(_either(value, "cachedContentTokenCount", "cached_content_token_count"))


def finish_reason(body: Object) -> str | None:
    """Why the answer ended; several different reasons are joined by a comma."""
    seen: list[str] = []
    candidates = body.get("candidates")
    for candidate in candidates if isinstance(candidates, list) else ():
        reason = _either(candidate, "finishReason", "finish_reason") if isinstance(candidate, dict) else None
        if isinstance(reason, str) and reason and reason not in seen:
            seen.append(reason)
    feedback = _either(body, "promptFeedback", "prompt_feedback")
    if not seen and isinstance(feedback, dict):
        reason = _either(feedback, "blockReason", "block_reason")
        if isinstance(reason, str) and reason:
            seen.append(reason)
    return ",".join(seen) or None


def _either(obj: Object, camel: str, snake: str) -> Any:
    value = obj.get(camel)
    return obj.get(snake) if value is None else value


def _parts(content: Object) -> list[Any]:
    parts = content.get("parts")
    if isinstance(parts, dict):
        return [parts]
    return parts if isinstance(parts, list) else []
