"""Which rules of notification may a customer's country bring, and when would their clocks run out?

Rules are data files (`regimes/*.toml`): deadlines, fields, articles, the state of the law they summarise. A customer's
country only makes them candidates; whether one applies is for lawyers. A clock counts from an event: the sender's
awareness, which a person alone sets, or something that only others know; those have no date here.
"""

from __future__ import annotations

import tomllib
from calendar import monthrange
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cache
from importlib.resources import files
from typing import Any

from forensics.report.render import languages

SCHEMA = "forensics.regime/1"
UNITS = ("hours", "days", "business_days", "months")
NOTE = "candidates by the customer's country; a person decides which apply, and sets when the sender was aware"
STARTS = (
    "sender_aware",
    "recipient_aware",
    "residents_told",
    "materiality_decided",
    "incident_notified",
    "classified_as_major",
    "initial_sent",
    "intermediate_sent",
)


@dataclass(frozen=True)
class Clock:
    """A deadline: `amount` `unit`s after `starts`, or without a number (None)."""

    name: str
    to: str
    starts: str
    article: str
    text: str
    amount: int | None
    unit: str | None


@dataclass(frozen=True)
class Field:
    """A fact that a rule asks for, and the keys of `fields` that hold it."""

    name: str
    article: str
    keys: tuple[str, ...]


@dataclass(frozen=True)
class Regime:
    """One rule. `countries`: ISO 3166-1, groups resolved; `as_of`: the state of the law that was summarised. Title,
    articles and clocks are in the language asked for where the file has it (`title_zh`); all else is English."""

    id: str
    version: str
    title: str
    role: str
    countries: frozenset[str]
    article: str
    as_of: date
    source: str
    trigger: str
    clocks: tuple[Clock, ...]
    fields: tuple[Field, ...]

    @property
    def keys(self) -> frozenset[str]:
        """Every key that the rule asks for."""
        return frozenset(key for field in self.fields for key in field.keys)


@cache
def regimes(language: str = "en") -> tuple[Regime, ...]:
    """Every shipped rule, sorted by id."""
    return tuple(sorted((_regime(_read(name), language) for name in _names()), key=lambda regime: regime.id))


@cache
def not_shipped(language: str = "en") -> tuple[tuple[str, frozenset[str], str], ...]:
    """Name, countries and reason of each rule that is known of and not shipped."""
    listed = _read("not_shipped.toml")["regime"]
    return tuple((_said(item, "name", language), _resolved(item["countries"]), item["why"]) for item in listed)


def country_code(value: str | None) -> str | None:
    """`DE`, `US-CA` from a cell of the tenants file; None where it is no ISO 3166 code."""
    code = (value or "").strip().upper().replace("_", "-")
    code = {"UK": "GB", "EL": "GR"}.get(code, code)
    parts = code.split("-")
    if len(parts[0]) == 2 and parts[0].isalpha() and parts[0].isascii() and len(parts) <= 2:
        return code
    return None


def chosen(countries: tuple[str, ...], language: str = "en") -> tuple[Regime, ...]:
    """Rules that a customer in these countries may fall under; a country's rules hold in its parts too."""
    wanted = set(countries) | {code.partition("-")[0] for code in countries}
    return tuple(regime for regime in regimes(language) if regime.countries & wanted)


def left_out(countries: tuple[str, ...], language: str = "en") -> tuple[str, ...]:
    """Names of rules that these countries may bring and that are not shipped."""
    wanted = {code.partition("-")[0] for code in countries}
    return tuple(name for name, where, _ in not_shipped(language) if not where or where & wanted)


def deadline(clock: Clock, aware: datetime | None) -> datetime | None:
    """When the clock would run out, UTC; None where its start is not known or it names no number.

    Months end on the last day where the month is shorter. Business days are Monday to Friday; holidays are not known.
    """
    if clock.starts != "sender_aware" or aware is None or clock.amount is None:
        return None
    aware = aware.astimezone(UTC)
    if clock.unit == "hours":
        return aware + timedelta(hours=clock.amount)
    if clock.unit == "days":
        return aware + timedelta(days=clock.amount)
    if clock.unit == "months":
        month = aware.month - 1 + clock.amount
        year, month = aware.year + month // 12, month % 12 + 1
        return aware.replace(year=year, month=month, day=min(aware.day, monthrange(year, month)[1]))
    moment, left = aware, clock.amount
    while left:
        moment += timedelta(days=1)
        left -= moment.weekday() < 5
    return moment


def overview(countries: tuple[str, ...], facts: dict[str, Any], aware: datetime | None) -> dict[str, Any]:
    """What `regimes.json` of a letter holds: candidates, clocks, and how far each mandatory field is known."""
    return {
        "schema": "forensics.duties/1.0",
        "countries": list(countries),
        "note": NOTE,
        "regimes": [
            {
                "id": regime.id,
                "version": regime.version,
                "title": regime.title,
                "role": regime.role,
                "article": regime.article,
                "as_of": regime.as_of.isoformat(),
                "source": regime.source,
                "trigger": regime.trigger,
                "clocks": [
                    {**vars(clock), "status": "candidate", "deadline_utc": _iso(deadline(clock, aware))}
                    for clock in regime.clocks
                ],
                "fields": [
                    {
                        "name": field.name,
                        "article": field.article,
                        "keys": {key: facts[key]["status"] for key in field.keys},
                    }
                    for field in regime.fields
                ],
            }
            for regime in chosen(countries)
        ],
        "not_shipped": list(left_out(countries)),
    }


def words_of_rules() -> tuple[str, ...]:
    """The words of the shipped rules and of what is said of them, in every language; letters quote them."""
    quoted = (
        text
        for language in languages()
        for regime in regimes(language)
        for text in (
            *(regime.title, regime.role, regime.article, regime.source, regime.trigger),
            *(part for clock in regime.clocks for part in (clock.name, clock.to, clock.article, clock.text)),
            *(part for field in regime.fields for part in (field.name, field.article)),
        )
    )
    return (*quoted, *(name for language in languages() for name, _, _ in not_shipped(language)), NOTE)


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _names() -> list[str]:
    found = (entry.name for entry in (files("forensics.report") / "regimes").iterdir())
    return sorted(name for name in found if name.endswith(".toml") and name not in ("groups.toml", "not_shipped.toml"))


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((files("forensics.report") / "regimes" / name).read_text(encoding="utf-8"))


def _resolved(countries: list[str]) -> frozenset[str]:
    groups = _read("groups.toml")
    return frozenset(code for name in countries for code in groups.get(name, name).split())


def _said(data: dict[str, Any], key: str, language: str) -> str:
    return str(data.get(f"{key}_{language}", data[key]))


def _regime(data: dict[str, Any], language: str) -> Regime:
    if not str(data["schema"]).startswith(SCHEMA):
        raise ValueError(f"a regime file with schema {data['schema']}")
    return Regime(
        id=data["id"],
        version=data["version"],
        title=_said(data, "title", language),
        role=data["role"],
        countries=_resolved(data["countries"]),
        article=_said(data, "article", language),
        as_of=data["as_of"],
        source=data["source"],
        trigger=data["trigger"],
        clocks=tuple(
            Clock(
                _said(c, "name", language),
                c["to"],
                c["starts"],
                _said(c, "article", language),
                _said(c, "text", language),
                c.get("amount"),
                c.get("unit"),
            )
            for c in data["clock"]
        ),
        fields=tuple(Field(f["name"], f["article"], tuple(f["keys"])) for f in data["field"]),
    )
