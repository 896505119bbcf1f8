"""Replays of captured incidents on a running engine, with the fault plugin on or off.

A case is made of an incident in `sample_logs`, a plan of its clearest leaks, and the plan is run as `forensics replay
run` would, against the engine that `server.py` starts. Tenants have pseudonyms in a plan, so the plugin is told of its
pairs by those.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from forensics.case.pseudonyms import load_pseudonyms
from forensics.case.store import Case
from forensics.pipeline import PipelineParameters
from forensics.pipeline import run as run_pipeline
from forensics.replay.make import Parameters, make_plan
from forensics.replay.plan import ALONE, CONTROL, ORIGINAL
from forensics.replay.run import Options
from forensics.replay.whole import Replayed, replay
from tests.sglang.harness.server import serving, switch
from tests.sglang.harness.traffic import PAIRS

SAMPLES = Path(__file__).resolve().parents[3] / "sample_logs"
FAULTS = ("slot_reuse", "cross_salt", "poisoned_prefix", "shifted", "duplicate_rid")
ARMS = (ALONE, CONTROL, ORIGINAL)
COMPANY = Parameters().company
SPEED = 20.0  # the captured times are those of a busy machine; what waited for what is kept at any speed


@dataclass(frozen=True)
class Planned:
    """A plan of an incident's leaks, the pairs of tenants by their pseudonyms, and every arm that is tried of a leak."""

    fault: str
    path: Path
    pairs: tuple[str, ...]
    arms: tuple[str, ...]


def planned(
    fault: str, root: Path, engine: Path, leaks: int, trials: int, company: int = COMPANY, *, fixed: bool = False
) -> Planned:
    """Make the case of a captured incident at `root`, if absent, and a plan of its clearest leaks."""
    sample = SAMPLES / f"sglang-{fault}"
    if not (root / "case.duckdb").exists():
        run_pipeline(root, PipelineParameters((sample / "logs",), sample / "tenants.csv"))
    with Case.open(root) as case:
        tokenizer = engine / "model" / "tokenizer.json"
        asked = Parameters(most=leaks, trials=trials, company=company, tokenizer=tokenizer, fixed=fixed)
        plan, path = make_plan(case, asked)
        names = load_pseudonyms(case).tenants
    pairs = [pair.split("=") for pair in PAIRS.split(",")]
    arms = tuple(arm.name for arm in plan.arms if arm.name in ARMS)
    return Planned(fault, path, tuple(f"{names[one]}={names[other]}" for one, other in pairs), arms)


@contextmanager
def engine_for(plans: list[Planned], engine: Path, folder: Path) -> Iterator[str]:
    """A running engine that knows the pairs of all plans; no fault is on."""
    with serving(engine, folder, ",".join(pair for plan in plans for pair in plan.pairs)) as url:
        yield url


def replayed(
    plan: Planned, url: str, folder: Path, *, on: bool, trials: int | None = None, seconds: float = 120.0
) -> Replayed:
    """Run a plan's three arms with its fault on, or none; earlier trials of the plan are put aside."""
    switch(folder, plan.fault if on else "")
    try:
        options = Options(url, arms=ARMS, trials=trials, speed=SPEED, seconds=seconds, fresh=True)
        return replay(plan.path, options)
    finally:
        switch(folder, "")
        time.sleep(0.5)


def facts(folder: Path, fact: str) -> int:
    """How many facts of a kind the fault plugin has noted so far."""
    path = folder / "faults.jsonl"
    return path.read_bytes().count(b'"fact":"%s"' % fact.encode()) if path.exists() else 0
