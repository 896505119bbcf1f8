"""What a parser yields: one record of one inference call. Knows no format and no table.

A record says what one line of evidence says and nothing else: joins, tenants from other sources and verdicts on
what can be examined come later, in SQL.
"""

from __future__ import annotations

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


class Reject(Exception):
    """This line is no record. `reason` is one word of docs/formats.md; it never carries log text."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(slots=True)
class Record:
    """One call as one line of evidence tells it. Times are UTC microseconds since 1970; None is unknown, never 0."""

    request_id: str | None
    vantage: str
    part: str = "whole"  # whole | received | received_openai | finished
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


@dataclass(slots=True)
class FileContext:
    """What a parser may know of the file it reads, and where it counts what it noticed there."""

    name: str
    zone: Any  # tzinfo that naive times are read in
    worker: str | None = None  # from the file's name
    notices: dict[str, int] = field(default_factory=dict)
    naive_times: int = 0
    modified_at: int | None = None  # of the file, UTC microseconds: the year of times that name none

    def notice(self, name: str) -> None:
        """Count something a reader of the result should know."""
        self.notices[name] = self.notices.get(name, 0) + 1


# A recognised line that is not a record.
STRUCTURE: tuple[Record, ...] = ()
