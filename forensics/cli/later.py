"""Verbs that a later version will have. They say so and leave with exit code 2; they pretend nothing."""

from __future__ import annotations

from collections.abc import Callable

import typer

from forensics.case.errors import UsageError
from forensics.cli.options import Json
from forensics.cli.terminal import Result, Terminal, perform

ANY_ARGUMENTS = {"allow_extra_args": True, "ignore_unknown_options": True}


def later(verb: str, purpose: str) -> Callable[[typer.Context, bool], None]:
    """A command for `verb` that reports that it is not there yet."""

    def command(context: typer.Context, json: Json = False) -> None:
        def work(terminal: Terminal) -> Result:
            raise UsageError(f"`forensics {verb}` is not supported in this version")

        perform(verb, None, work, json_output=json)

    command.__doc__ = f"(not supported in this version) {purpose}"
    return command
