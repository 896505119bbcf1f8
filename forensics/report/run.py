"""Stage `report`: what people read. `report/` for the case, `notify/<tenant_ref>/` for each affected customer.

Everything is rendered first, checked for leaked text as a whole, and only then written. A file that holds leaked text
is withheld, or stops the stage, as the parameters say.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import orjson

from forensics.case.csv_file import csv_bytes
from forensics.case.errors import EgressBlocked
from forensics.case.pseudonyms import load_pseudonyms
from forensics.case.stage import Summary, run_stage
from forensics.case.store import Case
from forensics.case.words import counted
from forensics.report import egress, letters
from forensics.report.corpus_check import Outgoing, check_corpus
from forensics.report.fields import fields, unknown
from forensics.report.figures import Numbers
from forensics.report.render import environment, template_texts
from forensics.report.view import draw, draw_leaks, load_view, share_table

Progress = Callable[[str, int, int], None]
LETTER_FILES = ("letter.md", "letter.html", "fields.json", "attachment.csv")


@dataclass(frozen=True)
class Parameters:
    """`on_block`: what happens to a file that holds leaked text. `request_rows`, `letter_rows`: most rows printed.
    `leak_pictures`: most leaks drawn."""

    on_block: Literal["raise", "withhold"] = "raise"
    request_rows: int = 1000
    letter_rows: int = 50
    leak_pictures: int = 12


def run(case: Case, parameters: Parameters, progress: Progress | None = None) -> Summary:
    """Write the report and the letters. Reads scope. Raises EgressBlocked where a file holds leaked text.

    Where nothing changed since the last run, files are written again only if some are missing.
    """

    def work() -> tuple[dict[str, Any], tuple[str, ...]]:
        return _write(case, parameters, progress)

    summary = run_stage(case, "report", parameters, reads=("scope",), writes=(), work=work)
    if summary.skipped and not _complete(case, summary.figures):
        work()
    return summary


def render_report(case: Case, parameters: Parameters) -> dict[str, bytes]:
    """`report.html` and `report.md`, not yet checked or written."""
    pseudonyms = load_pseudonyms(case)
    numbers = Numbers.load(case)
    view = load_view(case, pseudonyms, parameters.request_rows, parameters.leak_pictures)
    values = {
        "numbers": numbers,
        "view": view,
        "scope_rows": share_table(numbers),
        "pictures": draw(view),
        "leaks": draw_leaks(view),
    }
    return {
        f"report/report.{markup}": environment(markup).get_template(f"report.{markup}.j2").render(values).encode()
        for markup in ("html", "md")
    }


def render_letters(case: Case, parameters: Parameters) -> dict[str, bytes]:
    """The four files of each letter, not yet checked or written. Folders are named by pseudonym only."""
    numbers = Numbers.load(case)
    window = (numbers.minute_down("window.first_at"), numbers.minute_up("window.last_at"))
    views = letters.tenant_views(
        case,
        load_pseudonyms(case),
        numbers.of("examined"),
        numbers.of("not_examinable"),
        case.rows("report/as_of")[0][0],
    )
    templates = {markup: environment(markup).get_template(f"letter.{markup}.j2") for markup in ("md", "html")}
    files: dict[str, bytes] = {}
    for view in views:
        folder = f"notify/{view.tenant_ref}"
        attachment = csv_bytes(letters.ATTACHMENT_COLUMNS, letters.attachment_rows(view))
        files[f"{folder}/attachment.csv"] = attachment
        listed = [{"name": "attachment.csv", "sha256": hashlib.sha256(attachment).hexdigest()}]
        facts = fields(view, window, listed)
        files[f"{folder}/fields.json"] = orjson.dumps(facts, option=orjson.OPT_INDENT_2) + b"\n"
        values = {"view": view, "facts": facts, "rows": parameters.letter_rows, "unknown": unknown}
        for markup, template in templates.items():
            files[f"{folder}/letter.{markup}"] = template.render(values).encode()
    return files


def _write(case: Case, parameters: Parameters, progress: Progress | None) -> tuple[dict[str, Any], tuple[str, ...]]:
    _tell(progress, "report", 0)
    files = render_report(case, parameters)
    _tell(progress, "letters", 1)
    files |= render_letters(case, parameters)
    _tell(progress, "egress check", 2)
    methods = [number.method for number in Numbers.load(case).rows.values()]
    findings = [text for row in case.rows("report/mechanisms") for text in row if isinstance(text, str)]
    findings += [because for _, _, _, _, because, _ in case.rows("report/replays")]
    hits = _held_back(case, files, (*template_texts(), *methods, *findings))
    if hits and parameters.on_block == "raise":
        first = hits[0]
        raise EgressBlocked(
            f"{counted(len(hits), 'file')} would let out text; the first is {first.path}: it holds {first.why}; "
            "nothing was written. `forensics explain CASE FRAGMENT` shows a fragment"
        )
    blocked = {hit.path for hit in hits}
    _remove_stale(case, set(files) - blocked)
    for path in sorted(set(files) - blocked):
        case.write(path, files[path])
    _tell(progress, "done", 3)
    folders = {path.split("/")[1] for path in files if path.startswith("notify/")}
    figures = {"letters": len(folders), "files": len(files) - len(blocked), "withheld": sorted(blocked)}
    return figures, tuple(f"{hit.path} was withheld: it holds {hit.why}" for hit in hits)


def _held_back(case: Case, files: dict[str, bytes], allowed: tuple[str, ...]) -> list[egress.Hit]:
    """Files that hold leaked text, or any text of a tenant other than the one they are for; sorted by path."""
    hits = {hit.path: hit for hit in egress.check(files.items(), egress.passages(case), allowed)}
    tenant_of = {code: tenant for tenant, code in load_pseudonyms(case).tenants.items()}
    names: dict[str, list[str]] = {}
    for tenant, name in case.rows("report/names_of_tenants"):
        if name:
            names.setdefault(tenant, []).append(name)
    outgoing = []
    for path, data in files.items():
        tenant = tenant_of[path.split("/")[1]] if path.startswith("notify/") else None
        outgoing.append(Outgoing(path, data, tenant, tuple(names.get(tenant or "", ()))))
    for hit in check_corpus(case, outgoing, allowed):
        hits.setdefault(hit.path, hit)
    return [hits[path] for path in sorted(hits)]


def _remove_stale(case: Case, kept: set[str]) -> None:
    """Remove our own files of earlier runs that this run does not write; never what somebody else put there."""
    known = [case.root / "report" / name for name in ("report.html", "report.md")]
    for folder in sorted((case.root / "notify").iterdir()):
        if re.fullmatch(r"T-[0-9A-Z]+", folder.name) and folder.is_dir() and not folder.is_symlink():
            known += [folder / name for name in LETTER_FILES]
    for path in known:
        if path.relative_to(case.root).as_posix() not in kept and path.is_file():
            path.unlink()
    for folder in {path.parent for path in known if path.parent.parent.name == "notify"}:
        if not any(folder.iterdir()):
            folder.rmdir()


def _complete(case: Case, figures: dict[str, Any]) -> bool:
    """Whether every file that the last run wrote is there."""
    pseudonyms = load_pseudonyms(case)
    folders = [f"notify/{pseudonyms.tenant(row[0])}" for row in case.rows("report/letter_tenants")]
    expected = {"report/report.html", "report/report.md"} | {f"{f}/{name}" for f in folders for name in LETTER_FILES}
    return all((case.root / path).is_file() for path in expected - set(figures["withheld"]))


def _tell(progress: Progress | None, label: str, done: int) -> None:
    if progress is not None:
        progress(label, done, 3)
