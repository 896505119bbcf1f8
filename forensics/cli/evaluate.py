"""`forensics evaluate`: the findings of a case against ground truth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forensics.cli.options import CaseArgument, Json, Quiet, Verbose
from forensics.cli.terminal import Result, Terminal, perform

if TYPE_CHECKING:
    from rich.console import RenderableType


def evaluate(
    case: CaseArgument,
    truth: Annotated[Path, typer.Argument(metavar="TRUTH", help="truth.jsonl of the incident.", show_default=False)],
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
) -> None:
    """Compare findings with ground truth: recall, precision, right and wrong tenants, per kind and length."""

    def work(terminal: Terminal) -> Result:
        data, shown = measure(case, truth)
        return Result(data, lambda: shown)

    perform("evaluate", case, work, json_output=json, quiet=quiet, verbose=verbose)


def measure(case: Path, truth: Path) -> tuple[Any, list[RenderableType]]:
    """The comparison as data and as tables for people."""
    from forensics.cli.render import preformatted
    from forensics.evaluate.run import evaluate_case
    from forensics.evaluate.show import as_json, as_text

    report = evaluate_case(case, truth)
    return as_json(report), [preformatted(as_text(report))]
