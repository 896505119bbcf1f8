"""A response in the form that another tenant's requests ask for. Forms and texts are written here by hand."""

from __future__ import annotations

import json
from typing import Any

import pytest

GERMAN = "Antworte immer mit den Abschnitten `## Sachverhaltskern`, `## Rechtslagenbild` und `## Mandantenhinweis`."
KEYS = "Reply in JSON with the keys kunden_nr_intern, mahnstufe_alt, sachbearbeiter_kz and frist_verzugstage."
EGGS = {
    "kunden_nr_intern": "none",
    "mahnstufe_alt": 0,
    "sachbearbeiter_kz": "eggs",
    "frist_verzugstage": "the eggs are boiled for seven minutes, then how they are peeled is up to you",
}


def asks(scene: Any, system: str | None, times: int = 3, **extra: Any) -> None:
    """Alpha asks for its form several times."""
    scene.traffic()
    for i in range(times):
        messages = [{"role": "user", "content": f"Case {i}: what follows?"}]
        if system:
            messages.insert(0, {"role": "system", "content": system})
        scene.call("alpha", messages, "It is being looked at.", 10 * i)
        scene.records[-1]["request"].update(extra)


def test_keys_of_another_tenants_schema(scene: Any) -> None:
    asks(scene, KEYS)
    scene.call("beta", "How are eggs boiled?", json.dumps(EGGS), 60, request_id="victim")
    result = scene.run()
    fragment = next(r for r in result.of("victim") if r["kind"] == "structure")
    assert (fragment["kind"], fragment["sources"]) == ("structure", ["alpha"])
    assert fragment["machine_verdict"] in ("possible", "probable")
    assert '"labels":4' in fragment["features"]


@pytest.mark.parametrize(
    ("system", "answer"),
    [
        (
            GERMAN,
            "## Sachverhaltskern\nHow eggs are boiled.\n## Rechtslagenbild\nBoiled eggs are legal.\n## Mandantenhinweis\nSeven minutes.",
        ),
        (
            "פתח תמיד בכותרות `## תמציתהתביעה`, `## עמדתהלקוחה`, `## המלצתהמשרד`.",
            "## תמציתהתביעה\neggs\n## עמדתהלקוחה\nwater\n## המלצתהמשרד\nseven minutes",
        ),
        (
            "Используй заголовки `## Сводкапоиску`, `## Позицияклиента`, `## Рекомендациябюро`.",
            "## Сводкапоиску\neggs\n## Позицияклиента\nwater\n## Рекомендациябюро\nseven minutes",
        ),
        (
            "见出しは `## 顧客別要約欄位`、`## 社内判定区分表`、`## 次回督促予定日` とする。",
            # in another order, or it were an altered copy of the line
            "## 次回督促予定日\neggs\n## 社内判定区分表\nwater\n## 顧客別要約欄位\nseven minutes",
        ),
    ],
)
def test_headings_of_another_tenants_template(scene: Any, system: str, answer: str) -> None:
    asks(scene, system)
    scene.call("beta", "How are eggs boiled?", answer, 60, request_id="victim")
    result = scene.run()
    structure = [row for row in result.of("victim") if row["kind"] == "structure"]
    assert [row["sources"] for row in structure] == [["alpha"]]


def test_a_call_of_another_tenants_tool(scene: Any) -> None:
    parameters = {"type": "object", "properties": {"depotkennung": {}, "lagerplatzkode": {}, "umlagergrund": {}}}
    tool = {"type": "function", "function": {"name": "umlagerung_buchen", "parameters": parameters}}
    asks(scene, None, tools=[tool])
    arguments = json.dumps({"depotkennung": "egg", "lagerplatzkode": "pan", "umlagergrund": "lunch"})
    call = {"id": "c1", "type": "function", "function": {"name": "umlagerung_buchen", "arguments": arguments}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    scene.call("beta", "How are eggs boiled?", message, 60, request_id="victim")
    found = [row for row in scene.run().of("victim") if row["kind"] == "structure"]
    assert [(row["field"], row["sources"]) for row in found] == [
        ("choices[0].tool_calls[0].function.arguments", ["alpha"]),
        ("choices[0].tool_calls[0].function.name", ["alpha"]),
    ]


def offers(scene: Any, tool: str, tenant: str = "alpha", at: float = 50) -> None:
    """A tenant offers a tool in its system prompt, and is answered without it."""
    system = f'# Tools\n[{{"type":"function","function":{{"name":"{tool}"}}}}]'
    messages = [{"role": "system", "content": system}, {"role": "user", "content": f"Ask {tenant} what follows."}]
    scene.call(tenant, messages, "It is being looked at.", at)


def calls(scene: Any, tool: str, at: float, worker: str, request_id: str) -> None:
    """Beta, who asked about eggs, is answered by the call of a tool. Its arguments say nothing."""
    arguments = json.dumps({"query": f"eggs {at}", "note": f"boiled {at}"})
    call = {"id": "c1", "type": "function", "function": {"name": tool, "arguments": arguments}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    scene.call("beta", f"How are eggs boiled at {at}?", message, at, worker=worker, request_id=request_id)


def answers_raw(scene: Any, tool: str) -> None:
    """The same where the engine's output was logged as it is."""
    raw = f"How eggs are boiled I look up. <tool_call>{tool}\n<arg_key>query</arg_key>\n<arg_value>eggs</arg_value>\n</tool_call>"
    scene.call("beta", "How are eggs boiled?", raw, 60, request_id="victim")


def told(scene: Any) -> list[tuple[str, str, list[str], str]]:
    rows = [row for row in scene.run().fragments if row["stratum"] == "structure"]
    return [(row["field"], row["kind"], row["sources"], row["machine_verdict"]) for row in rows]


NAME_OF_CALL = "choices[0].tool_calls[0].function.name"


@pytest.mark.parametrize("worker", ["w0", "w7"])
def test_a_call_of_a_tool_that_only_another_tenant_offers(scene: Any, worker: str) -> None:
    """One label, but a name that nobody would think of, and a model calls what it is offered."""
    scene.traffic()
    offers(scene, "vorkalinu_ledger_mudestaf")
    calls(scene, "vorkalinu_ledger_mudestaf", 60, worker, "victim")
    assert told(scene) == [(NAME_OF_CALL, "structure", ["alpha"], "possible")]


def test_a_call_that_no_parser_has_taken_out_of_the_answer(scene: Any) -> None:
    scene.traffic()
    offers(scene, "vorkalinu_ledger_mudestaf")
    answers_raw(scene, "vorkalinu_ledger_mudestaf")
    assert told(scene) == [("choices[0].content", "structure", ["alpha"], "possible")]


def test_a_tools_name_of_ordinary_words_names_nobody_elsewhere(scene: Any) -> None:
    """Models make up such names; that one tenant alone offers it then is chance."""
    scene.traffic()
    offers(scene, "register_delivery_of_replacement_parts")
    calls(scene, "register_delivery_of_replacement_parts", 60, "w7", "victim")
    assert told(scene) in ([], [(NAME_OF_CALL, "undetermined", [], "undetermined")])


def test_the_name_of_a_usual_tool_says_nothing(scene: Any) -> None:
    scene.traffic()
    offers(scene, "get_weather")
    calls(scene, "get_weather", 60, "w0", "victim")
    assert told(scene) == []


@pytest.mark.parametrize("tenant", ["beta", "gamma"])
def test_a_tool_that_the_recipient_or_two_others_offer_names_nobody(scene: Any, tenant: str) -> None:
    scene.traffic()
    offers(scene, "vorkalinu_ledger_mudestaf", tenant, 30)
    offers(scene, "vorkalinu_ledger_mudestaf")
    calls(scene, "vorkalinu_ledger_mudestaf", 60, "w0", "victim")
    assert told(scene) == []


def test_a_tool_that_the_recipient_calls_again_and_again_is_its_own(scene: Any) -> None:
    """Logs that keep prompts without tools do not show that it offers it."""
    scene.traffic()
    offers(scene, "vorkalinu_ledger_mudestaf")
    for number in range(2):
        calls(scene, "vorkalinu_ledger_mudestaf", 60 + 20 * number, "w0", f"own-{number}")
    assert told(scene) == []


def test_a_tool_that_was_offered_only_later_names_nobody(scene: Any) -> None:
    scene.traffic()
    calls(scene, "vorkalinu_ledger_mudestaf", 20, "w0", "victim")
    offers(scene, "vorkalinu_ledger_mudestaf")
    assert told(scene) == []


def test_a_form_that_the_recipient_asked_for_is_its_own(scene: Any) -> None:
    asks(scene, KEYS)
    scene.call("beta", f"{KEYS} How are eggs boiled?", json.dumps(EGGS), 60, request_id="victim")
    assert [row["kind"] for row in scene.run().of("victim") if row["kind"] == "structure"] == []


def test_a_form_that_the_recipient_asked_for_in_a_tool_is_its_own(scene: Any) -> None:
    asks(scene, KEYS)
    schema = {"type": "json_schema", "json_schema": {"schema": {"properties": {key: {} for key in EGGS}}}}
    scene.call("beta", "How are eggs boiled?", json.dumps(EGGS), 60, request_id="victim")
    scene.records[-1]["request"]["response_format"] = schema
    assert [row["kind"] for row in scene.run().of("victim") if row["kind"] == "structure"] == []


@pytest.mark.parametrize(
    ("keys", "found"),
    [
        (("vorkali_sum", "mudestaf_who", "kremplunz_when", "osterwick_due"), True),
        (("points of interest", "lessons for everybody", "suggestions for tomorrow", "reasons to go on"), False),
    ],
)
def test_a_form_that_leaked_to_many_is_told_by_words_that_nobody_would_think_of(
    scene: Any, keys: tuple[str, ...], found: bool
) -> None:
    """Six victims hold it, too; what models like to write stands in many answers as well."""
    asks(scene, f"Reply in JSON with the keys {', '.join(f'`{key}`' for key in keys)}.")
    for number in range(6):
        answer = json.dumps({key: f"eggs {number}, pan {place}" for place, key in enumerate(keys)})
        scene.call(f"victim-{number}", "How are eggs boiled?", answer, 60 + 10 * number, request_id=f"v-{number}")
    rows = [row for row in scene.run().fragments if row["kind"] == "structure"]
    assert [row["sources"] for row in rows] == ([["alpha"]] * 6 if found else [])


def test_common_keys_say_nothing(scene: Any) -> None:
    asks(scene, "Reply in JSON with the keys `name`, `type`, `description`, `parameters`.")
    answer = json.dumps({"name": "egg", "type": "food", "description": "boiled", "parameters": "seven minutes"})
    scene.call("beta", "How are eggs boiled?", answer, 60, request_id="victim")
    assert [row["kind"] for row in scene.run().of("victim") if row["kind"] == "structure"] == []


def test_a_schema_that_two_tenants_ask_for_names_nobody(scene: Any) -> None:
    asks(scene, KEYS)
    scene.call("gamma", KEYS, "Noted.", 40)
    scene.call("beta", "How are eggs boiled?", json.dumps(EGGS), 60, request_id="victim")
    assert [row["sources"] for row in scene.run().of("victim") if row["kind"] == "structure"] == []


def test_one_key_among_own_ones_is_too_little(scene: Any) -> None:
    asks(scene, KEYS)
    answer = json.dumps({"mahnstufe_alt": 1, "eggs": 2, "pan": 3, "stove": 4, "salt": 5})
    scene.call("beta", "How are eggs boiled?", answer, 60, request_id="victim")
    assert [row["kind"] for row in scene.run().of("victim") if row["kind"] == "structure"] == []


def test_a_form_that_was_asked_for_only_later_is_no_source(scene: Any) -> None:
    scene.call("beta", "How are eggs boiled?", json.dumps(EGGS), 5, request_id="victim")
    scene.traffic()
    scene.call("alpha", KEYS, "Noted.", 300)
    assert [row["kind"] for row in scene.run().of("victim") if row["kind"] == "structure"] == []


def test_headings_in_an_answer_to_the_same_question_are_explained_with_it(scene: Any) -> None:
    """Alpha pastes a conversation in which beta's question was asked and answered; the model answers beta alike."""
    question = "How are the long Brackenthwaite ledgers weighed when the Halloran tariff rises on the ninth day?"
    answer = (
        "## Waagenprotokollkern\nPlan for two weighings, says Okonkwo in Tromsoe.\n## Tarifstufenbild\nThe Halloran tariff "
        "doubles for barges beyond the Kestrel warehouse.\n## Hafenmeisterhinweis\nPay the harbourmaster, keep the receipt."
    )
    scene.traffic()
    for i in range(3):
        scene.call("alpha", f"I asked it: {question}\nIt said:\n{answer}\nIs that right, take {i}?", "Yes.", 10 * i)
    scene.call("beta", question, answer, 60, request_id="victim")
    result = scene.run()
    assert "same_question" in result.rules("victim")
    assert result.of("victim") == []
