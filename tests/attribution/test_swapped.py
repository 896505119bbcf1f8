"""Answers that stand in the logs once, under the wrong request: swapped, shifted, or the owner's lost."""

from __future__ import annotations

from typing import Any

import pytest

from forensics.attribution.candidate import Excluded
from forensics.attribution.displaced import is_others
from forensics.attribution.parameters import Parameters
from forensics.attribution.swapped import _spans

# Questions of unlike subjects, each with an answer that takes up its rare words.
CASES = (
    (
        "Draft a reply to Okonkwo about the seventeen ledger crates that Halloran depot sent to Kestrel quay.",
        "Dear Mr Okonkwo, all seventeen ledger crates left our Halloran depot by barge and reached Kestrel quay by noon.",
    ),
    (
        "Why does the Brandvold turbine trip when condenser vacuum drops below the governor threshold?",
        "The Brandvold governor reads condenser vacuum; under its threshold the turbine trips to spare the blades.",
    ),
    (
        "Summarise the Quillfeather inheritance dispute over vineyards near Montsauche and the forged codicil.",
        "The Quillfeather heirs contest the codicil as forged; the vineyards near Montsauche stay in escrow meanwhile.",
    ),
    (
        "Which antifungal suits a tortoise with shell ulcers after hibernation in the Pemberley sanctuary?",
        "For shell ulcers after hibernation the Pemberley sanctuary gives its tortoise an antifungal paste twice daily.",
    ),
)
OWNED, ANSWER = CASES[0]


def found(result: Any) -> list[tuple[str, str, list[str]]]:
    return [(row["recipient_request_id"], row["kind"], row["sources"]) for row in result.fragments]


def test_two_answers_swapped(scene: Any) -> None:
    scene.traffic()
    first = scene.call("alpha", CASES[0][0], CASES[1][1], 0, lasts=10)
    second = scene.call("beta", CASES[1][0], CASES[0][1], 2, lasts=9)
    assert found(scene.run()) == [(first, "whole_response", ["beta"]), (second, "whole_response", ["alpha"])]


def test_a_chain_of_shifted_answers_is_probable(scene: Any) -> None:
    """Each got the answer of the one before."""
    scene.traffic()
    ids = [
        scene.call(f"t-{i}", question, CASES[i - 1][1], 5 * i, lasts=12, request_id=f"q-{i}")
        for i, (question, _) in enumerate(CASES)
    ]
    result = scene.run()
    # The first one's answer is the last one's, which had not yet asked: foreign, since its own went to the second.
    assert found(result) == [
        (ids[0], "whole_response", []),
        *((ids[i], "whole_response", [f"t-{i - 1}"]) for i in range(1, len(CASES))),
    ]
    assert [row["machine_verdict"] for row in result.fragments] == ["undetermined"] + ["probable"] * (len(CASES) - 1)


def test_the_evidence_points_into_the_other_prompt(scene: Any) -> None:
    scene.traffic()
    source = scene.call("alpha", OWNED, "Boil them for seven minutes.", 0, lasts=10)
    victim = scene.call("beta", "How are eggs boiled?", ANSWER, 2, lasts=9)
    result = scene.run()
    (fragment,) = result.of(victim)
    best = result.best(fragment)
    assert (best["source_request_id"], best["side"], best["named"]) == (source, "prompt", True)
    assert "Okonkwo" in OWNED[best["start"] : best["end"]]
    assert (fragment["start"], fragment["end"]) == (0, len(ANSWER) - 1)


def test_both_copies_logged_is_one_finding(scene: Any) -> None:
    scene.traffic()
    scene.call("alpha", OWNED, ANSWER, 0, lasts=10)
    victim = scene.call("beta", "How are eggs boiled?", ANSWER, 2, lasts=19)
    assert found(scene.run()) == [(victim, "whole_response", ["alpha"])]


def test_an_answer_to_another_request_of_the_same_tenant_is_not_foreign(scene: Any) -> None:
    scene.traffic()
    scene.call("alpha", OWNED, "Boil them for seven minutes.", 0, lasts=10)
    scene.call("alpha", "How are eggs boiled?", ANSWER, 2, lasts=9)
    assert found(scene.run()) == []


def test_both_asked_the_same(scene: Any) -> None:
    """The answer suits its own prompt as well."""
    scene.traffic()
    scene.call("alpha", OWNED, "I cannot help with that.", 0, lasts=10)
    scene.call("beta", OWNED, ANSWER, 2, lasts=9)
    assert found(scene.run()) == []


def test_the_other_request_was_answered(scene: Any) -> None:
    """Two tenants were told of one matter, and one of them had asked: a drift of the topic, no swap."""
    scene.traffic()
    scene.call(
        "alpha", OWNED, "The crates went from the Halloran depot to Kestrel, Mr Okonkwo should hear.", 0, lasts=10
    )
    scene.call("beta", "Tell me something.", ANSWER, 2, lasts=9)
    assert found(scene.run()) == []


@pytest.mark.parametrize(
    "answer", ["I cannot help with that request.", "Yes.", "Kestrel.", "```\nfor i in x: pass\n```"]
)
def test_short_answers_and_refusals_say_nothing(scene: Any, answer: str) -> None:
    scene.traffic()
    scene.call("alpha", OWNED, "No.", 0, lasts=10)
    scene.call("beta", CASES[1][0], answer, 2, lasts=9)
    assert found(scene.run()) == []


def test_an_answer_in_another_language_than_its_prompt(scene: Any) -> None:
    """Nobody else writes the language; another tenant's prompt in it shares only everyday words."""
    scene.traffic()
    scene.call("alpha", "Wie lange muss man ein Ei kochen, wenn es nicht zu hart werden soll?", "No.", 0, lasts=10)
    answer = "Das ist nicht schwer: man muss nur lange genug warten, wenn es werden soll, und zu den anderen gehen."
    scene.call("beta", "Say something in a foreign language.", answer, 2, lasts=9)
    assert found(scene.run()) == []


def test_long_ago_or_on_another_worker_is_not_near(scene: Any) -> None:
    scene.traffic()
    scene.call("alpha", OWNED, "No.", 0, lasts=10)
    scene.call("beta", "How are eggs boiled?", ANSWER, 7200, lasts=9)
    scene.call("gamma", "How are eggs fried?", CASES[1][1], 20, lasts=9, worker="w7")
    scene.call("delta", CASES[1][0], "No.", 15, lasts=9, worker="w8")
    assert found(scene.run()) == []


@pytest.mark.parametrize(("second", "sources"), [(2.0, ["alpha"]), (600.0, None)])
def test_without_workers_only_the_last_minutes_count(scene: Any, second: float, sources: list[str] | None) -> None:
    scene.traffic(tenants=4)
    for record in scene.records:
        del record["worker"]
    scene.call("alpha", OWNED, "No.", 0, lasts=5, worker=None)
    victim = scene.call("beta", "How are eggs boiled?", ANSWER, second, lasts=9, worker=None)
    assert found(scene.run()) == ([(victim, "whole_response", sources)] if sources else [])


def test_what_two_tenants_asked_alike_is_a_set(scene: Any) -> None:
    scene.traffic()
    scene.call("alpha", OWNED, "No.", 0, lasts=10)
    scene.call("gamma", OWNED, "No.", 1, lasts=10)
    victim = scene.call("beta", "How are eggs boiled?", ANSWER, 2, lasts=9)
    ((request, kind, sources),) = found(scene.run())
    assert (request, kind) == (victim, "whole_response")
    assert sources in (["alpha", "gamma"], [])


def test_a_request_that_came_after_the_answer_is_no_source(scene: Any) -> None:
    scene.traffic()
    scene.call("beta", "How are eggs boiled?", ANSWER, 0, lasts=5)
    scene.call("alpha", OWNED, "No.", 6, lasts=5)
    assert found(scene.run()) == []


def test_what_the_tenant_itself_was_answered_before_is_no_other_tenants_answer(scene: Any) -> None:
    """Elsewhere and long before: its own, however well it fits the question of a neighbour that got no answer."""
    scene.traffic(tenants=4)
    text = "The ledgers of Quarrington mill went to the Tromsoe archive, box four, behind the third shelf of maps."
    scene.call("beta", "Tell me about the Quarrington mill ledgers.", text, -40_000, worker="w9")
    scene.call(
        "alpha", "Where in the Tromsoe archive are the ledgers of Quarrington mill, which box and shelf?", "Hm.", 0
    )
    scene.call("beta", "And once more?", text, 30)
    assert scene.run().fragments == []


CLAUSE = "each Brackenthwaite ledger is weighed twice by Ottoline Vasseur before porters lift it"


def test_a_passage_names_the_tenant_of_a_whole_answer_whose_request_was_left_unanswered(scene: Any) -> None:
    """The subject alone would name nobody, since the owner has no logged response; the copied clause does."""
    scene.traffic()
    scene.call("alpha", f"{OWNED} Quote our rule: {CLAUSE}.", None, 0, lasts=10)
    answer = (
        "Kestrel has them since noon, and no quay dues were asked; Okonkwo may send a porter. The depot, as Halloran "
        f"says, will pay for ledger and crates, for seventeen in all. Our rule is: {CLAUSE}."
    )
    victim = scene.call("beta", "How are eggs boiled?", answer, 2, lasts=9)
    result = scene.run()
    whole = [row for row in result.of(victim) if row["kind"] == "whole_response"]
    assert [(row["sources"], row["machine_verdict"]) for row in whole] == [(["alpha"], "possible")]
    assert {tuple(row["sources"]) for row in result.fragments} == {("alpha",)}


def test_what_stands_in_the_place_of_an_answer_that_went_elsewhere_is_undetermined(scene: Any) -> None:
    """Alpha's answer went to beta; what alpha got is not its own, and nothing says whose it is."""
    stray = (
        "Boil them gently for seven minutes, lift them out with a spoon and hold them under the cold tap for a while."
    )
    scene.traffic()
    owner = scene.call("alpha", OWNED, stray, 0, lasts=10)
    victim = scene.call("beta", "What is a fair price?", ANSWER, 2, lasts=9)
    result = scene.run()
    assert {(row["recipient_request_id"], tuple(row["sources"])) for row in result.fragments} == {
        (victim, ("alpha",)),
        (owner, ()),
    }


def test_passages_of_a_document_of_two_tenants_name_both_though_one_was_left_unanswered(scene: Any) -> None:
    """That alpha was answered is no proof: its text may have been read by the call that was answered wrongly."""
    document = f"{CLAUSE}. The Halloran tariff for quay storage rises on the ninth day, as Okonkwo signed in Tromsoe."
    scene.traffic()
    scene.call("alpha", f"Sum up: {document}", "Weigh each ledger twice; the Halloran tariff rises.", 0, lasts=5)
    scene.call("gamma", f"What follows from this? {document}", None, 10, lasts=10)
    answer = (
        f"It follows that {CLAUSE}, and later on that the Halloran tariff for quay storage rises on the ninth day, as "
        "Okonkwo signed in Tromsoe, so plan for both."
    )
    scene.call("beta", "How are eggs boiled?", answer, 12, lasts=9)
    named = {name for row in scene.run().fragments for name in row["sources"]}
    assert named in ({"alpha", "gamma"}, set())


@pytest.mark.parametrize(
    ("rule", "holders", "set_aside"), [("model_phrase", 9, True), ("model_phrase", 2, False), ("shared", 2, True)]
)
def test_what_the_model_says_to_many_is_not_the_subject_of_an_answer(rule: str, holders: int, set_aside: bool) -> None:
    """What it said to two may be the swap itself."""
    excluded = [Excluded(3, 10, 90, rule, "", holders)]
    assert _spans([], excluded, Parameters().phrase_limit) == ({3: [(10, 90, False)]} if set_aside else {})


@pytest.mark.parametrize(
    ("only", "others"),
    [
        ({4: (90.0, 0.0)}, True),
        ({4: (90.0, 30.0)}, True),
        ({4: (90.0, 31.0)}, False),
        ({4: (9.0, 9.0), 5: (60.0, 9.0)}, True),
    ],
)
def test_an_answer_that_speaks_of_the_own_matter_too_is_no_other_tenants_whole_answer(
    only: dict[int, tuple[float, float]], others: bool
) -> None:
    assert is_others(only) == others
