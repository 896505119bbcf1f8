"""What is the recipient's own, who came first, and whom complaints and echoes must not drag in."""

from __future__ import annotations

from typing import Any

import pytest

SECRET = "the depot in Halloran Street shipped seventeen crates of printed ledgers to the wrong quay on Tuesday"
NOTE = f"Note: {SECRET}."
LEAK = f"Well, {SECRET}!"
QUESTION = "How are eggs boiled?"


def history(*turns: str) -> list[dict[str, Any]]:
    roles = ("user", "assistant")
    return [{"role": roles[i % 2], "content": turn} for i, turn in enumerate(turns)]


def test_what_the_same_request_sent_is_own(scene: Any) -> None:
    scene.traffic()
    scene.call("alpha", NOTE, "Noted.", 0)
    scene.call("beta", f"Repeat this: {SECRET}.", LEAK, 60)
    assert scene.run().fragments == []


def test_what_an_earlier_request_sent_is_own(scene: Any) -> None:
    scene.traffic()
    scene.call("alpha", NOTE, "Noted.", 0)
    scene.call("beta", f"Keep this: {SECRET}.", "Kept.", 30)
    scene.call("beta", "What did I ask you to keep?", LEAK, 60)
    assert scene.run().fragments == []


def test_what_it_was_answered_before_is_own(scene: Any) -> None:
    """Beta's own answer came before alpha ever sent the text (alpha copied it from beta, say)."""
    scene.traffic()
    scene.call("beta", "Write about a depot.", LEAK, 0)
    scene.call("alpha", NOTE, "Noted.", 60)
    scene.call("beta", "Write about that depot again.", LEAK, 120)
    assert scene.run().fragments == []


def test_what_another_tenant_sends_later_is_no_source(scene: Any) -> None:
    scene.traffic()
    scene.call("beta", QUESTION, LEAK, 0)
    scene.call("alpha", NOTE, "Noted.", 60)
    result = scene.run()
    assert [row["sources"] for row in result.fragments] == []
    assert result.appearances == []


def test_received_after_the_recipient_finished_is_impossible_before_is_possible(scene: Any) -> None:
    """Concurrent is enough: alpha's request arrives while beta's is answered. One second later it is too late."""
    scene.traffic()
    scene.call("alpha", NOTE, "Noted.", 64)
    scene.call("beta", QUESTION, LEAK, 60, lasts=5)
    scene.call("gamma", f"Aside: {SECRET.replace('Tuesday', 'Friday').upper()}.", "Noted.", 66)
    assert scene.run().only()["sources"] == ["alpha"]
    scene.records.clear()
    scene.traffic()
    scene.call("alpha", NOTE, "Noted.", 66)
    scene.call("beta", QUESTION, LEAK, 60, lasts=5)
    assert scene.run().fragments == []


def test_what_it_sends_later_does_not_explain(scene: Any) -> None:
    """A victim quotes the leak in a complaint: the leak stays a leak."""
    scene.traffic()
    source = scene.call("alpha", NOTE, "Noted.", 0)
    victim = scene.call("beta", QUESTION, LEAK, 60)
    scene.call("beta", f"Why did you tell me that {SECRET}?", "I am sorry about that.", 120)
    result = scene.run()
    fragment = result.only()
    assert (fragment["recipient_request_id"], fragment["sources"]) == (victim, ["alpha"])
    assert result.best(fragment)["source_request_id"] == source


def test_a_complaint_does_not_make_the_victim_a_source_nor_explain_a_second_leak(scene: Any) -> None:
    scene.traffic()
    scene.call("alpha", NOTE, "Noted.", 0)
    first = scene.call("beta", QUESTION, LEAK, 60)
    scene.call("beta", f"Why did you tell me that {SECRET}?", "I am sorry about that.", 120)
    other = scene.call("gamma", "Name three rivers.", f"Danube. {SECRET}. Rhine.", 180)
    result = scene.run()
    assert {row["recipient_request_id"]: row["sources"] for row in result.fragments} == {
        first: ["alpha"],
        other: ["alpha"],
    }
    assert {row["source_tenant_id"] for row in result.appearances if row["named"]} == {"alpha"}


def test_a_second_leak_to_the_same_victim_is_a_second_leak(scene: Any) -> None:
    scene.traffic()
    scene.call("alpha", NOTE, "Noted.", 0)
    first = scene.call("beta", QUESTION, LEAK, 60)
    second = scene.call("beta", "Name three rivers.", f"Danube. {SECRET}. Rhine.", 180)
    result = scene.run()
    assert {row["recipient_request_id"]: row["sources"] for row in result.fragments} == {
        first: ["alpha"],
        second: ["alpha"],
    }


@pytest.mark.parametrize("complaint", [True, False])
def test_a_second_leak_after_a_complaint(scene: Any, complaint: bool) -> None:
    """The victim's complaint in another conversation does not explain a second leak of the same text to it."""
    scene.traffic()
    scene.call("alpha", NOTE, "Noted.", 0)
    first = scene.call("beta", QUESTION, LEAK, 60)
    if complaint:
        scene.call("beta", f"Why did you tell me that {SECRET}?", "I am sorry about that.", 120)
    second = scene.call("beta", "Name three rivers.", f"Danube. {SECRET}. Rhine.", 180)
    assert {row["recipient_request_id"] for row in scene.run().fragments} == {first, second}


def test_an_echo_in_the_same_conversation_is_kept_as_echo(scene: Any) -> None:
    """The leaked answer is carried in the history; the next answer repeats it."""
    scene.traffic()
    scene.call("alpha", NOTE, "Noted.", 0)
    victim = scene.call("beta", QUESTION, LEAK, 60)
    echo = scene.call("beta", history(QUESTION, LEAK, "What was that?"), f"I said that {SECRET}.", 120)
    result = scene.run()
    assert [row["recipient_request_id"] for row in result.fragments] == [victim]
    assert result.rules(echo) == {"echo"}


def test_history_of_the_victims_does_not_make_it_a_supplier(scene: Any) -> None:
    """Three victims carry the leak in their histories; a fourth one's source is still alpha alone, not shared text."""
    scene.traffic()
    scene.call("alpha", NOTE, "Noted.", 0)
    victims = []
    for i in range(5):
        victims.append(scene.call(f"victim-{i}", QUESTION, LEAK, 60 + 60 * i))
        scene.call(f"victim-{i}", history(QUESTION, LEAK, "Thanks."), "You are welcome.", 80 + 60 * i)
    result = scene.run()
    assert {row["recipient_request_id"]: row["sources"] for row in result.fragments} == {v: ["alpha"] for v in victims}


# -- how many suppliers ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suppliers", [1, 2, 3])
def test_few_suppliers_are_named_as_a_set(scene: Any, suppliers: int) -> None:
    scene.traffic()
    names = [f"supplier-{i}" for i in range(suppliers)]
    for i, name in enumerate(names):
        scene.call(name, NOTE, "Noted.", 10 * i)
    victim = scene.call("beta", QUESTION, LEAK, 60)
    fragment = scene.run().only()
    assert (fragment["recipient_request_id"], fragment["sources"]) == (victim, names)
    assert fragment["machine_verdict"] == "probable"


@pytest.mark.parametrize("suppliers", [4, 6])
def test_four_suppliers_make_it_shared(scene: Any, suppliers: int) -> None:
    scene.traffic()
    for i in range(suppliers):
        scene.call(f"supplier-{i}", NOTE, "Noted.", 5 * i)
    victim = scene.call("beta", QUESTION, LEAK, 60)
    result = scene.run()
    assert result.fragments == []
    assert result.rules(victim) == {"shared"}


def test_a_supplier_of_more_is_the_source_alone(scene: Any) -> None:
    """Gamma has half of the passage; alpha has all of it."""
    scene.traffic()
    scene.call("alpha", NOTE, "Noted.", 0)
    scene.call("gamma", f"Note: {SECRET[:50]} and nothing else.", "Noted.", 10)
    scene.call("beta", QUESTION, LEAK, 60)
    assert scene.run().only()["sources"] == ["alpha"]


# -- whose is it -------------------------------------------------------------------------------------------------------


def test_sister_accounts_are_one_tenant(scene: Any) -> None:
    scene.traffic()
    scene.call("alpha-eu", NOTE, "Noted.", 0)
    scene.call("alpha-us", QUESTION, LEAK, 60)
    assert scene.run().only()["sources"] == ["alpha-eu"]
    header = "key_kind,key,tenant_id,organisation,legal_name,contact,country,language\n"
    scene.tenants = header + "".join(f"tenant,{t},{t},alpha,,,,\n" for t in ("alpha-eu", "alpha-us"))
    assert scene.run().fragments == []


def test_users_of_one_tenant_are_apart_where_asked(scene: Any) -> None:
    scene.traffic()
    scene.call("alpha", NOTE, "Noted.", 0, user="ann")
    victim = scene.call("alpha", QUESTION, LEAK, 60, user="bob")
    assert scene.run().fragments == []
    fragment = scene.run(isolate_by="user").only()
    assert (fragment["recipient_request_id"], fragment["sources"]) == (victim, ["alpha"])


def test_a_recipient_without_a_tenant_is_not_examined(scene: Any) -> None:
    scene.traffic()
    scene.call("alpha", NOTE, "Noted.", 0)
    scene.call(None, QUESTION, LEAK, 60)
    result = scene.run()
    assert result.fragments == []
    assert any("no tenant" in warning for warning in result.summary.warnings)


def test_a_source_without_a_tenant_is_never_named(scene: Any) -> None:
    scene.traffic()
    scene.call(None, NOTE, "Noted.", 0)
    scene.call("beta", QUESTION, LEAK, 60)
    fragment = scene.run().only()
    assert (fragment["machine_verdict"], fragment["sources"]) == ("undetermined", [])


def test_a_nameless_holder_leaves_a_named_one_in_doubt(scene: Any) -> None:
    """One of two possible suppliers is not known: naming the other alone would be a guess."""
    scene.traffic()
    scene.call(None, NOTE, "Noted.", 0)
    scene.call("alpha", NOTE, "Noted.", 10)
    scene.call("beta", QUESTION, LEAK, 60)
    fragment = scene.run().only()
    assert (fragment["machine_verdict"], fragment["sources"]) == ("undetermined", [])


@pytest.mark.parametrize(("source_at", "victim_at"), [(None, None), (None, 60.0)])
def test_unknown_times_cap_the_verdict(scene: Any, source_at: float | None, victim_at: float | None) -> None:
    scene.traffic()
    scene.call("alpha", NOTE, "Noted.", source_at)
    scene.call("beta", QUESTION, LEAK, victim_at)
    fragment = scene.run().only()
    assert (fragment["machine_verdict"], fragment["sources"]) == ("possible", ["alpha"])


def test_an_unknown_end_is_no_bar(scene: Any) -> None:
    """Only arrivals are logged: the recipient may have been answered after alpha's request came."""
    scene.traffic()
    scene.call("alpha", NOTE, "Noted.", 62, ends=False)
    scene.call("beta", QUESTION, LEAK, 60, ends=False)
    assert scene.run().only()["sources"] == ["alpha"]


def test_one_tenant_alone_is_said(scene: Any) -> None:
    scene.call("alpha", NOTE, LEAK, 0)
    scene.call("alpha", QUESTION, LEAK, 60)
    result = scene.run()
    assert result.fragments == []
    assert any("without two, nothing can be foreign" in warning for warning in result.summary.warnings)


@pytest.mark.parametrize("nothing", ["", " ", None, "…", "🙂"])
def test_empty_contents(scene: Any, nothing: str | None) -> None:
    scene.call("alpha", [{"role": "user", "content": nothing}], nothing, 0)
    scene.call("beta", QUESTION, nothing, 60)
    scene.call("gamma", [], nothing, 90)
    assert scene.run().fragments == []
