"""The plan file: written, read, and refused with the place of what is wrong."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from forensics.case.errors import HashMismatch, MissingInput, UsageError
from forensics.case.store import Case
from forensics.replay.plan import Arm, Leak, Message, Plan, PlannedRequest, read_plan, sealed, write_plan
from tests.support import replay_plans

TEXTS = {"t0001": "You are a helper.", "t0002": "The number is 4711.", "t0003": "What is the number?"}


def request(key: str, **other: Any) -> PlannedRequest:
    messages = (Message("system", "t0001"), Message("user", "t0002"))
    return replay_plans.request(key, **{"endpoint": "chat", "prompt": None, "messages": messages, **other})


def arm(**other: Any) -> Arm:
    return replace(replay_plans.arm("original", "r0001", "r0002"), **other)


def plan(**other: Any) -> Plan:
    leak = Leak("f1", "verbatim", "r0001", ("r0002",), (), (), 500, ("M3",), {"r0002": ("KQ-4711",)})
    requests = (request("r0001", at_ms=3), request("r0002", messages=(), prompt="t0003", endpoint="generate"))
    arms = (arm(), arm(name="alone", requests=("r0001",), scene="sequential"))
    return replay_plans.unsealed(**{"requests": requests, "arms": arms, "leaks": (leak,), **other})


@pytest.fixture
def case(tmp_path: Path) -> Case:
    return Case.create(tmp_path / "case")


def test_a_plan_comes_back_as_it_was_written(case: Case) -> None:
    made = sealed(plan(), TEXTS)
    path = write_plan(case, made, TEXTS)
    assert path == case.root / "replay" / made.plan_id / "plan.json"
    assert read_plan(path) == (made, TEXTS) == read_plan(path.parent)
    assert not {text for text in TEXTS.values() if text in path.read_text(encoding="utf-8")}
    assert [path.stat().st_mode & 0o777, (path.parent / "texts.jsonl").stat().st_mode & 0o777] == [0o600, 0o600]


def test_originals_lie_in_the_restricted_folder(case: Case) -> None:
    made = sealed(plan(text="original", reason="asked by counsel"), TEXTS)
    path = write_plan(case, made, TEXTS)
    assert not (path.parent / "texts.jsonl").exists()
    assert (case.root / "restricted" / "replay" / made.plan_id / "texts.jsonl").is_file()
    assert read_plan(path) == (made, TEXTS)


def test_the_id_depends_on_plan_and_texts_alone() -> None:
    one = sealed(plan(), TEXTS)
    assert one == sealed(one, TEXTS)
    other_texts = {**TEXTS, "t0003": "Other."}
    assert len({one.plan_id, sealed(plan(), other_texts).plan_id, sealed(plan(seed=8), TEXTS).plan_id}) == 3


@pytest.mark.parametrize("changed", ["plan.json", "texts.jsonl"])
def test_a_changed_file_is_noticed(case: Case, changed: str) -> None:
    path = write_plan(case, sealed(plan(), TEXTS), TEXTS)
    file = path.parent / changed
    file.write_bytes(file.read_bytes().replace(b'"seed": 7', b'"seed": 9').replace(b"helper", b"healer"))
    with pytest.raises(HashMismatch, match="changed after"):
        read_plan(path)


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda raw: raw.update(trials="3"), "trials must be a whole number"),
        (lambda raw: raw.update(trials=True), "trials must be a whole number"),
        (lambda raw: raw.pop("leaks"), "leaks must be given"),
        (lambda raw: raw.update(secret=1), "unknown fields"),
        (lambda raw: raw["requests"][1].update(at_ms=None), r"requests\[1\].at_ms must be a whole number"),
        (lambda raw: raw["arms"][0].update(scene="at once"), r"arms\[0\].scene must be timed or paused or sequential"),
        (lambda raw: raw.update(text="both"), "text must be surrogate or original"),
        (lambda raw: raw.update(schema="forensics/replay-plan/9"), "not of schema"),
    ],
)
def test_a_misfit_is_named_by_its_place(case: Case, change: Any, place: str) -> None:
    path = write_plan(case, sealed(plan(), TEXTS), TEXTS)
    raw = orjson.loads(path.read_bytes())
    change(raw)
    path.write_bytes(orjson.dumps(raw))
    with pytest.raises(UsageError, match=place):
        read_plan(path)


@pytest.mark.parametrize(
    ("made", "place"),
    [
        (plan(trials=0), "trials"),
        (plan(text="original"), "reason"),
        (plan(reason="why"), "reason"),
        (plan(requests=(request("r0001"), request("r0001"))), "requests"),
        (plan(requests=(request("r0001"), request("x"))), r"requests\[1\].key"),
        (plan(requests=(request("r0001", prompt="t0001"), request("r0002"))), r"requests\[0\].prompt"),
        (plan(requests=(request("r0001", messages=()), request("r0002"))), r"requests\[0\].prompt"),
        (plan(requests=(request("r0001", sampling={"custom_params": {}}), request("r0002"))), r"\[0\].sampling"),
        (plan(requests=(request("r0001", retry_of="r0009"), request("r0002"))), r"\[0\].retry_of"),
        (plan(requests=(request("r0001", abort_ms=-1), request("r0002"))), r"\[0\].abort_ms"),
        (plan(requests=(request("r0001", abort_tokens=3), request("r0002"))), r"\[0\].abort_tokens"),
        (plan(requests=(request("r0001", after=("r0001",)), request("r0002"))), r"\[0\].after"),
        (plan(arms=(arm(leak="f2"),)), r"arms\[0\].leak"),
        (plan(arms=(arm(requests=("r0002",)),)), r"arms\[0\].requests"),
        (plan(arms=(arm(), arm())), "arms"),
        (plan(arms=(arm(environment={"LD_PRELOAD": "x"}),)), r"arms\[0\].environment"),
        (plan(arms=(arm(flags=("--Model;rm",)),)), r"arms\[0\].flags"),
    ],
)
def test_parts_must_fit_each_other(made: Plan, place: str) -> None:
    with pytest.raises(UsageError, match=place):
        sealed(made, TEXTS)


def test_texts_must_be_there(case: Case) -> None:
    with pytest.raises(UsageError, match="texts"):
        sealed(plan(), {key: text for key, text in TEXTS.items() if key != "t0003"})
    path = write_plan(case, sealed(plan(), TEXTS), TEXTS)
    (path.parent / "texts.jsonl").unlink()
    with pytest.raises(MissingInput):
        read_plan(path)
    with pytest.raises(MissingInput):
        read_plan(case.root)
    path.write_bytes(b"{")
    with pytest.raises(UsageError, match="not JSON"):
        read_plan(path)


def test_a_request_is_found_by_its_key() -> None:
    made = replace(plan(), seed=1)
    assert made.request("r0002").prompt == "t0003"
