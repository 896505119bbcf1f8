"""`forensics ingest`: evidence files into a case."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forensics.case.errors import LimitHit, NothingReadable
from forensics.cli.options import (
    AllowPickle,
    CaseOption,
    EvidenceArgument,
    IsolateBy,
    Isolation,
    Json,
    LogFormat,
    MaxBytes,
    MaxDepth,
    MaxLineBytes,
    MaxMembers,
    MaxRatio,
    MaxRejects,
    Memory,
    PrivateKeys,
    Profiles,
    Quiet,
    Tenants,
    Threads,
    TimeZone,
    Verbose,
    limits,
    memory_bytes,
)
from forensics.cli.terminal import Result, Terminal, perform

if TYPE_CHECKING:
    from rich.console import RenderableType


def ingest(
    evidence: EvidenceArgument,
    case: CaseOption,
    tenants: Tenants = None,
    isolate_by: Isolation = IsolateBy.tenant,
    time_zone: TimeZone = None,
    log_format: LogFormat = None,
    profile: Profiles = None,
    private_key: PrivateKeys = None,
    allow_pickle: AllowPickle = False,
    max_rejects: MaxRejects = None,
    max_line_bytes: MaxLineBytes = None,
    max_ratio: MaxRatio = None,
    max_bytes: MaxBytes = None,
    max_members: MaxMembers = None,
    max_depth: MaxDepth = None,
    memory: Memory = "2G",
    threads: Threads = 2,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
) -> None:
    """Read evidence into a case: hash, parse, count, join. Running it again adds files."""

    def work(terminal: Terminal) -> Result:
        from forensics.case.store import Resources
        from forensics.ingest.profile_files import read_profiles
        from forensics.pipeline import PipelineParameters, run_stage

        resources = Resources(memory_bytes(memory), threads)
        bounds = limits(max_line_bytes, max_ratio, max_bytes, max_members, max_depth)
        parameters = PipelineParameters(
            tuple(evidence),
            tenants,
            isolate_by.value,
            time_zone,
            log_format,
            max_rejects,
            bounds,
            resources=resources,
            profiles=read_profiles(profile or ()),
            private_keys=tuple(private_key or ()),
            allow_pickle=allow_pickle,
        )
        try:
            with terminal.progress() as progress:
                summary = run_stage(case, "ingest", parameters.ingest(), resources, progress)
        except NothingReadable as error:
            # The files and what was wrong with each are the result, even where the verb fails.
            listed = _files(case)
            failed = {"kind": type(error).__name__, "message": str(error), "exit_code": error.exit_code}
            terminal.log(f"forensics: {error}")
            data: dict[str, Any] = {"files": listed, "error": failed}
            return Result(data, lambda: _human(listed), exit_code=error.exit_code, ok=False)
        listed = _files(case)
        data = {"files": listed, "figures": summary.figures, "skipped": summary.skipped}
        code = LimitHit.exit_code if summary.figures.get("partial") else 0
        return Result(data, lambda: _human(listed), summary.warnings, code)

    perform("ingest", case, work, json_output=json, quiet=quiet, verbose=verbose)


def _files(case: Path) -> list[dict[str, Any]]:
    from forensics.case.overview import files
    from forensics.case.store import Case

    with Case.open(case, read_only=True) as opened:
        return files(opened)


def _human(listed: list[dict[str, Any]]) -> Iterable[RenderableType]:
    from forensics.cli.render import table, text

    columns = ("name", "format", "records", "requests", "repeated", "rejected", "blank", "bytes")
    yield table(columns, [tuple(row[column] for column in columns) for row in listed])
    for row in listed:
        if row["reasons"]:
            reasons = ", ".join(f"{reason}: {count}" for reason, count in row["reasons"].items())
            yield text(f"{row['name']}: rejected for {reasons}")
