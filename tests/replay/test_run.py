"""Plans against a server that keeps to SGLang's protocol, with its faults on and off."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from forensics.case.errors import LimitHit, UsageError
from forensics.case.store import Case
from forensics.replay import run as room
from forensics.replay import scene
from forensics.replay.records import read_trials
from forensics.replay.run import Options, ordered
from forensics.replay.whole import Replayed, replay
from tests.support.fake_sglang_server import FakeServer, Fault
from tests.support.replay_plans import (
    ARMS,
    CANCELS,
    COMPANY,
    MARKS,
    OTHER,
    RADIX_OFF,
    RECIPIENT,
    SOURCE,
    TEXTS,
    arm,
    chat,
    in_case,
    plan,
    request,
)

HELD = ("T-1", "T-4")  # who is cancelled in mid-answer is never done before


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scene, "HANGS", 0.3)
    monkeypatch.setattr(scene, "SETTLE", 0.05)
    monkeypatch.setattr(room, "BACK_SECONDS", 0.3)


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer(Fault(holds=HELD)).running() as running:
        yield running


def played(root: Path, server: FakeServer, made: Any = None, **options: Any) -> Replayed:
    return replay(in_case(root, made or plan()), Options(server.url, seconds=5.0, **options))


def rates(found: Replayed) -> dict[str, tuple[int, int]]:
    (leak,) = found.verdicts
    return {one.name: (one.hits, one.trials) for one in leak.arms if one.trials}


def test_a_slot_that_leaks_after_an_abort_is_reproduced_in_company_only(tmp_path: Path, server: FakeServer) -> None:
    server.fault.slot = True
    found = played(tmp_path / "case", server)
    assert rates(found) == {"alone": (0, 3), "control": (0, 3), "original": (3, 3)}
    (leak,) = found.verdicts
    assert leak.verdict == "reproduced_in_company"
    assert next(one.from_source for one in leak.arms if one.name == "original") == 3
    assert "3 of 3 in the original company, 0 of 3 alone" in leak.because and "surrogate" in leak.because


def test_without_a_fault_nothing_is_reproduced(tmp_path: Path, server: FakeServer) -> None:
    found = played(tmp_path / "case", server)
    assert rates(found) == {"alone": (0, 3), "control": (0, 3), "original": (0, 3)}
    assert found.verdicts[0].verdict == "not_reproduced"
    assert "clears nobody" in found.verdicts[0].because


def test_a_poisoned_prefix_needs_the_company_that_poisons_it(tmp_path: Path, server: FakeServer) -> None:
    server.fault.prefix = True
    requests = (
        request(SOURCE, stream=True, abort_ms=40, abort_tokens=3),
        request(RECIPIENT, at_ms=80, after=("r0006",)),
        request("r0006", at_ms=50, after=(SOURCE,), tenant_ref="T-2", prompt="t0002", rid="T-2-r0006"),
        request(OTHER, at_ms=50),
    )
    arms = (
        arm("alone", RECIPIENT),
        arm("control", OTHER, RECIPIENT),
        arm("original", SOURCE, "r0006", RECIPIENT),
    )
    made = plan(requests, arms, leaks=(_leak(company=("r0006",), unrelated=(OTHER,)),))
    assert rates(played(tmp_path / "case", server, made))["original"] == (3, 3)


def test_who_comes_in_the_same_millisecond_is_not_waited_for_before_it_is_sent(
    tmp_path: Path, server: FakeServer
) -> None:
    requests = (request(SOURCE), request(RECIPIENT, after=(COMPANY,)), request(COMPANY, after=(SOURCE,)), *CANCELS[3:])
    found = played(tmp_path / "case", server, plan(requests), arms=("original",), trials=1)
    assert found.trials == 1
    (line,) = next((tmp_path / "case").glob("replay/*/trials.jsonl")).read_bytes().splitlines()
    assert orjson.loads(line)["order"] == [SOURCE, RECIPIENT, COMPANY]


def _leak(**other: Any) -> Any:
    from dataclasses import replace

    return replace(plan().leaks[0], **other)


def test_two_requests_of_one_id(tmp_path: Path, server: FakeServer) -> None:
    server.fault.duplicate, server.fault.step = True, 0.02
    requests = (
        request(SOURCE, rid="shared"),
        request(RECIPIENT, at_ms=5, rid="shared"),
        request(COMPANY, at_ms=6),
        request(OTHER, at_ms=5),
    )
    made = plan(requests, leaks=(_leak(unrelated=(OTHER,)),))
    found = played(tmp_path / "case", server, made)
    assert rates(found) == {"alone": (0, 3), "control": (0, 3), "original": (3, 3)}
    sent = [body["rid"] for path, body in server.seen if path == "/generate"]
    shared = [rid for rid in sent if rid.startswith("shared-")]
    assert len(shared) == 6 and len(set(shared)) == 3
    assert len({rid for rid in sent if not rid.startswith("shared-")}) == len(sent) - 6


def test_who_waits_for_a_request_that_hangs_waits_no_longer_than_the_rest(tmp_path: Path, server: FakeServer) -> None:
    server.fault.duplicate, server.fault.step = True, 0.02
    requests = (
        request(SOURCE, rid="shared"),
        request(RECIPIENT, at_ms=5, rid="shared"),
        request(COMPANY, at_ms=6, after=(SOURCE,)),
    )
    arms = (arm("original", SOURCE, RECIPIENT, COMPANY, trials=1),)
    made = plan(requests, arms, leaks=(_leak(unrelated=()),))
    path = in_case(tmp_path / "case", made)
    replay(path, Options(server.url, seconds=60.0))
    (trial,) = read_trials(path.parent / "trials.jsonl")
    ends = {one.key: (one.outcome, one.done_ms) for one in trial.requests}
    assert ends[SOURCE][0] == "hung" and ends[COMPANY][0] == "finished"
    assert trial.ms < 30_000


def test_a_release_that_refuses_duplicate_ids_is_no_failure(tmp_path: Path, server: FakeServer) -> None:
    server.fault.step = 0.02
    requests = (
        request(SOURCE, rid="shared"),
        request(RECIPIENT, at_ms=5, rid="shared"),
        request(COMPANY),
        request(OTHER),
    )
    found = played(tmp_path / "case", server, plan(requests, leaks=(_leak(unrelated=(OTHER,)),)))
    assert rates(found) == {"alone": (0, 3), "control": (0, 3), "original": (0, 3)}
    assert found.verdicts[0].verdict == "not_reproduced"


def test_answers_shifted_by_one_fall_on_nobody_alone(tmp_path: Path, server: FakeServer) -> None:
    server.fault.shifted = True
    requests = (
        request(SOURCE),
        request(RECIPIENT, at_ms=20, after=(SOURCE,)),
        request(COMPANY, at_ms=60),
        request(OTHER),
    )
    made = plan(requests, leaks=(_leak(unrelated=(OTHER,)),))
    found = played(tmp_path / "case", server, made)
    assert rates(found)["alone"] == (0, 3) and rates(found)["original"] == (3, 3)
    assert found.verdicts[0].verdict == "reproduced_in_company"
    assert found.carried > 0 and any("outlives" in one for one in found.warnings)


def test_what_the_model_says_to_everybody_is_memory(tmp_path: Path, server: FakeServer) -> None:
    server.fault.memory = TEXTS["t0001"].split("\n")[1]
    found = played(tmp_path / "case", server)
    assert found.verdicts[0].verdict == "model_memory"
    assert all(one.absent == one.trials for one in found.verdicts[0].arms if one.name == "alone")


def test_noise_is_measured_and_reproduces_nothing(tmp_path: Path, server: FakeServer) -> None:
    server.fault.noise = 0.4
    found = played(tmp_path / "case", server)
    assert found.verdicts[0].verdict == "not_reproduced"
    alone = next(one for one in found.verdicts[0].arms if one.name == "alone")
    assert alone.differ is not None and alone.differ > 0


@pytest.mark.parametrize("fault", ["nonsense", "type", "half", "gzip"])
def test_answers_that_are_none_count_for_nothing(tmp_path: Path, fault: str) -> None:
    with FakeServer(Fault(**{fault: True})).running() as server:
        requests = tuple(request(one.key, stream=True) for one in CANCELS)
        if fault == "gzip":
            with pytest.raises(UsageError, match="no SGLang server"):
                played(tmp_path / "case", server, plan(requests))
            return
        found = played(tmp_path / "case", server, plan(requests))
    assert found.verdicts[0].verdict == "inconclusive"
    assert rates(found) == {}
    assert all(one.failed == 3 for one in found.verdicts[0].arms)


def test_a_slow_server_times_out(tmp_path: Path) -> None:
    with FakeServer(Fault(step=0.2)).running() as server:
        path = in_case(tmp_path / "case", plan(arms=(arm("alone", RECIPIENT, trials=1),)))
        found = replay(path, Options(server.url, seconds=0.5))
        assert [one.failed for one in found.verdicts[0].arms] == [1]
        assert not server._running and not server._queue


def test_a_redirect_is_not_followed(tmp_path: Path, server: FakeServer) -> None:
    with FakeServer(Fault(redirect=server.url)).running() as other, pytest.raises(UsageError, match="redirect"):
        played(tmp_path / "case", other)
    assert server.seen == []


def test_a_server_that_dies_keeps_what_was_played_and_the_run_goes_on(tmp_path: Path, server: FakeServer) -> None:
    server.fault.slot = True
    whole = played(tmp_path / "whole", server)
    root = tmp_path / "case"
    for _ in range(30):
        with FakeServer(Fault(slot=True, dies=9, holds=HELD)).running() as other:
            path = in_case(root, plan())
            try:
                found = replay(path, Options(other.url, seconds=5.0))
                break
            except LimitHit as error:
                assert "does not answer" in str(error)
    assert found.trials == whole.trials == 9
    assert (root / "out" / "replay.json").read_bytes() == (tmp_path / "whole" / "out" / "replay.json").read_bytes()


@pytest.mark.parametrize("after", [0, 1, 5, 8])
def test_an_interrupted_run_ends_as_one_that_was_not(
    tmp_path: Path, server: FakeServer, after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.fault.slot = True
    played(tmp_path / "whole", server)
    root, count = tmp_path / "case", 0
    original = scene.Scene._clean

    async def clean(self: scene.Scene) -> bool | None:
        nonlocal count
        count += 1
        if count == after + 1:  # Ctrl-C while a trial is under way
            raise KeyboardInterrupt
        return await original(self)

    with monkeypatch.context() as patch:
        patch.setattr(scene.Scene, "_clean", clean)
        with pytest.raises(KeyboardInterrupt):
            played(root, server)
    trials = next(root.glob("replay/*/trials.jsonl"), None)
    kept = trials.read_bytes() if trials is not None else b""
    assert kept.count(b"\n") == after
    if trials is not None:
        trials.write_bytes(kept + b'{"schema": "foren')  # the last line was cut short
    assert played(root, server).trials == 9
    assert (root / "out" / "replay.json").read_bytes() == (tmp_path / "whole" / "out" / "replay.json").read_bytes()


def test_the_order_is_interleaved_and_always_the_same() -> None:
    made = plan()
    jobs = ordered(made, Options("http://x"))
    assert jobs == ordered(made, Options("http://x"))
    rounds = [[one.name for one, _ in jobs[i : i + 3]] for i in range(0, 9, 3)]
    assert all(sorted(one) == ["alone", "control", "original"] for one in rounds)
    assert len({tuple(one) for one in rounds}) > 1


def test_a_fragment_is_named_by_a_beginning_that_it_alone_has() -> None:
    one = plan()
    leaks = tuple(_leak(fragment_id=name) for name in ("f1", "f12", "f2"))
    arms = tuple(arm("alone", RECIPIENT, leak=leak.fragment_id, trials=1) for leak in leaks)
    made = plan(one.requests, arms, leaks=leaks)

    def named(*given: str) -> list[str]:
        return sorted(job[0].leak for job in ordered(made, Options("http://x", fragments=given)))

    assert named("f1", "f2") == ["f1", "f2"]
    assert named("f12") == ["f12"]
    for given in (("f1", "f3"), ("f",)):
        with pytest.raises(UsageError, match="--fragment"):
            named(*given)


def test_a_paused_scene_is_one_batch_and_never_aborts(tmp_path: Path, server: FakeServer) -> None:
    arms = (arm("alone", RECIPIENT), arm("original", SOURCE, RECIPIENT, COMPANY, scene="paused", trials=2))
    requests = tuple(request(one.key) for one in CANCELS)
    played(tmp_path / "case", server, plan(requests, arms))
    assert [body for path, body in server.seen if path == "/pause_generation"] == [{"mode": "in_place"}] * 2
    assert sorted(len(batch) for batch in server.batches)[-2:] == [3, 3]
    assert not server.paused
    bodies = [body for path, body in server.seen if path == "/abort_request"]
    assert all(body["rid"] and not body["abort_all"] for body in bodies)


def test_a_release_without_pause_modes_skips_paused_arms(tmp_path: Path) -> None:
    with FakeServer(version="0.5.4").running() as server:
        arms = (arm("alone", RECIPIENT), arm("original", SOURCE, RECIPIENT, scene="paused"))
        found = played(tmp_path / "case", server, plan(arms=arms))
        assert not [path for path, _ in server.seen if path == "/pause_generation"]
    original = next(one for one in found.verdicts[0].arms if one.name == "original")
    assert original.skipped == "this release cannot pause without aborting everything"
    assert found.verdicts[0].verdict == "inconclusive"


def test_old_endpoints_and_old_field_names(tmp_path: Path) -> None:
    with FakeServer(Fault(holds=HELD), version="0.5.6", old=True).running() as server:
        requests = tuple(request(one.key, cache_salt="ab", extra_key="c") for one in CANCELS)
        found = played(tmp_path / "case", server, plan(requests))
        sent = [body for path, body in server.seen if path == "/generate" and body["rid"].startswith("T-")]
    assert {body["extra_key"] for body in sent} == {"abc"} and not any("cache_salt" in body for body in sent)
    assert found.verdicts[0].verdict == "not_reproduced"
    with FakeServer(version="0.4.9", old=True).running() as server:
        found = played(tmp_path / "other", server, plan(requests))
        assert not any({"extra_key", "cache_salt"} & body.keys() for path, body in server.seen if path == "/generate")
    assert any("no cache salts" in note for note in found.notes)


@pytest.mark.parametrize("stream", [False, True])
def test_every_endpoint(tmp_path: Path, server: FakeServer, stream: bool) -> None:
    server.fault.slot = True
    requests = (
        chat(SOURCE, stream=True, abort_ms=40, abort_tokens=3),
        chat(RECIPIENT, at_ms=60, after=(SOURCE,), stream=stream),
        request(COMPANY, at_ms=61, after=(SOURCE,), endpoint="completions", stream=stream),
        request(OTHER, at_ms=61),
    )
    made = plan(requests, leaks=(_leak(unrelated=(OTHER,)),))
    found = played(tmp_path / "case", server, made)
    assert rates(found)["original"] == (3, 3)
    lines = next((tmp_path / "case").glob("replay/*/trials.jsonl")).read_bytes().split(b"\n")
    exchanges = [one for line in lines if line for one in orjson.loads(line)["requests"]]
    finished = [one for one in exchanges if one["outcome"] == "finished"]
    assert all(
        one["prompt_tokens"] and one["completion_tokens"] and one["cached_tokens"] is not None for one in finished
    )
    assert {one["outcome"] for one in exchanges if one["key"] == SOURCE} == {"cancelled"}
    assert not any("tools" in body for _, body in server.seen if body)


def test_nothing_of_a_response_or_prompt_stands_outside_the_restricted_folder(
    tmp_path: Path, server: FakeServer
) -> None:
    server.fault.slot = True
    root = tmp_path / "case"
    played(root, server)
    for path in (*root.glob("replay/*/trials.jsonl"), root / "out" / "replay.json", root / "custody.jsonl"):
        text = path.read_text(encoding="utf-8")
        assert not any(mark in text for mark in MARKS) and "hidden" not in text
    (responses,) = root.glob("restricted/replay/*/responses.jsonl")
    assert MARKS[0] in responses.read_text(encoding="utf-8")
    assert all(path.stat().st_mode & 0o077 == 0 for path in root.rglob("*") if path.is_file())


def test_nothing_is_left_behind(tmp_path: Path, server: FakeServer) -> None:
    played(tmp_path / "case", server)
    assert not server._running and not server._queue and not server._cache.get("None") and not server.paused
    flushes = [index for index, (path, _) in enumerate(server.seen) if path == "/flush_cache"]
    assert len(flushes) >= 2 * 9 and flushes[-1] >= len(server.seen) - 3


def test_another_ones_traffic_stops_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scene.Pace, "flush_seconds", 0.2)
    with FakeServer(Fault(stuck=True)).running() as server:
        monkeypatch.setattr(room, "Pace", lambda speed, seconds: scene.Pace(speed, seconds, 0.2))
        with pytest.raises(LimitHit, match="other traffic"):
            played(tmp_path / "case", server)


def test_an_arm_that_needs_other_flags_is_skipped_with_its_reason(tmp_path: Path, server: FakeServer) -> None:
    fixed = arm("fixed", SOURCE, RECIPIENT, COMPANY, switch="fixed")
    miss = arm("miss", SOURCE, RECIPIENT, switch="radix_force_miss", environment={"SGLANG_RADIX_FORCE_MISS": "1"})
    found = played(tmp_path / "case", server, plan(arms=(*ARMS, RADIX_OFF, fixed, miss)))
    reasons = {one.name: one.skipped for one in found.verdicts[0].arms if one.skipped}
    assert "--disable-radix-cache" in reasons["radix_off"] and "--server-template" in reasons["radix_off"]
    assert "--fixed-server" in reasons["fixed"] and "SGLANG_RADIX_FORCE_MISS=1" in reasons["miss"]


def test_a_server_of_the_fixed_build_and_one_with_the_flag_already(tmp_path: Path, server: FakeServer) -> None:
    server.fault.slot = True
    fixed = arm("fixed", SOURCE, RECIPIENT, COMPANY, switch="fixed")
    with FakeServer(Fault(holds=HELD), version="0.5.24").running() as other:
        found = played(tmp_path / "case", server, plan(arms=(*ARMS, fixed)), fixed_server=other.url)
    assert found.verdicts[0].verdict == "cured_by_fixed" and found.verdicts[0].cures == ("fixed",)
    with FakeServer(flags={"disable_radix_cache": True}).running() as same:
        found = played(tmp_path / "other", same, plan(arms=(*ARMS, RADIX_OFF)))
    assert "tests nothing" in {one.name: one.skipped for one in found.verdicts[0].arms}["radix_off"]


def test_another_server_cannot_go_on_with_a_run(tmp_path: Path, server: FakeServer) -> None:
    root = tmp_path / "case"
    played(root, server, trials=1)
    with FakeServer(Fault(holds=HELD), version="0.5.20").running() as other:
        with pytest.raises(UsageError, match="another version"):
            played(root, other, trials=2)
        assert played(root, other, trials=2, fresh=True).trials == 6
    assert next(root.glob("replay/*/trials.1.jsonl")).read_bytes().count(b"\n") == 3
    with pytest.raises(UsageError, match="--speed"):
        played(root, server, trials=2, speed=2.0)


def test_the_case_knows_the_trials(tmp_path: Path, server: FakeServer) -> None:
    server.fault.slot = True
    root = tmp_path / "case"
    found = played(root, server)
    played(root, server)  # judged again: the same rows
    with Case.open(root, read_only=True) as case:
        rows = case.table("trials").to_pylist()
        assert len(rows) == 9 and {row["plan_id"] for row in rows} == {found.plan_id}
        facts = orjson.loads(rows[0]["server"])
        assert facts["version"] == "0.5.23" and facts["model"] == "fake" and facts["flags"]["chunked_prefill_size"]
        assert all(row["seed"] is not None and row["milliseconds"] > 0 and row["idle"] for row in rows)
        assert [row["verdict"] for row in case.table("replay_verdicts").to_pylist()] == ["reproduced_in_company"]
    actions = [orjson.loads(x)["action"] for x in (root / "custody.jsonl").read_bytes().split(b"\n") if x]
    assert actions.count("replay run") == 2 and actions.count("replay judge") == 2


def test_a_second_run_of_the_same_plan_waits_for_nobody(tmp_path: Path, server: FakeServer) -> None:
    from forensics.replay.records import Book

    path = in_case(tmp_path / "case", plan())
    restricted = tmp_path / "case" / "restricted" / "replay" / path.parent.name / "responses.jsonl"
    trials = path.parent / "trials.jsonl"
    with Book.open(trials, restricted):
        trials.write_bytes(b"")
        for fresh in (False, True):
            with pytest.raises(UsageError, match="another"):
                replay(path, Options(server.url, fresh=fresh))
        assert trials.exists()  # --fresh puts nothing aside that another process writes


def test_an_interruption_together_with_what_was_waited_for_is_not_lost() -> None:
    async def interrupted() -> None:
        event = asyncio.Event()
        waiting = asyncio.create_task(scene._within(5.0, event))
        await asyncio.sleep(0)
        event.set()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(interrupted())


def test_ctrl_c_in_a_paused_scene_lets_the_server_go_on(tmp_path: Path, server: FakeServer) -> None:
    from forensics.replay.address import address
    from forensics.replay.client import Client

    made = plan(arms=(arm("original", SOURCE, RECIPIENT, COMPANY, scene="paused"),))
    server.fault.step = 0.2  # it must not be through before it is interrupted

    async def interrupted() -> None:
        async with Client(address(server.url)) as client:
            facts = await client.facts()
            one = scene.Scene(client, facts, made, made.arms[0], 0, TEXTS, scene.Pace())
            task = asyncio.create_task(one.play({}))
            while not server.paused:
                await asyncio.sleep(0.005)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(interrupted())
    assert not server.paused and not server._running and not server._queue
