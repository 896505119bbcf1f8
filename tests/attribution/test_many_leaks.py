"""One passage to many victims, many passages at once, and leaks whose owner has no answer in the logs."""

from __future__ import annotations

import random
from typing import Any

import pytest

SECRET = "the depot in Halloran Street shipped seventeen crates of printed ledgers to the wrong quay on Tuesday"
NOTE = f"Note: {SECRET}."
QUESTIONS = (
    ("How are eggs boiled?", "Seven minutes. "),
    ("Which rivers are long?", "The Danube. "),
    ("Why do cats purr?", "They are pleased. "),
    ("What is a fugue?", "A kind of music. "),
    ("How tall is a giraffe?", "Five metres. "),
    ("Is tea better than coffee?", "For some. "),
)


def victims(scene: Any, count: int, passage: str) -> list[str]:
    """The same passage in answers that are otherwise unlike."""
    return [
        scene.call(f"victim-{i}", question, f"{answer}{passage}; {answer}", 60 + 20 * i)
        for i, (question, answer) in enumerate(QUESTIONS[:count])
    ]


@pytest.mark.parametrize("count", [1, 2, 3, 6])
def test_a_leak_to_many_does_not_hide_itself(scene: Any, count: int) -> None:
    scene.traffic()
    scene.call("alpha", NOTE, "Noted.", 0)
    found = victims(scene, count, SECRET)
    result = scene.run()
    assert {row["recipient_request_id"]: row["sources"] for row in result.fragments} == {v: ["alpha"] for v in found}


@pytest.mark.parametrize("count", [1, 2, 3, 6])
def test_a_number_leaked_to_many_does_not_hide_itself(scene: Any, count: int) -> None:
    scene.traffic()
    scene.call("alpha", "Close account 40718229516304172 by Friday.", "It is closed.", 0)
    found = victims(scene, count, "40718229516304172")
    result = scene.run()
    assert {row["recipient_request_id"]: row["sources"] for row in result.fragments} == {v: ["alpha"] for v in found}


@pytest.mark.parametrize("complaints", [1, 2, 3])
def test_complaints_do_not_hide_the_leak(scene: Any, complaints: int) -> None:
    scene.traffic()
    scene.call("alpha", NOTE, "Noted.", 0)
    found = victims(scene, complaints, SECRET)
    for i in range(complaints):
        scene.call(f"victim-{i}", f"Number {i} asks why you say that {SECRET}?", "Sorry.", 300 + i)
    result = scene.run()
    assert {row["recipient_request_id"]: row["sources"] for row in result.fragments} == {v: ["alpha"] for v in found}


@pytest.mark.parametrize("later", [1, 2])
def test_tenants_who_send_it_later_do_not_hide_the_leak(scene: Any, later: int) -> None:
    """What is sent after the response had finished cannot explain it."""
    scene.traffic()
    scene.call("alpha", NOTE, "Noted.", 0)
    found = victims(scene, 1, SECRET)
    for i in range(later):
        scene.call(f"reader-{i}", f"Reader {i} has heard that {SECRET}.", "I see.", 300 + i)
    result = scene.run()
    assert {row["recipient_request_id"]: row["sources"] for row in result.fragments} == {v: ["alpha"] for v in found}


@pytest.mark.parametrize("later", [3, 4])
def test_four_suppliers_make_it_shared_whenever_they_send_it(scene: Any, later: int) -> None:
    """Suppliers are counted over the whole log: alpha and three later ones are four."""
    scene.traffic()
    scene.call("alpha", NOTE, "Noted.", 0)
    (victim,) = victims(scene, 1, SECRET)
    for i in range(later):
        scene.call(f"reader-{i}", f"Reader {i} has heard that {SECRET}.", "I see.", 300 + i)
    result = scene.run()
    assert result.fragments == []
    assert result.rules(victim) == {"shared"}


def test_one_passage_twice_in_one_response_is_two_fragments(scene: Any) -> None:
    answer = f"Well, {SECRET}! Again: {SECRET}! Done."
    scene.traffic()
    scene.call("alpha", NOTE, "Noted.", 0)
    scene.call("beta", QUESTIONS[0][0], answer, 60)
    first = answer.index(SECRET)
    second = answer.index(SECRET, first + 1)
    assert [(row["start"], row["end"], row["sources"]) for row in scene.run().fragments] == [
        (first, first + len(SECRET), ["alpha"]),
        (second, second + len(SECRET), ["alpha"]),
    ]


def test_what_the_own_prompt_explains_is_cut_off(scene: Any) -> None:
    """The recipient knows the second half; only the first half is foreign."""
    answer = f"Well, {SECRET}!"
    scene.traffic()
    scene.call("alpha", NOTE, "Noted.", 0)
    scene.call("beta", f"I know of {SECRET[50:]}.", answer, 60)
    fragment = scene.run().only()
    assert (fragment["start"], fragment["end"]) == (6, 6 + 50)


def test_spacing_out_a_passage_adds_no_information(scene: Any) -> None:
    scene.traffic()
    scene.call("alpha", NOTE, "Noted.", 0)
    scene.call("beta", QUESTIONS[0][0], f"Well, {SECRET}!", 60)
    plain = scene.run().only()["bits"]
    scene.records[-1]["response"]["choices"][0]["message"]["content"] = "Well, " + "\u200b".join(SECRET) + "!"
    assert scene.run().only()["bits"] <= 1.2 * plain


OWNED = "Draft a reply to Okonkwo about the seventeen ledger crates that Halloran depot sent to Kestrel quay."
ANSWER = (
    "Dear Mr Okonkwo, we regret the error. All seventeen crates left our Halloran depot on the morning barge and "
    "reached Kestrel by noon; the carrier will waive storage and return every ledger to you before Thursday."
)


def test_a_whole_answer_whose_owner_was_given_another_one(scene: Any) -> None:
    """Two answers were swapped, or the owner's was lost: nothing stands in the logs twice, the question tells."""
    scene.traffic()
    scene.call("alpha", OWNED, "Boil them for seven minutes, then cool them.", 0, lasts=10)
    victim = scene.call("beta", "How are eggs boiled?", ANSWER, 2, lasts=9)
    found = scene.run().of(victim)
    assert [(row["kind"], row["sources"]) for row in found] == [("whole_response", ["alpha"])]


def test_answers_shifted_by_one_along_a_worker(scene: Any) -> None:
    questions = [(OWNED, ANSWER), *QUESTIONS]
    for i, (question, _) in enumerate(questions):
        scene.call(f"t-{i}", question, questions[i - 1][1] if i else "Hello.", 10 * i, lasts=15, request_id=f"q-{i}")
    assert [(row["recipient_request_id"], row["sources"]) for row in scene.run().fragments] == [("q-1", ["t-0"])]


# -- many passages in one case -----------------------------------------------------------------------------------------

ALPHABETS = {
    "latin": ("abcdefghijklmnopqrstuvwxyz", 1),
    "hebrew": ("אבגדהוזחטיכלמנסעפצקרשת", 1),
    "arabic": ("ابتثجحدذرزسشصضطظعغفقكلمنهوي", 1),
    "cyrillic": ("абвгдезиклмнопрстуфхцчшыэюя", 1),
    "hangul": ("한국전자계약서고객번호은행송금청구회의기록료분석가나다라마바사아", 2),
    "kana": ("あいうえおかきくけこさしすせそたちつてとなにぬねのはひふへほ", 2),
    "han": ("订单号码客户合同发票银行账款项目会议记录数据分析系统网络安全管理服务技术支持", 3),
}


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_every_planted_passage_is_found_in_place(scene: Any, seed: int) -> None:
    """56 pairs of tenants; passages of weight 40 to 90 in every script at random places, none missed, none invented.

    Fewer than 20 Han signs may be `possible`: none of them is a word that is rare by itself.
    """
    dice = random.Random(seed)
    planted = {}
    weighty = set()
    for i in range(56):
        letters, weight = ALPHABETS[sorted(ALPHABETS)[i % len(ALPHABETS)]]
        signs = dice.choices(letters, k=dice.randint(40, 90) // weight + 1)
        spaced = [sign + (" " if weight == 1 and k % 6 == 5 else "") for k, sign in enumerate(signs)]
        passage = "".join(spaced).strip()
        pads = ["".join(dice.choices(letters, k=dice.randint(0, 120))) for _ in range(4)]
        # Ω and Θ stand next to the passage, so that it cannot be longer by chance
        scene.call(f"source-{i}", f"{pads[0]}Ω {passage} Ω{pads[1]}", "Noted.", 10 * i)
        answer = f"{pads[2]}Θ {passage} Θ{pads[3]}"
        # the recipient writes the script too, so that no switch of script is reported besides
        own = "".join(dice.choices(letters, k=30))
        victim = scene.call(f"recipient-{i}", own, answer, 10 * i + 5)
        start = len(pads[2]) + 2
        planted[victim] = (start, start + len(passage), (f"source-{i}",))
        if weight < 3 or len(signs) * weight >= 60:
            weighty.add(victim)
    result = scene.run()
    assert {
        row["recipient_request_id"]: (row["start"], row["end"], tuple(row["sources"])) for row in result.fragments
    } == planted
    assert len(result.fragments) == len(planted)
    verdicts = {row["recipient_request_id"]: row["machine_verdict"] for row in result.fragments}
    assert set(verdicts.values()) <= {"probable", "possible"}
    assert {verdicts[victim] for victim in weighty} == {"probable"}
