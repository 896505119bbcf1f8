"""The later stages as verbs: attribute, timeline, scope, report. Each runs one stage and prints what it reported."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forensics.cli.options import (
    Canaries,
    CaseArgument,
    EngineVersion,
    Json,
    Memory,
    Quiet,
    Seed,
    Threads,
    Verbose,
    WithoutRule,
    memory_bytes,
    rules_off,
)
from forensics.cli.terminal import Result, Terminal, perform

if TYPE_CHECKING:
    from rich.console import RenderableType

    from forensics.case.stage import Summary


def attribute(
    case: CaseArgument,
    canaries: Canaries = None,
    without_rule: WithoutRule = None,
    seed: Seed = 0,
    memory: Memory = "2G",
    threads: Threads = 2,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
) -> None:
    """Find the foreign fragments in every response and name their sources."""
    settings = {"seed": seed, "without_rules": rules_off(without_rule), "canaries": canaries}
    _stage("attribute", "attribution", case, settings, memory, threads, json, quiet, verbose)


def timeline(
    case: CaseArgument,
    engine_version: EngineVersion = None,
    memory: Memory = "2G",
    threads: Threads = 2,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
) -> None:
    """Work out who was in which worker with whom, and when."""
    settings = {"engine_version": engine_version}
    _stage("timeline", "timeline", case, settings, memory, threads, json, quiet, verbose)


def scope(
    case: CaseArgument,
    memory: Memory = "2G",
    threads: Threads = 2,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
) -> None:
    """Compute verdicts and write the lists of affected requests and tenants to out/."""
    _stage("scope", "scope", case, {}, memory, threads, json, quiet, verbose)


def report(
    case: CaseArgument,
    memory: Memory = "2G",
    threads: Threads = 2,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
) -> None:
    """Write the report and the letters. A file that would carry another tenant's text stops it (exit 20)."""
    _stage("report", "report", case, {"on_block": "raise"}, memory, threads, json, quiet, verbose)


def _stage(
    verb: str,
    stage: str,
    case: Path,
    settings: dict[str, Any],
    memory: str,
    threads: int,
    json: bool,
    quiet: bool,
    verbose: int,
) -> None:
    def work(terminal: Terminal) -> Result:
        from forensics.case.store import Resources
        from forensics.pipeline import run_stage

        resources = Resources(memory_bytes(memory), threads)
        with terminal.progress() as progress:
            summary = run_stage(case, stage, settings, resources, progress)
        return summary_result(summary)

    perform(verb, case, work, json_output=json, quiet=quiet, verbose=verbose)


def summary_result(summary: Summary) -> Result:
    """A stage's summary as a verb's result."""

    def human() -> Iterable[RenderableType]:
        from forensics.cli.render import table, text

        if summary.skipped:
            yield text(f"{summary.stage}: nothing changed since the last run; its results stand")
        plain = {key: value for key, value in summary.figures.items() if not isinstance(value, list | dict)}
        yield table(("figure", "value"), sorted(plain.items()), title=summary.stage)

    return Result(
        {"stage": summary.stage, "skipped": summary.skipped, "figures": summary.figures}, human, summary.warnings
    )
