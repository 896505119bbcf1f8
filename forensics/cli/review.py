"""`forensics review`: walk the fragments that wait and decide; record one decision; list what waits."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forensics.case.errors import UsageError
from forensics.case.words import counted
from forensics.cli.ask import MOST_ROWS
from forensics.cli.options import CaseArgument, Json, Quiet, Verbose
from forensics.cli.terminal import Result, Terminal, console, perform

if TYPE_CHECKING:
    from rich.console import RenderableType


class Category(StrEnum):
    """Kinds of delicate content; the same names as those of `case.category_review` (a test holds it)."""

    credential = "credential"
    email = "email"
    phone = "phone"
    payment = "payment"
    government_id = "government_id"
    account_id = "account_id"
    health = "health"
    special_category = "special_category"
    child = "child"
    code = "code"
    none = "none"


class Decision(StrEnum):
    """What a person may decide."""

    accept = "accept"
    reject = "reject"
    unsure = "unsure"


def review(
    case: CaseArgument,
    fragment: Annotated[
        str | None,
        typer.Argument(metavar="FRAGMENT", help="A fragment id, or its unique beginning; none: all that wait."),
    ] = None,
    decision: Annotated[Decision | None, typer.Option("--decision", help="The decision.", show_default=False)] = None,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why.", show_default=False)] = "",
    name: Annotated[str, typer.Option("--name", metavar="TEXT", help="Who decides.", show_default=False)] = "",
    reveal: Annotated[
        bool, typer.Option("--reveal", help="Show both passages side by side; each look is logged in custody.")
    ] = False,
    walk: Annotated[
        bool | None,
        typer.Option(
            "--walk/--list", help="Walk the fragments, or list them; none: walk on a terminal.", show_default=False
        ),
    ] = None,
    update: Annotated[
        bool | None,
        typer.Option(
            "--update/--no-update",
            help="Bring verdicts, lists, report and letters up to date; none: after a walk.",
            show_default=False,
        ),
    ] = None,
    category: Annotated[
        Category | None,
        typer.Option(
            "--category",
            help="Decide about this category of the fragment's text, not about the leak; none: nothing applies.",
            show_default=False,
        ),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
) -> None:
    """Decide on fragments one by one: accept, reject or unsure. Elsewhere: list them, or record one decision."""

    def work(terminal: Terminal) -> Result:
        if decision is not None:
            if fragment is None:
                raise UsageError("--decision needs the FRAGMENT that it is about")
            about = None if category is None else category.value
            return _record(terminal, case, fragment, decision.value, reason, name, category=about, update=bool(update))
        if category is not None:
            raise UsageError("--category needs --decision")
        interactive = sys.stdin.isatty() and sys.stdout.isatty() if walk is None else walk
        if interactive and not json:
            return _walk(terminal, case, fragment, name, reveal=reveal, update=update is not False)
        if fragment is not None:
            raise UsageError("a review needs --decision accept, reject or unsure")
        return _queue(case)

    perform("review", case, work, json_output=json, quiet=quiet, verbose=verbose)


def _record(
    terminal: Terminal,
    case: Path,
    fragment: str,
    decision: str,
    reason: str,
    name: str,
    *,
    category: str | None,
    update: bool,
) -> Result:
    from forensics.case.category_review import review_category
    from forensics.case.review import review as record
    from forensics.case.store import Case

    with Case.open(case) as opened:
        if category is None:
            recorded: Any = record(opened, fragment, decision, reason, name)
        else:
            recorded = review_category(opened, fragment, category, decision, reason, name)
    warnings = _follow(terminal, case) if update else ()

    def human() -> Iterable[RenderableType]:
        from forensics.cli.render import text

        what = "" if category is None else f" of category {category}"
        yield text(f"recorded: {recorded.decision}{what} for fragment {recorded.fragment_id}")
        yield text(_next(case, updated=update))

    return Result(vars(recorded), human, warnings)


def _walk(terminal: Terminal, case: Path, fragment: str | None, name: str, *, reveal: bool, update: bool) -> Result:
    from forensics.case.review import sitting as sit
    from forensics.case.store import Case
    from forensics.cli.review_walk import walk

    with Case.open(case) as opened:
        sitting = sit(opened, fragment)
        if sitting.fragments:
            if not reveal:
                terminal.log("no text is shown; --reveal shows both passages side by side, and logs each look")
            walk(sitting, console(), reveal=reveal, name=name)
        waiting = len(sit(opened).fragments)
    decided = list(sitting.decided)
    updated = update and bool(decided)
    warnings = _follow(terminal, case) if updated else ()

    def human() -> Iterable[RenderableType]:
        from forensics.cli.render import text

        verb = "waits" if waiting == 1 else "wait"
        yield text(f"{counted(len(decided), 'decision')} recorded; {counted(waiting, 'fragment')} {verb}")
        if decided:
            yield text(_next(case, updated=updated))

    return Result({"decided": [vars(one) for one in decided], "waiting": waiting, "updated": updated}, human, warnings)


def _follow(terminal: Terminal, case: Path) -> tuple[str, ...]:
    """Bring everything that rests on decisions up to date; returns the warnings of the stages."""
    from forensics.pipeline import follow_decisions

    with terminal.progress() as progress:
        return follow_decisions(case, progress).warnings


def _next(case: Path, *, updated: bool) -> str:
    if updated:
        return f"verdicts, lists, report and letters of {case} are up to date"
    return f"next: forensics scope {case}   (brings verdicts and lists up to date)"


def _queue(case: Path) -> Result:
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
