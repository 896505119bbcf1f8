"""`forensics controls`: measure recall and error on the case itself, then bring the figures up to date."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forensics.cli.options import CaseArgument, Json, Memory, Quiet, Seed, Threads, Verbose, memory_bytes
from forensics.cli.terminal import Result, Terminal, perform

if TYPE_CHECKING:
    from rich.console import RenderableType


def controls(
    case: CaseArgument,
    rounds: Annotated[
        int, typer.Option("--rounds", metavar="N", min=1, max=100, help="Rounds of planted leaks, one rerun each.")
    ] = 3,
    entrapment: Annotated[
        Path | None,
        typer.Option(
            "--entrapment",
            metavar="FILE",
            help="Public texts (JSON lines or plain) for fictitious tenants; none: those that ship.",
            show_default=False,
        ),
    ] = None,
    no_entrapment: Annotated[bool, typer.Option("--no-entrapment", help="Leave the fictitious tenants out.")] = False,
    elusion: Annotated[
        int, typer.Option("--elusion", metavar="N", min=0, help="Silent responses per stratum for a person to read.")
    ] = 60,
    reviewed: Annotated[
        Path | None,
        typer.Option(
            "--reviewed",
            metavar="FILE",
            help="out/elusion_sample.csv with decision (leak, clean, unsure) and name filled in.",
            show_default=False,
        ),
    ] = None,
    fault_began: Annotated[
        str | None,
        typer.Option("--fault-began", metavar="TIME", help="When the fault began (ISO, UTC).", show_default=False),
    ] = None,
    fault_fixed: Annotated[
        str | None,
        typer.Option("--fault-fixed", metavar="TIME", help="When it was fixed (ISO, UTC).", show_default=False),
    ] = None,
    seed: Seed = 0,
    memory: Memory = "2G",
    threads: Threads = 2,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
) -> None:
    """Plant leaks in a copy of the case, count how many are found, and bound what was missed and what is false."""

    def work(terminal: Terminal) -> Result:
        from forensics.attribution.elusion import record_readings
        from forensics.case.ask import ask
        from forensics.case.store import Case, Resources
        from forensics.pipeline import run_stage

        resources = Resources(memory_bytes(memory), threads)
        read = 0
        if reviewed is not None:
            with Case.open(case, resources) as opened:
                read = record_readings(opened, reviewed)
        settings: dict[str, Any] = {
            "rounds": rounds,
            "elusion": elusion,
            "entrapment": None if no_entrapment else entrapment or _shipped(),
            "fault_began": fault_began,
            "fault_fixed": fault_fixed,
            "seed": seed,
        }
        with terminal.progress() as progress:
            summary = run_stage(case, "controls", settings, resources, progress)
            after = run_stage(case, "scope", {}, resources, progress)
        with Case.open(case, read_only=True) as opened:
            answer = ask(opened, "controls")
        rows = answer.records()

        def human() -> Iterable[RenderableType]:
            from forensics.cli.render import table, text

            short = [row for row in rows if row["class"].count("=") <= 1]
            names = ("measure", "class", "n", "total", "value", "low", "high")
            shown = [tuple(_figure(row[name]) for name in names) for row in short]
            yield table(names, shown, title="controls")
            if read:
                yield text(f"{read} readings recorded")
            yield text(f"`forensics ask {case} controls` has every class and how each figure was made")
            yield text(f"to be read by a person: {case / 'out' / 'elusion_sample.csv'}, then controls --reviewed FILE")

        figures = {"stage": "controls", "skipped": summary.skipped, "figures": summary.figures, "controls": rows}
        return Result(figures, human, tuple(dict.fromkeys((*summary.warnings, *after.warnings))))

    perform("controls", case, work, json_output=json, quiet=quiet, verbose=verbose)


def _shipped() -> Path:
    """The public texts that ship with the simulator."""
    from importlib.resources import files

    return Path(str(files("forensics.simulate"))) / "corpus" / "corpus.jsonl.zst"


def _figure(value: Any) -> Any:
    return round(value, 4) if isinstance(value, float) else value
