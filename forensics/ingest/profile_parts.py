"""What is a profile made of? Its rules as frozen parts. `profile_spec` reads them, `profile` applies them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from zoneinfo import ZoneInfo

from forensics.ingest.pointers import Pointer

PARTS = ("whole", "received", "finished")
FIELDS = (
    "request_id",
    "tenant_id",
    "user_id",
    "api_key",
    "endpoint",
    "model",
    "worker",
    "dp_rank",
    "status",
    "error",
    "finish_reason",
    "prompt_tokens",
    "completion_tokens",
    "cached_tokens",
    "stream",
)
TIMES = ("received", "first_token", "finished")
FORMS = ("auto", "s", "ms", "us", "ns", "ticks", "strptime")
UNITS = {"s": 1_000_000, "ms": 1_000, "us": 1, "ns": 0.001}
REQUEST_KEYS = ("body", "messages", "system", "prompt", "tools")
RESPONSE_KEYS = ("body", "choices", "content", "reasoning", "refusal", "tool_calls")


@dataclass(frozen=True)
class Condition:
    """All of it must hold. `filled`: the values that must say something; the others as in the language."""

    keys: tuple[Pointer, ...] = ()
    any_of: tuple[Pointer, ...] = ()
    none_of: tuple[Pointer, ...] = ()
    filled: tuple[Pointer, ...] = ()
    equal: tuple[tuple[Pointer, frozenset[str]], ...] = ()
    matches: tuple[tuple[Pointer, re.Pattern[str]], ...] = ()


@dataclass(frozen=True)
class TimeRule:
    """Where a time stands and in which form."""

    sources: tuple[Pointer, ...]
    form: str = "auto"
    pattern: str = ""


@dataclass(frozen=True)
class DurationRule:
    """A duration between two of the times; `unit` is `text` where the value has its own, as in `1.3s`."""

    sources: tuple[Pointer, ...]
    unit: str
    start: str
    end: str


@dataclass(frozen=True)
class Variant:
    """Everything a variant may say otherwise."""

    when: Condition | None
    vantage: str
    part: str
    fields: Mapping[str, tuple[Pointer, ...]]
    constants: Mapping[str, Any]
    ids: Mapping[str, tuple[Pointer, ...]]
    times: Mapping[str, TimeRule]
    durations: tuple[DurationRule, ...]
    request: Mapping[str, tuple[Pointer, ...]]
    response: Mapping[str, tuple[Pointer, ...]]
    zone: ZoneInfo | None  # of times without an offset


@dataclass(frozen=True)
class Lookup:
    """A table that turns a value into that of a field; without `sources` the field's own value is looked up."""

    field: str
    sources: tuple[Pointer, ...]
    table: Mapping[str, str]


@dataclass(frozen=True)
class StateRule:
    """What a body's state is where `when` holds, or where a text of it equals or contains something."""

    sides: tuple[str, ...]
    state: str
    when: Condition | None
    texts_equal: frozenset[str]
    texts_contain: tuple[str, ...]
    only_without_texts: bool


@dataclass(frozen=True)
class EventRule:
    """A fact of the engine that a record tells besides the call."""

    kind: str
    when: Condition | None
    at: str
    fields: Mapping[str, tuple[Pointer, ...]]
    counts: Mapping[str, tuple[Pointer, ...]]
    attributes: Mapping[str, tuple[Pointer, ...]]


@dataclass(frozen=True)
class TextRule:
    """How lines of a text log are cut into named parts."""

    patterns: tuple[re.Pattern[str], ...]
    structure: tuple[re.Pattern[str], ...]
    longest: int
    examples: tuple[str, ...]


@dataclass(frozen=True)
class Spec:
    """One profile."""

    name: str
    title: str
    versions: str
    source: str
    made_id: bool
    empty: frozenset[str]
    detect: tuple[Condition, ...]  # one of them must hold; none at all holds
    unwrap: tuple[Pointer, ...]
    decode: tuple[tuple[Pointer, tuple[str, ...]], ...]
    rename: tuple[tuple[Pointer, str], ...]
    extract: tuple[tuple[Pointer, re.Pattern[str]], ...]
    filter: Condition | None
    expand: tuple[Pointer, ...]
    headers: tuple[Pointer, ...]
    join: frozenset[str]
    lookups: tuple[Lookup, ...]
    states: tuple[StateRule, ...]
    events: tuple[EventRule, ...]
    text: TextRule | None
    variants: tuple[Variant, ...]  # the last has no condition

    @property
    def regexes(self) -> Iterable[re.Pattern[str]]:
        """Every regular expression in it that is not of the text rule."""
        conditions: list[Condition | None] = [*self.detect, self.filter, *(v.when for v in self.variants)]
        conditions += [rule.when for rule in self.states]
        conditions += [rule.when for rule in self.events]
        found = [pattern for condition in conditions if condition for _, pattern in condition.matches]
        return [*found, *(pattern for _, pattern in self.extract)]
