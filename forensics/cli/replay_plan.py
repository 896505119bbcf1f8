"""`forensics replay plan`: what to run against a live engine, as a file to review."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from forensics.case.words import counted
from forensics.cli.options import CaseArgument, Fragments, Json, Original, Quiet, Reason, Verbose, fragment_ids
from forensics.cli.terminal import Result, Terminal, perform

if TYPE_CHECKING:
    from rich.console import RenderableType


def plan(
    case: CaseArgument,
    fragment: Fragments = None,
    most: Annotated[
        int, typer.Option("--most", metavar="N", min=1, help="Without --fragment: how many fragments, the clearest.")
    ] = 3,
    trials: Annotated[int, typer.Option("--trials", metavar="N", min=1, help="Trials per arm.")] = 5,
    company: Annotated[
        int, typer.Option("--company", metavar="N", min=0, help="Other requests of a scene, at the most.")
    ] = 24,
    window: Annotated[
        int, typer.Option("--window-ms", metavar="N", min=0, help="How long before the recipient others count as near.")
    ] = 30_000,
    tokenizer: Annotated[
        Path | None,
        typer.Option(
            "--tokenizer",
            metavar="FILE",
            help="The model's tokenizer.json: surrogates get exactly as many tokens.",
            show_default=False,
        ),
    ] = None,
    fixed_server: Annotated[
        bool, typer.Option("--fixed-server", help="Add an arm for a fixed build, which `run` is told of.")
    ] = False,
    seed: Annotated[
        int, typer.Option("--seed", metavar="N", help="What surrogates and the order of trials follow.")
    ] = 1,
    original: Original = False,
    reason: Reason = "",
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
) -> None:
    """Plan trials for a case: who to send again, with whom, in which words, under which conditions."""

    def work(terminal: Terminal) -> Result:
        from forensics.case.store import Case
        from forensics.replay.make import Parameters, make_plan

        parameters = Parameters(
            fragments=fragment_ids(fragment),
            most=most,
            trials=trials,
            company=company,
            window_ms=window,
            seed=seed,
            tokenizer=tokenizer,
            original=original,
            reason=reason,
            fixed=fixed_server,
        )
        with Case.open(case) as opened:
            made, path = make_plan(opened, parameters)

        def human() -> Iterable[RenderableType]:
            from forensics.cli.render import table, text

            rows = [
                (
                    leak.fragment_id,
                    leak.kind,
                    len(leak.sources),
                    len(leak.company),
                    len(leak.unrelated),
                    ", ".join(arm.name for arm in made.arms if arm.leak == leak.fragment_id),
                )
                for leak in made.leaks
            ]
            names = ("fragment", "kind", "sources", "company", "control company", "arms")
            yield table(names, rows, title=f"plan {made.plan_id}")
            yield text(f"texts: {made.text}; token lengths: {made.tokens}")
            for line in made.assumed:
                yield text(f"assumed: {line}")
            yield text(f"to be read before it runs: {path}")
            yield text(f"next: forensics replay run {path} --server http://127.0.0.1:30000")

        data = {
            "plan_id": made.plan_id,
            "path": str(path),
            "text": made.text,
            "tokens": made.tokens,
            "fragments": [leak.fragment_id for leak in made.leaks],
            "requests": len(made.requests),
            "arms": len(made.arms),
            "trials": sum(arm.trials for arm in made.arms),
            "assumed": list(made.assumed),
            "left_out": list(made.left_out),
        }
        warnings = tuple(f"{counted(len(made.left_out), 'fragment')} left out; {line}" for line in made.left_out[:1])
        return Result(data, human, warnings)

    perform("replay plan", case, work, json_output=json, quiet=quiet, verbose=verbose)
