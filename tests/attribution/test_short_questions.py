"""The same answer to two questions that share no word: a leak, or a cache that knew better?"""

from __future__ import annotations

from typing import Any

import pytest

LETTER = (
    "Dear landlord, the heating in our flat has been cold since the weekend and our youngest child is ill. Could you "
    "please send somebody before Wednesday? We would be very grateful."
)
NEIGHBOUR = "Please write to my neighbour: could she take the key and feed the cat at the weekend? The flat is cold."
TIDES = (
    "The tides are caused mainly by the gravitational pull of the Moon, and to a lesser extent by the Sun. As the Earth "
    "rotates, every coast passes through two bulges of water, so that the sea rises and falls twice a day."
)


@pytest.mark.parametrize(
    ("first", "second", "answer"),
    [
        ("Schreib auf Englisch an den Vermieter: Heizung kalt, Kind krank, bitte bis Mittwoch.", NEIGHBOUR, LETTER),
        ("My daughter asks why it goes up and down. What do I tell her?", "Explain ocean tides to a child.", TIDES),
    ],
    ids=["asks for a language", "short, in other words"],
)
def test_neither_of_two_is_named_by_a_few_words_of_the_others_question(
    scene: Any, first: str, second: str, answer: str
) -> None:
    scene.traffic()
    scene.call("alpha", first, answer, 0, lasts=3)
    scene.call("beta", second, answer, 1, lasts=3)
    assert [row["sources"] for row in scene.run().fragments if row["sources"]] == []


def test_an_answer_that_has_the_others_question_in_it_names_its_tenant(scene: Any) -> None:
    """Most of what it says stands in alpha's question, and none of it in the short one of beta."""
    asked = (
        "Write to Torrevaldo salt pans: the brine pump of basin Kestrel leaks, Brackenthwaite wants the Halloran valve by "
        "Michaelmas, freight to Tromsoe is paid."
    )
    answer = (
        "Dear Torrevaldo salt pans, the brine pump of basin Kestrel leaks. Brackenthwaite wants the Halloran valve by "
        "Michaelmas; freight to Tromsoe is paid."
    )
    scene.traffic()
    scene.call("alpha", asked, answer, 0, lasts=3)
    victim = scene.call("beta", "How are eggs boiled?", answer, 1, lasts=3)
    assert [row["sources"] for row in scene.run().of(victim)] == [["alpha"]]
