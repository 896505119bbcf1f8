"""What is kept of trials? `trials.jsonl`, one line per finished trial, and the texts that came back, apart from it.

    CASE/replay/<plan_id>/trials.jsonl                 no text: digests, counts, times
    CASE/restricted/replay/<plan_id>/responses.jsonl   {"sha256", "text"}: what a server said may be anybody's

Both only grow. A line that an interruption cut short is dropped when the run goes on, and that trial is run again.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson

from forensics.case.errors import HashMismatch, UsageError

SCHEMA = "forensics/replay-trial/1"
# How the requests of a trial end.
FINISHED, CANCELLED, REFUSED, HUNG, FAILED = "finished", "cancelled", "refused", "hung", "failed"


@dataclass(frozen=True)
class Exchange:
    """One request of a trial as it went. Times are milliseconds from the start of the scene; `text_sha256` names what
    came back, whole or not, with its length in code points. `error` is a word of ours."""

    key: str
    rid: str
    outcome: str
    finish: str | None
    status: int | None
    error: str
    prompt_tokens: int | None
    completion_tokens: int | None
    cached_tokens: int | None
    sent_ms: int
    first_ms: int | None
    done_ms: int
    text_sha256: str
    text_length: int


@dataclass(frozen=True)
class Trial:
    """One finished trial. `order`: keys as they were sent. `washout`: digest of what came back between the last trial
    and this one. `idle`: whether the server was empty afterwards (None: it does not tell)."""

    schema: str
    fragment_id: str
    arm: str
    trial: int
    seed: int
    server: dict[str, Any]
    order: tuple[str, ...]
    requests: tuple[Exchange, ...]
    washout: str
    idle: bool | None
    ms: int

    @property
    def id(self) -> tuple[str, str, int]:
        """What names a trial within its plan."""
        return self.fragment_id, self.arm, self.trial


def digest(text: str) -> str:
    """The name of a text, as it is stored."""
    return hashlib.sha256(_storable(text).encode()).hexdigest()


class Book:
    """The trials of one plan, open for adding. Use `Book.open`."""

    def __init__(self, trials: Path, responses: Path) -> None:
        self._trials, self._responses = trials, responses
        self.done: dict[tuple[str, str, int], Trial] = {}
        self._known: set[str] = set()

    @classmethod
    @contextmanager
    def open(cls, trials: Path, responses: Path, fresh: Sequence[Path] = ()) -> Iterator[Book]:
        """The book at these paths, for one process at a time; files of `fresh` are put aside first.

        Raises UsageError where another process runs this plan, HashMismatch where a line is none of ours.
        """
        for path in (trials, responses):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(trials.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise UsageError("another `forensics replay run` runs this plan; wait for it to end") from None
            _aside(fresh)
            book = cls(trials, responses)
            for path in (trials, responses):
                _mend(path)
            book._known = set(read_responses(responses))
            book.done = {trial.id: trial for trial in read_trials(trials)}
            yield book
        finally:
            os.close(lock)

    def add(self, trial: Trial, texts: list[str]) -> None:
        """Keep a finished trial: its texts first, so that no trial is without them."""
        new = {digest(text): text for text in texts}
        lines = [
            orjson.dumps({"sha256": name, "text": _storable(text)}) + b"\n"
            for name, text in sorted(new.items())
            if name not in self._known
        ]
        _append(self._responses, b"".join(lines))
        self._known |= new.keys()
        _append(self._trials, orjson.dumps(asdict(trial), option=orjson.OPT_SORT_KEYS) + b"\n")
        self.done[trial.id] = trial


def read_trials(path: Path) -> list[Trial]:
    """All trials of a file, in order. Raises HashMismatch for a line that is no trial."""
    found = []
    for number, line in enumerate(_lines(path), start=1):
        try:
            raw = orjson.loads(line)
            requests = tuple(Exchange(**one) for one in raw.pop("requests"))
            trial = Trial(**{**raw, "order": tuple(raw["order"]), "requests": requests})
        except (ValueError, TypeError, KeyError, AttributeError):
            raise HashMismatch(f"{path.name} line {number} is not a trial; --fresh puts the file aside") from None
        if trial.schema != SCHEMA:
            raise HashMismatch(f"{path.name} line {number} is of another version; --fresh puts the file aside")
        found.append(trial)
    return found


def read_responses(path: Path) -> dict[str, str]:
    """Texts by digest. Raises HashMismatch where one is not what its digest says."""
    found: dict[str, str] = {}
    for number, line in enumerate(_lines(path), start=1):
        try:
            row = orjson.loads(line)
            name, text = row["sha256"], row["text"]
        except (ValueError, TypeError, KeyError):
            raise HashMismatch(f"{path.name} line {number} is not a response; --fresh puts the file aside") from None
        if not isinstance(text, str) or digest(text) != name:
            raise HashMismatch(f"{path.name} line {number} was changed; --fresh puts the file aside")
        found[name] = text
    return found


def check_whole(trials: Sequence[Trial], responses: Mapping[str, str]) -> None:
    """Raises HashMismatch where a text is missing: no text must not be taken for text without a leak."""
    for trial in trials:
        if not {trial.washout, *(one.text_sha256 for one in trial.requests)} <= responses.keys():
            raise HashMismatch("responses.jsonl lacks what a trial was answered; --fresh puts the files aside")


def _aside(paths: Sequence[Path]) -> None:
    """Put the files of an earlier run aside, under the next free number; nothing is deleted."""
    number = 1
    while any(path.with_name(f"{path.stem}.{number}{path.suffix}").exists() for path in paths):
        number += 1
    for path in paths:
        if path.exists():
            path.rename(path.with_name(f"{path.stem}.{number}{path.suffix}"))


def _lines(path: Path) -> Iterator[bytes]:
    if path.exists():
        yield from (line for line in path.read_bytes().split(b"\n") if line)


def _mend(path: Path) -> None:
    """Drop what an interruption left of a last line."""
    if not path.exists():
        return
    data = path.read_bytes()
    whole = data.rfind(b"\n") + 1
    if whole != len(data):
        os.truncate(path, whole)


def _append(path: Path, data: bytes) -> None:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    with os.fdopen(file, "ab") as out:
        out.write(data)
        out.flush()
        os.fsync(out.fileno())


def _storable(text: str) -> str:
    """JSON holds no lone surrogates."""
    return text.encode("utf-8", "replace").decode("utf-8")
