"""The texts inside content parts, whichever API wrote them: OpenAI, Anthropic, Bedrock Converse, Gemini. Knows no body.

A part is a text, a piece of reasoning, a refusal, a tool's call, or a tool's result. Pictures, sound and files yield
no text. Field paths, for a prompt (`P` = `messages[i]`):

* texts stand at their place in the list: `P.content[j].text`, those inside a result at `P.content[j].content[k].text`;
* reasoning is `P.reasoning`, refusals are `P.refusal`; where there are several, `P.reasoning[n].text`;
* the n-th call is `P.tool_calls[n].function.name` and `.arguments`.

For an answer made of blocks (`P` = `choices[i]`) the only text is `P.content`; of several the n-th is
`P.content[n].text`, counted among the texts.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import orjson

from forensics.ingest.record import Reject, Text

Object = dict[str, Any]
# (sort, value): text, reasoning, refusal: a string; call: (name, arguments); result: a string or a list of parts
Piece = tuple[str, Any]

MOST_DEPTH = 8
_TYPED_TEXTS = ("text", "input_text", "output_text", "summary_text")
_CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")


def compact(value: object) -> str:
    """JSON text without spaces, keys in the order of the log."""
    try:
        return orjson.dumps(value).decode()
    except (orjson.JSONEncodeError, TypeError, RecursionError):
        pass
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (RecursionError, ValueError, TypeError):
        raise Reject("too_deep") from None


def pieces_of(part: Object) -> list[Piece]:
    """What one part holds, in order."""
    kind = part.get("type")
    if isinstance(kind, str):
        return _typed(kind, part)
    return _untyped(part)


def _typed(kind: str, part: Object) -> list[Piece]:
    """A part that says its type: OpenAI's and Anthropic's."""
    text = part.get("text")
    if kind in _TYPED_TEXTS:
        return [("text", text)] if isinstance(text, str) else []
    if kind in ("thinking", "reasoning", "reasoning_text"):
        return _reasoning(part)
    if kind == "refusal":
        return [("refusal", part["refusal"])] if isinstance(part.get("refusal"), str) else []
    if kind in _CALLS:
        return [("call", (part.get("name"), part.get("input")))]
    if kind == "tool_result" or kind.endswith("_tool_result") or kind == "search_result":
        return [("result", part.get("content"))]
    if kind == "document":
        source = part.get("source")
        pieces: list[Piece] = [("text", part[name]) for name in ("title", "context") if isinstance(part.get(name), str)]
        if isinstance(source, dict) and source.get("type") == "text":
            pieces.append(("text", source.get("data")))
        elif isinstance(source, dict) and source.get("type") == "content":
            pieces.append(("result", source.get("content")))
        return pieces
    # A type that is not known: its text is text all the same.
    return [("text", text)] if isinstance(text, str) else []


def _reasoning(part: Object) -> list[Piece]:
    for name in ("thinking", "text", "reasoning"):
        value = part.get(name)
        if isinstance(value, str):
            return [("reasoning", value)]
        if isinstance(value, list):
            return [("reasoning", item["text"]) for item in value if isinstance(item, dict) and "text" in item]
    return []


def _untyped(part: Object) -> list[Piece]:
    """A part told by its keys: Bedrock Converse's, Gemini's (camel and snake case), and plain `{"text": ...}`."""
    pieces: list[Piece] = []
    for key, value in part.items():
        if key == "text":
            pieces.append(("reasoning" if part.get("thought") is True else "text", value))
        elif key in ("refusal", "thinking", "reasoning") and isinstance(value, str):
            pieces.append(("refusal" if key == "refusal" else "reasoning", value))
        elif not isinstance(value, dict):
            continue
        elif key in ("toolUse", "tool_use"):
            pieces.append(("call", (value.get("name"), value.get("input"))))
        elif key in ("functionCall", "function_call"):
            pieces.append(("call", (value.get("name"), value.get("args", value.get("arguments")))))
        elif key in ("toolResult", "tool_result"):
            pieces.append(("result", value.get("content")))
        elif key in ("functionResponse", "function_response"):
            pieces.append(("result", value.get("response")))
        elif key == "reasoningContent":
            inner = value.get("reasoningText")
            pieces.append(("reasoning", inner.get("text") if isinstance(inner, dict) else value.get("text")))
        elif key == "guardContent":
            inner = value.get("text")
            pieces.append(("text", inner.get("text") if isinstance(inner, dict) else None))
        elif key == "document":
            source = value.get("source")
            if isinstance(source, dict):
                pieces.append(("text", source.get("text")))
                pieces.append(("result", source.get("content")))
        elif key in ("citationsContent", "searchResult"):
            pieces.append(("result", value.get("content")))
        elif key in ("executableCode", "executable_code"):
            pieces.append(("text", value.get("code")))
        elif key in ("codeExecutionResult", "code_execution_result"):
            pieces.append(("text", value.get("output")))
    return pieces


def add_call(path: str, name: object, arguments: object, side: str, role: str, texts: list[Text]) -> None:
    """Append a call's name and arguments; `path` ends before `.name`. Arguments that are no text become JSON."""
    if isinstance(name, str) and name:
        texts.append((side, f"{path}.name", role, name))
    if isinstance(arguments, str):
        if arguments:
            texts.append((side, f"{path}.arguments", role, arguments))
    elif isinstance(arguments, dict | list):
        texts.append((side, f"{path}.arguments", role, compact(arguments)))


def add_listed(path: str, content: Sequence[Any], side: str, role: str, texts: list[Text]) -> None:
    """Append the texts of a content list, each at its place in the list; `path` ends before `.content`."""
    aside: dict[str, list[Any]] = {}
    _listed(f"{path}.content", content, side, role, texts, aside, 0)
    _aside(path, aside, side, role, texts)


def add_parts(path: str, content: Sequence[Any], side: str, role: str, texts: list[Text]) -> None:
    """Append the texts of a list that is no message's content (`system`, `instructions`); `path` is the list's own."""
    _listed(path, content, side, role, texts, {}, 0)


def _listed(
    path: str,
    content: Sequence[Any],
    side: str,
    role: str,
    texts: list[Text],
    aside: dict[str, list[Any]],
    depth: int,
) -> None:
    for j, part in enumerate(content):
        if isinstance(part, str):
            if part:
                texts.append((side, f"{path}[{j}]", role, part))
        elif isinstance(part, dict):
            for sort, value in pieces_of(part):
                if sort == "text":
                    if isinstance(value, str) and value:
                        texts.append((side, f"{path}[{j}].text", role, value))
                elif sort == "result":
                    _result(f"{path}[{j}]", value, side, texts, aside, depth)
                else:
                    aside.setdefault(sort, []).append(value)


def _result(path: str, value: object, side: str, texts: list[Text], aside: dict[str, list[Any]], depth: int) -> None:
    if isinstance(value, str):
        if value:
            texts.append((side, f"{path}.text", "tool", value))
    elif isinstance(value, list) and depth < MOST_DEPTH:
        for k, item in enumerate(value):
            # Converse gives results as JSON beside texts.
            if isinstance(item, dict) and isinstance(item.get("json"), dict | list):
                texts.append((side, f"{path}.content[{k}].json", "tool", compact(item["json"])))
        _listed(f"{path}.content", value, side, "tool", texts, aside, depth + 1)
    elif isinstance(value, dict) and value:
        texts.append((side, f"{path}.text", "tool", compact(value)))


def _aside(path: str, aside: dict[str, list[Any]], side: str, role: str, texts: list[Text]) -> None:
    for sort in ("reasoning", "refusal"):
        found = [value for value in aside.get(sort, ()) if isinstance(value, str) and value]
        for n, value in enumerate(found):
            texts.append((side, f"{path}.{sort}" if len(found) == 1 else f"{path}.{sort}[{n}].text", role, value))
    for n, (name, arguments) in enumerate(aside.get("call", ())):
        add_call(f"{path}.tool_calls[{n}].function", name, arguments, side, role, texts)


def add_answer(choice: int, pieces: Sequence[Piece], texts: list[Text]) -> None:
    """Append an answer that is made of blocks."""
    path = f"choices[{choice}]"
    aside: dict[str, list[Any]] = {}
    found: list[str] = []
    results: list[Any] = []
    for sort, value in pieces:
        if sort == "text":
            if isinstance(value, str) and value:
                found.append(value)
        elif sort == "result":
            results.append(value)
        else:
            aside.setdefault(sort, []).append(value)
    for n, value in enumerate(found):
        field = f"{path}.content" if len(found) == 1 else f"{path}.content[{n}].text"
        texts.append(("response", field, "response", value))
    _aside(path, aside, "response", "response", texts)
    # What a tool of the service found stands in the answer as well.
    for n, value in enumerate(results):
        if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
            inner: list[Piece] = [piece for item in value for piece in pieces_of(item) if piece[0] == "text"]
            value = "\n".join(item for _, item in inner if isinstance(item, str))
        _result(f"{path}.results[{n}]", value, "response", texts, {}, 0)


def answer_of(parts: Sequence[Any]) -> list[Piece]:
    """The pieces of a list of blocks."""
    pieces: list[Piece] = []
    for part in parts:
        if isinstance(part, dict):
            pieces += pieces_of(part)
        elif isinstance(part, str):
            pieces.append(("text", part))
    return pieces
