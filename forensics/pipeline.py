"""Which stages make a case, and in which order? The only module that knows them all. Does no analysis itself."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any

from forensics.case.errors import UsageError
from forensics.case.manifest import write_manifest
from forensics.case.stage import Summary, doubts, has_run
from forensics.case.store import Case, Resources

Progress = Callable[[str, int, int], None]
STAGES = ("ingest", "attribution", "timeline", "scope", "report")
_ROOMS = {"controls": "forensics.attribution.controls"}  # stages that share a room with another
# The later rooms, and what they import at the last moment; seconds in all.
_HEAVY = (
    *(f"forensics.{stage}.run" for stage in STAGES[1:]),
    "scipy.stats",
    "pyarrow.parquet",
    "matplotlib.backends.backend_svg",
)


@dataclass(frozen=True)
class PipelineParameters:
    """What `run` needs to know.

    `evidence` files and folders; `tenants` a CSV that gives tenants to keys; `isolate_by` tenant or user; `time_zone`
    an IANA zone for times without an offset, None where nobody declared one (UTC is assumed); `format` a parser's name,
    None to detect it; `max_rejects` None for no limit; `limits` of reading, by the names of the
    first stage, where they are not its own; `seed` of every random choice; `profiles` the TOML of the user's own
    formats; `private_keys` PEM files of keys that open encrypted fields; `allow_pickle` reads the data in pickles;
    `canaries` a CSV of strings planted with tenants; `without_rules` exclusion rules that are switched off.
    """

    evidence: tuple[Path, ...]
    tenants: Path | None = None
    isolate_by: str = "tenant"
    time_zone: str | None = None
    format: str | None = None
    max_rejects: int | None = None
    limits: Mapping[str, int] = field(default_factory=dict)
    seed: int = 0
    resources: Resources = field(default_factory=Resources)
    profiles: tuple[str, ...] = ()
    private_keys: tuple[Path, ...] = ()
    allow_pickle: bool = False
    canaries: Path | None = None
    without_rules: tuple[str, ...] = ()

    def ingest(self) -> dict[str, Any]:
        """The part that the first stage needs."""
        return {
            "evidence": self.evidence,
            "tenants": self.tenants,
            "isolate_by": self.isolate_by,
            "time_zone": self.time_zone or "UTC",
            "time_zone_declared": self.time_zone is not None,
            "format": self.format,
            "max_rejects": self.max_rejects,
            "workers": self.resources.threads,
            "profiles": self.profiles,
            "private_keys": self.private_keys,
            "allow_pickle": self.allow_pickle,
            **self.limits,
        }


@dataclass(frozen=True)
class PipelineResult:
    """What the stages reported, in order."""

    root: Path
    summaries: tuple[Summary, ...]

    @property
    def partial(self) -> bool:
        """Whether a limit ended the reading of a file early."""
        return any(summary.figures.get("partial") for summary in self.summaries)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings of all stages, in order, each once."""
        return tuple(dict.fromkeys(text for summary in self.summaries for text in summary.warnings))


def run(case_root: Path, parameters: PipelineParameters, progress: Progress | None = None) -> PipelineResult:
    """Evidence to lists and report, in one go. Stages whose inputs did not change are skipped.

    Interrupted between stages or inside one, the finished stages stand and the same call goes on from there.
    """
    settings: dict[str, dict[str, Any]] = {
        "ingest": parameters.ingest(),
        "attribution": {
            "seed": parameters.seed,
            "canaries": parameters.canaries,
            "without_rules": parameters.without_rules,
        },
        "report": {"on_block": "withhold"},
    }
    ahead = Thread(target=_import_ahead, name="import-ahead", daemon=True)

    def show(label: str, done: int, total: int) -> None:
        # All is read. The database now takes its time on one core, without a word to Python.
        if label == "ingest" and done == total and ahead.ident is None:
            ahead.start()
        if progress is not None:
            progress(label, done, total)

    with _at_work(case_root, "run", parameters.resources, Case.create) as case:
        summaries = []
        for stage in STAGES:
            summaries.append(_run(case, stage, settings.get(stage, {}), show))
            if ahead.ident is not None:
                ahead.join()
    return PipelineResult(case_root, tuple(summaries))


def _import_ahead() -> None:
    """Import what the later stages need. A fault is theirs to meet and to report."""
    with suppress(Exception):
        for name in _HEAVY:
            import_module(name)


def run_stage(
    case_root: Path,
    stage: str,
    settings: dict[str, Any] | None = None,
    resources: Resources | None = None,
    progress: Progress | None = None,
) -> Summary:
    """One stage alone, with `settings` for its parameters; `ingest` makes the case if absent.

    Raises UsageError where nothing has been read into the case yet.
    """
    opened = Case.create if stage == "ingest" else Case.open
    with _at_work(case_root, stage, resources, opened) as case:
        if stage != "ingest" and not has_run(case, "ingest"):
            raise UsageError(f"{case_root} holds no evidence that was read to the end; run `forensics ingest` first")
        return _run(case, stage, settings or {}, progress)


def follow_decisions(case_root: Path, progress: Progress | None = None) -> PipelineResult:
    """Bring all that rests on people's decisions up to date. What nothing changed for is skipped."""
    settings = {"timeline": {}, "scope": {}, "report": {"on_block": "withhold"}}
    return PipelineResult(case_root, tuple(run_stage(case_root, *item, progress=progress) for item in settings.items()))


def draft_letters(
    case_root: Path, facts: Sequence[Any], name: str, settings: dict[str, Any], progress: Progress | None = None
) -> tuple[Summary, list[tuple[str, str]]]:
    """Record facts that `name` sets in letters, and draft the letters anew; also moments that may start a clock."""
    from forensics.report import release

    with _at_work(case_root, "notify draft") as case:
        release.set_facts(case, facts, name)
        return _run(case, "report", settings, progress), release.clock_candidates(case)


def check_letters(case_root: Path, tenant_refs: Sequence[str]) -> Any:
    """Check what lies in `report/` and `notify/`; a `CheckResult` of `report.release`."""
    from forensics.report import release

    with _at_work(case_root, "notify check") as case:
        return release.check(case, tenant_refs)


def release_letters(
    case_root: Path, tenant_refs: Sequence[str], prepared_by: str, approved_by: str, acknowledged: Sequence[str]
) -> Any:
    """Release letters: those released, and the hits that stopped it."""
    from forensics.report import release

    with _at_work(case_root, "notify release") as case:
        return release.release(case, tenant_refs, prepared_by, approved_by, acknowledged)


@contextmanager
def _at_work(
    case_root: Path,
    command: str,
    resources: Resources | None = None,
    opened: Callable[[Path, Resources], Case] = Case.open,
) -> Iterator[Case]:
    """The case, open for `command`; once that is done, the manifest is written for what stands then."""
    resources = resources or Resources()
    started = datetime.now(UTC)
    with _private_files(), opened(case_root, resources) as case:
        yield case
        write_manifest(case, command, started, _bounds(resources))


def _run(case: Case, stage: str, settings: dict[str, Any], progress: Progress | None) -> Summary:
    """A stage's room is imported when its turn comes, so that no verb pays for the others."""
    room = import_module(_ROOMS.get(stage, f"forensics.{stage}.run"))

    def show(label: str, done: int, total: int) -> None:
        if progress is not None and label != "done":
            progress(stage if label == stage else f"{stage}: {label}", done, total)

    summary: Summary = room.run(case, room.Parameters(**settings), show)
    return replace(summary, warnings=(*summary.warnings, *doubts(case, stage, optional=("controls",))))


def _bounds(resources: Resources) -> dict[str, int]:
    return {"memory_bytes": resources.memory_bytes, "threads": resources.threads}


@contextmanager
def _private_files() -> Iterator[None]:
    """Whatever is written meanwhile, by any library, can be read by its owner only."""
    previous = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(previous)
