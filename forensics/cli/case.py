"""`forensics case`: verify a case; seal and destroy it (later versions)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from forensics.case.errors import HashMismatch
from forensics.case.words import counted
from forensics.cli.options import CaseArgument, Json, Quiet, Verbose
from forensics.cli.terminal import Result, Terminal, perform

if TYPE_CHECKING:
    from rich.console import RenderableType


def verify(case: CaseArgument, json: Json = False, quiet: Quiet = False, verbose: Verbose = 0) -> None:
    """Check custody chain, outputs, row accounting and audits of a case (exit 12 where something differs)."""

    def work(terminal: Terminal) -> Result:
        from dataclasses import asdict

        from forensics.case.store import Case
        from forensics.case.verify import verify as verify_case

        with Case.open(case, read_only=True) as opened:
            found = verify_case(opened)
        sound = not found.problems

        def human() -> Iterable[RenderableType]:
            from forensics.cli.render import table, text

            yield text(
                f"checked {counted(found.custody_entries, 'custody entry', 'custody entries')}, "
                f"{counted(found.evidence_files, 'evidence file')}, {counted(found.outputs, 'output')}, "
                f"{counted(len(found.audits), 'audit')}"
            )
            if sound:
                yield text("everything is as recorded")
            else:
                rows = [(p.check, p.subject, p.problem) for p in found.problems]
                yield table(("check", "subject", "problem"), rows, title=counted(len(rows), "problem"))

        return Result(asdict(found), human, found.notes, 0 if sound else HashMismatch.exit_code, ok=sound)

    perform("case verify", case, work, json_output=json, quiet=quiet, verbose=verbose)
