"""Log times to UTC microseconds. Expected values come from `date -u -d ... +%s`."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest

from forensics.ingest.record import FileContext
from forensics.ingest.timestamps import parse_time

S = 1772600767  # 2026-03-04T05:06:07Z


@pytest.mark.parametrize(
    ("value", "micros", "precision"),
    [
        ("2026-03-04T05:06:07Z", S * 10**6, "s"),
        ("2026-03-04 05:06:07+00:00", S * 10**6, "s"),
        ("2026-03-04T06:06:07.5+0100", S * 10**6 + 500_000, "ms"),
        ("2026-03-04T05:06:07.0891234Z", S * 10**6 + 89_123, "ns"),
        ("2026-03-04T05:06:07.089123456Z", S * 10**6 + 89_123, "ns"),
        ("2026-03-04T05:06:07,089Z", S * 10**6 + 89_000, "ms"),
        ("2026-03-04 05:06:07 UTC", S * 10**6, "s"),
        (S, S * 10**6, "s"),
        (S + 0.25, S * 10**6 + 250_000, "us"),
        (S * 1000 + 89, S * 10**6 + 89_000, "ms"),
        (S * 10**6 + 5, S * 10**6 + 5, "us"),
        (S * 10**9 + 5_999, S * 10**6 + 5, "ns"),
        (str(S), S * 10**6, "s"),
        (f"{S}.5", S * 10**6 + 500_000, "us"),
    ],
)
def test_forms(value, micros, precision):
    assert parse_time(value, FileContext("", ZoneInfo("UTC"))) == (micros, precision)


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
