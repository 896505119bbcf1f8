"""Ids that engines make from the gateway's, ids that repeat, collapse or are missing: joined on what is left, or not.

The forms of ids are those of vLLM's and SGLang's sources (docs/formats.md); all content is invented.
"""

from __future__ import annotations

import json

import pytest

PROMPT = "When does the ferry to pier {} leave on a day like this one, please?"
ANSWER = "It leaves pier {} at half past the hour, and every hour after that."


def lines(*records: object) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def clock(second: float) -> str:
    return f"2026-03-04T05:{int(second) // 60:02d}:{second % 60:09.6f}Z"


def call(
    vantage: str,
    rid: str,
    number: int = 0,
    start: float | None = 0.0,
    end: float | None = None,
    *,
    text: bool = True,
    answer: str | None = None,
    **more: object,
) -> dict[str, object]:
    record: dict[str, object] = {"vantage": vantage, "request_id": rid, **more}
    if start is not None:
        record["timestamp"] = clock(start)
        record["finished_at"] = clock(start + 2 if end is None else end)
    if text:
        record["request"] = {"messages": [{"role": "user", "content": PROMPT.format(number)}]}
        content = ANSWER.format(number) if answer is None else answer
        record["response"] = {"choices": [{"message": {"content": content}}]}
    return record


def calls(bench) -> list[tuple[str, str | None]]:
    return sorted((row["vantages"], row["tenant_id"]) for row in bench.rows("joined_requests", "request"))


def bases(bench) -> set[tuple[str, str]]:
    return {(row["basis"], row["form"]) for row in bench.rows("request_joins", "request")}


def outcomes(bench) -> dict[tuple[str, str, str], int]:
    return {
        (row["vantage"], row["other_vantage"], row["outcome"]): row["requests"]
        for row in bench.rows("join_outcomes", "vantage")
    }


@pytest.mark.parametrize(
    ("gateway", "engine", "form"),
    [
        ("g-01", "chatcmpl-g-01", "prefix"),
        ("g-01", "cmpl-g-01-0", "prefix, index"),
        ("cmpl-g-01", "cmpl-g-01-0", "index"),
        ("9f3c01d2", "resp_9f3c01d2", "prefix"),
        ("9f3c01d2", "resp_9f3c01d2_2", "prefix, item"),
        ("chatcmpl-g-01", "chatcmpl-g-01-1a2b3c4d", "suffix"),
        ("g-01", "chatcmpl-g-01-1a2b3c4d", "prefix, suffix"),
        ("g-01", "cmpl-g-01-0-1a2b3c4d", "prefix, index, suffix"),
        ("chatcmpl-g-01", "0_chatcmpl-g-01-1a2b3c4d", "child, suffix"),
        ("g-01", "1_chatcmpl-g-01-1a2b3c4d", "child, prefix, suffix"),
        ("batch-7", "batch-7_0", "item"),
        ("rid-0001", "3_rid-0001", "child"),
    ],
)
def test_an_id_made_from_the_gateways_joins_where_it_is_the_only_one(bench, gateway, engine, form):
    bench.put("g.jsonl", lines(call("gateway", gateway, text=False, tenant_id="acme")))
    bench.put("e.jsonl", lines(call("engine", engine, 1, 0.2, 1.8)))
    bench.run()
    assert calls(bench) == [("engine,gateway", "acme")]
    assert bases(bench) == {("derived_id", form)}


def test_the_exact_id_comes_before_a_made_one(bench):
    bench.put("g.jsonl", lines(call("gateway", "job-1", 1, 0, text=False), call("gateway", "job-1-0a0b0c0d", 2, 10)))
    bench.put("e.jsonl", lines(call("engine", "job-1-0a0b0c0d", 2, 10.1, 11)))
    bench.run()
    assert [(row["request_id"], row["vantages"]) for row in bench.rows("joined_requests", "request_id")] == [
        ("job-1", "gateway"),
        ("job-1-0a0b0c0d", "engine,gateway"),
    ]


def test_a_bare_form_does_not_join_what_the_time_speaks_against(bench):
    """Eight hex digits behind an id may be somebody's own naming."""
    bench.put("g.jsonl", lines(call("gateway", "job-1", start=0, text=False, tenant_id="acme")))
    bench.put("e.jsonl", lines(call("engine", "job-1-0a0b0c0d", 1, 300, 301)))
    bench.run()
    assert [vantages for vantages, _ in calls(bench)] == ["engine", "gateway"]
    assert outcomes(bench)[("engine", "gateway", "time_differs")] == 1


def test_a_bare_form_without_times_does_not_join(bench):
    bench.put("g.jsonl", lines(call("gateway", "job-1", start=None, text=False, tenant_id="acme")))
    bench.put("e.jsonl", lines(call("engine", "job-1-0a0b0c0d", 1, None)))
    bench.run()
    assert [vantages for vantages, _ in calls(bench)] == ["engine", "gateway"]
    assert outcomes(bench)[("engine", "gateway", "not_corroborated")] == 1


def test_the_items_of_a_batch_stay_calls_of_their_own_with_the_tenant_of_the_whole(bench):
    bench.put("g.jsonl", lines(call("gateway", "batch-0007", text=False, tenant_id="acme")))
    bench.put("e.jsonl", lines(*[call("engine", f"batch-0007_{i}", i, 0.2, 1.8) for i in range(3)]))
    bench.run()
    assert calls(bench) == [("engine", "acme")] * 3 + [("gateway", "acme")]
    assert outcomes(bench) == {("engine", "gateway", "many_to_one"): 3, ("gateway", "engine", "one_to_many"): 1}
    (row,) = bench.rows("join_keys", "rank")
    assert (row["form"], row["far_repeated"], row["one_to_many"], row["one_to_one"]) == ("item", 1, 1, 0)


def test_retries_under_one_id_are_told_apart_by_their_texts(bench):
    """Two tenants' proxies number their calls alike: the same id, twice at each vantage, other content."""
    bench.put(
        "g.jsonl",
        lines(call("gateway", "r-1", 1, 0, tenant_id="acme"), call("gateway", "r-1", 2, 60, tenant_id="globex")),
    )
    bench.put("e.jsonl", lines(call("engine", "r-1", 2, 60.1, 61), call("engine", "r-1", 1, 0.1, 1)))
    bench.run()
    assert calls(bench) == [("engine,gateway", "acme"), ("engine,gateway", "globex")]
    assert bases(bench) == {("id_and_text", "prompt and response")}
    assert bench.texts("r-1")  # both calls keep their texts
    for row in bench.rows("requests", "key"):
        assert (row["tenant_id"] or "x") in ("x", "acme", "globex")
    by_tenant = {row["tenant_id"]: row["received_at"].minute for row in bench.rows("joined_requests", "request")}
    assert by_tenant == {"acme": 0, "globex": 1}


def test_a_collapsed_id_joins_by_text_and_time(bench):
    """A proxy that gives all calls one id."""
    bench.put("g.jsonl", lines(*[call("gateway", "proxy", i, i * 10, tenant_id=f"t{i}") for i in range(4)]))
    bench.put("e.jsonl", lines(*[call("engine", f"rid-{i}", i, i * 10 + 0.1, i * 10 + 1) for i in range(4)]))
    bench.run()
    assert calls(bench) == [("engine,gateway", f"t{i}") for i in range(4)]
    assert {basis for basis, _ in bases(bench)} == {"text_and_time"}


def test_the_same_words_at_the_same_time_from_two_tenants_join_nothing(bench):
    bench.put("g.jsonl", lines(*[call("gateway", f"g-{t}", 7, 0, tenant_id=t, rid_of="x") for t in ("acme", "globex")]))
    bench.put("e.jsonl", lines(call("engine", "e-1", 7, 0.1, 1), call("engine", "e-2", 7, 0.2, 1.5)))
    bench.run()
    assert [vantages for vantages, _ in calls(bench)] == ["engine", "engine", "gateway", "gateway"]
    assert {row["tenant_id"] for row in bench.rows("joined_requests", "request")} == {None, "acme", "globex"}
    assert outcomes(bench)[("gateway", "engine", "tie")] == 2


def test_the_same_words_at_other_times_join_by_the_time(bench):
    bench.put("g.jsonl", lines(*[call("gateway", f"g-{t}", 7, i * 60, tenant_id=t) for i, t in enumerate("ab")]))
    bench.put("e.jsonl", lines(*[call("engine", f"e-{i}", 7, i * 60 + 0.1, i * 60 + 1) for i in range(2)]))
    bench.run()
    assert calls(bench) == [("engine,gateway", "a"), ("engine,gateway", "b")]


def test_text_is_not_enough_where_the_time_is_another(bench):
    bench.put("g.jsonl", lines(call("gateway", "g-1", 7, 0, tenant_id="acme")))
    bench.put("e.jsonl", lines(call("engine", "e-1", 7, 600.0, 601)))
    bench.run()
    assert len(calls(bench)) == 2
    assert outcomes(bench)[("gateway", "engine", "unmatched")] == 1


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"model": "m-small"}, "model_differs"),
        ({"usage": {"prompt_tokens": 9, "completion_tokens": 5}}, "tokens_differ"),
        ({"answer": "Ferries are not running at all today, I am very sorry."}, "response_differs"),
    ],
)
def test_what_contradicts_leaves_both_apart(bench, change, reason):
    """Both models are known at both vantages, so that another name is another model."""
    usage = {"prompt_tokens": 9, "completion_tokens": 4}
    same = {"model": "m-large", "usage": usage}
    other = [
        call(vantage, f"{vantage}-o", 3, 600, 601, model="m-small", usage=usage) for vantage in ("gateway", "engine")
    ]
    bench.put("g.jsonl", lines(call("gateway", "g-1", 7, 0, tenant_id="acme", **same), other[0]))
    bench.put("e.jsonl", lines(call("engine", "e-1", 7, 0.1, 1, **{**same, **change}), other[1]))
    bench.run()
    assert sorted(vantages for vantages, _ in calls(bench)) == ["engine", "engine,gateway", "gateway"]
    assert outcomes(bench)[("engine", "gateway", reason)] == 1


def test_a_row_with_an_id_of_a_kind_that_joins_all_others_is_not_joined_by_text(bench):
    """Its partner is missing in the evidence; the other call with those words is somebody else's."""
    bench.put(
        "g.jsonl", lines(*[call("gateway", f"r-{i}", i, i * 10) for i in range(12)], call("gateway", "r-98", 50, 200))
    )
    bench.put(
        "e.jsonl",
        lines(
            *[call("engine", f"r-{i}", i, i * 10 + 0.1, i * 10 + 1) for i in range(12)],
            call("engine", "r-99", 50, 200.1, 201),
        ),
    )
    bench.run()
    assert outcomes(bench) == {
        ("engine", "gateway", "joined"): 12,
        ("engine", "gateway", "ids_differ"): 1,
        ("gateway", "engine", "joined"): 12,
        ("gateway", "engine", "ids_differ"): 1,
    }


def test_an_id_that_starts_over_does_not_join_calls_of_other_days(bench):
    """Counters restart: `c-40` of the gateway's log is not the `c-40` of the engine's."""
    same = [call("gateway", f"c-{i}", i, i, text=False) for i in range(30)]
    there = [call("engine", f"c-{i}", i, i + 0.1, i + 1) for i in range(30)]
    bench.put("g.jsonl", lines(*same, call("gateway", "c-40", 40, 100, text=False, tenant_id="acme")))
    bench.put("e.jsonl", lines(*there, call("engine", "c-40", 41, 3000, 3001)))
    bench.run()
    assert outcomes(bench)[("gateway", "engine", "time_differs")] == 1
    assert outcomes(bench)[("gateway", "engine", "joined")] == 30


def test_a_trace_joins_only_where_the_time_fits(bench):
    bench.put(
        "g.jsonl",
        lines(
            call("gateway", "g-1", 1, 0, text=False, trace_id="t-1", tenant_id="acme"),
            call("gateway", "g-2", 2, 60, text=False, trace_id="t-2", tenant_id="globex"),
        ),
    )
    bench.put(
        "e.jsonl",
        lines(
            call("engine", "e-1", 1, 0.1, 1, trace_id="t-1"),
            call("engine", "e-2", 2, 90, 91, trace_id="t-2"),
        ),
    )
    bench.run()
    assert [vantages for vantages, _ in calls(bench)] == ["engine", "engine,gateway", "gateway"]
    assert bases(bench) == {("shared_id", "exact")}


def test_uniqueness_is_measured_per_kind(bench):
    """Every id of the header is the proxy's own; the response's id tells the calls apart."""
    gateway = [call("gateway", f"g-{i}", i, i * 10, **{"x-request-id": "proxy-1"}) for i in range(12)]
    for i, record in enumerate(gateway):
        record["response"]["id"] = f"e-{i}"
    bench.put("g.jsonl", lines(*gateway))
    bench.put(
        "e.jsonl",
        lines(
            *[call("engine", f"e-{i}", i, i * 10 + 0.1, i * 10 + 1, **{"x-request-id": "proxy-1"}) for i in range(12)]
        ),
    )
    bench.run()
    rows = {(row["near_kind"], row["far_kind"]): row for row in bench.rows("join_keys", "rank")}
    assert {
        key: (row["one_to_one"], row["many_to_many"], row["near_ids"], row["near_repeated"], row["rank"])
        for key, row in rows.items()
    } == {
        ("response_id", "request_id"): (12, 0, 12, 0, 1),
        ("x-request-id", "x-request-id"): (0, 1, 1, 1, 2),
    }
    assert outcomes(bench)[("gateway", "engine", "joined")] == 12


def rendered(rid: str, number: int, answer: int, start: float) -> dict[str, object]:
    """An engine's finished line: the prompt as the template made it, the answer as generated."""
    return {
        "timestamp": clock(start + 1)[:-1],
        "event": "request.finished",
        "rid": rid,
        "obj": {"text": f"<|user|>\n{PROMPT.format(number)}<|assistant|>\n"},
        "out": {
            "text": ANSWER.format(answer),
            "meta_info": {"id": rid, "finish_reason": {"type": "stop"}, "e2e_latency": 0.9},
        },
    }


def test_an_answer_joins_where_the_messages_stand_in_the_rendered_prompt(bench):
    bench.put("g.jsonl", lines(*[call("gateway", f"g-{i}", i, i * 0.1, tenant_id=f"t{i}") for i in range(3)]))
    bench.put("n_0.log", lines(*[rendered(f"e{i}", i, i, i * 0.1 + 0.05) for i in range(3)]))
    bench.run()
    assert calls(bench) == [("engine,gateway", f"t{i}") for i in range(3)]
    assert bases(bench) == {("text_and_time", "response")}


def test_answers_that_a_gateway_swapped_do_not_join_the_wrong_calls(bench):
    """No id is shared; the answers are equal across, the prompts are not: the leak itself must not make the join."""
    bench.put(
        "g.jsonl",
        lines(
            *[call("gateway", f"g-{i}", i, 0.1 * i, answer=ANSWER.format(1 - i), tenant_id=f"t{i}") for i in range(2)]
        ),
    )
    bench.put("n_0.log", lines(*[rendered(f"e{i}", i, i, 0.1 * i + 0.05) for i in range(2)]))
    bench.run()
    assert calls(bench) == [("engine", None), ("engine", None), ("gateway", "t0"), ("gateway", "t1")]
    assert outcomes(bench)[("gateway", "engine", "prompt_differs")] == 2


def test_an_answer_alone_does_not_join(bench):
    """Nobody logs a prompt: an answer that went to the wrong call would look the same."""
    gateway = call("gateway", "g-1", 1, 0, tenant_id="acme")
    engine = call("engine", "e-1", 1, 0.1, 1)
    del gateway["request"], engine["request"]
    bench.put("g.jsonl", lines(gateway))
    bench.put("e.jsonl", lines(engine))
    bench.run()
    assert len(calls(bench)) == 2
    assert outcomes(bench)[("gateway", "engine", "not_corroborated")] == 1


def carried(
    vantage: str, rid: str | None, response_id: str, number: int, answer: int, start: float, **more: object
) -> dict[str, object]:
    """A call as a gateway or client logs it, with the id that came in the body of the answer."""
    record = call(vantage, rid or "", number, start, answer=ANSWER.format(answer), **more)
    if rid is None:
        del record["request_id"]
    record["response"]["id"] = response_id
    return record


def tenants_of(bench) -> set[tuple[str, str | None]]:
    """Every engine row with the tenant that its call was given."""
    named = {row["request"]: row["tenant_id"] for row in bench.rows("joined_requests", "request")}
    return {
        (row["request_id"], named[row["request"]])
        for row in bench.rows("requests", "key")
        if row["vantage"] == "engine"
    }


@pytest.mark.parametrize("own", [True, False])
def test_a_body_that_was_swapped_with_its_id_joins_nothing(bench, own):
    """The answer's id is the other call's, as the answer is: the leak itself must not make the join."""
    bench.put(
        "g.jsonl",
        lines(
            *[
                carried("gateway", f"g-{i}" if own else None, f"e{1 - i}", i, 1 - i, 0.1 * i, tenant_id=f"t{i}")
                for i in range(2)
            ],
            carried("gateway", "g-2" if own else None, "e2", 2, 2, 0.2, tenant_id="t2"),
        ),
    )
    bench.put("n_0.log", lines(*[rendered(f"e{i}", i, i, 0.1 * i + 0.05) for i in range(3)]))
    bench.run()
    assert tenants_of(bench) == {("e0", None), ("e1", None), ("e2", "t2")}
    assert outcomes(bench)[("gateway", "engine", "prompt_differs")] == 2
    assert bases(bench) == {("id", "exact")}


def test_a_swapped_body_is_told_by_the_messages_too(bench):
    bench.put(
        "g.jsonl",
        lines(*[carried("gateway", f"g-{i}", f"e-{1 - i}", i, 1 - i, 0.1 * i, tenant_id=f"t{i}") for i in range(2)]),
    )
    bench.put("e.jsonl", lines(*[call("engine", f"e-{i}", i, 0.1 * i + 0.02, 1) for i in range(2)]))
    bench.run()
    assert tenants_of(bench) == {("e-0", None), ("e-1", None)}


def test_an_id_made_from_the_answers_is_checked_too(bench):
    """vLLM: the engine's id is the answer's and eight hex digits."""
    bench.put(
        "g.jsonl",
        lines(
            *[
                carried("gateway", f"g-{i}", f"chatcmpl-e{1 - i}", i, 1 - i, 0.1 * i, tenant_id=f"t{i}")
                for i in range(2)
            ]
        ),
    )
    bench.put("e.jsonl", lines(*[call("engine", f"chatcmpl-e{i}-0a1b2c3d", i, 0.1 * i + 0.02, 1) for i in range(2)]))
    bench.run()
    assert {tenant for _, tenant in tenants_of(bench)} == {None}


def test_the_answers_id_joins_with_a_stated_doubt_where_a_side_logs_no_prompt(bench):
    bench.put("g.jsonl", lines(carried("gateway", "g-1", "e-1", 1, 1, 0, tenant_id="acme")))
    bench.put("e.jsonl", lines(call("engine", "e-1", 1, 0.1, 1, text=False)))
    summary = bench.run()
    assert calls(bench) == [("engine,gateway", "acme")]
    assert bases(bench) == {("id_no_prompt", "exact")}
    assert any("id of the answer alone" in warning for warning in summary.warnings)


def test_an_id_of_the_call_itself_overrules_the_answers(bench):
    """The header tells the engine's call; the answer that came back was another's. No prompt is logged."""
    gateway = [carried("gateway", f"g-{i}", f"e-{1 - i}", i, 1 - i, 0.1 * i, tenant_id=f"t{i}") for i in range(2)]
    for i, record in enumerate(gateway):
        record["x-request-id"] = f"e-{i}"
    bench.put("g.jsonl", lines(*gateway))
    bench.put("e.jsonl", lines(*[call("engine", f"e-{i}", i, 0.1 * i + 0.02, 1, text=False) for i in range(2)]))
    bench.run()
    assert tenants_of(bench) == {("e-0", "t0"), ("e-1", "t1")}


def test_a_prompt_that_changed_under_an_id_of_the_call_is_a_divergence_of_one_call(bench):
    bench.put("g.jsonl", lines(call("gateway", "r-1", 1, 0, tenant_id="acme")))
    bench.put("e.jsonl", lines(call("engine", "r-1", 2, 0.1, 1)))
    bench.run()
    assert calls(bench) == [("engine,gateway", "acme")]
    assert {(row["side"], row["kind"]) for row in bench.rows("divergences", "field")} == {
        ("prompt", "different"),
        ("response", "different"),
    }


def test_no_swapped_body_comes_in_through_an_engine_that_logs_no_prompt(bench):
    """Client and engine share the answer's id only; gateway and engine the call's. The gateway's prompt is another."""
    bench.put("g.jsonl", lines(*[call("gateway", f"e-{i}", i, 0.1 * i, tenant_id=f"t{i}") for i in range(2)]))
    bench.put("e.jsonl", lines(*[call("engine", f"e-{i}", i, 0.1 * i + 0.02, 1, text=False) for i in range(2)]))
    bench.put("c.jsonl", lines(carried("client", "c-0", "e-1", 0, 1, 0)))
    bench.run()
    assert [vantages for vantages, _ in calls(bench)] == ["client", "engine,gateway", "engine,gateway"]


def test_what_was_left_apart_for_its_time_names_no_tenant(bench):
    same = [call("gateway", f"counter-{i:03d}", i, i, text=False) for i in range(30)]
    there = [call("engine", f"counter-{i:03d}", i, i + 0.1, i + 1) for i in range(30)]
    bench.put("g.jsonl", lines(*same, call("gateway", "counter-040", 40, 100, text=False, tenant_id="acme")))
    bench.put("e.jsonl", lines(*there, call("engine", "counter-040", 41, 3000, 3001)))
    bench.run()
    assert ("counter-040", None) in tenants_of(bench)


def test_a_gateway_that_adds_a_system_text_keeps_its_calls(bench):
    bench.put("c.jsonl", lines(carried("client", "c-1", "e-1", 1, 1, 0)))
    gateway = carried("gateway", "g-1", "e-1", 1, 1, 0.1, tenant_id="acme", end=1.5)
    gateway["request"]["messages"].insert(0, {"role": "system", "content": "You answer for the harbour office."})
    bench.put("g.jsonl", lines(gateway))
    bench.run()
    assert calls(bench) == [("client,gateway", "acme")]
    assert bases(bench) == {("id", "exact")}


def test_a_prompt_that_the_engine_cut_neither_confirms_nor_contradicts(bench):
    """SGLang's level 2 keeps 1,024 characters at each end."""
    gateway = carried("gateway", "g-1", "e1", 1, 1, 0, tenant_id="acme")
    long = " ".join(f"{i} boats" for i in range(600))
    gateway["request"]["messages"][0]["content"] = long
    engine = rendered("e1", 1, 1, 0.05)
    engine["obj"] = {"text": f"{long[:1024]}...{long[-1024:]}"}
    bench.put("g.jsonl", lines(gateway))
    bench.put("n_0.log", lines(engine))
    bench.run()
    assert calls(bench) == [("engine,gateway", "acme")]
    assert bases(bench) == {("id_no_prompt", "exact")}


def test_a_gateway_that_names_its_calls_by_their_answers_is_checked(bench):
    """LiteLLM's `request_id` is the id of the answer; its own call id is another field."""
    rows = [
        {
            "request_id": f"e{1 - i}",
            "litellm_call_id": f"call-{i}",
            "call_type": "acompletion",
            "api_key": "k",
            "spend": 0.1,
            "startTime": clock(0.1 * i),
            "endTime": clock(0.1 * i + 1),
            "team_id": f"t{i}",
            "proxy_server_request": {"messages": [{"role": "user", "content": PROMPT.format(i)}]},
            "response": {"id": f"e{1 - i}", "choices": [{"message": {"content": ANSWER.format(1 - i)}}]},
        }
        for i in range(2)
    ]
    bench.put("g.jsonl", lines(*rows))
    bench.put("n_0.log", lines(*[rendered(f"e{i}", i, i, 0.1 * i + 0.05) for i in range(2)]))
    bench.run()
    assert {row["format"] for row in bench.rows("evidence", "name")} == {"litellm_spend", "sglang_json"}
    assert tenants_of(bench) == {("e0", None), ("e1", None)}


def test_a_record_named_as_its_answer_is_checked_by_the_prompts(bench):
    """Such a name may have come with the body: a body that went to the wrong call brings it there."""
    records = []
    for number in range(2):
        bench_call = call("engine", f"chatcmpl-{number}", number)
        records.append(bench_call)
    for number in range(2):
        other = 1 - number  # the bodies are swapped, and their ids with them
        swapped = call("gateway", f"chatcmpl-{other}", number, answer=ANSWER.format(other), tenant_id=f"t-{number}")
        swapped["response"]["id"] = f"chatcmpl-{other}"
        records.append(swapped)
    bench.put("log.jsonl", lines(*records))
    bench.run()
    wrong = [row for row in bench.rows("request_joins", "request") if row["basis"].startswith("id")]
    assert wrong == []
