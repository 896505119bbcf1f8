"""vLLM's text log: what its many lines per call, its ids and its yearless times can get wrong."""

from __future__ import annotations

import os
from datetime import UTC, datetime

import pytest

from forensics.ingest import vllm

MODIFIED = datetime(2026, 1, 2, 12, tzinfo=UTC).timestamp()
PARAMS = "SamplingParams(n={n}, max_tokens=9)"


def at(time: str, message: str, end: str = "\n") -> str:
    return f"(APIServer pid=4) INFO {time} [logger.py:40] {message}{end}"


def received(name: str, prompt: str | None = "p", n: int = 1, time: str = "01-02 03:04:05") -> str:
    shown = "" if prompt is None else f"prompt: {prompt!r}, "
    return at(time, f"Received request {name}: {shown}params: {PARAMS.format(n=n)}, lora_request: None.")


def generated(name: str, text: str, kind: str = "", reason: str | None = "stop", time: str = "01-02 03:04:06") -> str:
    return at(time, f"Generated response {name}{kind}: output: {text!r}, finish_reason: {reason}")


def notices(summary) -> dict[str, int]:
    """What was noticed but the missing years, which every time of this log lacks."""
    return {name: count for name, count in summary.figures["notices"].items() if name != "yearless_time"}


DELTA = " (streaming delta)"
COMPLETE = " (streaming complete)"


def read(bench, text: str | bytes, name: str = "vllm.log", **parameters):
    path = bench.put(name, text)
    os.utime(path, (MODIFIED, MODIFIED))
    return bench.run(**parameters)


def test_interleaved_deltas_stay_with_their_calls(bench):
    summary = read(
        bench,
        received("chatcmpl-a")
        + received("chatcmpl-b")
        + generated("chatcmpl-a", "one ", DELTA, None)
        + generated("chatcmpl-b", "uno ", DELTA, None)
        + generated("chatcmpl-b", "dos", DELTA, "length")
        + generated("chatcmpl-a", "two", DELTA, "stop")
        + generated("chatcmpl-b", "uno dos", COMPLETE, "streaming_complete")
        + generated("chatcmpl-a", "<think>x</think>one two", COMPLETE, "streaming_complete", "01-02 03:04:09"),
    )
    assert notices(summary) == {}
    assert bench.texts("chatcmpl-a") == {"<prompt": "p", "choices[0].content": "<think>x</think>one two"}
    assert bench.texts("chatcmpl-b") == {"<prompt": "p", "choices[0].content": "uno dos"}
    rows = bench.joined()
    assert rows["chatcmpl-a"]["finish_reason"] == "stop"
    assert rows["chatcmpl-b"]["finish_reason"] == "length"
    assert rows["chatcmpl-a"]["finished_at"] == datetime(2026, 1, 2, 3, 4, 9)
    keys = {row["key"]: row["request_id"] for row in bench.rows("requests", "key")}
    chunks = [(keys[c["key"]], c["seq"], c["start"], c["end"]) for c in bench.rows("chunks", "key")]
    assert sorted(chunks) == [
        ("chatcmpl-a", 0, 16, 20),
        ("chatcmpl-a", 1, 20, 23),
        ("chatcmpl-b", 0, 0, 4),
        ("chatcmpl-b", 1, 4, 7),
    ]


def test_deltas_of_two_answers_are_not_passed_off_as_one(bench):
    summary = read(
        bench,
        received("chatcmpl-a", n=2)
        + "".join(generated("chatcmpl-a", text, DELTA, None) for text in ("A", "X", "B", "Y"))
        + generated("chatcmpl-a", "<streaming_complete: 2 tokens>", COMPLETE, "streaming_complete") * 2
        + received("chatcmpl-b", n=2)
        + "".join(generated("chatcmpl-b", text, DELTA, None) for text in ("A", "X", "B", "Y"))
        + generated("chatcmpl-b", "AB", COMPLETE, "streaming_complete")
        + generated("chatcmpl-b", "XY", COMPLETE, "streaming_complete"),
    )
    rows = bench.joined()
    assert rows["chatcmpl-a"]["response_state"] == "partial_stream"
    assert rows["chatcmpl-a"]["completion_tokens"] == 4
    assert rows["chatcmpl-b"]["response_state"] == "full"
    assert bench.texts("chatcmpl-b") == {"<prompt": "p", "choices[0].content": "AB", "choices[1].content": "XY"}
    assert bench.rows("chunks", "key") == []
    assert notices(summary) == {"deltas_of_several_answers": 2}


def test_what_the_engine_takes_out_of_its_deltas_stands_beside_the_answer(bench):
    read(
        bench,
        received("chatcmpl-a")
        + generated("chatcmpl-a", '{"x":1}', DELTA, "tool_calls")
        + generated("chatcmpl-a", '<tool>{"x": 1}</tool>', COMPLETE, "streaming_complete"),
    )
    assert bench.texts("chatcmpl-a") == {
        "<prompt": "p",
        "choices[0].content": '<tool>{"x": 1}</tool>',
        "choices[0].deltas": '{"x":1}',
    }
    assert bench.rows("chunks", "key") == []


def test_an_id_used_again_is_another_call(bench):
    read(
        bench,
        received("chatcmpl-a", "first")
        + generated("chatcmpl-a", "one")
        + received("chatcmpl-a", "second", time="01-02 03:05:05")
        + generated("chatcmpl-a", "two", time="01-02 03:05:06"),
    )
    assert bench.case.count("requests") == 2
    contents = {row["content"]: row["text"] for row in bench.rows("contents", "content")}
    texts: dict[int, list[str]] = {}
    for row in bench.rows("request_contents", "ordinal"):
        texts.setdefault(row["key"], []).append(contents[row["content"]])
    assert sorted(map(sorted, texts.values())) == [["first", "one"], ["second", "two"]]


def test_deltas_of_two_calls_of_one_id_are_no_answer(bench):
    read(
        bench,
        received("chatcmpl-a")
        + generated("chatcmpl-a", "one ", DELTA, None)
        + received("chatcmpl-a", "q", time="01-02 03:04:06")
        + generated("chatcmpl-a", "uno ", DELTA, None)
        + generated("chatcmpl-a", "two", DELTA, "stop"),
    )
    assert {row["response_state"] for row in bench.rows("requests", "key")} == {"partial_stream"}


def test_answers_of_a_call_that_began_before_the_log_are_partial_unless_printed_whole(bench):
    read(
        bench,
        generated("chatcmpl-a", "end", DELTA, "stop")
        + generated("chatcmpl-a", "<streaming_complete: 9 tokens>", COMPLETE, "streaming_complete")
        + generated("chatcmpl-b", "one")
        + generated("chatcmpl-b", "two"),
    )
    rows = bench.joined()
    assert (rows["chatcmpl-a"]["response_state"], rows["chatcmpl-b"]["response_state"]) == ("partial_stream", "full")
    assert bench.texts("chatcmpl-b") == {"choices[0].content": "one", "choices[1].content": "two"}


def test_a_cut_last_line_and_an_open_stream(bench):
    summary = read(
        bench,
        received("chatcmpl-a") + generated("chatcmpl-a", "half", DELTA, None) + received("chatcmpl-b", "longer")[:-60],
    )
    assert summary.figures["files"][0]["reasons"] == {"cut_last_line": 1}
    row = bench.joined()["chatcmpl-a"]
    assert (row["response_state"], row["finished_at"], row["status"]) == ("partial_stream", None, None)


def test_a_message_of_several_lines_is_joined(bench):
    whole = received("chatcmpl-a", "p").replace("max_tokens=9", "max_tokens=9, regex='a\nb'")
    head = at("01-02 03:04:05", "", "")
    text = whole.replace("\n", "\r\n" + head, 1)
    summary = read(bench, text + generated("chatcmpl-a", "x"))
    assert (summary.figures["records"], summary.figures["rejected"]) == (3, 0)
    assert bench.texts("chatcmpl-a") == {"<prompt": "p", "choices[0].content": "x"}


def test_a_file_with_crlf_ends_is_the_same(bench):
    summary = read(bench, (received("chatcmpl-a") + generated("chatcmpl-a", "x")).replace("\n", "\r\n"))
    assert (summary.figures["records"], summary.figures["rejected"]) == (2, 0)
    assert bench.texts("chatcmpl-a") == {"<prompt": "p", "choices[0].content": "x"}


@pytest.mark.parametrize("broken", ["\r\n", "\n"])
def test_a_broken_line_does_not_take_the_next_one_with_it(bench, broken):
    first = received("chatcmpl-a", "longer")[:-60] + broken
    read(bench, first + received("chatcmpl-b") + generated("chatcmpl-b", "x"))
    assert set(bench.joined()) == {"chatcmpl-b"}


def test_the_year_is_the_latest_that_fits(bench):
    read(bench, received("chatcmpl-a", time="12-31 23:59:59") + received("chatcmpl-b", time="01-02 00:00:00"))
    rows = bench.joined()
    assert rows["chatcmpl-a"]["received_at"] == datetime(2025, 12, 31, 23, 59, 59)
    assert rows["chatcmpl-b"]["received_at"] == datetime(2026, 1, 2)
    assert bench.rows("evidence", "evidence")[0]["time_zone_basis"] == "assumed"


def test_a_declared_zone_moves_the_times(bench):
    read(bench, received("chatcmpl-a"), time_zone="Asia/Tokyo")
    assert bench.joined()["chatcmpl-a"]["received_at"] == datetime(2026, 1, 1, 18, 4, 5)


def test_a_known_limit_proves_a_cut_and_equal_lengths_only_suggest_it(bench, make_bench):
    texts = ["a" * 20, "b" * 20, "c" * 20, "d" * 7]
    lines = "".join(
        received(f"chatcmpl-{i}", text) + generated(f"chatcmpl-{i}", text.upper()) for i, text in enumerate(texts)
    )
    known = read(bench, at("01-02 03:04:00", "non-default args: {'max_log_len': 20, 'port': 1}") + lines)
    states = {name: (row["prompt_state"], row["response_state"]) for name, row in bench.joined().items()}
    assert states["chatcmpl-0"] == ("truncated", "truncated")
    assert states["chatcmpl-3"] == ("full", "full")
    assert notices(known) == {}
    other = make_bench("other")
    guessed = read(other, lines)
    assert notices(guessed) == {"equal_longest_texts": 1}
    assert other.joined()["chatcmpl-0"]["prompt_state"] == "full"


def test_prompts_of_one_completion_call_and_its_body(bench):
    body = '{"prompt": ["first", "second"], "model": "m", "echo": false}'
    read(
        bench,
        at("01-02 03:04:05", f"Request x9 JSON body: {body}")
        + received("cmpl-x9-0", None)
        + received("cmpl-x9-1", None)
        + at("01-02 03:04:05", 'Request N/A JSON body: {"prompt": "alone"}')
        + at("01-02 03:04:05", 'Request x10 JSON body: {"prompt": "cut of'),
    )
    rows = bench.joined()
    assert bench.texts("cmpl-x9-0") == {"<prompt": "first"}
    assert bench.texts("cmpl-x9-1") == {"<prompt": "second"}
    assert rows["x10"]["prompt_state"] == "truncated"
    made = [name for name in rows if name.startswith("sha256:")]
    assert [bench.texts(name) for name in made] == [{"<prompt": "alone"}]


def test_aborts_in_both_forms(bench):
    read(
        bench,
        received("chatcmpl-a")
        + received("chatcmpl-b")
        + at("01-02 03:04:07", "Aborted request chatcmpl-a.")
        + at("01-02 03:04:08", "Aborted request(s) chatcmpl-b-0a1b2c3d,chatcmpl-unknown.")
        + at("01-02 03:04:08", "Added request 0_chatcmpl-c-0a1b2c3d."),
    )
    rows = bench.joined()
    assert {name: row["status"] for name, row in rows.items()} == {"chatcmpl-a": "aborted", "chatcmpl-b": "aborted"}
    events = [(row["kind"], row["request_id"]) for row in bench.rows("engine_events", "byte_offset")]
    assert events == [
        ("abort", "chatcmpl-a"),
        ("abort", "chatcmpl-b"),
        ("abort", "chatcmpl-unknown"),
        ("admitted", "0_chatcmpl-c-0a1b2c3d"),
    ]


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("[tool_calls: f({})]", [("f", "{}")]),
        ('[tool_calls: f({"a": "), g("}), h()]', [("f", '{"a": "), g("}'), ("h", "")]),
        ("[tool_calls: f(not json)]", []),
        ("[tool_calls: none]", []),
    ],
)
def test_tool_calls_are_read_or_left_as_text(text, calls):
    texts: list = []
    vllm.answer(text, 0, texts)
    if not calls:
        assert [entry[3] for entry in texts] == [text]
        return
    found = {path: value for _, path, _, value in texts}
    for j, (name, arguments) in enumerate(calls):
        assert found[f"choices[0].tool_calls[{j}].function.name"] == name
        assert found.get(f"choices[0].tool_calls[{j}].function.arguments", "") == arguments


@pytest.mark.parametrize(
    ("engine_id", "external"),
    [
        ("chatcmpl-a-1a2b3c4d", "chatcmpl-a"),
        ("1_chatcmpl-a-1a2b3c4d", "chatcmpl-a"),
        ("cmpl-a-0_parallel_sample_1", "cmpl-a-0"),
        ("chatcmpl-1a2b3c4d", "chatcmpl-1a2b3c4d"),
    ],
)
def test_spellings_hold_the_front_ends_id(engine_id, external):
    found = vllm.spellings(engine_id)
    assert found[0] == engine_id
    assert external in found


def test_prompts_are_data(bench):
    """A prompt that looks like a line of the log, or like code, stays a prompt."""
    prompt = "x'\nINFO 01-02 03:04:05 [logger.py:1] Generated response chatcmpl-z: output: 'no', finish_reason: stop"
    read(bench, received("chatcmpl-a", prompt) + received("chatcmpl-b", "__import__('os').abort()"))
    assert bench.texts("chatcmpl-a") == {"<prompt": prompt}
    assert set(bench.joined()) == {"chatcmpl-a", "chatcmpl-b"}
