"""The verdict of a fragment from machine, review and trial: the table of cases is the specification."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_builder import CaseBuilder

from forensics.scope.run import Parameters, run


@pytest.mark.parametrize(
    ("machine", "decisions", "trial", "expected"),
    [
        ("probable", [], None, "probable"),
        ("probable", ["accept"], None, "confirmed"),
        ("probable", ["unsure"], None, "probable"),
        ("probable", ["reject"], None, "excluded"),
        ("probable", [], "reproduced", "confirmed"),
        ("probable", [], "reproduced_in_company", "confirmed"),
        ("probable", [], "cured_by_radix_off", "confirmed"),
        ("probable", [], "not_reproduced", "probable"),
        ("probable", [], "inconclusive", "probable"),
        ("probable", [], "model_memory", "probable"),
        ("probable", ["accept"], "model_memory", "confirmed"),
        ("probable", ["unsure"], "model_memory", "probable"),
        ("possible", [], "cured_by_radix_off", "possible"),
        ("probable", ["reject"], "reproduced", "excluded"),
        ("probable", ["reject", "accept"], None, "confirmed"),  # the last decision counts
        ("probable", ["accept", "reject"], None, "excluded"),
        ("possible", ["accept"], None, "possible"),  # nothing weaker than probable is lifted
        ("possible", [], "reproduced", "possible"),
        ("possible", ["reject"], None, "excluded"),
        ("undetermined", ["accept"], "reproduced", "undetermined"),
        ("undetermined", ["unsure"], None, "undetermined"),
    ],
)
def test_verdict(tmp_path: Path, machine: str, decisions: list[str], trial: str | None, expected: str) -> None:
    b = CaseBuilder()
    source = b.request("s", "alpha", 0, 10)
    recipient = b.request("r", "beta", 5, 15)
    b.fragment("f", recipient, 0, 9, ["alpha"], [(source, "prompt")], machine_verdict=machine)
    for second, decision in enumerate(decisions):
        b.review("f", decision, second)
    if trial:
        b.trial("f", trial)
    with b.write(tmp_path / "c") as case:
        run(case, Parameters())
        assert [row["verdict"] for row in case.table("verdicts").to_pylist()] == [expected]


@pytest.mark.parametrize(
    ("trials", "verdict", "basis"),
    [
        ([("reproduced_in_company", "surrogate")], "confirmed", "trial: reproduced_in_company with surrogate texts"),
        ([("cured_by_overlap_off", "original")], "confirmed", "trial: cured_by_overlap_off"),
        ([("not_reproduced", "surrogate"), ("reproduced", "original")], "confirmed", "trial: reproduced"),
        # One replay says that the text comes without its source: no other one lifts it.
        (
            [("reproduced_in_company", "original"), ("model_memory", "original")],
            "probable",
            "machine; trial: model_memory",
        ),
        ([("not_reproduced", "original")], "probable", "machine"),
    ],
)
def test_a_replay_is_named_as_the_basis(
    tmp_path: Path, trials: list[tuple[str, str]], verdict: str, basis: str
) -> None:
    b = CaseBuilder()
    source = b.request("s", "alpha", 0, 10)
    recipient = b.request("r", "beta", 5, 15)
    b.fragment("f", recipient, 0, 9, ["alpha"], [(source, "prompt")], machine_verdict="probable")
    for number, (found, text) in enumerate(trials):
        b.trial("f", found, f"p{number}", text)
    with b.write(tmp_path / "c") as case:
        summary = run(case, Parameters())
        assert [(row["verdict"], row["basis"]) for row in case.table("verdicts").to_pylist()] == [(verdict, basis)]
    memory = any(found == "model_memory" for found, _ in trials)
    assert any("model memory or habit" in warning for warning in summary.warnings) == memory


def test_a_new_review_makes_the_stage_run_again(tmp_path: Path) -> None:
    b = CaseBuilder()
    source = b.request("s", "alpha", 0, 10)
    recipient = b.request("r", "beta", 5, 15)
    b.fragment("f", recipient, 0, 9, ["alpha"], [(source, "prompt")])
    with b.write(tmp_path / "c") as case:
        assert run(case, Parameters()).figures["responses.confirmed"] == 0
        assert run(case, Parameters()).skipped
        late = CaseBuilder()
        late.review("f", "accept")
        import pyarrow as pa

        case.append("reviews", pa.Table.from_pylist(late.reviews, schema=case.table("reviews").schema))
        summary = run(case, Parameters())
        assert not summary.skipped
        assert summary.figures["responses.confirmed"] == 1
