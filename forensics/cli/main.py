"""The command `forensics`: which verbs are there? Builds the application; each verb loads its engine when called."""

from __future__ import annotations

import gc
import io
import os
import sys
from typing import Annotated

import typer

from forensics import __version__
from forensics.cli import (
    ask,
    case,
    controls,
    evaluate,
    explain,
    ingest,
    notify,
    profile,
    reference_sets,
    replay_plan,
    replay_run,
    replay_score,
    review,
    run,
    simulate,
    stages,
    trace,
)
from forensics.cli.terminal import INTERRUPTED, is_interruption

SETTINGS = {"help_option_names": ["-h", "--help"]}
EPILOG = (
    "Exit codes: 0 done, 1 internal, 2 usage, 3 findings (--fail-on), 10 missing input, 11 nothing readable, "
    "12 mismatch, 13 unsafe permissions, 16 limit hit, 20 egress blocked, 30 not reproduced, 130 interrupted."
)

app = typer.Typer(
    name="forensics",
    help="Forensics for leaked LLM responses: which responses carry another customer's text, whose, and how sure.",
    epilog=EPILOG,
    no_args_is_help=True,
    context_settings=SETTINGS,
    pretty_exceptions_enable=False,
)


def _version(asked: bool) -> None:
    if asked:
        print(f"forensics {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    # Whatever any verb writes can be read by its owner only.
    os.umask(0o077)


def _group(name: str, purpose: str) -> typer.Typer:
    group = typer.Typer(name=name, help=purpose, no_args_is_help=True, context_settings=SETTINGS)
    app.add_typer(group)
    return group


app.command()(run.run)
app.command()(run.demo)
app.command()(ingest.ingest)
app.command()(stages.attribute)
app.command()(stages.timeline)
app.command()(stages.scope)
app.command()(stages.report)
app.command()(trace.trace)
app.command()(explain.explain)
app.command()(ask.ask)
app.command()(review.review)
app.command()(evaluate.evaluate)
app.command()(simulate.simulate)
app.command()(controls.controls)

_notify = _group("notify", "Letters to affected customers.")
_notify.command()(notify.draft)
_notify.command()(notify.check)
_notify.command()(notify.release)

_case = _group("case", "The case directory as evidence.")
_case.command()(case.verify)
_case.command()(case.export)
_case.command()(case.seal)
_case.command()(case.destroy)

_replay = _group("replay", "Reproduce a leak on a live engine.")
_replay.command()(replay_plan.plan)
_replay.command()(replay_run.run)
_replay.command()(replay_score.score)

_profile = _group("profile", "Declarative log formats.")
_profile.command("test")(profile.test)
_profile.command("list")(profile.listed)

_reference = _group("reference", "Public texts that are nobody's.")
_reference.command()(reference_sets.add)
_reference.command("list")(reference_sets.listed)
_reference.command()(reference_sets.remove)


def main() -> None:
    """Entry point of the command."""
    # What a stage makes seldom refers to itself; looking for what does was part of attribution's time.
    gc.set_threshold(100_000, 20, 100)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that cannot show a letter shows its number
    try:
        app()
    except (Exception, KeyboardInterrupt) as error:  # outside any verb's work: while arguments are read
        if not is_interruption(error):
            raise
        print("forensics: interrupted; the same command resumes", file=sys.stderr, flush=True)
        sys.exit(INTERRUPTED)
