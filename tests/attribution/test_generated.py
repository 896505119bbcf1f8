"""Text that nobody supplied: another request's answer, the same question twice, a passage without an owner."""

from __future__ import annotations

from typing import Any

import pytest

ASKED = "Draft a reply to Okonkwo about the seventeen ledger crates that Halloran depot sent to Kestrel quay."
ANSWER = (
    "Dear Mr Okonkwo, we regret the error. All seventeen crates left our Halloran depot on the morning barge and "
    "reached Kestrel by noon; the carrier will waive storage and return every ledger to you before Thursday."
)
QUESTION = "How are eggs boiled?"
# Nothing in it is about any question of these cases.
STRAY = (
    "Zuleika Brandreth's chartered schooner Peregrine anchors off Lundy at dusk with forty barrels of madder and a "
    "cracked astrolabe that the harbourmaster Penhaligon has impounded pending tariffs."
)


def overlapping(scene: Any, answer_of_beta: str, question_of_beta: str = QUESTION) -> tuple[Any, str, str]:
    """Alpha asks and is answered; beta's call runs on the same worker at the same time."""
    scene.traffic()
    first = scene.call("alpha", ASKED, ANSWER, 0, lasts=10)
    second = scene.call("beta", question_of_beta, answer_of_beta, 4, lasts=12)
    return scene.run(), first, second


def test_a_whole_answer_delivered_to_another_names_the_one_who_asked(scene: Any) -> None:
    result, first, second = overlapping(scene, ANSWER)
    fragment = result.only()
    assert (fragment["recipient_request_id"], fragment["kind"]) == (second, "whole_response")
    assert (fragment["sources"], fragment["machine_verdict"]) == (["alpha"], "probable")
    assert (fragment["start"], fragment["end"]) == (0, len(ANSWER))  # with the full stop, which is no unit
    best = result.best(fragment)
    assert (best["source_request_id"], best["side"], best["field"]) == (first, "response", "choices[0].content")


def test_a_part_of_an_answer_names_the_one_who_asked(scene: Any) -> None:
    result, _, second = overlapping(
        scene, "Boil them for seven minutes. " + ANSWER[20:150] + "... Then cool them. " * 4
    )
    fragment = result.only()
    assert (fragment["recipient_request_id"], fragment["kind"]) == (second, "verbatim")
    assert fragment["sources"] == ["alpha"]


def test_the_answer_belongs_to_the_one_whose_question_it_answers_not_to_the_first(scene: Any) -> None:
    """Beta is handed alpha's answer before alpha gets it. Alpha, who asked, is no victim."""
    scene.traffic()
    scene.call("beta", QUESTION, ANSWER, 2, lasts=4)
    owner = scene.call("alpha", ASKED, ANSWER, 0, lasts=10)
    result = scene.run()
    assert result.of(owner) == []
    assert {tuple(row["sources"]) for row in result.fragments} <= {("alpha",), ()}


def test_the_same_question_has_the_same_answer(scene: Any) -> None:
    result, _, second = overlapping(scene, ANSWER, ASKED)
    assert result.fragments == []
    assert result.rules(second) == {"same_question"}


def test_a_like_question_has_the_same_answer(scene: Any) -> None:
    question = (
        "Please draft a reply to Okonkwo on the seventeen ledger crates Halloran depot sent to Kestrel quay, thanks"
    )
    result, _, second = overlapping(scene, ANSWER, question)
    assert result.fragments == []
    assert result.rules(second) <= {"same_question", "own_material", "echo"} != set()


def test_a_passage_that_nobody_supplied_names_nobody(scene: Any) -> None:
    scene.traffic()
    first = scene.call("alpha", "Name three rivers.", f"Danube, Rhine, Loire. {STRAY}", 0, lasts=10)
    second = scene.call("beta", QUESTION, f"Boil them for a while! {STRAY}", 4, lasts=12)
    result = scene.run()
    assert second in {row["recipient_request_id"] for row in result.fragments}
    assert {row["recipient_request_id"] for row in result.fragments} <= {first, second}
    for row in result.fragments:
        assert (row["kind"], row["machine_verdict"], row["sources"]) == ("undetermined", "undetermined", [])
    assert not any(row["named"] for row in result.appearances)


def test_both_tenants_of_such_a_passage_may_be_victims(scene: Any) -> None:
    scene.traffic()
    first = scene.call("alpha", "Name three rivers.", f"Danube, Rhine, Loire. {STRAY}", 0, lasts=10)
    second = scene.call("beta", QUESTION, f"Boil them for a while! {STRAY}", 4, lasts=12)
    assert {row["recipient_request_id"] for row in scene.run().fragments} == {first, second}


def test_the_first_to_be_given_an_unexplained_passage_is_reported_with_the_second(scene: Any) -> None:
    """In everyday words, too: which of the two it belongs to cannot be told."""
    passage = (
        "After that she went down to the water with her brother and two of the others, and they stayed there all day "
        "long because none of them wanted to be the one who had to go home first and say what had been done."
    )
    scene.traffic()
    first = scene.call("alpha", "Name three rivers.", f"Danube, Rhine, Loire. {passage}", 0, lasts=10)
    second = scene.call("beta", QUESTION, f"Boil them for a while! {passage}", 4, lasts=12)
    result = scene.run()
    assert {row["recipient_request_id"] for row in result.fragments} == {first, second}
    assert all(row["sources"] == [] for row in result.fragments)


QUOTED = "Zuleika Brandreth's chartered schooner Peregrine anchors off Lundy at dusk with madder."


@pytest.mark.parametrize(("worker", "reported"), [("w0", True), ("w5", False)])
def test_a_passage_given_in_several_places_is_a_habit(scene: Any, worker: str, reported: bool) -> None:
    """One fault leaves its passage in one place."""
    scene.traffic()
    scene.call("gamma", "Why is glass clear?", f"Light passes. {QUOTED}", -60, lasts=10, worker=worker)
    scene.call("alpha", "Name three rivers.", f"Danube, Rhine, Loire. {QUOTED}", 0, lasts=10)
    scene.call("beta", QUESTION, f"Boil them for a while! {QUOTED}", 40, lasts=12)
    later = {row["recipient_request_id"] for row in scene.run().fragments}
    assert ("r-006" in later) == reported


@pytest.mark.parametrize(("again", "named"), [(False, True), (True, False)])
def test_what_one_tenant_was_told_twice_is_the_models(scene: Any, again: bool, named: bool) -> None:
    """Alpha's prompt has a word of it by chance; that alone does not make alpha the source of a thing the model repeats."""
    scene.traffic()
    if again:
        scene.call("alpha", "Name three rivers.", f"Danube, Rhine, Loire. {QUOTED}", -60, lasts=10)
    scene.call("alpha", "Which schooner anchors at dusk?", f"As is known: {QUOTED}", 0, lasts=10)
    victim = scene.call("beta", QUESTION, f"Boil them for a while! {QUOTED}", 4, lasts=12)
    assert any(row["sources"] == ["alpha"] for row in scene.run().of(victim)) == named


def test_that_somebody_else_was_near_does_not_speak_for_a_tenant_elsewhere(scene: Any) -> None:
    """Alpha's prompt has a word of the passage, on another worker; gamma, who was near, has none."""
    scene.traffic()
    passage = "Brandreth anchors off Lundy at dusk with madder."
    scene.call("alpha", "Where did Brandreth go with madder?", f"As told: {passage}", -600, lasts=10, worker="w5")
    scene.call("gamma", "Why is glass clear?", f"Light passes. {passage}", 0, lasts=10)
    victim = scene.call("beta", QUESTION, f"Boil them for a while! {passage}", 4, lasts=12)
    assert all(row["sources"] == [] for row in scene.run().of(victim))


def test_a_phrase_that_many_are_given_is_the_models(scene: Any) -> None:
    scene.traffic()
    for i in range(7):
        scene.call(f"t-{i}", f"Question {'abcdefg'[i]}?", f"Answer {i}. {STRAY}", 10 * i, lasts=3)
    result = scene.run()
    assert result.fragments == []
    assert {row["rule"] for row in result.exclusions} == {"model_phrase"}


def test_an_invented_number_given_twice_is_the_models(scene: Any) -> None:
    """Models invent numbers: one that nobody supplied is no leak."""
    scene.traffic()
    scene.call("alpha", "Give me an example number.", "For example 4471998211750, as you like.", 0, lasts=10)
    scene.call("beta", QUESTION, "Boil them. Ticket 4471998211750.", 4, lasts=12)
    assert scene.run().fragments == []


def test_three_words_in_common_are_nothing(scene: Any) -> None:
    result, _, _ = overlapping(scene, "Dear Mr Okonkwo, boil them for seven minutes and cool them under the tap.")
    assert [row for row in result.fragments if row["stratum"] not in ("supplied name", "supplied word")] == []


# -- a script that nothing explains ------------------------------------------------------------------------------------

SWITCHES = {
    "hebrew": "המחסן ברחוב הלורן שלח ביום שלישי שבעה עשר ארגזי פנקסים לרציף הלא נכון",
    "chinese": "霍兰街仓库周二把十七箱账簿错运到三号码头承运人要求先付清仓储费",
    "arabic": "أرسل المستودع في شارع هالوران سبعة عشر صندوقا من الدفاتر إلى الرصيف الخطأ",
    "russian": "склад на улице Халлоран отправил семнадцать ящиков не на тот причал во вторник",
    "korean": "할로란 거리의 창고가 화요일에 인쇄 장부 열일곱 상자를 잘못된 부두로 보냈다",
    "japanese": "ハロラン通りの倉庫は火曜日に帳簿十七箱を誤った埠頭へ送り保管料を請求された",
}
FILLER = "Put the eggs into boiling water, wait for seven minutes, and then cool them under the tap for a while. "


@pytest.mark.parametrize("script", sorted(SWITCHES))
def test_a_switch_of_script_without_a_reason_is_undetermined(scene: Any, script: str) -> None:
    passage = SWITCHES[script]
    answer = FILLER + passage + ". " + FILLER
    scene.traffic()
    victim = scene.call("beta", QUESTION, answer, 60)
    fragment = scene.run().only()
    assert fragment["recipient_request_id"] == victim
    assert (fragment["kind"], fragment["machine_verdict"], fragment["sources"]) == ("undetermined", "undetermined", [])
    assert (fragment["start"], fragment["end"]) == (len(FILLER), len(FILLER) + len(passage))


@pytest.mark.parametrize("script", sorted(SWITCHES))
@pytest.mark.parametrize("asked", ["Translate the recipe to {name}, please.", "What does {start} mean?"])
def test_a_switch_of_script_with_a_reason_is_not(scene: Any, script: str, asked: str) -> None:
    passage = SWITCHES[script]
    scene.traffic()
    prompt = asked.format(name=script.title(), start=passage[:9])
    scene.call("beta", prompt, FILLER + passage + ". " + FILLER, 60)
    assert scene.run().fragments == []


@pytest.mark.parametrize(("last", "found"), [(QUESTION, 1), ("Which language is this?", 0)])
def test_instructions_that_speak_of_language_ask_for_none(scene: Any, last: str, found: int) -> None:
    system = "Using all your knowledge of language, politics and history, weigh what the input says. " + 8 * FILLER
    scene.traffic()
    answer = "Well. " + SWITCHES["hebrew"] + ". Take care with it, as always."
    asked = scene.call("beta", f"{system}\n{last}", answer, 60)
    assert len(scene.run().of(asked)) == found


def test_a_tenant_that_writes_the_script_elsewhere_explains_it(scene: Any) -> None:
    scene.traffic()
    scene.call("beta", SWITCHES["hebrew"][:30], "OK.", 0)
    scene.call("beta", QUESTION, FILLER + SWITCHES["hebrew"] + ". " + FILLER, 60)
    assert scene.run().fragments == []


@pytest.mark.parametrize("script", sorted(SWITCHES))
def test_what_comes_back_in_the_history_of_the_conversation_explains_nothing(scene: Any, script: str) -> None:
    """The prompt is logged as one text, with the leaked answer inside it."""
    answer = FILLER + SWITCHES[script] + ". " + FILLER
    scene.traffic()
    victim = scene.call("beta", QUESTION, answer, 60)
    scene.call("beta", f"<|user|>{QUESTION}<|assistant|>{answer}<|user|>And soft ones?", "Four minutes.", 120)
    fragment = scene.run().only()
    assert (fragment["recipient_request_id"], fragment["sources"]) == (victim, [])


def test_a_whole_answer_in_a_script_that_nothing_explains(scene: Any) -> None:
    scene.traffic()
    victim = scene.call("beta", QUESTION, SWITCHES["hebrew"], 60)
    fragment = scene.run().only()
    assert (fragment["recipient_request_id"], fragment["kind"], fragment["sources"]) == (victim, "undetermined", [])
    assert (fragment["start"], fragment["end"]) == (0, len(SWITCHES["hebrew"]))


def test_a_name_in_latin_letters_does_not_end_a_foreign_passage(scene: Any) -> None:
    passage = SWITCHES["korean"] + " watch MCP " + SWITCHES["korean"][::-1]
    scene.traffic()
    scene.call("beta", QUESTION, FILLER + passage + ". " + FILLER, 60)
    fragment = scene.run().only()
    assert (fragment["start"], fragment["end"]) == (len(FILLER), len(FILLER) + len(passage))


def test_a_leak_with_a_source_in_another_script_names_the_source(scene: Any) -> None:
    """The switch is explained by the leak: one fragment, with a name."""
    scene.traffic()
    scene.call("alpha", f"({SWITCHES['hebrew']})", "Noted.", 0)
    scene.call("beta", QUESTION, FILLER + SWITCHES["hebrew"] + ". " + FILLER, 60)
    fragment = scene.run().only()
    assert (fragment["kind"], fragment["sources"]) == ("verbatim", ["alpha"])
