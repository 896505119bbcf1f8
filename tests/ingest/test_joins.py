"""One call at several vantages: joined by equal id, never merged with another call, its tenant found."""

from __future__ import annotations

import json
from datetime import datetime

import pytest

from forensics.case.errors import MissingInput, UsageError


def lines(*records: object) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def engine(
    rid: str, text: str = "p", answer: str = "a", at: str = "2026-01-02T03:04:07", **more: object
) -> dict[str, object]:
    return {
        "timestamp": at,
        "event": "request.finished",
        "rid": rid,
        "obj": {"text": text},
        "out": {"text": answer, "meta_info": {"id": rid, "finish_reason": {"type": "stop"}, "e2e_latency": 1.0}},
        **more,
    }


def body(text: str, answer: str, response_id: str | None = None) -> dict[str, object]:
    response: dict[str, object] = {"choices": [{"message": {"content": answer}, "finish_reason": "stop"}]}
    if response_id:
        response["id"] = response_id
    return {"request": {"messages": [{"role": "user", "content": text}]}, "response": response}


def test_gateway_names_the_tenant_of_the_engine_call(bench):
    bench.put("gateway.jsonl", lines({"request_id": "r1", "tenant_id": "acme"}))
    bench.put("node_0.log", lines(engine("r1")))
    summary = bench.run()
    assert summary.figures["joined"] == 1
    row = bench.joined()["r1"]
    assert (row["tenant_id"], row["tenant_basis"], row["vantages"], row["worker"], row["examinable"]) == (
        "acme",
        "record",
        "engine,gateway",
        "node_0",
        True,
    )
    assert [file["requests"] for file in summary.figures["files"]] == [1, 1]


def test_the_gateway_id_names_the_call_and_the_response_id_joins_it(bench):
    bench.put(
        "gateway.jsonl",
        lines(
            {"request_id": "g-1", "tenant_id": "acme", "timestamp": "2026-01-02T03:04:05Z", **body("p", "a", "rid-1")}
        ),
    )
    bench.put("node_0.log", lines(engine("rid-1", text="<user>p")))
    bench.put(
        "client.jsonl",
        lines({"vantage": "client", "request_id": "c-9", "headers": {"x-request-id": "g-1"}, **body("p", "a")}),
    )
    bench.run()
    assert list(bench.joined()) == ["g-1"]
    assert bench.joined()["g-1"]["vantages"] == "client,engine,gateway"
    assert bench.case.count("requests") == 3


def test_equal_text_is_one_use_and_different_text_is_two(bench):
    bench.put("gateway.jsonl", lines({"request_id": "r", "tenant_id": "t", **body("same", "as the gateway saw it")}))
    bench.put("client.jsonl", lines({"vantage": "client", "request_id": "r", **body("same", "as the client saw it")}))
    bench.run()
    contents = {row["content"]: row["text"] for row in bench.rows("contents", "content")}
    uses = sorted((row["field"], contents[row["content"]], row["key"]) for row in bench.rows("request_contents", "key"))
    # Files are read in the order of their names: the client's record is key 0.
    assert uses == [
        ("choices[0].content", "as the client saw it", 0),
        ("choices[0].content", "as the gateway saw it", 1),
        ("messages[0].content", "same", 0),
    ]


def test_an_id_that_repeats_at_one_vantage_merges_nothing_but_still_names_the_tenant(bench):
    bench.put(
        "gateway.jsonl",
        lines(
            {"request_id": "dup", "tenant_id": "acme", "timestamp": "2026-01-02T03:04:05Z"},
            {"request_id": "dup", "tenant_id": "acme", "timestamp": "2026-01-02T03:09:05Z"},
            {"request_id": "odd", "tenant_id": "acme", "timestamp": "2026-01-02T03:04:05Z"},
            {"request_id": "odd", "tenant_id": "other", "timestamp": "2026-01-02T03:09:05Z"},
        ),
    )
    bench.put("node_0.log", lines(engine("dup", "p1", "a1"), engine("odd", "p2", "a2")))
    bench.run()
    found = sorted(
        (row["request_id"], row["vantages"], row["tenant_id"] or "") for row in bench.rows("joined_requests", "request")
    )
    assert found == [
        ("dup", "engine", "acme"),
        ("dup", "gateway", "acme"),
        ("dup", "gateway", "acme"),
        ("odd", "engine", ""),
        ("odd", "gateway", "acme"),
        ("odd", "gateway", "other"),
    ]


def test_two_engine_calls_of_one_gateway_call_stay_two(bench):
    """A retry on another worker under the same rid."""
    bench.put("gateway.jsonl", lines({"request_id": "r", "tenant_id": "acme"}))
    bench.put("a_0.log", lines(engine("r", answer="one")))
    bench.put("b_0.log", lines(engine("r", answer="two")))
    bench.run()
    rows = bench.rows("joined_requests", "request")
    assert len(rows) == 3
    assert {row["tenant_id"] for row in rows} == {"acme"}
    assert sorted((row["worker"] or "", row["vantages"]) for row in rows) == [
        ("", "gateway"),
        ("a_0", "engine"),
        ("b_0", "engine"),
    ]


def test_request_and_response_lines_of_one_gateway_call_are_one(bench):
    bench.put(
        "gateway.jsonl",
        lines(
            {
                "request_id": "r",
                "tenant_id": "t",
                "received_at": "2026-01-02T03:04:05Z",
                "request": body("p", "a")["request"],
            },
            {"request_id": "r", "finished_at": "2026-01-02T03:04:06Z", "response": body("p", "a")["response"]},
            {"request_id": "s", "tenant_id": "t", "response": body("p", "one")["response"]},
            {"request_id": "s", "tenant_id": "t", "response": body("p", "two")["response"]},
        ),
    )
    bench.run()
    rows = bench.rows("joined_requests", "request")
    assert [row["request_id"] for row in rows] == ["r", "s", "s"]
    assert (rows[0]["prompt_state"], rows[0]["response_state"], rows[0]["finished_at"]) == (
        "full",
        "full",
        datetime(2026, 1, 2, 3, 4, 6),
    )


def test_times_are_taken_from_one_vantage(bench):
    bench.put("gateway.jsonl", lines({"request_id": "r", "tenant_id": "t", "timestamp": "2026-01-02T03:04:05.900Z"}))
    bench.put("n_0.log", lines(engine("r", at="2026-01-02T03:04:07")))
    bench.run()
    row = bench.joined()["r"]
    assert (row["received_at"], row["finished_at"]) == (datetime(2026, 1, 2, 3, 4, 6), datetime(2026, 1, 2, 3, 4, 7))


def test_an_abort_at_the_engine_is_an_abort_of_the_call(bench):
    record = engine("r")
    record["out"]["meta_info"]["finish_reason"] = {"type": "abort"}
    bench.put("gateway.jsonl", lines({"request_id": "r", "tenant_id": "t", "status": 200}))
    bench.put("n_0.log", lines(record))
    bench.run()
    assert bench.joined()["r"]["status"] == "aborted"


def test_conflicting_tenants_are_counted(bench):
    bench.put("gateway.jsonl", lines({"request_id": "r", "tenant_id": "t1"}))
    bench.put("n_0.log", lines(engine("r", headers={"x-tenant-id": "t2"})))
    summary = bench.run()
    assert (bench.joined()["r"]["tenant_id"], summary.figures["tenant_conflicts"]) == ("t1", 1)


LONG = "key_kind,key,tenant_id,organisation,legal_name,contact,country,language\n"


def test_tenants_file_long_header(bench):
    bench.put(
        "g/gateway.jsonl",
        lines(
            {"request_id": "r1"},
            {"request_id": "r2", "user": "u2"},
            {"request_id": "r3", "headers": {"x-api-key": "sk-invented"}},
            {"request_id": "r4", "request": {"messages": [], "cache_salt": "salt-4"}},
            {"request_id": "r5", "tenant_id": "acme-us"},
            {"request_id": "r6", "tenant_id": "solo", "user": "u2"},
            {"request_id": "r7"},
        ),
    )
    table = bench.put(
        "tenants.csv",
        LONG
        + (
            "request_id,r1,acme-eu,Acme Group,Acme GmbH,dpo@acme.example,DE,de\n"
            "user,u2,beta,,,,,\n"
            "api_key,sk-invented,gamma,,,,,\n"
            "header,salt-4,delta,,,,,\n"
            'tenant,acme-us,acme-us,Acme Group,"Acme, Inc.",,US,en\n'
        ),
    )
    bench.run(bench.folder / "g", tenants=table)
    found = {
        name: (row["tenant_id"], row["tenant_basis"], row["isolation_unit"]) for name, row in bench.joined().items()
    }
    assert found == {
        "r1": ("acme-eu", "tenants_file", "Acme Group"),
        "r2": ("beta", "tenants_file", "beta"),
        "r3": ("gamma", "tenants_file", "gamma"),
        "r4": ("delta", "tenants_file", "delta"),
        "r5": ("acme-us", "record", "Acme Group"),
        "r6": ("solo", "record", "solo"),
        "r7": (None, "none", None),
    }
    assert bench.case.count("tenants") == 5


def test_tenants_file_short_header_names_and_merges(bench):
    bench.put(
        "g/gateway.jsonl",
        lines(
            {"request_id": "r1"},
            {"request_id": "r2", "tenant_id": "acme-us"},
            {"request_id": "r3", "user": "u", "tenant_id": "x"},
        ),
    )
    table = bench.put("tenants.csv", "\ufeffkey,tenant\r\nr1,acme\r\nacme-us,acme\r\n\r\n")
    bench.run(bench.folder / "g", tenants=table)
    assert {name: row["tenant_id"] for name, row in bench.joined().items()} == {"r1": "acme", "r2": "acme", "r3": "x"}


def test_isolate_by_user(bench):
    bench.put(
        "g.jsonl", lines({"request_id": "r1", "tenant_id": "t", "user": "u1"}, {"request_id": "r2", "tenant_id": "t"})
    )
    bench.run(isolate_by="user")
    assert {name: row["isolation_unit"] for name, row in bench.joined().items()} == {"r1": "t/u1", "r2": "t"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "tenant,key\na,b\n",
        "key_kind,key\nuser,u\n",
        LONG + "planet,x,t,,,,,\n",
        LONG + "user,,t,,,,,\n",
        "key,tenant\na,b,c\n",
        "key,tenant\na,b\na,c\n",
        LONG + "user,u,t,One,,,,\nuser,v,t,Two,,,,\n",
        'key,tenant\n"a,b\n',
    ],
)
def test_a_wrong_tenants_file_says_what_to_change(bench, text):
    bench.put("g/g.jsonl", lines({"request_id": "r1"}))
    table = bench.put("tenants.csv", text)
    with pytest.raises(UsageError):
        bench.run(bench.folder / "g", tenants=table)


def test_usage_errors(bench):
    bench.put("g.jsonl", lines({"request_id": "r1"}))
    with pytest.raises(MissingInput):
        bench.run(bench.folder / "absent")
    for wrong in ({"format": "nonsense"}, {"time_zone": "Mars/Base"}, {"isolate_by": "planet"}, {"workers": 0}):
        with pytest.raises(UsageError):
            bench.run(**wrong)


def told_by_trace(rid: str, at: str, prompt: int = 9, answer: int = 4, span: str = "b7ad6b7169203331") -> str:
    """A root span as SGLang's traces have it (seen live, 0.5.23): no texts, the engine's own id, counts of tokens."""
    start = int(datetime.fromisoformat(at + "+00:00").timestamp()) * 1_000_000_000
    found = {"rid": rid, "module": "sglang::request", "gen_ai.response.model": "m"}
    counts = {"gen_ai.usage.prompt_tokens": prompt, "gen_ai.usage.completion_tokens": answer}
    attributes = [{"key": key, "value": {"stringValue": value}} for key, value in found.items()]
    attributes += [{"key": key, "value": {"intValue": str(value)}} for key, value in counts.items()]
    times = {"startTimeUnixNano": str(start + 300_000_000), "endTimeUnixNano": str(start + 1_200_000_000)}
    made = {"traceId": span * 2, "spanId": span, "name": f"Req {rid}", **times, "attributes": attributes}
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "sglang"}}]}
    scopes = [{"scope": {"name": "sglang server"}, "spans": [made]}]
    return json.dumps({"resourceSpans": [{"resource": resource, "scopeSpans": scopes}]}) + "\n"


def counted_engine(rid: str, at: str) -> dict[str, object]:
    made = engine(rid, at=at)
    made["out"]["meta_info"] |= {"prompt_tokens": 9, "completion_tokens": 4}  # type: ignore[index]
    return made


@pytest.mark.parametrize("trace_file", ["a-spans.jsonl", "z-spans.jsonl"])
def test_a_trace_and_the_engines_own_lines_tell_of_one_call(bench, trace_file):
    bench.put("gateway.jsonl", lines({"request_id": "r1", "tenant_id": "acme"}))
    bench.put("node_0.log", lines(counted_engine("r1", "2026-01-02T03:04:07")))
    bench.put(trace_file, told_by_trace("r1", "2026-01-02T03:04:06"))
    assert bench.run().figures["joined"] == 1
    row = bench.joined()["r1"]
    assert (row["worker"], row["model"], row["vantages"]) == ("node_0", "m", "engine,gateway")
    assert row["finished_at"] == datetime(2026, 1, 2, 3, 4, 7)


def test_a_line_of_the_metrics_export_and_the_engines_own_lines_tell_of_one_call(bench):
    """The export leaves the texts out where the request log has them."""
    bench.put("gateway.jsonl", lines({"request_id": "r1", "tenant_id": "acme"}))
    bench.put("node_0.log", lines(counted_engine("r1", "2026-01-02T03:04:07")))
    asked = json.dumps({"rid": "r1", "stream": False, "sampling_params": {"temperature": 0}})
    times = {"request_received_ts": 1767323046.0, "request_finished_ts": 1767323047.0}
    export = {"request_parameters": asked, "id": "r1", "finish_reason": {"type": "stop"}, "prompt_tokens": 9, **times}
    bench.put("sglang-request-metrics-20260102_03.log", lines(export | {"completion_tokens": 4, "cached_tokens": 2}))
    assert bench.run().figures["joined"] == 1
    row = bench.joined()["r1"]
    assert (row["worker"], row["cached_tokens"], row["examinable"]) == ("node_0", 2, True)


def test_a_trace_that_contradicts_the_engines_lines_stays_apart(bench):
    bench.put("node_0.log", lines(counted_engine("r1", "2026-01-02T03:04:07")))
    bench.put("spans.jsonl", told_by_trace("r1", "2026-01-02T03:04:06", answer=5))
    bench.run()
    assert len(bench.rows("requests", "key")) == 2


@pytest.mark.parametrize(("at", "apart"), [("2026-01-02T05:34:06", 1), ("2026-01-02T05:40:06", 2)])
def test_a_trace_may_be_a_zone_away_and_nothing_else(bench, at, apart):
    bench.put("node_0.log", lines(counted_engine("r1", "2026-01-02T03:04:07")))
    bench.put("spans.jsonl", told_by_trace("r1", at))
    bench.run()
    assert len(bench.rows("requests", "key")) == apart


def test_traces_of_an_id_that_came_twice_go_each_to_its_own_call(bench):
    first, second = "2026-01-02T03:04:07", "2026-01-02T03:09:07"
    bench.put("node_0.log", lines(counted_engine("r1", first), counted_engine("r1", second)))
    later = told_by_trace("r1", "2026-01-02T03:09:06", span="a" * 16)
    bench.put("spans.jsonl", later + told_by_trace("r1", "2026-01-02T03:04:06"))
    bench.run()
    assert sorted(row["finished_at"].minute for row in bench.rows("requests", "key")) == [4, 9]


def test_one_trace_of_an_id_that_came_twice_goes_to_neither(bench):
    twice = (counted_engine("r1", at) for at in ("2026-01-02T03:04:07", "2026-01-02T03:04:08"))
    bench.put("node_0.log", lines(*twice))
    bench.put("spans.jsonl", told_by_trace("r1", "2026-01-02T03:04:06"))
    bench.run()
    assert len(bench.rows("requests", "key")) == 3
