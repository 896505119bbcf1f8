"""Cache hits against what the cache's own events say. What was held is known by construction, hashes by the public form."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import kv_cases
import pytest
from kv_cases import Log, ids

P = ids(400, 1)
Q = ids(400, 2)


def told(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["kv_events"], row["expected_basis"], row["expected_tokens"], row["excess_tokens"]


def salted(size: int = 1) -> Log:
    """Two customers with salts; the second's later call is the one to judge."""
    log = Log(size)
    log.call("source", 1, P, 0, cache_salt="A")
    log.publish(1.2, log.stored(P, salt="A"))
    log.call("own", 3, Q, 0, cache_salt="B")
    log.publish(3.2, log.stored(Q, salt="B"))
    return log


@pytest.mark.parametrize("size", [1, 16])
def test_a_hit_on_what_the_own_namespace_holds_is_none_beyond(size: int, tmp_path: Path) -> None:
    log = salted(size)
    again = Q[:200] + ids(100, 3)
    log.call("again", 5, again, 200 // size * size, cache_salt="B")
    log.publish(5.2, log.stored(again, 200 // size, salt="B"))
    found = log.hits(tmp_path)
    assert told(found["again"]) == ("used", "kv_events", 200 // size * size, 0)
    assert told(found["own"]) == ("used", "kv_events", 0, 0)


def test_one_token_is_always_computed() -> None:
    log = salted()
    log.call("again", 5, Q, 399, cache_salt="B")
    log.publish(5.2, log.stored([*Q, 7], 400, salt="B"))
    assert told(log.judged()["again"]) == ("used", "kv_events", 399, 0)


@pytest.mark.parametrize("size", [1, 16])
def test_what_another_salt_stored_is_beyond_and_its_call_is_named(size: int, tmp_path: Path) -> None:
    """Though the own insert, which is published while the call runs, holds the very tokens."""
    log = salted(size)
    victim = P[:320] + ids(80, 3)
    log.call("victim", 5, victim, 320, cache_salt="B")
    log.publish(5.2, log.stored(victim, salt="B"))
    row = log.hits(tmp_path)["victim"]
    assert told(row) == ("used", "kv_events", 0, 320)
    assert row["matched"] == "source"


def test_who_stored_nothing_any_more_is_not_named() -> None:
    log = salted()
    log.publish(4, log.removed(P, 100, salt="A"))
    log.call("victim", 5, P, 300, cache_salt="B")
    log.publish(5.2, log.stored(P, salt="B"))
    row = log.judged()["victim"]
    assert (told(row), row["matched"]) == (("used", "kv_events", 0, 300), None)


@pytest.mark.parametrize(("second", "expected"), [(4.0, 100), (5.1, 300)])
def test_what_was_removed_before_the_call_came_is_gone(second: float, expected: int) -> None:
    log = salted()
    log.publish(second, log.removed(Q, expected, salt="B"))
    log.call("again", 5, Q, 300, cache_salt="B")
    log.publish(5.2, log.stored(Q, expected, salt="B"))
    row = log.judged()["again"]
    assert row["excess_tokens"] == 300 - expected
    assert row["expected_tokens"] == (100 if expected == 100 else 399)


@pytest.mark.parametrize("restart", [False, True])
def test_a_flush_or_a_restart_empties_the_cache(restart: bool) -> None:
    log = salted()
    if restart:
        other = ids(50, 9)
        log.call("first", 3.6, other, 0, cache_salt="B")
        log.publish(3.8, log.stored(other, salt="B"), seq=0)
    else:
        log.publish(4, {"type": "AllBlocksCleared"})
    log.call("again", 5, Q, 300, cache_salt="B")
    log.publish(5.2, log.stored(Q, salt="B"))
    assert told(log.judged()["again"]) == ("used", "kv_events", 0, 300)


def test_without_salts_all_share_one_tree() -> None:
    log = Log()
    log.call("one", 1, P, 0)
    log.publish(1.2, log.stored(P))
    log.call("two", 3, P, 399)
    log.publish(3.2, log.stored([*P, 7], 400))
    assert told(log.judged()["two"]) == ("used", "kv_events", 399, 0)


def test_events_that_came_late_count_if_another_call_sent_the_tokens() -> None:
    """The answer of the first call is published in one batch with the second call's own insert, as one event."""
    answer = ids(60, 4)
    turn = P + answer + ids(40, 5)
    log = Log()
    log.call("first", 1, P, 0, answer)
    log.publish(1.1, log.stored(P))
    log.call("next turn", 2, turn, 460)
    log.publish(2.3, log.stored(turn, 400))
    assert told(log.judged()["next turn"]) == ("used", "kv_events", 460, 0)


@pytest.mark.parametrize("missing", ["answer", "prompt"])
def test_events_that_came_late_and_may_be_anothers_judge_nothing(missing: str) -> None:
    answer = ids(60, 4)
    turn = P + answer + ids(40, 5)
    log = Log()
    log.call("first", 1, P, 0, None if missing == "answer" else answer)
    if missing == "prompt":
        log.call("unknown", 1.5, "some text", 0)
    log.publish(1.1, log.stored(P))
    log.call("next turn", 2, turn, 470)
    log.publish(2.3, log.stored(turn, 400))
    assert log.judged()["next turn"]["kv_events"] == "same_step"


def test_what_a_running_call_sent_and_nobody_stored_does_not_count() -> None:
    log = salted()
    log.call("slow", 4, P[:300] + ids(50, 8), 0, None, took=9, cache_salt="B")
    log.call("victim", 5, P, 300, cache_salt="B")
    log.publish(5.2, log.stored(ids(20, 9), salt="B"))
    assert told(log.judged()["victim"]) == ("used", "kv_events", 0, 300)


@pytest.mark.parametrize(("medium", "expected"), [("CPU_PINNED", 300), ("GPU", 0)])
def test_what_came_from_a_store_below_was_there_before_the_prefill(medium: str, expected: int) -> None:
    """A prompt of a time before the process, fetched for the call itself; and the same computed by the call."""
    log = salted()
    prompt = ids(350, 8)
    log.call("fetches", 5, prompt, 300, cache_salt="B")
    log.publish(5.2, log.stored(prompt[:300], salt="B", medium=medium), log.stored(prompt, 300, salt="B"))
    assert told(log.judged()["fetches"]) == ("used", "kv_events", expected, 300 - expected)


def test_a_host_that_holds_what_the_gpu_gave_up_still_holds_it() -> None:
    log = salted()
    log.publish(3.5, log.stored(Q, salt="B", medium="CPU_PINNED"), log.removed(Q, salt="B"))
    log.call("again", 5, Q, 399, cache_salt="B")
    log.publish(5.2, log.stored([*Q, 7], 400, salt="B"))
    assert told(log.judged()["again"]) == ("used", "kv_events", 399, 0)


def test_each_rank_has_a_cache_of_its_own() -> None:
    log = Log()
    for rank, prompt in enumerate((P, Q)):
        log.call(f"first {rank}", 1 + rank, prompt, 0)
        log.publish(1.2 + rank, log.stored(prompt), rank=rank)
    for rank, cached in enumerate((300, 300)):
        again = P[:300] + ids(50, 10 + rank)
        log.call(f"again {rank}", 5 + rank, again, cached)
        log.publish(5.2 + rank, log.stored(again, 0 if rank else 300), rank=rank)
    log.call("stored nothing", 9, P, 399)
    found = log.judged()
    assert told(found["again 0"]) == ("used", "kv_events", 300, 0)
    assert told(found["again 1"]) == ("used", "kv_events", 0, 300)
    assert found["stored nothing"]["kv_events"] == "other_worker"


@pytest.mark.parametrize("numbered", [True, False])
def test_a_gap_withdraws_the_tree_until_the_cache_is_empty_again(numbered: bool) -> None:
    """Where batches have no numbers, a block that goes without having been there shows the gap."""
    log = Log()
    log.publish(0.5, {"type": "AllBlocksCleared"}, seq=-1 if numbered else None)
    log.call("first", 1, P, 0)
    log.publish(1.2, log.stored(P), seq=-1 if numbered else None)
    log.publish(1.6, log.stored(Q), seq=-1 if numbered else None)
    log.publish(2, log.removed(P, 399) if numbered else log.removed(ids(50, 9)), seq=7 if numbered else None)
    log.call("in the gap", 3, P, 350)
    log.publish(3.2, log.stored([*P, 7], 400 if not numbered else 399), seq=-1 if numbered else None)
    log.publish(4, {"type": "AllBlocksCleared"}, seq=-1 if numbered else None)
    log.call("after", 5, P, 350)
    log.publish(5.2, log.stored(P), seq=-1 if numbered else None)
    found = log.judged()
    assert told(found["first"]) == ("used", "kv_events", 0, 0)
    assert (found["in the gap"]["kv_events"], found["in the gap"]["expected_basis"]) == ("gap", "tokens")
    assert told(found["after"]) == ("used", "kv_events", 0, 350)


def test_a_recording_that_began_late_judges_nothing_until_a_flush(tmp_path: Path) -> None:
    log = Log()
    log.call("before", 1, P, 0)
    log.call("warm", 5, P, 399)
    log.publish(4, log.stored(Q), seq=17)
    log.publish(5.2, log.stored([*P, 7], 0))
    log.publish(6, {"type": "AllBlocksCleared"})
    log.call("cold", 7, P, 10)
    log.publish(7.2, log.stored(P))
    log.publish(8, log.stored(Q))
    log.call("last", 9, P, 399)
    found = log.hits(tmp_path, watched=None)
    assert {name: row["kv_events"] for name, row in found.items()} == {
        "before": "before_recording", "warm": "began_warm", "cold": "used", "last": "after_recording",
    }  # fmt: skip
    assert found["before"]["expected_basis"] == found["last"]["expected_basis"] == "tokens"
    assert found["cold"]["excess_tokens"] == 10
    told = [warning for warning in log.warnings if "own events" in warning]
    assert [warning.split()[0] for warning in told] == ["1", "1"]  # of those that took anything from the cache
    assert any("when the recording began" in warning for warning in told)
    assert any(warning.startswith("1 cache hits are longer than what the cache says") for warning in log.warnings)


def test_a_call_whose_end_is_not_known_is_not_judged() -> None:
    log = salted()
    log.call("cut off", 5, Q, 300, None, took=math.inf, cache_salt="B")
    log.publish(5.2, log.stored([*Q, 7], 400, salt="B"))
    assert log.judged()["cut off"]["kv_events"] == "end_unknown"


def test_a_line_without_events_says_that_nothing_was_missed(tmp_path: Path) -> None:
    log = salted()
    log.call("last", 9, P, 399, cache_salt="A")
    assert told(log.hits(tmp_path, watched=9.6)["last"]) == ("used", "kv_events", 399, 0)


def test_with_an_extra_key_the_match_is_an_upper_limit(tmp_path: Path) -> None:
    log = Log()
    log.call("first", 1, P, 0, extra_key="A")
    log.publish(1.2, log.stored(P))
    log.call("within", 3, P, 399, extra_key="B")
    log.publish(3.2, log.stored(P))
    log.call("beyond", 5, Q, 200, extra_key="B")
    log.publish(5.2, log.stored(Q))
    log.call("tuned", 7, Q, 200, lora_path="adapter-7")
    log.publish(7.2, log.stored(P[:10], 0))
    found = log.hits(tmp_path)
    assert (found["within"]["kv_events"], found["within"]["expected_basis"]) == ("key_not_in_hash", "tokens")
    assert told(found["beyond"]) == ("used", "kv_events", 0, 200)
    assert found["tuned"]["kv_events"] == "adapter"


def test_where_the_salt_is_not_in_the_hash_the_match_is_an_upper_limit() -> None:
    """SGLang 0.5.6 to 0.5.17: the salt is a part of the extra key."""
    log = Log()
    log.call("first", 1, P, 0, cache_salt="A")
    log.publish(1.2, log.stored(P))
    log.call("within", 3, P, 399, cache_salt="B")
    log.publish(3.2, log.stored(P))
    log.call("beyond", 5, Q, 200, cache_salt="B")
    log.publish(5.2, log.stored(Q))
    found = log.judged()
    assert found["within"]["kv_events"] == "key_not_in_hash"
    assert told(found["beyond"]) == ("used", "kv_events", 0, 200)


def test_hashes_of_another_form_judge_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        kv_cases, "hashes", lambda tokens, salt, size: [hash((salt, *tokens[: i + 1])) for i in range(len(tokens))]
    )
    log = salted()
    log.call("again", 5, Q, 399, cache_salt="B")
    assert {row["kv_events"] for row in log.judged().values()} == {"other_worker"}


def test_two_recordings_of_one_engine_are_one(tmp_path: Path) -> None:
    log = salted()
    log.publish(4, log.removed(Q, 100, salt="B"))
    log.call("again", 5, Q, 300, cache_salt="B")
    log.publish(5.2, log.stored(Q, 100, salt="B"))
    log.lines += log.lines
    assert told(log.hits(tmp_path)["again"]) == ("used", "kv_events", 100, 200)


def test_events_that_make_no_sense_judge_nothing_and_stop_nothing(tmp_path: Path) -> None:
    log = salted()
    empty = {"type": "BlockStored", "block_hashes": [], "parent_block_hash": None, "token_ids": [], "block_size": 1}
    for rank, event in enumerate(
        (
            empty,
            {**empty, "block_hashes": [1]} | {"block_size": None},
            {**empty, "block_hashes": [1, 1, 1], "block_size": (1 << 31) - 1},
            {"type": "BlockRemoved", "block_hashes": [-(1 << 63), (1 << 63) - 1]},
            {**empty, "block_hashes": [2], "parent_block_hash": 2},
        ),
        start=1,
    ):
        log.publish(1e9, event, rank=rank)
        log.publish(-1e9, event, rank=rank, seq=(1 << 53) - 1)
    log.call("again", 5, Q, 399, cache_salt="B")
    log.publish(5.2, log.stored([*Q, 7], 400, salt="B"))
    assert told(log.hits(tmp_path)["again"]) == ("used", "kv_events", 399, 0)


def test_without_events_nothing_changes(tmp_path: Path) -> None:
    log = salted()
    log.lines = []
    assert {row["kv_events"] for row in log.hits(tmp_path).values()} == {"no_events"}


def test_a_cache_that_evicts_is_followed_exactly() -> None:
    """A small cache with salts, shared beginnings, eviction and late events: what it took is what is expected."""
    noise = random.Random(5)
    bases = [ids(noise.randint(20, 60), 100 + number) for number in range(8)]
    log = Log(4)
    held: dict[tuple[str, tuple[int, ...]], int] = {}  # blocks by salt and all tokens so far: when used
    waiting: list[dict[str, Any]] = []
    cached: dict[str, int] = {}
    log.publish(-1, {"type": "AllBlocksCleared"})
    for number in range(150):
        salt = noise.choice("ABC")
        prompt = noise.choice(bases)[: noise.randint(8, 60)] + ids(noise.randint(0, 12), 200 + number)
        keys = [(salt, tuple(prompt[:end])) for end in range(4, len(prompt) + 1, 4)]
        known = next((place for place, key in enumerate(keys) if key not in held), len(keys))
        cached[f"c{number}"] = min(known * 4, len(prompt) - 1)
        log.call(f"c{number}", number, prompt, cached[f"c{number}"], (), took=0.4, cache_salt=salt)
        waiting.append(log.stored(prompt, known, salt))
        held |= dict.fromkeys(keys, number)
        log.publish(number + 0.3, *(event for event in waiting if event["block_hashes"]))
        waiting = []
        while len(held) > 60:
            leaves = [
                key for key in held if not any(k[0] == key[0] and k[1][: len(key[1])] == key[1] != k[1] for k in held)
            ]
            oldest = min(leaves, key=lambda key: (held[key], key))
            waiting.append(log.removed(list(oldest[1]), len(oldest[1]) // 4 - 1, oldest[0]))
            del held[oldest]
        if noise.random() < 0.7:  # else it goes with the next batch
            log.publish(number + 0.6, *waiting)
            waiting = []
    log.publish(200, *waiting)
    found = log.judged()
    assert all(row["kv_events"] == "used" and row["excess_tokens"] == 0 for row in found.values())
    equal = [name for name, row in found.items() if row["expected_tokens"] == cached[name]]
    assert len(equal) > 0.9 * len(found)  # not where blocks went just before, and the events say so later
