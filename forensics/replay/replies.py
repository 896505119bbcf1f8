"""What has come of a request? Answers and events of streams, of /generate and of the OpenAI forms, gathered.

Reads what was received; receives nothing. Tool calls are text and never run.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any


class Nonsense(Exception):
    """The server answers something that SGLang does not send. The message is one of ours."""


@dataclass
class Reply:
    """What has come of one request so far. `first_ms`: milliseconds to the first text. `error`: why it is not whole."""

    texts: dict[int, str] = field(default_factory=dict)
    finish: str | None = None
    status: int | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    first_ms: float | None = None
    error: str = ""
    pieces: int = 0  # events of a stream that carried text
    enough: int | None = None  # tokens at which `reached` is set
    reached: asyncio.Event = field(default_factory=asyncio.Event)
    sent: asyncio.Event = field(default_factory=asyncio.Event)  # the request is on its way, or never will be

    def count(self) -> None:
        """After a piece of a stream: have enough tokens come?"""
        if self.enough is not None and (self.completion_tokens or self.pieces) >= self.enough:
            self.reached.set()

    @property
    def text(self) -> str:
        """All choices, one after the other."""
        return "\n".join(self.texts[index] for index in sorted(self.texts))


def take(found: Any, reply: Reply, *, piece: bool = False, incremental: bool = False) -> None:
    """Put one JSON answer, or one event of a stream (`piece`), into `reply`. Knows /generate and the OpenAI forms."""
    if isinstance(found, list):  # /generate with n > 1
        for index, one in enumerate(found):
            _native(one, reply, index, incremental)
        return
    if not isinstance(found, dict):
        raise Nonsense("nonsense")
    if found.get("error") is not None:
        reply.error = "error in the stream" if piece else "error"
        return
    if "choices" in found:
        _compatible(found, reply, piece)
    elif "text" in found or "meta_info" in found:
        _native(found, reply, _whole_number(found.get("index")) or 0, incremental)
    else:
        raise Nonsense("nonsense")


def _native(found: Any, reply: Reply, index: int, incremental: bool) -> None:
    if not isinstance(found, dict):
        raise Nonsense("nonsense")
    text, meta = found.get("text", ""), found.get("meta_info", {})
    if not isinstance(text, str) or not isinstance(meta, dict):
        raise Nonsense("nonsense")
    reply.texts[index] = reply.texts.get(index, "") + text if incremental else text
    reason = meta.get("finish_reason")
    if isinstance(reason, dict):
        reason = reason.get("type")
    if isinstance(reason, str):
        reply.finish = reason
    for name in ("prompt_tokens", "completion_tokens", "cached_tokens"):
        number = _whole_number(meta.get(name))
        if number is not None:
            setattr(reply, name, number)


def _compatible(found: dict[str, Any], reply: Reply, piece: bool) -> None:
    choices = found["choices"]
    if not isinstance(choices, list):
        raise Nonsense("nonsense")
    for choice in choices:
        if not isinstance(choice, dict):
            raise Nonsense("nonsense")
        index = _whole_number(choice.get("index")) or 0
        said = choice.get("delta" if piece else "message")
        text = choice["text"] if isinstance(choice.get("text"), str) else _said(said)
        reply.texts[index] = reply.texts.get(index, "") + text
        if isinstance(choice.get("finish_reason"), str):
            reply.finish = choice["finish_reason"]
    usage = found.get("usage")
    if isinstance(usage, dict):
        details = usage.get("prompt_tokens_details")
        for name, value in (
            ("prompt_tokens", usage.get("prompt_tokens")),
            ("completion_tokens", usage.get("completion_tokens")),
            ("cached_tokens", details.get("cached_tokens") if isinstance(details, dict) else None),
        ):
            if _whole_number(value) is not None:
                setattr(reply, name, value)


def _said(message: Any) -> str:
    """Everything a message says, tool calls included: names and arguments as text."""
    if not isinstance(message, dict):
        return ""
    parts = [message.get(name) for name in ("reasoning_content", "reasoning", "content", "refusal")]
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict):
            parts += [function.get("name"), function.get("arguments")]
    return "".join(part for part in parts if isinstance(part, str))


def _whole_number(value: Any) -> int | None:
    """A count that a server may give; None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 40 else None
