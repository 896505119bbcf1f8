"""Input and output of one batch item are one call; what may be of another batch stays apart and is counted."""

from __future__ import annotations

import json

import pytest


def asked(*numbers: int, batch: str = "a") -> str:
    return "".join(
        json.dumps(
            {
                "custom_id": f"item-{number}",
                "method": "POST",
                "url": "/v1/chat/completions",
                "body": {"model": "m1", "messages": [{"role": "user", "content": f"Question {number} of {batch}?"}]},
            }
        )
        + "\n"
        for number in numbers
    )


def answered(*numbers: int, batch: str = "a", failed: tuple[int, ...] = ()) -> str:
    lines = []
    for number in numbers:
        message = {"role": "assistant", "content": f"Answer {number} of {batch}."}
        body = {"id": f"chatcmpl-{batch}{number}", "model": "m1", "choices": [{"index": 0, "message": message}]}
        response = {"status_code": 200, "request_id": f"req-{batch}{number}", "body": body}
        line = {"id": f"batch_req_{batch}{number}", "custom_id": f"item-{number}", "response": response, "error": None}
        if number in failed:
            line |= {"response": None, "error": {"code": "batch_expired", "message": "not run in time"}}
        lines.append(json.dumps(line) + "\n")
    return "".join(lines)


def calls(bench) -> list[tuple[str, str]]:
    return sorted((row["prompt_state"], row["response_state"]) for row in bench.rows("joined_requests", "request"))


def apart(bench) -> int:
    return sum(
        row["requests"] for row in bench.rows("join_outcomes", "outcome") if row["outcome"] == "custom_id_not_sure"
    )


def test_input_and_output_of_an_item_are_one_call_named_by_the_service(bench):
    bench.put("input.jsonl", asked(1, 2, 3))
    bench.put("output.jsonl", answered(3, 1))
    bench.put("error.jsonl", answered(2, failed=(2,)))
    summary = bench.run()
    assert calls(bench) == [("full", "absent"), ("full", "full"), ("full", "full")]
    assert bench.texts("req-a1") == {"<messages[0].content": "Question 1 of a?", "choices[0].content": "Answer 1 of a."}
    assert bench.texts("req-a3") == {"<messages[0].content": "Question 3 of a?", "choices[0].content": "Answer 3 of a."}
    assert apart(bench) == 0
    assert not any("items of batches" in warning for warning in summary.warnings)


def test_the_order_in_which_the_files_come_makes_no_difference(bench):
    bench.put("1.jsonl", answered(1, 2))
    bench.put("2.jsonl", asked(2, 1))
    bench.run()
    assert calls(bench) == [("full", "full")] * 2
    assert bench.texts("req-a2")["<messages[0].content"] == "Question 2 of a?"


@pytest.mark.parametrize(
    ("files", "count"),
    [
        # Two batches that number their items alike, all four files there.
        ((asked(1, 2), answered(1, 2), asked(1, 2, batch="b"), answered(1, 2, batch="b")), 2),
        # The output of another, smaller batch.
        ((asked(1, 2, 3), answered(1, 2, batch="b")), 2),
        # The output of another, larger batch.
        ((asked(1, 2), answered(1, 2, 3, batch="b")), 2),
        # An item that is answered twice makes the others of its file doubtful too.
        ((asked(1, 2), answered(1, 2), answered(2, batch="b")), 2),
        # An output over the items of two inputs.
        ((asked(1), asked(2, batch="b"), answered(1, 2)), 2),
        # The same line in two inputs.
        ((asked(1), asked(1, 2), answered(1, 2)), 2),
    ],
)
def test_what_may_be_of_another_batch_stays_apart_and_is_counted(files, count, bench):
    for number, data in enumerate(files):
        bench.put(f"{number}.jsonl", data)
    summary = bench.run()
    assert ("full", "full") not in calls(bench)
    assert apart(bench) == count
    assert any(f"{count} items of batches have lines of input" in warning for warning in summary.warnings)


def test_evidence_that_comes_later_brings_the_join_and_takes_it_back(bench):
    bench.put("input.jsonl", asked(1, 2))
    bench.run()
    bench.put("output.jsonl", answered(1, 2))
    bench.run()
    assert calls(bench) == [("full", "full")] * 2
    bench.put("other.jsonl", answered(1, 2, batch="b"))
    bench.run()
    assert ("full", "full") not in calls(bench)
    assert apart(bench) == 2
