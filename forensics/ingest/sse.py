"""A streamed answer as one response body: the deltas of each choice joined in the order of arrival.

Reads chunks of chat and text completions, as events of a server-sent stream or as a list of chunk objects. Chunks that
carry another id than the first become choices of their own: a stray chunk is evidence, never part of the answer. Keeps
no chunk times; does not know the Responses API.
"""

from __future__ import annotations

from typing import Any

from forensics.ingest.loose_json import loads

Object = dict[str, Any]


def is_stream(text: str) -> bool:
    """Whether a body is a server-sent stream."""
    head = text[:2000].lstrip("\ufeff \r\n")
    return head.startswith(("data:", "event:", ": ", "id:")) and "data:" in head


def is_chunks(value: object) -> bool:
    """Whether a list is one of stream chunks."""
    if not isinstance(value, list) or not value or not isinstance(value[0], dict):
        return False
    kind = value[0].get("object")
    return isinstance(kind, str) and kind.endswith(("chunk", "text_completion")) and "choices" in value[0]


def assemble_text(text: str) -> tuple[Object, int]:
    """The body of a server-sent stream, and how many events could not be read."""
    chunks: list[Object] = []
    unread = 0
    for block in text.replace("\r\n", "\n").split("\n\n"):
        data = "\n".join(line[5:].removeprefix(" ") for line in block.split("\n") if line.startswith("data:"))
        if not data or data.strip() == "[DONE]":
            continue
        # Some proxies drop the blank lines: then each line is an event.
        for part in [data] if _readable(data) else data.split("\n"):
            if part.strip() in ("", "[DONE]"):
                continue
            try:
                chunk = loads(part)
            except ValueError:
                unread += 1
                continue
            if isinstance(chunk, dict):
                chunks.append(chunk)
    return assemble(chunks), unread


def _readable(data: str) -> bool:
    if "\n" not in data:
        return True
    try:
        loads(data)
    except ValueError:
        return False
    return True


def assemble(chunks: list[Any]) -> Object:
    """The body that the chunks make."""
    body: Object = {}
    choices: dict[tuple[str, int], Object] = {}
    for chunk in chunks:
        if not isinstance(chunk, dict):
            continue
        own = chunk.get("id")
        own = own if isinstance(own, str) else ""
        if own and not body.get("id"):
            body["id"] = own
        stray = own if own and own != body["id"] else ""
        for name in ("model", "created", "usage", "error"):
            if chunk.get(name):
                body[name] = chunk[name]
        listed = chunk.get("choices")
        for place, choice in enumerate(listed if isinstance(listed, list) else ()):
            if isinstance(choice, dict):
                index = choice.get("index")
                index = index if isinstance(index, int) and not isinstance(index, bool) else place
                made = choices.setdefault((stray, index), {"index": index, "message": {}, "finish_reason": None})
                _add(made, choice)
    # The stream's own choices first, so that their places are what they would be without strays.
    body["choices"] = [{**choices[key], "message": _joined(choices[key]["message"])} for key in sorted(choices)]
    body["strays"] = len({stray for stray, _ in choices if stray})
    return body


def _add(made: Object, choice: Object) -> None:
    reason = choice.get("finish_reason")
    if isinstance(reason, str):
        made["finish_reason"] = reason
    message = made["message"]
    delta = choice.get("delta", choice.get("message"))
    delta = delta if isinstance(delta, dict) else {}
    text = choice.get("text")
    if isinstance(text, str):
        message.setdefault("content", []).append(text)
    for name, key in (
        ("content", "content"),
        ("reasoning_content", "reasoning_content"),
        ("reasoning", "reasoning_content"),
        ("refusal", "refusal"),
    ):
        piece = delta.get(name)
        if isinstance(piece, str):
            message.setdefault(key, []).append(piece)
            if key == "reasoning_content":
                delta = {**delta, "reasoning": None}
    calls = delta.get("tool_calls")
    for place, call in enumerate(calls if isinstance(calls, list) else ()):
        if not isinstance(call, dict):
            continue
        index = call.get("index")
        index = index if isinstance(index, int) and 0 <= index < 1000 else place
        held = message.setdefault("tool_calls", [])
        while len(held) <= index:
            held.append({"function": {"name": [], "arguments": []}})
        function = call.get("function")
        if isinstance(function, dict):
            for name in ("name", "arguments"):
                piece = function.get(name)
                if isinstance(piece, str):
                    held[index]["function"][name].append(piece)


def _joined(value: Any) -> Any:
    """Lists of pieces become texts; they are joined once, since a long answer has very many."""
    if isinstance(value, dict):
        return {name: _joined(item) for name, item in value.items()}
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return "".join(value)
    if isinstance(value, list):
        return [_joined(item) for item in value]
    return value
