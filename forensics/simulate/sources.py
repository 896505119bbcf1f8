"""Passages that can leak: texts of prompts and answers with their language and particulars. Chooses none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from forensics.simulate.requests import Choice, Message, Request


@dataclass(slots=True, eq=False)
class Passage:
    """One text of a request that may reach another one. `details` are (type, value) of its particulars."""

    source: Request
    text: str
    side: str
    fault: str
    language: str
    details: tuple[tuple[str, str], ...]


def prompts(request: Request, messages: Sequence[Message], fault: str) -> list[Passage]:
    """The private texts among `messages`, newest first; of code only the code."""
    found = []
    for message in reversed(messages):
        if message.private and not message.tainted and not message.joint and message.content:
            text = code_of(message.content) or message.content
            details = tuple((kind, value) for kind, value in message.details if value in text)
            language = language_of(message.content, message.language, message.role)
            found.append(Passage(request, text, "prompt", fault, language, details))
    return found


def answers(request: Request, choice: Choice, fault: str) -> list[Passage]:
    """The text of an answer, if it has one and is no form."""
    if not choice.content or request.shape:
        return []
    text = code_of(choice.content) or choice.content
    language = language_of(choice.content, request.language, "assistant")
    return [Passage(request, text, "response", fault, language, ())]


def code_of(text: str) -> str | None:
    """What stands in the fence, if there is one."""
    start = text.find("```")
    if start < 0:
        return None
    line = text.find("\n", start)
    end = text.find("\n```", line)
    return text[line + 1 : end] if 0 <= line < end else None


def language_of(text: str, language: str, role: str) -> str:
    """`code`, `json` or the language of the conversation."""
    if "```" in text:
        return "code"
    return "json" if role == "tool" or text[:1] in "[{" else language
