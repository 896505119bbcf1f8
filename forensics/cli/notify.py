"""`forensics notify`: draft letters, check what is to leave, release letters with two names."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forensics.case.errors import EgressBlocked, UsageError
from forensics.case.words import counted
from forensics.cli.options import CaseArgument, Json, Quiet, Verbose
from forensics.cli.terminal import Result, Terminal, perform

if TYPE_CHECKING:
    from rich.console import RenderableType

Letters = Annotated[
    list[str] | None,
    typer.Argument(metavar="[T-XXXX]...", help="Customers by pseudonym; none: all letters.", show_default=False),
]


def draft(
    case: CaseArgument,
    clear: Annotated[
        bool,
        typer.Option("--clear", help="Also write to customers all of whose requests were examined."),
    ] = False,
    not_examined: Annotated[
        bool, typer.Option("--not-examined", help="Also write to customers whose requests could not all be examined.")
    ] = False,
    aware_at: Annotated[
        str | None,
        typer.Option(
            "--aware-at",
            metavar="TIME",
            help="When the sender became aware; needs --by.",
            show_default=False,
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Fill a field; needs --by. Repeatable.", show_default=False),
    ] = None,
    fill: Annotated[
        Path | None,
        typer.Option("--fill", metavar="FILE", help="TOML with fields to fill; needs --by.", show_default=False),
    ] = None,
    tenant: Annotated[
        str,
        typer.Option("--tenant", metavar="T-XXXX", help="The one letter that --set is for.", show_default=False),
    ] = "",
    by: Annotated[str, typer.Option("--by", metavar="NAME", help="Who sets these facts.", show_default=False)] = "",
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
) -> None:
    """Draft a letter per affected customer, from that customer's own facts only."""

    def work(terminal: Terminal) -> Result:
        from forensics.pipeline import draft_letters
        from forensics.report.release import Setting, read_settings

        facts = read_settings(fill) if fill is not None else []
        for pair in set_ or []:
            key, sign, value = pair.partition("=")
            if not sign:
                raise UsageError("--set needs KEY=VALUE")
            facts.append(Setting(tenant, key.strip(), value.strip()))
        if aware_at is not None:
            facts.append(Setting("", "aware", aware_at))
        settings = {"on_block": "raise", "clear": clear, "not_examined": not_examined}
        with terminal.progress() as progress:
            summary, candidates = draft_letters(case, facts, by, settings, progress)
        letters = sorted(path.name for path in (case / "notify").iterdir() if path.is_dir())

        def human() -> Iterable[RenderableType]:
            from forensics.cli.render import table, text

            yield text(
                f"{counted(len(letters), 'letter')} in {case}/notify/, one folder per customer, under a pseudonym"
            )
            yield text("drafts: fields marked UNKNOWN are for a person to fill, nothing has been sent")
            yield table(
                ("moment that may start a clock", "UTC"), candidates, title="a person chooses: --aware-at, --by"
            )
            yield text(f"next: forensics notify check {case}")

        data = {"letters": letters, "figures": summary.figures, "clock_candidates": [list(row) for row in candidates]}
        return Result(data, human, summary.warnings)

    perform("notify draft", case, work, json_output=json, quiet=quiet, verbose=verbose)


def check(
    case: CaseArgument, letters: Letters = None, json: Json = False, quiet: Quiet = False, verbose: Verbose = 0
) -> None:
    """Check every file in report/ and notify/ for text of others (exit 20), and letters for what they lack."""

    def work(terminal: Terminal) -> Result:
        from forensics.pipeline import check_letters

        found = check_letters(case, letters or [])
        rows = [
            (
                state.tenant_ref,
                state.kind,
                state.version,
                "released" if state.released else "outdated" if state.outdated else "draft",
                len(state.unknown),
                ", ".join(state.missing),
            )
            for state in found.letters
        ]

        def human() -> Iterable[RenderableType]:
            from forensics.cli.render import table, text

            yield table(("letter", "kind", "version", "state", "unknown fields", "missing files"), rows)
            yield from _hits(found.hits)
            yield text(
                f"{counted(found.files, 'file')} read in every form they can be read in: "
                + (f"{len(found.hits)} must not leave" if found.hits else "none holds text of another customer")
            )

        data = {
            "files": found.files,
            "blocked": [_hit(hit) for hit in found.hits],
            "letters": [vars(state) for state in found.letters],
        }
        code = EgressBlocked.exit_code if found.hits else 0
        return Result(data, human, exit_code=code, ok=not found.hits)

    perform("notify check", case, work, json_output=json, quiet=quiet, verbose=verbose)


def release(
    case: CaseArgument,
    letters: Letters = None,
    prepared_by: Annotated[
        str, typer.Option("--prepared-by", metavar="NAME", help="Who prepared the letters.", show_default=False)
    ] = "",
    approved_by: Annotated[
        str,
        typer.Option("--approved-by", metavar="NAME", help="Another person, who approved.", show_default=False),
    ] = "",
    acknowledge: Annotated[
        list[str] | None,
        typer.Option("--acknowledge", metavar="KEY", help="A field that may go out unknown. Repeatable; commas too."),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
) -> None:
    """Release checked letters, with two names; digests go into the custody log. Sends nothing."""

    def work(terminal: Terminal) -> Result:
        from forensics.pipeline import release_letters

        keys = [key.strip() for part in acknowledge or [] for key in part.split(",") if key.strip()]
        done, hits = release_letters(case, letters or [], prepared_by, approved_by, keys)

        def human() -> Iterable[RenderableType]:
            from forensics.cli.render import table, text

            yield from _hits(hits)
            if hits:
                yield text("nothing was released")
            else:
                yield table(("letter", "version", "files"), [(d.tenant_ref, d.version, len(d.files)) for d in done])
                yield text("released: closed against writing, digests in custody.jsonl; sending them is yours")

        data = {"released": [vars(item) for item in done], "blocked": [_hit(hit) for hit in hits]}
        return Result(data, human, exit_code=EgressBlocked.exit_code if hits else 0, ok=not hits)

    perform("notify release", case, work, json_output=json, quiet=quiet, verbose=verbose)


def _hits(hits: Iterable[Any]) -> Iterable[RenderableType]:
    from forensics.cli.render import table

    rows = [(hit.path, hit.why) for hit in hits]
    if rows:
        yield table(("file", "holds"), rows, title="blocked")


def _hit(hit: Any) -> dict[str, str]:
    return {"path": hit.path, "what": hit.what, "where": hit.place, "fragment": hit.fragment_id}
