"""What is not scored could not have been worth its price. Names and texts are drawn here."""

from __future__ import annotations

import random
from contextlib import closing
from typing import Any

import pytest

from forensics.attribution import names
from forensics.attribution.corpus import Corpus
from forensics.attribution.holdings import load_world
from forensics.attribution.name_places import groups_of
from forensics.attribution.name_prices import Prices
from forensics.attribution.name_screen import worth_scoring
from forensics.attribution.parameters import Parameters
from forensics.attribution.rare_names import find_rare_names
from forensics.attribution.texts import Texts

FIRST = "ka lo mi re tu sha bru wen dol fi".split()
COMMON = ["wooden boxes", "Grand Hotel", "ordinary harbour", "blue lantern", "twelve sailors"]
ODD = [
    "Zorvexliquam 7741 Q",
    "Quxalventrik",
    "מוזחתפקא חציזרון",
    "독고마루한솔",
    "ヌクミザワトキヒロ",
    "澹台翊璇珏",
    "x9-Kd7",
]


def invent(dice: random.Random) -> str:
    word = "".join(dice.choice(FIRST) for _ in range(dice.randint(2, 4)))
    return dice.choice(
        (word, word.capitalize(), f"{word.capitalize()} {dice.choice(FIRST).capitalize()}son {dice.randint(1, 99999)}")
    )


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_group_that_is_worth_its_price_is_always_scored(scene: Any, seed: int) -> None:
    dice = random.Random(seed)
    pool = [*COMMON, *ODD, *(invent(dice) for _ in range(240))]
    dice.shuffle(pool)
    for i in range(120):
        own, others = pool[2 * i : 2 * i + 2], dice.sample(pool, dice.randint(1, 4))
        prompt = f"Question {i}: what of {' and '.join(own)}?"
        answer = f"It is {'; also '.join(others)}. {others[0]} again."
        scene.call(f"t-{i % 12}", prompt, answer, 20 * i)
    scene.run()
    case = scene._cases[-1]
    world = load_world(case)
    parameters = Parameters()
    with closing(Corpus(case, world)) as corpus:
        texts = Texts(corpus)
        rare = find_rare_names(corpus, parameters)
        prices = Prices(world, rare.sent)
        groups = groups_of(world, rare, [])
        named = {(group.use, group.holder) for group in groups[::5]}
        scored = names._score(corpus, texts, groups, prices, named, parameters)
        worth = {(item.group.use, item.group.holder, item.group.target) for item in scored if item.net > 0}
        budget = parameters.background_bytes // names.BACKGROUND_SHARE
        kept = {(g.use, g.holder, g.target) for g in worth_scoring(corpus, texts, groups, prices, named, budget)}
    assert worth and worth <= kept
    assert len(kept) < len(groups)
