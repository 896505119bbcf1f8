"""`forensics simulate`: a synthetic incident with ground truth."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from forensics.case.errors import UsageError
from forensics.cli.options import Json, Quiet, Verbose
from forensics.cli.terminal import Result, Terminal, perform

if TYPE_CHECKING:
    from rich.console import RenderableType


class Form(StrEnum):
    """The log format that is written."""

    sglang = "sglang"
    house = "house"


class Compress(StrEnum):
    """How the logs are compressed."""

    none = "none"
    gz = "gz"
    zst = "zst"


class SlotPolicy(StrEnum):
    """Which free slot the engine takes next."""

    lifo = "lifo"
    fifo = "fifo"


def simulate(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The folder to write to.", show_default=False)],
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Seed of every random choice.")] = 1,
    tenants: Annotated[int, typer.Option("--tenants", metavar="N", min=2, help="Number of tenants.")] = 60,
    requests: Annotated[int, typer.Option("--requests", metavar="N", min=1, help="Number of requests.")] = 2000,
    workers: Annotated[int, typer.Option("--workers", metavar="N", min=1, help="Engine schedulers.")] = 4,
    leaks: Annotated[int, typer.Option("--leaks", metavar="N", min=0, help="Affected responses.")] = 40,
    fault: Annotated[
        list[str] | None,
        typer.Option(
            "--fault", metavar="NAME", help="A fault to let leak; repeat it; none for all.", show_default=False
        ),
    ] = None,
    kinds: Annotated[
        str | None,
        typer.Option("--kinds", metavar="LIST", help="Kinds of leak, by commas, or all.", show_default=False),
    ] = None,
    correlated: Annotated[bool, typer.Option("--correlated", help="Let tenants' contents follow each other.")] = False,
    ambiguous: Annotated[
        int, typer.Option("--ambiguous", min=0, help="Leaks whose text two tenants had supplied.")
    ] = 0,
    undetermined: Annotated[
        int, typer.Option("--undetermined", min=0, help="Leaks whose source is not in the logs.")
    ] = 0,
    corpus: Annotated[
        Path | None, typer.Option("--corpus", metavar="FILE", help="A larger text corpus.", show_default=False)
    ] = None,
    form: Annotated[Form, typer.Option("--form", help="The log format.")] = Form.sglang,
    compress: Annotated[Compress, typer.Option("--compress", help="Compression of the logs.")] = Compress.none,
    slots: Annotated[int, typer.Option("--slots", min=1, help="Slots of each worker.")] = 8,
    slot_policy: Annotated[SlotPolicy, typer.Option("--slot-policy", help="The next free slot.")] = SlotPolicy.lifo,
    megabytes: Annotated[
        int | None, typer.Option("--megabytes", metavar="N", min=1, help="Size of the raw logs.", show_default=False)
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
) -> None:
    """Write the logs and the ground truth of a simulated incident."""

    def work(terminal: Terminal) -> Result:
        from forensics.simulate.parameters import FAULTS, Parameters
        from forensics.simulate.run import simulate as make

        unknown = [name for name in fault or () if name not in FAULTS]
        if unknown:
            raise UsageError(f"--fault knows {', '.join(FAULTS)}")
        parameters = Parameters(
            seed=seed,
            tenants=tenants,
            requests=requests,
            workers=workers,
            leaks=leaks,
            faults=tuple(fault) if fault else FAULTS,
            kinds=tuple(name.strip() for name in kinds.split(",") if name.strip()) if kinds else (),
            correlated=correlated,
            ambiguous=ambiguous,
            undetermined=undetermined,
            corpus=corpus,
            form=form.value,
            compress=compress.value,
            slots=slots,
            slot_policy=slot_policy.value,
            target_bytes=None if megabytes is None else megabytes * 1_000_000,
        )
        try:
            with terminal.progress() as progress:
                summary = make(out, parameters, progress)
        except ValueError as error:
            raise UsageError(str(error)) from None

        def human() -> Iterable[RenderableType]:
            from forensics.cli.render import table, text

            plain = [(key, value) for key, value in asdict(summary).items() if not isinstance(value, dict)]
            yield table(("figure", "value"), plain, title="synthetic incident")
            yield text(f"next: forensics run {out}/logs --tenants {out}/tenants.csv --case CASE")
            yield text(f"then: forensics evaluate CASE {out}/truth.jsonl")

        return Result(asdict(summary), human)

    perform("simulate", None, work, json_output=json, quiet=quiet, verbose=verbose)
