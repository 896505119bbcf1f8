"""`forensics reference`: public texts that are nobody's. Adds, lists and removes them; attribution uses them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from forensics.case.words import counted
from forensics.cli.options import CaseArgument, Json, Quiet, Verbose
from forensics.cli.terminal import Result, Terminal, perform

if TYPE_CHECKING:
    from rich.console import RenderableType

COLUMNS = ("name", "texts", "code_points", "rejected", "grams", "tokens", "sha256")
NEXT = (
    "next: forensics attribute {case}, then timeline, scope and report; or the same `forensics run` again "
    "(what did not change is skipped)"
)


def add(
    case: CaseArgument,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="Text, NDJSON (.jsonl, .ndjson), zip, .gz, .zst, or a folder of these.",
            show_default=False,
        ),
    ],
    name: Annotated[
        str | None, typer.Option("--name", metavar="TEXT", help="What to call it; none: the file's name.")
    ] = None,
    field: Annotated[
        str, typer.Option("--field", metavar="PATH", help="Where an NDJSON line holds its text, e.g. body.text.")
    ] = "text",
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
) -> None:  # fmt: skip
    """Add public texts (licences, templates, corpora) to a case: what stands in them is no leak."""

    def work(terminal: Terminal) -> Result:
        from forensics.case.references import add as add_reference
        from forensics.case.store import Case

        with terminal.progress() as progress, Case.open(case) as opened:
            made = add_reference(opened, file, name, field, progress)
        lost = counted(made.rejected, "line or file", "lines or files")
        warnings = (f"{lost} held no text",) if made.rejected else ()

        def human() -> Iterable[RenderableType]:
            from forensics.cli.render import table, text

            yield table(COLUMNS, [tuple(getattr(made, column) for column in COLUMNS)])
            yield text(NEXT.format(case=case))

        return Result(vars(made), human, warnings)

    perform("reference add", case, work, json_output=json, quiet=quiet, verbose=verbose)


def listed(case: CaseArgument, json: Json = False, quiet: Quiet = False, verbose: Verbose = 0) -> None:
    """List the public texts that a case knows."""

    def work(terminal: Terminal) -> Result:
        from forensics.case.references import references
        from forensics.case.store import Case

        with Case.open(case) as opened:
            known = references(opened)

        def human() -> Iterable[RenderableType]:
            from forensics.cli.render import table, text

            if known:
                yield table(COLUMNS, [tuple(getattr(one, column) for column in COLUMNS) for one in known])
                yield text(f"forensics ask {case} references   (how much was set aside because of each)")
            else:
                yield text(f"none; forensics reference add {case} FILE adds one")

        return Result({"references": [vars(one) for one in known]}, human)

    perform("reference list", case, work, json_output=json, quiet=quiet, verbose=verbose)


def remove(
    case: CaseArgument,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The reference's name.", show_default=False)],
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
) -> None:
    """Forget public texts: what was set aside because of them is judged again."""

    def work(terminal: Terminal) -> Result:
        from forensics.case.references import remove as remove_reference
        from forensics.case.store import Case

        with Case.open(case) as opened:
            gone = remove_reference(opened, name)

        def human() -> Iterable[RenderableType]:
            from forensics.cli.render import text

            yield text(f"removed: {gone.name}")
            yield text(NEXT.format(case=case))

        return Result(vars(gone), human)

    perform("reference remove", case, work, json_output=json, quiet=quiet, verbose=verbose)
