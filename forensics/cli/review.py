"""`forensics review`: record a person's decision about a fragment."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from forensics.case.errors import UsageError
from forensics.case.words import counted
from forensics.cli.ask import MOST_ROWS
from forensics.cli.options import CaseArgument, Json, Quiet, Verbose
from forensics.cli.terminal import Result, Terminal, perform

if TYPE_CHECKING:
    from rich.console import RenderableType


class Decision(StrEnum):
    """What a person may decide."""

    accept = "accept"
    reject = "reject"
    unsure = "unsure"


def review(
    case: CaseArgument,
    fragment: Annotated[
        str | None,
        typer.Argument(metavar="FRAGMENT", help="A fragment id, or its unique beginning; none lists what waits."),
    ] = None,
    decision: Annotated[Decision | None, typer.Option("--decision", help="The decision.", show_default=False)] = None,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why.", show_default=False)] = "",
    name: Annotated[str, typer.Option("--name", metavar="TEXT", help="Who decides.", show_default=False)] = "",
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
) -> None:
    """Record one decision about a fragment, or list the fragments that wait for one."""

    def work(terminal: Terminal) -> Result:
        from forensics.case.store import Case

        if fragment is None:
            return _queue(case)
        if decision is None:
            raise UsageError("a review needs --decision accept, reject or unsure")
        from forensics.case.review import review as record

        with Case.open(case) as opened:
            recorded = record(opened, fragment, decision.value, reason, name)

        def human() -> Iterable[RenderableType]:
            from forensics.cli.render import text

            yield text(f"recorded: {recorded.decision} for fragment {recorded.fragment_id}")
            yield text(f"next: forensics scope {case}   (brings verdicts and lists up to date)")

        return Result(vars(recorded), human)

    perform("review", case, work, json_output=json, quiet=quiet, verbose=verbose)


def _queue(case: CaseArgument) -> Result:
    from forensics.case.ask import ask
    from forensics.case.store import Case

    with Case.open(case, read_only=True) as opened:
        answer = ask(opened, "review-queue")

    def human() -> Iterable[RenderableType]:
        from forensics.cli.render import table, text

        waiting = len(answer.rows)
        yield table(answer.columns, answer.rows[:MOST_ROWS])
        if waiting > MOST_ROWS:
            yield text(f"{waiting - MOST_ROWS} more; `forensics ask {case} review-queue --format csv` lists all")
        verb = "waits" if waiting == 1 else "wait"
        yield text(
            f"{counted(waiting, 'fragment')} {verb}; `forensics explain {case} FRAGMENT` shows the grounds of one"
        )

    return Result({"waiting": answer.records()}, human)
