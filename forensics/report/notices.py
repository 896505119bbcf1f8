"""Which letters are there, in which versions, and what stands in their files? Renders and keeps them; releases none.

A letter has files `letter.md`, `letter.html`, `fields.json`, `regimes.json`, `attachment.csv` in
`notify/<tenant_ref>/`. A draft that says something else than the version before it is a new version: its files carry
`-v2` and so on, and `changes-v2.diff` shows what changed. Files of earlier versions stay.
"""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

import orjson
import pyarrow as pa

from forensics.case.csv_file import csv_bytes
from forensics.case.pseudonyms import load_pseudonyms
from forensics.case.store import Case
from forensics.report import duties, letters
from forensics.report.fields import ADDRESS, OWNERS, SINGLE, Said, fields, unknown
from forensics.report.figures import Numbers
from forensics.report.render import environment, languages

FILES = ("letter.md", "letter.html", "fields.json", "regimes.json", "attachment.csv")
CHANGES = "changes.diff"  # of a later version only
# Shown elsewhere in the letter, or lists that the attachment holds.
NOT_ROWS = frozenset("incident_ref version supersedes recipient_ref own_requests attachments".split())
DEFAULT_LANGUAGE = "en"
_OPTIONS = orjson.OPT_INDENT_2


@dataclass(frozen=True)
class Settings:
    """`clear`, `not_examined`: also write to those in whose requests nothing was found, or nothing could be. `rows`:
    places that a letter lists before it leaves the rest to the attachment."""

    clear: bool = False
    not_examined: bool = False
    rows: int = 50


@dataclass(frozen=True)
class Notice:
    """One version of one letter. `files`: path in the case and bytes; `new`: it is not yet on record."""

    tenant_id: str
    tenant_ref: str
    kind: str
    version: int
    digest: str
    released: bool
    new: bool
    files: dict[str, bytes]
    unknown: tuple[str, ...]


def file_name(name: str, version: int) -> str:
    """`letter.md`, and `letter-v2.md` for the second version."""
    stem, _, suffix = name.rpartition(".")
    return name if version == 1 else f"{stem}-v{version}.{suffix}"


def render_notices(case: Case, settings: Settings) -> list[Notice]:
    """Every letter that the case calls for now, not yet checked or written; sorted by tenant id."""
    numbers = Numbers.load(case)
    window = (numbers.minute_down("window.first_at"), numbers.minute_up("window.last_at"))
    examined, missed = numbers.of("examined"), numbers.of("not_examinable")
    as_of = case.rows("report/as_of")[0][0]
    views = letters.tenant_views(case, load_pseudonyms(case), examined, missed, as_of)
    versions: dict[str, list[tuple[int, str, str, bool]]] = {}
    for tenant_id, version, kind, digest, released in case.rows("report/notices"):
        versions.setdefault(tenant_id, []).append((version, kind, digest, released))
    said = facts_set(case)
    return [
        _notice(view, window, said, versions.get(view.tenant_id, []), settings)
        for view in views
        if _wanted(view, versions.get(view.tenant_id, []), settings)
    ]


def _wanted(view: letters.TenantView, versions: list[tuple[int, str, str, bool]], settings: Settings) -> bool:
    """Affected customers; others where they are asked for, or have had a letter that must not stay the last word."""
    if view.kind in ("source", "recipient", "both"):
        return True
    told = any(released or kind in ("clear", "not_examined") for _, kind, _, released in versions)
    return told or (settings.clear if view.kind == "clear" else settings.not_examined)


def facts_set(case: Case) -> dict[str, dict[str, Said]]:
    """What people set, by customer (empty: all letters) and key."""
    found: dict[str, dict[str, Said]] = {}
    for tenant_ref, key, value, status, basis in case.rows("report/notice_facts"):
        found.setdefault(tenant_ref, {})[key] = Said(value, status, basis)
    return found


def _notice(
    view: letters.TenantView,
    window: tuple[str, str],
    said: dict[str, dict[str, Said]],
    versions: list[tuple[int, str, str, bool]],
    settings: Settings,
) -> Notice:
    own = {**said.get("", {}), **said.get(view.tenant_ref, {})}
    view = _addressed(view, {key: own.pop(key).value for key in ADDRESS if key in own})
    body, _ = _render(view, window, own, "", None, settings)
    digest = hashlib.sha256(b"\0".join(body[name] for name in sorted(body))).hexdigest()
    last = versions[-1] if versions else None
    new = last is None or last[2] != digest
    number = (last[0] if last else 0) + new
    former = str(number - 1) if number > 1 else None
    files, unknown_keys = _render(view, window, own, str(number), former, settings)
    folder = f"notify/{view.tenant_ref}"
    return Notice(
        tenant_id=view.tenant_id,
        tenant_ref=view.tenant_ref,
        kind=view.kind,
        version=number,
        digest=digest,
        released=not new and bool(last and last[3]),
        new=new,
        files={f"{folder}/{file_name(name, number)}": data for name, data in files.items()},
        unknown=unknown_keys,
    )


def _addressed(view: letters.TenantView, said: dict[str, str]) -> letters.TenantView:
    """The view with what a person set of name, contact, countries (`DE; FR`) and language."""
    if "country" in said:
        codes = [duties.country_code(part) for part in said["country"].replace(",", ";").split(";")]
        known = tuple(sorted({code for code in codes if code is not None}))
        view = replace(view, countries=known, unread_countries=codes.count(None))
    return replace(view, **{key: value for key, value in said.items() if key != "country"})  # type: ignore[arg-type]


def _render(
    view: letters.TenantView,
    window: tuple[str, str],
    said: dict[str, Said],
    version: str,
    former: str | None,
    settings: Settings,
) -> tuple[dict[str, bytes], tuple[str, ...]]:
    """Files of one letter, and the keys that it shows as unknown."""
    number = int(version or 1)
    attachment = csv_bytes(letters.ATTACHMENT_COLUMNS, letters.attachment_rows(view))
    listed = [
        {"name": file_name("attachment.csv", number), "sha256": hashlib.sha256(attachment).hexdigest()},
    ]
    countries = view.countries if view.kind in ("source", "both") else ()
    language, fallback = _language(view.language)
    regimes = duties.chosen(countries, language)
    asked = frozenset(key for regime in regimes for key in regime.keys)
    facts = fields(view, window, listed, said, asked, (version, former))
    aware = said["aware"].moment if "aware" in said else None
    shown = [key for key, _ in OWNERS if key not in NOT_ROWS and (key not in SINGLE or key in asked)]
    values = {
        "view": view,
        "facts": facts,
        "shown": shown,
        "rows": settings.rows,
        "few": letters.BAND,
        "unknown": unknown,
        "regimes": regimes,
        "left_out": duties.left_out(countries, language) if countries else (),
        "due": lambda clock: _minute(duties.deadline(clock, aware)),
        "words": f"words.{language}.j2",
        "language": language,
        "fallback": fallback,
    }
    files = {
        f"letter.{markup}": environment(markup).get_template(f"letter.{markup}.j2").render(values).encode()
        for markup in ("md", "html")
    }
    files["fields.json"] = orjson.dumps(facts, option=_OPTIONS) + b"\n"
    files["regimes.json"] = orjson.dumps(duties.overview(countries, facts, aware), option=_OPTIONS) + b"\n"
    files["attachment.csv"] = attachment
    missing = [key for key in shown if facts[key]["status"] == "unknown_to_fill"]
    missing += ["legal_name"] if view.legal_name is None else []
    missing += ["contact"] if view.contact is None else []
    missing += ["country"] if view.kind in ("source", "both") and not view.countries else []
    return files, tuple(missing)


def _language(asked: str | None) -> tuple[str, str | None]:
    """Language of the letter, and what was asked for where that is another."""
    if asked is None:
        return DEFAULT_LANGUAGE, None
    code = asked.strip().lower().replace("_", "-").partition("-")[0]
    code = {"english": "en", "chinese": "zh", "中文": "zh"}.get(code, code)
    return (code, None) if code in languages() else (DEFAULT_LANGUAGE, asked)


def keep(case: Case, notice: Notice, write: Callable[[str, bytes], object]) -> list[str]:
    """Write the files of a letter by `write` and put a new version on record; returns the paths.

    Files of a released version are never written. Where the version before this one has files, a diff stands beside.
    """
    if notice.released:
        return []
    written = notice.files | changes_of(case, notice)
    for path, data in sorted(written.items()):
        write(path, data)
    if notice.new:
        row = {"tenant_id": notice.tenant_id, "version": notice.version, "kind": notice.kind, "digest": notice.digest}
        kinds = {"version": pa.int32()}
        columns = {key: pa.array([value], kinds.get(key, pa.string())) for key, value in row.items()}
        case.append("notices", pa.table(columns))
    return sorted(written)


def _changes(case: Case, notice: Notice) -> bytes:
    """What the letter and its facts say otherwise than the version before; both are this customer's own files."""
    lines: list[str] = []
    folder = f"notify/{notice.tenant_ref}"
    for name in ("letter.md", "fields.json", "regimes.json", "attachment.csv"):
        former = case.root / folder / file_name(name, notice.version - 1)
        old = former.read_text(encoding="utf-8").split("\n") if former.is_file() else []
        new = notice.files[f"{folder}/{file_name(name, notice.version)}"].decode().split("\n")
        now = file_name(name, notice.version)
        lines += difflib.unified_diff(old, new, file_name(name, notice.version - 1), now, lineterm="", n=1)
    return ("\n".join(lines) + "\n").encode()


def changes_of(case: Case, notice: Notice) -> dict[str, bytes]:
    """The diff of a later version, by path: it is checked like every other file."""
    if notice.version == 1 or notice.released:
        return {}
    return {f"notify/{notice.tenant_ref}/{file_name(CHANGES, notice.version)}": _changes(case, notice)}


def _minute(moment: datetime | None) -> str | None:
    return None if moment is None else moment.strftime("%Y-%m-%d %H:%M UTC")
