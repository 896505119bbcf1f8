"""Stage `scope`: fragments, reviews and replays become verdicts, lists, figures, and the files of `out/`.

It judges nothing anew: the verdict of a fragment is one SQL file over what attribution, people and replay wrote.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import orjson

from forensics.case.pseudonyms import load_pseudonyms, write_map
from forensics.case.stage import Summary, run_stage
from forensics.case.store import Case
from forensics.scope import categories, numbers, out
from forensics.scope.trace import Trace

Progress = Callable[[str, int, int], None]
WRITES = ("verdicts", "fragment_categories", "affected_requests", "affected_tenants", "numbers")


@dataclass(frozen=True)
class Parameters:
    """`confidence`: of the exact intervals, 0 to 1. `trace_slices`: the most requests that trace.json shows."""

    confidence: float = 0.95
    trace_slices: int = 20_000


def run(case: Case, parameters: Parameters, progress: Progress | None = None) -> Summary:
    """Compute verdicts, affected requests and tenants and numbers, and write `out/`.

    Where nothing changed since the last run only files missing from `out/` are written again.
    """
    steps = 4

    def work() -> tuple[dict[str, Any], tuple[str, ...]]:
        _tell(progress, "verdicts", 0, steps)
        case.run("scope/verdicts")
        categories.fill(case)
        for query in ("scope/affected_requests", "scope/affected_tenants"):
            case.run(query)
        _tell(progress, "numbers", 1, steps)
        figures = numbers.collect(case, parameters.confidence)
        case.append("numbers", numbers.numbers_table(figures))
        _tell(progress, "out", 2, steps)
        picture = _write(case, parameters)
        _tell(progress, "done", steps, steps)
        by_name = {figure.name: figure.value for figure in figures}
        return _summary(by_name, picture.slices, picture.arrows), _warnings(case, by_name)

    summary = run_stage(
        case,
        "scope",
        parameters,
        reads=("ingest", "attribution", "timeline", "controls"),
        writes=WRITES,
        work=work,
        extra=decisions_digest(case),
    )
    if summary.skipped and not out.complete(case):
        _write(case, parameters)
    return summary


def decisions_digest(case: Case) -> str:
    """SHA-256 over the reviews and replays, which no stage writes but verdicts and categories rest on."""
    rows = [list(row) for row in case.rows("scope/decisions")]
    return hashlib.sha256(orjson.dumps(rows)).hexdigest()


def _write(case: Case, parameters: Parameters) -> Trace:
    pseudonyms = load_pseudonyms(case)
    write_map(case, pseudonyms)
    return out.write_all(case, pseudonyms, parameters.trace_slices)


def _summary(by_name: dict[str, numbers.Scalar], slices: int, arrows: int) -> dict[str, Any]:
    names = (
        "responses.confirmed",
        "responses.probable_or_better",
        "responses.possible_or_better",
        "responses.undetermined",
        "recipient_tenants.probable_or_better",
        "source_tenants.probable_or_better",
        "fragments.probable_or_better",
        "foreign_characters.probable_or_better",
        "requests",
        "examined",
        "not_examinable",
        "window.first_at",
        "window.last_at",
        "lower_bound.responses",
    )
    return {name: by_name[name] for name in names} | {"trace.slices": slices, "trace.arrows": arrows}


def _warnings(case: Case, by_name: dict[str, numbers.Scalar]) -> tuple[str, ...]:
    against, too_weak, memory = case.rows("scope/conflicts")[0]
    other_sources, gone = case.rows("scope/lapsed_reviews")[0]
    found = {
        "fragments were decided on when other sources were named: they wait for a new decision": other_sources,
        "decided fragments are gone or have changed: their decisions do not count (forensics ask CASE reviews)": gone,
        "fragments were rejected in review although a replay trial reproduced them": against,
        "fragments were accepted in review but are weaker than probable: they stay what they are": too_weak,
        "fragments came in a replay without the requests that they would come from (model memory or habit): no replay "
        "lifts them": memory,
        "requests carry foreign text but no evidence names their tenant": by_name["recipient_requests_without_tenant"],
        "requests have no receive time and stand in no rate and no window": by_name["requests_without_time"],
    }
    return tuple(f"{count} {sentence}" for sentence, count in found.items() if count)


def _tell(progress: Progress | None, label: str, done: int, total: int) -> None:
    if progress is not None:
        progress(label, done, total)
