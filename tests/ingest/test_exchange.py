"""Bodies of captured exchanges come back whole, however they were packed, and an odd one costs no more than itself."""

from __future__ import annotations

import base64
import gzip
import json
import zlib
from typing import Any

import pytest
import zstandard

from forensics.ingest.exchange import decoded

TEXT = "".join(f'data: {{"n": {number}}}\n\n' for number in range(50))
ANSWER = {
    "type": "message",
    "role": "assistant",
    "content": [{"type": "text", "text": "said"}],
    "stop_reason": "end_turn",
}


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress, zlib.compress])
def test_a_packed_body_is_unpacked(pack):
    assert decoded(pack(TEXT.encode()), {"content-encoding": "deflate"}) == TEXT


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_a_body_that_was_packed_in_parts_is_read_to_its_end(pack):
    parts = [part.encode() for part in TEXT.splitlines(keepends=True)]
    assert decoded(b"".join(map(pack, parts)), {}) == TEXT


def entry(body: Any, **more: Any) -> bytes:
    request = {"method": "POST", "url": "https://x/v1/messages", "headers": [{"name": "X-Request-Id", "value": "r"}]}
    content = {"text": body if isinstance(body, str) else json.dumps(body), **more}
    response = {"status": 200, "headers": [], "content": content}
    return json.dumps({"startedDateTime": "2026-03-04T05:06:07Z", "request": request, "response": response}).encode()


def test_an_answer_may_have_a_key_that_our_own_bodies_have(bench):
    bench.put("one.json", entry({**ANSWER, "complete": True}))
    bench.run()
    (row,) = bench.rows("requests", "key")
    assert (row["request_id"], row["response_state"]) == ("r", "full")


def test_a_body_that_is_no_base64_was_there(bench):
    bench.put("one.json", entry("not base64", encoding="base64"))
    bench.put("two.json", entry(base64.b64encode(json.dumps(ANSWER).encode()).decode(), encoding="base64"))
    bench.run()
    assert sorted(row["response_state"] for row in bench.rows("records", "byte_offset")) == ["full", "not_logged"]


def test_a_duration_of_any_length_costs_the_duration_alone(bench):
    # The lone surrogate makes the lenient parser read the line, which keeps integers of any length.
    long = "1" + "0" * 400
    rest = long + ',"x":"\\ud800"}'
    house = '{"request_id":"a","tenant_id":"t","timestamp":"2026-03-04T05:06:07Z","latency_ms":' + rest
    har = entry(ANSWER).decode()[:-1] + ',"time":' + rest
    bench.put("both.jsonl", f"{house}\n{har}\n".encode())
    bench.run()
    assert sorted(row["request_id"] for row in bench.rows("records", "byte_offset")) == ["a", "r"]
