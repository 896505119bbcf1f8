"""Passages that belong to the text they were cut out of: told from what models and tenants have in common."""

from __future__ import annotations

from typing import Any

import pytest

# An answer about salt pans; its ordinary words come again in the rest of it.
ASKED = "Which old trade is still alive near Torrevaldo?"
SALT = (
    "The salt pans of Torrevaldo are shallow basins by the sea. In spring the workers open the sluices and let sea water "
    "into the first basin. The water moves slowly from basin to basin while the sun dries it, and the workers rake the "
    "crust before rain can spoil it. In autumn the workers carry the salt from the last basin to the sheds, where it is "
    "washed with sea water and dried. In winter they mend the sluices, clear the basins and wait for the sun."
)
# From the middle of a sentence to the middle of another.
CUT = SALT[SALT.index("slowly from basin") : SALT.index("to the sheds")]
ENGINE = (
    "A diesel motor that will not start in the cold often has a weak battery. Measure the voltage before and during the "
    "attempt. {} Replace the glow plugs in pairs, and check the fuel filter for wax."
)
COLD = "My diesel motor will not start when it is cold. What should I look at first?"


def far_apart(scene: Any, question: str, answer: str) -> tuple[Any, str]:
    """Beta's answer comes an hour after alpha's, from another worker."""
    scene.traffic()
    scene.call("alpha", ASKED, SALT, 0, worker="w1")
    second = scene.call("beta", question, answer, 3600, worker="w2")
    return scene.run(), second


def test_a_stray_excerpt_of_an_answer_is_told_however_far_away_and_names_nobody(scene: Any) -> None:
    """Two victims of a source that no log holds look the same: spliced into that answer, it begins in mid-sentence too."""
    result, second = far_apart(scene, COLD, ENGINE.format(CUT))
    (fragment,) = result.of(second)
    assert (fragment["sources"], fragment["machine_verdict"]) == ([], "undetermined")
    assert "not around it" in fragment["verdict_reason"]
    assert all(row["sources"] == [] for row in result.fragments)


def test_the_same_words_in_an_answer_about_them_are_the_models(scene: Any) -> None:
    """The recipient's own answer goes on about basins and sluices: what models say to many about one matter."""
    own = "Every basin has sluices to the sea. The water is moved {} and the workers rake the basin before rain comes."
    result, second = far_apart(scene, "Tell me how people get salt out of sea water.", own.format(CUT))
    assert [row for row in result.of(second) if row["sources"]] == []


def test_an_answer_that_the_other_prompt_quotes_with_its_question_is_the_same_question(scene: Any) -> None:
    """Alpha pastes a conversation; beta asks what was asked in it, and is answered alike."""
    question = (
        "Act as an editor who polishes the abstracts of colleagues, and avoid the passive voice wherever you can."
    )
    reply = "Gladly! Paste the abstract that you would like me to polish, and name the journal it is meant for."
    scene.traffic()
    scene.call("alpha", f"User: {question}\n\nAssistant: {reply}\n\nUser: It is about eels.", "Thanks.", 0)
    second = scene.call("beta", question, reply, 60)
    result = scene.run()
    assert result.fragments == []
    assert "same_question" in result.rules(second)


@pytest.mark.parametrize(
    ("label", "explained"),
    [
        ("\n\nAssistant: ", True), ("\nAI: ", True), ("\n<bot>: ", True), ("\n\n**Answer:**\n", True),
        ("\n", False), (" By the way, the assistant said this in the letter: ", False),
    ],
)  # fmt: skip
def test_a_short_question_right_before_its_answer_in_a_transcript(scene: Any, label: str, explained: bool) -> None:
    """The whole question, and the label of an answer behind it; without the label it is nobody's question."""
    reply = "Paste the abstract that Dorothea Brankovic sent to Zemplen, and name the journal it is meant for."
    scene.traffic()
    scene.call("alpha", f"User: Polish it for me?{label}{reply}\n\nUser: It is about eels.", "Thanks.", 0)
    second = scene.call("beta", "Polish it for me?", reply, 60)
    result = scene.run()
    assert ("same_question" in result.rules(second)) == explained
    assert (result.fragments == []) == explained


def test_of_two_suppliers_of_the_same_letters_the_one_with_the_same_signs_is_named(scene: Any) -> None:
    """Both hold the letters; only one writes them with these signs."""
    passage = "zeta_brackish(3) -> 'oxbow', zeta_brackish(4) -> 'tarn_pool', zeta_brackish(9) -> 'mere_inlet'"
    other = passage.replace("_", "").replace(" -> ", ": ").replace("'", '"').replace("(", "[").replace(")", "]")
    scene.traffic()
    scene.call("alpha", f"Explain this table for me: {passage}", "It maps numbers to waters.", 0)
    scene.call("gamma", f"Explain this table for me: {other}", "It maps numbers to waters.", 20)
    second = scene.call("beta", COLD, ENGINE.format(passage), 60)
    assert result_sources(scene.run(), second) == [["alpha"]]


def result_sources(result: Any, request: str) -> list[list[str]]:
    """Sources of the fragments of one request."""
    return [row["sources"] for row in result.of(request)]


QUOTED = "The lamplighter counts his hollow stars and sells the morning to the ferryman for bread"


@pytest.mark.parametrize(
    ("question", "answer", "verdict"),
    [
        ("Give me a line of poetry for our menu. A verse about dawn would be nice.", "Orlin wrote: {}.", "possible"),
        ("Nenne ein passendes Zitat für die Karte.", "Vielleicht dieses: „{}“", "possible"),
        # Nobody asked for a quotation.
        ("Which colour suits a menu?", "Take a warm grey: {}.", "probable"),
        # Asked for, but not presented as one.
        ("Give me a verse for our menu.", "Ours is about the sea and {} or so the board says today", "probable"),
    ],
)
def test_a_quotation_that_was_asked_for_and_presented_as_one_is_no_more_than_possible(
    scene: Any, question: str, answer: str, verdict: str
) -> None:
    scene.traffic()
    scene.call("alpha", f"What does this mean? {QUOTED}", "It is about dawn.", 0)
    second = scene.call("beta", question, answer.format(QUOTED), 30)
    result = scene.run()
    assert [(row["sources"], row["machine_verdict"]) for row in result.of(second)] == [(["alpha"], verdict)]


def test_two_victims_of_an_unknown_source_do_not_name_each_other(scene: Any) -> None:
    """One of them even got the passage twice: its words stand around it, but they are the passage again."""
    scene.traffic()
    first = scene.call(
        "alpha", "Name three rivers.", f"Danube, Rhine and {CUT}. And once more, {CUT} Loire.", 0, worker="w1"
    )
    second = scene.call("beta", COLD, ENGINE.format(CUT), 3600, worker="w2")
    result = scene.run()
    assert [row["sources"] for row in result.fragments if row["recipient_request_id"] in (first, second)] in (
        [], [[]], [[], []],
    )  # fmt: skip
