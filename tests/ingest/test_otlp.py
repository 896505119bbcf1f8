"""Traps of OTLP: three generations of conventions, bodies in another signal, captures that are off, limits that cut.

All content is invented. What is expected comes from the conventions, not from the code.
"""

from __future__ import annotations

import json
import random
import struct
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from forensics.ingest.lines import LineReader
from forensics.ingest.otlp_values import framed_stream, hex_id, value_of
from forensics.ingest.record import FileContext, Place, Record, Reject
from forensics.ingest.units import Unit
from forensics.ingest.wrappers.otlp_batches import Peeler, accepts

FORMATS = Path(__file__).parent / "formats" / "otlp"
TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
START = 1_772_600_767_100_000_000


def any_value(value: Any) -> dict[str, Any]:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case list():
            return {"arrayValue": {"values": [any_value(item) for item in value]}}
        case dict():
            return {"kvlistValue": {"values": pairs(value)}}
    return {"stringValue": value}


def pairs(found: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": any_value(value)} for key, value in found.items()]


def span(found: dict[str, Any], span_id: str = SPAN, **more: Any) -> dict[str, Any]:
    times = {"startTimeUnixNano": str(START), "endTimeUnixNano": str(START + 10**9)}
    return {"traceId": TRACE, "spanId": span_id, "name": "call", **times, "attributes": pairs(found), **more}


def event(name: str, body: Any, span_id: str = SPAN, ms: int = 1, **found: Any) -> dict[str, Any]:
    made = {"traceId": TRACE, "spanId": span_id, "eventName": name, "timeUnixNano": str(START + ms * 10**6)}
    return {**made, "body": any_value(body), "attributes": pairs(found)}


def spans(*made: dict[str, Any], scope: str = "house", **resource: Any) -> str:
    inner = [{"scope": {"name": scope}, "spans": list(made)}]
    return json.dumps({"resourceSpans": [{"resource": {"attributes": pairs(resource)}, "scopeSpans": inner}]}) + "\n"


def logs(*made: dict[str, Any], scope: str = "house", **resource: Any) -> str:
    inner = [{"scope": {"name": scope}, "logRecords": list(made)}]
    return json.dumps({"resourceLogs": [{"resource": {"attributes": pairs(resource)}, "scopeLogs": inner}]}) + "\n"


CHAT = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m1"}
ASKED = ("gen_ai.user.message", {"content": "Which pier?"})
CHOICE = ("gen_ai.choice", {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Four."}})


def calls(bench: Any) -> dict[str, dict[str, Any]]:
    return {row["request_id"]: row for row in bench.rows("requests", "request_id")}


@pytest.mark.parametrize("order", ["logs first", "spans first", "one file"])
def test_events_of_the_log_signal_and_their_span_are_one_call(bench, order):
    lines = {"s": spans(span({**CHAT, "gen_ai.response.id": "r1"})), "l": logs(event(*ASKED), event(*CHOICE, ms=900))}
    match order:
        case "logs first":
            bench.put("a.jsonl", lines["l"])
            bench.put("b.jsonl", lines["s"])
        case "spans first":
            bench.put("a.jsonl", lines["s"])
            bench.put("b.jsonl", lines["l"])
        case _:
            bench.put("a.jsonl", lines["l"] + lines["s"])
    bench.run()
    assert list(calls(bench)) == ["r1"]
    row = calls(bench)["r1"]
    assert (row["prompt_state"], row["response_state"], row["model"]) == ("full", "full", "m1")
    assert bench.texts("r1") == {"<messages[0].content": "Which pier?", "choices[0].content": "Four."}


def test_events_of_two_spans_stay_two_calls(bench):
    other = "00f067aa0ba902b7"
    bench.put("s.jsonl", spans(span(CHAT), span(CHAT, other)))
    second = {"index": 0, "finish_reason": "stop", "message": {"content": "Five."}}
    bench.put("l.jsonl", logs(event(*CHOICE), event("gen_ai.choice", second, other)))
    bench.run()
    assert set(calls(bench)) == {f"{TRACE}:{SPAN}", f"{TRACE}:{other}"}
    assert bench.texts(f"{TRACE}:{SPAN}") == {"choices[0].content": "Four."}
    assert bench.texts(f"{TRACE}:{other}") == {"choices[0].content": "Five."}


def test_two_different_spans_of_one_response_id_are_two_calls(bench):
    answers = [
        [{"role": "assistant", "parts": [{"type": "text", "content": text}], "finish_reason": "stop"}] for text in "ab"
    ]
    made = [
        span({**CHAT, "gen_ai.response.id": "same", "gen_ai.output.messages": json.dumps(answer)}, span_id)
        for answer, span_id in zip(answers, (SPAN, "00f067aa0ba902b7"), strict=True)
    ]
    bench.put("s.jsonl", spans(*made))
    bench.run()
    assert [row["request_id"] for row in bench.rows("requests", "key")] == ["same", "same"]


def test_a_span_that_was_delivered_twice_counts_once(bench):
    one, two = span({**CHAT, "gen_ai.response.id": "r1"}), span(CHAT, "00f067aa0ba902b7")
    bench.put("a.jsonl", spans(one) + spans(two, one))
    summary = bench.run()
    assert len(calls(bench)) == 2
    assert summary.figures["repeated"] == 1


def test_both_span_and_events_hold_the_texts_they_are_listed_once(bench):
    answer = json.dumps(
        [{"role": "assistant", "parts": [{"type": "text", "content": "Four."}], "finish_reason": "stop"}]
    )
    bench.put("s.jsonl", spans(span({**CHAT, "gen_ai.response.id": "r1", "gen_ai.output.messages": answer})))
    details = {"gen_ai.output.messages": [{"role": "assistant", "parts": [{"type": "text", "content": "Four."}]}]}
    bench.put("l.jsonl", logs(event("gen_ai.client.inference.operation.details", "", **details)))
    bench.run()
    found = [row["field"] for row in bench.rows("request_contents", "ordinal")]
    assert found == ["choices[0].content"]


@pytest.mark.parametrize(
    ("found", "states"),
    [
        ({}, ("absent", "absent")),
        ({"gen_ai.input.messages": "[]", "gen_ai.output.messages": "[]"}, ("not_logged", "not_logged")),
        ({"gen_ai.prompt.0.role": "user", "gen_ai.completion.0.role": "assistant"}, ("not_logged", "not_logged")),
        ({"gen_ai.input.messages_ref": "s3://b/i", "gen_ai.output.messages_ref": "s3://b/o"}, ("offloaded",) * 2),
        ({"gen_ai.input.messages": '[{"role":"user","parts":[{"type":"te'}, ("truncated", "absent")),
        ({"gen_ai.completion.0.content": ""}, ("absent", "full")),
    ],
)
def test_what_is_not_there_says_why(bench, found, states):
    bench.put("s.jsonl", spans(span({**CHAT, **found})))
    bench.run()
    row = calls(bench)[f"{TRACE}:{SPAN}"]
    assert (row["prompt_state"], row["response_state"]) == states
    assert bench.texts(f"{TRACE}:{SPAN}") == {}


def test_empty_event_bodies_are_a_capture_that_is_off(bench):
    bench.put("s.jsonl", spans(span(CHAT)))
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant"}}
    bench.put("l.jsonl", logs(event("gen_ai.user.message", {}), event("gen_ai.choice", choice)))
    bench.run()
    row = calls(bench)[f"{TRACE}:{SPAN}"]
    assert (row["prompt_state"], row["response_state"], row["finish_reason"]) == ("not_logged", "not_logged", "stop")


def test_more_than_ten_messages_keep_their_order_and_a_gap_is_a_cut(bench):
    flat = {f"gen_ai.prompt.{n}.content": f"m{n}" for n in (10, 11, *range(10))}
    whole = {**CHAT, "gen_ai.response.id": "whole", **flat}
    gap = {key: value for key, value in whole.items() if ".5." not in key} | {"gen_ai.response.id": "gap"}
    bench.put("s.jsonl", spans(span(whole), span(gap, "00f067aa0ba902b7")))
    bench.run()
    assert bench.texts("whole") == {f"<messages[{n}].content": f"m{n}" for n in range(12)}
    assert calls(bench)["whole"]["prompt_state"] == "full"
    assert calls(bench)["gap"]["prompt_state"] == "truncated"


def test_a_text_that_is_json_stays_a_text(bench):
    answer, asked = '{"content": "not a part", "role": "x"}', '["a", "b"]'
    flat = {**CHAT, "gen_ai.prompt.0.content": asked, "gen_ai.completion.0.content": answer}
    parts = [{"role": "assistant", "parts": [{"type": "text", "content": answer}]}]
    newest = {**CHAT, "gen_ai.response.id": "n", "gen_ai.output.messages": json.dumps(parts)}
    bench.put("s.jsonl", spans(span(flat), span(newest, "00f067aa0ba902b7")))
    bench.run()
    assert bench.texts(f"{TRACE}:{SPAN}") == {"<messages[0].content": asked, "choices[0].content": answer}
    assert bench.texts("n") == {"choices[0].content": answer}


@pytest.mark.parametrize(
    ("found", "resource", "tenant"),
    [
        (
            {},
            {"service.name": "acme", "service.namespace": "acme", "cloud.account.id": "9", "k8s.namespace.name": "a"},
            None,
        ),
        ({"user.id": "u", "session.id": "s", "gen_ai.conversation.id": "c"}, {}, None),
        ({"tenant.id": "acme"}, {"tenant.id": "globex"}, "acme"),
        ({}, {"tenant.id": "globex"}, "globex"),
        ({"traceloop.association.properties.customer_id": 7}, {}, "7"),
    ],
)
def test_a_tenant_is_what_an_attribute_calls_so(bench, found, resource, tenant):
    bench.put("s.jsonl", spans(span({**CHAT, **found}), **resource))
    bench.run()
    assert calls(bench)[f"{TRACE}:{SPAN}"]["tenant_id"] == tenant


@pytest.mark.parametrize(
    "found",
    [
        {"gen_ai.operation.name": "embeddings", "gen_ai.request.model": "e", "gen_ai.usage.input_tokens": 3},
        {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "t"},
        {"gen_ai.operation.name": "invoke_agent", "gen_ai.output.messages": "[]"},
        {"openinference.span.kind": "AGENT", "output.value": "x"},
        {"traceloop.span.kind": "workflow", "gen_ai.request.model": "m", "gen_ai.usage.input_tokens": 1},
        {"http.request.method": "POST"},
    ],
)
def test_other_work_is_no_call(found):
    assert read(spans(span(found))) == []


def test_chunk_times_of_several_choices_belong_to_none(bench):
    ticks = [{"name": "gen_ai.content.completion.chunk", "timeUnixNano": str(START + n * 10**8)} for n in (3, 1, 2)]
    one = {**CHAT, "gen_ai.response.id": "one", "gen_ai.completion.0.content": "a"}
    two = {**one, "gen_ai.response.id": "two", "gen_ai.completion.1.content": "b"}
    bench.put("s.jsonl", spans(span(one, events=ticks), span(two, "00f067aa0ba902b7", events=ticks)))
    bench.run()
    keys = {row["key"]: row["request_id"] for row in calls(bench).values()}
    chunks = [(keys[row["key"]], row["seq"], row["at"].microsecond) for row in bench.rows("chunks", "seq")]
    assert chunks == [("one", 0, 200_000), ("one", 1, 300_000), ("one", 2, 400_000)]
    assert {row["first_token_at"].microsecond for row in calls(bench).values()} == {200_000}
    assert all(row["stream"] for row in calls(bench).values())


def test_a_stream_that_broke_is_partial(bench):
    found = {**CHAT, "gen_ai.request.stream": True, "gen_ai.completion.0.content": "Fo", "error.type": "timeout"}
    bench.put("s.jsonl", spans(span(found, status={"code": 2})))
    bench.run()
    row = calls(bench)[f"{TRACE}:{SPAN}"]
    assert (row["status"], row["response_state"]) == ("timeout", "partial_stream")


def test_the_caller_and_the_engine_are_two_vantages_of_one_call(bench):
    own = {**CHAT, "gen_ai.response.id": "chatcmpl-7", "gen_ai.completion.0.content": "Four."}
    caller = spans(span(own), scope="opentelemetry.instrumentation.openai.v1", **{"host.name": "app"})
    engine = {"gen_ai.request.id": "chatcmpl-7", "gen_ai.latency.e2e": 0.9, "gen_ai.usage.prompt_tokens": 3}
    bench.put(
        "s.jsonl", caller + spans(span(engine, "00f067aa0ba902b7"), scope="vllm.llm_engine", **{"host.name": "gpu"})
    )
    bench.run()
    joined = bench.joined()
    assert list(joined) == ["chatcmpl-7"]
    assert joined["chatcmpl-7"]["worker"] == "gpu"
    assert {row["vantage"] for row in bench.rows("requests", "key")} == {"client", "engine"}


def test_members_of_a_batch_are_told_by_the_roots_of_their_traces(bench):
    made = []
    for n in (1, 2):
        trace = f"{n:032x}"
        root, thread, leaf = (f"{n}{k:015x}" for k in (1, 2, 3))
        schedule = {"name": "schedule", "timeUnixNano": str(START), "attributes": pairs({"bid": "ab", "batch_size": 2})}
        made += [
            {**span({}, leaf, parentSpanId=thread, events=[schedule]), "traceId": trace, "name": "decode_forward"},
            {**span({"pid": 7, "thread_label": "Scheduler"}, thread, parentSpanId=root), "traceId": trace},
            {**span({"rid": f"rid-{n}", "module": "request"}, root), "traceId": trace, "name": f"Req rid-{n}"},
        ]
    random.Random(1).shuffle(made)
    bench.put("s.jsonl", spans(*made, scope="sglang"))
    bench.run()
    events = [(row["kind"], row["batch"], row["request_id"]) for row in bench.rows("engine_events", "request_id")]
    assert events == [("schedule", "7:ab", "rid-1"), ("schedule", "7:ab", "rid-2")]
    assert set(calls(bench)) == {"rid-1", "rid-2"}


def test_lines_that_a_collector_read_are_read_as_what_they_are(bench):
    house = {"tenant_id": "acme", "request_id": "g1", "request": {"messages": [{"role": "user", "content": "p"}]}}
    record = {"timeUnixNano": str(START), "body": {"stringValue": json.dumps(house)}}
    bench.put("l.jsonl", logs(record))
    bench.run()
    assert calls(bench)["g1"]["tenant_id"] == "acme"


def test_values_of_all_kinds():
    assert value_of({"intValue": "-9223372036854775808"}) == -(2**63)
    assert value_of({"intValue": 7}) == 7
    assert value_of({"doubleValue": 0.5}) == 0.5
    assert value_of({"boolValue": False}) is False
    assert value_of({"bytesValue": "QUI="}) == "QUI="
    assert value_of({"arrayValue": {}}) == []
    assert value_of(any_value({"a": [1, {"b": "x"}]})) == {"a": [1, {"b": "x"}]}
    assert value_of({}) is None
    deep: dict[str, Any] = {"stringValue": "x"}
    for _ in range(5000):
        deep = {"arrayValue": {"values": [deep]}}
    value_of(deep)  # no recursion without an end


def test_ids_are_hex_or_base64_and_zero_is_none():
    assert hex_id(TRACE.upper()) == TRACE
    assert hex_id("CvdlGRbNQ92ESOshHIAxnA==") == TRACE
    assert hex_id("0" * 32) is None
    assert hex_id("") is None
    assert hex_id("not an id") is None


@pytest.mark.parametrize("payload", [b"\x0a\x05hello", b"\x28\xb5\x2f\xfd1234"])
def test_the_stream_of_lengths_is_named_and_not_read(bench, payload):
    frame = struct.pack(">I", len(payload)) + payload
    bench.put("otlp.bin", frame * 3)
    bench.put("a.jsonl", spans(span(CHAT)))
    bench.run()
    row = next(row for row in bench.rows("evidence", "name") if row["name"].endswith("otlp.bin"))
    assert (row["records"], row["rejected"], row["rejected_bytes"]) == (0, 1, len(frame) * 3)
    assert "format: json" in row["format_reason"]
    assert [row["reason"] for row in bench.rows("rejects", "evidence")] == ["unsupported_container"]


@pytest.mark.parametrize("data", [b"", b"\0\0\0\x04abcd", b"\0\0\0\xff\x0a\x05hello", b"{}\n{}\n{}", b"\x0a" * 40])
def test_other_bytes_are_no_such_stream(data):
    assert framed_stream(data, len(data)) is None


def read(line: str) -> list[Any]:
    """The items of one batch, and what its readers hold."""
    context = FileContext("f", ZoneInfo("UTC"))
    reader = LineReader("otlp", context)
    items: list[Any] = []
    data = line.rstrip("\n").encode()
    for unit in Peeler(context).feed(Unit(data, 0, len(data), 0, 1)):
        if unit.structure or unit.reason is not None or not unit.data.strip():
            continue
        context.place = Place(unit.offset, unit.size, unit.line, unit.digest or "0" * 64)
        try:
            items += reader.read(unit.data)
        except Reject as reject:
            assert reject.reason != "parser_error"
    items += reader.end()
    assert "parser_error_at_end" not in context.notices
    return items


ODD: list[Any] = [None, True, -1, 1e300, 2**63, "", "x" * 40, "[", "{}", '[{"parts":3}]', [], [None], {}, {"values": 3}]


def odd(value: Any, chance: random.Random) -> Any:
    """`value` with one place in it, or an attribute's name, exchanged."""
    if isinstance(value, dict) and value and chance.random() < 0.93:
        key = chance.choice(list(value))
        if key == "key" and chance.random() < 0.5:
            return {**value, "key": chance.choice(NAMES)}
        return {**value, key: odd(value[key], chance)}
    if isinstance(value, list) and value and chance.random() < 0.97:
        at = chance.randrange(len(value))
        return [*value[:at], odd(value[at], chance), *value[at + 1 :]]
    return chance.choice(ODD)


BATCHES = [json.loads(line) for path in sorted(FORMATS.glob("*.jsonl")) for line in path.read_text().splitlines()]
BATCHES.append(json.loads((FORMATS / "openinference.json").read_text()))
NAMES = sorted(
    {name for batch in BATCHES for name in json.dumps(batch).split('"') if name.startswith(("gen_ai.", "llm."))}
)


def test_values_of_any_shape_are_read_or_refused():
    chance = random.Random("otlp")
    records = 0
    for number in range(2000):
        batch = BATCHES[number % len(BATCHES)]
        for _ in range(chance.randint(1, 3)):
            batch = odd(batch, chance)
        line = json.dumps(batch)
        if not isinstance(batch, dict) or not accepts(line.encode()):
            continue
        data = line.encode()
        units = list(Peeler(FileContext("f", ZoneInfo("UTC"))).feed(Unit(data, 0, len(data), 0, 1)))
        assert sum(unit.size for unit in units) == len(data)
        for item in read(line):
            if isinstance(item, Record):
                records += 1
                assert item.request_id
                assert isinstance(item.request_id, str)
                for text in item.texts:
                    assert all(isinstance(part, str) for part in text)
                    assert text[3]
                assert all(isinstance(value, str) for value in item.ids.values())
    assert records > 1000
