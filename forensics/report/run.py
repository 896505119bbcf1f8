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

from forensics.case.pseudonyms import load_pseudonyms
from forensics.case.stage import Summary, run_stage
from forensics.case.store import Case
from forensics.report import tables
from forensics.report.data import FOLDER, NAMES, data_files
from forensics.report.figures import Numbers
from forensics.report.gate import allowed_texts, blocked, held_back
from forensics.report.notices import FILES, Notice, Settings, changes_of, file_name, keep, render_notices
from forensics.report.render import environment
from forensics.report.view import draw, draw_leaks, load_view

Progress = Callable[[str, int, int], None]
DOCUMENTS = ("report/report.html", "report/report.md", "report/postmortem.md")
REPORT_FILES = (*DOCUMENTS, *(f"{FOLDER}/{name}" for name in NAMES))
LETTER_FILE = re.compile(r"(letter|fields|regimes|attachment|changes|egress_check|release)(-v\d+)?\.[a-z]+")


@dataclass(frozen=True)
class Parameters:
    """`on_block`: what happens to a file that holds leaked text. `request_rows`, `letter_rows`: most rows printed.
    `leak_pictures`: most leaks drawn. `clear`, `not_examined`: letters also to those in whose requests nothing was
    found, or nothing could be."""

    on_block: Literal["raise", "withhold"] = "raise"
    request_rows: int = 1000
    letter_rows: int = 50
    leak_pictures: int = 12
    clear: bool = False
    not_examined: bool = False


def run(case: Case, parameters: Parameters, progress: Progress | None = None) -> Summary:
    """Write the report and the letters. Reads scope. Raises EgressBlocked where a file holds leaked text.

    Where nothing changed since the last run, files are written again only if some are missing.
    """

    def work() -> tuple[dict[str, Any], tuple[str, ...]]:
        return _write(case, parameters, progress)

    facts = [list(row) for row in case.rows("report/notice_facts")]
    extra = hashlib.sha256(orjson.dumps(facts)).hexdigest()
    summary = run_stage(case, "report", parameters, reads=("scope",), writes=(), work=work, extra=extra)
    if summary.skipped and not _complete(case, summary.figures):
        work()
    return summary


def render_report(case: Case, parameters: Parameters) -> dict[str, bytes]:
    """`report.html`, `report.md`, `postmortem.md` and the data of the pictures, not yet checked or written."""
    pseudonyms = load_pseudonyms(case)
    numbers = Numbers.load(case)
    view = load_view(case, pseudonyms, parameters.request_rows, parameters.leak_pictures)
    values = {
        "numbers": numbers,
        "view": view,
        "scope_rows": tables.scope_rows(numbers),
        "bounds": tables.bound_rows(numbers),
        "coverage": tables.coverage_rows(numbers),
        "periods": tables.period_rows(numbers),
        "controls": tables.control_rows(numbers),
        "recall": tables.recall_rows(numbers),
        "pictures": draw(view),
        "leaks": draw_leaks(view),
    }
    files = {
        path: environment(path.rpartition(".")[2]).get_template(f"{path.partition('/')[2]}.j2").render(values).encode()
        for path in DOCUMENTS
    }
    return files | data_files(view)


def _write(case: Case, parameters: Parameters, progress: Progress | None) -> tuple[dict[str, Any], tuple[str, ...]]:
    _tell(progress, "report", 0)
    files = render_report(case, parameters)
    _tell(progress, "letters", 1)
    settings = Settings(parameters.clear, parameters.not_examined, parameters.letter_rows)
    notices = render_notices(case, settings)
    letters = {notice.tenant_ref: dict(notice.files) | changes_of(case, notice) for notice in notices}
    for written in letters.values():
        files |= written
    _tell(progress, "egress check", 2)
    hits = held_back(case, files, allowed_texts(case).texts)
    if hits and parameters.on_block == "raise":
        raise blocked(hits)
    held = {hit.path for hit in hits}
    # A letter goes as a whole or not at all.
    held |= {path for written in letters.values() if held & written.keys() for path in written}
    _remove_stale(case, {path for path in files if path.startswith("report/")} - held, notices)
    for path in sorted(set(files) - held):
        if path.startswith("report/"):
            case.write(path, files[path])
    for notice in notices:
        if not held & letters[notice.tenant_ref].keys():
            keep(case, notice, case.write)
    _tell(progress, "done", 3)
    figures = {"letters": len(letters), "files": len(files) - len(held), "withheld": sorted(held)}
    return figures, tuple(f"{hit.path} was withheld: it holds {hit.why}" for hit in hits)


def _remove_stale(case: Case, kept: set[str], notices: list[Notice]) -> None:
    """Remove our own files of earlier runs that the case does not call for any more; never what somebody else put
    there, and nothing of a letter that was released."""
    for name in REPORT_FILES:
        path = case.root / name
        if name not in kept and path.is_file():
            path.unlink()
    pseudonyms = load_pseudonyms(case)
    tenant_of = {code: tenant for tenant, code in pseudonyms.tenants.items()}
    released = {row[0] for row in case.rows("report/released_files")}
    current = {notice.tenant_ref for notice in notices}
    for folder in sorted((case.root / "notify").iterdir()):
        ours = re.fullmatch(r"T-[0-9A-Z]+", folder.name) and folder.is_dir() and not folder.is_symlink()
        if not ours or folder.name in current or tenant_of.get(folder.name) in released:
            continue
        for path in sorted(folder.iterdir()):
            if LETTER_FILE.fullmatch(path.name) and path.is_file():
                path.unlink()
        if not any(folder.iterdir()):
            folder.rmdir()
    for tenant_id in sorted({row[0] for row in case.rows("report/notices")} - released):
        if pseudonyms.tenants.get(tenant_id) not in current:
            case.run("report/notice_drop", {"tenant": tenant_id})


def _complete(case: Case, figures: dict[str, Any]) -> bool:
    """Whether every file that the last run wrote is there."""
    pseudonyms = load_pseudonyms(case)
    latest = {row[0]: row[1] for row in case.rows("report/notices")}
    expected = set(REPORT_FILES) | {
        f"notify/{pseudonyms.tenant(tenant_id)}/{file_name(name, version)}"
        for tenant_id, version in latest.items()
        for name in FILES
    }
    return all((case.root / path).is_file() for path in expected - set(figures["withheld"]))


def _tell(progress: Progress | None, label: str, done: int) -> None:
    if progress is not None:
        progress(label, done, 3)
