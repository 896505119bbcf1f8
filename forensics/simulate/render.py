"""What the logs show of a request: chat template, response fields, log records. Writes nothing.

Two forms: `sglang` (engine request log: one text per prompt and answer, plus a gateway line that knows the tenant) and
`house` (one record with OpenAI-shaped messages and choices).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from forensics.simulate.requests import Choice, Message, Request, ToolCall

_ROLES = {"system": "<|system|>", "user": "<|user|>", "assistant": "<|assistant|>", "tool": "<|observation|>"}


def prompt_text(messages: Sequence[Message]) -> str:
    """The conversation under the model's chat template, as the engine sees it."""
    pieces = ["[gMASK]<sop>"]
    for message in messages:
        call = f"\n{tool_text(message.tool_call)}" if message.tool_call else ""
        pieces.append(f"{_ROLES[message.role]}\n{message.content or ''}{call}")
    pieces.append("<|assistant|>\n")
    return "".join(pieces)


def tool_text(call: ToolCall) -> str:
    """A tool call as the model writes it."""
    arguments = "".join(
        f"<arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value>\n"
        for key, value in json.loads(call.arguments).items()
    )
    return f"<tool_call>{call.name}\n{arguments}</tool_call>"


def output_text(choice: Choice) -> str:
    """An answer as the engine logs it: reasoning, content and tool call in one text."""
    thought = f"<think>{choice.reasoning}</think>\n" if choice.reasoning else ""
    call = tool_text(choice.tool_call) if choice.tool_call else ""
    return f"{thought}{choice.content or ''}{call}"


def fields(request: Request, form: str) -> list[tuple[str, str, str, int]]:
    """Response fields as (field path, text, part, choice). In the engine form everything is one text."""
    found: list[tuple[str, str, str, int]] = []
    for number, choice in enumerate(request.choices):
        if form == "sglang":
            found.append((f"choices[{number}].content", output_text(choice), "content", number))
            continue
        if choice.content is not None:
            found.append((f"choices[{number}].content", choice.content, "content", number))
        if choice.reasoning:
            found.append((f"choices[{number}].reasoning", choice.reasoning, "reasoning", number))
        if choice.tool_call:
            path = f"choices[{number}].tool_calls[0].function.arguments"
            found.append((path, choice.tool_call.arguments, "arguments", number))
    return found


def stamp(start: datetime, seconds: float) -> str:
    """ISO time to the microsecond, without a zone: UTC."""
    return (start + timedelta(microseconds=round(seconds * 1e6))).isoformat(timespec="microseconds")


def engine_line(event: str, start: datetime, at: float, body: dict[str, Any]) -> bytes:
    """One line of the engine's request log."""
    time = stamp(start, at)
    record = {"timestamp": time, "event": event, **body}
    return f"[{time[:10]} {time[11:19]}] {json.dumps(record, ensure_ascii=False)}\n".encode()


def engine_object(request: Request) -> dict[str, Any]:
    """The `obj` of an engine record."""
    return {
        "rid": request.rid,
        "text": prompt_text(request.messages),
        "input_ids": None,
        "sampling_params": {"temperature": 0.7, "top_p": 0.95, "max_new_tokens": 4096, "n": 1},
        "return_logprob": False,
        "stream": request.stream,
        "extra_key": None,
        "cache_salt": None,
    }


def engine_output(request: Request) -> dict[str, Any]:
    """The `out` of a finished engine record."""
    return {
        "text": output_text(request.choices[0]),
        "meta_info": {
            "id": request.rid,
            "finish_reason": {"type": "stop", "matched": 151336},
            "prompt_tokens": request.prompt_tokens,
            "weight_version": "default",
            "num_retractions": 0,
            "completion_tokens": request.completion_tokens,
            "cached_tokens": request.cached_tokens,
            "cached_tokens_details": {
                "device": request.cached_tokens - min(request.host_tokens, request.cached_tokens),
                "host": min(request.host_tokens, request.cached_tokens),
            },
            "dp_rank": 0,
            "e2e_latency": round(request.finished - request.received, 6),
        },
    }


def gateway_record(request: Request, start: datetime, model: str) -> dict[str, Any]:
    """What the gateway knows: the id, the tenant and the times, no text."""
    record: dict[str, Any] = {
        "request_id": request.rid,
        "tenant_id": request.tenant.name,
        "timestamp": stamp(start, request.received - 0.002) + "Z",
        "model": model,
        "stream": request.stream,
        "user": request.user,
    }
    if request.aborted:
        return {**record, "status": 499}
    return {**record, "finished_at": stamp(start, request.finished + 0.003) + "Z", "status": 200}


def house_record(request: Request, start: datetime, model: str, worker: str) -> dict[str, Any]:
    """One record with full bodies."""
    record: dict[str, Any] = {
        "request_id": request.rid,
        "tenant_id": request.tenant.name,
        "timestamp": stamp(start, request.received) + "Z",
        "worker": worker,
        "model": model,
        "stream": request.stream,
        "request": {"messages": [_message(m) for m in request.messages], "user": request.user},
    }
    if request.aborted:
        return {**record, "status": 499}
    record["finished_at"] = stamp(start, request.finished) + "Z"
    record["response"] = {
        "id": request.rid,
        "choices": [_choice(number, choice) for number, choice in enumerate(request.choices)],
        "usage": {
            "prompt_tokens": request.prompt_tokens,
            "completion_tokens": request.completion_tokens,
            "prompt_tokens_details": {"cached_tokens": request.cached_tokens},
        },
    }
    return record


def _message(message: Message) -> dict[str, Any]:
    shown: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_call:
        shown["tool_calls"] = [_tool_call(message.tool_call)]
    if message.role == "tool":
        shown["tool_call_id"] = "call_0"
    return shown


def _tool_call(call: ToolCall) -> dict[str, Any]:
    return {"id": "call_0", "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def _choice(number: int, choice: Choice) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": choice.content}
    if choice.reasoning:
        message["reasoning_content"] = choice.reasoning
    if choice.tool_call:
        message["tool_calls"] = [_tool_call(choice.tool_call)]
    return {"index": number, "message": message, "finish_reason": "tool_calls" if choice.tool_call else "stop"}
