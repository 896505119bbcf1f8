"""Replay on SGLang itself: captured leaks come again in company with the fault on, and not without. `make test-sglang`."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from forensics.replay.plan import CONTROL, ORIGINAL
from forensics.replay.records import read_trials
from forensics.replay.run import Options
from forensics.replay.whole import replay
from tests.sglang.harness import replays
from tests.sglang.harness.replays import FAULTS, Planned
from tests.sglang.harness.server import switch, variables, words
from tests.support.replay_plans import CANCELS, RECIPIENT, SOURCE, arm, chat, in_case, plan, request

ENGINE = Path(os.environ.get("FORENSICS_ENGINE", ".engine")).resolve()
LEAKS, TRIALS = 2, 3

pytestmark = [
    pytest.mark.engine,
    pytest.mark.skipif(not (ENGINE / "model").exists(), reason="no engine: make test-sglang installs it"),
]


@pytest.fixture(scope="module")
def plans(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Planned]:
    root = tmp_path_factory.mktemp("cases")
    return {fault: replays.planned(fault, root / fault, ENGINE, LEAKS, TRIALS) for fault in FAULTS}


@pytest.fixture(scope="module")
def engine(plans: dict[str, Planned], tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    folder = tmp_path_factory.mktemp("engine") / "run"
    with replays.engine_for(list(plans.values()), ENGINE, folder) as url:
        yield url, folder


@pytest.mark.parametrize("fault", FAULTS)
def test_a_captured_leak_comes_again_in_company_and_only_there(
    fault: str, plans: dict[str, Planned], engine: tuple[str, Path]
) -> None:
    found = replays.replayed(plans[fault], *engine, on=True)
    verdicts = [leak.verdict for leak in found.verdicts]
    assert "reproduced_in_company" in verdicts and "model_memory" not in verdicts
    for leak in found.verdicts:
        for one in leak.arms:
            assert one.absent == 0 and (one.name in (CONTROL, ORIGINAL) or one.hits == 0)


@pytest.mark.parametrize("fault", FAULTS)
def test_without_the_fault_nothing_comes(fault: str, plans: dict[str, Planned], engine: tuple[str, Path]) -> None:
    found = replays.replayed(plans[fault], *engine, on=False, trials=1)
    assert sum(one.hits + one.absent for leak in found.verdicts for one in leak.arms) == 0


def test_switches_and_the_fixed_build_tell_where_the_fault_is(
    tmp_path: Path, engine: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    # One leak across salts; servers of our own with the same fault, but for the cache that it needs. Four switches are
    # corrected for: five trials of each are the fewest that can tell.
    trials = 5
    planned = replays.planned("cross_salt", tmp_path / "case", ENGINE, 1, trials, company=2, fixed=True)
    for name, value in variables(tmp_path, ",".join(planned.pairs)).items():
        monkeypatch.setenv(name, value)
    switch(tmp_path, planned.fault)
    template = shlex.join(words(ENGINE)) + " --port {port} {flags}"
    cures = ("radix_force_miss", "radix_off", "fixed")
    options = Options(
        template=template, fixed_server=engine[0], arms=(*replays.ARMS, "chunked_off", *cures), speed=replays.SPEED
    )
    found = replay(planned.path, options)
    (leak,) = found.verdicts
    assert {one.name: (one.hits, one.trials) for one in leak.arms if one.trials} == {
        ORIGINAL: (trials, trials), "chunked_off": (trials, trials),
        **dict.fromkeys(("alone", CONTROL, *cures), (0, trials)),
    }  # fmt: skip
    assert leak.verdict == "cured_by_fixed" and leak.cures == ("fixed", "radix_force_miss", "radix_off")


def test_every_endpoint_scene_and_kind_of_end(tmp_path: Path, engine: tuple[str, Path]) -> None:
    requests = (
        request(SOURCE, stream=True, abort_ms=2000, abort_tokens=3, max_new_tokens=60),
        chat(RECIPIENT, at_ms=60, after=(SOURCE,), stream=True),
        request("r0003", endpoint="completions", at_ms=61),
        *CANCELS[3:],
    )
    arms = (
        arm("alone", RECIPIENT, trials=1, scene="sequential"),
        arm("original", SOURCE, RECIPIENT, "r0003", trials=1),
        arm("batch", RECIPIENT, "r0003", "r0005", trials=1, scene="paused"),
    )
    path = in_case(tmp_path / "case", plan(requests, arms))
    found = replay(path, Options(engine[0]))
    assert found.trials == 3
    trials = {one.arm: one for one in read_trials(path.parent / "trials.jsonl")}
    ends = {(name, one.key): (one.outcome, one.error) for name, trial in trials.items() for one in trial.requests}
    assert ends.pop(("original", SOURCE))[0] == "cancelled"
    assert set(ends.values()) == {("finished", "")}
    assert all(trial.idle for trial in trials.values())
    assert all(one.prompt_tokens and one.completion_tokens for trial in trials.values() for one in trial.requests)
    assert trials["original"].server["version"] and trials["original"].server["flags"]["max_running_requests"] == 8
