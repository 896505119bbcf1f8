"""What a parser yields: records of inference calls and facts of an engine. Knows no format and no table.

A record says what one unit of evidence says and nothing else: joins, tenants from other sources and verdicts on
what can be examined come later, in SQL.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

# Best first: of two records of one call, the better state wins.
STATES = (
    "full",
    "truncated",
    "partial_stream",
    "redacted",
    "encrypted",
    "offloaded",
    "not_logged",
    "absent",
)
VANTAGES = ("gateway", "engine", "client")

# (side, field, role, text)
Text = tuple[str, str, str, str]
# (choice, seq, at in UTC microseconds or None, start, end): the code points of a choice's content that a chunk brought
Chunk = tuple[int, int, int | None, int, int]


class Reject(Exception):
    """This unit is no record. `reason` is one word of docs/formats.md; it never carries log text."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Place:
    """Where a unit stands in the decompressed file: byte offset, bytes, lines before it, SHA-256 of its bytes (hex)."""

    offset: int
    size: int
    line: int
    digest: str


@dataclass(slots=True)
class Record:
    """One call as one unit of evidence tells it. Times are UTC microseconds since 1970; None is unknown, never 0."""

    request_id: str | None
    vantage: str
    part: str = "whole"  # whole | received | received_openai | finished | events
    ids: dict[str, str] = field(default_factory=dict)
    tenant_id: str | None = None
    user_id: str | None = None
    endpoint: str | None = None
    model: str | None = None
    worker: str | None = None
    dp_rank: int | None = None
    received_at: int | None = None
    first_token_at: int | None = None
    finished_at: int | None = None
    time_precision: str | None = None
    latency_us: int | None = None
    status: str | None = None
    finish_reason: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    stream: bool | None = None
    prompt_state: str = "absent"
    response_state: str = "absent"
    texts: Sequence[Text] = ()
    chunks: Sequence[Chunk] = ()
    sampling: str | None = None  # JSON: parameters that the answer was sampled with, by SGLang's names
    input_ids: array[int] | None = None  # tokens of the whole prompt, in the engine's vocabulary
    output_ids: array[int] | None = None  # those of the answer
    place: Place | None = None  # None: the unit at hand; a reader that collects lines names the first of them


@dataclass(slots=True)
class Blocks:
    """Blocks that a prefix cache stored or removed, in their order. `ordinal` is the event's place in its batch, `seq`
    the batch's number; salt, adapter and session are digests. A hash is 64 signed bits; `size` is tokens of a block.
    """

    kind: str  # blocks_stored | blocks_removed | cache_flush | kv_seen: nothing happened, and the recorder was there
    ordinal: int
    seq: int | None = None
    rank: int | None = None
    size: int | None = None
    medium: str | None = None
    parent: int | None = None
    salt: str | None = None
    adapter: str | None = None
    session: str | None = None
    hashes: array[int] = field(default_factory=lambda: array("q"))


@dataclass(slots=True)
class EngineEvent:
    """One fact that an engine logged, without a call's texts. `counts` hold numbers, `attributes` short names and lists
    of such, never log text; `at` is UTC microseconds, None where the line has no time.
    """

    kind: str
    at: int | None = None
    worker: str | None = None
    request_id: str | None = None
    slot: str | None = None
    batch: str | None = None
    iteration: int | None = None
    counts: dict[str, int | float] = field(default_factory=dict)
    attributes: dict[str, Any] = field(default_factory=dict)
    place: Place | None = None
    blocks: Blocks | None = None  # what an event of a prefix cache says of its blocks


Item = Record | EngineEvent


@dataclass(slots=True)
class FileContext:
    """What a parser may know of the file and the unit it reads, and where it counts what it noticed there."""

    name: str
    zone: Any  # tzinfo that naive times are read in
    worker: str | None = None  # from the file's name
    modified_at: int | None = None  # of the file, UTC microseconds: the year of yearless times
    notices: dict[str, int] = field(default_factory=dict)
    naive_times: int = 0
    private_keys: tuple[Any, ...] = ()  # that open encrypted fields
    max_line_bytes: int = 256 << 20  # what joins lines holds no more than this
    told: set[str] = field(default_factory=set)  # what a parser says once for a stretch of a file, and has said
    # Of the unit at hand:
    place: Place | None = None
    at: int | None = None  # the wrapper's time, UTC microseconds
    source: str | None = None  # the wrapper's name of who wrote it: container, host, unit
    times: Sequence[int | None] | None = None  # the wrapper's time of each line of the unit

    def notice(self, name: str, count: int = 1) -> None:
        """Count something a reader of the result should know."""
        self.notices[name] = self.notices.get(name, 0) + count


# A recognised unit that is not a record.
STRUCTURE: tuple[Item, ...] = ()
# A unit that belongs to a record which comes later; it counts as a record's.
HELD: Sequence[Item] = []
