"""Model calls in OpenTelemetry's spans and log records: one record a span, and one for the events of a span.

GenAI conventions of three generations, OpenLLMetry, OpenInference; the engines' own spans at the engine's vantage.
Events that stand in the log signal are gathered by trace and span within a file and become a record with the part
`events`: the join puts it to the span's record, in whichever file that stands. Spans of other work are structure.
A tenant is what an attribute calls so; a service or a namespace is none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from forensics.ingest import engine_spans, genai, genai_facts, openinference
from forensics.ingest.envelope_keys import TENANT_KEYS, TENANT_METADATA
from forensics.ingest.genai import CHUNK_EVENTS, DETAILS, Event, Told
from forensics.ingest.loose_json import loads
from forensics.ingest.otlp_values import Object, at, attributes, events_of, hex_id, time_of, value_of
from forensics.ingest.record import HELD, STRUCTURE, Chunk, FileContext, Item, Place, Record, Reject
from forensics.ingest.wrappers.otlp_batches import event_name

NAME = "otlp"
KIND = "log"
TITLE = "OpenTelemetry model calls: GenAI conventions, OpenLLMetry, OpenInference; engine spans of vLLM and SGLang"
VERSIONS = (
    "GenAI conventions 1.25 to 1.38 (attributes, events, messages); OpenLLMetry llm.* and gen_ai.*; OpenInference 0.1; "
    "vLLM 0.6 to 0.33; SGLang 0.5.3 to 0.5.23"
)
SOURCE = "the conventions and the libraries' sources; samples made by hand"

_MOST_CALLS = 8_192
_OPERATIONS = ("chat", "text_completion", "generate_content", "completion", "message", "response", "responses")
_NO_OPERATIONS = frozenset(
    "embeddings embedding rerank execute_tool invoke_agent create_agent invoke_workflow retrieval".split()
)
_MARKS = (
    "gen_ai.prompt.0.",
    "gen_ai.completion.0.",
    "llm.prompts.0.",
    "llm.completions.0.",
    "gen_ai.input.messages",
    "gen_ai.output.messages",
    "gen_ai.response.",
    "gen_ai.usage.",
)
# What instruments a client library stands at the caller; gateways and frameworks have scopes of their own.
_CALLERS = (
    "opentelemetry.instrumentation.",
    "openinference.instrumentation.",
    "@opentelemetry/instrumentation",
    "@traceloop/instrumentation",
    "@arizeai/openinference-instrumentation",
)
_WORKERS = ("k8s.pod.name", "service.instance.id", "host.name")
_TENANTS = ("tenant.id", *TENANT_KEYS)
_ASSOCIATION = "traceloop.association.properties."
_SHORT_NAME = re.compile(r"[\w.:/-]{1,80}")
_ERRORS = (2, "2", "STATUS_CODE_ERROR", "ERROR", "Error")
_FINE = (1, "1", "STATUS_CODE_OK", "OK", "Ok")


def may(keys: frozenset[str]) -> bool:
    """Whether an object with these keys can be a span or a log record."""
    return "otlp" in keys


def accepts(obj: Object) -> bool:
    """Whether an object is a span or an event that was cut out of a batch."""
    return obj.get("otlp") in ("span", "log") and isinstance(obj.get("record"), dict)


def accepts_line(line: bytes) -> bool:
    """Units are objects; no other line is one."""
    return False


def open_log(context: FileContext) -> Reader:
    """A reader of one file."""
    return Reader(context)


@dataclass(slots=True)
class _Call:
    """The events of one span so far."""

    place: Place | None
    scope: str
    resource: Object
    events: list[Event] = field(default_factory=list)


class Reader:
    """Gives a span's record at once; holds the events of log records, and the traces of SGLang, until the file ends."""

    def __init__(self, context: FileContext) -> None:
        self._context = context
        self._calls: dict[str, _Call] = {}
        self._traces = engine_spans.Traces(context)

    def read_object(self, obj: Object) -> Sequence[Item]:
        """Take one span or log record."""
        record = obj.get("record")
        if not isinstance(record, dict):
            raise Reject("not_an_object")
        resource = obj.get("resource")
        resource = resource if isinstance(resource, dict) else {}
        scope = obj.get("scope")
        scope = scope if isinstance(scope, str) else ""
        if obj.get("otlp") == "span":
            return self._span(record, resource, scope)
        return self._log(record, resource, scope)

    def _span(self, span: Object, resource: Object, scope: str) -> Sequence[Item]:
        context = self._context
        found = attributes(span.get("attributes"))
        vllm = engine_spans.is_vllm(scope, found)
        sglang = not vllm and engine_spans.is_sglang(scope, span, found)
        if not vllm and not sglang and not _is_call(found, span):
            return STRUCTURE
        record = Record(None, _vantage(scope))
        _identify(record, span)
        _times(record, span, context)
        if vllm or sglang:
            record.worker = _worker(resource) or context.worker or context.source
            _people(record, found, resource, {})
            if sglang:
                return self._traces.read(span, found, record)
            record = engine_spans.vllm_record(found, context, record)
            record.status = _status(span, found)
            return (record,)
        events = [_span_event(event, context) for event in events_of(span)]
        details = {key: value for event in events if event.name == DETAILS for key, value in event.body.items()}
        found = {**details, **found}
        record.status = _status(span, found)
        _chunks(record, events)
        _fill(record, found, events, resource, scope, context)
        if any(text[1].startswith("choices[1]") for text in record.texts):
            record.chunks = ()  # of which choice a chunk was, nothing says
        if _lost(span, "droppedAttributesCount"):
            # The limit of attributes (128 by default) cuts long conversations, which have one a field.
            context.notice("dropped_attributes")
            record.prompt_state = _cut(record.prompt_state)
            record.response_state = _cut(record.response_state)
        if _lost(span, "droppedEventsCount"):
            context.notice("dropped_events")
        return (record,)

    def _log(self, log: Object, resource: Object, scope: str) -> Sequence[Item]:
        context = self._context
        event = _log_event(log, context)
        trace, span = hex_id(at(log, "traceId")), hex_id(at(log, "spanId"))
        if trace is None or span is None:
            return self._alone(event, resource, scope)
        key = f"{trace}:{span}"
        call = self._calls.get(key)
        if call is None:
            call = self._calls[key] = _Call(context.place, scope, resource)
        call.events.append(event)
        if len(self._calls) > _MOST_CALLS:
            context.notice("call_given_out_early")
            return [self._record(next(iter(self._calls)))]
        return HELD

    def _alone(self, event: Event, resource: Object, scope: str) -> Sequence[Item]:
        """An event outside any span: one that tells a whole call is one; a message alone could be any call's."""
        context = self._context
        if event.name != DETAILS:
            raise Reject("no_id")
        record = Record(None, _vantage(scope))
        record.finished_at = event.at
        _fill(record, event.body, [event], resource, scope, context)
        return (record,)

    def end(self) -> Sequence[Item]:
        """The events and traces that are still held."""
        return [*(self._record(key) for key in list(self._calls)), *self._traces.end()]

    def _record(self, key: str) -> Record:
        call = self._calls.pop(key)
        # Batches are not in order; events of one moment stay as they came.
        events = sorted(call.events, key=lambda event: event.at or 0)
        record = Record(key, _vantage(call.scope), part="events", place=call.place)
        record.ids["span"] = key
        record.ids["trace_id"] = key.partition(":")[0]
        details = {name: value for event in events if event.name == DETAILS for name, value in event.body.items()}
        _fill(record, details, events, call.resource, call.scope, self._context)
        return record


def _is_call(found: Object, span: Object) -> bool:
    """Whether a span is one model call: not an agent, a tool, a chain, or embeddings."""
    if openinference.KIND in found:
        return openinference.is_call(found)
    operation = found.get("gen_ai.operation.name")
    if isinstance(operation, str) and operation:
        return operation in _OPERATIONS or (operation not in _NO_OPERATIONS and _marked(found))
    sort = found.get("llm.request.type")
    if isinstance(sort, str) and sort:
        return sort in ("chat", "completion", "unknown")
    if "traceloop.span.kind" in found:
        return False
    if ("gen_ai.request.model" in found or "gen_ai.response.model" in found) and _marked(found):
        return True
    return "gen_ai.system" in found and any(str(event.get("name")) == "gen_ai.choice" for event in events_of(span))


def _marked(found: Object) -> bool:
    return any(key.startswith(_MARKS) for key in found)


def _vantage(scope: str) -> str:
    return "client" if scope.startswith(_CALLERS) else "gateway"


def _identify(record: Record, span: Object) -> None:
    trace, own = hex_id(at(span, "traceId")), hex_id(at(span, "spanId"))
    if trace is None or own is None:
        return
    record.ids["span"] = f"{trace}:{own}"
    record.ids["trace_id"] = trace


def _times(record: Record, span: Object, context: FileContext) -> None:
    record.received_at, record.time_precision = time_of(span, ("startTimeUnixNano",), context)
    record.finished_at, precision = time_of(span, ("endTimeUnixNano",), context)
    record.time_precision = record.time_precision or precision


def _fill(
    record: Record, found: Object, events: Sequence[Event], resource: Object, scope: str, context: FileContext
) -> None:
    """The texts and facts of a call, from attributes and events."""
    told = Told()
    answer: Object | None = None
    metadata: Object = {}
    if openinference.KIND in found:
        told = openinference.told_of(found, context)
        answer = openinference.response_of(found, context)
        openinference.facts(record, found, context)
        metadata = openinference.metadata_of(found, context)
    other = genai.told_of(found, events, context)
    for side in ("prompt", "response"):
        # A span may follow two conventions; each side is told by the first that has it.
        if not any(text[0] == side for text in told.texts) and getattr(told, f"{side}_state") == "absent":
            told.texts += [text for text in other.texts if text[0] == side]
            setattr(told, f"{side}_state", getattr(other, f"{side}_state"))
    genai_facts.facts(record, found, context)
    record.finish_reason = record.finish_reason or told.finish_reason or other.finish_reason
    named = found.get("gen_ai.response.id")
    if not isinstance(named, str) or not named:
        named = answer.get("id") if answer is not None and isinstance(answer.get("id"), str) else None
    if record.part == "events":
        if named:
            record.ids["response_id"] = named
    else:
        record.request_id = named or record.ids.get("span")
        if named:
            record.ids["response_id"] = named
        if record.request_id is None:
            if context.place is None:
                raise Reject("no_id")
            record.request_id = f"sha256:{context.place.digest[:16]}"
            context.notice("made_id")
    _people(record, found, resource, metadata)
    if record.vantage != "client":
        # Of a call that a client library tells of, the resource is the caller's.
        record.worker = _worker(resource) or context.source
    record.texts = told.texts
    record.prompt_state, record.response_state = told.prompt_state, told.response_state
    if record.part == "events":
        times = [event.at for event in events if event.at is not None]
        record.received_at = min(times, default=None)
        ends = [event.at for event in events if event.at is not None and event.name in ("gen_ai.choice", DETAILS)]
        record.finished_at = max(ends, default=None)
        record.time_precision = "ns" if times else None
    failed = record.status is not None and record.status != "ok"
    if failed and record.stream and record.response_state == "full" and record.finish_reason is None:
        record.response_state = "partial_stream"


def _people(record: Record, found: Object, resource: Object, metadata: Object) -> None:
    associated = {key.removeprefix(_ASSOCIATION): value for key, value in found.items() if key.startswith(_ASSOCIATION)}
    for holder, names in (
        (found, _TENANTS),
        (associated, _TENANTS),
        (metadata, TENANT_METADATA),
        (resource, _TENANTS),
    ):
        for name in names:
            value = holder.get(name)
            if isinstance(value, str | int) and not isinstance(value, bool) and value != "":
                record.tenant_id = str(value)
                return


def _worker(resource: Object) -> str | None:
    return next((value for name in _WORKERS if isinstance(value := resource.get(name), str) and value), None)


def _status(span: Object, found: Object) -> str | None:
    """`ok`, or the class of the error, or the HTTP status that the span has; None where it says nothing."""
    status = span.get("status")
    code = status.get("code") if isinstance(status, dict) else None
    if code in _ERRORS:
        sort = found.get("error.type")
        return sort if isinstance(sort, str) and _SHORT_NAME.fullmatch(sort) else "error"
    if isinstance(found.get("error.type"), str) and _SHORT_NAME.fullmatch(found["error.type"]):
        return str(found["error.type"])
    for name in ("http.response.status_code", "http.status_code"):
        value = found.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
    return "ok" if code in _FINE else None


def _chunks(record: Record, events: Sequence[Event]) -> None:
    """Times of the chunks of a stream. No chunk says which text it brought: the ranges are empty."""
    times = sorted(event.at for event in events if event.name in CHUNK_EVENTS and event.at is not None)
    if not times:
        return
    record.stream = True
    record.first_token_at = times[0]
    made: list[Chunk] = [(0, number, moment, 0, 0) for number, moment in enumerate(times)]
    record.chunks = made


def _span_event(event: Object, context: FileContext) -> Event:
    name = event.get("name")
    moment, _ = time_of(event, ("timeUnixNano",), context)
    return Event(name if isinstance(name, str) else "", attributes(event.get("attributes")), moment)


def _log_event(log: Object, context: FileContext) -> Event:
    name = event_name(log)
    moment, _ = time_of(log, ("timeUnixNano", "observedTimeUnixNano"), context)
    body = value_of(log.get("body"))
    if isinstance(body, str) and body.strip()[:1] == "{":
        try:
            body = loads(body)
        except ValueError:
            context.notice("unreadable_event")
            body = None
    said = body if isinstance(body, dict) else {}
    if isinstance(body, str) and body and name != DETAILS:
        # Some libraries write the message's text as the body itself.
        said = {"content": body}
    return Event(name, {**attributes(log.get("attributes")), **said}, moment)


def _lost(span: Object, name: str) -> bool:
    value: Any = at(span, name)
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _cut(state: str) -> str:
    return "truncated" if state == "full" else state
