"""`forensics explain`: why a fragment has its verdict."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forensics.case.words import cell, counted
from forensics.cli.options import CaseArgument, FragmentArgument, Json, Quiet, Verbose
from forensics.cli.terminal import Result, Terminal, perform

if TYPE_CHECKING:
    from rich.console import RenderableType

    from forensics.case.differences import Differences
    from forensics.case.explain import Explanation, Passage

MOST_SOURCES = 3  # passages of sources that are shown
MOST_EDITS = 12  # differences listed by their offsets; JSON has them all

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
ARM = ("arm", "trials", "hits", "from source", "not sent", "low", "high", "p", "failed", "skipped because")
MEMORY_WARNING = (
    "warning: in a replay this text came without the requests that it would come from. It may be the model's own "
    "memory or habit; no replay lifts the verdict"
)


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
    """Explain a fragment: what its bits rest on, candidates, runner-up, what was ruled out, what would change it."""

    def work(terminal: Terminal) -> Result:
        from forensics.case.explain import explain as explain_fragment
        from forensics.case.store import Case

        with Case.open(case, read_only=True) as opened:
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
                    f"response {found.recipient_request_id} of tenant {cell(found.recipient_tenant_id)}",
                    f"{found.field}, characters {found.start} to {found.end} ({length} long), worker "
                    f"{cell(found.worker)}, received {cell(found.received_at)}",
                ),
            ),
            (
                "strength",
                (
                    f"{found.bits:.1f} bits, {found.net_bits:.1f} after the charge for places searched",
                    f"q-value {cell(found.q_value)} in stratum {found.stratum}",
                ),
            ),
            (
                "sources",
                (
                    ", ".join(found.sources) or "none: nobody is named",
                    f"runner-up: {runner_up.source_request_id} of {cell(runner_up.source_tenant_id)}, covers "
                    f"{runner_up.similarity:.0%}" + (f", margin {found.margin:.0%}" if found.margin is not None else "")
                    if runner_up
                    else "no runner-up",
                    f"held by: {', '.join(found.holders) or 'nobody in the evidence'}",
                ),
            ),
            ("ruled out first", (", ".join(found.exclusions_tried) or "nothing recorded",)),
            ("what would change the verdict", found.would_change or ("not recorded",)),
        ),
    )
    if found.parts:
        yield _parts(found)
    yield table(("figure", "value"), sorted(found.features.items()), title="figures that the verdict rests on")
    if found.tried:
        yield table(
            ("rule", "measured", "drops it from", "what is measured"),
            [(t["rule"], t["measured"], t["limit"], t["meaning"]) for t in found.tried],
            title="rules that it survived",
        )
    yield box("decoys", (("", [_decoys(row) for row in found.decoys] or ["no decoys are kept for this sort"]),))
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
    for one in found.replays:
        yield from _replay(one)
    if found.likelihood is not None:
        yield text(f"likelihood: {found.likelihood}")
    for compared in found.differences:
        yield _edits(compared)
    if found.recipient_passage:
        yield from _passages(found, found.recipient_passage)
    else:
        yield text("--reveal shows both passages; the look is entered in the custody log")


def _replay(one: dict[str, Any]) -> Iterable[RenderableType]:
    from forensics.cli.render import table, text

    yield text(f"replay {one['plan_id']}: {one['verdict']}. {one['because']}")
    if one["verdict"] == "model_memory":
        yield text(MEMORY_WARNING)
    names = ("name", "trials", "hits", "from_source", "absent", "low", "high", "p", "failed", "skipped")
    rows = [
        tuple(arm[name] for name in names) for arm in one["arms"] if arm["trials"] or arm["failed"] or arm["skipped"]
    ]
    yield table(ARM, rows)


def _parts(found: Explanation) -> RenderableType:
    from forensics.cli.render import table

    title = "strongest words"  # no wider than its table, or it is broken into a column of words
    rows = [(f"{part.start} to {part.end}", part.bits, part.text) for part in found.parts]
    if found.recipient_passage is None:
        return table(("characters", "bits"), [row[:2] for row in rows], title=title)
    return table(("characters", "bits", "word"), rows, title=title)


def _decoys(row: dict[str, Any]) -> str:
    odds = "" if row["p_value"] is None else f", p {row['p_value']:.3g} for crowding near the response"
    printed = "q-values are printed" if row["valid"] else "no q-value is printed"
    return (
        f"{row['stratum']} ({row['family']}): {row['targets']} targets and {row['decoys']} decoys won{odds}; "
        f"{printed}: {row['reason']}"
    )


def _edits(compared: Differences) -> RenderableType:
    from forensics.cli.render import text

    kinds = ("changed", "added", "missing")
    counts = {kind: sum(1 for edit in compared.edits if edit.kind == kind) for kind in kinds}
    line = (
        f"against source {compared.rank}: {compared.equal} of {counted(compared.compared, 'character')} equal, "
        + ", ".join(f"{counts[kind]} {kind}" for kind in kinds)
    )
    places = [f"{edit.kind} {edit.start} to {edit.end}" for edit in compared.edits[:MOST_EDITS]]
    if places:
        line += "; counted in the passage: " + ", ".join(places)
    if len(compared.edits) > MOST_EDITS:
        line += f" and {len(compared.edits) - MOST_EDITS} more"
    return text(line)


def _passages(found: Explanation, recipient: Passage) -> Iterable[RenderableType]:
    """The passages one under the other, each with what the other one lacks between marks that need no colour."""
    from rich.panel import Panel
    from rich.text import Text

    from forensics.cli.passages import legend, marked_passage
    from forensics.text.safe_text import safe_text

    yield legend()
    sources = list(zip(found.compared, found.source_passages, strict=True))[:MOST_SOURCES]
    first = found.unlike(sources[0][0]) if sources else None
    yield Panel(
        marked_passage(recipient, first[0] if first else []),
        title=Text(f"recipient: {safe_text(recipient.request_id)} {recipient.field}"),
    )
    for candidate, passage in sources:
        spans = found.unlike(candidate)
        title = f"source {candidate.rank}: {safe_text(passage.request_id)} {passage.field}"
        yield Panel(marked_passage(passage, spans[1] if spans else []), title=Text(title))
        if spans is None:
            yield Text("The two are no copies of each other: this is evidence by subject, and no difference is marked.")
