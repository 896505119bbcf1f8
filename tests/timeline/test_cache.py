"""Cache hits against what a namespace had sent. Prompts are made so that common prefixes are known by construction."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from case_builder import CaseBuilder
from engine_cases import Events, timeline

from forensics.case.store import Case
from forensics.ingest.run import Parameters as Ingest
from forensics.ingest.run import run as ingest
from forensics.timeline import cache
from forensics.timeline.cache import namespace
from forensics.timeline.prefixes import GRID, bound, prefix_hashes
from forensics.timeline.run import Parameters, run


def words(count: int, seed: int) -> str:
    noise = random.Random(seed)
    return " ".join("".join(noise.choices("abcdefghij", k=5)) for _ in range(count))


def call(
    b: CaseBuilder,
    name: str,
    second: float,
    prompt: str,
    cached: int,
    *,
    tenant: str = "alpha",
    response: str = "yes",
    worker: str = "w0",
    **keys: str,
) -> int:
    request = b.request(name, tenant, second, second + 1, worker=worker, prompt=prompt, response=response)
    tokens = len(prompt) // 6  # one word of five letters and a blank is a token
    for row in (b.joined[request], b.requests[request]):
        row["cached_tokens"], row["prompt_tokens"] = cached, tokens
    b.requests[request]["ids"] = json.dumps(keys)
    return request


def started() -> Events:
    events = Events("w0")
    events.add("scheduler_start", -60, counts={"max_running_requests": 8})
    return events


def hits(case) -> dict[int, dict[str, Any]]:
    return {row["request"]: row for row in case.table("cache_hits").to_pylist()}


LONG = words(1000, 1)


def test_a_hit_within_ones_own_namespace_is_no_excess(tmp_path: Path) -> None:
    b = CaseBuilder()
    call(b, "first", 0, LONG, 0, cache_salt="A")
    call(b, "again", 10, LONG, 999, cache_salt="A")
    call(b, "half", 20, LONG[:3000] + words(500, 2), 500, cache_salt="A")
    case, _ = timeline(b, tmp_path / "c", started())
    with case:
        assert [hits(case)[i]["excess_tokens"] for i in range(3)] == [0, 0, 0]
        assert hits(case)[1]["expected_tokens"] == pytest.approx(1000, rel=0.11)
        assert hits(case)[2]["expected_tokens"] == pytest.approx(500, rel=0.11)
        assert len({row["own_namespace"] for row in hits(case).values()}) == 1


def test_a_hit_on_another_salts_prefix_is_an_excess_that_names_the_earlier_call(tmp_path: Path) -> None:
    b = CaseBuilder()
    call(b, "source", 0, LONG, 0, cache_salt="A")
    call(b, "victim", 10, LONG, 999, tenant="beta", cache_salt="B")
    call(b, "later", 20, LONG, 0, tenant="gamma", cache_salt="C")
    b.fragment("f", 1, 0, 3, ["alpha"], [(0, "prompt")])
    case, _ = timeline(b, tmp_path / "c", started())
    with case:
        hit = hits(case)[1]
        assert hit["excess_tokens"] == 999 - hit["expected_tokens"]
        assert hit["expected_tokens"] < 10
        assert hit["matched_request"] == 0
        assert hit["expected_basis"] == "text"
        told = {row["relation"]: row["value"] for row in case.table("appearance_relations").to_pylist()}
        assert told["same_prefix"] == told["cache_hit_matched"] == "yes"
        assert "A" not in (hit["own_namespace"], hits(case)[0]["own_namespace"])


def test_without_salts_all_share_one_tree_by_design(tmp_path: Path) -> None:
    b = CaseBuilder()
    call(b, "first", 0, LONG, 0)
    call(b, "other tenant", 10, LONG, 999, tenant="beta")
    case, _ = timeline(b, tmp_path / "c", started())
    with case:
        assert hits(case)[1]["excess_tokens"] == 0
        assert hits(case)[1]["own_namespace"] == "none"


def test_answers_are_in_the_cache_too(tmp_path: Path) -> None:
    b = CaseBuilder()
    answer = words(1000, 3)
    call(b, "first", 0, LONG, 0, response=answer, cache_salt="A")
    for use in b.uses:  # the engine's own prompt, as rendered
        use["field"] = "text" if use["side"] == "prompt" else use["field"]
    call(b, "next turn", 10, LONG + answer + words(100, 4), 2000, cache_salt="A")
    for use in b.uses:
        use["field"] = "text" if use["side"] == "prompt" else use["field"]
    case, _ = timeline(b, tmp_path / "c", started())
    with case:
        assert hits(case)[1]["excess_tokens"] == 0


def test_an_excess_that_only_a_later_call_or_another_worker_has_is_unexplained(tmp_path: Path) -> None:
    b = CaseBuilder()
    call(b, "victim", 10, LONG, 999, cache_salt="B")
    call(b, "later", 20, LONG, 0, cache_salt="A")
    call(b, "elsewhere", 0, LONG, 0, worker="w9", cache_salt="A")
    case, summary = timeline(b, tmp_path / "c", started())
    with case:
        assert hits(case)[0]["excess_tokens"] > 900
        assert hits(case)[0]["matched_request"] is None
    assert any("no other request explains them" in warning for warning in summary.warnings)


def test_a_cache_that_was_warm_before_the_log_names_nobody(tmp_path: Path) -> None:
    b = CaseBuilder()
    call(b, "source", 0, LONG, 0, cache_salt="A")
    call(b, "victim", 10, LONG, 999, tenant="beta", cache_salt="B")
    case, _ = timeline(b, tmp_path / "c", Events("w0"))
    with case:
        assert hits(case)[1]["excess_tokens"] > 900
        assert hits(case)[1]["matched_request"] is None


def test_a_retracted_call_may_have_found_itself(tmp_path: Path) -> None:
    b = CaseBuilder()
    call(b, "again", 10, LONG, 999, cache_salt="B")
    events = started()
    events.add("probe_retract", 10.5, request_id="again", attributes={"pid": 7})
    case, _ = timeline(b, tmp_path / "c", events)
    with case:
        assert hits(case)[0]["excess_tokens"] is None


def test_a_call_without_a_whole_prompt_is_not_judged(tmp_path: Path) -> None:
    b = CaseBuilder()
    call(b, "cut", 10, LONG, 999, cache_salt="B")
    b.requests[0]["prompt_state"] = "truncated"
    case, _ = timeline(b, tmp_path / "c", started())
    with case:
        assert (hits(case)[0]["expected_basis"], hits(case)[0]["excess_tokens"]) == ("none", None)


@pytest.mark.parametrize(
    ("release", "applies"), [("0.5.15", "yes"), ("0.5.20", "no"), (None, "unknown"), ("0.4.9", "no")]
)
def test_salt_and_extra_key_that_join_to_one_key(release: str | None, applies: str, tmp_path: Path) -> None:
    b = CaseBuilder()
    call(b, "one", 0, "a", 0, cache_salt="ab", extra_key="c")
    call(b, "two", 10, "b", 0, tenant="beta", cache_salt="a", extra_key="bc")
    call(b, "three", 20, "c", 0, tenant="gamma", cache_salt="a", extra_key="bd")
    case, _ = timeline(b, tmp_path / "c", engine_version=release)
    with case:
        (row,) = case.table("cache_key_collisions").to_pylist()
        assert (row["first_request"], row["second_request"], row["applies"]) == (0, 1, applies)
        assert row["rule"] == "salt_and_extra_key_concatenated"


def test_an_extra_key_that_is_an_adapters_name(tmp_path: Path) -> None:
    b = CaseBuilder()
    call(b, "base", 0, "a", 0, extra_key="adapter-7")
    call(b, "tuned", 10, "b", 0, tenant="beta", lora_path="adapter-7")
    case, _ = timeline(b, tmp_path / "c", engine_version="0.5.23")
    with case:
        (row,) = case.table("cache_key_collisions").to_pylist()
        assert (row["rule"], row["applies"]) == ("extra_key_and_lora_concatenated", "yes")


def test_the_parts_of_a_namespace_cannot_flow_into_each_other() -> None:
    assert namespace("", "", "") == "none"
    assert (
        len({namespace("ab", "c", ""), namespace("a", "bc", ""), namespace("", "abc", ""), namespace("abc", "", "")})
        == 4
    )


def test_hashes_tell_a_common_prefix_to_the_next_length() -> None:
    base = np.frombuffer(words(400, 5).encode(), dtype=np.uint8)
    for shared in (0, 31, 32, 33, 500, 1000, 2000):
        other = base.copy()
        other[shared:] = np.frombuffer(words(400, 6).encode(), dtype=np.uint8)[shared:]
        other[shared] = ord("z")
        buffer = np.concatenate((base, other))
        text, place, value = prefix_hashes(buffer, np.array([0, len(base), len(buffer)], dtype=np.int64))
        first, second = value[text == 0], value[text == 1]
        equal = np.flatnonzero(first == second)
        reached = int(place[text == 0][equal[-1]]) if len(equal) else -1
        assert (GRID[equal] <= shared).all()
        assert len(equal) == (shared >= GRID).sum()
        assert bound(reached, len(base)) >= shared


def logged(
    rid: str, second: int, prompt: list[int], cached: int, answer: list[int], salt: str, text: str | None = None
) -> str:
    """Two lines of an engine's request log, as it writes them of a chat: tokens, and no text."""
    meta = {"id": rid, "prompt_tokens": len(prompt), "completion_tokens": len(answer), "cached_tokens": cached}
    obj = {"rid": rid, "text": text, "input_ids": prompt, "cache_salt": salt}
    stamp = f"2026-01-02T03:04:{second:02d}"
    out = {
        "text": "fine",
        "output_ids": answer,
        "meta_info": {**meta, "e2e_latency": 0.5, "finish_reason": {"type": "stop"}},
    }
    lines = (
        {"timestamp": f"{stamp}.000000", "event": "request.received", "rid": rid, "obj": obj},
        {"timestamp": f"{stamp}.500000", "event": "request.finished", "rid": rid, "obj": obj, "out": out},
    )
    return "".join(json.dumps(line) + "\n" for line in lines)


def ids(count: int, seed: int) -> list[int]:
    return random.Random(seed).choices(range(49_000), k=count)


def hits_of_log(tmp_path: Path, log: str) -> dict[str, dict[str, Any]]:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "w0.log").write_text(log)
    with Case.create(tmp_path / "case") as case:
        ingest(case, Ingest((tmp_path / "logs",)))
        run(case, Parameters())
        names = {row["request"]: row["request_id"] for row in case.table("joined_requests").to_pylist()}
        return {names[row["request"]]: row for row in case.table("cache_hits").to_pylist()}


def test_tokens_are_compared_where_every_prompt_is_logged_as_tokens(tmp_path: Path) -> None:
    """By text, 15 % and 32 tokens are not seen; by tokens, a page is. The answer is part of what the cache keeps."""
    first, answer = ids(400, 1), ids(64, 2)
    again = first + answer + ids(300, 3)
    found = hits_of_log(
        tmp_path,
        logged("first", 1, first, 0, answer, "A")
        + logged("again", 3, again, 464, [7], "A")
        + logged("other", 5, first[:16] + ids(400, 4), 16, [7], "B"),
    )
    assert {name: row["expected_basis"] for name, row in found.items()} == dict.fromkeys(found, "tokens")
    assert found["again"]["excess_tokens"] == 0
    assert 464 <= found["again"]["expected_tokens"] <= 511  # within a tenth
    assert (found["other"]["expected_tokens"], found["other"]["excess_tokens"]) == (7, 9)


def test_where_one_prompt_is_known_as_text_only_texts_are_compared(tmp_path: Path) -> None:
    text = words(200, 1)
    plain = logged("text", 1, ids(200, 1), 0, [7], "A", text).replace('"input_ids": [', '"input_ids_": [')
    both = logged("both", 3, ids(200, 1), 190, [7], "A", text)
    found = hits_of_log(tmp_path, plain + both)
    assert found["both"]["expected_basis"] == "text"
    assert found["both"]["excess_tokens"] == 0


def test_a_list_that_was_cut_is_no_prompt(tmp_path: Path) -> None:
    """As long as the engine counted, or not believed: else all of a prompt would be beyond what it seems to share."""
    whole = ids(400, 1)
    cut = logged("cut", 3, whole[:100], 390, [7], "A").replace('"prompt_tokens": 100', '"prompt_tokens": 400')
    found = hits_of_log(tmp_path, logged("first", 1, whole, 0, [7], "A") + cut)
    assert found["cut"]["expected_tokens"] is None and found["cut"]["excess_tokens"] is None


def test_it_does_not_matter_which_workers_are_read_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for most in (1, 7, 100_000):
        monkeypatch.setattr(cache, "_TOGETHER", most)
        b = CaseBuilder()
        for i in range(24):
            # Each worker has its own beginning, sent every time; the last third reports more than it could have.
            worker = i % 4
            beyond = 900 if i >= 16 else 0
            call(
                b,
                f"r{i}",
                10 * i,
                f"{words(40 + worker, worker)} {words(900, 50 + i)}",
                40 + beyond,
                worker=f"w{worker}",
            )
        with b.write(tmp_path / str(most)) as case:
            run(case, Parameters())
            found.append(hits(case))
    assert found[0] == found[1] == found[2]
    assert {request for request, row in found[0].items() if row["excess_tokens"]} == set(range(16, 24))
