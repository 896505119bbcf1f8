"""One request/response pair in whatever envelope a gateway or proxy wrapped it, as one record.

Looks only at the key names of `envelope_keys`, in the order given there. Never guesses: a tenant that no listed key
names is unknown. Does not know SGLang's event lines.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import Any

from forensics.ingest import bodies, sse
from forensics.ingest.envelope_keys import (
    ID_HEADERS,
    TENANT_HEADERS,
    TENANT_HEADERS_LAST,
    TENANT_METADATA,
    USER_KEYS,
    Object,
    Plan,
    plan_of,
)
from forensics.ingest.loose_json import loads
from forensics.ingest.record import FileContext, Record, Reject, Text
from forensics.ingest.settings import sampling_of
from forensics.ingest.timestamps import milliseconds, parse_time

# What tells a body from a text that happens to be JSON.
_BODY_MARKS = {True: bodies.REQUEST_MARKS, False: bodies.RESPONSE_MARKS}
_MESSAGE = frozenset(("role", "message"))
_REQUEST_LINE = re.compile(r"(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) \S+(?: HTTP/[\d.]+)?$")
_REDACTED = ("redacted", "[redacted]", "<redacted>", "***", "redacted-by-litellm", "[filtered]")


class ExactNumbers(Exception):
    """An id was read as a float, which loses digits: the line must be read again with exact numbers."""


class Literal(float):
    """A number that remembers how the log wrote it."""

    text: str

    def __new__(cls, text: str) -> Literal:
        number = super().__new__(cls, text)
        number.text = text
        return number


def id_text(value: object) -> str | None:
    """An id as text by JSON's rules; None for null, empty text and anything that is no scalar."""
    if isinstance(value, str):
        return value or None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Literal):
        return value.text
    if isinstance(value, float):
        raise ExactNumbers
    return None


def first_id(obj: Object, keys: Iterable[str]) -> str | None:
    """The first of `keys` that holds an id."""
    for key in keys:
        if key in obj:
            value = id_text(obj[key])
            if value is not None:
                return value
    return None


def _first_text(obj: Object, keys: Iterable[str]) -> str | None:
    for key in keys:
        value = obj.get(key)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, dict):
            inner = value.get("id")
            if isinstance(inner, str) and inner:
                return inner
        elif isinstance(value, int) and not isinstance(value, bool):
            return str(value)
    return None


def parse_envelope(
    obj: Object, context: FileContext, *, default_vantage: str = "gateway", made_id: bool = False
) -> tuple[Record, ...]:
    """The one record of `obj`. Raises Reject where it holds no id or is no call at all.

    With `made_id` a call without any id is named by the digest of its unit, and counted.
    """
    plan = plan_of(obj)
    headers: dict[str, str] = {}
    for key in plan.headers:
        add_headers(obj[key], headers)
    request: Object | None = None
    response: Object | None = None
    prompt_state = response_state = "absent"
    if plan.asks and bodies.is_request(obj):
        request = obj
    else:
        request, prompt_state = _side(obj, plan.request, headers, context, prompt=True)
    bare = plan.answers and bodies.is_response(obj)
    if not bare:
        response, response_state = _side(obj, plan.response, headers, context, prompt=False)
        bare = response is None and response_state == "absent" and plan.choices and isinstance(obj["choices"], list)
    if request is None and prompt_state == "absent" and plan.prompt:
        request = obj
    if bare:
        response = obj
        bare = request is None
    record = Record(None, default_vantage)
    record.vantage = _vantage(obj, "client" if bare else default_vantage, context)
    _identify(record, obj, plan, request, response, headers)

    texts: list[Text] = []
    if request is not None and bodies.request_texts(request, texts):
        prompt_state = "full" if "messages" in request else bodies.request_state(request)
    if response is not None and bodies.response_texts(response, texts):
        response_state = "full"
    if request is None and response is None and prompt_state == response_state == "absent":
        # An `id` alone may be anything's; with a tenant beside it, it is a gateway's line.
        named = first_id(obj, plan.ids) is not None or bool(headers) or bool(plan.tenant)
        if (record.request_id is None or not named) and not made_id:
            raise Reject("no_id")
    if record.request_id is None:
        if not made_id or context.place is None:
            raise Reject("no_id")
        record.request_id = f"sha256:{context.place.digest[:16]}"
        context.notice("made_id")
    record.texts = texts
    record.prompt_state, record.response_state = prompt_state, response_state
    _people(record, obj, plan, request, headers)
    _times(record, obj, plan, context, bare)
    _facts(record, obj, plan, request, response, context)
    return (record,)


def _vantage(obj: Object, default: str, context: FileContext) -> str:
    value = obj.get("vantage")
    if value is None:
        return default
    if value in ("client", "gateway", "engine"):
        return str(value)
    context.notice("unknown_vantage")
    return default


def _side(
    obj: Object, keys: tuple[str, ...], headers: dict[str, str], context: FileContext, *, prompt: bool
) -> tuple[Object | None, str]:
    """The body of one side and, where there is none, why."""
    for key in keys:
        value, state = _decoded(obj[key], None if key.lower().endswith("body") else _BODY_MARKS[prompt])
        if isinstance(value, dict):
            return _body(value, headers, context, prompt=prompt)
        if not prompt and (streamed := _streamed(value, context)) is not None:
            return streamed, "absent"
        if isinstance(value, str) and value and state == "absent" and not (prompt and _REQUEST_LINE.match(value)):
            return _loose(value, prompt=prompt), "absent"
        if isinstance(value, list) and value and isinstance(value[0], dict):
            return _loose(value, prompt=prompt), "absent"
        if state != "absent":
            return None, state
    return None, "absent"


def _streamed(value: object, context: FileContext) -> Object | None:
    """The body that a stream in place of it makes, or None where it is no stream."""
    if isinstance(value, str) and sse.is_stream(value):
        stream = sse.assemble_text(value)
    elif isinstance(value, list) and sse.is_chunks(value):
        stream = sse.assemble_list(value)
    else:
        return None
    return stream_body(stream, context)


def stream_body(stream: sse.Stream, context: FileContext) -> Object:
    """The body of a stream, which says whether it is complete; what is odd about it is counted."""
    if stream.made.strays:
        context.notice("stray_chunk")
    if stream.made.differs:
        context.notice("stream_differs")
    if stream.unread:
        context.notice("unreadable_event")
    return {**stream.made.body, "stream": True, "complete": stream.made.complete}


def _body(value: Object, headers: dict[str, str], context: FileContext, *, prompt: bool) -> tuple[Object | None, str]:
    if "headers" in value:
        add_headers(value["headers"], headers)
    inner = value.get("body", value.get("json"))
    if inner is not None and not any(name in value for name in ("messages", "prompt", "choices")):
        body, state = _decoded(inner, None)
        if isinstance(body, dict):
            # Status and URL stand beside the body; the body's own keys win.
            outer = {k: v for k, v in value.items() if k not in ("body", "json", "headers")}
            return {**outer, **body}, "absent"
        streamed = None if prompt else _streamed(body, context)
        if streamed is not None:
            return {**{k: v for k, v in value.items() if k not in ("body", "json", "headers")}, **streamed}, "absent"
        return None, state
    if not value:
        return None, "absent"
    if value.get("type") == "encrypted":
        return None, "encrypted"
    if not prompt and "choices" not in value and not bodies.is_response(value):
        # One message in place of the whole response.
        if isinstance(value.get("message"), dict):
            return {**value, "choices": [value]}, "absent"
        if value.get("role") == "assistant" and "content" in value:
            return {"choices": [{"message": value}]}, "absent"
    return value, "absent"


def _loose(value: str | list[Any], *, prompt: bool) -> Object:
    """A text or a list of messages in place of a body."""
    if prompt:
        return {"messages": value} if isinstance(value, list) else {"prompt": value}
    if isinstance(value, str):
        return {"choices": [{"message": {"content": value}}]}
    return {"choices": [item if isinstance(item, dict) and "message" in item else {"message": item} for item in value]}


def _decoded(value: object, marks: frozenset[str] | None) -> tuple[object, str]:
    """JSON in a string, up to three times; and the state that a body in its place stands for.

    With `marks`, an object is a body only where it has one of them: else the string is a text that happens to be JSON,
    as answers in JSON mode are.
    """
    original = value
    for _ in range(3):
        if not isinstance(value, str):
            break
        if len(value) <= 64 and value.strip().lower() in _REDACTED:
            return None, "redacted"
        text = value.strip()
        if text[:1] not in ("{", "[", '"'):
            break
        try:
            value = loads(text)
        except ValueError:
            if marks is None or any(f'"{mark}"' in text[:400] for mark in marks):
                return value, "truncated"
            break
    if marks is not None and isinstance(original, str) and not _is_body(value, marks):
        return original, "absent"
    return value, "absent"


def _is_body(value: object, marks: frozenset[str]) -> bool:
    if isinstance(value, dict):
        return not value or not marks.isdisjoint(value)
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict) and not _MESSAGE.isdisjoint(value[0])


def add_headers(value: object, into: dict[str, str]) -> None:
    """Header objects, name/value lists and lists of pairs, names in lower case; the first value of a name stays."""
    pairs: Iterable[tuple[object, object]] = ()
    if isinstance(value, dict):
        pairs = value.items()
    elif isinstance(value, list):
        pairs = [
            (item.get("name"), item.get("value")) if isinstance(item, dict) else (item[0], item[1])
            for item in value
            if isinstance(item, dict) or (isinstance(item, list) and len(item) == 2)
        ]
    for name, content in pairs:
        if isinstance(content, list) and content:
            content = content[0]
        if isinstance(name, str) and isinstance(content, str) and content:
            into.setdefault(name.lower(), content)


def _identify(
    record: Record,
    obj: Object,
    plan: Plan,
    request: Object | None,
    response: Object | None,
    headers: dict[str, str],
) -> None:
    candidates: list[tuple[str, str | None]] = [(key, id_text(obj[key])) for key in plan.ids]
    if headers:
        candidates += [(name, headers[name]) for name in ID_HEADERS if name in headers]
    if plan.own_id and obj is not response:
        candidates.append(("id", id_text(obj["id"])))
    if request is not None and request is not obj and "id" in request:
        candidates.append(("request.id", id_text(request["id"])))
    if response is not None and "id" in response:
        candidates.append(("response_id", id_text(response["id"])))
    elif response is not None and "responseId" in response:
        candidates.append(("response_id", id_text(response["responseId"])))
    if request is not None and request is not obj and "rid" in request:
        candidates.append(("rid", id_text(request["rid"])))
    ids = record.ids
    for kind, value in candidates:
        if value is None:
            continue
        if record.request_id is None:
            record.request_id = value
            if kind == "response_id":
                ids[kind] = value  # the join must know that the call is named by its answer
        elif kind == "response_id" and value == record.request_id:
            # The record may have its name from the answer, which can be another call's: the join must ask the prompts.
            ids[kind] = value
        elif value != record.request_id:
            ids.setdefault(kind.lower().replace("x_request_id", "x-request-id"), value)
    if request is not None and "previous_response_id" in request:
        earlier = id_text(request["previous_response_id"])
        if earlier is not None:
            ids["previous_response_id"] = earlier
    if response is not None and "complete" in response and isinstance(response.get("stray_ids"), list):
        ids["stray_id"] = " ".join(map(str, response["stray_ids"]))
    for key in plan.other_ids:
        if (value := id_text(obj[key])) is not None:
            ids[key] = value


def _people(record: Record, obj: Object, plan: Plan, request: Object | None, headers: dict[str, str]) -> None:
    tenant = _first_text(obj, plan.tenant)
    if tenant is None and headers:
        tenant = next((headers[name] for name in TENANT_HEADERS if name in headers), None)
    metadata = obj["metadata"] if plan.metadata else None
    inner = request.get("metadata") if request is not None else None
    for holder in (metadata, inner):
        if tenant is None and isinstance(holder, dict):
            tenant = _first_text(holder, TENANT_METADATA)
    if tenant is None and headers:
        tenant = next((headers[name] for name in TENANT_HEADERS_LAST if name in headers), None)
    record.tenant_id = tenant
    user = _first_text(obj, plan.user)
    if user is None and request is not None:
        user = _first_text(request, USER_KEYS)
        if user is None and isinstance(inner, dict):
            user = _first_text(inner, USER_KEYS)
    record.user_id = user
    key = _first_text(obj, plan.api_key)
    if headers:
        key = key or headers.get("x-api-key") or headers.get("authorization")
        for name in (*TENANT_HEADERS, *TENANT_HEADERS_LAST):
            if name in headers:
                record.ids[name] = headers[name]
    if key is not None:
        record.ids["api_key"] = key_digest(key)
    if request is not None:
        record.sampling = sampling_of(request)
    if request is not None and "cache_salt" in request and (salt := _first_text(request, ("cache_salt",))):
        record.ids["cache_salt"] = salt


def key_digest(key: str) -> str:
    """A secret never enters the case: its SHA-256, unless the log already holds a digest."""
    key = key.removeprefix("Bearer ").removeprefix("bearer ").strip()
    if len(key) == 64 and all(c in "0123456789abcdef" for c in key):
        return key
    return hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()


def _times(record: Record, obj: Object, plan: Plan, context: FileContext, bare: bool) -> None:
    record.received_at = _time(record, obj, plan.received, context)
    record.finished_at = _time(record, obj, plan.finished, context)
    record.first_token_at = _time(record, obj, plan.first_token, context)
    if record.received_at is not None and record.finished_at is None:
        for key in plan.latency:
            if (latency := milliseconds(obj[key])) is not None:
                record.latency_us = latency
                record.finished_at = record.received_at + latency
                break
    if bare and record.received_at is None and record.finished_at is None and "created" in obj:
        record.finished_at, record.time_precision = parse_time(obj["created"], context)
    if context.at is not None and record.received_at is None and record.finished_at is None:
        # The line has no time, but its wrapper knows when it was written; an answer is written when it ended.
        if record.response_state == "absent":
            record.received_at = context.at
        else:
            record.finished_at = context.at


def _time(record: Record, obj: Object, keys: tuple[str, ...], context: FileContext) -> int | None:
    for key in keys:
        at, precision = parse_time(obj[key], context)
        if at is not None:
            record.time_precision = record.time_precision or precision
            return at
    return None


def _facts(
    record: Record,
    obj: Object,
    plan: Plan,
    request: Object | None,
    response: Object | None,
    context: FileContext,
) -> None:
    for holder in (obj, request, response):
        if holder is not None and isinstance(holder.get("model"), str):
            record.model = holder["model"] or None
            break
    record.endpoint = _first_text(obj, plan.endpoint)
    if record.endpoint is None and request is not None and request is not obj:
        record.endpoint = _first_text(request, ("path", "url", "uri"))
    if record.endpoint is not None:
        # What follows the path may hold keys.
        record.endpoint = record.endpoint.partition("?")[0]
    record.worker = first_id(obj, plan.worker)
    if record.worker is None and record.vantage == "engine":
        # Who wrote an engine's line is the engine; who wrote a gateway's line is not.
        record.worker = context.source
    stream = obj.get("stream")
    if stream is None and request is not None:
        stream = request.get("stream")
    if stream is None and response is not None:
        stream = response.get("stream")
    record.stream = stream if isinstance(stream, bool) else None
    status = first_id(obj, plan.status)
    if status is None and response is not None and response is not obj:
        status = first_id(response, ("status", "status_code"))
    if status is None and (obj.get("error") or (response is not None and response.get("error"))):
        status = "error"
    record.status = status
    if "usage" in obj:
        bodies.usage(record, obj["usage"])
    if response is not None:
        bodies.response_facts(record, response)
        if record.response_state == "full" and _unfinished(record, response):
            record.response_state = "partial_stream"


def _unfinished(record: Record, response: Object) -> bool:
    """Whether an answer is not yet whole: the stream says so, or has places for finish reasons, which are all empty."""
    if "complete" in response:
        return response["complete"] is False
    if record.finish_reason is not None:
        return False
    if response.get("status") == "in_progress":
        return True
    choices = response.get("choices") or ()
    return bool(record.stream) and all(isinstance(c, dict) and "finish_reason" in c for c in choices)
