"""A passage of one tenant's in another's response: found in every script, side and field, at its exact place."""

from __future__ import annotations

from typing import Any

import pytest

# (before, passage, after) of about 200 bits each; the passage begins and ends with a letter or digit, and its
# neighbours differ between prompt and response, so that it has exact ends.
PASSAGES = {
    "english": (
        "Here you are: ",
        "the depot in Halloran Street shipped seventeen crates of printed ledgers to the wrong quay on Tuesday",
        " — is there more?",
    ),
    "chinese": ("好的。", "霍兰街仓库周二把十七箱账簿错运到三号码头承运人要求先付清仓储费再放货", "。还需要什么吗？"),
    "japanese": (
        "承知しました。",
        "ハロラン通りの倉庫は火曜日に帳簿十七箱を誤った埠頭へ送り保管料を請求された",
        "。ほかにありますか。",
    ),
    "hebrew": (
        "בבקשה: ",
        "המחסן ברחוב הלורן שלח ביום שלישי שבעה עשר ארגזי פנקסים לרציף הלא נכון והמוביל דורש תשלום",
        ". עוד משהו?",
    ),
    "arabic": (
        "تفضل: ",
        "أرسل المستودع في شارع هالوران سبعة عشر صندوقا من الدفاتر إلى الرصيف الخطأ يوم الثلاثاء",
        ". هل من شيء آخر؟",
    ),
    "korean": (
        "네. ",
        "할로란 거리의 창고가 화요일에 인쇄 장부 열일곱 상자를 잘못된 부두로 보냈고 운송사가 보관료를 요구한다",
        ". 더 있나요?",
    ),
    "german": (
        "Bitte sehr: ",
        "das Lager in der Halloranstraße schickte am Dienstag siebzehn Kisten Geschäftsbücher zum falschen Kai",
        " – noch etwas?",
    ),
    "code": (
        "```python\n",
        "def settle_ledger(quay, crates):\n    return sum(c.weight * quay.rate for c in crates if c.overdue",
        ")\n```\nDone.",
    ),
    "json": (
        '{"',
        'consignee": "Halloran Freight", "crates": 17, "quay": "north-3", "storage_due": 912.40',
        "}, ok",
    ),
}
OWN_QUESTIONS = {
    "chinese": "请推荐一种做早餐的方法。",
    "japanese": "朝食の作り方を教えてください。",
    "hebrew": "איך מכינים ביצה קשה?",
    "arabic": "كيف أسلق بيضة؟",
    "korean": "달걀은 어떻게 삶나요?",
}
ENGLISH = PASSAGES["english"][1]


def assert_leak(
    result: Any, recipient: str, passage: str, text: str, source: str, tenant: str, field: str = "choices[0].content"
) -> dict[str, Any]:
    """The only fragment is this passage, at its exact place, from this request."""
    fragment = result.only()
    assert (fragment["recipient_request_id"], fragment["field"]) == (recipient, field)
    start = text.index(passage)
    assert (fragment["start"], fragment["end"]) == (start, start + len(passage))
    assert (fragment["kind"], fragment["machine_verdict"], fragment["sources"]) == ("verbatim", "probable", [tenant])
    best = result.best(fragment)
    assert (best["source_request_id"], best["source_tenant_id"], best["named"]) == (source, tenant, True)
    return best


@pytest.mark.parametrize("script", sorted(PASSAGES))
def test_found_in_every_script_at_exact_code_points(scene: Any, script: str) -> None:
    before, passage, after = PASSAGES[script]
    prompt = f"😀 1) {passage} 2) ok"
    answer = before + passage + after
    scene.traffic()
    source = scene.call("alpha", prompt, "Noted.", 0)
    recipient = scene.call("beta", OWN_QUESTIONS.get(script, "How are eggs boiled?"), answer, 60)
    best = assert_leak(scene.run(), recipient, passage, answer, source, "alpha")
    assert (best["side"], best["field"]) == ("prompt", "messages[0].content")
    assert (best["start"], best["end"]) == (prompt.index(passage), prompt.index(passage) + len(passage))
    assert (best["similarity"], best["raw_identity"]) == (1.0, 1.0)


@pytest.mark.parametrize("script", sorted(PASSAGES))
def test_no_leak_no_fragment(scene: Any, script: str) -> None:
    """The same traffic with the passage in its owner's response only."""
    before, passage, after = PASSAGES[script]
    scene.traffic()
    scene.call("alpha", f"1) {passage} 2) ok", before + passage + after, 0)
    scene.call("beta", OWN_QUESTIONS.get(script, "How are eggs boiled?"), before + after, 60)
    assert scene.run().fragments == []


def test_changed_case_spacing_and_quotes_do_not_hide_it(scene: Any) -> None:
    copied = ENGLISH.upper().replace(" ", "  ")
    scene.traffic()
    source = scene.call("alpha", f"Note: {ENGLISH}.", "Noted.", 0)
    recipient = scene.call("beta", "How are eggs boiled?", "Well, " + copied + "!", 60)
    best = assert_leak(scene.run(), recipient, copied, "Well, " + copied + "!", source, "alpha")
    assert best["similarity"] == 1.0
    assert best["raw_identity"] < 0.5


def test_astral_characters_count_one(scene: Any) -> None:
    """Offsets are code points: a rocket is one."""
    answer = "🚀🚀🚀" + ENGLISH + "🚀"
    scene.traffic()
    scene.call("alpha", ENGLISH, "Noted.", 0)
    scene.call("beta", "How are eggs boiled?", answer, 60)
    fragment = scene.run().only()
    assert (fragment["start"], fragment["end"]) == (3, 3 + len(ENGLISH))


def call(arguments: str) -> dict[str, Any]:
    function = {"name": "lookup", "arguments": arguments}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": function}],
    }


TEXT = "Well, " + ENGLISH + "!"
RECIPIENT_FIELDS: dict[str, Any] = {
    "choices[0].reasoning": {"role": "assistant", "content": "Boil it.", "reasoning_content": TEXT},
    "choices[0].refusal": {"role": "assistant", "content": None, "refusal": TEXT},
    "choices[0].tool_calls[0].function.arguments": call(TEXT),
    "choices[1].content": ["Boil it.", TEXT],
    "choices[2].content": [None, "", TEXT],
}


@pytest.mark.parametrize("field", sorted(RECIPIENT_FIELDS))
def test_found_in_every_field_of_a_response(scene: Any, field: str) -> None:
    scene.traffic()
    source = scene.call("alpha", f"Note: {ENGLISH}.", "Noted.", 0)
    recipient = scene.call("beta", "How are eggs boiled?", RECIPIENT_FIELDS[field], 60)
    assert_leak(scene.run(), recipient, ENGLISH, TEXT, source, "alpha", field)


NOTE = f"Note: {ENGLISH}."
SOURCE_SIDES: dict[str, tuple[list[dict[str, Any]], str]] = {
    "system": (
        [{"role": "system", "content": NOTE}, {"role": "user", "content": "Summarise."}],
        "messages[0].content",
    ),
    "user": ([{"role": "user", "content": NOTE}], "messages[0].content"),
    "parts": (
        [{"role": "user", "content": [{"type": "text", "text": "Look."}, {"type": "text", "text": NOTE}]}],
        "messages[0].content",
    ),
    "tool result": (
        [
            {"role": "user", "content": "Look it up."},
            call('{"q": 1}'),
            {"role": "tool", "tool_call_id": "c1", "content": NOTE},
        ],
        "messages[2].content",
    ),
    "earlier answer": (
        [
            {"role": "user", "content": "Look it up."},
            {"role": "assistant", "content": NOTE},
            {"role": "user", "content": "Thanks."},
        ],
        "messages[1].content",
    ),
    "tool call": (
        [
            {"role": "user", "content": "Look it up."},
            call(NOTE),
            {"role": "tool", "tool_call_id": "c1", "content": "none"},
        ],
        "messages[1].tool_calls[0].function.arguments",
    ),
}


@pytest.mark.parametrize("side", sorted(SOURCE_SIDES))
def test_found_on_every_source_side(scene: Any, side: str) -> None:
    messages, field = SOURCE_SIDES[side]
    scene.traffic()
    source = scene.call("alpha", messages, "Noted.", 0)
    recipient = scene.call("beta", "How are eggs boiled?", TEXT, 60)
    best = assert_leak(scene.run(), recipient, ENGLISH, TEXT, source, "alpha")
    assert best["side"] == "prompt"
    assert best["field"].startswith(field)


def test_other_worker_and_days_old_are_no_bar(scene: Any) -> None:
    """Place and time rank candidates; they never gate the search."""
    scene.traffic()
    source = scene.call("alpha", NOTE, "Noted.", 0, worker="w7")
    recipient = scene.call("beta", "How are eggs boiled?", TEXT, 5 * 86400, worker="w2")
    assert_leak(scene.run(), recipient, ENGLISH, TEXT, source, "alpha")


def test_the_likeliest_carrier_of_one_tenant_ranks_first(scene: Any) -> None:
    """The same history in three requests: the one in flight on the same worker is named."""
    scene.traffic()
    scene.call("alpha", NOTE, "Noted.", 0, worker="w0")
    beside = scene.call("alpha", [{"role": "user", "content": NOTE}], "Yes.", 58, lasts=10, worker="w0")
    scene.call("alpha", NOTE, "Noted again.", 59, lasts=10, worker="w5")
    recipient = scene.call("beta", "How are eggs boiled?", TEXT, 60, worker="w0")
    best = assert_leak(scene.run(), recipient, ENGLISH, TEXT, beside, "alpha")
    assert (best["same_worker"], best["overlapped"], best["lag_us"]) == (True, True, 7_000_000)


def test_a_long_prompt(scene: Any) -> None:
    """100 kB of prompt, the passage in its middle and only 100 letters of it leaked."""
    filler = "\n".join(f"row {i}: item {i * 7919 % 10007} of lot {i * 31 % 97} is in good order" for i in range(2000))
    half = len(filler) // 2
    prompt = filler[:half] + "\n" + NOTE + "\n" + filler[half:]
    assert len(prompt) > 90_000
    scene.traffic()
    source = scene.call("alpha", prompt, "Noted.", 0)
    recipient = scene.call("beta", "How are eggs boiled?", TEXT, 60)
    best = assert_leak(scene.run(), recipient, ENGLISH, TEXT, source, "alpha")
    assert best["start"] == prompt.index(ENGLISH)


def test_two_passages_of_two_tenants_are_two_fragments(scene: Any) -> None:
    german = PASSAGES["german"][1]
    answer = f"Well, {ENGLISH}! And also: {german}; done."
    scene.traffic()
    scene.call("alpha", NOTE, "Noted.", 0)
    scene.call("delta", f"Notiz: {german}.", "Notiert.", 10)
    recipient = scene.call("beta", "How are eggs boiled?", answer, 60)
    found = scene.run().of(recipient)
    assert [(row["start"], row["end"], row["sources"]) for row in found] == [
        (answer.index(ENGLISH), answer.index(ENGLISH) + len(ENGLISH), ["alpha"]),
        (answer.index(german), answer.index(german) + len(german), ["delta"]),
    ]
