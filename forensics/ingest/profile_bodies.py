"""The two bodies of a record that a profile points at, as texts and a state. Knows pointers and bodies, no format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from forensics.ingest import bodies, sse
from forensics.ingest.decode import CutList, CutObject, Encrypted, decoded
from forensics.ingest.envelope import stream_body
from forensics.ingest.envelope_keys import Object
from forensics.ingest.parts import compact
from forensics.ingest.pointers import Pointer, View, holds
from forensics.ingest.record import FileContext, Text

# Parts that a log may hold beside a whole body.
_BESIDE = ("system", "tools", "reasoning", "refusal", "tool_calls")
# Keys of a body that rightly has no text.
_MEANT_EMPTY = frozenset(("error", "choices", "usage", "detail", "output", "messages", "embedding", "data"))
# The keys of a message that texts are read from, and those that name it. One of other keys is in a form of its own.
_MESSAGE_TEXTS = frozenset("content reasoning reasoning_content refusal tool_calls function_call".split())
_MESSAGE_NAMES = frozenset("role name id type tool_call_id".split())
_MESSAGE_PARTS = ("content", "reasoning", "refusal", "tool_calls")


@dataclass(slots=True)
class Side:
    """One body: its texts, what it is worth, and the object that facts are read from."""

    texts: list[Text] = field(default_factory=list)
    state: str = "absent"
    body: Object | None = None


def request_side(rules: Mapping[str, tuple[Pointer, ...]], view: View) -> Side:
    """What was asked."""
    return _side(rules, view, prompt=True)


def response_side(rules: Mapping[str, tuple[Pointer, ...]], view: View) -> Side:
    """What was answered."""
    return _side(rules, view, prompt=False)


def _side(rules: Mapping[str, tuple[Pointer, ...]], view: View, *, prompt: bool) -> Side:
    encrypted = False
    held: Side | None = None
    for pointer in rules.get("body", ()):
        value = pointer.first(view)
        if isinstance(value, Encrypted):
            encrypted = True
        elif value is not None:
            side = _of_value(value, view.context, prompt=prompt)
            if side.texts:
                return _added(side, rules, view, prompt=prompt)
            held = held if held is not None and held.body else side
    made = _of_parts(rules, view, prompt=prompt)
    if held is not None and held.body and not made.texts:
        if made.state != "encrypted" and not _MEANT_EMPTY & held.body.keys():
            view.context.notice("unknown_body")
        return held
    if encrypted and not made.texts:
        return Side(state="encrypted")
    return made


def _added(side: Side, rules: Mapping[str, tuple[Pointer, ...]], view: View, *, prompt: bool) -> Side:
    """A body's side with the texts of parts that stand beside it, where the body has none in those places."""
    if len(rules) > 1:
        known = {text[1] for text in side.texts}
        beside = {name: pointers for name, pointers in rules.items() if name in _BESIDE}
        side.texts += [text for text in _of_parts(beside, view, prompt=prompt).texts if text[1] not in known]
    return side


def _of_parts(rules: Mapping[str, tuple[Pointer, ...]], view: View, *, prompt: bool) -> Side:
    """The side that parts of a body make: messages here, a system text there."""
    encrypted = False
    body = {name: value for name in rules if name != "body" and (value := _first(rules[name], view)) is not None}
    if any(isinstance(value, Encrypted) for value in body.values()):
        encrypted, body = True, {}
    if body:
        cut = any(isinstance(value, CutObject | CutList) for value in body.values())
        side = _read(_as_request(body) if prompt else _as_response(body), view.context, prompt=prompt)
        if cut and side.state == "full":
            side.state = "truncated"
        return side
    return Side(state="encrypted" if encrypted else "absent")


def _first(pointers: tuple[Pointer, ...], view: View) -> Any:
    return next((value for pointer in pointers if (value := pointer.first(view)) is not None), None)


def _of_value(value: Any, context: FileContext, *, prompt: bool) -> Side:
    """The side that a value in place of a body makes."""
    cut = isinstance(value, CutObject | CutList)
    if not prompt:
        value = _streamed(value, context)
    if isinstance(value, str):
        inner = decoded(value, ("json*",), context)
        if not isinstance(inner, str):
            # An answer may itself be JSON: only what has the form of a body is one.
            side = _of_value(inner, context, prompt=prompt) if holds(inner) else Side()
            if side.texts or not holds(inner) or isinstance(inner, CutObject | CutList):
                return side
        value = {"prompt": value} if prompt else {"choices": [{"message": {"content": value}}]}
    elif isinstance(value, list):
        value = _of_list(value, prompt=prompt)
    if not isinstance(value, dict):
        return Side()
    side = _read(value if prompt else _of_message(value), context, prompt=prompt)
    if cut and side.state == "full":
        side.state = "truncated"
    return side


def _read(body: Object, context: FileContext, *, prompt: bool) -> Side:
    side = Side(body=body)
    found = (bodies.request_texts if prompt else bodies.response_texts)(body, side.texts)
    if found or side.texts:
        side.state = bodies.request_state(body) if prompt else "full"
    if prompt and _has_strange_message(body):
        context.notice("unknown_body")
        side.state = "truncated" if side.texts else "absent"
    return side


def _has_strange_message(body: Object) -> bool:
    """Whether a message holds something, but none of the keys that texts are read from."""
    messages = body.get("messages")
    return isinstance(messages, list) and any(
        isinstance(message, dict) and not message.keys() & _MESSAGE_TEXTS and bool(message.keys() - _MESSAGE_NAMES)
        for message in messages
    )


def _streamed(value: Any, context: FileContext) -> Any:
    """The body that a stream in place of it makes; anything else as it is."""
    if isinstance(value, str) and sse.is_stream(value):
        return stream_body(sse.assemble_text(value), context)
    if isinstance(value, list) and sse.is_chunks(value):
        return stream_body(sse.assemble_list(value), context)
    return value


def _of_list(values: list[Any], *, prompt: bool) -> Object | None:
    if prompt:
        if all(isinstance(value, str) for value in values):
            return {"prompt": values}
        listed = [value for value in values if isinstance(value, dict)]
        if any("parts" in value for value in listed):
            return {"contents": values}
        return {"messages": values} if all("role" in value for value in listed) else {"input": values}
    choices = [
        value if isinstance(value, dict) and ("message" in value or "text" in value) else {"message": value}
        for value in values
        if isinstance(value, dict | str)
    ]
    return {"choices": choices} if choices else None


def _of_message(value: Object) -> Object:
    """A message in place of a whole response becomes its only choice."""
    if bodies.is_response(value):
        return value
    if isinstance(value.get("message"), dict):
        return {**value, "choices": [value]}
    if value.get("role") in ("assistant", "model") and "content" in value:
        return {"choices": [{"message": value}]}
    return value


def _as_request(parts: Object) -> Object:
    messages = parts.get("messages")
    if isinstance(messages, str):
        parts = {**parts, "messages": [{"role": "user", "content": messages}]}
    elif isinstance(messages, dict):
        parts = {**parts, "messages": [messages]}
    return parts


def _as_response(parts: Object) -> Object:
    if isinstance(parts.get("choices"), list):
        return {"choices": parts["choices"]}
    message: Object = {name: parts[name] for name in _MESSAGE_PARTS if name in parts}
    if isinstance(message.get("content"), dict):
        message["content"] = compact(message["content"])
    return {"choices": [{"message": message}]}
