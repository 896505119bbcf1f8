"""Copies with edits: found, at about their place, of kind `altered`, from the right tenant; own material is own."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from forensics.attribution.candidates import Alteration, Candidate
from forensics.attribution.findings import Evidence
from forensics.attribution.judge import least_bits
from forensics.attribution.parameters import Parameters
from forensics.attribution.strength import Strength

NOTE = (
    "the depot in Halloran Street shipped seventeen crates of printed ledgers to the wrong quay on Tuesday, "
    "so the carrier Brankovic wants the storage fee of 912.40 paid before Friday noon and refuses a transfer"
)
NOTES = {
    "english": NOTE,
    "german": (
        "das Lager in der Halloranstraße schickte am Dienstag siebzehn Kisten Geschäftsbücher zum falschen Kai, "
        "weshalb der Spediteur Brankowitsch die Lagergebühr vor Freitagmittag verlangt und keine Überweisung annimmt"
    ),
    "polish": (
        "magazyn przy ulicy Halorana wysłał we wtorek siedemnaście skrzyń ksiąg rachunkowych na niewłaściwe nabrzeże, "
        "dlatego przewoźnik Brankowicz żąda opłaty za składowanie przed piątkowym południem i odmawia przelewu"
    ),
    "hebrew": (
        "המחסן ברחוב הלורן שלח ביום שלישי שבעה עשר ארגזי פנקסים לרציף הלא נכון ולכן המוביל ברנקוביץ דורש את דמי "
        "האחסון לפני יום שישי בצהריים ומסרב לקבל העברה בנקאית מחשבון החברה החדש"
    ),
    "arabic": (
        "أرسل المستودع في شارع هالوران سبعة عشر صندوقا من الدفاتر إلى الرصيف الخطأ يوم الثلاثاء ولذلك يطلب الناقل "
        "برانكوفيتش رسوم التخزين قبل ظهر الجمعة ويرفض قبول التحويل من الحساب الجديد"
    ),
    "chinese": (
        "霍兰街仓库周二把十七箱账簿错运到三号码头承运人布兰科要求先付清仓储费再放货并且拒绝接受新账户的银行转账"
        "同时通知我们星期五中午以前必须派人到港口办公室签字取回提货单"
    ),
    "japanese": (
        "ハロラン通りの倉庫は火曜日に帳簿十七箱を誤った埠頭へ送り運送会社のブランコ氏は金曜日の正午までに保管料の支払い"
        "を求め新しい口座からの振込を断っているため担当者を港の事務所へ派遣する必要があります"
    ),
    "korean": (
        "할로란 거리의 창고가 화요일에 인쇄 장부 열일곱 상자를 잘못된 부두로 보냈고 운송사 브란코는 금요일 정오 전에 "
        "보관료를 요구하며 새 계좌의 이체를 거절하고 있어서 담당자를 항구 사무실로 보내야 합니다"
    ),
}


def every(text: str, step: int, change: Callable[[str], str]) -> str:
    """Change every `step`-th letter."""
    return "".join(change(c) if place % step == step - 1 and c.isalnum() else c for place, c in enumerate(text))


def drop_words(text: str) -> str:
    return " ".join(word for place, word in enumerate(text.split(" ")) if place % 8 != 5)


def replace_words(text: str) -> str:
    new = ("orchard", "velvet", "thunder", "pocket")
    words = text.split(" ")
    return " ".join(new[place % 4] if place % 8 == 5 else word for place, word in enumerate(words))


def reflow(text: str) -> str:
    """Cells of a few words, each with a name before it, as a table row per three."""
    words = text.split(" ")
    cells = [" ".join(words[i : i + 5]) for i in range(0, len(words), 5)]
    return "\n".join(f"| {number}x | {cell} |" for number, cell in enumerate(cells))


EDITS: dict[str, Callable[[str], str]] = {
    "noise": lambda text: every(text, 17, lambda c: "x"),
    "letters lost": lambda text: every(text, 17, lambda c: ""),
    "letters added": lambda text: every(text, 17, lambda c: c + "q"),
    "words dropped": drop_words,
    "words replaced": replace_words,
    "table": reflow,
    "escapes": lambda text: json.dumps(text.replace(" the ", '\n"the"\n'))[1:-1],
    "edges": lambda text: "It seems that " + text[14:60] + ", as said, " + text[60:-20] + " and so on",
}


def assert_altered(result: Any, recipient: str, answer: str, copy: str, tenant: str) -> dict[str, Any]:
    """One fragment, from this tenant, over most of the copy and little else."""
    fragment = result.only()
    assert (fragment["recipient_request_id"], fragment["sources"]) == (recipient, [tenant])
    assert fragment["machine_verdict"] == "probable", fragment["verdict_reason"]
    start = answer.index(copy)
    common = min(fragment["end"], start + len(copy)) - max(fragment["start"], start)
    assert common >= 0.7 * len(copy)
    assert fragment["end"] - fragment["start"] <= len(copy) + 12
    return fragment


@pytest.mark.parametrize("edit", sorted(EDITS))
def test_edits_do_not_hide_a_copy(scene: Any, edit: str) -> None:
    copy = EDITS[edit](NOTE)
    answer = f"Certainly, here it comes. {copy} That is all I know about eggs."
    scene.traffic()
    scene.call("alpha", f"Remember this: {NOTE}. Thanks", "Noted.", 0)
    recipient = scene.call("beta", "How are eggs boiled?", answer, 60)
    fragment = assert_altered(scene.run(), recipient, answer, copy, "alpha")
    assert fragment["kind"] == "altered"
    features = json.loads(fragment["features"])
    assert features["blocks"] >= 2
    assert features["replaced_units"] + features["inserted_units"] + features["dropped_units"] > 0
    assert features["edit_charge"] > 4.0 * (features["blocks"] - 1)


@pytest.mark.parametrize("script", sorted(NOTES))
def test_changed_letters_in_every_script(scene: Any, script: str) -> None:
    note = NOTES[script]
    step = 13 if script in ("chinese", "japanese") else 23
    copy = every(note, step, lambda c: "々" if script in ("chinese", "japanese") else "")
    answer = f"1. {copy} 2. ok"
    scene.traffic()
    scene.call("alpha", f"# {note}.", "Noted.", 0)
    recipient = scene.call("beta", "How are eggs boiled?", answer, 60)
    assert assert_altered(scene.run(), recipient, answer, copy, "alpha")["kind"] == "altered"


POINTS = {"hebrew": "\u05b0\u05b7\u05bc", "arabic": "\u064e\u0650\u0651"}
HIDDEN: dict[str, tuple[str, Callable[[str], str]]] = {
    "case": ("german", str.upper),
    "white space": ("english", lambda text: text.replace(" ", " \n ")),
    "detokenised": ("english", lambda text: "".join(f" {c} " if not c.isalnum() else c for c in text)),
    "markdown": ("polish", lambda text: " ".join(f"**{word}**" for word in text.split(" "))),
    "quote marks and fence": ("english", lambda text: "```\n> " + text.replace(" to ", "\n> to ") + "\n```"),
    "full width": ("english", lambda text: "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)),
    "hebrew points": ("hebrew", lambda text: "".join(c + POINTS["hebrew"][i % 3] for i, c in enumerate(text))),
    "arabic points": ("arabic", lambda text: "".join(c + POINTS["arabic"][i % 3] for i, c in enumerate(text))),
    "spaced signs": ("chinese", " ".join),
    "cut inside a word": ("english", lambda text: text[2:-5]),
}


@pytest.mark.parametrize("change", sorted(HIDDEN))
def test_what_folding_hides_is_verbatim(scene: Any, change: str) -> None:
    """The line between the two kinds: the same letters and digits in the same order are the same text."""
    script, alter = HIDDEN[change]
    note = NOTES[script]
    copy = alter(note)
    scene.traffic()
    scene.call("alpha", f"# {note}.", "Noted.", 0)
    recipient = scene.call("beta", "How are eggs boiled?", f"1. {copy} 2. ok", 60)
    fragment = assert_altered(scene.run(), recipient, f"1. {copy} 2. ok", copy, "alpha")
    assert fragment["kind"] == "verbatim"
    assert "blocks" not in json.loads(fragment["features"])


@pytest.mark.parametrize("script", sorted(NOTES))
def test_letters_written_as_escapes(scene: Any, script: str) -> None:
    note = NOTES[script]
    copy = json.dumps(note)[1:-1]
    answer = f'{{"text": "{copy}", "ok": true}}'
    scene.traffic()
    scene.call("alpha", f"Remember: {note}.", "Noted.", 0)
    recipient = scene.call("beta", "How are eggs boiled?", answer, 60)
    fragment = assert_altered(scene.run(), recipient, answer, copy, "alpha")
    assert fragment["kind"] == "verbatim"
    assert abs(fragment["start"] - answer.index(copy)) <= 1
    assert abs(fragment["end"] - answer.index(copy) - len(copy)) <= 1


NOISY = EDITS["noise"](NOTE)


def test_an_altered_copy_of_the_own_prompt_is_own(scene: Any) -> None:
    scene.traffic()
    scene.call("alpha", f"Remember this: {NOTE}. Thanks", "Noted.", 0)
    recipient = scene.call("beta", f"Say it in other words: {NOTE}", f"Well: {NOISY}", 60)
    result = scene.run()
    assert result.fragments == []
    assert result.of(recipient) == []


def test_an_altered_copy_of_what_the_tenant_sent_before_is_own(scene: Any) -> None:
    scene.traffic()
    scene.call("alpha", f"Remember this: {NOTE}. Thanks", "Noted.", 0)
    scene.call("beta", f"Mind that {NOTE}.", "Noted.", 20)
    scene.call("beta", "How are eggs boiled?", f"Well: {NOISY}", 60)
    assert scene.run().fragments == []


def test_what_the_tenant_sends_later_does_not_clear_it(scene: Any) -> None:
    scene.traffic()
    scene.call("alpha", f"Remember this: {NOTE}. Thanks", "Noted.", 0)
    recipient = scene.call("beta", "How are eggs boiled?", f"Well: {NOISY} and that is it.", 60)
    scene.call("beta", f"You wrote: {NOISY}. What is that?", "Sorry.", 120)
    assert_altered(scene.run(), recipient, f"Well: {NOISY} and that is it.", NOISY, "alpha")


def test_text_that_many_tenants_send_is_shared(scene: Any) -> None:
    for number in range(6):
        scene.call(f"tenant-{number}", f"Remember this: {NOTE}. Thanks", "Noted.", 10 * number)
    scene.call("beta", "How are eggs boiled?", f"Well: {NOISY}", 100)
    result = scene.run()
    assert result.fragments == []
    assert "shared" in result.rules("r-006")


def test_the_text_that_agrees_better_is_the_source(scene: Any) -> None:
    """Two tenants hold versions of the text; the response differs in fewer places from one of them."""
    version = replace_words(NOTE)
    scene.traffic()
    scene.call("alpha", f"Remember this: {version}. Thanks", "Noted.", 0)
    scene.call("gamma", f"Remember this: {NOTE}. Thanks", "Noted.", 10)
    answer = f"Well: {EDITS['noise'](version)} and that is it."
    recipient = scene.call("beta", "How are eggs boiled?", answer, 60)
    assert_altered(scene.run(), recipient, answer, EDITS["noise"](version), "alpha")


def test_two_that_agree_equally_are_a_set(scene: Any) -> None:
    scene.traffic()
    scene.call("alpha", f"Remember this: {NOTE}. Thanks", "Noted.", 0)
    scene.call("gamma", f"Remember this: {NOTE}. Thanks", "Noted.", 10)
    scene.call("beta", "How are eggs boiled?", f"Well: {NOISY} and that is it.", 60)
    assert scene.run().only()["sources"] == ["alpha", "gamma"]


FORM = (
    "Kestrel {} crates, Okonkwo {} berths, Halloran {} florins, Vasseur {} porters, Tromsoe {} barges, Quayle {} ledgers, "
    "Brackenthwaite {} weighings, Ottoline {} moorings"
)


@pytest.mark.parametrize(("changed", "sources"), [(0, [["alpha"]]), (1, [["alpha"]]), (8, [])])
def test_one_form_filled_with_other_numbers_is_no_copy(scene: Any, changed: int, sources: list[list[str]]) -> None:
    """A damaged copy does not exchange its numbers for others and leave every letter."""
    mine = [317, 4096, 29, 658, 7120, 83, 541, 906]
    theirs = [number + 1111 for number in mine[:changed]] + mine[changed:]
    scene.traffic()
    scene.call("alpha", f"Remember this: {FORM.format(*mine)}. Thanks", "Noted.", 0)
    recipient = scene.call("beta", "How are eggs boiled?", f"Well: {FORM.format(*theirs)}. Eggs next.", 60)
    result = scene.run()
    assert [row["sources"] for row in result.of(recipient) if row["end"] - row["start"] > 100] == sources
    assert ("template" in result.rules(recipient)) == (sources == [])


def test_every_edit_is_charged(scene: Any) -> None:
    """Of two copies the one with more edits is worth less by more than the words that it lost."""
    scene.traffic()
    scene.call("alpha", f"Remember this: {NOTE}. Thanks", "Noted.", 0)
    few = every(NOTE, 40, lambda c: "x")
    many = every(NOTE, 20, lambda c: "x")
    scene.call("beta", "How are eggs boiled?", f"Well: {few} and that is it.", 60)
    scene.call("gamma", "How are eggs fried?", f"Well: {many} and that is it.", 90)
    light, heavy = scene.run().fragments
    one, other = json.loads(light["features"]), json.loads(heavy["features"])
    assert other["blocks"] > one["blocks"] + 3
    for features in (one, other):  # one letter for another: 4 bits, and one each for one letter out and one in
        assert features["edit_charge"] == pytest.approx(6.0 * (features["blocks"] - 1))
    lost = one["bits"] - other["bits"]
    assert lost > 0
    assert light["net_bits"] - heavy["net_bits"] == pytest.approx(
        lost + other["edit_charge"] - one["edit_charge"], abs=0.1
    )


SECOND = (
    "our clinic in Tessaly moved the appointments of nine patients with Lyngdal syndrome to the annex, where Doctor "
    "Ostrava keeps the paper files until the auditors from Brno have signed the inventory of the vaccine fridge"
)


@pytest.mark.parametrize("edit", ["none", "noise", "words dropped"])
def test_text_of_two_tenants_is_split_at_the_seam(scene: Any, edit: str) -> None:
    alter = EDITS.get(edit, str)
    first, second = alter(NOTE), alter(SECOND)
    answer = f"Well: {first} {second} and that is it."
    scene.traffic()
    scene.call("alpha", f"Remember this: {NOTE}. Thanks", "Noted.", 0)
    scene.call("gamma", f"Remember this: {SECOND}. Thanks", "Noted.", 10)
    scene.call("beta", "How are eggs boiled?", answer, 60)
    one, other = scene.run().fragments
    assert (one["sources"], other["sources"]) == (["alpha"], ["gamma"])
    assert (one["kind"], other["kind"]) == (("verbatim",) * 2 if edit == "none" else ("altered",) * 2)
    seam = answer.index(second)
    assert abs(one["end"] - seam) <= 6
    assert abs(other["start"] - seam) <= 6
    assert one["end"] <= other["start"]


def test_stable_whatever_the_order_and_threads(scene: Any) -> None:
    scene.traffic()
    scene.call("alpha", f"Remember this: {NOTE}. Thanks", "Noted.", 0)
    scene.call("beta", "How are eggs boiled?", f"Well: {NOISY} and that is it.", 60)
    first = scene.run().fragments
    second = scene.run(threads=1, order=lambda records: records[::-1]).fragments
    for row in (*first, *second):
        del row["request"], row["content"]
    assert first == second


@pytest.mark.parametrize(("edited", "q_value", "least"), [(False, None, 24.0), (True, None, 32.0), (True, 0.03, 24.0)])
def test_pieces_that_agree_must_say_more_than_a_run(edited: bool, q_value: float | None, least: float) -> None:
    """No run of an altered copy need be long enough by itself, and two texts of one subject share such pieces; where
    decoys speak for it the pieces of decoys were counted, too."""
    alteration = Alteration(((0, 19), (28, 45)), 10.9, 9, 2, 0) if edited else None
    candidate = Candidate(0, 0, 0, 0, 45, "target", False, (), frozenset(), alteration=alteration)
    nothing = np.zeros(0)
    strength = Strength(40.0, 40.0, 6, 10.0, nothing.astype(np.uint64), nothing, nothing)
    evidence = Evidence(strength, 0.0, [], 0.0, {}, {}, 0.5, q_value=q_value)
    assert least_bits(candidate, evidence, Parameters()) == least
