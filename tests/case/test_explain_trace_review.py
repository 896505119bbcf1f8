"""Explanations hold no text unless asked; a trace finds holders and receivers; decisions are added and logged."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from forensics.case import custody
from forensics.case.errors import UsageError
from forensics.case.explain import explain
from forensics.case.review import review
from forensics.case.store import Case
from forensics.case.trace import Passage, trace
from forensics.cli.explain import _human

LEAK = "account 4471-9920-1183 of Miriam Okonkwo, opened in Lagos."


def _actions(case: Case) -> list[str]:
    return [entry.action for entry in custody.read(case.custody_path)]


def test_explanation_names_figures_runner_up_and_margin(filled: Case) -> None:
    found = explain(filled, "f00d0001")
    assert found.features == {"rare_words": 3, "word_bits": 88.0}
    assert found.sources == ("acme",)
    assert found.runner_up is not None and found.runner_up.source_request_id == "req-2"
    assert found.margin == pytest.approx(0.75)
    assert found.candidates[0].lag_seconds == 120.0
    assert [item["rule"] for item in found.set_aside] == ["model_phrase"]


def test_explanation_holds_no_text_and_leaves_no_trace_by_default(filled: Case) -> None:
    found = explain(filled, "f00d0001")
    assert "Okonkwo" not in json.dumps(asdict(found), default=str)
    assert _actions(filled) == []


@pytest.mark.parametrize("verdict", ["reproduced_in_company", "model_memory"])
def test_an_explanation_says_what_replays_showed(
    filled: Case, filler: Callable[[Case, str, list[dict[str, Any]]], None], verdict: str
) -> None:
    arm = {"name": "alone", "hits": 0, "trials": 5, "from_source": 0, "absent": 0, "low": 0.0, "high": 0.45, "p": None}
    row = {
        "plan_id": "p1",
        "fragment_id": explain(filled, "f00d0001").fragment_id,
        "verdict": verdict,
        "because": "as the trials show",
        "text": "surrogate",
        "figures": json.dumps({"arms": [{**arm, "failed": 0, "skipped": None}], "cures": []}),
    }
    filler(filled, "replay_verdicts", [row])
    found = explain(filled, "f00d0001")
    assert [(one["verdict"], one["because"], one["arms"][0]["trials"]) for one in found.replays] == [
        (verdict, "as the trials show", 5)
    ]
    console = Console(file=io.StringIO(), width=100)
    for part in _human(found):
        console.print(part)
    shown = " ".join(console.file.getvalue().split())  # type: ignore[attr-defined]
    assert f"replay p1: {verdict}. as the trials show" in shown
    assert ("It may be the model's own memory" in shown) == (verdict == "model_memory")
    assert any("no replay lifts it" in one for one in found.would_change) == (verdict == "model_memory")


def test_reveal_shows_both_passages_and_is_logged(filled: Case) -> None:
    found = explain(filled, "f00d0001", reveal=True)
    assert found.recipient_passage is not None
    assert found.recipient_passage.text == LEAK
    assert [passage.text for passage in found.source_passages] == [LEAK]
    assert _actions(filled) == ["reveal"]


@pytest.mark.parametrize("fragment", ["f00d", "f00", "ffffffff", ""])
def test_unclear_fragment_ids_are_usage_errors(filled: Case, fragment: str) -> None:
    with pytest.raises(UsageError):
        explain(filled, fragment)


def test_review_is_recorded_with_its_author(filled: Case) -> None:
    review(filled, "f00d0001", "accept", "compared both passages", "R. Iqbal")
    review(filled, "f00d0001", "unsure", "second look", "T. Weiss")
    decisions = sorted((row["decision"], row["name"]) for row in explain(filled, "f00d0001").reviews)
    assert decisions == [("accept", "R. Iqbal"), ("unsure", "T. Weiss")]
    assert _actions(filled) == ["review", "review"]


@pytest.mark.parametrize(
    ("decision", "reason", "name"), [("maybe", "r", "n"), ("accept", " ", "n"), ("accept", "r", "")]
)
def test_incomplete_reviews_are_refused(filled: Case, decision: str, reason: str, name: str) -> None:
    with pytest.raises(UsageError):
        review(filled, "f00d0001", decision, reason, name)
    assert filled.count("reviews") == 0


def test_trace_finds_who_held_and_who_received(filled: Case) -> None:
    found = trace(filled, "ACCOUNT 4471 9920 1183\nof “Miriam Okonkwo”, opened in Lagos")
    assert [(s.request_id, s.tenant_id) for s in found.holders] == [("req-0", "acme")]
    assert [(s.request_id, s.fragment_ids) for s in found.receivers] == [("req-1", ("f00d0001",))]
    assert found.holders[0].share == 1.0
    assert (found.holders[0].evidence_name, found.holders[0].line) == ("engine.jsonl", 1)
    assert (found.receivers[0].runs[0].start, found.receivers[0].runs[0].end) == (26, 83)
    assert "Okonkwo" not in json.dumps(asdict(found), default=str)
    assert _actions(filled) == ["trace"]


def test_trace_of_what_nobody_has(filled: Case) -> None:
    found = trace(filled, "the quick brown fox jumps over the lazy dog")
    assert (found.holders, found.receivers, found.texts_searched) == ((), (), 6)


@pytest.mark.parametrize("passage", ["", "ab!", "....", "\n"])
def test_a_passage_of_nothing_is_refused(filled: Case, passage: str) -> None:
    with pytest.raises(UsageError):
        trace(filled, passage)


LETTERS = st.text(alphabet="abcdefghijklmnopqrstuvwxyz0123456789", min_size=16, max_size=60)
AROUND = st.text(alphabet="XYZ .,\n", max_size=40)


@settings(max_examples=60, deadline=None)
@given(LETTERS, AROUND, AROUND, st.integers(1, 9))
def test_every_planted_passage_is_found_at_its_place(passage: str, before: str, after: str, every: int) -> None:
    spaced = "".join(c + ("-" if i % every == 0 else "") for i, c in enumerate(passage)).rstrip("-")
    text = before + "|" + spaced + "|" + after
    runs = Passage(passage).runs(text)
    planted = (len(before) + 1, len(before) + 1 + len(spaced))
    assert any(run.start <= planted[0] and planted[1] <= run.end for run in runs)
    assert Passage(passage).share(runs) == 1.0


@pytest.mark.parametrize(
    "passage", ["客户账户四四七一九九二零", "חשבון הלקוחה נפתח אתמול", "お客様の口座番号は四四七一です"]
)
def test_other_scripts_are_found(passage: str) -> None:
    assert Passage(passage).share(Passage(passage).runs(f"xx {passage} yy")) == 1.0


def test_a_kind_that_is_also_the_verdict_is_printed_once(case_root: Path, capsys: Any) -> None:
    import typer

    from forensics.cli.explain import explain as explain_verb

    for fragment, heading in (("f00d0002", "undetermined"), ("f00d0001", "probable (verbatim)")):
        with pytest.raises(typer.Exit) as left:
            explain_verb(case_root, fragment)
        assert left.value.exit_code == 0
        lines = [line.strip("│ ") for line in capsys.readouterr().out.split("\n")]
        assert heading in lines and "undetermined (undetermined)" not in lines
