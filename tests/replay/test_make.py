"""From a case to a plan: who is in it, when, in which words, under which conditions, and what is not in it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from case_builder import HOSTILE_TENANTS, CaseBuilder, at, hostile_case

from forensics.case.errors import UsageError
from forensics.case.store import Case
from forensics.replay.make import Parameters, make_plan
from forensics.replay.plan import Arm, Plan, PlannedRequest, read_plan
from forensics.replay.servers import Need

SECRET = "Record of Goran Solberg: file CO-4818-453, 31 Copperfield Row, about a crate of tiles from Villarosa."


class World:
    """A source that is aborted, a recipient in its slot, neighbours, and others at another time."""

    def __init__(self) -> None:
        self.builder = b = CaseBuilder()
        self.early = b.request(
            "req-early", "tenant-three", -500, -490, prompt="Tell of the lighthouse keepers of Orsa."
        )
        self.source = b.request("req-source", "tenant-one", 0, 4, prompt=SECRET + " Repeat it.", finish_reason="abort")
        self.beside = b.request("req-beside", "tenant-two", 1, 9, prompt="Which ferries leave Brevik on Sunday?")
        self.recipient = b.request(
            "req-victim", "tenant-four", 4.5, 9, prompt="Say what pipes cost in Lindau.", response="It is " + SECRET
        )
        self.elsewhere = b.request("req-other", "tenant-two", 2, 8, worker="w9", prompt="Name nine rivers of Norway.")
        self.late = b.request(
            "req-late", "tenant-five", 900, 905, prompt="List the opening hours of the archive, please."
        )
        self.gone = b.request("req-gone", "tenant-five", 950, 951, prompt="List ten towns.", finish_reason="abort")
        self.again = b.request("req-again", "tenant-three", 960, 969, prompt="Describe granaries at the quay of Ivrea.")
        b.fragment("F-leak", self.recipient, 6, 6 + len(SECRET), ["tenant-one"], [(self.source, "prompt")])
        self.settings: list[dict[str, Any]] = []
        self.ids: dict[int, dict[str, str]] = {}

    def set(self, request: int, **sampling: Any) -> None:
        self.settings.append({"key": request, "sampling": json.dumps(sampling), "output": None})

    def write(self, root: Path) -> Case:
        for request, ids in self.ids.items():
            self.builder.requests[request]["ids"] = json.dumps(ids)
        case = self.builder.write(root)
        stay = {"worker": "w0", "phase": "slot", "basis": "logged", "confidence": 1.0, "source": "probe", "slot": "7"}
        rows = {
            "request_settings": self.settings,
            "residencies": [
                {**stay, "request": self.source, "start": at(0), "end": at(4)},
                {**stay, "request": self.recipient, "start": at(4.6), "end": at(9)},
                {**stay, "request": self.beside, "start": at(1), "end": at(9), "slot": "8"},
            ],
            "batches": [
                {"batch": number, "worker": "w0", "iteration": number, "at": at(number), "kind": "decode",
                 "basis": "logged", "size": 2, "confidence": 1.0, "source": "probe"}
                for number in (1, 2, 3)
            ],
            "batch_members": [{"batch": number, "request": self.source, "slot": "7"} for number in (1, 2, 3)],
        }  # fmt: skip
        for table, made in rows.items():
            if made:
                case.append(table, pa.Table.from_pylist(made, schema=case.table(table).schema))
        return case


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def planned(world: World, tmp_path: Path) -> Iterator[tuple[Plan, Path, Case]]:
    with world.write(tmp_path / "case") as case:
        plan, path = make_plan(case, Parameters())
        yield plan, path, case


def by_text(plan: Plan, path: Path, start: str) -> PlannedRequest:
    """The request of an original plan whose prompt begins so."""
    texts = read_plan(path)[1]
    return next(one for one in plan.requests if texts[one.messages[0].text].startswith(start))


def arms(plan: Plan) -> dict[str, Arm]:
    return {arm.name: arm for arm in plan.arms}


def test_who_was_there_is_in_the_plan_in_order(planned: tuple[Plan, Path, Case]) -> None:
    plan, path, _ = planned
    assert read_plan(path)[0] == plan
    (leak,) = plan.leaks
    assert (leak.fragment_id, leak.kind) == ("F-leak", "verbatim")
    assert (len(leak.sources), len(leak.company)) == (1, 1)  # the other worker's call was not there
    assert arms(plan)["original"].requests == (leak.sources[0], leak.company[0], leak.recipient)
    assert arms(plan)["alone"].requests == (leak.recipient,)
    source, recipient = plan.request(leak.sources[0]), plan.request(leak.recipient)
    assert [source.at_ms, plan.request(leak.company[0]).at_ms, recipient.at_ms] == [0, 1000, 4500]
    assert (source.abort_ms, source.abort_tokens, source.stream) == (4000, 5, True)
    assert (recipient.abort_ms, recipient.took_ms, recipient.after) == (None, 4500, leak.sources)


def test_control_company_are_ordinary_calls_of_others_at_another_time(
    world: World, planned: tuple[Plan, Path, Case]
) -> None:
    plan, _, _ = planned
    (leak,) = plan.leaks
    control = arms(plan)["control"].requests
    assert set(control) == {*leak.unrelated, leak.recipient}
    assert len(leak.unrelated) == 2
    assert not set(control) & {*leak.sources, *leak.company}
    others = [plan.request(key) for key in leak.unrelated]
    assert all(one.abort_ms is None for one in others)
    tenants = {plan.request(key).tenant_ref for key in (leak.recipient, *leak.sources)}
    assert not {one.tenant_ref for one in others} & tenants
    assert sorted(one.at_ms for one in others) == [0, 1000]
    assert len({one.rid for one in plan.requests}) == len(plan.requests)


def test_the_plan_names_no_tenant_no_id_and_no_text(world: World, planned: tuple[Plan, Path, Case]) -> None:
    plan, path, _ = planned
    written = path.read_text(encoding="utf-8") + (path.parent / "texts.jsonl").read_text(encoding="utf-8")
    for secret in ("tenant-", "req-", "Solberg", "CO-4818", "Copperfield", "Brevik", "Lindau", "w0"):
        assert secret not in written
    assert plan.text == "surrogate"
    assert plan.reason is None


def test_a_source_is_known_by_canaries_of_its_own(planned: tuple[Plan, Path, Case]) -> None:
    plan, path, _ = planned
    texts = read_plan(path)[1]
    (leak,) = plan.leaks
    (source,) = leak.sources
    assert leak.marks[source]
    for canary in leak.marks[source]:
        holders = {one.key for one in plan.requests if any(canary in texts[part.text] for part in one.messages)}
        assert holders == {source}


def test_switches_say_what_they_need(planned: tuple[Plan, Path, Case]) -> None:
    found = arms(planned[0])
    assert list(found) == [
        "alone", "control", "original", "radix_force_miss", "radix_off", "overlap_off", "max_running_1",
        "max_running_2", "chunked_off", "deterministic",
    ]  # fmt: skip
    assert {name for name, arm in found.items() if Need.of(arm).plain} == {"alone", "control", "original"}
    assert found["radix_force_miss"].environment == {"SGLANG_RADIX_FORCE_MISS": "1"}
    assert found["chunked_off"].flags == ("--chunked-prefill-size", "-1")
    assert all(found[name].requests == found["original"].requests for name in found if found[name].switch)


def test_a_switch_that_was_set_already_is_no_arm(world: World, tmp_path: Path) -> None:
    with world.write(tmp_path / "case") as case:
        event = {"evidence": 0, "byte_offset": 1, "kind": "server_args", "attributes": json.dumps(
            {"disable_overlap_schedule": True, "disable_radix_cache": True, "max_running_requests": 2, "tp_size": 1}
        )}  # fmt: skip
        case.append("engine_events", pa.Table.from_pylist([event], schema=case.table("engine_events").schema))
        plan, _ = make_plan(case, Parameters(fixed=True))
    assert list(arms(plan)) == [
        "alone", "control", "original", "max_running_1", "chunked_off", "deterministic", "fixed",
    ]  # fmt: skip
    assert Need.of(arms(plan)["fixed"]) == Need((), (), fixed=True)
    assert plan.engine.flags["disable_overlap_schedule"] == "true"
    assert plan.engine.version is None


def test_what_the_logs_tell_of_sampling_is_carried_over_and_the_rest_marked(world: World, tmp_path: Path) -> None:
    world.set(world.recipient, temperature=0.7, max_new_tokens=33, sampling_seed=5, stop=["Solberg"], custom_params=1)
    with world.write(tmp_path / "case") as case:
        plan, _ = make_plan(case, Parameters())
        recipient, source = plan.request(plan.leaks[0].recipient), plan.request(plan.leaks[0].sources[0])
        assert recipient.sampling == {"temperature": 0.7, "sampling_seed": 5}
        assert recipient.max_new_tokens == 33
        assert recipient.assumed == ("sampling.stop",)
        assert source.sampling == {"temperature": 0}
        assert {"max_new_tokens", "sampling.temperature"} <= set(source.assumed)
        assert any("temperature 0 is assumed" in line for line in plan.assumed)
        whole, _ = make_plan(case, Parameters(original=True, reason="asked"))
        assert whole.request(whole.leaks[0].recipient).sampling["stop"] == ["Solberg"]


def test_salts_stay_equal_where_they_were_and_where_one_was_put_behind_the_other(world: World, tmp_path: Path) -> None:
    world.ids = {
        world.source: {"cache_salt": "ab", "extra_key": "c"},
        world.recipient: {"cache_salt": "a", "extra_key": "bc"},
        world.beside: {"cache_salt": "ab"},
    }
    with world.write(tmp_path / "case") as case:
        plan, _ = make_plan(case, Parameters())
    (leak,) = plan.leaks
    source, recipient, beside = (plan.request(key) for key in (*leak.sources, leak.recipient, *leak.company))
    assert source.cache_salt and recipient.cache_salt and source.extra_key and recipient.extra_key
    assert source.cache_salt + source.extra_key == recipient.cache_salt + recipient.extra_key
    assert source.cache_salt != recipient.cache_salt
    assert (beside.cache_salt, beside.extra_key) == (source.cache_salt, None)
    assert not {source.cache_salt, recipient.cache_salt} & {"ab", "a", "abc"}


def test_one_id_of_two_calls_stays_one(world: World, tmp_path: Path) -> None:
    for request in (world.source, world.recipient):
        world.builder.requests[request].update(request_id="job-1", vantage="engine")
    with world.write(tmp_path / "case") as case:
        plan, _ = make_plan(case, Parameters())
    (leak,) = plan.leaks
    rids = {key: plan.request(key).rid for key in (*leak.sources, leak.recipient, *leak.company)}
    assert rids[leak.recipient] == rids[leak.sources[0]] != rids[leak.company[0]]
    assert "job" not in "".join(rids.values())


@pytest.mark.parametrize("vantage", ["client", "engine"])
def test_a_prompt_that_two_vantages_saw_is_sent_once(
    world: World, planned: tuple[Plan, Path, Case], vantage: str, tmp_path: Path
) -> None:
    twin = len(world.builder.requests)
    world.builder.requests.append({**world.builder.requests[world.recipient], "key": twin, "vantage": vantage})
    world.builder.uses += [{**use, "key": twin} for use in world.builder.uses if use["request"] == world.recipient]
    with world.write(tmp_path / "seen twice") as case:
        twice, path = make_plan(case, Parameters())
    once, before, _ = planned
    assert read_plan(path)[1] == read_plan(before)[1]
    seen, seen_once = (made.request(made.leaks[0].recipient) for made in (twice, once))
    assert (seen.messages, seen.assumed) == (seen_once.messages, seen_once.assumed)


def test_a_long_silence_is_shortened(world: World, tmp_path: Path) -> None:
    world.builder.joined[world.source].update(received_at=at(-200), finished_at=at(-190))
    with world.write(tmp_path / "case") as case:
        plan, _ = make_plan(case, Parameters())
    (leak,) = plan.leaks
    # Ten seconds of the source, two of the silence until the neighbour comes, then as logged.
    assert plan.request(leak.company[0]).at_ms == 12_000
    assert plan.request(leak.recipient).at_ms == 12_000 + 3_500


def test_originals_need_a_reason_lie_in_the_restricted_folder_and_are_logged(
    world: World, planned: tuple[Plan, Path, Case]
) -> None:
    _, _, case = planned
    with pytest.raises(UsageError, match="--reason"):
        make_plan(case, Parameters(original=True))
    with pytest.raises(UsageError, match="--original"):
        make_plan(case, Parameters(reason="why"))
    plan, path = make_plan(case, Parameters(original=True, reason="counsel asked for it"))
    texts = read_plan(path)[1]
    assert any(SECRET in text for text in texts.values())
    assert "Solberg" not in path.read_text(encoding="utf-8")
    assert not (path.parent / "texts.jsonl").exists()
    assert (case.root / "restricted" / "replay" / plan.plan_id / "texts.jsonl").stat().st_mode & 0o777 == 0o600
    log = (case.root / "custody.jsonl").read_text(encoding="utf-8")
    assert "surrogate texts" in log
    assert "original texts: counsel asked for it" in log
    assert by_text(plan, path, "Say what pipes").key == plan.leaks[0].recipient


def test_the_same_case_gives_the_same_plan(planned: tuple[Plan, Path, Case]) -> None:
    plan, _, case = planned
    assert make_plan(case, Parameters())[0] == plan
    assert make_plan(case, Parameters(seed=2))[0].plan_id != plan.plan_id


def test_company_is_bounded_and_the_slot_comes_first(world: World, tmp_path: Path) -> None:
    with world.write(tmp_path / "case") as case:
        former = {"worker": "w0", "phase": "slot", "basis": "logged", "confidence": 1.0, "source": "probe", "slot": "7"}
        row = {**former, "request": world.elsewhere, "start": at(4.1), "end": at(4.4)}
        case.append("residencies", pa.Table.from_pylist([row], schema=case.table("residencies").schema))
        case._connection.execute("UPDATE joined_requests SET worker = 'w0'").fetchall()
        plan, path = make_plan(case, Parameters(company=1, original=True, reason="asked"))
        (leak,) = plan.leaks
        assert leak.company == (by_text(plan, path, "Name nine rivers").key,)
        assert any("1 of 2 neighbours are left out" in line for line in plan.assumed)


def test_fragments_are_chosen_by_name_or_the_clearest(world: World, tmp_path: Path) -> None:
    world.builder.fragment("F-none", world.recipient, 0, 4, [], machine_verdict="undetermined", kind="undetermined")
    with world.write(tmp_path / "case") as case:
        assert [leak.fragment_id for leak in make_plan(case, Parameters(fragments=("F-le",)))[0].leaks] == ["F-leak"]
        with pytest.raises(UsageError, match="no source is named"):
            make_plan(case, Parameters(fragments=("F-none",)))
        both, _ = make_plan(case, Parameters(fragments=("F-leak", "F-none")))
        assert both.left_out == ("F-none: no source is named, so that nothing could be recognised in a trial",)
        with pytest.raises(UsageError):
            make_plan(case, Parameters(fragments=("F-unknown",)))


def test_a_rejected_fragment_is_not_replayed(world: World, tmp_path: Path) -> None:
    world.builder.review("F-leak", "reject")
    with world.write(tmp_path / "case") as case, pytest.raises(UsageError, match="no fragment can be replayed"):
        make_plan(case, Parameters())


def test_without_times_the_source_goes_first_in_one_batch(world: World, tmp_path: Path) -> None:
    for row in world.builder.joined:
        row.update(received_at=None, finished_at=None, first_token_at=None)
    with world.write(tmp_path / "case") as case:
        plan, _ = make_plan(case, Parameters())
    (leak,) = plan.leaks
    original = arms(plan)["original"]
    assert original.requests == (leak.sources[0], leak.recipient)
    assert original.scene == "paused"
    assert "at_ms" in plan.request(leak.recipient).assumed
    assert any("arrival times are not in the logs" in line for line in plan.assumed)


def test_parameters_are_checked(planned: tuple[Plan, Path, Case]) -> None:
    for wrong in (Parameters(trials=0), Parameters(most=0), Parameters(company=-1)):
        with pytest.raises(UsageError):
            make_plan(planned[2], wrong)
    assert replace(Parameters(), trials=7).trials == 7


def test_hostile_names_and_ids_stay_out(tmp_path: Path) -> None:
    with hostile_case().write(tmp_path / "case") as case:
        plan, path = make_plan(case, Parameters(most=9))
    assert len(plan.leaks) == len(HOSTILE_TENANTS)
    written = path.read_text(encoding="utf-8")
    for name in HOSTILE_TENANTS:
        assert name not in written
        assert json.dumps(name)[1:-1] not in written


def test_turns_of_a_conversation_share_their_texts(world: World, tmp_path: Path) -> None:
    builder = world.builder
    first = next(use for use in builder.uses if use["request"] == world.recipient and use["side"] == "prompt")
    earlier = builder.request("req-earlier", "tenant-four", 3, 4.2, prompt=builder.contents[first["content"]])
    builder.uses.append({**first, "field": "messages[1].content", "role": "assistant", "ordinal": 1, "content": 3})
    builder.uses.append({**first, "field": "messages[2].content", "role": "tool", "ordinal": 2, "content": 5})
    with world.write(tmp_path / "case") as case:
        plan, path = make_plan(case, Parameters())
    assert earlier is not None
    recipient = plan.request(plan.leaks[0].recipient)
    assert [part.role for part in recipient.messages] == ["user", "assistant", "user"]
    assert "messages.role" in recipient.assumed
    texts = read_plan(path)[1]
    (turn,) = [one for one in plan.requests if one.key != recipient.key and one.tenant_ref == recipient.tenant_ref]
    assert texts[turn.messages[0].text] == texts[recipient.messages[0].text]
    assert turn.key in plan.leaks[0].company
    assert turn.key in recipient.after
