"""Bodies of OpenAI's Responses API: `input` and `output` items. Knows no envelope.

Request: a text `input` is `prompt`; the i-th item is `messages[i]`: a message, a call (`.tool_calls[0].function.*`), a
call's result (`.content`), reasoning (`.reasoning`). `instructions` and `tools` keep their names.
Answer: the items of `output` are blocks of one answer, `choices[0]`: texts, refusals and calls in their order; both the
reasoning and its summary are reasoning.

Where the request goes on from an earlier response or conversation, or names items or a prompt that the service stores,
the history is not in the record: its prompt is `offloaded`.
"""

from __future__ import annotations

from typing import Any

from forensics.ingest.openai import ROLES
from forensics.ingest.parts import Piece, add_answer, add_call, add_listed, add_parts, answer_of, compact
from forensics.ingest.record import Text

Object = dict[str, Any]
_OUTPUTS = ("output", "result", "error")
_TEXT_CALLS = ("arguments", "input", "code", "action", "queries")


def is_request(body: Object) -> bool:
    """Whether a body is a request: an input and no messages."""
    return isinstance(body.get("input"), str | list) and "messages" not in body


def is_stored(body: Object) -> bool:
    """Whether the service holds a part of the prompt that the request only names."""
    for name in ("previous_response_id", "conversation"):
        if body.get(name):
            return True
    prompt = body.get("prompt")
    if isinstance(prompt, dict) and prompt.get("id"):
        return True
    items = body.get("input")
    return isinstance(items, list) and any(
        isinstance(item, dict) and item.get("type") == "item_reference" for item in items
    )


def request_texts(body: Object, texts: list[Text]) -> bool:
    """Append the texts of the `input`; whether it held any text or item."""
    value = body["input"]
    if isinstance(value, str):
        if value:
            texts.append(("prompt", "prompt", "prompt", value))
        return bool(value)
    found = False
    for i, item in enumerate(value):
        path = f"messages[{i}]"
        if isinstance(item, str):
            found = True
            if item:
                texts.append(("prompt", f"{path}.content", "user", item))
        elif isinstance(item, dict):
            found = True
            _item(path, item, texts)
    settings = body.get("text")
    schema = settings.get("format") if isinstance(settings, dict) else None
    if isinstance(schema, dict) and len(schema) > 1:
        texts.append(("prompt", "response_format", "system", compact(schema)))
    return found


def _item(path: str, item: Object, texts: list[Text]) -> None:
    kind = item.get("type")
    kind = kind if isinstance(kind, str) else "message"
    if kind == "reasoning":
        pieces = [text for _, text in _reasoning(item)]
        for n, text in enumerate(pieces):
            field = f"{path}.reasoning" if len(pieces) == 1 else f"{path}.reasoning[{n}].text"
            texts.append(("prompt", field, "assistant", text))
        return
    if kind.endswith("_output"):
        _output(path, item.get("output"), texts)
        return
    if kind.endswith("_call"):
        name, arguments = call_of(item)
        add_call(f"{path}.tool_calls[0].function", name, arguments, "prompt", "assistant", texts)
        for key in _OUTPUTS:
            _output(path, item.get(key), texts)
        return
    role = item.get("role")
    role = ROLES.get(role, "user") if isinstance(role, str) else "user"
    content = item.get("content")
    if isinstance(content, str):
        if content:
            texts.append(("prompt", f"{path}.content", role, content))
    elif isinstance(content, list):
        add_listed(path, content, "prompt", role, texts)


def _output(path: str, output: object, texts: list[Text]) -> None:
    if isinstance(output, str):
        if output:
            texts.append(("prompt", f"{path}.content", "tool", output))
    elif isinstance(output, list):
        add_parts(f"{path}.content", output, "prompt", "tool", texts)
    elif isinstance(output, dict) and output:
        texts.append(("prompt", f"{path}.content", "tool", compact(output)))


def call_of(item: Object) -> tuple[object, object]:
    """Name and arguments of a call; the service's own tools are named by the item's type."""
    name = item.get("name")
    if not isinstance(name, str) or not name:
        name = str(item.get("type")).removesuffix("_call")
    arguments = next((item[key] for key in _TEXT_CALLS if item.get(key)), None)
    return name, arguments


def _reasoning(item: Object) -> list[Piece]:
    pieces: list[Piece] = []
    for name in ("summary", "content"):
        parts = item.get(name)
        for part in parts if isinstance(parts, list) else ():
            text = part.get("text") if isinstance(part, dict) else None
            if isinstance(text, str) and text:
                pieces.append(("reasoning", text))
    return pieces


def is_response(body: Object) -> bool:
    """Whether a body is an answer: a list of typed items."""
    items = body.get("output")
    if not isinstance(items, list):
        return False
    if body.get("object") == "response":
        return True
    first = items[0] if items else None
    return isinstance(first, dict) and isinstance(first.get("type"), str) and "status" in body


def pieces_of(body: Object) -> list[Piece]:
    """The pieces of an answer, in order."""
    pieces: list[Piece] = []
    for item in body.get("output") or ():
        if not isinstance(item, dict):
            continue
        kind = item.get("type")
        kind = kind if isinstance(kind, str) else "message"
        if kind == "reasoning":
            pieces += _reasoning(item)
        elif kind.endswith("_call"):
            pieces.append(("call", call_of(item)))
            pieces += [("result", item[key]) for key in _OUTPUTS if isinstance(item.get(key), str)]
        elif isinstance(item.get("content"), list):
            pieces += answer_of(item["content"])
    return pieces


def response_texts(body: Object, texts: list[Text]) -> bool:
    """Append the texts of an answer; whether it holds an item or has come to an end."""
    add_answer(0, pieces_of(body), texts)
    return bool(body.get("output")) or body.get("status") in ("completed", "incomplete")


def finish_reason(body: Object) -> str | None:
    """Why the answer is not complete, else its status; None while it goes on."""
    details = body.get("incomplete_details")
    reason = details.get("reason") if isinstance(details, dict) else None
    if isinstance(reason, str) and reason:
        return reason
    status = body.get("status")
    return status if isinstance(status, str) and status not in ("", "in_progress", "queued") else None
