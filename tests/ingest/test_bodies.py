"""Bodies of every API, in the envelopes that gateways use: the same field paths, token counts and reasons for all."""

from __future__ import annotations

import json
from typing import Any

import pytest

MESSAGES = [{"role": "user", "content": "q"}]


def line(**fields: Any) -> str:
    return json.dumps(fields) + "\n"


ANTHROPIC_REQUEST = {
    "model": "c1",
    "max_tokens": 10,
    "system": [{"type": "text", "text": "Be exact.", "cache_control": {"type": "ephemeral"}}],
    "tools": [{"name": "sonar", "input_schema": {"type": "object"}}],
    "messages": [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "How deep?"},
                {"type": "image", "source": {"type": "base64", "data": "AAAA"}},
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Ask the sonar.", "signature": "s"},
                {"type": "text", "text": "Asking."},
                {"type": "tool_use", "id": "t1", "name": "sonar", "input": {"at": "bow"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": "12 fathoms"},
                {
                    "type": "tool_result",
                    "tool_use_id": "t2",
                    "content": [{"type": "text", "text": "mud"}, {"type": "image", "source": {}}],
                },
                {
                    "type": "document",
                    "title": "Chart",
                    "source": {"type": "text", "media_type": "text/plain", "data": "shoal"},
                },
            ],
        },
    ],
}
ANTHROPIC_ANSWER = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "c1",
    "content": [
        {"type": "text", "text": "Twelve."},
        {"type": "tool_use", "id": "t3", "name": "log", "input": {"n": 12}},
        {"type": "text", "text": "Noted."},
        {"type": "redacted_thinking", "data": "zz"},
    ],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 5, "cache_read_input_tokens": 40, "cache_creation_input_tokens": 2, "output_tokens": 6},
}
ANTHROPIC_TEXTS = {
    "<system[0].text": "Be exact.",
    "<tools[0]": '{"name":"sonar","input_schema":{"type":"object"}}',
    "<messages[0].content[0].text": "How deep?",
    "<messages[1].content[1].text": "Asking.",
    "<messages[1].reasoning": "Ask the sonar.",
    "<messages[1].tool_calls[0].function.name": "sonar",
    "<messages[1].tool_calls[0].function.arguments": '{"at":"bow"}',
    "<messages[2].content[0].text": "12 fathoms",
    "<messages[2].content[1].content[0].text": "mud",
    "<messages[2].content[2].text": "shoal",
    "choices[0].content[0].text": "Twelve.",
    "choices[0].content[1].text": "Noted.",
    "choices[0].tool_calls[0].function.name": "log",
    "choices[0].tool_calls[0].function.arguments": '{"n":12}',
}

RESPONSES_REQUEST = {
    "model": "m2",
    "instructions": "Be kind.",
    "tools": [{"type": "function", "name": "tide", "parameters": {}}],
    "input": [
        {"role": "user", "content": "When?"},
        {
            "type": "message",
            "role": "developer",
            "content": [{"type": "input_text", "text": "UTC."}, {"type": "input_image", "image_url": "data:"}],
        },
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Look it up."}]},
        {"type": "function_call", "call_id": "f1", "name": "tide", "arguments": '{"p":4}'},
        {"type": "function_call_output", "call_id": "f1", "output": "high at 6"},
    ],
}
RESPONSES_ANSWER = {
    "id": "resp_1",
    "object": "response",
    "model": "m2",
    "status": "incomplete",
    "incomplete_details": {"reason": "max_output_tokens"},
    "output": [
        {"type": "reasoning", "summary": [], "encrypted_content": "xx"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "At six"}]},
        {"type": "function_call", "call_id": "f2", "name": "bell", "arguments": "{}"},
    ],
    "usage": {"input_tokens": 30, "input_tokens_details": {"cached_tokens": 8}, "output_tokens": 3},
}
RESPONSES_TEXTS = {
    "<instructions": "Be kind.",
    "<tools[0]": '{"type":"function","name":"tide","parameters":{}}',
    "<messages[0].content": "When?",
    "<messages[1].content[0].text": "UTC.",
    "<messages[2].reasoning": "Look it up.",
    "<messages[3].tool_calls[0].function.name": "tide",
    "<messages[3].tool_calls[0].function.arguments": '{"p":4}',
    "<messages[4].content": "high at 6",
    "choices[0].content": "At six",
    "choices[0].tool_calls[0].function.name": "bell",
    "choices[0].tool_calls[0].function.arguments": "{}",
}

GEMINI_REQUEST = {
    "systemInstruction": {"parts": [{"text": "Be short."}]},
    "contents": [
        {
            "role": "user",
            "parts": [{"text": "Which "}, {"inlineData": {"mimeType": "image/png", "data": "AA"}}, {"text": "pier?"}],
        },
        {"role": "model", "parts": [{"functionCall": {"name": "find", "args": {"q": 4}}}]},
        {"role": "function", "parts": [{"functionResponse": {"name": "find", "response": {"pier": 4}}}]},
    ],
}
GEMINI_ANSWER = {
    "candidates": [
        {
            "content": {"role": "model", "parts": [{"text": "Hm.", "thought": True}, {"text": "Four."}]},
            "finishReason": "STOP",
            "index": 0,
        },
        {"content": {"parts": [{"text": "Pier four."}]}, "finishReason": "MAX_TOKENS", "index": 1},
    ],
    "usageMetadata": {
        "promptTokenCount": 20,
        "candidatesTokenCount": 4,
        "thoughtsTokenCount": 2,
        "cachedContentTokenCount": 10,
    },
    "modelVersion": "g1",
    "responseId": "gem-1",
}
GEMINI_SNAKE = {
    "candidates": [
        {"content": {"parts": [{"text": "Hm.", "thought": True}, {"text": "Four."}]}, "finish_reason": "STOP"},
        {"content": {"parts": [{"text": "Pier four."}]}, "finish_reason": "MAX_TOKENS"},
    ],
    "usage_metadata": {
        "prompt_token_count": 20,
        "candidates_token_count": 4,
        "thoughts_token_count": 2,
        "cached_content_token_count": 10,
    },
    "model_version": "g1",
}
GEMINI_TEXTS = {
    "<system[0].text": "Be short.",
    "<messages[0].content[0].text": "Which ",
    "<messages[0].content[2].text": "pier?",
    "<messages[1].tool_calls[0].function.name": "find",
    "<messages[1].tool_calls[0].function.arguments": '{"q":4}',
    "<messages[2].content[0].text": '{"pier":4}',
    "choices[0].reasoning": "Hm.",
    "choices[0].content": "Four.",
    "choices[1].content": "Pier four.",
}

CONVERSE_REQUEST = {
    "system": [{"text": "Be calm."}, {"cachePoint": {"type": "default"}}],
    "messages": [
        {
            "role": "user",
            "content": [
                {"text": "Storm?"},
                {"image": {"format": "png", "source": {"bytes": "AA"}}},
                {"document": {"name": "d", "source": {"text": "gale warning"}}},
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"reasoningContent": {"reasoningText": {"text": "Check.", "signature": "s"}}},
                {"toolUse": {"toolUseId": "u", "name": "wind", "input": {"h": 1}}},
            ],
        },
        {
            "role": "user",
            "content": [{"toolResult": {"toolUseId": "u", "content": [{"text": "9 Bft"}, {"json": {"dir": "NW"}}]}}],
        },
    ],
    "toolConfig": {"tools": [{"toolSpec": {"name": "wind"}}]},
    "inferenceConfig": {"maxTokens": 9},
}
CONVERSE_ANSWER = {
    "output": {
        "message": {
            "role": "assistant",
            "content": [{"reasoningContent": {"reasoningText": {"text": "So."}}}, {"text": "Stay in port."}],
        }
    },
    "stopReason": "end_turn",
    "usage": {
        "inputTokens": 11,
        "outputTokens": 7,
        "totalTokens": 23,
        "cacheReadInputTokens": 5,
        "cacheWriteInputTokens": 0,
    },
    "metrics": {"latencyMs": 5},
}
CONVERSE_TEXTS = {
    "<system[0].text": "Be calm.",
    "<tools[0]": '{"toolSpec":{"name":"wind"}}',
    "<messages[0].content[0].text": "Storm?",
    "<messages[0].content[2].text": "gale warning",
    "<messages[1].reasoning": "Check.",
    "<messages[1].tool_calls[0].function.name": "wind",
    "<messages[1].tool_calls[0].function.arguments": '{"h":1}',
    "<messages[2].content[0].content[0].text": "9 Bft",
    "<messages[2].content[0].content[1].json": '{"dir":"NW"}',
    "choices[0].reasoning": "So.",
    "choices[0].content": "Stay in port.",
}

CASES = {
    "anthropic": (ANTHROPIC_REQUEST, ANTHROPIC_ANSWER, ANTHROPIC_TEXTS, ("c1", "end_turn", 47, 6, 40)),
    "responses": (RESPONSES_REQUEST, RESPONSES_ANSWER, RESPONSES_TEXTS, ("m2", "max_output_tokens", 30, 3, 8)),
    "gemini": (GEMINI_REQUEST, GEMINI_ANSWER, GEMINI_TEXTS, ("g1", "STOP,MAX_TOKENS", 20, 6, 10)),
    "gemini-snake": (GEMINI_REQUEST, GEMINI_SNAKE, GEMINI_TEXTS, ("g1", "STOP,MAX_TOKENS", 20, 6, 10)),
    "converse": (CONVERSE_REQUEST, CONVERSE_ANSWER, CONVERSE_TEXTS, (None, "end_turn", 16, 7, 5)),
}
ENVELOPES = {
    "objects": lambda request, answer: {"request": request, "response": answer},
    "json-text": lambda request, answer: {"request_body": json.dumps(request), "response_body": json.dumps(answer)},
    "json-text-twice": lambda request, answer: {
        "request_body": json.dumps(json.dumps(request)),
        "response_body": json.dumps(json.dumps(answer)),
    },
    "http": lambda request, answer: {
        "request": {"method": "POST", "body": json.dumps(request)},
        "response": {"status": 200, "body": answer},
    },
    "input-output": lambda request, answer: {"input": request, "output": answer},
    "text-marks": lambda request, answer: {"input": json.dumps(request), "output": json.dumps(answer)},
}


@pytest.mark.parametrize("api", CASES)
@pytest.mark.parametrize("envelope", ENVELOPES)
def test_every_envelope_holds_every_api(bench, api, envelope):
    request, answer, texts, facts = CASES[api]
    bench.put("p.jsonl", line(request_id="r", tenant_id="t", **ENVELOPES[envelope](request, answer)))
    summary = bench.run()
    assert summary.figures["rejected"] == 0
    assert bench.texts("r") == texts
    row = bench.joined()["r"]
    names = ("model", "finish_reason", "prompt_tokens", "completion_tokens", "cached_tokens")
    assert tuple(row[name] for name in names) == facts
    assert (row["prompt_state"], row["response_state"]) == ("full", "full")


@pytest.mark.parametrize("api", CASES)
def test_a_bare_answer_is_a_record(bench, api):
    _, answer, texts, facts = CASES[api]
    bench.put("p.jsonl", line(**{"request_id": "r", **answer}))
    bench.run()
    assert bench.texts("r") == {field: text for field, text in texts.items() if field[0] != "<"}
    assert bench.joined()["r"]["completion_tokens"] == facts[3]
    assert bench.joined()["r"]["vantages"] == "client"


@pytest.mark.parametrize("api", ["responses", "gemini", "converse", "anthropic"])
def test_a_bare_request_is_a_record(bench, api):
    request, _, texts, _ = CASES[api]
    bench.put("p.jsonl", line(**{"request_id": "r", **request}))
    bench.run()
    assert bench.texts("r") == {field: text for field, text in texts.items() if field[0] == "<"}


@pytest.mark.parametrize(
    "more",
    [{"previous_response_id": "resp_0"}, {"conversation": {"id": "conv_1"}}, {"prompt": {"id": "pmpt_1"}}],
    ids=["earlier", "conversation", "stored"],
)
def test_a_prompt_whose_history_the_service_holds_is_offloaded(bench, more):
    request = {"model": "m2", "input": "And then?", **more}
    bench.put("p.jsonl", line(request_id="r", tenant_id="t", request=request, response=RESPONSES_ANSWER))
    bench.run()
    row = bench.joined()["r"]
    assert (row["prompt_state"], row["response_state"], row["examinable"]) == ("offloaded", "full", False)
    assert bench.texts("r")["<prompt"] == "And then?"
    ids = json.loads(bench.rows("requests", "key")[0]["ids"])
    assert ids.get("previous_response_id") == more.get("previous_response_id")


def test_a_response_that_goes_on_is_partial(bench):
    answer = {**RESPONSES_ANSWER, "status": "in_progress", "incomplete_details": None}
    bench.put("p.jsonl", line(request_id="r", request=RESPONSES_REQUEST, response=answer))
    bench.run()
    assert bench.joined()["r"]["response_state"] == "partial_stream"


EVENTS = {
    "anthropic": [
        {
            "type": "message_start",
            "message": {"id": "m", "model": "c1", "usage": {"input_tokens": 4, "output_tokens": 1}},
        },
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Fo"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "ur"}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}},
        {"type": "message_stop", "amazon-bedrock-invocationMetrics": {"inputTokenCount": 4}},
    ],
    "converse": [
        {"messageStart": {"role": "assistant"}},
        {"contentBlockDelta": {"delta": {"text": "Fo"}, "contentBlockIndex": 0}},
        {"contentBlockDelta": {"delta": {"text": "ur"}, "contentBlockIndex": 0}},
        {"contentBlockStop": {"contentBlockIndex": 0}},
        {"messageStop": {"stopReason": "end_turn"}},
        {"metadata": {"usage": {"inputTokens": 4, "outputTokens": 2, "totalTokens": 6}}},
    ],
    "converse-flat": [
        {"contentBlockIndex": 0, "delta": {"text": "Fo"}, "p": "ab"},
        {"contentBlockIndex": 0, "delta": {"text": "ur"}, "p": "abc"},
        {"contentBlockIndex": 0},
        {"stopReason": "end_turn"},
        {"usage": {"inputTokens": 4, "outputTokens": 2, "totalTokens": 6}},
    ],
    "openai": [
        {"id": "x", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": "Fo"}}]},
        {
            "id": "x",
            "object": "chat.completion.chunk",
            "choices": [{"index": 0, "delta": {"content": "ur"}, "finish_reason": "end_turn"}],
        },
        {
            "id": "x",
            "object": "chat.completion.chunk",
            "choices": [],
            "usage": {"prompt_tokens": 4, "completion_tokens": 2},
        },
        "[DONE]",
    ],
    "gemini": [
        {"candidates": [{"content": {"parts": [{"text": "Fo"}]}}]},
        {
            "candidates": [{"content": {"parts": [{"text": "ur"}]}, "finishReason": "end_turn"}],
            "usageMetadata": {"promptTokenCount": 4, "candidatesTokenCount": 2},
        },
    ],
}


@pytest.mark.parametrize("api", EVENTS)
@pytest.mark.parametrize("text", [False, True], ids=["list", "text"])
def test_a_list_of_stream_events_in_place_of_an_answer(bench, api, text):
    events: Any = EVENTS[api]
    bench.put(
        "p.jsonl",
        line(request_id="r", request={"messages": MESSAGES}, response_body=json.dumps(events) if text else events),
    )
    bench.run()
    assert bench.texts("r") == {"<messages[0].content": "q", "choices[0].content": "Four"}
    row = bench.joined()["r"]
    assert (row["finish_reason"], row["prompt_tokens"], row["completion_tokens"]) == ("end_turn", 4, 2)
    assert (row["response_state"], row["stream"]) == ("full", True)


def test_an_answer_that_is_json_with_the_keys_of_a_body_inside_a_text_stays_a_text(bench):
    said = '{"content": "no body", "role": "mate"}'
    bench.put("p.jsonl", line(request_id="r", input="q", output=said))
    bench.run()
    assert bench.texts("r") == {"<prompt": "q", "choices[0].content": said}


def test_the_services_own_tools_are_searched(bench):
    answer = {
        **RESPONSES_ANSWER,
        "output": [
            {"type": "web_search_call", "status": "completed", "action": {"type": "search", "query": "tides"}},
            {"type": "code_interpreter_call", "code": "print(1)", "outputs": None},
            {"type": "mcp_call", "name": "lookup", "arguments": "{}", "output": "pier 4"},
            {
                "type": "message",
                "content": [{"type": "output_text", "text": "a"}, {"type": "output_text", "text": "b"}],
            },
        ],
    }
    bench.put("p.jsonl", line(request_id="r", request={"input": "q"}, response=answer))
    bench.run()
    texts = bench.texts("r")
    assert texts.pop("<prompt") == "q"
    assert texts == {
        "choices[0].content[0].text": "a",
        "choices[0].content[1].text": "b",
        "choices[0].tool_calls[0].function.name": "web_search",
        "choices[0].tool_calls[0].function.arguments": '{"type":"search","query":"tides"}',
        "choices[0].tool_calls[1].function.name": "code_interpreter",
        "choices[0].tool_calls[1].function.arguments": "print(1)",
        "choices[0].tool_calls[2].function.name": "lookup",
        "choices[0].tool_calls[2].function.arguments": "{}",
        "choices[0].results[0].text": "pier 4",
    }


def test_rows_of_one_number_that_differ_are_both_kept_and_the_side_is_not_whole(bench):
    rows = [(1, "Is the "), (2, "pier open?"), (2, "pier open?"), (2, "quay shut?")]
    head = {"CorrelationId": "c", "RequestId": "c", "ModelName": "m"}
    lines = [{**head, "SequenceNumber": number, "RequestMessages": text} for number, text in rows]
    bench.put("apim.jsonl", "".join(line(**row) for row in lines))
    bench.run()
    assert bench.texts("c") == {"<prompt": "Is the pier open?quay shut?"}
    assert bench.joined()["c"]["prompt_state"] == "truncated"
