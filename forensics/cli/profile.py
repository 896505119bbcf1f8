"""`forensics profile`: what a profile makes of a log, and which formats there are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forensics.case.errors import NothingReadable, UsageError
from forensics.case.words import cell
from forensics.cli.options import Json, PrivateKeys, Quiet, TimeZone, Verbose
from forensics.cli.terminal import Result, Terminal, perform

if TYPE_CHECKING:
    from rich.console import RenderableType

    from forensics.ingest.profile_trial import Trial

NO_CASE = "texts were shown (--reveal) outside any case: no custody log holds that look; note it yourself"


def test(
    profile: Annotated[Path, typer.Argument(metavar="FILE", help="The TOML profile.", show_default=False)],
    evidence: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[EVIDENCE...]", help="Logs to try it on; none: the profile alone.", show_default=False),
    ] = None,
    time_zone: TimeZone = None,
    private_key: PrivateKeys = None,
    most: Annotated[int, typer.Option("--lines", metavar="N", min=1, help="Lines to read at most.")] = 100_000,
    reveal: Annotated[bool, typer.Option("--reveal", help="Show the texts of the mapped records.")] = False,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
) -> None:
    """Try a profile on a log: what matches, what stays empty, three mapped records, what is missing for scoping."""

    def work(terminal: Terminal) -> Result:
        from forensics.ingest.profile_trial import try_profile

        if reveal and not evidence:
            raise UsageError("--reveal shows the texts of records; give evidence to read them from")
        trial = try_profile(
            profile,
            tuple(evidence or ()),
            time_zone=time_zone or "UTC",
            private_keys=tuple(private_key or ()),
            reveal=reveal,
            most=most,
        )
        data = {**asdict(trial), "share": trial.share}
        warnings = (NO_CASE,) if reveal else ()
        nothing = bool(evidence) and not trial.records and not trial.events
        code = NothingReadable.exit_code if nothing else 0
        return Result(data, lambda: _human(trial, tried=bool(evidence)), warnings, code, ok=not nothing)

    perform("profile test", None, work, json_output=json, quiet=quiet, verbose=verbose)


def listed(json: Json = False, quiet: Quiet = False, verbose: Verbose = 0) -> None:
    """List the formats that can be read, in the order in which they are tried."""

    def work(terminal: Terminal) -> Result:
        from forensics.ingest.profile import Profile
        from forensics.ingest.registry import registry

        known = registry()
        rows: list[dict[str, Any]] = [
            {
                "name": parser.NAME,
                "kind": parser.KIND,
                "made_by": "profile" if isinstance(parser, Profile) else "code",
                "title": parser.TITLE,
                "versions": parser.VERSIONS,
                "source": parser.SOURCE,
            }
            for parser in (*known.objects, *known.texts)
        ]

        def human() -> Iterable[RenderableType]:
            from forensics.cli.render import table

            columns = ("name", "kind", "made_by", "title")
            yield table(columns, [tuple(row[column] for column in columns) for row in rows])

        return Result({"formats": rows}, human)

    perform("profile list", None, work, json_output=json, quiet=quiet, verbose=verbose)


def _human(trial: Trial, *, tried: bool) -> Iterable[RenderableType]:
    from forensics.cli.render import box, table, text

    if not tried:
        yield text(f"profile {trial.name} ({trial.kind}): nothing is wrong with it; give evidence to try it on")
        return
    share = f"{trial.share:.1%}" if trial.share is not None else "-"
    yield text(
        f"profile {trial.name}: {trial.matched} of {trial.lines} lines matched ({share}), giving {trial.records} "
        f"records and {trial.events} engine facts; {trial.structure} are structure, {trial.other} were read as another "
        f"format, {trial.rejected} could not be read"
    )
    if trial.reasons:
        yield text("rejected for " + ", ".join(f"{reason}: {count}" for reason, count in sorted(trial.reasons.items())))
    if trial.notices:
        from forensics.ingest.run import NOTICES

        noticed = sorted(trial.notices.items())
        yield box("noticed", (("", [f"{count} {NOTICES.get(name, name)}" for name, count in noticed]),))
    if trial.records:
        yield table(("field", "empty"), [(name, f"{share:.1%}") for name, share in trial.empty.items()])
        states = trial.states.items()
        rows = [(side, state, count) for side, counts in states for state, count in sorted(counts.items())]
        yield table(("side", "state", "records"), rows)
    for number, example in enumerate(trial.examples, 1):
        lines = [f"{name}: {cell(value)}" for name, value in example.items() if name not in ("texts", "ids")]
        lines += [f"ids.{kind}: {cell(value)}" for kind, value in example["ids"].items()]
        lines += [
            f"{item['side']} {cell(item['field'])}: {item['code_points']} code points"
            + (f": {cell(item['text'])}" if "text" in item else " (--reveal shows them)")
            for item in example["texts"]
        ]
        yield box(f"record {number}", (("", lines),))
    if trial.missing:
        yield box("missing for scoping", (("", trial.missing),))
    else:
        yield text("nothing is missing for scoping")
