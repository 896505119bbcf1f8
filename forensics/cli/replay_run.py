"""`forensics replay run`: play a plan against an SGLang server, judge it, and say what came."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forensics.cli.options import Fragments, Json, Quiet, Verbose, fragment_ids
from forensics.cli.terminal import Result, Terminal, perform

if TYPE_CHECKING:
    from rich.console import RenderableType

    from forensics.replay.whole import Replayed

NOT_REPRODUCED = 30
ARM_COLUMNS = ("arm", "trials", "hits", "from source", "interval", "p", "differ", "failed", "skipped because")


def run(
    plan: Annotated[Path, typer.Argument(metavar="PLAN", help="plan.json, or its folder.", show_default=False)],
    server: Annotated[
        str | None,
        typer.Option("--server", metavar="URL", help="A running SGLang server of your own.", show_default=False),
    ] = None,
    server_template: Annotated[
        str | None,
        typer.Option(
            "--server-template",
            metavar="COMMAND",
            help="Starts a server for arms that need other flags; holds {flags} and {port}. Run without a shell.",
            show_default=False,
        ),
    ] = None,
    fixed_server: Annotated[
        str | None,
        typer.Option("--fixed-server", metavar="URL", help="A server of a fixed build.", show_default=False),
    ] = None,
    arm: Annotated[
        list[str] | None, typer.Option("--arm", metavar="NAME", help="Only this arm; repeatable.", show_default=False)
    ] = None,
    fragment: Fragments = None,
    trials: Annotated[
        int | None,
        typer.Option("--trials", metavar="N", min=1, help="Trials per arm; none: the plan's.", show_default=False),
    ] = None,
    speed: Annotated[
        float, typer.Option("--speed", metavar="X", min=0.001, help="Divides all planned times, aborts included.")
    ] = 1.0,
    seconds: Annotated[
        float, typer.Option("--seconds", metavar="S", min=0.1, help="The longest that one request may take.")
    ] = 120.0,
    allow_remote: Annotated[
        bool, typer.Option("--allow-remote", help="Allow a server that is not on this machine.")
    ] = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Put earlier trials of the plan aside and begin again.")
    ] = False,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
) -> None:
    """Run a plan's trials against a live SGLang server and judge them. Goes on where an earlier run stopped.

    Exit code 30 where no leak was reproduced, which clears nobody. A key for the server is read from
    FORENSICS_REPLAY_KEY.
    """

    def work(terminal: Terminal) -> Result:
        from forensics.replay.run import Options
        from forensics.replay.whole import replay

        options = Options(
            server=server,
            template=server_template,
            fixed_server=fixed_server,
            allow_remote=allow_remote,
            arms=tuple(arm or ()),
            fragments=fragment_ids(fragment),
            trials=trials,
            speed=speed,
            seconds=seconds,
            fresh=fresh,
        )
        with terminal.progress() as progress:
            found = replay(plan, options, progress)
        code = 0 if any(leak.reproduced for leak in found.verdicts) else NOT_REPRODUCED
        return Result(_data(found), lambda: _human(found), found.warnings, code)

    perform("replay run", None, work, json_output=json, quiet=quiet, verbose=verbose)


def _data(found: Replayed) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "plan_id": found.plan_id,
        "case": str(found.case),
        "played": found.played,
        "trials": found.trials,
        "carried_over": found.carried,
        "leaks": [asdict(leak) for leak in found.verdicts],
        "notes": found.notes,
    }


def _human(found: Replayed) -> Iterable[RenderableType]:
    from forensics.cli.render import table, text

    for leak in found.verdicts:
        yield text(f"fragment {leak.fragment_id}: {leak.verdict}. {leak.because}")
        rows = [
            (
                arm.name,
                arm.trials,
                arm.hits,
                arm.from_source,
                f"{arm.low:.0%} to {arm.high:.0%}" if arm.trials else None,
                arm.p,
                arm.differ,
                arm.failed,
                arm.skipped,
            )
            for arm in leak.arms
        ]
        yield table(ARM_COLUMNS, rows)
    for note in found.notes:
        yield text(f"note: {note}")
    yield text(f"next: forensics scope {found.case}   (brings verdicts and lists up to date)")
