"""Does the probe write what the engine did, and does it leave the engine alone? Against a small fake engine."""

from __future__ import annotations

import asyncio
import hashlib
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forensics.probe import plugin
from forensics.probe.observer import Observer
from tests.support.fake_sglang import (
    FINISH_ABORT,
    FINISH_LENGTH,
    KINDS,
    Batch,
    ForwardMode,
    RadixCache,
    RadixKey,
    Req,
    ReqToTokenPool,
    Scheduler,
    Tensor,
    TokenizerManager,
    lines,
    release_kv_cache,
)

SECRET = [1_747_113_311, 1_747_113_312, 1_747_113_313]  # no time that is written beside them looks the same
COMMON = {"v", "ts", "mono", "host", "pid", "tp", "dp", "pp", "ev"}


@pytest.fixture
def observer(engine: Callable[..., Any], tmp_path: Path) -> Observer:
    return plugin.install(tmp_path / "probe", engine, KINDS)


def events(observer: Observer, tmp_path: Path, *names: str) -> list[dict[str, Any]]:
    observer._end_repeat()
    observer.writer.flush()
    return [line for line in lines(tmp_path / "probe") if line["ev"] in names]


def serve(steps: int) -> tuple[Scheduler, ReqToTokenPool, list[Req]]:
    """Two requests: one prefill, then decode steps of both."""
    scheduler, pool = Scheduler(), ReqToTokenPool(3)
    reqs = [Req("a-1", SECRET, "tenant-secret"), Req("b-1", [1, 2])]
    pool.alloc(reqs)
    batch = Batch(ForwardMode.EXTEND, reqs, [3, 2], Tensor([5, 6, 7, 9, 10]), [0, 0])
    scheduler.process_batch_result(batch, scheduler.run_batch(batch))
    for step in range(steps):
        for req in reqs:
            req.output_ids.append(90 + step)
        places = Tensor([11 + 2 * step, 12 + 2 * step])
        batch = Batch(ForwardMode.DECODE, reqs, [4 + step, 3 + step], places)
        scheduler.process_batch_result(batch, scheduler.run_batch(batch))
    return scheduler, pool, reqs


def test_a_file_says_first_what_it_watches_and_what_it_misses(observer: Observer, tmp_path: Path) -> None:
    observer.writer.flush()
    (path,) = (tmp_path / "probe").glob("*.jsonl")
    start = lines(tmp_path / "probe")[0]
    assert start["ev"] == "probe_start" and start["file"] == 0 and start.keys() >= COMMON
    assert path.name == f"probe-{start['host']}-{start['pid']}-0000.jsonl"
    assert path.stat().st_mode & 0o777 == 0o600 and path.parent.stat().st_mode & 0o777 == 0o700
    assert "sglang.srt.managers.scheduler.Scheduler.run_batch" in start["hooked"]
    # The fake engine groups no frees, as a version might not; the probe goes on without.
    assert start["missing"] == ["kv_group"]


def test_prefill_rows_name_request_slot_length_and_cache_indices(observer: Observer, tmp_path: Path) -> None:
    serve(0)
    (batch,) = events(observer, tmp_path, "batch_start")
    salt = "sha256:" + hashlib.sha256(b"tenant-secret").hexdigest()[:16]
    assert {key: batch[key] for key in ("iter", "mode", "rows", "out_kv")} == {
        "iter": 1,
        "mode": "prefill",
        "rows": [
            {"rid": "a-1", "slot": 3, "gen": 1, "salt": salt, "seq_len": 3, "prefix_len": 0},
            {"rid": "b-1", "slot": 2, "gen": 1, "seq_len": 2, "prefix_len": 0},
        ],
        "out_kv": [[5, 7], [9, 10]],
    }
    assert [(e["slot"], e["gen"], e["rid"]) for e in events(observer, tmp_path, "slot_alloc")] == [
        (3, 1, "a-1"), (2, 1, "b-1"),
    ]  # fmt: skip


def test_equal_decode_steps_are_one_line(observer: Observer, tmp_path: Path) -> None:
    serve(5)
    batches = events(observer, tmp_path, "batch_start", "batch_repeat", "batch_end")
    assert [(e["ev"], e["iter"]) for e in batches] == [
        ("batch_start", 1), ("batch_end", 1), ("batch_start", 2), ("batch_end", 2), ("batch_repeat", [3, 6]),
    ]  # fmt: skip
    assert batches[2]["rows"][0]["seq_len"] == 4
    assert batches[4]["as"] == 2 and batches[4]["out_kv"] == [[13, 20]]
    assert batches[4]["ts_first"] <= batches[4]["ts"] <= batches[4]["ts_end"]


def test_a_repeat_ends_where_a_row_moves(observer: Observer, tmp_path: Path) -> None:
    scheduler, _, reqs = serve(2)
    reqs[0].kv.req_pool_idx = 1  # what the batch reads is not what the request holds
    batch = Batch(ForwardMode.DECODE, reqs, [6, 5], Tensor([15, 16]))
    reqs[0].kv.req_pool_idx = 3
    scheduler.run_batch(batch)
    assert [e["iter"] for e in events(observer, tmp_path, "batch_repeat")] == [[3, 3]]
    moved = events(observer, tmp_path, "batch_start")[-1]["rows"][0]
    assert (moved["slot"], moved["req_slot"]) == (1, 3)


def test_slots_come_back_with_the_reason(observer: Observer, tmp_path: Path) -> None:
    _, pool, (first, second) = serve(1)
    first.finished_reason, second.finished_reason = FINISH_ABORT(), FINISH_LENGTH()
    pool.free(first)
    pool.free(second)
    third = Req("c-1", [1])
    pool.alloc([third])
    third.reset_for_retract()
    pool.free(third)
    told = events(observer, tmp_path, "slot_free", "finish", "retract", "slot_alloc")[2:]
    assert [(e["ev"], e["rid"], e.get("why") or e.get("reason") or e.get("gen")) for e in told] == [
        ("slot_free", "a-1", "abort"), ("finish", "a-1", "abort"),
        ("slot_free", "b-1", "finish"), ("finish", "b-1", "length"),
        ("slot_alloc", "c-1", 2), ("retract", "c-1", None), ("slot_free", "c-1", "retract"),
    ]  # fmt: skip
    assert (told[4]["slot"], told[0]["slot"], told[2]["slot"]) == (2, 3, 2)


def test_freed_cache_indices_name_whose_and_why(engine: Any, observer: Observer, tmp_path: Path) -> None:
    import sys

    request = Req("a-1", SECRET)
    request.finished_reason = FINISH_ABORT()
    sys.modules["sglang.srt.mem_cache.common"].release_kv_cache(request, RadixCache(), checkpoint=True)
    RadixCache().evict(None)
    release_kv_cache(request, RadixCache(), checkpoint=True)  # not through the hook: nobody is named
    assert [(e["kv"], e["rid"], e["why"]) for e in events(observer, tmp_path, "kv_free")] == [
        ([[9, 11], [20, 20]], "a-1", "abort"), ([[40, 41]], None, "evict"), ([[9, 11], [20, 20]], None, None),
    ]  # fmt: skip


def test_matches_are_told_when_they_change(observer: Observer, tmp_path: Path) -> None:
    tree, request = RadixCache(), Req("a-1", SECRET, "x")
    params = types.SimpleNamespace(key=RadixKey(SECRET, "x"), req=request)
    for answer in (0, 0, 2, 2):
        tree.answer = answer
        assert tree.match_prefix(params).device_prefix_len == answer
    tree.match_prefix(types.SimpleNamespace(key=RadixKey(SECRET, "x"), req=None))
    tree.checkpoint(request, up_to=3)
    found = events(observer, tmp_path, "match", "insert")
    assert [(e["ev"], e["rid"], e.get("matched"), e.get("len"), e.get("new")) for e in found] == [
        ("match", "a-1", 0, None, None), ("match", "a-1", 2, None, None), ("insert", "a-1", None, 3, 2),
    ]  # fmt: skip
    assert all(e["salt"] == "sha256:" + hashlib.sha256(b"x").hexdigest()[:16] for e in found)


def test_aborts_name_everyone_with_the_prefix(observer: Observer, tmp_path: Path) -> None:
    scheduler = Scheduler()
    scheduler.waiting_queue = [Req("job-10", [1]), Req("other", [1])]
    scheduler.running_batch.reqs = [Req("job-1", [1])]
    scheduler.handle_generate_request(types.SimpleNamespace(rid="job-1"))
    scheduler.abort_request(types.SimpleNamespace(rid="job-1", abort_all=False))
    assert scheduler.flush_cache() is True
    found = events(observer, tmp_path, "recv", "abort", "flush")
    assert [e["ev"] for e in found] == ["recv", "abort", "flush"]
    assert found[1]["match"] == ["job-10", "job-1"] and found[2]["ok"] is True
    assert (found[0]["tp"], found[0]["dp"]) == (0, 0)  # ranks are known from the first batch on


def test_ranks_are_the_schedulers(observer: Observer, tmp_path: Path) -> None:
    serve(0)
    (batch,) = events(observer, tmp_path, "batch_start")
    assert (batch["tp"], batch["dp"], batch["pp"]) == (1, 2, 0)


def test_the_front_end_tells_of_finished_answers_only(observer: Observer, tmp_path: Path) -> None:
    output = types.SimpleNamespace(rids=["a", "b"], finished_reasons=[None, {"type": "stop"}], completion_tokens=[3, 8])
    assert asyncio.run(TokenizerManager()._handle_batch_output(output)) == "handled"
    assert [(e["rid"], e["n"], e["at"]) for e in events(observer, tmp_path, "emit")] == [("b", 8, "front")]


def test_no_text_and_no_token_ids_unless_asked(observer: Observer, tmp_path: Path) -> None:
    _, pool, reqs = serve(3)
    for req in reqs:
        req.finished_reason = FINISH_LENGTH()
        pool.free(req)
    observer.writer.flush()
    raw = b"".join(path.read_bytes() for path in (tmp_path / "probe").glob("*"))
    assert b"174711331" not in raw and b'"tok"' not in raw and b"tenant-secret" not in raw


def test_token_ids_when_asked(engine: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLOT_PROBE_TOKENS", "1")
    observer = plugin.install(tmp_path / "probe", engine, KINDS)
    serve(2)
    ends = events(observer, tmp_path, "batch_end")
    assert [end["rows"] for end in ends[1:]] == [
        [{"rid": "a-1", "tok": [90]}, {"rid": "b-1", "tok": [90]}],
        [{"rid": "a-1", "tok": [91]}, {"rid": "b-1", "tok": [91]}],
    ]


def test_lists_on_a_device_are_left_out_rather_than_waited_for(observer: Observer, tmp_path: Path) -> None:
    scheduler, req = Scheduler(), Req("a", [1])
    req.kv.req_pool_idx = 1
    assert scheduler.run_batch(Batch(ForwardMode.DECODE, [req], [1], Tensor([5], "cuda:0"))) == "result"
    (batch,) = events(observer, tmp_path, "batch_start")
    assert "out_kv" not in batch and observer.writer.errors == {}


def test_errors_of_the_probe_never_reach_the_engine(observer: Observer, tmp_path: Path) -> None:
    scheduler, pool = Scheduler(), ReqToTokenPool(2)
    broken: Any = types.SimpleNamespace(reqs=5, forward_mode=None)
    for _ in range(plugin._ERRORS + 20):
        assert scheduler.run_batch(broken) == "result"
    assert len(scheduler.ran) == plugin._ERRORS + 20
    req = Req("a", [1])
    assert pool.alloc([req]) == [2]  # other hooks go on
    stat = events(observer, tmp_path, "probe_stat")[-1]
    # After a hundred of a kind the place is left alone.
    assert stat["errors"] == {"batch_start: TypeError": plugin._ERRORS} and stat["cost_us"] >= 0


def test_the_engines_own_errors_pass_through_once(observer: Observer, engine: Any, monkeypatch: Any) -> None:
    calls = []

    def original(*_: Any) -> None:
        calls.append(1)
        raise KeyError("the engine's own")

    guard = plugin.Guard(observer.writer, plugin.Watch("x", "", (), "around", lambda *_: observer.grouped()))
    with pytest.raises(KeyError):
        guard.around(original, 1)
    broken = plugin.Guard(observer.writer, plugin.Watch("x", "", (), "around", lambda *_: None))
    with pytest.raises(KeyError):
        broken.around(original, 1)
    assert calls == [1, 1] and observer.writer.errors == {"x: AttributeError": 1}


def test_without_a_folder_nothing_is_hooked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLOT_PROBE_DIR", raising=False)
    monkeypatch.setattr(plugin, "install", lambda *_: pytest.fail("hooked"))
    plugin.register()


def test_an_engine_without_the_registry_is_left_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("SLOT_PROBE_DIR", str(tmp_path / "probe"))
    plugin.register()
    assert "not recording" in capsys.readouterr().err and not (tmp_path / "probe").exists()
