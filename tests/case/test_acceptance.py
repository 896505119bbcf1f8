"""The 36 questions of those who read a case, asked of a captured incident: none may be without an answer."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from acceptance_walk import walk

from forensics import pipeline
from forensics.case.acceptance import acceptance
from forensics.case.ask import Answer, questions
from forensics.case.queries import query_header

SAMPLE = Path(__file__).parents[2] / "sample_logs" / "sglang-slot_reuse"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    settings = pipeline.PipelineParameters((SAMPLE / "logs",), tenants=SAMPLE / "tenants.csv")
    return pipeline.run(tmp_path_factory.mktemp("acceptance") / "c", settings).root


@pytest.fixture(scope="module")
def answers(root: Path) -> dict[str, Answer]:
    return walk(root)


def test_every_named_question_exists() -> None:
    known = {question.name for question in questions()}
    assert {name for asked in acceptance() for name in asked.queries} <= known
    assert len(acceptance()) == 36


@pytest.mark.parametrize(
    "name",
    [
        "foreign-text", "fragment-sources", "certainty", "order-of-events", "shared-places", "slots", "factors", "shapes",
        "join-dependence", "not-examinable", "bounds", "false-positives", "evidence", "settings", "tenant-as-source",
        "tenant-as-recipient", "whom-to-tell", "records", "categories", "countries", "kept-copies", "delivery",
        "milestones", "worker-rates", "mechanisms", "mechanism-facts", "earlier-detection", "publishable",
    ],
)  # fmt: skip
def test_what_this_incident_can_answer_has_rows(answers: dict[str, Answer], name: str) -> None:
    assert answers[name].rows


def test_what_it_cannot_answer_says_why(answers: dict[str, Answer]) -> None:
    assert "no replay was made" in answers["replays"].note
    assert "`forensics controls` has not run" in answers["controls"].note
    assert "nobody has looked" in answers["content-views"].note


def test_the_slot_that_leaked_is_named_and_was_logged(answers: dict[str, Answer]) -> None:
    """The engine of this capture was made to leak by reuse of slots; its probe wrote them down."""
    rows = answers["shared-places"].records()
    assert rows and all(row["same_slot"] == "yes" and row["slot_basis"] == "logged" for row in rows)
    assert all(row["source_held_it_just_before"] == "yes" for row in rows)


def test_the_answers_hold_no_text_of_the_log(answers: dict[str, Answer], root: Path) -> None:
    from forensics.case.store import Case

    with Case.open(root, read_only=True) as case:
        texts = {row["content"]: row["text"] for row in case.table("contents").to_pylist()}
        fragments = case.table("fragments").to_pylist()
    leaked = [texts[f["content"]][f["start"] : f["end"]] for f in fragments]
    assert leaked
    for name, answer in answers.items():
        printed = repr(answer.rows)
        assert not [text for text in leaked if len(text) >= 12 and text in printed], name


@pytest.mark.parametrize("asked", acceptance(), ids=lambda asked: f"q{asked.number}")
def test_each_has_a_header_that_says_what_no_row_means(asked: object) -> None:
    for name in asked.queries:  # type: ignore[attr-defined]
        assert query_header("ask/" + name.replace("-", "_"))["empty"]
