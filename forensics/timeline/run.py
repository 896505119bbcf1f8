"""Stage `timeline`: who was on which worker when, and how source and recipient met, from request times alone.

It invents no slots and no batches: where the logs hold none, those tables stay empty and the summary says so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from forensics.case.stage import Summary, run_stage
from forensics.case.store import Case
from forensics.timeline import mechanisms

Progress = Callable[[str, int, int], None]

NO_SLOTS = "slots and batches are not in these logs: stays on workers are derived from request times"


@dataclass(frozen=True)
class Parameters:
    """`bucket_seconds`: width of the buckets of worker_rates; None chooses one that needs at most `most_buckets`."""

    bucket_seconds: int | None = None
    most_buckets: int = 120
    tests: mechanisms.Settings = mechanisms.Settings()


def run(case: Case, parameters: Parameters, progress: Progress | None = None) -> Summary:
    """Fill residencies, appearance_relations and worker_rates. Reads ingest and attribution."""

    def tell(label: str, done: int) -> None:
        if progress is not None:
            progress(label, done, 3)

    def work() -> tuple[dict[str, Any], tuple[str, ...]]:
        tell("residencies", 0)
        case.run("timeline/residencies")
        tell("relations", 1)
        case.run("timeline/relations")
        tell("worker rates", 2)
        seconds = parameters.bucket_seconds or bucket_seconds(case, parameters.most_buckets)
        case.run("timeline/worker_rates", {"width_us": seconds * 1_000_000})
        tested, missing = mechanisms.fill(case, parameters.tests)
        tell("done", 3)
        figures, warnings = _figures(case, seconds)
        return figures | tested, (*warnings, *missing)

    return run_stage(
        case,
        "timeline",
        parameters,
        reads=("ingest", "attribution"),
        writes=("residencies", "batches", "batch_members", "appearance_relations", "worker_rates", *mechanisms.WRITES),
        work=work,
        extra=mechanisms.reviews_digest(case),
    )


def bucket_seconds(case: Case, most_buckets: int) -> int:
    """The narrowest usual width, in seconds, with which the responses span at most `most_buckets`."""
    return int(case.rows("timeline/bucket_width", {"buckets": most_buckets})[0][0])


def _figures(case: Case, seconds: int) -> tuple[dict[str, Any], tuple[str, ...]]:
    names = (
        "residencies",
        "residencies_less_sure",
        "residencies_without_worker",
        "requests_without_times",
        "appearances",
        "appearances_same_worker",
        "appearances_overlapped",
        "appearances_source_finished_before",
        "appearances_source_aborted",
    )
    figures: dict[str, Any] = dict(zip(names, case.rows("timeline/figures")[0], strict=True))
    figures |= {"bucket_seconds": seconds, "basis": "derived"}
    warnings = [NO_SLOTS]
    if figures["requests_without_times"]:
        warnings.append(f"{figures['requests_without_times']} requests have no time and stand in no timeline")
    if figures["residencies_without_worker"]:
        warnings.append(f"{figures['residencies_without_worker']} requests name no worker; they stand under `unknown`")
    return figures, tuple(warnings)
