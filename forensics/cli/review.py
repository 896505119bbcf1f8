"""`forensics review`: record a person's decision about a fragment."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forensics.case.errors import UsageError
from forensics.case.words import counted
from forensics.cli.ask import MOST_ROWS
from forensics.cli.options import CaseArgument, Json, Quiet, Verbose
from forensics.cli.terminal import Result, Terminal, perform

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
        typer.Argument(metavar="FRAGMENT", help="A fragment id, or its unique beginning; none lists what waits."),
    ] = None,
    decision: Annotated[Decision | None, typer.Option("--decision", help="The decision.", show_default=False)] = None,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why.", show_default=False)] = "",
    name: Annotated[str, typer.Option("--name", metavar="TEXT", help="Who decides.", show_default=False)] = "",
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
    """Record one decision about a fragment, or list the fragments that wait for one."""

    def work(terminal: Terminal) -> Result:
        from forensics.case.store import Case

        if fragment is None:
            return _queue(case)
        if decision is None:
            raise UsageError("a review needs --decision accept, reject or unsure")
        from forensics.case.category_review import review_category
        from forensics.case.review import review as record

        with Case.open(case) as opened:
            if category is None:
                recorded: Any = record(opened, fragment, decision.value, reason, name)
            else:
                recorded = review_category(opened, fragment, category.value, decision.value, reason, name)

        def human() -> Iterable[RenderableType]:
            from forensics.cli.render import text

            what = "" if category is None else f" of category {category.value}"
            yield text(f"recorded: {recorded.decision}{what} for fragment {recorded.fragment_id}")
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
