"""Rules are data: every file is whole, every field that a rule asks for stands in the letter or is marked unknown."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from case_builder import SECRET, CaseBuilder
from letter_folders import folders

from forensics.report.duties import (
    STARTS,
    UNITS,
    Clock,
    Regime,
    chosen,
    country_code,
    deadline,
    left_out,
    not_shipped,
    regimes,
)
from forensics.report.fields import KEYS
from forensics.report.render import languages

IDS = (
    "appi california dora gdpr-controller gdpr-individuals gdpr-processor hipaa nis2 pipl sec-8k uk-gdpr-controller "
    "uk-gdpr-individuals uk-gdpr-processor"
).split()
AWARE = "2026-03-05T09:30:00Z"


def test_these_rules_are_shipped() -> None:
    assert [regime.id for regime in regimes()] == IDS
    assert len(not_shipped()) >= 8 and all(name and why for name, _, why in not_shipped())


@pytest.mark.parametrize("regime", regimes(), ids=lambda regime: regime.id)
def test_a_rule_is_whole(regime: Regime) -> None:
    assert regime.title and regime.role and regime.article and regime.source and regime.trigger
    assert date(2026, 1, 1) <= regime.as_of and regime.version
    assert regime.countries and all(len(code.partition("-")[0]) == 2 for code in regime.countries)
    assert regime.clocks and regime.fields
    for clock in regime.clocks:
        assert clock.starts in STARTS and clock.article and clock.to and clock.text
        assert (clock.amount is None) == (clock.unit is None) and (clock.unit is None or clock.unit in UNITS)
    for field in regime.fields:
        assert field.name and field.article and field.keys and set(field.keys) <= set(KEYS)


def words(text: str) -> list[str]:
    return re.findall(r"[a-z]{3,}", text)


@pytest.mark.parametrize("language", sorted(set(languages()) - {"en"}))
def test_a_letter_in_another_language_has_no_english_rule(language: str) -> None:
    names = {regime.id: regime for regime in regimes()}
    for regime in regimes(language):
        english = names[regime.id]
        assert not words(regime.title) and regime.title != english.title
        for clock, other in zip(regime.clocks, english.clocks, strict=True):
            assert not words(clock.name + clock.text) and clock.text != other.text
            assert (clock.starts, clock.amount, clock.unit) == (other.starts, other.amount, other.unit)
            assert set(re.findall(r"\d+", clock.text)) <= set(re.findall(r"\d+", other.text))
    for (name, *_), (other_name, *_) in zip(not_shipped(language), not_shipped(), strict=True):
        assert not words(name) and name != other_name


def test_a_language_that_no_rule_is_in_reads_english() -> None:
    assert regimes("xx") == regimes() and left_out(("CH",), "xx") == left_out(("CH",))


# The clocks by rule, written down again apart from the files; not by a lawyer.
@pytest.mark.parametrize(
    ("rule", "article", "amount", "unit"),
    [
        ("gdpr-controller", "33(1), 33(4)", 72, "hours"),
        ("gdpr-processor", "33(2)", None, None),
        ("gdpr-individuals", "34(1)", None, None),
        ("uk-gdpr-controller", "33(1), 33(4)", 72, "hours"),
        ("hipaa", "164.410", 60, "days"),
        ("hipaa", "164.404", 60, "days"),
        ("california", "1798.82(a)", 30, "days"),
        ("california", "1798.82(f)", 15, "days"),
        ("sec-8k", "Item 1.05", 4, "business_days"),
        ("nis2", "23(4)(a)", 24, "hours"),
        ("nis2", "23(4)(b)", 72, "hours"),
        ("nis2", "23(4)(d)", 1, "months"),
        ("dora", "19(4)(b)", 72, "hours"),
        ("dora", "19(4)(c)", 1, "months"),
        ("pipl", "57", None, None),
        ("appi", "Rules 8(1)", 5, "days"),
    ],
)
def test_deadlines_are_those_of_the_law(rule: str, article: str, amount: int | None, unit: str | None) -> None:
    [regime] = [r for r in regimes() if r.id == rule]
    assert (amount, unit) in [(c.amount, c.unit) for c in regime.clocks if c.article == article]


def test_countries_choose_rules_and_name_what_is_missing() -> None:
    ids = {
        country: {r.id for r in chosen((country,))} for country in ("DE", "NO", "GB", "US", "US-CA", "CN", "JP", "CH")
    }
    assert ids["DE"] == {"gdpr-controller", "gdpr-individuals", "gdpr-processor", "nis2", "dora"}
    assert ids["NO"] == {"gdpr-controller", "gdpr-individuals", "gdpr-processor"}
    assert ids["GB"] == {"uk-gdpr-controller", "uk-gdpr-individuals", "uk-gdpr-processor"}
    assert ids["US"] == ids["US-CA"] == {"hipaa", "california", "sec-8k"}
    assert (ids["CN"], ids["JP"], ids["CH"]) == ({"pipl"}, {"appi"}, set())
    assert any("Switzerland" in name for name in left_out(("CH",)))
    assert chosen(()) == ()


@pytest.mark.parametrize(
    ("cell", "code"),
    [("de", "DE"), (" US-CA ", "US-CA"), ("uk", "GB"), ("us_ca", "US-CA"), ("Germany", None), ("", None), (None, None)],
)
def test_country_codes(cell: str | None, code: str | None) -> None:
    assert country_code(cell) == code


@pytest.mark.parametrize(
    ("amount", "unit", "aware", "due"),
    [
        (72, "hours", "2026-03-05T09:30:00+00:00", "2026-03-08T09:30:00+00:00"),
        (72, "hours", "2026-03-28T12:00:00+01:00", "2026-03-31T11:00:00+00:00"),  # across a change of clocks
        (60, "days", "2026-01-01T00:00:00+00:00", "2026-03-02T00:00:00+00:00"),
        (1, "months", "2026-01-31T10:00:00+00:00", "2026-02-28T10:00:00+00:00"),
        (1, "months", "2026-12-15T10:00:00+00:00", "2027-01-15T10:00:00+00:00"),
        (4, "business_days", "2026-03-05T09:30:00+00:00", "2026-03-11T09:30:00+00:00"),  # Thursday to Wednesday
    ],
)
def test_deadlines_are_computed_in_utc(amount: int, unit: str, aware: str, due: str) -> None:
    clock = Clock("n", "t", "sender_aware", "a", "x", amount, unit)
    assert deadline(clock, datetime.fromisoformat(aware)) == datetime.fromisoformat(due).astimezone(UTC)
    assert deadline(clock, None) is None
    other = Clock("n", "t", "recipient_aware", "a", "x", amount, unit)
    assert deadline(other, datetime.fromisoformat(aware)) is None


def case_in(countries: tuple[str, ...], language: str | None = None) -> CaseBuilder:
    """One leak from a customer in each country."""
    b = CaseBuilder()
    for number, country in enumerate(countries):
        text = f"{SECRET} {country} {number}"
        source = b.request(f"s-{country}", f"tenant-{country}", 0, 10, prompt=text)
        victim = b.request(f"v-{country}", f"victim-{country}", 5, 15, response=text)
        b.fragment(f"f-{country}", victim, 0, len(text), [f"tenant-{country}"], [(source, "prompt")])
        row = {"key_kind": "tenant", "key": f"tenant-{country}", "tenant_id": f"tenant-{country}"}
        rest = {"organisation": None, "legal_name": None, "contact": None, "country": country, "language": language}
        b.tenants.append({**row, **rest})
    return b


def test_every_mandatory_field_of_every_rule_is_filled_or_marked(tmp_path: Path, reported: Callable[..., Path]) -> None:
    countries = ("DE", "GB", "US", "CN", "JP")
    root = reported(case_in(countries), tmp_path / "c")
    seen: set[str] = set()
    by_tenant = folders(root)
    for country in countries:
        folder = by_tenant[f"tenant-{country}"]
        facts = json.loads((folder / "fields.json").read_text())
        document = json.loads((folder / "regimes.json").read_text())
        letter = (folder / "letter.md").read_text()
        for listed in document["regimes"]:
            [regime] = [r for r in regimes() if r.id == listed["id"]]
            seen.add(regime.id)
            assert [field["name"] for field in listed["fields"]] == [field.name for field in regime.fields]
            for field in listed["fields"]:
                for key, status in field["keys"].items():
                    fact = facts[key]
                    assert status == fact["status"] in {"known", "estimated", "unknown_to_fill", "not_applicable"}
                    if status == "unknown_to_fill":
                        assert fact["value"].startswith("UNKNOWN - TO FILL (owner: ") and fact["value"] in letter
                    assert fact["value"] is not None or status == "not_applicable"
            for clock in listed["clocks"]:
                assert clock["status"] == "candidate" and clock["deadline_utc"] is None
            assert regime.title in letter.replace("\\", "")
        assert document["not_shipped"]
    assert seen == set(IDS)


def test_a_customer_without_a_country_gets_no_rule_and_a_mark(small: Path) -> None:
    folder = folders(small)["alpha"]
    assert json.loads((folder / "regimes.json").read_text())["regimes"] == []
    assert (
        "Your country is not on file, so no rules were chosen: UNKNOWN - TO FILL" in (folder / "letter.md").read_text()
    )
