"""The first stage: evidence files into the tables of the case. What happened to every byte is counted.

Files that the case has read already are not read again; whatever was added, the joins are made anew.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from threading import Lock
from typing import Any
from zoneinfo import ZoneInfo

import orjson

from forensics.case.errors import MissingInput, NothingReadable, UsageError
from forensics.case.stage import Summary, run_stage
from forensics.case.store import Case
from forensics.ingest.archives import Unfolder
from forensics.ingest.cloudflare import key_of
from forensics.ingest.files import EvidenceFile, find_evidence, stretch_digest, unchanged
from forensics.ingest.profile_files import check_profiles
from forensics.ingest.reader import LIMIT_REASONS, Account, Reading
from forensics.ingest.registry import registry

Progress = Callable[[str, int, int], None]

_READ_TABLES = (
    "evidence",
    "rejects",
    "records",
    "record_ids",
    "record_contents",
    "record_chunks",
    "record_settings",
    "engine_events",
    "kv_events",
    "contents",
    "requests",
    "joined_requests",
    "request_contents",
    "chunks",
    "request_settings",
)
# Rows of the evidence table that are appended at a time: an archive may hold very many files.
_FILES_AT_ONCE = 500
# Below this much content, starting other processes takes longer than the reading.
_PARALLEL_BYTES = 64 << 20
_USUAL_RATIO = 6
_WORKER_BYTES = 384 << 20
_HASH_THREADS = 2
NOTICES = {
    "lone_surrogate": "records hold escapes of half a character; each became U+FFFD",
    "lenient_json": "records are JSON only by lenient rules (NaN, Infinity or raw control characters); they were read",
    "byte_order_mark": "records begin with a byte order mark; it was passed over",
    "yearless_time": "times name no year; it was taken from the date of their file",
    "no_year": "times name no year, and nothing tells it; they count as unknown",
    "unreadable_time": "times could not be read; they count as unknown",
    "unknown_vantage": "records name a vantage that is none of client, gateway, engine; they count as gateway",
    "stray_chunk": "streams hold chunks with another id than their own; these stand as choices of their own",
    "bad_bytes": "captures hold bytes that are no UTF-8; each became U+FFFD",
    "stream_cut_by_limit": "captured streams are longer than can be held; each was cut there, and its parts are "
    "records of their own",
    "stream_differs": "streams end with an event that repeats the answer and differs from it; both texts are kept",
    "made_id": "calls have no id of their own; each is named by the digest of its record",
    "undecoded_body": "bodies are in an encoding that cannot be decoded; they count as not logged",
    "unreadable_body": "bodies of captured calls are no JSON and no stream; they count as not logged",
    "websocket_capture": "captured WebSocket connections were not read",
    "unreadable_event": "streams hold events that could not be read",
    "unreadable_entry": "records inside batches and documents could not be read; the others of the batch were",
    "document_too_long": "JSON documents are longer than --max-line-bytes; they were read line by line",
    "message_left_out": "lines are not in a journal's export, which leaves out long ones; export with --all",
    "split_character": "characters were lost where Docker cut a line; U+FFFD stands for their bytes",
    "unfinished_line": "lines came in pieces of which the last is missing",
    "newest_first": "files hold their lines newest first; records over several lines need them oldest first",
    "parser_error_at_end": "readers failed at the end of a file; unfinished records are lost, please report it",
    "undecodable_field": "fields could not be decoded as their profile says; they were left as they are",
    "key_does_not_fit": "encrypted fields could not be opened with the private key given",
    "call_given_out_early": "calls over several rows were given out before the end of the file, as very many were open",
    "unmatched_rest": "lines of texts go on behind what their profile's expression takes; the rest was not read",
    "unknown_body": "bodies, or messages in them, have no known form; their texts were not read",
    "cut_list": "lists of an engine fact were cut to 64 entries",
    "archive_link": "entries of archives are links; they were not followed",
    "archive_special": "entries of archives are devices, pipes or labels; they were left out",
    "archive_unlisted": "members of zip files are not in the directory of the file; they were read all the same",
    "cut_message": "messages of several lines break off; what was read of them is not kept",
    "cut_body": "request bodies are cut at the log's limit and hold no text that can be read",
    "open_calls_closed": "calls were still open when thousands of later ones were; they end where they stood",
    "deltas_of_several_answers": "streams print several answers under one id and no number; they cannot be told apart",
    "missing_choice": "calls print fewer answers than they asked for; the numbers of the others may be off",
    "equal_longest_texts": "logs hold several texts of one greatest length, as a limit on logged texts cuts them; "
    "they may be cut",
    "no_json_form": "columns of tables hold values that have no form in JSON; they count as not there",
    "dropped_attributes": "spans lost attributes to a limit; texts of theirs that look whole count as truncated",
    "dropped_events": "spans lost events to a limit; messages or chunk times of theirs may be missing",
    "trace_without_root": "traces of an engine lack their root; their events name no request",
    "trace_given_out_early": "traces of an engine were given out before the end of the file, as very many were open",
    "openai_line_without_rid": "lines of the OpenAI entry point carry no rid; the engine's own lines hold the call",
}


@dataclass(frozen=True)
class Parameters:
    """What to read and how. `tenants` is the CSV of design section 8; sizes are bytes; `max_rejects` counts lines.

    `max_ratio` and `max_bytes` bound what one given file may unfold into, `max_members` the entries of archives in it,
    `max_depth` how many archives, and how many compressions, may lie around each other.
    """

    evidence: tuple[Path, ...]
    tenants: Path | None = None
    isolate_by: str = "tenant"
    time_zone: str = "UTC"
    format: str | None = None
    max_rejects: int | None = None
    max_line_bytes: int = 256 << 20
    max_ratio: int = 1000
    max_bytes: int = 1 << 40
    max_members: int = 100_000
    max_depth: int = 4
    workers: int = 2
    time_zone_declared: bool = False
    profiles: tuple[str, ...] = ()  # TOML of the user's own profiles
    private_keys: tuple[Path, ...] = ()  # PEM files of keys that open encrypted fields
    infer_zones: bool = True
    allow_pickle: bool = False  # read what pickles say of their data, without running them


def run(case: Case, parameters: Parameters, progress: Progress | None = None) -> Summary:
    """Read the evidence into the case.

    Raises MissingInput, UsageError; NothingReadable, after the counts are in the case, where not one record could be
    read or more lines were rejected than `max_rejects` allows. A file cut by a limit sets the figure `partial`.
    """
    _check(parameters)
    files, notes = find_evidence(parameters.evidence, case.root)
    if not files:
        raise MissingInput("the folders given hold no files; give evidence files or folders")
    tenants, tenants_digest = _tenants(case, parameters)
    hashed = _hash(files, progress)
    reading = Reading(
        parameters.format,
        parameters.time_zone,
        parameters.max_line_bytes,
        parameters.max_ratio,
        parameters.max_bytes,
        parameters.max_members,
        parameters.max_depth,
        parameters.profiles,
        tuple(key_of(path) for path in parameters.private_keys),
        parameters.allow_pickle,
    )
    files_known = case.rows("ingest/known_files")
    known = {row[1]: row[0] for row in files_known}
    given_before = {row[1] for row in files_known if row[3] is None}
    anew = _must_read_anew(case, reading, given_before, set(hashed))
    fresh: dict[str, EvidenceFile] = {}
    before: list[str] = []
    twice: list[str] = []
    for file, sha256 in zip(files, hashed, strict=True):
        if sha256 in known and not anew:
            before.append(sha256[:12])
        elif sha256 in fresh:
            twice.append(sha256[:12])
        else:
            fresh[sha256] = file
    notes += _left_out(before, twice)

    def work() -> tuple[dict[str, Any], tuple[str, ...]]:
        if anew:
            case.clear(_READ_TABLES)
        if tenants is not None:
            case.clear(("tenants",))
            case.append("tenants", tenants)
        with _private_folder(case) as folder:
            unfolder = Unfolder(folder, reading, () if anew else known, fresh)
            accounts = _read(case, fresh, 0 if anew else len(files_known), unfolder, folder, parameters, progress)
        figures, warnings = _conclude(case, accounts, parameters)
        return figures, (*_left_out(unfolder.before, unfolder.twice, "member(s) of archives"), *warnings)

    body = {
        "reading": reading.saved(),
        "isolate_by": parameters.isolate_by,
        "infer_zones": parameters.infer_zones,
        "tenants": tenants_digest,
    }
    everything = sorted(given_before | set(fresh))
    extra = hashlib.sha256(orjson.dumps(everything)).hexdigest()
    summary = run_stage(case, "ingest", body, (), (), work, extra)
    if not summary.skipped:
        case.record_all([("ingest", file.name, sha256, "") for sha256, file in fresh.items()])
        if parameters.allow_pickle:
            case.record("allow-pickle", "ingest", reason="pickles were read as data, none was run")
    summary = replace(summary, warnings=(*notes, *summary.warnings))
    _refuse(summary, parameters)
    return summary


@contextmanager
def _private_folder(case: Case) -> Iterator[Path]:
    """A folder of the case for copies of archive members; what an interrupted run left there goes first."""
    folder = case.root / "restricted" / "members"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _left_out(before: Sequence[str], twice: Sequence[str], what: str = "file(s)") -> list[str]:
    notes = []
    if before:
        notes.append(f"{len(before)} {what} were read before, nothing new in them: sha256 {_few(before)}")
    if twice:
        notes.append(f"{len(twice)} {what} hold the same bytes as another and were read once: sha256 {_few(twice)}")
    return notes


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (" ..." if len(names) > 3 else "")


def _check(parameters: Parameters) -> None:
    check_profiles(parameters.profiles)
    names = registry(parameters.profiles).names
    if parameters.format is not None and parameters.format not in names:
        raise UsageError(f"--format must be one of {', '.join(names)}")
    if parameters.isolate_by not in ("tenant", "user"):
        raise UsageError("--isolate-by must be tenant or user")
    limits = (parameters.max_line_bytes, parameters.max_ratio, parameters.max_bytes, parameters.max_members)
    if min(*limits, parameters.max_depth, parameters.workers) < 1:
        raise UsageError("limits and the number of workers must be at least 1")
    try:
        ZoneInfo(parameters.time_zone)
    except (KeyError, ValueError, OSError):
        raise UsageError("--time-zone must be a zone of the tz database, for example Europe/Berlin") from None


def _tenants(case: Case, parameters: Parameters) -> tuple[Any, str]:
    """The tenants table, if one is given, and its digest; else the digest of the one that the case holds."""
    if parameters.tenants is None:
        return None, str(_saved(case).get("tenants", ""))
    from forensics.ingest.tenants import read_tenants

    table = read_tenants(parameters.tenants)
    return table, hashlib.sha256(parameters.tenants.read_bytes()).hexdigest()


def _saved(case: Case) -> dict[str, Any]:
    for row in case.rows("schema/stage_rows"):
        if row[0] == "ingest":
            saved: dict[str, Any] = orjson.loads(row[2])
            return saved
    return {}


def _must_read_anew(case: Case, reading: Reading, known: set[str], given: set[str]) -> bool:
    """Whether the evidence was read in another way before. Raises UsageError where it is not all given again."""
    saved = _saved(case).get("reading")
    if not known or saved is None or saved == orjson.loads(orjson.dumps(reading.saved())):
        return False
    if not known <= given:
        raise UsageError(
            "the case was read with another format, time zone or limit; give all of its evidence again, or a new --case"
        )
    return True


def _hash(files: Sequence[EvidenceFile], progress: Progress | None) -> list[str]:
    total = sum(file.size for file in files)
    done = 0
    lock = Lock()

    def report(size: int) -> None:
        nonlocal done
        with lock:
            done += size
            if progress is not None:
                progress("hash", done, total)

    with ThreadPoolExecutor(_HASH_THREADS) as threads:
        # The size as it was found: a log that still grows has a fixed end.
        return list(threads.map(lambda file: stretch_digest(file.path, 0, file.size, report), files))


def _read(
    case: Case,
    fresh: dict[str, EvidenceFile],
    first: int,
    unfolder: Unfolder,
    folder: Path,
    parameters: Parameters,
    progress: Progress | None,
) -> list[Account]:
    from forensics.ingest.pool import Work, results
    from forensics.ingest.writer import Writer

    opened: list[Account] = []

    def work() -> Iterator[Work]:
        for sha256, file in fresh.items():
            for account, blocks in unfolder.open(file, sha256):
                opened.append(account)
                for block in blocks:
                    yield account, block
                yield account, None

    writer = Writer(case)
    content = 0
    for file in fresh.values():
        with file.path.open("rb") as source:
            plain = source.read(1).startswith((b"{", b"["))
        content += file.size * (1 if plain else _USUAL_RATIO)
    total = sum(file.size for file in fresh.values())
    done = 0
    index = first
    rows: list[dict[str, Any]] = []
    # More processes than cores gain nothing, and each holds a few blocks and its cache of texts.
    workers = min(parameters.workers, os.cpu_count() or 1, max(1, case.resources.memory_bytes // _WORKER_BYTES))
    for item in results(work(), workers, folder, parallel=content > _PARALLEL_BYTES):
        account = item.account
        if item.result is not None:
            writer.add(index, item.result, account.lines)
            account.add(item.result)
        elif item.passed is not None:
            passed = item.passed
            writer.reject(index, passed.offset, passed.length, account.lines, passed.reason, passed.sha256)
            account.pass_over(passed)
        else:
            account.check()
            if not unchanged(account.file):
                account.notices["changed"] = 1
            unfolder.done(account.file)
            rows.append(_row(index, account, parameters))
            if len(rows) >= _FILES_AT_ONCE:
                case.append("evidence", _table(rows))
                rows = []
            index += 1
            done += account.file.size if account.file.container_sha256 is None else 0
        if progress is not None:
            within = account.content_bytes if account.compression == "none" and item.result is not None else 0
            if account.file.budget is not None:
                within = account.file.budget.read
            progress("ingest", min(done + within, total), total)
    writer.flush()
    if rows:
        case.append("evidence", _table(rows))
    return opened


def _row(index: int, account: Account, parameters: Parameters) -> dict[str, Any]:
    basis = "absolute"
    if account.naive_times:
        basis = "declared" if parameters.time_zone_declared or parameters.time_zone != "UTC" else "assumed"
    return {
        "evidence": index,
        "name": account.file.name,
        "sha256": account.sha256,
        "bytes": account.file.size,
        "compression": account.compression,
        "content_bytes": account.content_bytes,
        "format": account.format,
        "format_reason": account.detected.reason,
        "time_zone": parameters.time_zone,
        "time_zone_basis": basis,
        "first_at": None,
        "last_at": None,
        "records": account.records,
        "repeated": 0,
        "rejected": account.rejected,
        "blank": account.blank,
        "structure": account.structure,
        "record_bytes": account.record_bytes,
        "rejected_bytes": account.rejected_bytes,
        "blank_bytes": account.blank_bytes,
        "structure_bytes": account.structure_bytes,
        "complete": account.complete,
        "container_sha256": account.file.container_sha256,
    }


def _table(rows: Sequence[dict[str, Any]]) -> Any:
    import pyarrow as pa

    times = {"first_at": pa.timestamp("us"), "last_at": pa.timestamp("us")}
    types = {**times, "year_basis": pa.string(), "container_sha256": pa.string()}
    return pa.table({name: pa.array([row[name] for row in rows], types.get(name)) for name in rows[0]})


def _conclude(
    case: Case, accounts: Sequence[Account], parameters: Parameters
) -> tuple[dict[str, Any], tuple[str, ...]]:
    from forensics.ingest.advice import read_advice
    from forensics.ingest.clocks import zone_warnings
    from forensics.ingest.figures import figures_of
    from forensics.ingest.join import drop_scratch, rebuild

    zones = rebuild(case, parameters.isolate_by, parameters.infer_zones)
    figures, warnings = figures_of(case)
    figures["zones"] = [{**asdict(zone), "zone": zone.zone} for zone in zones]
    warnings += zone_warnings(zones)
    case.clear(("advice",))
    case.append("advice", read_advice())
    drop_scratch(case)
    notices: dict[str, int] = {}
    for account in accounts:
        for name, count in account.notices.items():
            notices[name] = notices.get(name, 0) + count
    figures["notices"] = dict(sorted(notices.items()))
    figures["partial"] = any(account.broken in LIMIT_REASONS for account in accounts)
    if notices.pop("changed", 0):
        warnings.append("a file changed while it was read; copy the evidence first, then read the copy")
    warnings += [f"{count} {NOTICES[name]}" for name, count in sorted(notices.items())]
    return figures, tuple(warnings)


def _refuse(summary: Summary, parameters: Parameters) -> None:
    figures = summary.figures
    if not figures["records"]:
        raise NothingReadable(
            f"not one record could be read from {len(figures['files'])} file(s); {figures['rejected']} lines were "
            "rejected. `forensics ask CASE rejects` shows why; docs/formats.md lists the formats"
        )
    if parameters.max_rejects is not None and figures["rejected"] > parameters.max_rejects:
        raise NothingReadable(
            f"{figures['rejected']} lines were rejected, more than --max-rejects {parameters.max_rejects} allows; "
            "`forensics ask CASE rejects` shows why"
        )
