"""The house format and request/response pairs in their envelopes."""

from __future__ import annotations

import json
from datetime import datetime

import pytest

MESSAGES = [{"role": "user", "content": "When does pier 4 open?"}]
ANSWER = {
    "id": "resp-9",
    "object": "chat.completion",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "At six."}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 8, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 4}},
}


def line(record: object) -> str:
    return json.dumps(record) + "\n"


def test_house_record_fills_every_column(bench):
    bench.put(
        "g.jsonl",
        line(
            {
                "request_id": "g-1",
                "tenant_id": "acme",
                "timestamp": "2026-03-04T05:06:07.089Z",
                "finished_at": "2026-03-04T06:06:09+01:00",
                "first_token_at": 1772600767500,
                "worker": "w2",
                "model": "m1",
                "stream": True,
                "user": "u7",
                "status": 200,
                "request": {"messages": MESSAGES},
                "response": ANSWER,
            }
        ),
    )
    summary = bench.run()
    row = bench.joined()["g-1"]
    assert summary.figures["files"][0]["format"] == "house"
    assert (row["tenant_id"], row["user_id"], row["worker"], row["model"], row["status"]) == (
        "acme",
        "u7",
        "w2",
        "m1",
        "200",
    )
    assert row["received_at"] == datetime(2026, 3, 4, 5, 6, 7, 89000)
    assert row["finished_at"] == datetime(2026, 3, 4, 5, 6, 9)
    assert row["first_token_at"] == datetime(2026, 3, 4, 5, 6, 7, 500000)
    assert (row["prompt_tokens"], row["completion_tokens"], row["cached_tokens"]) == (8, 3, 4)
    assert (row["finish_reason"], row["stream"], row["vantages"]) == ("stop", True, "gateway")
    assert (row["examinable"], row["examinable_reason"], row["isolation_unit"]) == (True, "full", "acme")
    assert bench.texts("g-1") == {"<messages[0].content": "When does pier 4 open?", "choices[0].content": "At six."}


def test_an_id_alone_is_a_gateway_record(bench):
    bench.put(
        "g.jsonl",
        line({"request_id": "g-1", "tenant_id": "acme"})
        + line({"request_id": "g-2"})
        + line({"tenant_id": "acme", "timestamp": "2026-03-04T05:06:07Z"}),
    )
    summary = bench.run()
    assert summary.figures["files"][0]["records"] == 2
    assert summary.figures["files"][0]["reasons"] == {"no_id": 1}
    assert bench.joined()["g-1"]["examinable_reason"] == "prompt absent; response absent"
    assert bench.joined()["g-2"]["tenant_basis"] == "none"
    assert bench.joined()["g-2"]["isolation_unit"] is None


@pytest.mark.parametrize(
    "record",
    [
        {"request": {"model": "m1", "messages": MESSAGES}, "response": ANSWER},
        {"req": {"messages": MESSAGES}, "res": ANSWER},
        {"request_body": json.dumps({"messages": MESSAGES}), "response_body": json.dumps(ANSWER)},
        {"request_body": {"messages": MESSAGES}, "response_body": ANSWER},
        {"input": {"messages": MESSAGES}, "output": ANSWER},
        {"input": MESSAGES, "output": "At six."},
        {
            "request": {"method": "POST", "headers": {"X-A": "b"}, "body": {"messages": MESSAGES}},
            "response": {"status": 200, "body": json.dumps(ANSWER)},
        },
        {"request.body": json.dumps({"messages": MESSAGES}), "response.body": json.dumps(ANSWER)},
        {"messages": MESSAGES, "model": "m", "choices": ANSWER["choices"]},
        {"messages": MESSAGES, "model": "m", "response": ANSWER},
    ],
    ids=["request", "req", "json-text", "bodies", "input", "loose", "http", "dotted", "merged", "half-merged"],
)
def test_envelopes_hold_the_same_texts(bench, record):
    bench.put("p.jsonl", line({"ts": "2026-03-04T05:06:07.089Z", "tenant": "acme", "rid": "g-01", **record}))
    summary = bench.run()
    assert summary.figures["rejected"] == 0
    assert bench.texts("g-01") == {"<messages[0].content": "When does pier 4 open?", "choices[0].content": "At six."}
    row = bench.joined()["g-01"]
    assert (row["tenant_id"], row["prompt_state"], row["response_state"]) == ("acme", "full", "full")
    assert row["received_at"] == datetime(2026, 3, 4, 5, 6, 7, 89000)


def test_every_text_has_its_field_path(bench):
    request = {
        "messages": [
            {"role": "system", "content": "sys"},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "one"},
                    {"type": "image_url", "image_url": {"url": "data:x"}},
                    {"type": "input_text", "text": "two"},
                ],
            },
            {
                "role": "assistant",
                "content": None,
                "reasoning_content": "hm",
                "tool_calls": [{"id": "c1", "function": {"name": "seek", "arguments": '{"q": 1}'}}],
            },
            {"role": "tool", "content": "found"},
        ],
        "tools": [{"type": "function", "function": {"name": "seek", "parameters": {"b": 1, "a": 2}}}],
    }
    response = {
        "choices": [
            {
                "index": 0,
                "message": {
                    "content": None,
                    "tool_calls": [{"function": {"name": "f", "arguments": {"k": "v"}}}],
                    "reasoning": "why",
                },
            },
            {"index": 1, "message": {"content": "", "refusal": "no"}},
            {
                "index": 2,
                "message": {
                    "content": [{"type": "output_text", "text": "part"}],
                    "function_call": {"name": "old", "arguments": "{}"},
                },
            },
        ]
    }
    bench.put("p.jsonl", line({"request_id": "r", "request": request, "response": response}))
    bench.run()
    assert bench.texts("r") == {
        "<messages[0].content": "sys",
        "<messages[1].content[0].text": "one",
        "<messages[1].content[2].text": "two",
        "<messages[2].reasoning": "hm",
        "<messages[2].tool_calls[0].function.name": "seek",
        "<messages[2].tool_calls[0].function.arguments": '{"q": 1}',
        "<messages[3].content": "found",
        "<tools[0]": '{"type":"function","function":{"name":"seek","parameters":{"b":1,"a":2}}}',
        "choices[0].reasoning": "why",
        "choices[0].tool_calls[0].function.name": "f",
        "choices[0].tool_calls[0].function.arguments": '{"k":"v"}',
        "choices[1].refusal": "no",
        "choices[2].content[0].text": "part",
        "choices[2].tool_calls[0].function.name": "old",
        "choices[2].tool_calls[0].function.arguments": "{}",
    }
    roles = {row["field"]: row["role"] for row in bench.rows("request_contents", "ordinal")}
    assert (roles["messages[0].content"], roles["messages[3].content"], roles["choices[0].reasoning"]) == (
        "system",
        "tool",
        "response",
    )


def test_completions_and_bare_responses(bench):
    bench.put(
        "c.jsonl",
        line(
            {
                "request_id": "c1",
                "request": {"prompt": ["a", "b"]},
                "response": {"choices": [{"text": "x"}, {"text": "y"}]},
            }
        )
        + line({**ANSWER, "created": 1772600767}),
    )
    bench.run()
    assert bench.texts("c1") == {
        "<prompt[0]": "a",
        "<prompt[1]": "b",
        "choices[0].content": "x",
        "choices[1].content": "y",
    }
    bare = bench.joined()["resp-9"]
    assert (bare["vantages"], bare["received_at"], bare["finished_at"]) == (
        "client",
        None,
        datetime(2026, 3, 4, 5, 6, 7),
    )
    assert bare["examinable_reason"] == "tenant unknown; prompt absent"


@pytest.mark.parametrize(
    ("record", "tenant"),
    [
        ({"tenant_id": "a", "tenant": "b", "headers": {"x-tenant-id": "c"}}, "a"),
        ({"tenant": {"id": "b"}, "headers": {"x-tenant-id": "c"}}, "b"),
        ({"headers": {"X-Tenant-ID": "c"}, "metadata": {"tenant": "d"}}, "c"),
        ({"headers": [{"name": "X-Tenant", "value": "c2"}]}, "c2"),
        ({"metadata": {"tenant": "d"}, "headers": {"OpenAI-Organization": "e"}}, "d"),
        ({"request": {"messages": MESSAGES, "metadata": {"tenant_id": "d2"}}}, "d2"),
        ({"headers": {"openai-organization": ["e"]}}, "e"),
        ({"region": "eu", "account_id": "777", "service": "chat"}, None),
    ],
)
def test_tenant_is_read_in_a_fixed_order_and_never_guessed(bench, record, tenant):
    bench.put("t.jsonl", line({"request_id": "r", "request": {"messages": MESSAGES}, **record}))
    bench.run()
    assert bench.joined()["r"]["tenant_id"] == tenant


def test_absence_of_a_body_is_named(bench):
    bench.put(
        "s.jsonl",
        line({"request_id": "r1", "request": {}, "response": "{}"})
        + line({"request_id": "r2", "request": "[REDACTED]", "response": {"type": "encrypted", "data": "b64"}})
        + line(
            {
                "request_id": "r3",
                "stream": True,
                "request": {"messages": []},
                "response": {"choices": [{"message": {"content": "half"}, "finish_reason": None}]},
            }
        )
        + line({"request_id": "r4", "request": '{"messages": [{"role": "us', "response": ANSWER}),
    )
    bench.run()
    states = {name: (row["prompt_state"], row["response_state"]) for name, row in bench.joined().items()}
    assert states == {
        "r1": ("absent", "absent"),
        "r2": ("redacted", "encrypted"),
        "r3": ("full", "partial_stream"),
        "r4": ("truncated", "full"),
    }


@pytest.mark.parametrize(
    ("literal", "text"),
    [
        ("9007199254740993", "9007199254740993"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ("true", "true"),
        ("1.50", "1.50"),
        ('"07"', "07"),
    ],
)
def test_ids_keep_their_digits(bench, literal, text):
    bench.put("n.jsonl", f'{{"request_id": {literal}, "tenant_id": "2026-05-06"}}\n')
    bench.run()
    assert bench.joined()[text]["tenant_id"] == "2026-05-06"


def test_keys_are_kept_as_digests_only(bench):
    secret = "sk-invented-0001"
    bench.put(
        "k.jsonl",
        line({"request_id": "r", "headers": {"Authorization": f"Bearer {secret}"}, "request": {"messages": MESSAGES}}),
    )
    bench.run()
    ids = bench.rows("requests", "key")[0]["ids"]
    # printf 'sk-invented-0001' | sha256sum
    assert "api_key" in json.loads(ids)
    assert secret not in ids


def test_text_is_kept_byte_for_byte(bench):
    hostile = {
        "../../x": "a\x00b\x1b[31m",
        "=cmd()": "<script>alert(1)</script>",
        "<script>": "\u202eabc\r\n",
        "t\x00": "x" * 100_000,
    }
    lines = "".join(
        line({"request_id": tenant, "tenant_id": tenant, "request": {"messages": [{"content": text}]}})
        for tenant, text in hostile.items()
    )
    bench.put("h.jsonl", lines)
    bench.run()
    assert {name: row["tenant_id"] for name, row in bench.joined().items()} == {name: name for name in hostile}
    for tenant, text in hostile.items():
        assert bench.texts(tenant)["<messages[0].content"] == text


@pytest.mark.parametrize(
    ("record", "texts"),
    [
        ({"prompt": "q", "response": "a plain answer"}, {"<prompt": "q", "choices[0].content": "a plain answer"}),
        ({"prompt": "q", "completion": "a"}, {"<prompt": "q", "choices[0].content": "a"}),
        (
            {"input": "q", "output": '{"answer": 42, "id": 7}'},
            {"<prompt": "q", "choices[0].content": '{"answer": 42, "id": 7}'},
        ),
        ({"input": "[1, 2]", "output": "{not json"}, {"<prompt": "[1, 2]", "choices[0].content": "{not json"}),
        ({"input": "q", "output": {"role": "assistant", "content": "a"}}, {"<prompt": "q", "choices[0].content": "a"}),
        (
            {
                "request": "POST /v1/chat/completions HTTP/1.1",
                "response": {"message": {"role": "assistant", "content": "a"}},
            },
            {"choices[0].content": "a"},
        ),
        (
            {"input": '[{"role": "user", "content": "q"}]', "output": '"a"'},
            {"<messages[0].content": "q", "choices[0].content": '"a"'},
        ),
        (
            {"request_body": '{"messages": [{"content": "half \\ud83d"}]}', "response_body": "{}"},
            {"<messages[0].content": "half \ufffd"},
        ),
    ],
    ids=["plain", "completion", "json-answer", "no-json", "message", "request-line", "messages-text", "surrogate"],
)
def test_texts_in_place_of_bodies(bench, record, texts):
    bench.put("p.jsonl", line({"request_id": "r", **record}))
    bench.run()
    assert bench.texts("r") == texts


def test_a_body_cut_short_is_truncated(bench):
    bench.put(
        "p.jsonl",
        line(
            {
                "request_id": "r",
                "request": '{"model": "m", "messages": [{"role": "us',
                "response": '{"id": "x", "choices": [{"mess',
            }
        ),
    )
    bench.run()
    assert bench.joined()["r"]["examinable_reason"] == "tenant unknown; prompt truncated; response truncated"


def chunk(id_: str, delta: dict, index: int = 0, reason: str | None = None) -> dict:
    return {
        "id": id_,
        "object": "chat.completion.chunk",
        "model": "m",
        "choices": [{"index": index, "delta": delta, "finish_reason": reason}],
    }


def call(index: int, **function: str) -> dict:
    return {"tool_calls": [{"index": index, "function": function}]}


STREAM = [
    {"id": "", "object": "chat.completion.chunk", "choices": [], "created": 0},
    chunk("s1", {"role": "assistant", "reasoning_content": "h"}),
    chunk("s1", {"reasoning_content": "m"}),
    chunk("s1", {"content": "An "}),
    chunk("s1", {"content": "other"}, 1),
    chunk("zz", {"content": "not yours"}),
    chunk("s1", {"content": "end\n\n"}),
    chunk("s1", call(0, name="f", arguments='{"a"')),
    chunk("s1", call(0, arguments=":1}"), 0, "tool_calls"),
    chunk("s1", {}, 1, "stop"),
    {
        "id": "s1",
        "object": "chat.completion.chunk",
        "choices": [],
        "usage": {"prompt_tokens": 9, "completion_tokens": 2},
    },
]
STREAM_TEXTS = {
    "choices[0].content": "An end\n\n",
    "choices[0].reasoning": "hm",
    "choices[0].tool_calls[0].function.name": "f",
    "choices[0].tool_calls[0].function.arguments": '{"a":1}',
    "choices[1].content": "other",
    "choices[2].content": "not yours",
}


@pytest.mark.parametrize(
    "response",
    [
        {"response_body": "".join(f"data: {json.dumps(c)}\n\n" for c in STREAM) + "data: [DONE]\n\n"},
        {
            "response_body": ": keep-alive\r\n\r\n"
            + "".join(f"event: x\r\ndata:{json.dumps(c)}\r\n\r\n" for c in STREAM)
        },
        {
            "response": {
                "status": 200,
                "headers": {},
                "body": "".join(f"data: {json.dumps(c)}\n" for c in STREAM) + "data: [DONE]\n",
            }
        },
        {"response": STREAM},
        {"response_body": json.dumps(STREAM)},
    ],
    ids=["events", "crlf", "no-blank-lines", "list", "list-text"],
)
def test_a_streamed_answer_is_put_together(bench, response):
    bench.put(
        "s.jsonl", line({"request_id": "r", "tenant_id": "t", "request_body": {"messages": MESSAGES}, **response})
    )
    summary = bench.run()
    assert bench.texts("r") == {"<messages[0].content": "When does pier 4 open?", **STREAM_TEXTS}
    row = bench.joined()["r"]
    assert (row["response_state"], row["stream"], row["prompt_tokens"]) == ("full", True, 9)
    assert summary.figures["notices"] == {"stray_chunk": 1}


def test_a_stream_without_an_end_is_partial(bench):
    events = "".join(f"data: {json.dumps(chunk('s', {'content': c}))}\n\n" for c in "abc") + 'data: {"id": "s", "cho'
    bench.put("s.jsonl", line({"request_id": "r", "response_body": events}))
    summary = bench.run()
    assert bench.texts("r") == {"choices[0].content": "abc"}
    assert bench.joined()["r"]["response_state"] == "partial_stream"
    assert summary.figures["notices"] == {"unreadable_event": 1}


def test_ids_of_gateway_lines_without_bodies(bench):
    bench.put(
        "g.jsonl",
        "".join(
            line({key: f"i{i}", "tenant": "t"})
            for i, key in enumerate(["request_id", "rid", "id", "x-request-id", "requestId"])
        )
        + line({"id": "x", "name": "no call"}),
    )
    summary = bench.run()
    assert sorted(bench.joined()) == ["i0", "i1", "i2", "i3", "i4"]
    assert summary.figures["files"][0]["reasons"] == {"no_id": 1}
