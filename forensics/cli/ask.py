"""`forensics ask`: a named question to a case."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forensics.case.errors import UsageError
from forensics.case.words import counted
from forensics.cli.options import CaseArgument, Json, Quiet, Verbose
from forensics.cli.terminal import Result, Terminal, perform

if TYPE_CHECKING:
    from rich.console import RenderableType

    from forensics.case.store import Case


MOST_ROWS = 200  # of a table: laying out more takes long, and nobody reads them


class Format(StrEnum):
    """How rows are printed."""

    table = "table"
    csv = "csv"
    json = "json"


def ask(
    case: CaseArgument,
    question: Annotated[str | None, typer.Argument(metavar="QUESTION", help="The question's name.")] = None,
    listing: Annotated[bool, typer.Option("--list", help="List the questions.")] = False,
    param: Annotated[
        list[str] | None,
        typer.Option("--param", "-p", metavar="NAME=VALUE", help="A parameter of the question.", show_default=False),
    ] = None,
    output: Annotated[Format, typer.Option("--format", help="How to print the rows.")] = Format.table,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
) -> None:
    """Ask a named question: who is affected, what could not be read, and more (--list)."""

    def work(terminal: Terminal) -> Result:
        if listing or question is None:
            return _list()
        from forensics.case.ask import ask as answer_question
        from forensics.case.ask import to_csv
        from forensics.case.store import Case

        given = _parameters(param or [])
        with Case.open(case, read_only=True) as opened:
            answer = answer_question(opened, question, given)
            warnings = _unknown_request(opened, given) if not answer.rows else ()
        found, shown = len(answer.rows), answer.printed()
        as_json = json or output is Format.json
        data: dict[str, Any] = {"question": answer.question.name, "columns": list(shown.columns), "found": found}
        if as_json:
            data["rows"] = shown.records()

        def human() -> Iterable[RenderableType]:
            from forensics.cli.render import table, text

            if output is Format.csv:
                sys.stdout.write(to_csv(answer))
                return
            yield text(answer.question.question)
            if answer.note:
                yield table(("note",), [(answer.note,)])
            else:
                yield table(answer.columns, answer.rows[:MOST_ROWS])
            yield text(f"{counted(found, 'row')}: {answer.question.grain}")
            if found > MOST_ROWS:
                yield text(f"{found - MOST_ROWS} more; use --format csv or json")

        return Result(data, human, warnings)

    perform("ask", case, work, json_output=json or output is Format.json, quiet=quiet, verbose=verbose)


def _list() -> Result:
    from forensics.case.ask import questions

    known = questions()

    def human() -> Iterable[RenderableType]:
        from forensics.cli.render import table

        yield table(
            ("question", "what it asks", "parameters"),
            [(q.name, q.question, ", ".join(q.parameters) or None) for q in known],
        )

    return Result({"questions": [vars(q) for q in known]}, human)


def _unknown_request(case: Case, given: Mapping[str, str]) -> tuple[str, ...]:
    """No row may mean that nothing was found in a request, or that there is no such request: say which."""
    from forensics.case.ask import ask as answer_question

    if "request" not in given or answer_question(case, "request", {"request": given["request"]}).rows:
        return ()
    return ("no request with that id in this case",)


def _parameters(given: list[str]) -> dict[str, str]:
    parsed: dict[str, str] = {}
    for item in given:
        name, equals, value = item.partition("=")
        if not equals:
            raise UsageError("--param wants NAME=VALUE")
        parsed[name] = value
    return parsed
