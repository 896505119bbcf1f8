"""`forensics explain`: why a fragment has its verdict."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from forensics.cli.options import CaseArgument, FragmentArgument, Json, Quiet, Verbose
from forensics.cli.terminal import Result, Terminal, perform

if TYPE_CHECKING:
    from rich.console import RenderableType

    from forensics.case.explain import Explanation, Passage


CANDIDATE_COLUMNS = (
    "source request id",
    "source tenant id",
    "side",
    "field",
    "start",
    "end",
    "similarity",
    "raw identity",
    "named",
    "lag seconds",
    "same worker",
    "overlapped",
)
SET_ASIDE = ("start", "end", "rule", "detail", "holders", "bits")
DECISION = ("at", "name", "decision", "reason")


def explain(
    case: CaseArgument,
    fragment: FragmentArgument,
    reveal: Annotated[
        bool, typer.Option("--reveal", help="Show both passages; the look is logged in custody.")
    ] = False,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
) -> None:
    """Explain a fragment: strength and where it comes from, candidates, runner-up, what was ruled out."""

    def work(terminal: Terminal) -> Result:
        from forensics.case.explain import explain as explain_fragment
        from forensics.case.store import Case

        with Case.open(case, read_only=not reveal) as opened:
            found = explain_fragment(opened, fragment, reveal=reveal)
        runner_up = found.runner_up
        data = {**asdict(found), "runner_up": asdict(runner_up) if runner_up else None}
        return Result(data, lambda: _human(found))

    perform("explain", case, work, json_output=json, quiet=quiet, verbose=verbose)


def _human(found: Explanation) -> Iterable[RenderableType]:
    from forensics.cli.render import box, table, text

    length = found.end - found.start
    runner_up = found.runner_up
    yield box(
        f"fragment {found.fragment_id}",
        (
            (
                found.verdict if found.kind == found.verdict else f"{found.verdict} ({found.kind})",
                (
                    found.verdict_reason,
                    f"verdict from: {found.verdict_basis}; machine verdict: {found.machine_verdict}",
                ),
            ),
            (
                "where",
                (
                    f"response {found.recipient_request_id} of tenant {_or_dash(found.recipient_tenant_id)}",
                    f"{found.field}, characters {found.start} to {found.end} ({length} long), worker "
                    f"{_or_dash(found.worker)}, received {_or_dash(found.received_at)}",
                ),
            ),
            (
                "strength",
                (
                    f"{found.bits:.1f} bits, {found.net_bits:.1f} after the charge for places searched",
                    f"q-value {_or_dash(found.q_value)} in stratum {found.stratum}",
                ),
            ),
            (
                "sources",
                (
                    ", ".join(found.sources) or "none: nobody is named",
                    f"runner-up: {runner_up.source_request_id} of {_or_dash(runner_up.source_tenant_id)}, covers "
                    f"{runner_up.similarity:.0%}" + (f", margin {found.margin:.0%}" if found.margin is not None else "")
                    if runner_up
                    else "no runner-up",
                ),
            ),
            ("ruled out first", (", ".join(found.exclusions_tried) or "nothing recorded",)),
        ),
    )
    yield table(("figure", "value"), sorted(found.features.items()), title="where the bits come from")
    yield table(
        ("rank", *CANDIDATE_COLUMNS),
        [(c.rank, *(getattr(c, name.replace(" ", "_")) for name in CANDIDATE_COLUMNS)) for c in found.candidates],
        title="candidate sources",
    )
    if any(c.relations for c in found.candidates):
        facts = [(c.rank, relation) for c in found.candidates for relation in c.relations]
        yield table(("rank", "fact"), facts, title="what the timeline says of source and recipient")
    if found.set_aside:
        yield table(SET_ASIDE, [tuple(row[c] for c in SET_ASIDE) for row in found.set_aside], title="set aside here")
    if found.reviews:
        yield table(DECISION, [tuple(row[c] for c in DECISION) for row in found.reviews], title="decisions")
    if found.recipient_passage:
        yield from _side_by_side(found.recipient_passage, found.source_passages)
    else:
        yield text("--reveal shows both passages; the look is entered in the custody log")


def _side_by_side(recipient: Passage, sources: tuple[Passage, ...]) -> Iterable[RenderableType]:
    from rich.table import Table
    from rich.text import Text

    from forensics.text.safe_text import safe_text

    grid = Table(title="text from the log: untrusted, confidential", show_lines=True)
    for heading, passage in (("recipient", recipient), *(("source", source) for source in sources[:2])):
        grid.add_column(
            Text(f"{heading}: {safe_text(passage.request_id)} {passage.field}"), overflow="fold", max_width=70
        )
    cells = []
    for passage in (recipient, *sources[:2]):
        shown = Text(safe_text(passage.before, keep_newlines=True), style="dim")
        shown.append(f"⟪{safe_text(passage.text, keep_newlines=True)}⟫", style="bold not dim")
        shown.append(safe_text(passage.after, keep_newlines=True), style="dim")
        cells.append(shown)
    grid.add_row(*cells)
    yield grid


def _or_dash(value: object) -> str:
    from forensics.cli.render import cell

    return cell(value)
