"""Engine events in, stays, slots, passes and relations out; expected values are worked out by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_builder import SECRET, CaseBuilder, at
from engine_cases import Events, found, timeline

from forensics.case.ask import ask
from forensics.timeline.run import NO_SLOTS
from forensics.timeline.told import NO_BATCHES


def two_calls(worker: str | None = "w0") -> CaseBuilder:
    b = CaseBuilder()
    s = b.request("s", "alpha", 0, 10, worker=worker, prompt=SECRET)
    r = b.request("r", "beta", 11, 30, worker=worker, response=SECRET)
    b.fragment("f", r, 0, len(SECRET), ["alpha"], [(s, "prompt")])
    return b


def relations(case) -> dict[str, tuple[str, str]]:
    return {row["relation"]: (row["value"], row["basis"]) for row in case.table("appearance_relations").to_pylist()}


def test_slots_of_the_probe_are_logged_stays(tmp_path: Path) -> None:
    events = Events("h1 DP0")
    events.slot("s", 3, 1, 9)
    events.slot("HEALTH_CHECK_x", 4, 2, 3)
    events.slot("r", 3, 12, None)
    events.add("probe_finish", 40, request_id="other", attributes={"pid": 7, "tp_rank": 0, "dp_rank": 0, "pp_rank": 0})
    case, summary = timeline(two_calls(), tmp_path / "c", events)
    with case:
        stays = found(case, "residencies", phase="slot")
        assert [(row["request"], row["slot"], row["start"], row["end"], row["worker"]) for row in stays] == [
            (0, "3", at(1), at(9), "w0"),
            (1, "3", at(12), at(12), "w0"),
        ]
        assert [(row["basis"], row["confidence"], row["source"]) for row in stays] == [
            ("logged", 1.0, "probe"),
            ("logged", 0.9, "probe"),
        ]
        assert relations(case)["same_slot"] == ("yes", "logged")
        assert relations(case)["slot_predecessor"] == ("yes", "logged")
        assert relations(case)["slot_gap_us"] == ("3000000", "logged")
        assert found(case, "slot_derivations")[0]["basis"] == "logged"
    assert NO_SLOTS not in summary.warnings


def test_whoever_held_the_slot_in_between_is_no_call_of_the_case(tmp_path: Path) -> None:
    events = Events("h1 DP0")
    events.slot("s", 3, 1, 9)
    events.slot("HEALTH_CHECK_x", 3, 10, 11)
    events.slot("r", 3, 12, 29)
    case, _ = timeline(two_calls(), tmp_path / "c", events)
    with case:
        assert relations(case)["same_slot"] == ("yes", "logged")
        assert relations(case)["slot_predecessor"] == ("no", "logged")


def test_slots_of_two_ranks_are_different_slots(tmp_path: Path) -> None:
    b = two_calls(None)
    first, second = Events("h1 DP0", 1), Events("h1 DP1", 2)
    first.slot("s", 3, 1, 9)
    second.slot("r", 3, 12, 29, dp_rank=1)
    case, _ = timeline(b, tmp_path / "c", first, second)
    with case:
        workers = {row["request"]: row["worker"] for row in found(case, "residencies", phase="slot")}
        assert workers == {0: "h1 DP0", 1: "h1 DP1"}
        assert relations(case)["same_slot"] == ("no", "logged")
        assert relations(case)["same_worker"][0] == "no"


def test_ranks_of_one_worker_of_the_requests_are_kept_apart(tmp_path: Path) -> None:
    first, second = Events("h1 DP0", 1), Events("h1 DP1", 2)
    first.slot("s", 3, 1, 9)
    second.slot("r", 3, 12, 29, dp_rank=1)
    case, _ = timeline(two_calls("w0"), tmp_path / "c", first, second)
    with case:
        assert {row["worker"] for row in found(case, "residencies")} == {"w0 DP0", "w0 DP1"}


def test_copies_that_tensor_ranks_write_are_dropped(tmp_path: Path) -> None:
    events = Events("h1 DP0")
    for rank in (0, 1, 2):
        events.slot("s", 3, 1, 9, tp_rank=rank, pid=7 + rank)
        events.batch(1, 2, [("s", 3)], tp_rank=rank, pid=7 + rank)
        events.schedule(f"{rank}a", 2, ["s"], tp_rank=rank, pid=7 + rank)
    case, _ = timeline(two_calls(), tmp_path / "c", events)
    with case:
        assert len(found(case, "residencies", phase="slot")) == 1
        assert len(found(case, "batches")) == 1
        assert len(found(case, "batch_members")) == 1


def test_a_slot_given_twice_without_being_freed_was_free_in_between(tmp_path: Path) -> None:
    events = Events("h1 DP0")
    events.slot("s", 3, 1, None)
    events.slot("r", 3, 12, 29)
    case, summary = timeline(two_calls(), tmp_path / "c", events)
    with case:
        stays = found(case, "residencies", phase="slot")
        assert [(row["end"], row["confidence"]) for row in stays] == [(at(12), 0.5), (at(29), 1.0)]
    assert any("1 slots were given again without having been freed" in warning for warning in summary.warnings)


def test_two_runs_of_a_process_have_slots_of_their_own(tmp_path: Path) -> None:
    events = Events("h1 DP0")
    events.slot("s", 3, 1, None, pid=7)
    events.slot("r", 3, 12, 29, pid=8)
    case, _ = timeline(two_calls(), tmp_path / "c", events)
    with case:
        assert found(case, "residencies", phase="slot", request=0)[0]["end"] == at(1)  # its process said no more


def test_passes_of_the_probe_and_their_members(tmp_path: Path) -> None:
    events = Events("h1 DP0")
    events.batch(5, 12.5, [("s", 3), ("r", 4), ("HEALTH_CHECK_x", 1)], mode="prefill")
    events.batch(6, 12.75, [("r", 4)])
    case, summary = timeline(two_calls(), tmp_path / "c", events)
    with case:
        batches = found(case, "batches")
        assert [(b["iteration"], b["at"], b["kind"], b["size"], b["worker"], b["source"]) for b in batches] == [
            (5, at(12.5), "prefill", 3, "w0", "probe"),
            (6, at(12.75), "decode", 1, "w0", "probe"),
        ]
        members = sorted((row["batch"], row["request"], row["slot"]) for row in case.table("batch_members").to_pylist())
        assert members == [(0, 0, "3"), (0, 1, "4"), (1, 1, "4")]
        assert relations(case)["same_batch"] == ("yes", "logged")
        assert relations(case)["batches_shared"] == ("1", "logged")
        (run_of_r,) = found(case, "residencies", phase="run", request=1)
        assert (run_of_r["start"], run_of_r["end"], run_of_r["basis"]) == (at(12.5), at(12.75), "logged")
    assert any(warning.startswith("1 forward passes had members that are no request") for warning in summary.warnings)


def test_a_run_of_passes_with_the_same_rows_is_spread_over_its_time(tmp_path: Path) -> None:
    events = Events("h1 DP0")
    events.batch(5, 12.0, [("s", 3), ("r", 4)])
    events.repeat(5, 6, 8, 12.5, 13.5)
    events.repeat(4, 9, 9, 14, 14)  # of a pass that the log does not have
    case, _ = timeline(two_calls(), tmp_path / "c", events)
    with case:
        batches = found(case, "batches")
        assert [(b["iteration"], b["at"], b["size"]) for b in batches] == [
            (5, at(12), 2),
            (6, at(12.5), 2),
            (7, at(13), 2),
            (8, at(13.5), 2),
        ]
        assert len(case.table("batch_members").to_pylist()) == 8
        assert relations(case)["batches_shared"] == ("4", "logged")


def test_a_cleared_pool_frees_every_slot(tmp_path: Path) -> None:
    events = Events("h1 DP0")
    events.slot("s", 3, 1, None)
    events.add("probe_slot_clear", 10, attributes={"pid": 7, "tp_rank": 0, "dp_rank": 0, "pp_rank": 0})
    events.slot("r", 3, 12, 29)
    case, _ = timeline(two_calls(), tmp_path / "c", events)
    with case:
        stays = found(case, "residencies", phase="slot")
        assert [(row["end"], row["confidence"]) for row in stays] == [(at(10), 1.0), (at(29), 1.0)]


def test_traces_give_passes_where_the_probe_does_not(tmp_path: Path) -> None:
    probe, traces = Events("h1 DP0", 1), Events("cluster", 2)
    probe.batch(1, 5, [("s", 3)])
    probe.batch(2, 6, [("s", 3)])
    traces.schedule("aa", 5.5, ["s"])
    traces.schedule("bb", 12, ["s", "r"])
    case, _ = timeline(two_calls(), tmp_path / "c", probe, traces)
    with case:
        assert [(b["source"], b["at"]) for b in found(case, "batches")] == [
            ("probe", at(5)),
            ("probe", at(6)),
            ("schedule", at(12)),
        ]
        assert relations(case)["batches_shared"] == ("1", "logged")


def test_a_trace_that_repeats_itself_makes_no_second_member(tmp_path: Path) -> None:
    traces = Events("cluster")
    traces.schedule("aa", 5, ["s", "s", "r"], size=2)
    case, _ = timeline(two_calls(), tmp_path / "c", traces)
    with case:
        assert sorted(row["request"] for row in case.table("batch_members").to_pylist()) == [0, 1]


def test_samples_of_who_ran_are_moments_and_no_slots(tmp_path: Path) -> None:
    events = Events("w0")
    events.status(5, ["s", "r"])
    case, summary = timeline(two_calls(), tmp_path / "c", events)
    with case:
        (batch,) = found(case, "batches")
        assert (batch["kind"], batch["size"], batch["source"]) == ("running", 2, "scheduler_status")
        assert relations(case)["same_batch"] == ("yes", "logged")
        assert relations(case)["same_slot"] == ("unknown", "derived")
        assert not found(case, "residencies", phase="run")
    assert NO_SLOTS not in summary.warnings


def test_a_name_that_two_calls_share_is_the_one_received_last_before(tmp_path: Path) -> None:
    b = CaseBuilder()
    b.request("same", "alpha", 0, 10)
    b.request("same", "beta", 20, 30)
    events = Events("h1 DP0")
    events.slot("same", 3, 1, 9)
    events.slot("same", 4, 21, 29)
    events.batch(1, 25, [("same", 4)])
    case, _ = timeline(b, tmp_path / "c", events)
    with case:
        assert {(row["request"], row["slot"]) for row in found(case, "residencies", phase="slot")} == {
            (0, "3"),
            (1, "4"),
        }
        assert [row["request"] for row in case.table("batch_members").to_pylist()] == [1]


@pytest.mark.parametrize("kind", ["probe_retract", "retraction"])
def test_retractions_are_named(tmp_path: Path, kind: str) -> None:
    events = Events("h1 DP0")
    events.slot("s", 3, 1, 9)
    events.add(kind, 4, request_id="s", attributes={"pid": 7})
    case, _ = timeline(two_calls(), tmp_path / "c", events)
    with case:
        assert relations(case)["source_retracted"] == ("yes", "logged")
        assert "recipient_retracted" not in relations(case)


def stats(
    events: Events, rid: str, came: float, queue_ms: float, forward_ms: float, second: float, **more: object
) -> None:
    from case_builder import ORIGIN

    epoch = int((ORIGIN - type(ORIGIN)(1970, 1, 1)).total_seconds() * 1_000_000)
    events.add(
        "request_time_stats",
        second,
        request_id=rid,
        counts={
            "entry_at_us": epoch + int(came * 1_000_000),
            "queue_duration_ms": queue_ms,
            "forward_duration_ms": forward_ms,
            "input_len": 10,
            **more,
        },
        attributes={"type": "unified"},
    )


def started(worker: str = "w0", release: str | None = "0.5.18") -> Events:
    events = Events(worker)
    events.add("scheduler_start", -60, counts={"max_running_requests": 8})
    if release:
        events.add("engine_release", -50, attributes={"at_least": release})
    return events


def test_slots_are_derived_from_admissions_and_ends(tmp_path: Path) -> None:
    events = started()
    stats(events, "s", 0.1, 100, 8000, 8)
    stats(events, "r", 11.1, 100, 17000, 28)
    case, summary = timeline(two_calls(), tmp_path / "c", events)
    with case:
        stays = found(case, "residencies", phase="slot")
        assert [(row["request"], row["slot"], row["start"], row["end"]) for row in stays] == [
            (0, "8", at(0.2), at(8.2)),
            (1, "8", at(11.2), at(28.2)),
        ]
        assert {(row["basis"], row["source"]) for row in stays} == {("derived", "free_list")}
        assert all(row["confidence"] < 1 for row in stays)
        assert relations(case)["slot_predecessor"] == ("yes", "derived")
        (account,) = found(case, "slot_derivations")
        assert (account["policy"], account["slots"], account["stays"], account["given"]) == ("lifo", 8, 2, 2)
    assert NO_BATCHES in summary.warnings
    assert any(warning.startswith("2 of 2 stays on 1 scheduler(s) have a derived slot") for warning in summary.warnings)


def test_fifo_releases_take_the_next_row(tmp_path: Path) -> None:
    events = started(release="0.5.15")
    stats(events, "s", 0.1, 100, 8000, 8)
    stats(events, "r", 11.1, 100, 17000, 28)
    case, _ = timeline(two_calls(), tmp_path / "c", events)
    with case:
        assert [row["slot"] for row in found(case, "residencies", phase="slot")] == ["1", "2"]
        assert relations(case)["slot_predecessor"] == ("no", "derived")


@pytest.mark.parametrize(
    ("begins", "reason"),
    [(False, "does not show the scheduler's start"), (True, "release is unknown")],
    ids=["no start", "no release"],
)
def test_what_the_free_list_needs_and_the_log_lacks_is_named(begins: bool, reason: str, tmp_path: Path) -> None:
    events = Events("w0")
    if begins:
        events.add("scheduler_start", -60, counts={"max_running_requests": 8})
    stats(events, "s", 0.1, 100, 8000, 8)
    case, summary = timeline(two_calls(), tmp_path / "c", events)
    with case:
        assert not found(case, "residencies", phase="slot")
        assert found(case, "residencies", phase="run", request=0)[0]["source"] == "time_stats"
    assert any(reason in warning for warning in summary.warnings)


def test_the_release_can_be_given(tmp_path: Path) -> None:
    events = Events("w0")
    events.add("scheduler_start", -60, counts={"max_running_requests": 8})
    stats(events, "s", 0.1, 100, 8000, 8)
    case, _ = timeline(two_calls(), tmp_path / "c", events, engine_version="0.5.20")
    with case:
        assert [row["slot"] for row in found(case, "residencies", phase="slot")] == ["8"]


def test_slots_that_the_engines_counts_contradict_are_withdrawn(tmp_path: Path) -> None:
    events = started()
    stats(events, "s", 0.1, 100, 8000, 8)
    for second in (2, 3, 4):
        events.add("decode_batch", second, counts={"running_req": 5})
    stats(events, "r", 11.1, 100, 17000, 28)
    case, summary = timeline(two_calls(), tmp_path / "c", events)
    with case:
        assert not found(case, "residencies", phase="slot")
        (account,) = found(case, "slot_derivations")
        assert (account["basis"], account["checks"], account["agreed"], account["given"]) == ("withdrawn", 3, 0, 0)
    assert any("contradict" in warning for warning in summary.warnings)


def test_a_call_without_a_line_of_times_ends_the_certainty(tmp_path: Path) -> None:
    b = two_calls()
    b.request("untold", "gamma", 9.5, 40)
    for row in b.requests:
        row["vantage"] = "engine"
    events = started()
    stats(events, "s", 0.1, 100, 8000, 8)
    stats(events, "r", 11.1, 100, 17000, 28)
    case, _ = timeline(b, tmp_path / "c", events)
    with case:
        assert [row["request"] for row in found(case, "residencies", phase="slot")] == [0]


def test_logged_slots_are_not_derived_again(tmp_path: Path) -> None:
    events, probe = started(), Events("h1 DP0", 2)
    stats(events, "s", 0.1, 100, 8000, 8)
    probe.slot("s", 5, 0.2, 8.2)
    case, _ = timeline(two_calls(), tmp_path / "c", events, probe)
    with case:
        assert [(row["slot"], row["basis"]) for row in found(case, "residencies", phase="slot")] == [("5", "logged")]


def test_the_hosts_clock_is_tied_to_the_day_by_the_stamps(tmp_path: Path) -> None:
    b = CaseBuilder()
    events = Events("w0")
    events.add("scheduler_start", -60, counts={"max_running_requests": 8})
    # The host booted 5,000 s before: lines are stamped in whole seconds, cut, up to a second after the end.
    for number, came in enumerate((0.25, 10.5, 20.75, 31.0)):
        b.request(f"q{number}", "alpha", came, came + 3)
        done = came + 2.0
        events.add(
            "request_time_stats",
            int(done),
            request_id=f"q{number}",
            counts={"start_s": 5000 + came, "queue_duration_ms": 500.0, "forward_duration_ms": 1500.0},
            attributes={"type": "unified"},
        )
    case, _ = timeline(b, tmp_path / "c", events)
    with case:
        runs = {row["request"]: row["start"] for row in found(case, "residencies", phase="run")}
        for number, came in enumerate((0.25, 10.5, 20.75, 31.0)):
            assert abs((runs[number] - at(came + 0.5)).total_seconds()) <= 0.15
        # Lists of these releases begin at row 0 and come round in order.
        assert [row["slot"] for row in found(case, "residencies", phase="slot")] == ["0", "1", "2", "3"]


def test_a_clock_that_is_off_is_moved_and_shown_and_one_that_fits_is_left_alone(tmp_path: Path) -> None:
    b = CaseBuilder()
    late, right = Events("h1 DP0", 1), Events("h2 DP0", 2)
    for number in range(20):
        came = number * 30.0
        b.request(f"a{number}", "alpha", came, came + 10, worker="w1")
        b.request(f"b{number}", "alpha", came, came + 10, worker="w2")
        # The clock of h1 shows two minutes more; each call holds its row from 1 s to 9 s after it was received.
        late.slot(f"a{number}", 1, came + 121, came + 129)
        right.slot(f"b{number}", 1, came + 1, came + 9)
    case, summary = timeline(b, tmp_path / "c", late, right)
    with case:
        clocks = {row["worker"]: row for row in found(case, "event_clocks", source="probe")}
        assert (clocks["w1"]["offset_us"], clocks["w1"]["residual_us"], clocks["w1"]["n"]) == (120_000_000, 0, 20)
        assert (clocks["w2"]["offset_us"], clocks["w2"]["basis"]) == (0, "same_clock")
        stays = {row["request"]: (row["start"], row["end"]) for row in found(case, "residencies", phase="slot")}
        assert stays[0] == stays[1] == (at(1), at(9))
    assert any("moved to the requests' clock" in warning for warning in summary.warnings)


def test_questions_about_slots_and_passes(tmp_path: Path) -> None:
    events = Events("h1 DP0")
    events.slot("s", 3, 1, 9)
    events.batch(1, 2, [("s", 3)])
    events.slot("r", 3, 12, 29)
    events.batch(2, 13, [("s", 3), ("r", 3)])
    case, _ = timeline(two_calls(), tmp_path / "c", events)
    with case:
        (told,) = ask(case, "slot-of-request", {"request": "r"}).records()
        assert (told["slot"], told["before_request_id"], told["before_tenant_id"]) == ("3", "s", "alpha")
        assert (told["before_end"], told["after_request_id"]) == ("2026-03-04T10:00:09.000000Z", None)
        assert [row["request_id"] for row in ask(case, "batch-mates", {"request": "r"}).records()] == ["s"]
        (told,) = ask(case, "slots").records()
        assert (told["basis"], told["stays"], told["given"], told["share"]) == ("logged", 2, 2, 1.0)


def task(events: Events, number: int, slot: int, prompt: int, answer: int) -> None:
    process = {"process": 1}
    events.add("slot_busy", counts={"task": number}, slot=str(slot), attributes=process)
    events.add("prompt_loaded", counts={"n_prompt_tokens": prompt, "task": number}, slot=str(slot), attributes=process)
    events.add("decode_timing", counts={"tokens": answer, "task": number}, slot=str(slot), attributes=process)
    events.add("slot_free", counts={"task": number}, slot=str(slot), attributes=process)


def test_slot_lines_without_clock_are_tied_to_calls_by_counts_and_order(tmp_path: Path) -> None:
    b = CaseBuilder()
    counts = [(10, 5), (11, 5), (12, 5), (12, 5), (14, 9)]
    for number, (prompt, answer) in enumerate(counts):
        b.request(f"q{number}", "alpha", number * 10, number * 10 + 5)
        b.joined[-1]["prompt_tokens"], b.joined[-1]["completion_tokens"] = prompt, answer
    events = Events(None)
    task(events, 1, 0, 10, 5)
    task(events, 2, 1, 11, 5)
    task(events, 3, 0, 12, 5)  # two calls have these counts
    task(events, 4, 1, 12, 5)
    task(events, 5, 2, 99, 1)  # no call has these
    task(events, 6, 0, 14, 9)
    case, summary = timeline(b, tmp_path / "c", events)
    with case:
        stays = {
            row["request"]: (row["slot"], row["basis"], row["source"])
            for row in found(case, "residencies", phase="slot")
        }
        assert stays == {i: (slot, "derived", "llama_slots") for i, slot in ((0, "0"), (1, "1"), (4, "0"))}
    assert any(warning.startswith("3 of 6 stays") for warning in summary.warnings)


def test_slot_lines_that_end_in_another_order_than_the_calls_are_not_tied(tmp_path: Path) -> None:
    b = CaseBuilder()
    for number, (prompt, answer) in enumerate([(10, 5), (11, 5)]):
        b.request(f"q{number}", "alpha", number * 10, number * 10 + 5)
        b.joined[-1]["prompt_tokens"], b.joined[-1]["completion_tokens"] = prompt, answer
    events = Events(None)
    task(events, 1, 1, 11, 5)
    task(events, 2, 0, 10, 5)
    case, summary = timeline(b, tmp_path / "c", events)
    with case:
        assert not found(case, "residencies", phase="slot")
    assert any("no token counts tie them" in warning for warning in summary.warnings)


def test_an_answer_that_names_its_slot_is_logged(tmp_path: Path) -> None:
    b = CaseBuilder()
    b.request("q", "alpha", 0, 5)
    b.requests[-1]["ids"] = '{"slot": "3"}'
    case, _ = timeline(b, tmp_path / "c")
    with case:
        (stay,) = found(case, "residencies", phase="slot")
        assert (stay["slot"], stay["basis"], stay["confidence"]) == ("3", "logged", 1.0)
