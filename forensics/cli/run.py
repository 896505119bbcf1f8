"""`forensics run` and `forensics demo`: from evidence to the affected list in one go."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forensics.case.errors import Findings, LimitHit, MissingInput, UsageError
from forensics.case.words import cell, counted
from forensics.cli.evaluate import measure
from forensics.cli.options import (
    AllowPickle,
    Canaries,
    CaseOption,
    EvidenceArgument,
    FailOn,
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
    Seed,
    Tenants,
    Threads,
    TimeZone,
    Verbose,
    WithoutRule,
    limits,
    memory_bytes,
    rules_off,
)
from forensics.cli.terminal import Result, Terminal, perform

if TYPE_CHECKING:
    from rich.console import RenderableType

    from forensics.case.overview import Overview
    from forensics.pipeline import PipelineParameters

DEMO_CASE = Path("demo-case")
DEMO_SAMPLE = "glm-long-prompt"
# Two stages say these; they are recognised by their words, as a stage's warnings are sentences.
INFORMATION = ("no q-value is printed", "slots and batches are not in these logs")


def run(
    evidence: EvidenceArgument,
    case: CaseOption,
    tenants: Tenants = None,
    isolate_by: Isolation = IsolateBy.tenant,
    time_zone: TimeZone = None,
    log_format: LogFormat = None,
    profile: Profiles = None,
    private_key: PrivateKeys = None,
    allow_pickle: AllowPickle = False,
    canaries: Canaries = None,
    without_rule: WithoutRule = None,
    max_rejects: MaxRejects = None,
    max_line_bytes: MaxLineBytes = None,
    max_ratio: MaxRatio = None,
    max_bytes: MaxBytes = None,
    max_members: MaxMembers = None,
    max_depth: MaxDepth = None,
    fail_on: Annotated[
        FailOn | None,
        typer.Option("--fail-on", help="Exit 3 where requests are affected at this verdict or a stronger one."),
    ] = None,
    memory: Memory = "2G",
    threads: Threads = 2,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
) -> None:
    """From evidence to the affected list: ingest, attribute, timeline, scope, report in one go."""

    def work(terminal: Terminal) -> Result:
        from forensics.case.store import Resources
        from forensics.ingest.profile_files import read_profiles
        from forensics.pipeline import PipelineParameters

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
            seed=seed,
            resources=resources,
            profiles=read_profiles(profile or ()),
            private_keys=tuple(private_key or ()),
            allow_pickle=allow_pickle,
            canaries=canaries,
            without_rules=rules_off(without_rule),
        )
        data, seen, warnings = _pipeline(terminal, case, parameters)
        code = LimitHit.exit_code if data["partial"] else 0
        if fail_on is not None and seen.at_least(fail_on.value):
            code = Findings.exit_code
        return Result(data, lambda: _box(case, seen), warnings, code, notes=_notes(warnings))

    perform("run", case, work, json_output=json, quiet=quiet, verbose=verbose)


def demo(json: Json = False, quiet: Quiet = False, verbose: Verbose = 0) -> None:
    """Run the sample incident, end to end, in ./demo-case, and check the result against its ground truth."""

    def work(terminal: Terminal) -> Result:
        from forensics.pipeline import PipelineParameters

        sample = sample_logs() / DEMO_SAMPLE
        logs = sample / "logs"
        if not logs.is_dir():
            raise MissingInput(f"the sample incident {DEMO_SAMPLE} is not in this installation")
        _check_demo_case(logs)
        tenants = sample / "tenants.csv"
        parameters = PipelineParameters((logs,), tenants if tenants.is_file() else None)
        data, seen, warnings = _pipeline(terminal, DEMO_CASE, parameters)
        truth = sample / "truth.jsonl"
        data["evaluation"], _ = measure(DEMO_CASE, truth)

        def human() -> Iterable[RenderableType]:
            from forensics.cli.render import box, text

            yield text(
                "The sample incident is synthetic: its logs, its tenants and its leaks were made by a simulator."
            )
            yield from _box(DEMO_CASE, seen)
            yield box("against the ground truth", (("", _against_truth(data["evaluation"], truth, seen)),))
            yield box(
                "where to look",
                (
                    (f"{DEMO_CASE}/out/affected_requests.csv", ("which responses carry foreign text, and whose",)),
                    (f"{DEMO_CASE}/out/affected_tenants.csv", ("who must be told",)),
                    (f"{DEMO_CASE}/report/report.html", ("the report; open it in a browser",)),
                    (f"{DEMO_CASE}/notify/", ("a draft letter per affected customer",)),
                    (f"forensics review {DEMO_CASE}", ("the fragments that wait for a person's decision",)),
                    (f"forensics explain {DEMO_CASE} FRAGMENT", ("the grounds of one of them",)),
                ),
            )

        return Result(data, human, warnings, notes=_notes(warnings))

    perform("demo", DEMO_CASE, work, json_output=json, quiet=quiet, verbose=verbose)


def _notes(warnings: tuple[str, ...]) -> tuple[str, ...]:
    """Those of the warnings that only say what these logs do not have; nobody can or need do anything about them."""
    return tuple(warning for warning in warnings if any(part in warning for part in INFORMATION))


def sample_logs() -> Path:
    """The folder of sample incidents: inside the package in a wheel, at the top in a checkout."""
    from importlib.resources import files

    package = Path(str(files("forensics")))
    shipped = package / "_sample_logs"
    return shipped if shipped.is_dir() else package.parent / "sample_logs"


def _pipeline(
    terminal: Terminal, case: Path, parameters: PipelineParameters
) -> tuple[dict[str, Any], Overview, tuple[str, ...]]:
    from forensics.case.overview import files, overview
    from forensics.case.store import Case
    from forensics.pipeline import run as run_pipeline

    with terminal.progress() as progress:
        result = run_pipeline(case, parameters, progress)
    with Case.open(case, read_only=True) as opened:
        seen = overview(opened)
        listed = files(opened)
    data = {
        "overview": asdict(seen),
        "partial": result.partial,
        "files": listed,
        "stages": [
            {"stage": s.stage, "skipped": s.skipped, "figures": s.figures, "warnings": list(s.warnings)}
            for s in result.summaries
        ],
    }
    return data, seen, result.warnings


def _check_demo_case(logs: Path) -> None:
    """A case in ./demo-case is used again only if it holds the sample and nothing else."""
    from forensics.case.manifest import sha256_of
    from forensics.case.store import Case

    if not (DEMO_CASE / "case.duckdb").is_file():
        return
    with Case.open(DEMO_CASE, read_only=True) as opened:
        held = {digest for _, digest, _ in opened.rows("case/evidence_digests")}
    if not held <= {sha256_of(path) for path in logs.iterdir()}:
        raise UsageError(
            f"./{DEMO_CASE} holds other evidence than the sample; remove it, or call demo in another folder"
        )


def _against_truth(found: dict[str, Any], truth: Path, seen: Overview) -> tuple[str, ...]:
    """The measures that matter most, as sentences. Says which list holds how many, to agree with the box above."""
    from forensics.evaluate.records import read_column

    def ids(name: str) -> int:
        return len(set(read_column(DEMO_CASE / "out" / name, "request_id")))

    def tenants(item: dict[str, Any], to_tell: int) -> str:
        return f"{item['listed']} in affected_tenants.csv, {to_tell} of them to be told or reviewed"

    strong, any_verdict = found["strong_cells"][0], found["cells"][0]
    recipients, sources = found["affected_tenants"], found["source_tenants"]
    lists = (
        (
            "affected requests",
            f"{ids('affected_requests.csv')} in affected_requests.csv and {ids('affected_possible.csv')} in "
            "affected_possible.csv",
            found["affected_requests"],
        ),
        ("recipient tenants", tenants(recipients, seen.recipient_tenants), recipients),
        ("source tenants", tenants(sources, seen.source_tenants), sources),
    )
    wrong, false = found["wrong_tenants"], found["false_strong"]
    return (
        f"{counted(found['leaks'], 'leak')} planted: {any_verdict['found']} found, {strong['found']} of them probable "
        "or better",
        f"{counted(wrong, 'finding')} {'names' if wrong == 1 else 'name'} a wrong tenant, {false} "
        f"{'is' if false == 1 else 'are'} false",
        *(
            f"{name}: {where}; "
            + ("exactly right" if item["exact"] else f"{len(item['missing'])} missing, {len(item['extra'])} too many")
            for name, where, item in lists
        ),
        f"all measures: forensics evaluate {DEMO_CASE} {truth}",
    )


def _box(case: Path, seen: Overview) -> Iterable[RenderableType]:
    from forensics.cli.render import box

    missing = [f"{counted(count, 'request')}: {reason}" for reason, count in seen.not_examinable[:6]]
    if seen.rejected:
        missing.append(f"{counted(seen.rejected, 'record')} could not be read (`forensics ask {case} rejects`)")
    missing += [f"{counted(seen.unknown_files, 'file')} in no known format"] if seen.unknown_files else []
    missing += [f"{counted(seen.incomplete_files, 'file')} read in part only"] if seen.incomplete_files else []
    if seen.affected:
        found = [
            f"{counted(seen.affected, 'affected request')}: {seen.confirmed} confirmed, {seen.probable} probable",
            f"{counted(seen.recipient_tenants, 'tenant')} received foreign text, "
            f"text of {counted(seen.source_tenants, 'tenant')} surfaced",
            f"received between {cell(seen.first_at)} and {cell(seen.last_at)}",
        ]
    else:
        found = ["no affected request"]
    if seen.possible or seen.undetermined:
        weaker = f"weaker: {counted(seen.possible, 'request')} possible"
        found.append(f"{weaker}, {seen.undetermined} without a source in the evidence")
    yield box(
        f"case {case}",
        (
            (
                "examined",
                (
                    f"{seen.examined} of {counted(seen.requests, 'request')} of {counted(seen.tenants, 'tenant')}, "
                    f"from {counted(seen.files, 'file')} with {seen.content_bytes / 1e6:.1f} MB",
                ),
            ),
            ("could not be examined", missing or ("nothing: every request is there in full",)),
            ("found", found),
            (
                "what this does not prove",
                (
                    "That a request is not listed does not clear it: paraphrase, translation, short common text,",
                    "requests that could not be examined and logs that were not given are outside this result.",
                    "A probable finding is not confirmed until a person accepts it or a replay reproduces it.",
                ),
            ),
            ("files", (f"{case}/out/ (internal lists), {case}/report/report.html, {case}/notify/ (draft letters)",)),
            (
                "next",
                (f"forensics review {case}   (then: forensics explain {case} FRAGMENT)",)
                if seen.fragments
                else (f"forensics ask {case} examinable-per-tenant   (who can be told what)",),
            ),
        ),
    )
