"""May a letter go out, and who said so? Sets facts by hand, checks what lies in `report/` and `notify/`, releases.

Releasing sends nothing. It takes two different names, a letter whose every unknown field is filled or acknowledged, and
bytes that pass every check; it takes the draft mark off, closes the files against writing, and enters a digest of each
in the custody log. A released version is never written again: what is found later makes a new version.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa

from forensics.case import custody
from forensics.case.errors import HashMismatch, MissingInput, UsageError
from forensics.case.pseudonyms import load_pseudonyms
from forensics.case.store import Case
from forensics.report.egress import Hit
from forensics.report.fields import ADDRESS, FIXED, KEYS
from forensics.report.gate import allowed_texts, held_back
from forensics.report.notices import CHANGES, FILES, Notice, Settings, file_name, render_notices

STATUSES = ("known", "estimated", "not_applicable")
UNKNOWN = "UNKNOWN - TO FILL"
_TENANT_REF = re.compile(r"T-[0-9A-Z]+")
_MOST_TEXT = 4_000  # code points of one fact


# -- what people set --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Setting:
    """A fact that a person sets. `tenant_ref` empty: in all letters."""

    tenant_ref: str
    key: str
    value: str
    status: str = "known"
    basis: str = "set by a person"


def aware_time(text: str) -> str:
    """A time with an offset as UTC, to the second. Raises UsageError for anything else."""
    try:
        moment = datetime.fromisoformat(text.strip().replace("Z", "+00:00"))
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise UsageError("--aware-at needs a date and a time with an offset, such as 2026-03-05T09:30:00Z")
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def read_settings(path: Path) -> list[Setting]:
    """Facts of a TOML file: `key = "value"` or `key = {value, status, basis}`; in a table `[T-XXXX]` for one letter."""
    if not path.is_file():
        raise MissingInput(f"{path} is not there; --fill needs a TOML file")
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        raise UsageError(f"{path} is not TOML in UTF-8") from None
    found: list[Setting] = []
    for key, value in data.items():
        if _TENANT_REF.fullmatch(key) and isinstance(value, dict):
            found += [_setting(key, name, inner) for name, inner in value.items()]
        else:
            found.append(_setting("", key, value))
    return found


def _setting(tenant_ref: str, key: str, value: Any) -> Setting:
    if isinstance(value, dict):
        if set(value) - {"value", "status", "basis"} or ("value" not in value and value.get("status") != STATUSES[2]):
            raise UsageError("a fact is a text, or a table with value, status and basis")
        status, basis = str(value.get("status", "known")), str(value.get("basis", "set by a person"))
        return Setting(tenant_ref, key, str(value.get("value", "")), status, basis)
    if isinstance(value, bool | list):
        raise UsageError("a fact is a text, or a table with value, status and basis")
    return Setting(tenant_ref, key, str(value))


def set_facts(case: Case, settings: Sequence[Setting], name: str) -> int:
    """Record facts that `name` sets, in the case and, by key and digest, in the custody log; returns their number.

    Raises UsageError for a key that is unknown or comes from the evidence, a customer that is not there, or no name.
    """
    if not settings:
        return 0
    if not name.strip():
        raise UsageError("facts are set by somebody: give --by NAME")
    refs = set(load_pseudonyms(case).tenants.values())
    for setting in settings:
        if setting.key in FIXED:
            raise UsageError(f"{setting.key} comes from the evidence and cannot be set")
        if setting.key not in (*KEYS, *ADDRESS):
            raise UsageError("there is no such field; fields.json of a draft lists them all")
        if setting.key in ADDRESS and not setting.tenant_ref:
            raise UsageError(f"{setting.key} belongs to one customer: name it with --tenant, or in a table [T-XXXX]")
        if setting.status not in STATUSES:
            raise UsageError(f"a status is one of {', '.join(STATUSES)}")
        if setting.tenant_ref and setting.tenant_ref not in refs:
            raise UsageError("a customer is named by its pseudonym, as its folder in notify/ is")
        if len(setting.value) > _MOST_TEXT or (not setting.value.strip() and setting.status != "not_applicable"):
            raise UsageError(f"{setting.key} is empty or longer than {_MOST_TEXT:,} characters")
        if setting.key == "aware" and setting.status == "known":
            aware_time(setting.value)
    moment = datetime.now(UTC).replace(tzinfo=None)
    rows = [{**vars(s), "value": _plain(s), "name": name, "at": moment} for s in settings]
    schema = pa.schema([(key, pa.timestamp("us") if key == "at" else pa.string()) for key in rows[0]])
    with case.transaction():
        case.append("notice_facts", pa.Table.from_pylist(rows, schema=schema))
    for row in rows:
        whose = row["tenant_ref"] or "all letters"
        digest = hashlib.sha256(str(row["value"]).encode("utf-8", "surrogatepass")).hexdigest()
        value = f" {row['value']}" if row["key"] == "aware" else ""
        case.record("notify set", f"{row['key']} of {whose}", digest, reason=f"{row['status']}{value}, by {name}")
    return len(rows)


def _plain(setting: Setting) -> str:
    return aware_time(setting.value) if setting.key == "aware" and setting.status == "known" else setting.value


def clock_candidates(case: Case) -> list[tuple[str, str]]:
    """Moments that a person may take for the start of a clock, as (what, UTC). The tool chooses none of them."""
    found = []
    first = next(custody.read(case.custody_path), None)
    if first is not None:
        found.append(("the case was made", first.utc))
    for what, moment in case.rows("report/clock_candidates"):
        if moment is not None:
            found.append((what, moment))
    return found


# -- check ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LetterState:
    """How a letter stands. `unknown`: fields that nobody filled; `outdated`: the case now says something else."""

    tenant_ref: str
    kind: str
    version: int
    released: bool
    outdated: bool
    missing: tuple[str, ...]
    unknown: tuple[str, ...]


@dataclass(frozen=True)
class CheckResult:
    """What was checked and what was found."""

    files: int
    hits: tuple[Hit, ...]
    letters: tuple[LetterState, ...]


def check(case: Case, tenant_refs: Sequence[str] = ()) -> CheckResult:
    """Check every file in `report/` and `notify/` and the trace as they are now, and each letter for what it lacks.

    With `tenant_refs` only these letters. Writes `egress_check.json` into the folder of each letter that passes.
    Raises HashMismatch where a released file is not what was released.
    """
    notices = _chosen(case, tenant_refs)
    _check_released(case)
    files = _lying(case, ["report", "notify"] if not tenant_refs else [f"notify/{n.tenant_ref}" for n in notices])
    trace = case.out / "trace.json"  # it is made to leave the house too
    if not tenant_refs and trace.is_file():
        files["out/trace.json"] = trace.read_bytes()
    allowed = allowed_texts(case)
    hits = held_back(case, files, allowed.texts)
    states = tuple(_state(case, notice) for notice in notices)
    for state in states:
        folder = f"notify/{state.tenant_ref}/"
        mine = {path: data for path, data in files.items() if path.startswith(folder)}
        path = folder + file_name("egress_check.json", state.version)
        if mine and not any(hit.path.startswith(folder) for hit in hits) and not state.released:
            body = {
                "schema": "forensics.egress_check/1.0",
                "passed": True,
                "files": {name: hashlib.sha256(data).hexdigest() for name, data in mine.items() if name != path},
                "texts_compared": case.count("contents"),
                "words_of_our_own": dict(allowed.digests),
            }
            case.write(path, orjson.dumps(body, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS) + b"\n")
    return CheckResult(len(files), tuple(hits), states)


def _chosen(case: Case, tenant_refs: Sequence[str]) -> list[Notice]:
    """Letters on record, as the case would draft them now. Raises MissingInput where there are none."""
    # Every letter that was ever drafted is looked at: those to unaffected customers are on record too.
    notices = [n for n in render_notices(case, Settings()) if not n.new or n.version > 1]
    known = {notice.tenant_ref for notice in notices}
    if strange := [ref for ref in tenant_refs if ref not in known]:
        shown = strange[0] if _TENANT_REF.fullmatch(strange[0]) else "that name"
        raise MissingInput(f"there is no letter for {shown}; `forensics notify draft CASE` writes letters")
    if not notices:
        raise MissingInput("there are no letters; `forensics notify draft CASE` writes them")
    return [notice for notice in notices if not tenant_refs or notice.tenant_ref in tenant_refs]


def _lying(case: Case, folders: Sequence[str]) -> dict[str, bytes]:
    """Files of the folders as they lie there, by path; links are not followed."""
    return {
        path.relative_to(case.root).as_posix(): path.read_bytes()
        for folder in folders
        for path in sorted((case.root / folder).rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


def _on_record(notice: Notice) -> int:
    """The version that lies there: a draft that would be new is not written yet."""
    return notice.version - 1 if notice.new else notice.version


def _state(case: Case, notice: Notice) -> LetterState:
    version = _on_record(notice)
    folder = case.root / "notify" / notice.tenant_ref
    missing = tuple(file_name(name, version) for name in FILES if not (folder / file_name(name, version)).is_file())
    released = any(row[0] == notice.tenant_id and row[1] == version for row in case.rows("report/released_files"))
    unknown = () if missing else _unknown(folder, version, notice)
    return LetterState(notice.tenant_ref, notice.kind, version, released, notice.new, missing, unknown)


def _unknown(folder: Path, version: int, notice: Notice) -> tuple[str, ...]:
    """Fields that the letter shows as unknown, as its files say: a person may have edited them."""
    text = (folder / file_name("letter.md", version)).read_text(encoding="utf-8", errors="replace")
    left = text.replace("\\", "").count(UNKNOWN)
    return notice.unknown if left else ()


def _check_released(case: Case) -> None:
    tenant_refs = load_pseudonyms(case).tenants
    for tenant_id, _, file, sha256 in case.rows("report/released_files"):
        path = case.root / "notify" / tenant_refs[tenant_id] / file
        if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != sha256:
            raise HashMismatch(f"notify/{tenant_refs[tenant_id]}/{file} is not the file that was released")


# -- release ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Released:
    """A released letter and the digest of each of its files."""

    tenant_ref: str
    version: int
    files: dict[str, str]


def release(
    case: Case, tenant_refs: Sequence[str], prepared_by: str, approved_by: str, acknowledged: Sequence[str] = ()
) -> tuple[list[Released], list[Hit]]:
    """Release the letters (all that are not yet released, where none is named); returns them, or the hits that stop it.

    Raises UsageError where names are missing or the same, where a letter lacks files, is not what the case says now, or
    shows an unknown field that is not in `acknowledged`.
    """
    if not prepared_by.strip() or not approved_by.strip():
        raise UsageError("a release needs --prepared-by and --approved-by")
    if _same(prepared_by, approved_by):
        raise UsageError("a release needs two people: --prepared-by and --approved-by are the same")
    _check_released(case)
    notices = [n for n in _chosen(case, tenant_refs) if not n.released]
    if not notices:
        raise UsageError("these letters are released already; what is found later makes a new version")
    for notice in notices:
        _ready(_state(case, notice), set(acknowledged))
    files: dict[str, bytes] = {}
    for notice in notices:
        parts = (*FILES, CHANGES) if notice.version > 1 else FILES
        names = {file_name(name, notice.version) for name in parts}
        for path, data in _lying(case, [f"notify/{notice.tenant_ref}"]).items():
            if path.rpartition("/")[2] in names:
                files[path] = undrafted(path, data)
    hits = held_back(case, files, allowed_texts(case).texts)
    if hits:
        return [], hits
    return [_release(case, n, files, prepared_by, approved_by, acknowledged) for n in notices], []


def undrafted(path: str, data: bytes) -> bytes:
    """A letter without the mark that says it is a draft; other files as they are."""
    if path.endswith(".html"):
        return re.sub(rb'<p class="draft">.*?</p>\n?', b"", data, count=1, flags=re.DOTALL)
    if path.rpartition("/")[2].startswith("letter") and path.endswith(".md"):
        return re.sub(rb"\A\*\*[^\n]*\*\*\n\n?", b"", data, count=1)
    return data


def _ready(state: LetterState, acknowledged: set[str]) -> None:
    if state.missing:
        raise UsageError(f"the letter for {state.tenant_ref} lacks {state.missing[0]}; draft it again")
    if state.outdated:
        raise UsageError(f"the case now says something else to {state.tenant_ref}; draft it again")
    open_fields = [key for key in state.unknown if key not in acknowledged]
    if open_fields:
        raise UsageError(
            f"the letter for {state.tenant_ref} shows {len(open_fields)} unknown fields: {', '.join(open_fields)}; "
            "fill them (`notify draft --fill`), or acknowledge each with --acknowledge KEY"
        )


def _release(
    case: Case,
    notice: Notice,
    files: Mapping[str, bytes],
    prepared_by: str,
    approved_by: str,
    acknowledged: Sequence[str],
) -> Released:
    folder = f"notify/{notice.tenant_ref}/"
    mine = {path.removeprefix(folder): data for path, data in sorted(files.items()) if path.startswith(folder)}
    digests = {name: hashlib.sha256(data).hexdigest() for name, data in mine.items()}
    unknown = sorted(set(notice.unknown) & set(acknowledged))
    for name, data in mine.items():
        case.write(folder + name, data).chmod(0o400)
    moment = datetime.now(UTC).replace(tzinfo=None)
    rows = [
        {
            "tenant_id": notice.tenant_id,
            "version": notice.version,
            "file": name,
            "sha256": sha256,
            "prepared_by": prepared_by,
            "approved_by": approved_by,
            "acknowledged": unknown,
            "at": moment,
        }
        for name, sha256 in digests.items()
    ]
    with case.transaction():
        case.append("notice_releases", pa.Table.from_pylist(rows, schema=case.table("notice_releases").schema))
    why = f"prepared by {prepared_by}, approved by {approved_by}"
    why += f"; unknown and acknowledged: {', '.join(unknown)}" if unknown else ""
    for name, sha256 in digests.items():
        case.record("notify release", folder + name, sha256, reason=why)
    return Released(notice.tenant_ref, notice.version, digests)


def _same(one: str, other: str) -> bool:
    first, second = ("".join(unicodedata.normalize("NFKC", name).casefold().split()) for name in (one, other))
    return first == second
