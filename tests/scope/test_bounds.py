"""How many may be affected: by hand, and never printed where the controls do not carry it."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from forensics.case.store import Case
from forensics.scope.bounds import Recall, breach_size, from_controls


def test_breach_size_by_hand() -> None:
    """12 of class 80 at a recall of 0.8 (at least 0.6), 6 of class 500 at 1.0 (at least 0.75)."""
    made = breach_size(["80"] * 12 + ["500"] * 6, {"80": Recall(0.8, 0.6), "500": Recall(1.0, 0.75)}, 0.95)
    assert made.point == pytest.approx(12 / 0.8 + 6)
    assert made.low == 18
    assert made.high >= 12 / 0.6 + 6 / 0.75
    # at most every one of the 18 is of the class that is harder to find
    assert made.high <= 18 / 0.6


def test_one_class_leaves_nothing_to_resample() -> None:
    made = breach_size(["200"] * 9, {"200": Recall(0.9, 0.5)}, 0.95)
    assert (made.point, made.high) == (pytest.approx(10), pytest.approx(18))


def test_perfect_recall_adds_nothing() -> None:
    made = breach_size(["40"] * 5, {"40": Recall(1.0, 1.0)}, 0.95)
    assert (made.point, made.low, made.high) == (5, 5, 5)


def _case(tmp_path: Path, measured: str) -> Case:
    """A case without requests whose attribution ran as `now`, with one figure of the controls on `measured`."""
    case = Case.create(tmp_path / "case")
    texts = {"stage": "attribution", "version": "1", "parameters": "{}", "outputs": "{}", "summary": "{}"}
    case.append("stages", pa.table({**{k: [v] for k, v in texts.items()}, "input_digest": ["now"]}))
    figure = {"measure": "recall.reported", "class": "all", "method": "as made", "attribution_digest": measured}
    numbers = {"value": 0.9, "low": 0.8, "high": 0.95}
    counts = {"n": 9, "total": 10}
    case.append("controls", pa.table({k: [v] for k, v in {**figure, **numbers, **counts}.items()}))
    return case


def test_recall_is_printed_with_its_counts(tmp_path: Path) -> None:
    with _case(tmp_path, "now") as case:
        found = {number.name: number for number in from_controls(case, 0.95)}
    assert (found["recall"].value, found["recall"].n, found["recall"].total) == (0.9, 9, 10)
    assert found["controls.recall.reported.all"].high == 0.95
    assert "not measured" in found["upper_bound.responses"].method  # the floor


def test_controls_of_an_earlier_attribution_are_not_printed(tmp_path: Path) -> None:
    with _case(tmp_path, "before") as case:
        found = {number.name: number for number in from_controls(case, 0.95)}
    assert found.pop("upper_bound.unexamined_all").value == 0  # of a case without requests; needs no control
    assert set(found) == {"recall", "upper_bound.responses"}
    assert all(number.value is None and "earlier attribution" in number.method for number in found.values())
