"""`forensics case`: verify, export, seal and destroy a case."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from forensics.case.errors import HashMismatch, UsageError
from forensics.case.words import counted
from forensics.cli.options import CaseArgument, Json, Quiet, Verbose
from forensics.cli.terminal import Result, Terminal, perform

if TYPE_CHECKING:
    from rich.console import RenderableType

By = Annotated[str, typer.Option("--by", metavar="NAME", help="Who does it.", show_default=False)]
Reason = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why.", show_default=False)]
KeyFile = Annotated[
    Path | None,
    typer.Option(
        "--key", metavar="FILE", help="Ed25519 private key (PEM or OpenSSH) to sign with.", show_default=False
    ),
]
PublicKey = Annotated[
    Path | None,
    typer.Option(
        "--public-key", metavar="FILE", help="Public key of the one who is said to have sealed.", show_default=False
    ),
]


class Format(StrEnum):
    """What a case can be exported as."""

    ocsf = "ocsf"
    veris = "veris"
    timesketch = "timesketch"
    perfetto = "perfetto"
    bagit = "bagit"


def verify(
    case: CaseArgument, public_key: PublicKey = None, json: Json = False, quiet: Quiet = False, verbose: Verbose = 0
) -> None:
    """Check custody chain, outputs, row accounting, audits, seal and signature (exit 12 where something differs)."""

    def work(terminal: Terminal) -> Result:
        from dataclasses import asdict

        from forensics.case.signature import read_public_key
        from forensics.case.store import DESTROYED, Case
        from forensics.case.verify import verify as verify_case

        if (case / DESTROYED).is_file():
            return _verify_destroyed(case)
        key = None if public_key is None else read_public_key(public_key)
        with Case.open(case, read_only=True) as opened:
            found = verify_case(opened, key)
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

        code = 0 if sound else HashMismatch.exit_code
        return Result(asdict(found), human, found.notes, code, ok=sound, notes=found.notes)

    perform("case verify", case, work, json_output=json, quiet=quiet, verbose=verbose)


def _verify_destroyed(case: Path) -> Result:
    from dataclasses import asdict

    from forensics.case.destroy import verify_destroyed

    body, problems = verify_destroyed(case)
    sound = not problems

    def human() -> Iterable[RenderableType]:
        from forensics.cli.render import table, text

        yield text(
            f"the case was destroyed {body.get('destroyed_utc', '')} by {body.get('destroyed_by', '')}: "
            f"{counted(len(body.get('files', ())), 'file')}"
        )
        if sound:
            yield text("its certificate is the one that the custody log recorded, and nothing else is left")
        else:
            rows = [(p.check, p.subject, p.problem) for p in problems]
            yield table(("check", "subject", "problem"), rows, title=counted(len(rows), "problem"))

    data = {"certificate": body, "problems": [asdict(problem) for problem in problems]}
    return Result(data, human, (), 0 if sound else HashMismatch.exit_code, ok=sound)


def export(
    case: CaseArgument,
    formats: Annotated[
        list[Format] | None,
        typer.Option("--format", help="What to write; repeatable. None: all but the bag.", show_default=False),
    ] = None,
    to: Annotated[
        Path | None,
        typer.Option("--to", metavar="DIR", help="Where to; none: CASE/export.", show_default=False),
    ] = None,
    key: KeyFile = None,
    whole: Annotated[
        bool, typer.Option("--whole", help="The bag holds the whole case, with texts and names: for its next keeper.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace files that are in the way.")] = False,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
) -> None:
    """Write the case for other programs: pseudonyms, no text of a log, checked before it is written (exit 20)."""

    def work(terminal: Terminal) -> Result:
        from dataclasses import asdict

        from forensics.case.store import Case
        from forensics.report.exports.run import export as export_case

        chosen = [one.value for one in formats or ()]
        with Case.open(case, read_only=True) as opened:
            written, warnings = export_case(opened, chosen, to, key=key, whole=whole, force=force)

        def human() -> Iterable[RenderableType]:
            from forensics.cli.render import table

            rows = [(item.format, item.path, item.bytes, item.sha256) for item in written]
            yield table(("format", "path", "bytes", "sha256"), rows)

        return Result({"files": [asdict(item) for item in written]}, human, tuple(warnings))

    perform("case export", case, work, json_output=json, quiet=quiet, verbose=verbose)


def seal(
    case: CaseArgument,
    by: By = "",
    reason: Reason = "",
    key: KeyFile = None,
    with_problems: Annotated[
        bool, typer.Option("--with-problems", help="Seal a case that does not verify; the seal lists what is wrong.")
    ] = False,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
) -> None:
    """Close a case: a list of everything with digests, signed where a key is given, and no more writing to it."""

    def work(terminal: Terminal) -> Result:
        from forensics.case.seal import seal as seal_case

        made = seal_case(case, by, reason, key, with_problems=with_problems)

        def human() -> Iterable[RenderableType]:
            from forensics.cli.render import text

            yield text(
                f"sealed: {counted(made.files, 'file')} and {counted(made.evidence_files, 'evidence file')} listed in "
                f"{case}/seal.json"
            )
            yield text(f"sha256 of the seal: {made.sha256}   (keep it elsewhere, too)")
            yield text(f"signed with the key {made.signer}" if made.signer else "not signed: no --key was given")

        return Result(vars(made), human)

    perform("case seal", case, work, json_output=json, quiet=quiet, verbose=verbose)


def destroy(
    case: CaseArgument,
    confirm: Annotated[
        str, typer.Option("--confirm", metavar="NAME", help="The name of the case's folder.", show_default=False)
    ] = "",
    by: By = "",
    reason: Reason = "",
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
) -> None:
    """Remove what a case holds but custody log and a certificate. Without --confirm it only says what would go."""

    def work(terminal: Terminal) -> Result:
        from forensics.case.destroy import destroy as destroy_case
        from forensics.case.destroy import inventory

        if not confirm:
            paths = inventory(case)
            size = sum(path.lstat().st_size for path in paths)
            raise UsageError(
                f"this would remove {counted(len(paths), 'file')} ({size:,} bytes) of {case}, the database and all "
                f"that was made from it, for good; to do it, add "
                f"--confirm {case.resolve().name} --by NAME --reason TEXT"
            )
        gone = destroy_case(case, confirm, by, reason)

        def human() -> Iterable[RenderableType]:
            from forensics.cli.render import text

            yield text(f"destroyed: {counted(gone.files, 'file')}, {gone.bytes:,} bytes, overwritten once and removed")
            yield text(f"the certificate is {case}/destroyed.json, sha256 {gone.sha256}")
            yield text(
                "not covered: the evidence files elsewhere, backups, snapshots, exports, older blocks of the medium"
            )

        return Result(vars(gone), human)

    perform("case destroy", case, work, json_output=json, quiet=quiet, verbose=verbose)
