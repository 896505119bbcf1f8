"""`forensics replay score`: whose context explains a leaked response, by a live server's log-probabilities."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forensics.case.errors import UsageError
from forensics.cli.options import CaseArgument, Fragments, Json, Original, Quiet, Reason, Verbose, fragment_ids
from forensics.cli.terminal import Result, Terminal, perform

if TYPE_CHECKING:
    from rich.console import RenderableType

    from forensics.replay.scoring import Scored

COLUMNS = ("fragment", "finding", "part", "nats", "needed", "margin", "rank", "p", "own per token")
FIGURES = "finding tokens runner_up margin wrong rank p_value needed own_per_token".split()


def score(
    case: CaseArgument,
    server: Annotated[
        str, typer.Option("--server", metavar="URL", help="A running SGLang server of your own.", show_default=False)
    ],
    fragment: Fragments = None,
    most: Annotated[
        int, typer.Option("--most", metavar="N", min=1, help="Without --fragment: how many fragments, the clearest.")
    ] = 3,
    wrong: Annotated[
        int,
        typer.Option(
            "--wrong", metavar="N", min=0, help="Wrong sources to compare with; fewer than 99 give no p-value."
        ),
    ] = 99,
    allow_remote: Annotated[
        bool, typer.Option("--allow-remote", help="Let --server be another machine: the texts go there.")
    ] = False,
    original: Original = False,
    reason: Reason = "",
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
) -> None:
    """Score leaked responses under the recipient's own context, the source's, and wrong sources'."""

    def work(terminal: Terminal) -> Result:
        from forensics.case.store import Case
        from forensics.replay.address import address
        from forensics.replay.scoring import Parameters
        from forensics.replay.scoring import score as run_score

        if not original:
            raise UsageError("scoring sends customers' own texts: give --original and --reason TEXT; it is logged")
        parameters = Parameters(
            fragments=fragment_ids(fragment),
            most=most,
            wrong=wrong,
            reason=reason,
        )
        where = address(server, allow_remote=allow_remote)
        with Case.open(case) as opened, terminal.progress() as progress:
            done = run_score(opened, parameters, where, progress)

        def human() -> Iterable[RenderableType]:
            from forensics.cli.render import table, text

            yield table(COLUMNS, [_row(one) for one in done], title="whose context explains the response")
            for one in done:
                if one.problem:
                    yield text(f"{one.fragment_id}: {one.problem}")
            yield text(f"curves and figures: {case / 'out' / 'likelihood.json'}")

        warnings = tuple(f"{one.fragment_id}: {one.problem}" for one in done if one.problem)
        return Result({"fragments": [_data(one) for one in done]}, human, warnings)

    perform("replay score", case, work, json_output=json, quiet=quiet, verbose=verbose)


def _data(one: Scored) -> dict[str, Any]:
    found = one.likelihood
    figures = {} if found is None else {name: getattr(found, name) for name in FIGURES}
    return {"fragment_id": one.fragment_id, "problem": one.problem, "tokens_basis": one.basis, **figures}


def _row(one: Scored) -> tuple[object, ...]:
    found = one.likelihood
    if found is None:
        return (one.fragment_id, "not scored", *[""] * (len(COLUMNS) - 2))
    return (
        one.fragment_id,
        found.finding,
        f"tokens {found.part.start} to {found.part.end} of {found.tokens}",
        round(found.part.total, 1),
        round(found.needed, 1),
        "" if found.margin is None else round(found.margin, 1),
        f"{found.rank} of {found.wrong + 1}",
        "" if found.p_value is None else round(found.p_value, 4),
        round(found.own_per_token, 2),
    )
