"""Decisions survive a rerun; one about other sources, or about characters that changed, counts for nothing and says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from case_builder import SECRET, CaseBuilder, small_case

from forensics.case import custody
from forensics.case.ask import ask
from forensics.case.errors import UsageError
from forensics.case.review import review, sitting
from forensics.case.store import Case
from forensics.case.verify import audit_names
from forensics.scope.run import Parameters, run

WHO = ("compared both", "R. Iqbal")


def _verdicts(case: Case) -> dict[str, tuple[str, str]]:
    return {row["fragment_id"]: (row["verdict"], row["basis"]) for row in case.table("verdicts").to_pylist()}


def _queue(case: Case) -> dict[str, str | None]:
    return {row["fragment_id"]: row["earlier"] for row in ask(case, "review-queue").records()}


def _states(case: Case) -> list[str]:
    return [row["state"] for row in ask(case, "reviews").records()]


def _found_again(case: Case, builder: CaseBuilder) -> None:
    """Attribution ran again and wrote the fragments of `builder`; reviews are not its table."""
    with case.transaction():
        case.clear(("fragments", "appearances"))
        for table, rows in (("fragments", builder.fragments), ("appearances", builder.appearances)):
            case.append(table, pa.Table.from_pylist(rows, schema=case.table(table).schema))
        case.run("schema/stage_delete", {"stage": "scope"})


def test_a_decision_survives_a_rerun_that_finds_the_same(tmp_path: Path) -> None:
    with small_case().write(tmp_path / "case") as case:
        run(case, Parameters())
        review(case, "f1", "accept", *WHO)
        _found_again(case, small_case())
        summary = run(case, Parameters())
        assert _verdicts(case)["f1"] == ("confirmed", "review: accept")
        assert "f1" not in _queue(case)
        assert _states(case) == ["counts"]
        assert not any("decision" in warning for warning in summary.warnings)


@pytest.fixture(autouse=True)
def short_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hand-made ids are shorter than the command line asks for."""
    monkeypatch.setattr("forensics.case.explain.SHORTEST_PREFIX", 2)


def test_an_acceptance_does_not_confirm_another_source(tmp_path: Path) -> None:
    """A person accepted that alpha is the source. The next run names delta: nobody has said that."""
    with small_case().write(tmp_path / "case") as case:
        review(case, "f1", "accept", *WHO)
        later = small_case()
        later.fragments[0]["sources"] = ["delta"]
        _found_again(case, later)
        summary = run(case, Parameters())
        verdict, basis = _verdicts(case)["f1"]
        assert verdict == "probable" and "other sources" in basis
        assert _queue(case)["f1"] == "accept by R. Iqbal, when other sources were named"
        assert _states(case) == ["other sources are named now"]
        assert any("wait for a new decision" in warning for warning in summary.warnings)
        review(case, "f1", "accept", "delta it is", "R. Iqbal")
        run(case, Parameters())
        assert _verdicts(case)["f1"][0] == "confirmed"
        assert _states(case) == ["other sources are named now", "counts"]


def test_a_rejection_of_other_sources_does_not_hide_a_leak(tmp_path: Path) -> None:
    with small_case().write(tmp_path / "case") as case:
        review(case, "f1", "reject", *WHO)
        later = small_case()
        later.fragments[0]["sources"] = ["alpha", "delta"]
        _found_again(case, later)
        run(case, Parameters())
        assert _verdicts(case)["f1"][0] == "probable"


def test_sources_in_another_order_are_the_same(tmp_path: Path) -> None:
    with small_case().write(tmp_path / "case") as case:
        review(case, "f2", "accept", *WHO)
        later = small_case()
        later.fragments[1]["sources"] = later.fragments[1]["sources"][::-1]
        _found_again(case, later)
        run(case, Parameters())
        assert _verdicts(case)["f2"][0] == "confirmed"


def test_a_changed_fragment_waits_again_and_says_why(tmp_path: Path) -> None:
    with small_case().write(tmp_path / "case") as case:
        review(case, "f1", "accept", *WHO)
        later = small_case()
        later.fragments[0] |= {"fragment_id": "f9", "start": 10}
        later.appearances[0]["fragment_id"] = "f9"
        _found_again(case, later)
        summary = run(case, Parameters())
        assert _verdicts(case)["f9"] == ("probable", "machine")
        assert (
            _queue(case)["f9"]
            == f"accept by R. Iqbal on f1, characters 6 to {6 + len(SECRET)}, which have changed since"
        )
        assert _queue(case)["f3"] is None
        assert _states(case) == ["the fragment is gone or has changed"]
        assert any("gone or have changed" in warning for warning in summary.warnings)


def test_the_last_decision_counts(tmp_path: Path) -> None:
    with small_case().write(tmp_path / "case") as case:
        review(case, "f1", "accept", *WHO)
        review(case, "f1", "reject", "it is their own", "T. Weiss")
        run(case, Parameters())
        assert _verdicts(case)["f1"][0] == "excluded"
        assert _states(case) == ["replaced by a later one", "counts"]
        assert all(case.rows(name) == [] for name in audit_names() if name == "audits/confirmed_by_someone")


def test_a_sitting_goes_forward_and_back(tmp_path: Path) -> None:
    with small_case().write(tmp_path / "case") as case:
        walk = sitting(case)
        assert [waiting.fragment_id for waiting in walk.fragments] == ["f1", "f2", "f3", "f4"]
        assert not walk.back()
        walk.decide("accept", *WHO)
        assert walk.current is not None and walk.current.fragment_id == "f2"
        assert walk.back() and walk.decision("f1") is not None
        walk.decide("reject", "second thoughts", "R. Iqbal")
        for _ in range(9):
            walk.forward()
        assert walk.current is None
        with pytest.raises(UsageError):
            walk.decide("accept", *WHO)
        assert [(one.fragment_id, one.decision) for one in walk.decided] == [("f1", "accept"), ("f1", "reject")]
        assert [waiting.fragment_id for waiting in sitting(case).fragments] == ["f2", "f3", "f4"]
        assert [waiting.fragment_id for waiting in sitting(case, "f1").fragments] == ["f1"]
        actions: list[Any] = [entry.action for entry in custody.read(case.custody_path)]
        assert actions == ["review", "review"]
