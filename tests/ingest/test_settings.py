"""How an answer was sampled and which tokens it was: kept as logged, by one set of names."""

from __future__ import annotations

import json
from datetime import UTC
from typing import Any

import pytest

from forensics.ingest.parsers import sglang_json
from forensics.ingest.record import FileContext, Record
from forensics.ingest.settings import sampling_of, token_ids


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        ({"temperature": 0, "max_new_tokens": 28}, {"temperature": 0, "max_new_tokens": 28}),
        (
            {"model": "m", "max_tokens": 9, "seed": 5, "messages": [], "top_p": 0.5},
            {"max_new_tokens": 9, "sampling_seed": 5, "top_p": 0.5},
        ),
        ({"max_completion_tokens": 3, "max_tokens": 4}, {"max_new_tokens": 4}),
        (
            {"seed": 5, "sampling_seed": 6, "max_output_tokens": 1, "max_new_tokens": 2},
            {"max_new_tokens": 2, "sampling_seed": 6},
        ),
        ({"max_new_tokens": None, "max_tokens": None, "max_completion_tokens": 7}, {"max_new_tokens": 7}),
        ({"ebnf": "", "regex": "a+", "n": True}, {"constrained": True, "n": True}),
        ({"stop": ["a", "b"], "stop_token_ids": [1]}, {"stop": ["a", "b"], "stop_token_ids": [1]}),
        ({"response_format": {"type": "json_object"}, "top_k": 4}, {"constrained": True, "top_k": 4}),
        ({"response_format": {"type": "text"}, "top_k": 4}, {"top_k": 4}),
        ({"temperature": None, "stop": {"a": 1}, "top_k": 4}, {"top_k": 4}),
    ],
)
def test_parameters_have_one_name_each(body: dict[str, Any], kept: dict[str, Any]) -> None:
    found = sampling_of(body)
    assert found is not None
    assert json.loads(found) == kept
    assert found == json.dumps(kept, sort_keys=True, separators=(",", ":"))


@pytest.mark.parametrize(
    "body", [None, [], {}, {"messages": []}, {"stop": "x" * 5000}, {"temperature": None}, {"seed": 1 << 70}]
)
def test_what_is_no_parameter_is_not_kept(body: object) -> None:
    assert sampling_of(body) is None


@pytest.mark.parametrize("value", [None, [], "12", [1, "2"], [1.5], [1 << 40], {"a": 1}])
def test_what_is_no_list_of_tokens_is_none(value: object) -> None:
    assert token_ids(value) is None


def settings(bench: Any) -> dict[tuple[str, str], tuple[Any, Any]]:
    tokens = {row["record"]: row["output_ids"] for row in bench.rows("record_settings", "record")}
    calls = {row["key"]: row for row in bench.rows("requests", "key")}
    return {
        (calls[row["key"]]["vantage"], calls[row["key"]]["request_id"]): (
            row["sampling"] and json.loads(row["sampling"]),
            tokens.get(row["output"]),
        )
        for row in bench.rows("request_settings", "key")
    }


def test_engine_and_gateway_tell_each_what_they_know(bench: Any) -> None:
    asked = {"rid": "r1", "text": "hello", "sampling_params": {"temperature": 0.5, "max_new_tokens": 3}}
    lines = [
        {"event": "request.received", "rid": "r1", "obj": asked},
        {
            "event": "request.finished",
            "rid": "r1",
            "obj": asked,
            "out": {"text": "hi", "output_ids": [7, 8, 9], "meta_info": {"id": "r1"}},
        },
        {
            "event": "request.finished",
            "rid": ["b1", "b2"],
            "obj": {"rid": ["b1", "b2"], "text": ["a", "b"], "sampling_params": [{"top_k": 1}, {"top_k": 2}]},
            "out": [{"text": "x", "output_ids": [1], "meta_info": {}}, {"text": "y", "output_ids": [2, 3]}],
        },
        {"event": "request.finished", "rid": "r2", "obj": {"rid": "r2", "text": "a"}, "out": {"text": "x"}},
    ]
    stamped = [{"timestamp": f"2026-01-02T03:04:0{n}.000000", **line} for n, line in enumerate(lines)]
    bench.put("node-a_0.log", "".join(json.dumps(line) + "\n" for line in stamped))
    gateway = {"request_id": "r1", "tenant_id": "t", "request": {"messages": [], "seed": 4, "max_tokens": 3}}
    bench.put("gateway.jsonl", json.dumps(gateway) + "\n")
    bench.run()
    assert settings(bench) == {
        ("engine", "r1"): ({"temperature": 0.5, "max_new_tokens": 3}, [7, 8, 9]),
        ("gateway", "r1"): ({"sampling_seed": 4, "max_new_tokens": 3}, None),
        ("engine", "b1"): ({"top_k": 1}, [1]),
        ("engine", "b2"): ({"top_k": 2}, [2, 3]),
    }


@pytest.mark.parametrize(("more", "kept"), [({}, [1, 2, 3]), ({"image_data": ["http://example.com/a.png"]}, None)])
def test_tokens_of_a_prompt_with_a_picture_are_not_all_of_it(more: dict[str, Any], kept: list[int] | None) -> None:
    obj = {"rid": "r1", "text": "hello", "input_ids": [1, 2, 3], "image_data": None, **more}
    event = {"timestamp": "2026-01-02T03:04:05.000000", "event": "request.received", "rid": "r1", "obj": obj}
    (record,) = sglang_json.parse(event, FileContext("w0.log", UTC))
    assert isinstance(record, Record)
    assert (record.input_ids and list(record.input_ids)) == kept
