"""`forensics notify`: draft letters; check and release them (later versions)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from forensics.case.words import counted
from forensics.cli.options import CaseArgument, Json, Quiet, Verbose
from forensics.cli.terminal import Result, Terminal, perform

if TYPE_CHECKING:
    from rich.console import RenderableType


def draft(case: CaseArgument, json: Json = False, quiet: Quiet = False, verbose: Verbose = 0) -> None:
    """Draft a letter per affected customer, from that customer's own facts only."""

    def work(terminal: Terminal) -> Result:
        from forensics.pipeline import run_stage

        with terminal.progress() as progress:
            summary = run_stage(case, "report", {"on_block": "raise"}, progress=progress)
        letters = sorted(path.name for path in (case / "notify").iterdir() if path.is_dir())

        def human() -> Iterable[RenderableType]:
            from forensics.cli.render import text

            yield text(
                f"{counted(len(letters), 'draft letter')} in {case}/notify/, one folder per customer, under a pseudonym"
            )
            yield text("they are drafts: fields marked UNKNOWN are for a person to fill, nothing has been sent")

        return Result({"letters": letters, "figures": summary.figures}, human, summary.warnings)

    perform("notify draft", case, work, json_output=json, quiet=quiet, verbose=verbose)
