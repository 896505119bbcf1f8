"""What would a profile make of some evidence? Reads it as ingest would, into no case; judges nothing it did not read.

A trial answers how many records matched, which fields stayed empty, how three of the records came out, and what
would be missing for scoping. Texts are in it only where they were asked for.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from forensics.case.errors import MissingInput, UsageError
from forensics.ingest.blocks import Oversized
from forensics.ingest.cloudflare import PrivateKey, key_of
from forensics.ingest.files import EvidenceFile, find_evidence
from forensics.ingest.lines import LineReader
from forensics.ingest.profile_files import read_profiles
from forensics.ingest.profile_spec import read_spec
from forensics.ingest.reader import Reading, open_file
from forensics.ingest.record import HELD, EngineEvent, FileContext, Place, Record, Reject
from forensics.ingest.sglang import worker_of_file
from forensics.ingest.units import Unit, line_units, span_units
from forensics.ingest.worker import Block

SHOWN = (
    "request_id",
    "vantage",
    "tenant_id",
    "user_id",
    "endpoint",
    "model",
    "worker",
    "received_at",
    "first_token_at",
    "finished_at",
    "status",
    "finish_reason",
    "prompt_tokens",
    "completion_tokens",
    "cached_tokens",
    "stream",
)
EXAMPLES = 3
_LONGEST_VALUE = 120  # code points of an id, a path or a model's name
_MOST_LINE = 256 << 20
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Share of records without it -> what cannot be said then.
_NEEDED = {
    "tenant_id": "no tenant: nobody can be named or told; map tenant_id, or give --tenants with a key the records have",
    "received_at": "no received time: what was sent before cannot be told from what was sent later",
    "finished_at": "no finished time: give the end, or a [[duration]] from the start",
    "worker": "no worker: slots and batches cannot be tied to the calls",
    "prompt": "no prompt text: these calls can be no source, and nothing explains what is in the answer",
    "response": "no response text: foreign text in these answers cannot be found",
}


@dataclass
class Trial:
    """What came of it. `empty` is the share of records without a field; `examples` are mapped records."""

    name: str
    kind: str
    files: int = 0
    lines: int = 0
    matched: int = 0
    structure: int = 0
    other: int = 0  # read by another parser
    rejected: int = 0
    records: int = 0
    events: int = 0
    reasons: dict[str, int] = field(default_factory=dict)
    notices: dict[str, int] = field(default_factory=dict)
    states: dict[str, dict[str, int]] = field(default_factory=dict)
    empty: dict[str, float] = field(default_factory=dict)
    examples: list[dict[str, Any]] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)  # why files, or stretches of them, were not read at all

    @property
    def share(self) -> float | None:
        """Matched lines among those that are not blank; None without any."""
        return self.matched / self.lines if self.lines else None


def try_profile(
    path: Path,
    evidence: Sequence[Path],
    *,
    time_zone: str = "UTC",
    private_keys: Sequence[Path] = (),
    reveal: bool = False,
    most: int = 100_000,
) -> Trial:
    """Read up to `most` lines of the evidence with the profile in `path`. `private_keys` are PEM files.

    Without evidence only the profile and the keys are checked. Raises MissingInput and UsageError.
    """
    (toml,) = read_profiles((path,))
    spec = read_spec(toml, path.name)
    try:
        zone = ZoneInfo(time_zone)
    except (KeyError, ValueError, OSError):
        raise UsageError("--time-zone must be a zone of the tz database, for example Europe/Berlin") from None
    keys = tuple(key_of(key) for key in private_keys)
    trial = Trial(spec.name, "line" if spec.text else "object")
    if not evidence:
        return trial
    files, _ = find_evidence(tuple(evidence), path.parent / "no case")
    if not files:
        raise MissingInput("the folders given hold no files; give evidence files or folders")
    filled = dict.fromkeys((*SHOWN, "prompt", "response"), 0)
    for file in files:
        trial.files += 1
        _read_file(trial, file, toml, zone, keys, filled, reveal=reveal, most=most)
    if trial.records:
        trial.empty = {name: 1 - count / trial.records for name, count in filled.items()}
    trial.missing = list(_missing(trial))
    return trial


def _read_file(
    trial: Trial,
    file: EvidenceFile,
    toml: str,
    zone: ZoneInfo,
    keys: tuple[PrivateKey, ...],
    filled: dict[str, int],
    *,
    reveal: bool,
    most: int,
) -> None:
    reading = Reading(None, str(zone), _MOST_LINE, 1000, 1 << 40, 1, 1, (toml,), keys)
    account, blocks = open_file(file, "0" * 64, reading)
    context = FileContext(file.name, zone, worker_of_file(file.name), file.modified_ns // 1000, private_keys=keys)
    # With the name given, the reader would take every object for one of this profile: what is not must be seen.
    reader = LineReader(trial.name, context, profiles=(toml,))
    profile = reader.known.load(trial.name)
    for unit in _units(blocks):
        if trial.lines >= most:
            break
        if isinstance(unit, Oversized):
            trial.unread.append(account.detected.reason if unit.length == file.size else unit.reason)
            continue
        if unit.structure or (unit.reason is None and not unit.data.strip()):
            continue
        trial.lines += 1
        digest = unit.digest or hashlib.sha256(unit.data).hexdigest()
        context.place = Place(unit.offset, unit.size, unit.line, digest)
        context.at, context.source, context.times = unit.at, unit.source, unit.times
        reader.last = None
        try:
            if unit.reason is not None:
                raise Reject(unit.reason)
            items = reader.read(unit.data)
        except Reject as reject:
            trial.rejected += 1
            trial.reasons[reject.reason] = trial.reasons.get(reject.reason, 0) + 1
            continue
        if reader.last is not profile:
            trial.other += bool(items) or items is HELD
            trial.structure += not items and items is not HELD
            continue
        trial.matched += 1
        trial.structure += not items
        for item in items:
            if isinstance(item, EngineEvent):
                trial.events += 1
            else:
                _count(trial, item, filled, reveal=reveal)
    for name, count in context.notices.items():
        trial.notices[name] = trial.notices.get(name, 0) + count


def _units(blocks: Iterable[Block | Oversized]) -> Iterator[Unit | Oversized]:
    """The units of all blocks, whatever they are made of, and the stretches that are not read."""
    for block in blocks:
        if isinstance(block, Oversized):
            yield block
        elif block.units is not None:
            yield from block.units
        elif block.spans is not None:
            yield from span_units(block.data or b"", block.spans)
        else:
            yield from line_units((block,))


def _count(trial: Trial, record: Record, filled: dict[str, int], *, reveal: bool) -> None:
    trial.records += 1
    sides = {text[0] for text in record.texts}
    for name in filled:
        filled[name] += name in sides if name in ("prompt", "response") else getattr(record, name) is not None
    for side in ("prompt", "response"):
        states = trial.states.setdefault(side, {})
        state = getattr(record, f"{side}_state")
        states[state] = states.get(state, 0) + 1
    if len(trial.examples) < EXAMPLES:
        trial.examples.append(_example(record, reveal=reveal))


def _example(record: Record, *, reveal: bool) -> dict[str, Any]:
    """One record as people read it: ids, times and where texts are; the texts themselves only with `reveal`."""
    shown: dict[str, Any] = {}
    for name in SHOWN:
        value = getattr(record, name)
        if name.endswith("_at") and value is not None:
            value = (_EPOCH + timedelta(microseconds=value)).isoformat().replace("+00:00", "Z")
        shown[name] = value if reveal else _short(value)
    shown["ids"] = {kind: value if reveal else _short(value) for kind, value in record.ids.items()}
    shown["prompt_state"], shown["response_state"] = record.prompt_state, record.response_state
    shown["texts"] = [
        {"side": side, "field": place, "role": role, "code_points": len(text), **({"text": text} if reveal else {})}
        for side, place, role, text in record.texts
    ]
    return shown


def _short(value: Any) -> Any:
    """A value that is no text: a field that was mapped to one by mistake must not show it."""
    if isinstance(value, str) and len(value) > _LONGEST_VALUE:
        return f"({len(value)} code points)"
    return value


def _missing(trial: Trial) -> Iterator[str]:
    for why, count in sorted(Counter(trial.unread).items()):
        yield f"not read {count} times: {why}" if count > 1 else f"not read: {why}"
    if trial.unread and not trial.lines:
        yield "no line was read; a trial opens compressed files and tables, but no archives: unpack those first"
    elif not trial.records:
        yield "no record matched: check [detect] (or [text] regex) and [filter]"
    if not trial.records:
        return
    for name, sentence in _NEEDED.items():
        if trial.empty[name] > 0:
            without = round(trial.empty[name] * trial.records)
            yield f"{without} of {trial.records} records have {sentence}"
    if trial.other:
        yield f"{trial.other} lines were read as another format"
    if trial.rejected:
        yield f"{trial.rejected} lines could not be read"
