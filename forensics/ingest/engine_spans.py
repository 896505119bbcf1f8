"""Spans of the engines themselves: vLLM's one span a request, SGLang's tree of spans with its `schedule` events.

They hold counts, times and batch ids, never a text. SGLang names the request at the root of a trace and the process on
the span of each thread, so that the events of a trace are told once the file ends. Knows no GenAI conventions but the
names that the engines use.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from forensics.ingest import genai_facts
from forensics.ingest.otlp_values import Object, attributes, events_of, hex_id, time_of
from forensics.ingest.record import HELD, STRUCTURE, EngineEvent, FileContext, Item, Record

_MOST_TRACES = 20_000
_MOST_EVENTS = 1_000_000
_EVENTS = {"schedule": "schedule", "retract": "retraction"}
_THREAD_KEYS = ("tp_rank", "pp_rank", "dp_rank", "host_id", "pid")
_LEAVES = frozenset(
    (
        "tokenize api_server_dispatch dpc_dispatch request_process prefill_waiting prefill_forward chunked_prefill "
        "decode_waiting decode_forward decode_loop spec_draft spec_verify run_batch_cpu prefill_prepare "
        "prefill_bootstrap prefill_transfer_kv_cache decode_prepare decode_bootstrap decode_transferred fake_output "
        "quick_finish"
    ).split()
)
_LATENCIES = "gen_ai.latency."


def is_vllm(scope: str, found: Object) -> bool:
    """Whether a span is a request of vLLM's engine."""
    if not isinstance(found.get("gen_ai.request.id"), str):
        return False
    return scope.startswith("vllm") or (not scope.startswith("sglang") and "gen_ai.latency.time_in_queue" in found)


def is_sglang(scope: str, span: Object, found: Object) -> bool:
    """Whether a span is one of SGLang's request trace."""
    if scope.startswith("sglang"):
        return True
    if isinstance(found.get("rid"), str) and ("module" in found or "Req " in str(span.get("name"))):
        return True
    return "thread_label" in found or str(span.get("name")) in _LEAVES


def vllm_record(found: Object, context: FileContext, record: Record) -> Record:
    """Make `record` that of one request of vLLM's engine."""
    record.vantage = "engine"
    record.request_id = found["gen_ai.request.id"]
    genai_facts.facts(record, found, context)
    record.ids.pop("gen_ai.request.id", None)
    return record


@dataclass(slots=True)
class _Trace:
    """What the spans of one trace said so far."""

    rid: str | None = None
    threads: dict[str, Object] = field(default_factory=dict)
    parents: dict[str, str] = field(default_factory=dict)
    events: list[tuple[str, EngineEvent]] = field(default_factory=list)


class Traces:
    """SGLang's traces of one file, held until the file ends; of very many the oldest are given out early."""

    def __init__(self, context: FileContext) -> None:
        self._context = context
        self._traces: dict[str, _Trace] = {}
        self._held = 0

    def read(self, span: Object, found: Object, record: Record) -> Sequence[Item]:
        """Take one span; a root gives `record` back, filled."""
        trace_id, _, span_id = record.ids.get("span", "").partition(":")
        if not span_id:
            return STRUCTURE
        items: list[Item] = []
        trace = self._traces.get(trace_id)
        if trace is None:
            if len(self._traces) >= _MOST_TRACES or self._held >= _MOST_EVENTS:
                self._context.notice("trace_given_out_early")
                items += self._give(next(iter(self._traces)))
            trace = self._traces[trace_id] = _Trace()
        parent = hex_id(span.get("parentSpanId", span.get("parent_span_id")))
        if parent is not None:
            trace.parents[span_id] = parent
        if "pid" in found or "thread_label" in found:
            trace.threads[span_id] = {key: found[key] for key in _THREAD_KEYS if _plain(found.get(key))}
        told = self._events(trace, span, span_id, record.worker)
        rid = found.get("rid")
        if isinstance(rid, str) and rid:
            trace.rid = rid
            # Early releases have a second root, which names a bootstrap room and no request.
            if "Req" in str(span.get("name")):
                items.append(_root(found, self._context, record, rid))
        if items:
            return items
        return HELD if told else STRUCTURE

    def _events(self, trace: _Trace, span: Object, span_id: str, worker: str | None) -> bool:
        told = False
        for event in events_of(span):
            kind = _EVENTS.get(str(event.get("name")))
            if kind is None:
                continue
            said = attributes(event.get("attributes"))
            at, _ = time_of(event, ("timeUnixNano",), self._context)
            made = EngineEvent(kind, at, worker, place=self._context.place)
            for key, value in said.items():
                if key == "bid" and isinstance(value, str | int):
                    made.batch = str(value)[:64]
                elif isinstance(value, int | float) and not isinstance(value, bool):
                    made.counts[key[:40]] = value
                elif key == "forward_mode" and isinstance(value, str):
                    made.attributes[key] = value[:40]
            trace.events.append((span_id, made))
            self._held += 1
            told = True
        return told

    def end(self) -> Sequence[Item]:
        """The events of the traces that are still held."""
        return [item for trace in list(self._traces) for item in self._give(trace)]

    def _give(self, trace_id: str) -> list[Item]:
        trace = self._traces.pop(trace_id)
        self._held -= len(trace.events)
        items: list[Item] = []
        for span_id, event in trace.events:
            event.request_id = trace.rid
            thread = _thread(trace, span_id)
            event.attributes.update({key: value for key, value in thread.items() if key != "host_id"})
            if event.batch is not None:
                # A batch id is one per batch and process.
                names = [str(thread[key]) for key in ("host_id", "pid") if key in thread]
                event.batch = ":".join((*names, event.batch))
            items.append(event)
        if trace.events and trace.rid is None:
            self._context.notice("trace_without_root")
        return items


def _thread(trace: _Trace, span_id: str) -> Object:
    """The thread that a span ran in: its own, or that of the nearest span above it."""
    current: str | None = span_id
    for _ in range(16):
        if current is None:
            break
        if current in trace.threads:
            return trace.threads[current]
        current = trace.parents.get(current)
    return {}


def _root(found: Object, context: FileContext, record: Record, rid: str) -> Record:
    record.vantage, record.request_id = "engine", rid
    genai_facts.facts(record, found, context)
    if record.ids.get("gen_ai.request.id") == rid:
        del record.ids["gen_ai.request.id"]
    room = found.get("bootstrap_room")
    if _plain(room):
        record.ids["bootstrap_room"] = str(room)
    return record


def _plain(value: Any) -> bool:
    return isinstance(value, int | float) or (isinstance(value, str) and 0 < len(value) <= 80)
