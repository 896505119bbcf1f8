"""Labels of fragments in the case: which rows, whose, and what a person's decision changes."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from case_builder import CaseBuilder

from forensics.case.ask import ask
from forensics.case.category_review import CHOICES, review_category
from forensics.case.errors import UsageError
from forensics.case.store import Case
from forensics.cli.review import Category
from forensics.scope.run import Parameters, run
from forensics.text.sensitive import CATEGORIES
from forensics.timeline import run as timeline

CARD = "card 4111 1111 1111 1111 for jane@example.com"
PLAIN = "the barge leaves the upper lock at dawn with nine crates of slate"


def builder() -> CaseBuilder:
    b = CaseBuilder()
    alpha = b.request("a1", "alpha", 0, 10, prompt=CARD)
    gamma = b.request("g1", "gamma", 0, 10, prompt=PLAIN)
    beta = b.request("b1", "beta", 20, 30, response=f"😀 e\u0301 {CARD}")
    delta = b.request("d1", "delta", 20, 30, response=PLAIN)
    b.fragment("leak-1", beta, 5, 5 + len(CARD), ["alpha"], [(alpha, "prompt")])
    b.fragment("leak-2", delta, 0, len(PLAIN), ["gamma"], [(gamma, "prompt")])
    return b


def scoped(case: Case) -> None:
    timeline.run(case, timeline.Parameters())
    run(case, Parameters())


def categories(root: Path) -> dict[str, str]:
    with (root / "out/affected_tenants.csv").open(newline="", encoding="utf-8") as file:
        return {row["tenant_id"]: row["categories"] for row in csv.DictReader(file)}


def in_force(case: Case) -> set[tuple[Any, ...]]:
    return {
        (r["fragment_id"], r["category"], r["detector"], r["start"], r["end"], r["checked"])
        for r in ask(case, "categories").records()
    }


def test_labels_stand_where_the_text_is_and_reach_the_list_of_tenants(tmp_path: Path) -> None:
    with builder().write(tmp_path / "c") as case:
        scoped(case)
        assert in_force(case) == {
            ("leak-1", "payment", "card number", 10, 29, "no"),
            ("leak-1", "email", "e-mail shape", 34, 50, "no"),
            ("leak-2", "not_classified", "none", 0, len(PLAIN), "no"),
        }
        assert [r["category"] for r in ask(case, "categories-of-tenant", {"tenant": "alpha"}).records()] == [
            "email",
            "payment",
        ]
    assert categories(tmp_path / "c") == {
        "alpha": "email;payment", "beta": "email;payment", "delta": "not_classified", "gamma": "not_classified",
    }  # fmt: skip


def test_a_person_has_the_last_word(tmp_path: Path) -> None:
    with builder().write(tmp_path / "c") as case:
        scoped(case)
        review_category(case, "leak-1", "email", "reject", "an example address", "P. Erson")
        review_category(case, "leak-1", "payment", "accept", "seen", "P. Erson")
        review_category(case, "leak-2", "health", "accept", "names an illness by its local word", "P. Erson")
        scoped(case)
        assert {(f, c, d, k) for f, c, d, _, _, k in in_force(case)} == {
            ("leak-1", "payment", "card number", "yes"),
            ("leak-2", "health", "person", "yes"),
        }
        review_category(case, "leak-1", "none", "accept", "the test card", "P. Erson")
        review_category(case, "leak-1", "payment", "reject", "the test card", "P. Erson")
        review_category(case, "leak-2", "health", "reject", "no", "P. Erson")
        scoped(case)
        assert {(f, c, k) for f, c, _, _, _, k in in_force(case)} == {
            ("leak-1", "none", "yes"), ("leak-2", "not_classified", "no"),
        }  # fmt: skip
    assert categories(tmp_path / "c")["alpha"] == "none"
    log = (tmp_path / "c/custody.jsonl").read_text()
    assert log.count("category ") == 6 and "4111" not in log


def test_wrong_decisions_are_refused(tmp_path: Path) -> None:
    with builder().write(tmp_path / "c") as case:
        scoped(case)
        for category, decision, reason, name in (
            ("wealth", "accept", "r", "n"), ("health", "maybe", "r", "n"), ("health", "accept", " ", "n"), ("health", "accept", "r", ""),
        ):  # fmt: skip
            with pytest.raises(UsageError):
                review_category(case, "leak-1", category, decision, reason, name)


def test_the_command_line_knows_every_category() -> None:
    assert tuple(item.value for item in Category) == CHOICES == (*CATEGORIES, "none")
