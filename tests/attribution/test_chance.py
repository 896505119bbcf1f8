"""Numbers that two tenants have by chance: in a busy service some are equal, and none of them is a leak."""

from __future__ import annotations

import random
from typing import Any

import pytest


def busy(scene: Any, calls: int, digits: int, seed: int) -> None:
    """Half of the calls hold an order number in the prompt, half are given a ticket number; all drawn at random."""
    dice = random.Random(seed)

    def number() -> str:
        return "7" + "".join(dice.choices("0123456789", k=digits - 1))

    for i in range(calls):
        pet, when = ("cats", "dogs", "birds", "fish")[i % 4], ("soon", "later", "today", "never")[i % 4]
        order, ticket = number(), number()
        scene.call(f"t-{i % 60}", f"Order {order} is late, where is it?", f"Order {order} ships {when}.", 10 * i)
        scene.call(f"u-{i % 60}", f"Open ticket for {pet}", f"Ticket {ticket} opened.", 10 * i + 5)


def test_long_numbers_are_never_equal_by_chance(scene: Any) -> None:
    busy(scene, 1000, 14, 1)
    assert scene.run().fragments == []


@pytest.mark.slow
def test_numbers_that_are_equal_by_chance_name_nobody(scene: Any) -> None:
    """15,000 prompts and 15,000 responses with numbers of 8 random digits: about one equal pair in the right order.

    8 digits hold 26.6 bits, and 15,000 times 15,000 places take 27.7 of them: nothing is left to name anybody by.
    """
    busy(scene, 15_000, 9, 1)
    assert scene.run().fragments == []
