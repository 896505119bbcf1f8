"""Log times to UTC microseconds. Expected values come from `date -u -d ... +%s`."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest

from forensics.ingest.record import FileContext
from forensics.ingest.timestamps import (
    parse_duration,
    parse_month_first,
    parse_ticks,
    parse_time,
    parse_uptime,
    parse_yearless,
)

S = 1772600767  # 2026-03-04T05:06:07Z


@pytest.mark.parametrize(
    ("value", "micros", "precision"),
    [
        ("2026-03-04T05:06:07Z", S * 10**6, "s"),
        ("2026-03-04 05:06:07+00:00", S * 10**6, "s"),
        ("2026-03-04T06:06:07.5+0100", S * 10**6 + 500_000, "ms"),
        ("2026-03-04T05:06:07.0891234Z", S * 10**6 + 89_123, "ns"),
        ("2026-03-04T05:06:07.089123456Z", S * 10**6 + 89_123, "ns"),
        ("2026-03-04T06:06:07.089+01", S * 10**6 + 89_000, "ms"),
        ("2026-03-04T05:06:07.089123Z", S * 10**6 + 89_123, "us"),
        ("2026-03-04T05:06:07,089Z", S * 10**6 + 89_000, "ms"),
        ("2026-03-04 05:06:07 UTC", S * 10**6, "s"),
        (S, S * 10**6, "s"),
        (S + 0.25, S * 10**6 + 250_000, "us"),
        (S * 1000 + 89, S * 10**6 + 89_000, "ms"),
        (S * 10**6 + 5, S * 10**6 + 5, "us"),
        (S * 10**9 + 5_999, S * 10**6 + 5, "ns"),
        (str(S), S * 10**6, "s"),
        (f"{S}.5", S * 10**6 + 500_000, "us"),
        ("04/Mar/2026:06:06:07 +0100", S * 10**6, "s"),
        ("[04/Mar/2026:05:06:07.089 +0000]", S * 10**6 + 89_000, "ms"),
        ("2026/03/04 - 05:06:07", S * 10**6, "s"),
        ("2026/03/04 05:06:07.000001", S * 10**6 + 1, "us"),
        ("Wed, 04 Mar 2026 05:06:07 GMT", S * 10**6, "s"),
        ("Mar 4, 2026 @ 05:06:07.089", S * 10**6 + 89_000, "ms"),
        ("2026-03-04_05-06-07", S * 10**6, "s"),
    ],
)
def test_forms(value, micros, precision):
    assert parse_time(value, FileContext("", ZoneInfo("UTC"))) == (micros, precision)


def test_a_naive_time_has_the_digits_that_it_has():
    for text, micros, precision in (
        ("2026-03-04T05:06:07.089123", S * 10**6 + 89_123, "us"),
        ("2026-03-04 05:06:07.089", S * 10**6 + 89_000, "ms"),
        ("20260304T05:06:07.08912", S * 10**6 + 89_120, "us"),
        ("2026-03-04 05:06:07", S * 10**6, "s"),
    ):
        assert parse_time(text, FileContext("", ZoneInfo("UTC"))) == (micros, precision)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2026-03-29T01:59:59", 1774745999),  # the last second before the clocks go forward
        ("2026-03-29T03:00:00", 1774746000),
        ("2026-10-25T02:30:00", 1792888200),  # twice that night; the first is meant
        ("2026-10-25T03:00:00", 1792893600),
    ],
)
def test_a_naive_time_of_a_night_when_clocks_change(text, seconds):
    context = FileContext("", ZoneInfo("Europe/Berlin"))
    assert parse_time(text, context) == (seconds * 10**6, "s")
    assert context.naive_times == 1


def test_naive_times_are_read_in_the_declared_zone():
    context = FileContext("", ZoneInfo("Europe/Berlin"))
    assert parse_time("2026-03-04T06:06:07.000001", context) == (S * 10**6 + 1, "us")
    assert context.naive_times == 1


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        "soon",
        "",
        0,
        -5,
        12,
        1e30,
        float("inf"),
        float("nan"),
        [],
        {},
        "99999999999999999999",
        "2026-13-45T00:00:00",
    ],
)
def test_what_is_no_time_is_unknown(value):
    assert parse_time(value, FileContext("", ZoneInfo("UTC"))) == (None, None)


@pytest.mark.parametrize("value", ["31/Foo/2026:05:06:07 +0000", "2026/13/04 05:06:07", "04/Mar/2026:25:06:07 +0000"])
def test_other_forms_that_are_no_time(value):
    assert parse_time(value, FileContext("", ZoneInfo("UTC"))) == (None, None)


# The file was last written on 2026-03-10T00:00:00Z.
WRITTEN = 1773100800 * 10**6


@pytest.mark.parametrize(
    ("text", "micros", "precision"),
    [
        ("03-04 05:06:07", S * 10**6, "s"),
        ("03-04 05:06:07,089", S * 10**6 + 89_000, "ms"),
        ("Mar  4 05:06:07", S * 10**6, "s"),
        ("Mar 04 05:06:07.000001", S * 10**6 + 1, "us"),
        ("I0304 05:06:07.000001", S * 10**6 + 1, "us"),
        ("12-31 23:59:59", 1767225599 * 10**6, "s"),  # of 2025: December 2026 had not come
        ("02-29 00:00:00", 1709164800 * 10**6, "s"),  # 2024 was the last leap year
        ("03-10 12:00:00", 1773144000 * 10**6, "s"),  # a zone ahead of ours
    ],
)
def test_yearless(text, micros, precision):
    context = FileContext("", ZoneInfo("UTC"), modified_at=WRITTEN)
    assert parse_yearless(text, context) == (micros, precision)
    assert context.notices == {"yearless_time": 1}
    assert context.naive_times == 1


def test_yearless_in_a_zone_and_without_any_year():
    context = FileContext("", ZoneInfo("Europe/Berlin"), modified_at=WRITTEN)
    assert parse_yearless("03-04 06:06:07", context) == (S * 10**6, "s")
    context = FileContext("", ZoneInfo("UTC"))
    assert parse_yearless("03-04 05:06:07", context) == (None, None)
    assert context.notices == {"no_year": 1}
    assert parse_yearless("yesterday", context) == (None, None)


def test_month_first():
    context = FileContext("", ZoneInfo("UTC"))
    assert parse_month_first("03/04/2026-05:06:07", context) == (S * 10**6, "s")
    assert parse_month_first("03-04-2026 05:06:07.089", context) == (S * 10**6 + 89_000, "ms")
    assert parse_month_first("13/04/2026-05:06:07", context) == (None, None)


def test_ticks():
    """2026-03-04T05:06:07Z in .NET ticks: seconds since the year 1 (62135596800 at the epoch), times ten million."""
    context = FileContext("", ZoneInfo("UTC"))
    ticks = (62135596800 + S) * 10_000_000
    assert parse_ticks(ticks + 15, context) == (S * 10**6 + 1, "ns")
    assert parse_ticks(str(ticks), context) == (S * 10**6, "ns")
    for wrong in (S, "soon", None, True, -1, "9" * 30):
        assert parse_ticks(wrong, context) == (None, None)


def test_relative_clocks_and_durations():
    assert parse_uptime("0.41.020.113") == 41_020_113
    assert parse_uptime("125.00.000.001") == 125 * 60_000_000 + 1
    assert parse_uptime("41.020.113") is None
    found = {
        text: parse_duration(text) for text in ("1.3s", "812.3ms", "5.190277341s", "1m2.5s", "90µs", "1500ns", "2h")
    }
    assert found == {
        "1.3s": 1_300_000,
        "812.3ms": 812_300,
        "5.190277341s": 5_190_277,
        "1m2.5s": 62_500_000,
        "90µs": 90,
        "1500ns": 2,
        "2h": 7_200_000_000,
    }
    assert [parse_duration(text) for text in ("", "5", "s", "1.3 s", "-1s", "1s!")] == [None] * 6


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00Z", "1970-01-01T00:00:00+00:00", "9999-12-31T23:59:59Z"])
def test_how_programs_write_that_there_is_no_time(text):
    where = FileContext("x", ZoneInfo("UTC"))
    assert parse_time(text, where) == (None, None)
    assert where.notices == {"unreadable_time": 1}
