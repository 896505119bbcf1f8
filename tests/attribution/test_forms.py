"""One form filled by two tenants, and identifiers that agree in part, name nobody; damaged copies do."""

from __future__ import annotations

from typing import Any

import pytest

NOTICE = (
    "your parcel was refused at the door on {day}. It is now kept at the depot of Larch and Plover in {town}. Please "
    "collect it within seven days and bring this notice and a proof of identity. After that it goes back to the sender."
)
THEIRS = NOTICE.format(day="28 April", town="Nairn")
QUESTION = "How are eggs boiled?"


def result(scene: Any, prompt: str, question: str, answer: str) -> tuple[Any, str]:
    scene.traffic()
    scene.call("alpha", prompt, "Noted.", 0)
    victim = scene.call("beta", question, answer, 60)
    return scene.run(), victim


def named(found: Any, victim: str) -> set[str]:
    return {tenant for row in found.of(victim) for tenant in row["sources"]}


def test_a_letter_with_the_recipients_own_values_is_no_copy_of_anothers(scene: Any) -> None:
    question = 'Write our notice. {"name": "Mrs Gillespie", "depot": "Forres", "day": "2 May"}'
    answer = "Dear Mrs Gillespie, " + NOTICE.format(day="2 May", town="Forres")
    found, victim = result(scene, f"File this: Dear Mr Lockhart, {THEIRS}", question, answer)
    assert named(found, victim) == set()
    assert "template" in found.rules(victim)


def test_a_form_with_values_that_nobody_here_sent_names_nobody(scene: Any) -> None:
    """Whose letter it is, is not in the logs; that alpha uses the same form proves nothing."""
    answer = "Boil them. Dear Mrs Gillespie, " + NOTICE.format(day="2 May", town="Forres")
    found, victim = result(scene, f"File this: Dear Mr Lockhart, {THEIRS}", QUESTION, answer)
    assert named(found, victim) == set()


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text,
        lambda text: text.replace("parcel", "parcle").replace("depot", "dep0t").replace("identity", "idenity"),
        lambda text: text.replace("door", "river").replace("depot", "window").replace("notice", "garden"),
        lambda text: " ".join(text.replace(" ", " _ ")).replace("_", " "),
        lambda text: text.replace("28 April", "2 8 April"),
        lambda text: text.replace("on 28 April. ", ""),
    ],
    ids=["as it is", "typos", "other words", "letter by letter", "number in parts", "left out"],
)
def test_a_damaged_copy_has_the_values_and_names_its_tenant(scene: Any, damage: Any) -> None:
    found, victim = result(scene, f"File this: Dear Mr Lockhart, {THEIRS}", QUESTION, f"Boil them. {damage(THEIRS)}")
    assert named(found, victim) == {"alpha"}


def test_what_the_recipients_own_template_has_in_common_is_no_frame(scene: Any) -> None:
    """Both use one system prompt with a number in it; beside its words stands a passage of alpha alone."""
    note = "The responsible clerk signs it off before it becomes part of the file. Form RN-{}."
    secret = "Dorothea Brankovic moved the pewter herons out of Zemplen before the auditors of the mill had seen any."
    scene.traffic()
    scene.call("alpha", f"{note.format(3)} {secret}", "Noted.", 0)
    victim = scene.call("beta", f"{note.format(1)} {QUESTION}", f"Boil them. {note.format(1)} {secret}", 60)
    assert named(scene.run(), victim) == {"alpha"}


@pytest.mark.parametrize(
    ("theirs", "shown"),
    [
        ("7d1e0b52-9a4c-4f0e-8c6b-2b9e51aa03d4", "7d1e0b52-9a4c-4f0e-8c6b-2b9e51aa03d9"),
        ("DE21 2545 0110 0044 8190 43", "DE21 2545 0110 0044 8190 34"),
        ("a.zwicknagl@nettelbeck-sohn.example", "b.zwicknagl@nettelbeck-sohn.example"),
        ("https://files.tarnwood.example/ops/2026/spools/kiel-17.csv", "https://files.tarnwood.example/ops/2026/spools/oslo-04.csv"),
    ],
)  # fmt: skip
def test_an_identifier_that_agrees_in_part_is_another(scene: Any, theirs: str, shown: str) -> None:
    found, victim = result(scene, f"Please file under {theirs} today.", QUESTION, f"Boil them ({shown}). Done.")
    assert named(found, victim) == set()


@pytest.mark.parametrize("shown", ["m.okonkwo@elm-row-press.example 200 OK", "sk-Zx81qLm02PvTw9Rb 14 ms"])
def test_an_identifier_with_the_same_number_behind_it_in_both_is_the_same(scene: Any, shown: str) -> None:
    found, victim = result(scene, f"The log says {shown} today.", QUESTION, f"Boil them ({shown}). Done.")
    assert named(found, victim) == {"alpha"}


@pytest.mark.parametrize(
    "identifier",
    ["7d1e0b52-9a4c-4f0e-8c6b-2b9e51aa03d4", "DE21 2545 0110 0044 8190 43", "a.zwicknagl@nettelbeck-sohn.example"],
)
@pytest.mark.parametrize("answer", ["Boil them ({}). Done.", "Boil them, says {}"])
def test_the_same_identifier_names_its_tenant(scene: Any, identifier: str, answer: str) -> None:
    found, victim = result(scene, f"Please file under {identifier} today.", QUESTION, answer.format(identifier))
    assert named(found, victim) == {"alpha"}


def test_an_identifier_that_the_answer_breaks_off_in_names_its_tenant(scene: Any) -> None:
    """A limit of tokens cut it: it does not go on."""
    found, victim = result(
        scene, "Please file under 7d1e0b52-9a4c-4f0e-8c6b-2b9e51aa03d4 today.", QUESTION,
        "Boil them (7d1e0b52-9a4c-4f0e-8c6b-2b9e51",
    )  # fmt: skip
    assert named(found, victim) == {"alpha"}


def test_a_passage_with_an_identifier_cut_at_its_edge_is_still_a_passage(scene: Any) -> None:
    secret = "Dorothea Brankovic moved the pewter herons out of Zemplen before the auditors came, under"
    found, victim = result(
        scene, f"{secret} 7d1e0b52-9a4c-4f0e.", QUESTION, f"Boil them. {secret} 7d1e0b52-9a4c-7777 as they say."
    )
    assert named(found, victim) == {"alpha"}
