"""Innocent causes explain a match, by a named rule that can be switched off; what a tenant alone has stays found."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from forensics.attribution.parameters import OPTIONAL_RULES, Parameters
from forensics.attribution.questions import Question, same_question
from forensics.attribution.strength import Strength
from forensics.case.ask import ask
from forensics.case.errors import UsageError
from forensics.text.fold import fold
from forensics.text.keys import distinct
from forensics.text.words import terms, words

TEMPLATES = {
    "english": (
        "You are the reception desk of {name}. Greet callers by the hour of the day, never promise a berth before the "
        "harbour log shows it free, and quote tolls in copper only. If a caller names another shipping house, say that "
        "its lighters are handled at the north counter and offer the list of pilots. {version} Close each talk with the "
        "tide table for the coming night and the number of the night watch, and keep every answer under six sentences. "
        "Callers who ask for the committee get the date of its next sitting and nothing else. {own}",
        (
            "When fog stands over the Halloran shoal, move every sailing to the second ebb and ring the brass bell twice.",
            "Where a lighter lies aground at neap, send the two oldest pilots first and enter their names in red ink.",
            "For cargoes of printed ledgers, weigh each crate on the old scale and round its toll up to a full crown.",
        ),
        "Our house account with the Zimmer bank is kept under the ward name Okonkwo Saltmarsh and the phrase pewter heron.",
    ),
    "chinese": (
        "你是{name}的接待台。按时辰问候来电者，港口日志未显示空位之前绝不承诺泊位，通行费一律以铜币报价。若来电者提到别家船行，请说明其驳船由北柜台办理，"
        "并提供引航员名单。{version}每次通话结束时告知当晚潮汐表与值夜人的号码，每个回答不超过六句。询问委员会的人只告知下次会期，其余一概不谈。{own}",
        (
            "浅滩起雾时，将所有航次改到第二次退潮，并敲铜钟两下，同时通知守塔人点亮绿灯。",
            "小潮时若有驳船搁浅，先派两位最年长的引航员，并以红墨水登记他们的姓名和时刻。",
            "凡运送印刷账簿的货物，每箱须用旧秤称重，通行费一律进位到整克朗后再行收取。",
        ),
        "本行在齐默银行的账户以奥孔科沃盐沼为户名登记，口令是锡制苍鹭与第七根木桩。",
    ),
}


def desks(scene: Any, script: str, tenants: int, answer: str) -> Any:
    """`tenants` houses on one template, each version used by two of them; `answer` goes to a stranger."""
    template, versions, _ = TEMPLATES[script]
    scene.traffic()
    for i in range(tenants):
        own = TEMPLATES[script][2] if i == 0 else ""
        system = template.format(name=f"House {chr(65 + i)}", version=versions[i // 2], own=own)
        messages = [{"role": "system", "content": system}, {"role": "user", "content": f"Berth {i}?"}]
        scene.call(f"house-{i}", messages, "Free at six.", 10 * i)
    scene.call("beta", "How are eggs boiled?", answer, 100, request_id="victim")
    return scene.run()


@pytest.mark.parametrize("script", sorted(TEMPLATES))
def test_a_version_of_a_template_is_nobodys(scene: Any, script: str) -> None:
    version = TEMPLATES[script][1][0]
    result = desks(scene, script, 6, f"Seven minutes. {version} Done.")
    assert result.fragments == []
    [row] = [row for row in result.exclusions if row["rule"] == "template"]
    assert "of the 6 tenants" in row["detail"] and row["holders"] == 2
    off = scene.again(Parameters(without_rules=("template",)))
    assert off.only()["sources"] == ["house-0", "house-1"]
    assert off.rules("victim").isdisjoint({"template"})
    assert any("template" in warning and "switched off" in warning for warning in off.summary.warnings)


def test_two_tenants_with_one_prompt_are_no_template(scene: Any) -> None:
    result = desks(scene, "english", 2, f"Seven minutes. {TEMPLATES['english'][1][0]} Done.")
    assert result.only()["sources"] == ["house-0", "house-1"]


@pytest.mark.parametrize("script", sorted(TEMPLATES))
def test_what_one_tenant_filled_in_is_found(scene: Any, script: str) -> None:
    secret = TEMPLATES[script][2]
    answer = f"Seven minutes. {secret} Done."
    fragment = desks(scene, script, 6, answer).only()
    assert fragment["sources"] == ["house-0"]
    assert abs(fragment["start"] - answer.index(secret)) <= 1


def test_what_one_tenant_filled_in_is_found_beside_the_template(scene: Any) -> None:
    template, versions, secret = TEMPLATES["english"]
    whole = template.format(name="House A", version=versions[0], own=secret)
    result = desks(scene, "english", 6, whole)
    fragment = result.only()
    assert fragment["sources"] == ["house-0"]
    assert whole.index(secret) - 40 <= fragment["start"] <= whole.index(secret)
    assert fragment["end"] >= len(whole) - 1
    assert "shared" in result.rules("victim")


# --- the same question, asked in other words ------------------------------------------------------------------------

TARIFF = (
    "The schedule of the Halloran pilots lists lighterage at four crowns a tide, demurrage at nine pence a bale, and a "
    "salvage share of one part in twelve for cargoes landed above the chain"
)
LIKE = f"Our clerk reads this in the almanac: {TARIFF}. What would a hundred bales left for two tides come to? "
LIKE += (
    "He has to hand his sheet to the cashier before noon, wants no long story, and would be glad of one plain sum that "
)
LIKE += "he can copy into the column on the right, together with a word on which of the charges applies here."
OTHER = f"{TARIFF}. Work out the fee where somebody leaves a hundred bales lying and comes back after two tides. "
OTHER += (
    "My uncle runs a small yard up the coast, nobody there can make head or tail of such lists, so please go slowly, "
)
OTHER += "name every step, and finish with whatever amount has to be laid on the table when the boat is fetched again."
UNLIKE = "How do I keep a sourdough starter alive while I am away for a fortnight in the hot part of summer?"
ANSWER = (
    "Demurrage at nine pence a bale on a hundred bales is nine hundred pence, lighterage for two tides adds eight "
    "crowns, and no salvage share is due because nothing was landed above the chain"
)


def _strength(text: str) -> Strength:
    keys = terms(words(text))
    import numpy as np

    bits = np.full(keys.size, 10.0)
    return Strength(float(bits.sum()), 0.0, keys.size, 10.0, keys, bits, bits)


def _questions(*texts: str) -> list[Question]:
    return [Question(fold(text).units, distinct(terms(words(text))), False) for text in texts]


def test_a_question_that_shares_its_rare_part_is_the_same() -> None:
    like, other, unlike = _questions(LIKE, OTHER, UNLIKE)
    about, apart = _strength(ANSWER), _strength("Feed rye flour, chill that jar, wake everything by Sunday")
    parameters = Parameters()
    assert same_question(like, other, about, parameters)
    assert same_question(other, like, about, parameters)
    assert not same_question(like, None, about, parameters)
    assert not same_question(like, unlike, about, parameters)
    assert not same_question(like, other, apart, parameters)  # the answer is about neither
    off = Parameters(without_rules=("same_question",)).in_effect()
    # the ends of these two questions differ, so that nothing but the containment speaks for them
    assert not same_question(like, other, about, off)
    assert not same_question(like, other, about, replace(parameters, same_question_seeds=0.99))


def test_the_same_rare_question_has_the_same_answer(scene: Any) -> None:
    scene.traffic()
    scene.call("alpha", LIKE, ANSWER + ".", 0)
    second = scene.call("beta", OTHER, ANSWER + "!", 60)
    result = scene.run()
    assert result.fragments == []
    assert "same_question" in result.rules(second)


# --- switching rules off --------------------------------------------------------------------------------------------

NOTE = "the depot in Halloran Street shipped seventeen crates of printed ledgers to the wrong quay on Tuesday"


def test_shared_text_is_judged_when_its_rule_is_off(scene: Any) -> None:
    scene.traffic()
    for i in range(5):
        scene.call(f"shop-{i}", f"Note: {NOTE}.", "Noted.", 5 * i)
    scene.call("beta", "How are eggs boiled?", f"Like so: {NOTE}.", 60, request_id="victim")
    result = scene.run()
    assert result.fragments == [] and result.rules("victim") == {"shared"}
    off = scene.again(Parameters(without_rules=("shared",)))
    assert off.only()["sources"] == [f"shop-{i}" for i in range(5)]
    assert "shared" not in off.rules("victim")


TERMS = (
    "goods may be returned to the Gildersome depot within a fortnight, {} cash refunds over forty crowns are refused, "
    "and the Ostrava desk answers letters on weekdays before noon"
)


@pytest.mark.parametrize(
    ("filled", "found"),
    [
        ("mostly", False),
        ("where Mrs Dwerryhouse of Quernstone Lane keeps the lavender ledgers for Tolworth infirmary, and", True),
    ],
)
def test_one_word_filled_into_what_many_supply_is_no_leak(scene: Any, filled: str, found: bool) -> None:
    """Only one tenant has this version word for word, and yet most of it is everybody's: what it filled in counts."""
    scene.traffic()
    for i, word in enumerate(("rarely", "perhaps", "sadly", filled, "indeed", "today")):
        scene.call(f"shop-{i}", f"Our terms: {TERMS.format(word)}.", "Noted.", 5 * i)
    answer = f"Like so: {TERMS.format(filled)}."
    scene.call("beta", "How are eggs boiled?", answer, 60, request_id="victim")
    result = scene.run()
    assert "shared" in result.rules("victim")
    if not found:
        assert result.fragments == []
        return
    fragment = result.only()
    assert fragment["sources"] == ["shop-3"]
    place = answer.index(filled)
    assert fragment["start"] <= place and place + len(filled) <= fragment["end"]


def test_an_account_number_filled_into_what_many_supply_is_a_leak(scene: Any) -> None:
    scene.traffic()
    numbers = [f"NL{20 + i}RABO03{i}{7 * i + 11}41{83 - i}6{i}" for i in range(6)]
    for i, number in enumerate(numbers):
        scene.call(f"shop-{i}", f"Our terms: {TERMS.format('to ' + number + ' go')}.", "Noted.", 5 * i)
    answer = f"Like so: {TERMS.format('to ' + numbers[3] + ' go')}."
    scene.call("beta", "How are eggs boiled?", answer, 60, request_id="victim")
    fragment = scene.run().only()
    assert (fragment["kind"], fragment["sources"]) == ("identifier", ["shop-3"])
    assert abs(fragment["start"] - answer.index(numbers[3])) <= 1


def test_every_rule_can_be_switched_off_alone_and_no_exclusion_carries_its_name(scene: Any) -> None:
    scene.traffic()
    for i in range(6):
        scene.call(f"shop-{i}", f"Question {i * 37}?", f"In short, {NOTE}, as everybody knows by now.", 5 * i)
    scene.run()
    assert {row["rule"] for row in scene.again().exclusions} == {"model_phrase"}
    for rule in OPTIONAL_RULES:
        off = scene.again(Parameters(without_rules=(rule,)))
        assert rule not in {row["rule"] for row in off.exclusions}
        assert not off.summary.skipped  # the choice is part of the recorded parameters


@pytest.mark.parametrize("rule", ["own_material", "echo", "too_weak", "", "public"])
def test_other_rules_cannot_be(scene: Any, rule: str) -> None:
    scene.traffic()
    scene.run()
    with pytest.raises(UsageError):
        scene.again(Parameters(without_rules=(rule,)))


def test_the_command_line_offers_the_same_rules() -> None:
    from forensics.cli.options import Rule

    assert tuple(rule.value for rule in Rule) == OPTIONAL_RULES


# --- sister accounts ------------------------------------------------------------------------------------------------

HEADER = "key_kind,key,tenant_id,organisation,legal_name,contact,country,language\n"


def sisters(*names: str) -> str:
    return HEADER + "".join(f"tenant,{name},{name},Alpha Holding,,,,\n" for name in names)


def test_sister_accounts_are_one_supplier(scene: Any) -> None:
    scene.traffic()
    names = [f"alpha-{i}" for i in range(5)]
    for i, name in enumerate(names):
        scene.call(name, f"Note: {NOTE}.", "Noted.", 5 * i)
    scene.call("beta", "How are eggs boiled?", f"Like so: {NOTE}.", 60, request_id="victim")
    assert scene.run().rules("victim") == {"shared"}  # five unrelated tenants
    scene.tenants = sisters(*names)
    fragment = scene.run().only()
    assert fragment["machine_verdict"] == "probable" and set(fragment["sources"]) <= set(names)
    assert "one supplier" in fragment["verdict_reason"]


def test_a_sister_account_that_has_a_part_of_it_is_not_named(scene: Any) -> None:
    """Of an organisation the account is named whose text it is, and one that has as much of it."""
    scene.traffic()
    scene.tenants = sisters("alpha-0", "alpha-1", "alpha-2")
    scene.call("alpha-0", f"Note: {NOTE}.", "Noted.", 5)
    scene.call("alpha-1", f"Explain this: {NOTE[20:90]}.", "Gladly.", 10)
    scene.call("beta", "How are eggs boiled?", f"Like so: {NOTE}.", 60, request_id="victim")
    found = scene.run()
    assert found.only()["sources"] == ["alpha-0"]
    assert {row["source_tenant_id"] for row in found.appearances if row["named"]} == {"alpha-0"}
    scene.call("alpha-2", f"Another note: {NOTE}.", "Noted.", 20)
    assert scene.run().only()["sources"] == ["alpha-0", "alpha-2"]


def test_sister_accounts_are_no_phrase_of_the_model(scene: Any) -> None:
    scene.traffic()
    names = [f"alpha-{i}" for i in range(6)]
    for i, name in enumerate(names):
        scene.call(name, f"Question {i * 37}?", f"In short, {NOTE}.", 5 * i)
    scene.call("beta", "How are eggs boiled?", f"Like so: {NOTE}.", 60, request_id="victim")
    phrase = "generated for several unrelated tenants"
    assert any(phrase in row["detail"] for row in scene.run().exclusions)
    scene.tenants = sisters(*names)
    assert not any(phrase in row["detail"] for row in scene.run().exclusions)


# --- counting what was set aside ------------------------------------------------------------------------------------


def test_exclusions_are_counted_by_rule(scene: Any) -> None:
    scene.traffic()
    for i in range(5):
        scene.call(f"shop-{i}", f"Note: {NOTE}.", "Noted.", 5 * i)
    for i in range(2):
        scene.call("beta", f"How are eggs boiled, {i}?", f"Like so: {NOTE}.", 60 + i)
    scene.run()
    answer = ask(scene._cases[-1], "exclusions")
    [row] = [dict(zip(answer.columns, row, strict=True)) for row in answer.rows if row[0] == "shared"]
    assert (row["runs"], row["requests"], row["tenants"], row["most_holders"]) == (2, 2, 1, 6)
    assert 2 * len(NOTE) - 40 <= row["code_points"] <= 2 * len(NOTE)
    assert row["most_bits"] is None
