"""Texts and facts of a model call by OpenTelemetry's GenAI conventions of three generations, and OpenLLMetry's names.

Oldest: `gen_ai.prompt.N.*` and `gen_ai.completion.N.*`, one attribute a field (before: `llm.prompts.N.*`). Then: one
event a message, `gen_ai.user.message` to `gen_ai.choice`, in the span or in the log signal. Newest:
`gen_ai.input.messages`, `gen_ai.output.messages` and `gen_ai.system_instructions`, as JSON text or structured, in
attributes or in one event. Does not know OTLP's encoding, and makes no record.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from forensics.ingest import openai
from forensics.ingest.decode import CutList, CutObject, decoded
from forensics.ingest.parts import add_answer, add_listed, add_parts, answer_of
from forensics.ingest.record import FileContext, Text

Object = dict[str, Any]

CHUNK_EVENTS = ("gen_ai.content.completion.chunk", "llm.content.completion.chunk", "First Token Stream Event")
DETAILS = "gen_ai.client.inference.operation.details"
_MESSAGE_EVENTS = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
_ANSWER_EVENTS = ("gen_ai.choice", "gen_ai.completion", "gen_ai.content.completion")
_PROMPT_EVENTS = ("gen_ai.prompt", "gen_ai.content.prompt")
_MASKS = ("__redacted__", "[redacted]", "<redacted>", "redacted", "***", "[filtered]")
_MOST_DEPTH = 12
_CONTENT = ("content", "arguments", "response", "result", "tool_calls", "function_call", "text", "refusal", "user")
_FLAT = (("gen_ai.prompt.", "gen_ai.completion."), ("llm.prompts.", "llm.completions."))
_ANSWER_ATTRIBUTE = "gen_ai.output.messages"
_ASK_ATTRIBUTE = "gen_ai.input.messages"
_SYSTEM_ATTRIBUTE = "gen_ai.system_instructions"


@dataclass
class Event:
    """One event of a call: what it says, and when (UTC microseconds)."""

    name: str
    body: Object
    at: int | None = None


@dataclass
class Told:
    """What one source says of a call's texts."""

    texts: list[Text] = field(default_factory=list)
    prompt_state: str = "absent"
    response_state: str = "absent"
    finish: list[str] = field(default_factory=list)

    @property
    def finish_reason(self) -> str | None:
        """The finish reasons of the choices; several different ones are joined by a comma."""
        return ",".join(dict.fromkeys(self.finish)) or None


def told_of(attributes: Object, events: Sequence[Event], context: FileContext) -> Told:
    """The texts of a call: of each side from the newest convention that has it."""
    for event in events:
        if event.name == DETAILS:
            attributes = {**event.body, **attributes}
    told = Told()
    _prompt(told, attributes, events, context)
    _answer(told, attributes, events, context)
    masked(told)
    return told


def _prompt(told: Told, attributes: Object, events: Sequence[Event], context: FileContext) -> None:
    texts = told.texts
    value = unpacked(attributes.get(_ASK_ATTRIBUTE), context)
    system = unpacked(attributes.get(_SYSTEM_ATTRIBUTE), context)
    messages = _messages(value)
    if isinstance(system, str) and system:
        texts.append(("prompt", "system", "system", system))
    elif isinstance(system, list):
        add_parts("system", _parts(system), "prompt", "system", texts)
    if messages is not None:
        cut = isinstance(value, CutList | CutObject) or isinstance(system, CutList | CutObject)
        told.prompt_state = _state(messages, cut=cut)
    elif isinstance(value, str) and value:
        texts.append(("prompt", "prompt", "prompt", value))
        told.prompt_state = "truncated" if value.lstrip()[:1] in ("[", "{") else "full"
    elif flat := next((found for ask, _ in _FLAT if (found := listed(attributes, ask))), None):
        messages = [_flat_message(item, context) for item in flat if isinstance(item, dict)]
        told.prompt_state = _state(messages, cut=_has_gap(attributes))
    elif (messages := _asked(events, context)) is not None:
        told.prompt_state = _state(messages)
    elif f"{_ASK_ATTRIBUTE}_ref" in attributes:
        told.prompt_state = "offloaded"
    elif texts:
        told.prompt_state = "truncated"  # the system's part alone
    for i, message in enumerate(messages or ()):
        role = _role(message)
        parts = message.get("parts")
        if isinstance(parts, list):
            add_listed(f"messages[{i}]", _parts(parts), "prompt", role, texts)
        else:
            openai.add_message(f"messages[{i}]", message, "prompt", role, texts)
    tools = unpacked(attributes.get("gen_ai.tool.definitions"), context) or listed(attributes, "llm.request.functions.")
    if isinstance(tools, list):
        openai.request_texts({"tools": tools}, texts)


def _answer(told: Told, attributes: Object, events: Sequence[Event], context: FileContext) -> None:
    value = unpacked(attributes.get(_ANSWER_ATTRIBUTE), context)
    choices = _messages(value)
    if choices is not None:
        told.response_state = _state(choices, cut=isinstance(value, CutList | CutObject))
    elif isinstance(value, str) and value:
        told.texts.append(("response", "choices[0].content", "response", value))
        told.response_state = "truncated" if value.lstrip()[:1] in ("[", "{") else "full"
    elif flat := next((found for _, answer in _FLAT if (found := listed(attributes, answer))), None):
        choices = [_flat_message(item, context) for item in flat if isinstance(item, dict)]
        told.response_state = _state(choices)
    elif (choices := _answered(events, context)) is not None:
        told.response_state = _state(choices)
    elif f"{_ANSWER_ATTRIBUTE}_ref" in attributes:
        told.response_state = "offloaded"
    for i, choice in enumerate(choices or ()):
        parts = choice.get("parts")
        if isinstance(parts, list):
            add_answer(i, answer_of(_parts(parts)), told.texts)
        else:
            openai.add_message(f"choices[{i}]", choice, "response", "response", told.texts)
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason:
            told.finish.append(reason)


def masked(told: Told) -> None:
    """Take the words out that a mask wrote in place of a text; that side is redacted then."""
    kept: list[Text] = []
    for text in told.texts:
        if len(text[3]) <= 16 and text[3].strip().lower() in _MASKS:
            if text[0] == "prompt":
                told.prompt_state = "redacted"
            else:
                told.response_state = "redacted"
        else:
            kept.append(text)
    told.texts = kept


def listed(attributes: Object, prefix: str) -> list[Any]:
    """The list that flat attributes `PREFIX0.a.b`, `PREFIX1...` spell, in the order of its numbers."""
    root: Object = {}
    for key, value in attributes.items():
        if not key.startswith(prefix):
            continue
        path = key[len(prefix) :].split(".")
        if not path[0].isdecimal() or len(path) > _MOST_DEPTH:
            continue
        node = root
        for step in path[:-1]:
            inner = node.setdefault(step, {})
            if not isinstance(inner, dict):
                break
            node = inner
        else:
            node.setdefault(path[-1], value)
    found = _unflat(root)
    return found if isinstance(found, list) else []


def _unflat(node: Any) -> Any:
    if not isinstance(node, dict):
        return node
    if node and all(key.isdecimal() and len(key) < 10 for key in node):
        return [_unflat(node[key]) for key in sorted(node, key=int)]
    return {key: _unflat(value) for key, value in node.items()}


def _has_gap(attributes: Object) -> bool:
    """Whether a number between two messages is missing: a limit of attributes took it."""
    for prefix, _ in _FLAT:
        rests = (key[len(prefix) :].partition(".")[0] for key in attributes if key.startswith(prefix))
        numbers = {int(rest) for rest in rests if rest.isdecimal() and len(rest) < 10}
        if numbers and max(numbers) + 1 != len(numbers):
            return True
    return False


def unpacked(value: Any, context: FileContext) -> Any:
    """A value whose text is a JSON list or object as that; any other as it is."""
    return decoded(value, ("json",), context) if isinstance(value, str) and value.strip()[:1] in ("[", "{") else value


def _messages(value: Any) -> list[Object] | None:
    """The messages of a list, of an object that is one, or None."""
    if isinstance(value, dict):
        inner = value.get("messages")
        value = inner if isinstance(inner, list) else [value]
    if not isinstance(value, list):
        return None
    made = [{"role": "user", "content": item} if isinstance(item, str) else item for item in value]
    return [item for item in made if isinstance(item, dict)]


def _role(message: Object) -> str:
    role = message.get("role")
    return openai.ROLES.get(role, "user") if isinstance(role, str) else "user"


def _state(messages: Sequence[Object], *, cut: bool = False) -> str:
    """Whether messages have texts at all; roles alone mean that content is not captured."""
    if cut:
        return "truncated"
    return "full" if any(_has_content(message) for message in messages) else "not_logged"


def _has_content(message: Object) -> bool:
    parts = message.get("parts")
    if isinstance(parts, list):
        return any(
            isinstance(part, str) or (isinstance(part, dict) and any(part.get(key) is not None for key in _CONTENT))
            for part in parts
        )
    calls = message.get("tool_calls")
    if isinstance(calls, list) and message.get("content") is None:
        # With capture off a call keeps its name and loses its arguments.
        inner = [call.get("function", call) for call in calls if isinstance(call, dict)]
        return any(isinstance(call, dict) and call.get("arguments") is not None for call in inner)
    return any(message.get(key) is not None for key in _CONTENT)


def _parts(parts: Sequence[Any]) -> list[Any]:
    """Parts of the newest convention in the shape that `parts` reads; what is no text keeps its place."""
    made: list[Any] = []
    for part in parts:
        if not isinstance(part, dict):
            made.append(part)
            continue
        kind = part.get("type")
        content = part.get("content")
        if kind in ("text", "refusal") and isinstance(content, str):
            made.append({"type": kind, "text": content, "refusal": content})
        elif kind in ("reasoning", "thinking") and isinstance(content, str):
            made.append({"type": "thinking", "thinking": content})
        elif kind in ("tool_call", "server_tool_call"):
            arguments = part.get("arguments", part.get("server_tool_call"))
            made.append({"type": "tool_use", "name": part.get("name"), "input": arguments})
        elif kind in ("tool_call_response", "server_tool_call_response"):
            found = next(
                (part[k] for k in ("response", "result", "content", "server_tool_call_response") if k in part), None
            )
            made.append({"type": "tool_result", "content": found})
        elif kind in ("blob", "uri", "file"):
            made.append({"type": kind})
        elif isinstance(content, str):
            made.append({"type": "text", "text": content})
        else:
            made.append(part)
    return made


def _flat_message(item: Object, context: FileContext) -> Object:
    """A message whose fields were attributes; a list of parts is JSON text there."""
    message = dict(item)
    if "content" not in message and isinstance(message.get("user"), str):
        message = {"role": "user", "content": message["user"]}
    message["content"] = _content(message.get("content"), context)
    if message["content"] is None:
        del message["content"]
    return message


def _content(value: Any, context: FileContext) -> Any:
    """A content as text or parts. A text that is JSON stays a text unless it is a list of typed parts."""
    if isinstance(value, str) and value[:1] == "[":
        found = decoded(value, ("json",), context)
        return found if _is_parts(found) else value
    if isinstance(value, dict):
        inner = value.get("parts")
        return inner if isinstance(inner, list) else [value]
    return value


def _is_parts(value: Any) -> bool:
    if not isinstance(value, list) or isinstance(value, CutList) or not value:
        return False
    return all(isinstance(part, dict) and ("type" in part or "text" in part) for part in value)


def _asked(events: Sequence[Event], context: FileContext) -> list[Object] | None:
    """The messages of a prompt that events tell, in their order; None where none does."""
    found: list[Object] | None = None
    for event in events:
        role = _MESSAGE_EVENTS.get(event.name)
        if role is not None:
            message = _event_message(event.body, context)
            message.setdefault("role", role)
            found = [*(found or ()), message]
        elif event.name in _PROMPT_EVENTS:
            value = unpacked(event.body.get("gen_ai.prompt", event.body), context)
            found = [*(found or ()), *(_messages(value) or ())]
    return found


def _answered(events: Sequence[Event], context: FileContext) -> list[Object] | None:
    """The choices that events tell, by index; None where none does."""
    found: list[tuple[int, Object]] | None = None
    for event in events:
        if event.name not in _ANSWER_EVENTS:
            continue
        body = event.body
        value = unpacked(body["gen_ai.completion"], context) if "gen_ai.completion" in body else body
        for choice in _messages(value) or ():
            inner = unpacked(choice.get("message"), context)
            if isinstance(inner, list | str):
                inner = {"content": inner}
            message = _event_message(inner if isinstance(inner, dict) else choice, context)
            if isinstance(reason := choice.get("finish_reason"), str):
                message["finish_reason"] = reason
            index = choice.get("index")
            number = index if isinstance(index, int) and not isinstance(index, bool) else len(found or ())
            found = [*(found or ()), (number, message)]
    return None if found is None else [message for _, message in sorted(found, key=lambda pair: pair[0])]


def _event_message(body: Object, context: FileContext) -> Object:
    message = {key: value for key, value in body.items() if not key.startswith(("gen_ai.", "event."))}
    if "content" in message:
        message["content"] = _content(message["content"], context)
    if isinstance(message.get("tool_calls"), str):
        message["tool_calls"] = unpacked(message["tool_calls"], context)
    return message
