"""Stage `timeline`: who was on which worker, in which slot and forward pass when, and how source and recipient met.

From whatever the engines logged; where they logged nothing, from request times alone. It invents no slots and no
batches: a slot that no log states is derived only where the engine's own free list gives it, and the summary says what
share stands and why the rest does not. Mechanism tests read these tables.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from forensics.case.stage import Summary, run_stage
from forensics.case.store import Case
from forensics.timeline import cache, engine, mechanisms
from forensics.timeline.told import NO_SLOTS as NO_SLOTS
from forensics.timeline.told import warnings_of

Progress = Callable[[str, int, int], None]

TABLES = (
    "residencies",
    "batches",
    "batch_members",
    "appearance_relations",
    "worker_rates",
    "cache_hits",
    "cache_key_collisions",
    "slot_derivations",
    "event_clocks",
    *mechanisms.WRITES,
)
_RELATIONS = ("relations", "slot_relations", "batch_relations", "prefix_relations", "retractions")
_STEPS = 11


@dataclass(frozen=True)
class Parameters:
    """`bucket_seconds`: width of the buckets of worker_rates; None chooses one that needs at most `most_buckets`.
    `engine_version`: the release of the engines, for logs that do not tell it.
    """

    bucket_seconds: int | None = None
    most_buckets: int = 120
    engine_version: str | None = None
    tests: mechanisms.Settings = field(default_factory=mechanisms.Settings)


def run(case: Case, parameters: Parameters, progress: Progress | None = None) -> Summary:
    """Fill the tables of the timeline. Reads ingest and attribution."""
    done = 0

    def tell(label: str) -> None:
        nonlocal done
        if progress is not None:
            progress(label, min(done, _STEPS - 1), _STEPS)
        done += 1

    def work() -> tuple[dict[str, Any], tuple[str, ...]]:
        engine.rebuild(case, parameters.engine_version, tell)
        tell("prefix cache")
        cache.fill(case)
        case.run("timeline/cache_key_collisions", {"version": parameters.engine_version})
        tell("relations")
        for name in _RELATIONS:
            case.run(f"timeline/{name}")
        tell("worker rates")
        seconds = parameters.bucket_seconds or bucket_seconds(case, parameters.most_buckets)
        case.run("timeline/worker_rates", {"width_us": seconds * 1_000_000})
        figures: dict[str, Any] = case.arrow("timeline/figures").to_pylist()[0]
        figures |= {"bucket_seconds": seconds, "basis": _basis(figures)}
        warnings = warnings_of(case, figures)
        engine.drop(case)
        tell("mechanisms")
        tested, missing = mechanisms.fill(case, parameters.tests)
        if progress is not None:
            progress("done", _STEPS, _STEPS)
        return figures | tested, (*warnings, *missing)

    return run_stage(
        case,
        "timeline",
        parameters,
        reads=("ingest", "attribution"),
        writes=TABLES,
        work=work,
        extra=mechanisms.reviews_digest(case),
    )


def bucket_seconds(case: Case, most_buckets: int) -> int:
    """The narrowest usual width, in seconds, with which the responses span at most `most_buckets`."""
    return int(case.rows("timeline/bucket_width", {"buckets": most_buckets})[0][0])


def _basis(figures: dict[str, Any]) -> str:
    """How slots and passes were had: logged, derived, or both."""
    logged = figures["slots_logged"] or figures["batch_members"]
    return "logged and derived" if logged and figures["slots_derived"] else "logged" if logged else "derived"
