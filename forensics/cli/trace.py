"""`forensics trace`: who held a reported passage, who received it, when."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from forensics.case.errors import MissingInput, UsageError
from forensics.case.words import counted
from forensics.cli.options import CaseArgument, Json, Quiet, Verbose
from forensics.cli.terminal import Result, Terminal, perform

if TYPE_CHECKING:
    from rich.console import RenderableType

    from forensics.case.trace import Sighting

LONGEST_PASSAGE = 1 << 20  # bytes; a reported passage is a screenshot's text, not a log


def trace(
    case: CaseArgument,
    text_file: Annotated[
        Path | None,
        typer.Option("--text", metavar="FILE", help="The passage, UTF-8; - or none reads stdin.", show_default=False),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="Rows to show on each side.")] = 50,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
) -> None:
    """Trace a passage that somebody reported: who held it, who received it, when. Prints no text."""

    def work(terminal: Terminal) -> Result:
        from forensics.case.store import Case
        from forensics.case.trace import trace as trace_passage

        passage = _read(text_file)
        with Case.open(case, read_only=True) as opened:
            found = trace_passage(opened, passage)

        def human() -> Iterable[RenderableType]:
            from forensics.cli.render import text

            yield text(
                f"passage of {counted(found.passage_code_points, 'character')}, sha256 {found.passage_sha256[:16]}, "
                f"looked for in {counted(found.texts_searched, 'text')}"
            )
            yield from _side("held it (prompts)", found.holders, limit)
            yield from _side("received it (responses)", found.receivers, limit)
            yield text("A common passage is not a leak by itself: see the verdicts of the fragments named here.")

        return Result(asdict(found), human)

    perform("trace", case, work, json_output=json, quiet=quiet, verbose=verbose)


def _side(title: str, sightings: Sequence[Sighting], limit: int) -> Iterable[RenderableType]:
    from forensics.cli.render import table, text

    columns = ("request", "tenant", "received", "finished", "field", "places", "share", "evidence", "line", "fragment")
    rows = [
        (
            s.request_id,
            s.tenant_id,
            s.received_at,
            s.finished_at,
            s.field,
            " ".join(f"{run.start}-{run.end}" for run in s.runs[:3]) + (" ..." if len(s.runs) > 3 else ""),
            f"{s.share:.0%}",
            s.evidence_name,
            s.line,
            s.fragment_ids,
        )
        for s in sightings[:limit]
    ]
    yield table(columns, rows, title=f"{title}: {len(sightings)}")
    if len(sightings) > limit:
        yield text(f"... and {len(sightings) - limit} more (--limit, or --json for all)")


def _read(path: Path | None) -> str:
    if path is None or str(path) == "-":
        data = sys.stdin.buffer.read(LONGEST_PASSAGE + 1)
    elif path.is_file():
        with path.open("rb") as file:
            data = file.read(LONGEST_PASSAGE + 1)
    else:
        raise MissingInput(f"there is no file {path}")
    if len(data) > LONGEST_PASSAGE:
        raise UsageError("the passage is longer than 1 MiB")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError("the passage is not UTF-8") from None
