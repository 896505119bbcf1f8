"""Clocks that disagree: offsets between files from the calls they share, zones and years that these calls fix."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

START = datetime(2026, 3, 4, 5, 0, 0, tzinfo=UTC)


def lines(records) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def gateway(n: int, step: float = 10.0) -> list[dict[str, object]]:
    """Calls of four seconds."""
    return [
        {
            "request_id": f"r-{i}",
            "tenant_id": "acme",
            "timestamp": (START + timedelta(seconds=i * step)).isoformat(),
            "finished_at": (START + timedelta(seconds=i * step + 4)).isoformat(),
        }
        for i in range(n)
    ]


def engine(n: int, ahead: float, step: float = 10.0, zone: str = "", jitter: float = 0.0) -> list[dict[str, object]]:
    """The same calls, from 0.5 s after the gateway's start to 1.5 s before its end, on a clock that is `ahead` seconds."""
    rows = []
    for i in range(n):
        begin = (START + timedelta(seconds=i * step + 0.5 + ahead + (i % 3 - 1) * jitter)).replace(tzinfo=None)
        times = {
            "timestamp": begin.isoformat() + zone,
            "finished_at": (begin + timedelta(seconds=2)).isoformat() + zone,
        }
        rows.append({"vantage": "engine", "request_id": f"r-{i}", "worker": "w0", **times})
    return rows


def rollup(bench) -> dict[str, object]:
    (row,) = [row for row in bench.rows("clock_offsets", "offset_us") if row["near_evidence"] is None]
    return row


def test_the_offset_is_the_median_with_bounds_and_residual(bench):
    bench.put("a_engine.jsonl", lines(engine(9, 0.25, zone="Z", jitter=0.1)))
    bench.put("gateway.jsonl", lines(gateway(9)))
    bench.run()
    row = rollup(bench)
    # Starts are 0.75 s apart and ends -1.25 s, +-0.1: the middle of each call is -0.25 s, which is 0.5 s less than true.
    assert (row["offset_us"], row["residual_us"], row["n"]) == (-250_000, 100_000, 9)
    assert row["basis"] == "ids: starts and ends"
    # Never more than the least distance of starts, never less than the most of ends; the clock's 0.25 s lies between.
    assert (row["low_us"], row["high_us"]) == (-1_150_000 - 1_000_000, 650_000 + 1_000_000)
    assert row["low_us"] <= 250_000 <= row["high_us"]
    by_file = [row for row in bench.rows("clock_offsets", "offset_us") if row["near_evidence"] is not None]
    assert [(row["near_evidence"], row["far_evidence"], row["n"]) for row in by_file] == [(1, 0, 9)]


def test_offsets_do_not_rewrite_the_evidence(bench):
    bench.put("a_engine.jsonl", lines(engine(30, 7200, zone="Z")))
    bench.put("gateway.jsonl", lines(gateway(30)))
    bench.run()
    assert rollup(bench)["offset_us"] > 7_000_000_000
    assert min(row["received_at"] for row in bench.rows("records", "record") if row["vantage"] == "engine").hour == 7
    assert [row["time_zone_basis"] for row in bench.rows("evidence", "evidence")] == ["absolute", "absolute"]


@pytest.mark.parametrize(("ahead", "zone"), [(7200, "UTC+02:00"), (-5 * 3600, "UTC-05:00"), (20700, "UTC+05:45")])
def test_a_zone_is_inferred_where_calls_fix_it(bench, ahead, zone):
    bench.put("a_engine.jsonl", lines(engine(30, ahead)))
    bench.put("gateway.jsonl", lines(gateway(30)))
    summary = bench.run()
    assert [(row["time_zone"], row["time_zone_basis"]) for row in bench.rows("evidence", "evidence")] == [
        (zone, "inferred"),
        ("UTC", "absolute"),
    ]
    received = [row["received_at"] for row in bench.rows("records", "record") if row["vantage"] == "engine"]
    assert min(received) == datetime(2026, 3, 4, 5, 0, 0, 500_000)
    assert bench.rows("evidence", "evidence")[0]["first_at"] == datetime(2026, 3, 4, 5, 0, 0, 500_000)
    assert abs(rollup(bench)["offset_us"]) < 2_000_000
    assert any(f"fit {zone}: they were read so" in warning for warning in summary.warnings)
    assert summary.figures["zones"][0]["applied"] is True


def test_a_second_run_moves_nothing_again(bench):
    bench.put("a/engine.jsonl", lines(engine(30, 7200)))
    bench.put("a/gateway.jsonl", lines(gateway(30)))
    bench.run(bench.folder / "a")
    more = bench.put("b/more.jsonl", lines([{"request_id": "other", "tenant_id": "t", "timestamp": START.isoformat()}]))
    bench.run(more)
    received = [row["received_at"] for row in bench.rows("records", "record") if row["vantage"] == "engine"]
    assert min(received) == datetime(2026, 3, 4, 5, 0, 0, 500_000)
    assert bench.rows("evidence", "evidence")[0]["time_zone_basis"] == "inferred"


def test_the_files_of_one_worker_share_its_zone(bench):
    both = engine(30, 7200)
    bench.put("a_engine.jsonl", lines(both[:27]))
    bench.put("b_engine.jsonl", lines(both[27:]))
    bench.put("gateway.jsonl", lines(gateway(30)))
    bench.run()
    assert [row["time_zone_basis"] for row in bench.rows("evidence", "evidence")] == [
        "inferred",
        "inferred",
        "absolute",
    ]


@pytest.mark.parametrize(
    ("calls", "ahead", "jitter", "parameters", "said"),
    [
        (6, 7200, 0.0, {}, True),  # too few
        (30, 7200, 1800.0, {}, True),  # scattered
        (30, 7200, 0.0, {"infer_zones": False}, True),
        (30, 400, 0.0, {}, False),  # no quarter of an hour: a clock that is wrong
    ],
)
def test_what_is_not_certain_is_said_and_not_done(bench, calls, ahead, jitter, parameters, said):
    bench.put("a_engine.jsonl", lines(engine(calls, ahead, jitter=jitter)))
    bench.put("gateway.jsonl", lines(gateway(calls)))
    summary = bench.run(**parameters)
    assert bench.rows("evidence", "evidence")[0]["time_zone_basis"] == "assumed"
    assert any("read as UTC all the same" in warning for warning in summary.warnings) is said
    assert all(zone["applied"] is False for zone in summary.figures["zones"])


def test_calls_can_confirm_that_times_are_in_utc(bench):
    bench.put("a_engine.jsonl", lines(engine(30, 0)))
    bench.put("gateway.jsonl", lines(gateway(30)))
    summary = bench.run()
    assert [(row["time_zone"], row["time_zone_basis"]) for row in bench.rows("evidence", "evidence")] == [
        ("UTC", "inferred"),
        ("UTC", "absolute"),
    ]
    assert min(row["received_at"] for row in bench.rows("records", "record")) == datetime(2026, 3, 4, 5)
    assert summary.figures["zones"] == []
    assert not [warning for warning in summary.warnings if "zone" in warning]


def test_a_declared_zone_is_never_overruled(bench):
    bench.put("a_engine.jsonl", lines(engine(30, 7200)))
    bench.put("gateway.jsonl", lines(gateway(30)))
    bench.run(time_zone="America/New_York")
    assert bench.rows("evidence", "evidence")[0]["time_zone_basis"] == "declared"


def test_missing_ids_are_joined_by_text_across_a_zone(bench):
    """No id is shared; the texts tell the offset, the offset the zone, and the zone the calls."""

    def body(i: int) -> dict[str, object]:
        prompt = f"Please tell me all about the harbour of town number {i} and its {i * 7} ferries, at length."
        answer = (
            f"Town {i} has a harbour with {i * 7} ferries and a lighthouse that {i + 3} keepers look after in turns."
        )
        return {
            "request": {"messages": [{"role": "user", "content": prompt}]},
            "response": {"choices": [{"message": {"content": answer}}]},
        }

    far = engine(25, 7200)
    for i, row in enumerate(far):
        row.update(request_id=f"e-{i}", **body(i))
    near = gateway(25)
    for i, row in enumerate(near):
        row.update(body(i))
    bench.put("a_engine.jsonl", lines(far))
    bench.put("gateway.jsonl", lines(near))
    bench.run()
    assert {row["vantages"] for row in bench.rows("joined_requests", "request")} == {"engine,gateway"}
    assert {row["basis"] for row in bench.rows("request_joins", "request")} == {"text_and_time"}
    assert [row["time_zone"] for row in bench.rows("evidence", "evidence")] == ["UTC+02:00", "UTC"]


def test_a_year_from_the_files_date_is_corrected_by_joined_calls(bench):
    """No parser in this module reads yearless times; the ledger is set as such a parser leaves it."""
    from forensics.ingest.join import rebuild

    bench.put("a_engine.jsonl", lines(engine(30, -365 * 86400, zone="Z")))
    bench.put("gateway.jsonl", lines(gateway(30)))
    bench.run()
    connection = bench.case._connection
    connection.execute("UPDATE evidence SET year_basis = 'file_time' WHERE evidence = 0")
    (finding,) = rebuild(bench.case, "tenant")
    assert (finding.years, finding.applied) == (-1, True)
    assert [row["year_basis"] for row in bench.rows("evidence", "evidence")] == ["inferred", None]
    received = [row["received_at"] for row in bench.rows("records", "record") if row["vantage"] == "engine"]
    assert min(received) == datetime(2026, 3, 4, 5, 0, 0, 500_000)
