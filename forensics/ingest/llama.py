"""What llama.cpp's server says of its slots, message by message, in the words of all its eras. Remembers nothing.

A message is matched without the function name before it, which moves from release to release. Of a message only
numbers and the kind are kept.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from forensics.ingest import bodies
from forensics.ingest.counts import Number, number, whole
from forensics.ingest.record import EngineEvent, Record, Text

# The names that the server gives its numbers; the text of a token, which DEBUG lines hold, must not become one.
_VALUE = re.compile(
    r"\b((?:n|f|t|tg|pos|lcs|lcp|sim|is|id|progress|truncated|task)(?:[_.]\w{1,30}){0,4})"
    r"(?:\(\))? ?= ?(-?\d{1,18}(?:\.\d{1,9})?)"
)
_SPAN = re.compile(r"\[(-?\d{1,12}), end\)")
_SHIFT = re.compile(r"with size (\d{1,12}), shifting KV cache \[(\d{1,12}), (\d{1,12})\) -> \[(\d{1,12}), (\d{1,12})\)")
_TIMING = re.compile(
    r"\s*(prompt eval|generation eval|eval|total) time\s*= *(\d{1,12}(?:\.\d{1,6})?) ms"
    r"(?: / *(\d{1,12}) (?:tokens|runs))?"
)
_TOKENS = re.compile(r"with (?:length )?(\d{1,12}) tokens|with length (\d{1,12})")
_CHILD = re.compile(r"copying state to child (\d{1,12})")

# First words of a message, and the event's kind. The longer start stands first.
_KINDS: tuple[tuple[str, str], ...] = (
    ("selected slot by LCP", "slot_selected"),
    ("selected slot by lcs", "slot_selected"),
    ("selected slot by lcp", "slot_selected"),
    ("selected slot by LRU", "slot_selected"),
    ("selected slot by lru", "slot_selected"),
    ("selected slot by id", "slot_selected"),
    ("processing task", "slot_busy"),
    ("slot is processing task", "slot_busy"),
    ("is processing", "slot_busy"),
    ("new slot", "slot_new"),
    ("new prompt", "prompt_loaded"),
    ("kv cache rm", "cache_reuse"),
    ("cached n_tokens", "cache_reuse"),
    ("n_tokens = ", "cache_reuse"),
    ("reusing chunk", "cache_shift"),
    ("prompt processing progress", "prompt_progress"),
    ("prompt processing done", "prompt_done"),
    ("prompt processing,", "prompt_progress"),
    ("prompt done", "prompt_done"),
    ("n_decoded =", "decode_progress"),
    ("n_gen =", "decode_progress"),
    ("stop processing", "slot_free"),
    ("slot released", "slot_free"),
    ("released", "slot_free"),
    ("slot context shift", "context_shift"),
    ("input truncated", "input_truncated"),
    ("saving idle slot", "prompt_cache_save"),
    ("saving prompt with length", "prompt_cache_save"),
    ("found better prompt", "prompt_cache_load"),
    ("clearing prompt", "prompt_clear"),
    ("purging slot", "prompt_clear"),
    ("restored context checkpoint", "checkpoint_restore"),
    ("copying state to child", "slot_copied"),
    ("waiting for parent slot", "child_waits"),
    ("cancel task", "cancel"),
    ("all slots are idle", "all_idle"),
    ("initializing", "slots_initialized"),
)
_TIMINGS = {"prompt eval": "prompt_timing", "eval": "decode_timing", "generation eval": "decode_timing"}
STARTS = (
    "initializing",
    "loading model",
    "model loaded",
    "server is listening",
    "listening on",
    "HTTP server listening",
)
_EXTRA = re.compile(r"[a-z][\w.]{0,40}")
_OWN = frozenset(
    ("tid", "timestamp", "level", "function", "line", "msg", "message", "id_slot", "id_task", "slot_id", "task_id")
)


def event_of(message: str, slot: str | None, task: int | None) -> EngineEvent | None:
    """The event that a message states, or None."""
    text = message.strip(" \r\n").removeprefix("- ")
    timing = _TIMING.match(text)
    if timing is not None:
        sort, milliseconds, tokens = timing.groups()
        event = EngineEvent(_TIMINGS.get(sort, "total_timing"), slot=slot)
        event.counts["duration_ms"] = float(milliseconds)
        if tokens is not None:
            event.counts["tokens"] = int(tokens)
    else:
        kind = next((kind for start, kind in _KINDS if text.startswith(start)), None)
        if kind is None or (kind == "cache_reuse" and "[" not in text):
            return None
        event = EngineEvent(kind, slot=slot)
        _numbers(event, text)
        if kind == "slots_initialized" and "n_slots" not in event.counts:
            return None
    if task is not None:
        event.counts["task"] = task
    return event


def _numbers(event: EngineEvent, text: str) -> None:
    for name, value in _VALUE.findall(text[:2000].partition("next token")[0]):
        read = number(value)
        if read is not None:
            event.counts.setdefault(name.replace(".", "_").lower(), read)
    found = event.counts
    if event.kind == "cache_reuse" and (span := _SPAN.search(text)) is not None:
        found["kept"] = int(span.group(1))
    elif event.kind == "cache_shift" and (shift := _SHIFT.search(text)) is not None:
        names = ("size", "from_start", "from_end", "to_start", "to_end")
        found.update(zip(names, map(int, shift.groups()), strict=True))
    elif event.kind in ("prompt_clear", "prompt_cache_save") and (tokens := _TOKENS.search(text)) is not None:
        found["tokens"] = int(tokens.group(1) or tokens.group(2))
    elif event.kind == "slot_copied" and (child := _CHILD.search(text)) is not None:
        found["child_slot"] = int(child.group(1))
    elif event.kind == "slot_selected":
        words = text[len("selected slot by ") :][:3].lower()
        event.attributes["by"] = "similarity" if words in ("lcp", "lcs") else "lru" if words == "lru" else "id"
    elif event.kind == "cancel" and "id_task" in found:
        found["task"] = found.pop("id_task")
    if event.kind == "prompt_clear" and event.slot is None and text.startswith("purging slot "):
        event.slot = text.split(" ", 3)[2][:9]


def event_of_fields(message: str, values: Mapping[str, Any]) -> EngineEvent | None:
    """The event of a line of the years when a line was a message and named values."""
    slot = values.get("id_slot", values.get("slot_id"))
    task = values.get("id_task", values.get("task_id"))
    slot = slot if isinstance(slot, int) and not isinstance(slot, bool) else None
    task = task if isinstance(task, int) and not isinstance(task, bool) else None
    if message.startswith("kv cache rm"):
        kept = values.get("p0")
        event = EngineEvent("cache_reuse", slot=str(slot) if slot is not None else None)
        if isinstance(kept, int) and not isinstance(kept, bool):
            event.counts["kept"] = kept
        if task is not None:
            event.counts["task"] = task
        return event
    found = event_of(message, str(slot) if slot is not None else None, task)
    if found is None and message.startswith("initializing slots"):
        found = EngineEvent("slots_initialized")
    if found is None or found.kind.endswith("_timing"):
        return found
    for name, value in values.items():
        known: Number | None = (
            int(value) if isinstance(value, bool) else value if isinstance(value, int | float) else None
        )
        if known is not None and name not in _OWN and _EXTRA.fullmatch(name) and len(found.counts) < 32:
            found.counts.setdefault(name.replace(".", "_"), known)
    return found


def body_facts(record: Record, request: dict[str, Any] | None, response: dict[str, Any] | None) -> None:
    """Fill `record` from the bodies of a call, of the OpenAI-like entry points or of the server's own."""
    texts: list[Text] = []
    record.texts = texts
    if request is not None:
        record.prompt_state = "full" if bodies.request_texts(request, texts) else "not_logged"
        bodies.request_facts(record, request)
    if response is None:
        return
    native = isinstance(response.get("content"), str) and "choices" not in response
    if native and "tokens_evaluated" in response:
        if response["content"]:
            texts.append(("response", "choices[0].content", "response", response["content"]))
        record.response_state = "full"
        record.prompt_tokens = whole(response.get("tokens_evaluated"))
        record.completion_tokens = whole(response.get("tokens_predicted"))
        reason = response.get("stop_type")
        record.finish_reason = reason if isinstance(reason, str) and reason else None
        slot = response.get("id_slot")
        if isinstance(slot, int) and not isinstance(slot, bool):
            record.ids["slot"] = str(slot)
    elif bodies.response_texts(response, texts):
        record.response_state = "full"
    bodies.response_facts(record, response)
    timings = response.get("timings")
    if isinstance(timings, dict):
        record.cached_tokens = (
            record.cached_tokens if record.cached_tokens is not None else whole(timings.get("cache_n"))
        )
