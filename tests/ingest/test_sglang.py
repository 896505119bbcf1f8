"""SGLang request logs, JSON and text: events, levels, batches, aborts, workers, other lines."""

from __future__ import annotations

import json
from datetime import datetime

import pytest

from forensics.ingest.python_repr import ReprError, parse_fields
from forensics.ingest.sglang import worker_of_file

LONG = "x" * 1024 + "..." + "y" * 1024


def event(kind: str, at: str, stamp: str = "[2026-01-02 03:04:05] ", **body: object) -> str:
    return stamp + json.dumps({"timestamp": at, "event": kind, **body}) + "\n"


def meta(rid: str, **more: object) -> dict[str, object]:
    return {
        "id": rid,
        "finish_reason": {"type": "stop", "matched": 2},
        "prompt_tokens": 5,
        "completion_tokens": 2,
        "cached_tokens": 1,
        "e2e_latency": 1.5,
        **more,
    }


@pytest.mark.parametrize("stamp", ["[2026-01-02 03:04:05] ", ""], ids=["stamped", "bare"])
def test_lines_of_one_rid_are_one_engine_row(bench, stamp):
    bench.put(
        "node-a_0.log",
        event(
            "request.received.openai",
            "2026-01-02T03:04:05.100000",
            stamp,
            obj={"messages": [{"role": "user", "content": "hello"}], "model": "glm", "user": "u1", "rid": "r1"},
            headers={"x-tenant-id": "t1"},
        )
        + event(
            "request.received",
            "2026-01-02T03:04:05.200000",
            stamp,
            rid="r1",
            obj={"rid": "r1", "text": None, "input_ids": [1, 2], "stream": True},
            headers={"x-tenant-id": "t1"},
        )
        + event(
            "request.finished",
            "2026-01-02T03:04:07.000000",
            stamp,
            rid="r1",
            obj={"text": "<|user|>hello", "stream": True},
            out={"text": "hi there", "output_ids": [5], "meta_info": meta("r1", first_token_latency=0.25)},
        ),
    )
    summary = bench.run()
    assert summary.figures["files"][0]["format"] == "sglang_json"
    assert (summary.figures["records"], summary.figures["requests"], bench.case.count("requests")) == (3, 1, 1)
    row = bench.joined()["r1"]
    assert (row["tenant_id"], row["user_id"], row["model"], row["worker"], row["status"], row["finish_reason"]) == (
        "t1",
        "u1",
        "glm",
        "node-a_0",
        "ok",
        "stop",
    )
    assert (row["received_at"], row["finished_at"]) == (
        datetime(2026, 1, 2, 3, 4, 5, 100000),
        datetime(2026, 1, 2, 3, 4, 7),
    )
    assert row["first_token_at"] == datetime(2026, 1, 2, 3, 4, 5, 750000)
    assert (row["prompt_tokens"], row["completion_tokens"], row["cached_tokens"], row["stream"]) == (5, 2, 1, True)
    assert (row["prompt_state"], row["response_state"], row["examinable"]) == ("full", "full", True)
    assert bench.texts("r1") == {
        "<messages[0].content": "hello",
        "<text": "<|user|>hello",
        "choices[0].content": "hi there",
    }


def test_levels(bench):
    bench.put(
        "h_0.log",
        event(
            "request.finished", "2026-01-02T03:04:07", rid="low", obj={"stream": False}, out={"meta_info": meta("low")}
        )
        + event(
            "request.finished",
            "2026-01-02T03:04:07",
            rid="cut",
            obj={"text": LONG},
            out={"text": LONG, "meta_info": meta("cut")},
        )
        + event("request.received", "2026-01-02T03:04:07", rid="open", obj={"text": "p"}),
    )
    bench.run()
    states = {name: (row["prompt_state"], row["response_state"]) for name, row in bench.joined().items()}
    assert states == {
        "low": ("not_logged", "not_logged"),
        "cut": ("truncated", "truncated"),
        "open": ("full", "absent"),
    }


def test_received_is_finished_less_latency_where_no_line_says_it(bench):
    bench.put(
        "h_0.log",
        event(
            "request.finished",
            "2026-01-02T03:04:07.5",
            rid="r",
            obj={"text": "p"},
            out={"text": "a", "meta_info": meta("r")},
        ),
    )
    bench.run()
    assert bench.joined()["r"]["received_at"] == datetime(2026, 1, 2, 3, 4, 6)


def test_batches_aborts_and_health_checks(bench):
    bench.put(
        "h_0.log",
        event("request.received", "2026-01-02T03:04:05", rid=["a", "b"], obj={"text": ["pa", "pb"]})
        + event("request.received", "2026-01-02T03:04:05", rid="c", obj={"text": ["pc0", "pc1"]})
        + event(
            "request.finished",
            "2026-01-02T03:04:06",
            rid="a",
            obj={"text": "pa"},
            out={"text": "ra", "meta_info": meta("a")},
        )
        + event(
            "request.finished",
            "2026-01-02T03:04:06",
            rid="b",
            obj={"text": "pb"},
            out={"text": "r", "meta_info": meta("b", finish_reason={"type": "abort", "message": "m"})},
        )
        + event(
            "request.finished",
            "2026-01-02T03:04:06",
            rid="c_1",
            obj={"text": "pc1"},
            out={"text": "rc1", "meta_info": meta("c_1")},
        )
        + event(
            "request.finished",
            "2026-01-02T03:04:06",
            rid="HEALTH_CHECK_1.5",
            obj={"text": "x"},
            out={"text": "y", "meta_info": meta("h")},
        ),
    )
    summary = bench.run()
    assert (summary.figures["records"], summary.figures["structure"]) == (5, 1)
    assert {name: row["status"] for name, row in bench.joined().items()} == {
        "a": "ok",
        "b": "aborted",
        "c_0": None,
        "c_1": "ok",
    }
    assert bench.texts("a") == {"<text": "pa", "choices[0].content": "ra"}
    assert bench.texts("c_0") == {"<text": "pc0"}


def test_text_log(bench):
    cut = repr("x" * 1024) + " ... " + repr("y" * 1024)
    bench.put(
        "gpu-7_1.log.2026-01-02_03",
        '[2026-01-02 03:04:05] INFO:     10.0.0.7:5182 - "POST /generate HTTP/1.1" 200 OK\n'
        "[2026-01-02 03:04:05 TP0] Prefill batch, #new-seq: 2, #new-token: 11\n"
        "[2026-01-02 03:04:05] Receive OpenAI: obj={'messages': [{'role': 'user', 'content': 'hé \\u4f60\\n'}], 'model': 'glm'}\n"
        "[2026-01-02 03:04:05] Receive: obj=GenerateReqInput(rid='r1', text=None, input_ids=[1, 2, 3], sampling_params={'n': 1, 'stop': None}, stream=False, session_params=SessionParams(id=None), odd=<Kind.A: 1>)\n"
        "[2026-01-02 03:04:06] Finish: obj=GenerateReqInput(rid='r1', text='it\\'s \\x41 \"q\"\\t\\\\', stream=False), headers={'x-tenant-id': 't9'}, out={'text': \"don't\\n\", 'output_ids': [4], 'meta_info': {'id': 'r1', 'finish_reason': {'type': 'length', 'length': 9}, 'e2e_latency': 1.0, 'cached_tokens': 3, 'x': nan}}\n"
        f"[2026-01-02 03:04:07] Finish: obj=GenerateReqInput(rid='r2', text={cut}, input_ids=[1, 2] ... [3, 4]), out={{'text': {cut}, 'meta_info': {{'id': 'r2', 'finish_reason': None}}}}\n"
        "[2026-01-02 03:04:08] in=GenerateReqInput(rid='r3', text='old'), out={'text': 'form', 'meta_info': {'id': 'r3'}}\n"
        "some stray words\n"
        "[2026-01-02 03:04:09] Receive: obj=GenerateReqInput(rid='r4', text='never en",
    )
    summary = bench.run()
    file = summary.figures["files"][0]
    assert (file["format"], file["records"], file["structure"]) == ("sglang_text", 5, 2)
    assert file["reasons"] == {"unrecognised_line": 1, "cut_last_line": 1}
    assert summary.figures["notices"] == {"openai_line_without_rid": 1}
    joined = bench.joined()
    assert bench.texts("r1") == {"<text": 'it\'s A "q"\t\\', "choices[0].content": "don't\n"}
    assert (
        joined["r1"]["tenant_id"],
        joined["r1"]["finish_reason"],
        joined["r1"]["cached_tokens"],
        joined["r1"]["worker"],
    ) == ("t9", "length", 3, "gpu-7_1")
    assert (joined["r2"]["prompt_state"], joined["r2"]["response_state"]) == ("truncated", "truncated")
    assert bench.texts("r2") == {"<text": LONG, "choices[0].content": LONG}
    assert bench.texts("r3") == {"<text": "old", "choices[0].content": "form"}


def test_declared_zone_moves_naive_times(bench):
    bench.put("h_0.log", event("request.received", "2026-01-02T03:04:05", rid="r", obj={"text": "p"}))
    bench.run(time_zone="Asia/Tokyo")
    assert bench.joined()["r"]["received_at"] == datetime(2026, 1, 1, 18, 4, 5)
    assert bench.rows("evidence", "evidence")[0]["time_zone_basis"] == "declared"


def test_worker_by_rank(bench):
    """One log, two data-parallel ranks: two workers. One rank: the log's own name."""
    done = [
        event(
            "request.finished",
            "2026-01-02T03:04:07",
            rid=f"r{i}",
            obj={"text": "p"},
            out={"text": "a", "meta_info": meta(f"r{i}", dp_rank=i % 2)},
        )
        for i in range(3)
    ]
    bench.put("h_0.log", "".join(done))
    bench.put(
        "h_1.log",
        event(
            "request.finished",
            "2026-01-02T03:04:07",
            rid="s",
            obj={"text": "p"},
            out={"text": "a", "meta_info": meta("s", dp_rank=0)},
        ),
    )
    bench.run()
    assert {name: row["worker"] for name, row in bench.joined().items()} == {
        "r0": "h_0_dp0",
        "r1": "h_0_dp1",
        "r2": "h_0_dp0",
        "s": "h_1",
    }


@pytest.mark.parametrize(
    ("name", "worker"),
    [
        ("d/a-b_0.log", "a-b_0"),
        ("a_12.log.2026-01-02_03", "a_12"),
        ("a_1.log.2026-01-02_03.gz", "a_1"),
        ("a_1.log.zst", "a_1"),
        ("a.log", None),
        ("a_1.jsonl", None),
    ],
)
def test_worker_of_file(name, worker):
    assert worker_of_file(name) == worker


def test_repeated_rid_is_never_merged_across_calls(bench):
    """The client left the first call (no finish line) and tried again with the same rid."""
    bench.put(
        "h_0.log",
        event("request.received", "2026-01-02T03:04:05", rid="r", obj={"text": "first"})
        + event("request.received", "2026-01-02T03:05:05", rid="r", obj={"text": "second"})
        + event(
            "request.finished",
            "2026-01-02T03:05:06.5",
            rid="r",
            obj={"text": "second"},
            out={"text": "answer", "meta_info": meta("r")},
        ),
    )
    bench.run()
    rows = bench.rows("joined_requests", "received_at")
    assert [(row["received_at"].minute, row["response_state"]) for row in rows] == [(4, "absent"), (5, "full")]


def test_the_same_rid_twice_in_full(bench):
    bench.put(
        "h_0.log",
        "".join(
            event("request.received", f"2026-01-02T03:0{i}:05", rid="r", obj={"text": f"p{i}"})
            + event(
                "request.finished",
                f"2026-01-02T03:0{i}:06.5",
                rid="r",
                obj={"text": f"p{i}"},
                out={"text": f"a{i}", "meta_info": meta("r")},
            )
            for i in range(3)
        ),
    )
    bench.run()
    assert bench.case.count("joined_requests") == 3
    contents = {row["content"]: row["text"] for row in bench.rows("contents", "content")}
    by_request: dict[int, set[str]] = {}
    for row in bench.rows("request_contents", "ordinal"):
        by_request.setdefault(row["request"], set()).add(contents[row["content"]])
    assert sorted(map(sorted, by_request.values())) == [["a0", "p0"], ["a1", "p1"], ["a2", "p2"]]


@pytest.mark.parametrize(
    "text",
    [
        "obj='open",
        "obj=[1, 2",
        "obj={'a': }",
        "obj=" + "[" * 5000,
        "obj=(",
        "=1",
        "obj=1 '2",
        "obj=" + "9" * 5000,
        "obj='a' ... 3",
        "obj=f(g(",
    ],
)
def test_what_is_no_repr_is_refused(text):
    with pytest.raises(ReprError):
        parse_fields(text, 0)


def test_nothing_in_a_repr_is_run():
    fields = parse_fields("obj=__import__('os'), out=exec('1/0')", 0)
    assert fields == {"obj": {}, "out": {}}


def test_what_is_printed_in_a_way_of_its_own_is_passed_over():
    text = "obj=A(rid='r', at=2026-01-02 03:04:05.1, kind=Kind.A, t=tensor([1., 2.]), m=array([[1 2], [3 4]], dtype=f8), n=-inf, o=<a.B object at 0x7f>, text='kept'), out={'x': 1e-05}"
    fields = parse_fields(text, 0)
    assert (fields["obj"]["rid"], fields["obj"]["text"], fields["out"]) == ("r", "kept", {"x": 1e-05})


def test_text_lines_without_a_stamp_have_no_time(bench):
    bench.put(
        "out.txt",
        "Receive: obj=GenerateReqInput(rid='r', text='p')\nFinish: obj=GenerateReqInput(rid='r', text='p'), out={'text': 'a', 'meta_info': {'id': 'r'}}\n",
    )
    bench.run()
    row = bench.joined()["r"]
    assert (row["received_at"], row["finished_at"], row["response_state"]) == (None, None, "full")


def test_an_openai_line_belongs_to_the_call_next_to_it(bench):
    """The first call came by another entry point; the second one's prompt must not become the first one's."""
    bench.put(
        "h_0.log",
        event("request.received", "2026-01-02T03:04:05", rid="r", obj={"text": "first"})
        + event(
            "request.received.openai",
            "2026-01-02T03:14:05",
            obj={"messages": [{"role": "user", "content": "second"}], "rid": "r"},
        )
        + event("request.received", "2026-01-02T03:14:05", rid="r", obj={"text": None}),
    )
    bench.run()
    contents = {row["content"]: row["text"] for row in bench.rows("contents", "content")}
    at = {row["request"]: row["received_at"].minute for row in bench.rows("joined_requests", "request")}
    used = {(at[row["request"]], contents[row["content"]]) for row in bench.rows("request_contents", "ordinal")}
    assert used == {(4, "first"), (14, "second")}


def test_finished_lines_without_latency_are_paired_in_order(bench):
    def finished(minute: int, answer: str) -> str:
        return event(
            "request.finished",
            f"2026-01-02T03:{minute:02}:09",
            rid="r",
            obj={"text": "p"},
            out={"text": answer, "meta_info": {"id": "r"}},
        )

    bench.put(
        "h_0.log",
        event("request.received", "2026-01-02T03:04:05", rid="r", obj={"text": "p"})
        + finished(4, "a1")
        + event("request.received", "2026-01-02T03:08:05", rid="r", obj={"text": "p"})
        + finished(8, "a2"),
    )
    bench.run()
    rows = bench.rows("joined_requests", "received_at")
    assert [(row["received_at"].minute, row["finished_at"].minute) for row in rows] == [(4, 4), (8, 8)]
