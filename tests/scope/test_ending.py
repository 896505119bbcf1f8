"""Which event fixes each end, has it stopped, and how many at least: by hand, and never more than was measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from case_builder import CaseBuilder, at

from forensics.case.store import Case
from forensics.scope.run import Parameters, run


def _events(case: Case, *rows: tuple[float, str, str | None]) -> None:
    schema = case.table("engine_events").schema
    made = [{"evidence": 0, "byte_offset": i, "at": at(s), "kind": k, "worker": w} for i, (s, k, w) in enumerate(rows)]
    case.append("engine_events", pa.Table.from_pylist(made, schema=schema))


def _leak(after: int, q_value: float | None = 0.01) -> CaseBuilder:
    """One leak, received at 100 s and finished at 110 s on w0, and `after` clean responses from 200 s on."""
    b = CaseBuilder()
    source = b.request("s", "alpha", 50, 60)
    recipient = b.request("r", "beta", 100, 110, response="y" * 80)
    b.fragment("f", recipient, 0, 50, ["alpha"], [(source, "prompt")], q_value=q_value)
    for i in range(after):
        b.request(f"c{i}", "gamma", 200 + i, 201 + i)
    return b


def _figures(case: Case) -> dict[str, Any]:
    run(case, Parameters())
    return {row["name"]: row for row in case.table("numbers").to_pylist()}


def test_the_nearest_event_outside_fixes_each_end(tmp_path: Path) -> None:
    with _leak(4).write(tmp_path / "c") as case:
        _events(
            case,
            (10, "process_start", "w0"), (90, "cache_flush", "w0"),  # the later one before the leak counts
            (95, "cache_flush", "w1"),  # another worker, where nothing leaked
            (105, "cache_flush", "w0"),  # while the recipient was served: fixes nothing
            (150, "config_change", None), (202, "cache_flush", "w0"),  # the first one after it, on no named worker
            (99, "abort", "w0"),  # no such event
        )  # fmt: skip
        found = _figures(case)
    assert found["window.opens_at"]["value"] == '"2026-03-04T10:01:30.000000Z"'
    assert found["window.opens_at"]["method"].startswith("cache flush:")
    assert found["window.closes_at"]["value"] == '"2026-03-04T10:02:30.000000Z"'
    assert found["window.closes_at"]["method"].startswith("config change:")
    after = found["rate.after_closing"]
    assert (after["n"], after["total"]) == (0, 4)
    assert after["high"] == pytest.approx(1 - 0.05 ** (1 / 4))


def test_without_events_both_ends_are_open(tmp_path: Path) -> None:
    with _leak(2).write(tmp_path / "c") as case:
        found = _figures(case)
    assert found["window.opens_at"]["value"] is None and "open" in found["window.opens_at"]["method"]
    assert found["window.closes_at"]["value"] is None and "open" in found["window.closes_at"]["method"]
    assert "rate.after_closing" not in found


def test_silence_is_a_chance_and_a_rule_of_three(tmp_path: Path) -> None:
    """One of two in the window (the source came before it): rate 1 of 1; after it 300 without any."""
    b = _leak(300)
    b.request("between", "gamma", 100, 105)
    with b.write(tmp_path / "c") as case:
        found = _figures(case)
    assert (found["rate.in_window"]["n"], found["rate.in_window"]["total"]) == (1, 2)
    after = found["rate.after_window"]
    assert (after["n"], after["total"]) == (0, 300)
    assert after["high"] == pytest.approx(3 / 300, rel=0.01)
    assert float(found["stopped.chance"]["value"]) == pytest.approx(0.5**300)
    # The lower limit of 1 of 2 is 1 - 0.975 ** (1 / 2).
    assert found["stopped.chance"]["high"] == pytest.approx((0.975**0.5) ** 300, rel=1e-6)


def test_nothing_after_the_last_leak_says_nothing(tmp_path: Path) -> None:
    with _leak(0).write(tmp_path / "c") as case:
        found = _figures(case)
    assert found["stopped.chance"]["value"] is None and "not known" in found["stopped.chance"]["method"]
    assert found["rate.after_window"]["value"] is None


def test_a_case_without_leaks_has_no_window(tmp_path: Path) -> None:
    b = CaseBuilder()
    b.request("a", "alpha", 0, 10)
    with b.write(tmp_path / "c") as case:
        found = _figures(case)
    assert "stopped.chance" not in found
    assert "no response is affected" in found["window.opens_at"]["method"]


def test_what_could_not_be_examined_bounds_without_assumption(tmp_path: Path) -> None:
    b = _leak(5)
    for i in range(3):
        b.request(f"u{i}", "delta", 300 + i, 301 + i, examinable_reason="response absent")
    with b.write(tmp_path / "c") as case:
        found = _figures(case)
    bound = found["upper_bound.unexamined_all"]
    assert (bound["n"], bound["total"]) == (1 + 3, 10)
    assert (found["tenants.not_examined"]["n"], found["tenants.not_examined"]["total"]) == (1, 4)
    assert (found["tenants.examined_whole"]["n"], found["tenants.examined_in_part"]["n"]) == (3, 0)


def test_levels_are_counted_each_and_rejected_ones_apart(tmp_path: Path) -> None:
    b = CaseBuilder()
    source = b.request("s", "alpha", 0, 10)
    machine = ("probable", "probable", "possible", "undetermined", "probable")
    for i, verdict in enumerate(machine):
        r = b.request(f"r{i}", "beta", 20 + i, 30 + i, response="z" * 80)
        b.fragment(
            f"f{i}",
            r,
            0,
            50,
            [] if verdict == "undetermined" else ["alpha"],
            [(source, "prompt")],
            machine_verdict=verdict,
        )
    b.review("f0", "accept")
    b.review("f4", "reject")
    with b.write(tmp_path / "c") as case:
        found = _figures(case)
    counted = {
        level: found[f"responses.{level}"]["n"]
        for level in ("confirmed", "probable_or_better", "possible_or_better", "undetermined", "excluded")
    }
    assert counted == {
        "confirmed": 1,
        "probable_or_better": 2,
        "possible_or_better": 3,
        "undetermined": 1,
        "excluded": 1,
    }


def _false_before(case: Case, hits: int, total: int, high: float) -> None:
    texts = {
        "stage": "attribution",
        "version": "1",
        "parameters": "{}",
        "outputs": "{}",
        "summary": "{}",
        "input_digest": "now",
    }
    case.append("stages", pa.table({k: [v] for k, v in texts.items()}))
    figure = {"measure": "false_positives.before", "class": "probable", "method": "m", "attribution_digest": "now"}
    row = {**figure, "value": hits / total, "n": hits, "total": total, "low": 0.0, "high": high}
    case.append("controls", pa.table({k: [v] for k, v in row.items()}))


def test_without_q_the_rate_before_the_fault_gives_a_lower_bound(tmp_path: Path) -> None:
    """20 probable; 0 of 299 before the fault allow 1 % at most: of 101 examined responses 2 may be false."""
    b = CaseBuilder()
    source = b.request("s", "alpha", 0, 10)
    for i in range(20):
        r = b.request(f"r{i}", "beta", 20 + i, 30 + i, response="z" * 80)
        b.fragment(f"f{i}", r, 0, 50, ["alpha"], [(source, "prompt")], q_value=None)
    for i in range(80):
        b.request(f"c{i}", "gamma", 200 + i, 201 + i)
    with b.write(tmp_path / "c") as case:
        assert _figures(case)["lower_bound.responses"]["value"] is None
    with b.write(tmp_path / "d") as case:
        _false_before(case, 0, 299, 0.01)
        bound = _figures(case)["lower_bound.responses"]
    assert (bound["value"], bound["n"]) == ("18", 20)
    assert "before the fault began" in bound["method"]
