"""Chunks of a streamed answer put together: the pieces of each choice joined in the order of arrival, with their times.

Reads the chunks of chat and text completions, the events of the Responses API, of Anthropic's Messages and of Bedrock
Converse, and Gemini's partial answers. What is made is one body in the shape of a chat completion. A chunk that carries
another id than the stream's first becomes a choice of its own: a stray chunk is evidence, never part of the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from forensics.ingest import responses_api
from forensics.ingest.choices import Block, Choice, body_of, index_of, ranges_of, said
from forensics.ingest.parts import Piece, pieces_of
from forensics.ingest.record import Chunk

Object = dict[str, Any]
_ANTHROPIC = frozenset(
    (
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
        "ping",
    )
)
_CONVERSE = frozenset(
    ("messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "contentBlockIndex")
)
_SORTS = {
    "response.output_text": "text",
    "response.refusal": "refusal",
    "response.reasoning_text": "reasoning",
    "response.reasoning": "reasoning",
    "response.reasoning_summary_text": "reasoning",
    "response.function_call_arguments": "call",
    "response.custom_tool_call_input": "call",
    "response.mcp_call_arguments": "call",
    "response.code_interpreter_call_code": "call",
}
_WHOLE = {"response.output_text": "text", "response.refusal": "refusal"}
_FINAL = ("response.completed", "response.incomplete", "response.failed", "response.cancelled")


@dataclass(slots=True)
class Assembled:
    """The body of a stream. `complete`: it came to its end; `strays`: how many foreign ids it holds; `differs`: its
    last event repeats the answer and says something else, which stands as a further choice. `chunks` are the timed
    pieces of the choices' contents; times are UTC microseconds.
    """

    body: Object
    complete: bool
    strays: int = 0
    differs: bool = False
    chunks: list[Chunk] = field(default_factory=list)
    first_at: int | None = None
    last_at: int | None = None


def is_chunk(value: Object) -> bool:
    """Whether an object is a chunk of a stream, and not a whole answer."""
    kind = value.get("object")
    if isinstance(kind, str) and "choices" in value:
        return kind.endswith(("chunk", "text_completion"))
    kind = value.get("type")
    if isinstance(kind, str):
        return kind in _ANTHROPIC or kind.startswith("response.")
    if isinstance(value.get("candidates"), list):
        return True
    return not _CONVERSE.isdisjoint(value)


def assemble(chunks: Sequence[tuple[Object, int | None]], done: bool = False, done_at: int | None = None) -> Assembled:
    """The body that the chunks make; each comes with its time, if known. `done`: the stream said that it ended, and
    when.
    """
    stream = _Stream(done)
    stream.last_at = done_at
    for chunk, at in chunks:
        stream.add(chunk, at)
    return stream.end()


class _Stream:
    """The state of one stream."""

    def __init__(self, done: bool) -> None:
        self.body: Object = {}
        self.choices: dict[tuple[str, Any], Choice] = {}
        self.done = done
        self.final: Object | None = None
        self.items: dict[int, str] = {}  # of the Responses API: output index -> id of the item
        self.current = ""  # of Anthropic's events: the stray id they belong to, "" for the stream's own
        self.first_at: int | None = None
        self.last_at: int | None = None

    def add(self, chunk: Object, at: int | None) -> None:
        """Take one chunk."""
        if at is not None:
            self.last_at = at if self.last_at is None else max(self.last_at, at)
        if chunk.get("error"):
            self.body["error"] = chunk["error"]
        kind = chunk.get("type")
        if isinstance(chunk.get("choices"), list):
            self._openai(chunk, at)
        elif isinstance(kind, str) and kind.startswith("response."):
            self._responses(kind, chunk, at)
        elif isinstance(kind, str):
            self._anthropic(kind, chunk, at)
        elif "candidates" in chunk or "usageMetadata" in chunk or "usage_metadata" in chunk:
            self._gemini(chunk, at)
        elif "id" in chunk and not self.body.get("id") and isinstance(chunk["id"], str):
            self.body["id"] = chunk["id"]
        else:
            self._converse(chunk, at)

    def end(self) -> Assembled:
        """The answer."""
        own = [choice for (stray, _), choice in self.choices.items() if not stray]
        if self.final is not None:
            for choice in own:
                choice.finish = choice.finish or responses_api.finish_reason(self.final)
        finished = bool(own) and all(choice.finish is not None for choice in own)
        complete = (self.done or finished) and not self.body.get("error")
        # The stream's own choices first, so that their places are what they would be without strays.
        order = sorted(self.choices, key=lambda key: (key[0], key[1]))
        chunks: list[Chunk] = []
        listed: list[Object] = []
        for place, key in enumerate(order):
            choice = self.choices[key]
            listed.append(body_of(choice.pieces(), key[1], choice.finish))
            texts = [block for block in choice.blocks.values() if block.sort == "text" and any(block.pieces)]
            if len(texts) == 1 and any(at is not None for at in texts[0].times):
                chunks += ranges_of(place, texts[0])
        differs = False
        if self.final is not None:
            whole = responses_api.pieces_of(self.final)
            streamed = [piece for choice in own for piece in choice.pieces()]
            if not said(streamed):
                # The capture holds none of the deltas.
                last = body_of(whole, 0, responses_api.finish_reason(self.final))
                listed[: len(own)] = [last]
                chunks = [(place + 1 - len(own), seq, at, start, stop) for place, seq, at, start, stop in chunks]
            elif said(whole) != said(streamed):
                differs = True
                listed.append(body_of(whole, len(listed), responses_api.finish_reason(self.final)))
            complete = self.final.get("status") in ("completed", "incomplete") and not self.body.get("error")
        self.body["choices"] = listed
        foreign = sorted({stray for stray, _ in self.choices if stray})
        if foreign:
            self.body["stray_ids"] = foreign
        strays = len(foreign)
        return Assembled(self.body, complete, strays, differs, chunks, self.first_at, self.last_at)

    def _text(self, choice: Choice, key: Any, sort: str, piece: object, at: int | None) -> None:
        if not isinstance(piece, str):
            return
        block = choice.blocks.get(key)
        if block is None:
            block = choice.blocks[key] = Block(sort)
        block.pieces.append(piece)
        block.times.append(at)
        if piece and at is not None and self.first_at is None:
            self.first_at = at

    def _of(self, stray: str, index: Any) -> Choice:
        return self.choices.setdefault((stray, index), Choice())

    def _stray(self, own: object) -> str:
        """The id of a chunk where it is not the stream's; the first one names the stream."""
        if not isinstance(own, str) or not own:
            return ""
        if not self.body.get("id"):
            self.body["id"] = own
        return "" if own == self.body["id"] else own

    def _openai(self, chunk: Object, at: int | None) -> None:
        stray = self._stray(chunk.get("id"))
        for name in ("model", "created", "usage"):
            if chunk.get(name) and not (stray and self.body.get(name)):
                self.body[name] = chunk[name]
        for place, item in enumerate(chunk["choices"]):
            if not isinstance(item, dict):
                continue
            choice = self._of(stray, index_of(item.get("index"), place))
            reason = item.get("finish_reason")
            if isinstance(reason, str):
                choice.finish = reason
            self._text(choice, "text", "text", item.get("text"), at)
            delta = item.get("delta", item.get("message"))
            if isinstance(delta, dict):
                self._delta(choice, delta, at)

    def _delta(self, choice: Choice, delta: Object, at: int | None) -> None:
        content = delta.get("content")
        if isinstance(content, list):
            for part in content:
                for sort, value in pieces_of(part) if isinstance(part, dict) else ():
                    if sort in ("text", "reasoning", "refusal"):
                        self._text(choice, sort, sort, value, at)
        else:
            self._text(choice, "text", "text", content, at)
        reasoning = delta.get("reasoning_content")
        if not isinstance(reasoning, str):
            reasoning = delta.get("reasoning")
        self._text(choice, "reasoning", "reasoning", reasoning, at)
        self._text(choice, "refusal", "refusal", delta.get("refusal"), at)
        calls = delta.get("tool_calls")
        for place, call in enumerate(calls if isinstance(calls, list) else ()):
            if isinstance(call, dict):
                self._call(choice, ("call", index_of(call.get("index"), place)), call.get("function"), at)
        self._call(choice, ("call", 0), delta.get("function_call"), at)

    def _call(self, choice: Choice, key: Any, function: object, at: int | None) -> None:
        if not isinstance(function, dict):
            return
        block = choice.blocks.setdefault(key, Block("call"))
        if isinstance(function.get("name"), str):
            block.name.append(function["name"])
        self._text(choice, key, "call", function.get("arguments"), at)

    def _anthropic(self, kind: str, chunk: Object, at: int | None) -> None:
        if kind == "message_start":
            message = chunk.get("message")
            if isinstance(message, dict):
                self.current = self._stray(message.get("id"))
                self._usage(message, "usage")
                if not self.body.get("model") and isinstance(message.get("model"), str):
                    self.body["model"] = message["model"]
            self._of(self.current, 0)
            return
        if kind in ("ping", "content_block_stop", "message_stop", "error") or kind not in _ANTHROPIC:
            if kind == "message_stop":
                self.done = True
            return
        choice = self._of(self.current, 0)
        delta = chunk.get("delta")
        if kind == "message_delta":
            if isinstance(delta, dict) and isinstance(delta.get("stop_reason"), str):
                choice.finish = delta["stop_reason"]
            self._usage(chunk, "usage")
            return
        key = index_of(chunk.get("index"), 0)
        if kind == "content_block_start":
            self._block(choice, key, chunk.get("content_block"), at)
        elif isinstance(delta, dict):
            for field_name, sort in (("text", "text"), ("thinking", "reasoning"), ("partial_json", "call")):
                self._text(choice, key, sort, delta.get(field_name), at)

    def _block(self, choice: Choice, key: int, block: object, at: int | None) -> None:
        for sort, value in pieces_of(block) if isinstance(block, dict) else ():
            if sort == "call":
                name, arguments = value
                made = choice.blocks.setdefault(key, Block("call"))
                if isinstance(name, str):
                    made.name.append(name)
                made.value = arguments or None
            elif sort == "result":
                choice.blocks.setdefault(key, Block("result", value=value))
            elif value:
                self._text(choice, key, sort, value, at)

    def _usage(self, holder: Object, name: str) -> None:
        value = holder.get(name)
        if isinstance(value, dict) and not self.current:
            known = self.body.get("usage")
            fresh = {key: item for key, item in value.items() if item is not None}
            self.body["usage"] = {**known, **fresh} if isinstance(known, dict) else fresh

    def _responses(self, kind: str, chunk: Object, at: int | None) -> None:
        response = chunk.get("response")
        if isinstance(response, dict):
            stray = self._stray(response.get("id"))
            if not stray:
                for name in ("model", "usage", "error"):
                    if response.get(name):
                        self.body[name] = response[name]
                if kind in _FINAL:
                    self.final = response
            elif kind in _FINAL:
                for number, piece in enumerate(responses_api.pieces_of(response)):
                    self._whole(self._of(stray, 0), ("final", number), piece, at)
            return
        output = index_of(chunk.get("output_index"), 0)
        item = chunk.get("item")
        if isinstance(item, dict):
            own = item.get("id")
            if kind == "response.output_item.added" and isinstance(own, str):
                self.items.setdefault(output, own)
            stray = self._item_stray(output, own)
            if str(item.get("type")).endswith("_call"):
                choice = self._of(stray, 0)
                block = choice.blocks.setdefault((output, 0, "call"), Block("call"))
                called, arguments = responses_api.call_of(item)
                block.name = [called] if isinstance(called, str) else []
                if not block.pieces:
                    block.value = arguments
            return
        stem, _, last = kind.rpartition(".")
        sort = _SORTS.get(stem)
        if sort is None or last not in ("delta", "done"):
            return
        choice = self._of(self._item_stray(output, chunk.get("item_id")), 0)
        part = index_of(chunk.get("content_index", chunk.get("summary_index")), 0)
        key = (output, part, "call" if sort == "call" else stem)
        if last == "delta":
            self._text(choice, key, sort, chunk.get("delta"), at)
        elif key not in choice.blocks or not choice.blocks[key].pieces:
            # Its deltas are not in the capture.
            names = ("text", "refusal", "arguments", "input", "code")
            self._text(choice, key, sort, next((chunk[n] for n in names if n in chunk), None), at)

    def _whole(self, choice: Choice, key: Any, piece: Piece, at: int | None) -> None:
        sort, value = piece
        if sort == "call":
            name, arguments = value
            choice.blocks[key] = Block("call", name=[name] if isinstance(name, str) else [], value=arguments)
        elif sort == "result":
            choice.blocks[key] = Block("result", value=value)
        else:
            self._text(choice, key, sort, value, at)

    def _item_stray(self, output: int, own: object) -> str:
        """The id of an event's item where another item stands at its place."""
        if not isinstance(own, str) or not own:
            return ""
        known = self.items.setdefault(output, own)
        return "" if known == own else own

    def _gemini(self, chunk: Object, at: int | None) -> None:
        stray = self._stray(chunk.get("responseId", chunk.get("response_id")))
        model = chunk.get("modelVersion", chunk.get("model_version"))
        if isinstance(model, str) and not self.body.get("model"):
            self.body["model"] = model
        for name in ("usageMetadata", "usage_metadata"):
            if isinstance(chunk.get(name), dict) and not stray:
                self.body["usageMetadata"] = chunk[name]
        candidates = chunk.get("candidates")
        for place, candidate in enumerate(candidates if isinstance(candidates, list) else ()):
            if not isinstance(candidate, dict):
                continue
            choice = self._of(stray, index_of(candidate.get("index"), place))
            reason = candidate.get("finishReason", candidate.get("finish_reason"))
            if isinstance(reason, str) and reason:
                choice.finish = reason
            content = candidate.get("content")
            parts = content.get("parts") if isinstance(content, dict) else None
            for part in parts if isinstance(parts, list) else ():
                for sort, value in pieces_of(part) if isinstance(part, dict) else ():
                    # What other APIs' chunks of the same stream have as keys is never a pair that begins so.
                    key: Any = ("part", len(choice.blocks))
                    if sort in ("call", "result"):
                        self._whole(choice, key, (sort, value), at)
                    else:
                        last = next(reversed(choice.blocks), key)
                        same = last in choice.blocks and choice.blocks[last].sort == sort
                        self._text(choice, last if same else key, sort, value, at)

    def _converse(self, chunk: Object, at: int | None) -> None:
        """Events as the SDK gives them, in an object of their own name, and as they come, without it."""
        inner: Object = chunk
        for name in (*sorted(_CONVERSE), "metadata"):
            if isinstance(chunk.get(name), dict):
                inner = chunk[name]
                break
        reason = inner.get("stopReason")
        if isinstance(reason, str):
            self._of("", 0).finish = reason
        if isinstance(inner.get("usage"), dict):
            self.body["usage"] = inner["usage"]
        key = index_of(inner.get("contentBlockIndex"), 0)
        start, delta = inner.get("start"), inner.get("delta")
        if isinstance(start, dict):
            self._block(self._of("", 0), key, start, at)
        if isinstance(delta, dict):
            choice = self._of("", 0)
            self._text(choice, key, "text", delta.get("text"), at)
            use = delta.get("toolUse")
            if isinstance(use, dict):
                self._text(choice, key, "call", use.get("input"), at)
            reasoning = delta.get("reasoningContent")
            if isinstance(reasoning, dict):
                self._text(choice, key, "reasoning", reasoning.get("text"), at)
