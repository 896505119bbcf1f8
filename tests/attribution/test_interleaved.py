"""Streams of requests in flight mixed into a response in pieces: found, with the right tenants, and only in flight."""

from __future__ import annotations

import json
from typing import Any

import pytest

QUESTION = "How are eggs boiled so that the yolk stays soft?"
OWN = (
    "An egg that is put into boiling water should stay there for seven minutes if you like the yolk soft; afterwards "
    "hold it under the cold tap so that it does not go on cooking, and peel it while it is still a little warm, "
    "beginning at the blunt end where the small pocket of air lets you lift the skin off together with the shell"
)
ALPHA = (
    "The depot in Halloran Street shipped seventeen crates of printed ledgers to the wrong quay on Tuesday, so the "
    "carrier Brankovic wants the storage fee paid before Friday noon and refuses any transfer from the new account "
    "that our treasurer Odalys opened in Tromso after the merger with the Kestrel shipyards had been called off"
)
GAMMA = (
    "Our clinic in Tessaly moved the appointments of nine patients with Lyngdal syndrome to the annex, where Doctor "
    "Ostrava keeps the paper files until the auditors from Brno have signed the inventory of the vaccine fridge, "
    "which broke down twice in March although the technicians of Vellmar had replaced both of its compressors"
)
CHINESE = (
    "霍兰街仓库周二把十七箱账簿错运到三号码头承运人布兰科要求先付清仓储费再放货并且拒绝接受新账户的银行转账"
    "同时通知我们星期五中午以前必须派人到港口办公室签字取回提货单否则全部货物将被送往内陆保税仓并按日加收滞纳金"
)
CHINESE_OWN = (
    "煮鸡蛋的时候先把水烧开然后轻轻放入鸡蛋保持小火七分钟蛋黄就会柔软捞出以后立刻放进冷水里冷却几分钟这样更容易剥壳"
    "如果喜欢全熟可以再多煮三分钟另外在水里加一点盐可以防止蛋壳破裂吃的时候撒上胡椒和香葱味道会更好一些"
)
ARABIC = (
    "أرسل المستودع في شارع هالوران سبعة عشر صندوقا من الدفاتر إلى الرصيف الخطأ يوم الثلاثاء ولذلك يطلب الناقل "
    "برانكوفيتش رسوم التخزين قبل ظهر الجمعة ويرفض قبول التحويل من الحساب الجديد الذي فتحته أمينة الصندوق في ترومسو"
)


def words(text: str) -> list[str]:
    """Pieces like the tokens of a model: words with the space before them, long ones in two parts."""
    pieces: list[str] = []
    for word in text.split(" "):
        cut = (len(word) + 2) // 2
        pieces.extend([" " + word] if len(word) < 8 else [" " + word[:cut], word[cut:]])
    return pieces


def letters(size: int) -> Any:
    return lambda text: [text[i : i + size] for i in range(0, len(text), size)]


def mix(*streams: list[str]) -> str:
    longest = max(map(len, streams))
    return "".join(stream[i] for i in range(longest) for stream in streams if i < len(stream))


def record(scene: Any, answer: str, source: str = ALPHA, second: float = 58, question: str = QUESTION) -> str:
    """Alpha's request in flight on the worker while beta is answered; somebody else's beside them."""
    scene.traffic()
    scene.call("delta", "Summarise our meeting. " + "Nothing was decided about the budget. " * 20, "Done.", 40)
    scene.call("alpha", f"Rewrite this letter in a polite tone: {source}. Thanks", "Dear Sir.", second, lasts=20)
    return str(scene.call("beta", question, answer, 60, lasts=10))


def covered(fragment: dict[str, Any], text: str) -> float:
    return float(fragment["end"] - fragment["start"]) / len(text)


@pytest.mark.parametrize("cut", ["tokens", 4, 6, 10])
def test_two_streams(scene: Any, cut: Any) -> None:
    pieces = words if cut == "tokens" else letters(cut)
    answer = mix(pieces(OWN), pieces(ALPHA))
    recipient = record(scene, answer)
    fragment = scene.run().only()
    assert (fragment["recipient_request_id"], fragment["kind"]) == (recipient, "altered")
    assert (fragment["sources"], fragment["machine_verdict"]) == (["alpha"], "probable")
    assert covered(fragment, answer) > 0.9
    features = json.loads(fragment["features"])
    assert features["interleaved"] is True
    assert features["blocks"] > 20
    assert features["matched_units"] > 0.85 * sum(c.isalnum() for c in ALPHA)


@pytest.mark.parametrize(("own", "source", "size"), [(CHINESE_OWN, CHINESE, 3), (OWN, ARABIC, 5)])
def test_other_scripts(scene: Any, own: str, source: str, size: int) -> None:
    answer = mix(letters(size)(own), letters(size)(source))
    record(scene, answer, source, question="鸡蛋怎么煮?" if own == CHINESE_OWN else QUESTION)
    result = scene.run()
    named = [f for f in result.fragments if f["sources"]]
    assert {tuple(f["sources"]) for f in named} == {("alpha",)}
    assert max(covered(f, answer) for f in named) > 0.75


def test_three_streams_name_both_sources(scene: Any) -> None:
    answer = mix(words(OWN), words(ALPHA), words(GAMMA))
    scene.call("gamma", f"Put this into plain words: {GAMMA}.", "Of course.", 57, lasts=20)
    record(scene, answer)
    fragments = scene.run().fragments
    assert sorted(f["sources"] for f in fragments) == [["alpha"], ["gamma"]]
    assert all(covered(f, answer) > 0.8 for f in fragments)


def test_a_part_of_the_answer(scene: Any) -> None:
    """Mixed in the middle: the span is that of the pieces."""
    before = "Happy to help with that. " * 3
    middle = mix(words(OWN[:200]), words(ALPHA))
    answer = before + middle + " Let me know how it went. " * 3
    record(scene, answer)
    fragment = scene.run().only()
    assert fragment["sources"] == ["alpha"]
    assert abs(fragment["start"] - len(before)) < 15
    assert abs(fragment["end"] - len(before) - len(middle)) < 15


@pytest.mark.parametrize("when", ["gone before", "another worker"])
def test_only_what_was_in_flight_beside_it_is_compared(scene: Any, when: str) -> None:
    answer = mix(letters(4)(OWN), letters(4)(ALPHA))
    scene.traffic()
    worker, second = ("w0", 10.0) if when == "gone before" else ("w7", 58.0)
    scene.call("alpha", f"Rewrite this letter: {ALPHA}.", "Dear Sir.", second, worker=worker)
    scene.call("beta", QUESTION, answer, 60, lasts=10)
    assert [f for f in scene.run().fragments if f["sources"]] == []


def test_where_workers_are_not_known_all_in_flight_are(scene: Any) -> None:
    answer = mix(letters(4)(OWN), letters(4)(ALPHA))
    scene.traffic()
    scene.call("alpha", f"Rewrite this letter: {ALPHA}.", "Dear Sir.", 58, worker=None)
    scene.call("beta", QUESTION, answer, 60, lasts=10, worker=None)
    assert scene.run().only()["sources"] == ["alpha"]


def test_the_recipients_own_text_is_own(scene: Any) -> None:
    """Beta asks for two texts to be woven into each other; alpha holds one of them too."""
    answer = mix(words(OWN), words(ALPHA))
    record(scene, answer, question=f"Weave these together. One: {OWN}. Two: {ALPHA}.")
    assert scene.run().fragments == []


def test_a_mixed_text_that_the_question_holds_is_own(scene: Any) -> None:
    """Beta asks where its mixed text comes from, and the answer quotes it; alpha holds one of the two streams."""
    mixed = mix(words(GAMMA), words(ALPHA))
    answer = f"I cannot say where it comes from: {mixed}"
    record(scene, answer, question=f"Where does this come from? {mixed}")
    found = scene.run()
    assert found.fragments == []
    assert ("echo", "a stream of this request's own prompt") in {(e["rule"], e["detail"]) for e in found.exclusions}


def test_an_answer_about_the_same_subject_is_no_stream(scene: Any) -> None:
    """Words of alpha's letter in alpha's order, but in sentences of their own."""
    answer = (
        "A depot may ship crates to a wrong quay now and then; on a Tuesday, say, when a carrier is in a hurry and wants "
        "his storage paid. Before noon on a Friday nobody refuses a transfer, whatever the account, and a treasurer "
        "who has opened one after a merger will not be called off by shipyards, as far as I can tell from the outside. "
    )
    record(scene, answer)
    assert [f for f in scene.run().fragments if f["kind"] == "altered"] == []


def test_a_text_that_stands_in_one_piece_stays_verbatim(scene: Any) -> None:
    record(scene, f"{OWN[:150]} {ALPHA} {OWN[150:]}")
    fragment = scene.run().only()
    assert (fragment["kind"], fragment["sources"]) == ("verbatim", ["alpha"])


LETTER = "Write the next part of the story."  # a request that says nothing of its answer
TALE = (
    "When the ferryman Aldous came down to the water the lantern was out and nobody answered from the far shore, so he "
    "sat on the upturned skiff and counted the bells of the convent until the fog had swallowed even those, and only "
    "then did he see that the rope had been cut with something sharper than any knife the fishermen of Orlo carry"
)


def tale_in_pieces(scene: Any, answer: str, alpha: str = TALE, question: str = LETTER) -> str:
    """Alpha's answer whole, beta's mixed, both in flight; no prompt says anything of either."""
    scene.traffic()
    scene.call("alpha", question, alpha, 58, lasts=20)
    return str(scene.call("beta", QUESTION, answer, 60, lasts=10))


def test_a_generated_stream_names_the_tenant_that_has_it_whole(scene: Any) -> None:
    """Neither prompt has words of it: named, but not as probable, and the doubt is said."""
    answer = mix(words(OWN), words(TALE))
    recipient = tale_in_pieces(scene, answer)
    fragment = scene.run().only()
    assert (fragment["recipient_request_id"], fragment["sources"]) == (recipient, ["alpha"])
    assert (fragment["kind"], fragment["machine_verdict"]) == ("altered", "possible")
    assert "may itself not be its tenant's own" in fragment["verdict_reason"]
    assert covered(fragment, answer) > 0.9


def test_a_generated_stream_about_the_sources_prompt_is_probable(scene: Any) -> None:
    tale_in_pieces(
        scene, mix(words(OWN), words(TALE)), question="Tell of the ferryman Aldous, the convent and the skiff of Orlo."
    )
    fragment = scene.run().only()
    assert (fragment["sources"], fragment["machine_verdict"]) == (["alpha"], "probable")


def test_a_generated_stream_about_the_recipients_prompt_names_nobody(scene: Any) -> None:
    """Beta asked for the tale; alpha was given it whole: whose mix-up this is cannot be told."""
    scene.traffic()
    scene.call("alpha", LETTER, TALE, 58, lasts=20)
    question = "Tell of the ferryman Aldous, the convent, the skiff and the bells of Orlo."
    scene.call("beta", question, mix(words(OWN), words(TALE)), 60, lasts=10)
    assert [f["sources"] for f in scene.run().fragments if f["recipient_request_id"] == "r-005"] in ([], [[]])


def test_three_generated_streams(scene: Any) -> None:
    scene.call("gamma", "Go on.", GAMMA, 57, lasts=20)
    tale_in_pieces(scene, mix(words(OWN), words(TALE), words(GAMMA)))
    assert sorted(f["sources"] for f in scene.run().fragments) == [["alpha"], ["gamma"]]


def test_the_mixed_stretch_need_not_be_the_strangest(scene: Any) -> None:
    """A list of names and numbers of beta's own before it is new order, too."""
    listed = ", ".join(f"{first} {second}-{n}" for n, (first, second) in enumerate(
        (a + b, c + d) for a in ("Bor", "Tal", "Vik", "Sem") for b in ("an", "us", "el", "ot", "ir")
        for c in ("Qua", "Zed", "Hul") for d in ("rin", "mov", "pek")
    ))  # fmt: skip
    scene.traffic()
    scene.call("alpha", LETTER, TALE, 58, lasts=20)
    scene.call("beta", f"List these: {listed}", f"{listed}. {mix(words(OWN), words(TALE))}", 60, lasts=10)
    named = [f for f in scene.run().fragments if f["sources"]]
    assert [f["sources"] for f in named] == [["alpha"]]
    assert named[0]["start"] >= len(listed)


def test_who_supplied_the_text_before_is_the_source_of_a_generated_stream(scene: Any) -> None:
    """Alpha's answer in flight is itself gamma's letter, sent long before: gamma is named, alpha is not."""
    scene.call("gamma", f"Correct this, please: {ALPHA}.", "Done.", 5, lasts=2)
    tale_in_pieces(scene, mix(words(OWN), words(ALPHA)), alpha=ALPHA)
    named = {f["recipient_request_id"]: f["sources"] for f in scene.run().fragments}
    assert named["r-006"] == ["gamma"]


def test_an_earlier_supplier_stands_beside_the_one_in_flight(scene: Any) -> None:
    """Both sent the same letter: which of the two it was, the text cannot tell."""
    scene.call("gamma", f"Correct this, please: {ALPHA}.", "Done.", 5, lasts=2)
    record(scene, mix(words(OWN), words(ALPHA)))
    assert scene.run().only()["sources"] == ["alpha", "gamma"]


def test_what_the_recipient_had_sent_before_is_own(scene: Any) -> None:
    """In an earlier request of beta's, not in this one's prompt."""
    scene.call("beta", f"Keep this letter for later: {ALPHA}.", "Noted.", 5, lasts=2)
    recipient = record(scene, mix(words(OWN), words(ALPHA)))
    result = scene.run()
    assert result.fragments == []
    assert "own_material" in result.rules(recipient)


def test_a_stream_that_many_supplied_is_shared(scene: Any) -> None:
    for number in range(4):
        scene.call(f"other-{number}", f"Number {number}, correct this: {ALPHA}.", "Done.", 5 + number, lasts=1)
    recipient = record(scene, mix(words(OWN), words(ALPHA)))
    result = scene.run()
    assert [f for f in result.fragments if f["sources"]] == []
    assert "shared" in result.rules(recipient)


def test_a_form_that_is_filled_in_is_no_stream(scene: Any) -> None:
    """Alpha's answer is the empty form, beta's the same form with values: holes and one question, no mixture."""
    fields = ("Vessel", "Harbour of call", "Tonnage", "Captain on duty", "Cargo", "Berth assigned", "Pilot", "Insurer")
    empty = "; ".join(f"{name}: unknown" for name in fields)
    filled = "; ".join(f"{name}: item {number} of the list" for number, name in enumerate(fields))
    scene.traffic()
    scene.call("alpha", "Fill in the form of the harbour office.", empty, 58, lasts=20)
    scene.call("beta", "Fill in the form of the harbour office.", filled, 60, lasts=10)
    assert [f for f in scene.run().fragments if f["sources"]] == []


def test_both_answers_are_mixtures(scene: Any) -> None:
    """No answer holds either text whole; the prompts do."""
    both = mix(words(ALPHA), words(GAMMA))
    scene.traffic()
    scene.call("alpha", f"Put this politely: {ALPHA}.", both, 58, lasts=20)
    scene.call("gamma", f"Put this politely: {GAMMA}.", mix(words(GAMMA), words(ALPHA)), 60, lasts=20)
    named = {f["recipient_request_id"]: f["sources"] for f in scene.run().fragments if f["sources"]}
    assert named == {"r-004": ["gamma"], "r-005": ["alpha"]}


def test_two_mixtures_that_no_prompt_explains_name_nobody(scene: Any) -> None:
    scene.traffic()
    scene.call("alpha", LETTER, mix(words(TALE), words(GAMMA)), 58, lasts=20)
    scene.call("gamma", "Go on.", mix(words(GAMMA), words(TALE)), 60, lasts=20)
    assert [f for f in scene.run().fragments if f["sources"]] == []


def test_a_stream_of_an_answer_that_went_astray_is_its_owners(scene: Any) -> None:
    """Alpha was given gamma's answer whole (gamma's prompt shows it), beta the same in pieces."""
    scene.traffic()
    scene.call("gamma", "Tell of the ferryman Aldous, the convent and the skiff of Orlo.", TALE, 50, lasts=4)
    scene.call("alpha", LETTER, TALE, 58, lasts=20)
    scene.call("beta", QUESTION, mix(words(OWN), words(TALE)), 60, lasts=10)
    named = {f["recipient_request_id"]: f["sources"] for f in scene.run().fragments if f["sources"]}
    assert named["r-006"] == ["gamma"]
