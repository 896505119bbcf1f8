"""The parts of the harness that need no engine: the plans, and truth from a record."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.sglang.harness.traffic import FAULTS, PAIRS, Call, plan
from tests.sglang.harness.truth import Told, truth


@pytest.mark.parametrize("fault", FAULTS)
def test_a_plan_is_the_same_every_time_and_mixes_tenants(fault: str) -> None:
    phases = plan(fault)
    assert phases == plan(fault) and [phase.name for phase in phases] == ["before", "fault", "after"]
    calls = [call for phase in phases for step in phase.steps for call in step]
    assert len({call.request_id for call in calls}) == len(calls)
    assert len({call.tenant for call in calls}) == 6 and all(400 < len(call.text) < 1500 for call in calls)
    twins = Counter(call.rid for call in calls)
    assert (max(twins.values()) == 2) == (fault == "duplicate_rid")
    assert any(call.cancel for call in calls) == (fault in ("slot_reuse", "poisoned_prefix", "clean"))
    assert all(call.salt == f"{call.tenant}-space" for call in calls) == (fault == "cross_salt")


def test_colliding_ids_belong_to_two_tenants() -> None:
    fault = plan("duplicate_rid")[1]
    by_rid: dict[str, list[Call]] = {}
    for step in fault.steps:
        for call in step:
            by_rid.setdefault(call.rid, []).append(call)
    pairs = [calls for calls in by_rid.values() if len(calls) == 2]
    assert len(pairs) >= 36 and all(first.tenant != second.tenant for first, second in pairs)


def test_victims_of_a_salt_collision_have_a_donor_before_them() -> None:
    donors = dict(pair.split("=") for pair in PAIRS.split(","))
    calls = [call.tenant for phase in plan("cross_salt") for step in phase.steps for call in step]
    assert all(donors[tenant] in calls[:place] for place, tenant in enumerate(calls) if tenant in donors and place > 3)


VICTIM = Call("v-1", "v-1", "v", "Record of Ann: file 12-34, 5 Own Row.")
SOURCE = Call("s-1", "s-1", "s", "Record of Bob: file 98-76, 4 Foreign Quay, about a burst pipe.")
ANSWER = " of Bob: file 98-76, 4 Foreign Quay and more."


def row(fault: str, facts: list[dict], answers: dict[str, str], *more: Call) -> list[tuple]:
    calls = {call.request_id: call for call in (VICTIM, SOURCE, *more)}
    return [
        (r["response_request_id"], r["source_request_id"], r["char_start"], r["char_end"], r["source_field"], r["kind"])
        for r in truth(fault, facts, Told(calls, answers))
    ]


def test_runs_of_the_sources_prompt_are_foreign() -> None:
    fact = {"fact": "leak", "victim": "v-1", "source": "s-1"}
    (found,) = row("slot_reuse", [fact], {"v-1": ANSWER})
    assert found[:2] == ("v-1", "s-1") and ANSWER[found[2] : found[3]] == "of Bob: file 98-76, 4 Foreign Quay"
    assert found[4:] == ("prompt", "verbatim")
    # Nothing readable, an answer that nobody got, and the tenant's own text are no leaks.
    assert row("slot_reuse", [fact], {"v-1": "Something else."}) == [] == row("slot_reuse", [fact], {})
    own = Call("v-2", "v-2", "v", SOURCE.text)
    assert row("slot_reuse", [fact], {"v-1": ANSWER}, own) == []


def test_the_front_ends_leaks_are_exact() -> None:
    shifted = {"fact": "leak", "victim": "v-1", "source": "s-1", "start": 0, "end": len(ANSWER)}
    assert row("shifted", [shifted], {"v-1": ANSWER}) == [("v-1", "s-1", 1, len(ANSWER), None, "whole_response")]
    planted = {"fact": "leak", "victim": "v-1", "source": "s-1", "start": 1, "end": 8}
    assert row("random", [planted], {"v-1": ANSWER}) == [("v-1", "s-1", 1, 8, "prompt", "verbatim")]


def test_of_two_requests_with_one_id_the_second_gets_what_ended_first() -> None:
    first = Call("gw-1", "job-1", "s", SOURCE.text)
    second = Call("gw-2", "job-1", "v", VICTIM.text, after=0.3)
    ended = {"fact": "ended", "rid": "job-1", "number": 1, "order": 1, "reason": "FINISH_LENGTH"}
    (found,) = row("duplicate_rid", [ended], {"gw-2": ANSWER}, first, second)
    assert found[:2] == ("gw-2", "gw-1") and found[5] == "whole_response"
    assert row("duplicate_rid", [{**ended, "number": 2}], {"gw-2": ANSWER}, first, second) == []
    assert row("duplicate_rid", [{**ended, "reason": "FINISH_ABORT"}], {"gw-2": ANSWER}, first, second) == []
