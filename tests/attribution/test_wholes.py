"""Whole answers whose tenant a passage in them names already. Texts are invented here by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from forensics.attribution.displaced import Claim, is_throughout
from forensics.attribution.wholes import claims_on_wholes, told_by
from forensics.text.fold import fold
from forensics.text.words import Words, terms, words

RECIPIENT, ALPHA, GAMMA, DELTA = range(4)
CLAUSE = "each Brackenthwaite ledger is weighed twice by Ottoline Vasseur before porters lift it"
DOCUMENT = (
    f"Storage rules of the quay. {CLAUSE.capitalize()}. The Halloran tariff rises on the ninth day, as Okonkwo signed in "
    "Tromsoe. Dues for seventeen crates are paid to the harbourmaster, a receipt goes to the archive, and spoiled "
    "freight is burned behind the Kestrel warehouse. Overdue barges forfeit their moorings."
)
ASKED = f"What follows from these rules? {DOCUMENT}"
# Answers the question about the rules, and quotes one of them.
ANSWER = (
    f"It follows that you should plan for two weighings: {CLAUSE}, they say. Pay the harbourmaster in time, keep the "
    "receipt until the archive asks for it, mind the ninth day, when the tariff rises; spoiled freight is lost, and "
    "overdue barges forfeit their moorings at the warehouse."
)
# What others ask and are answered: their answers take up the question.
MATTERS = ("quartz slate", "otters badgers", "violins trumpets", "saffron cumin", "comets nebulas", "fresco mosaic")
ANSWERED = "Plan for the Brackenthwaite weighings, pay the Halloran tariff in Tromsoe and burn spoiled Kestrel freight."
EGGS = (
    "Boil the eggs gently for seven minutes, lift them out with a spoon and hold them under the cold tap for a while."
)
STRAY = "Oats with fruit and a handful of nuts keep most people going until noon, so have breakfast before the climb."


def told(scene: Any, victim: str) -> set[tuple[str, tuple[str, ...], str]]:
    """Kind, sources and verdict of the victim's fragments, among others' ordinary calls."""
    for number, matter in enumerate(MATTERS):
        one, other = matter.split()
        scene.call(
            f"other-{number}", f"Compare {one} with {other}.", f"Unlike {other}, {one} are common.", -60 + number
        )
    return {(row["kind"], tuple(row["sources"]), row["machine_verdict"]) for row in scene.run().of(victim)}


def test_the_whole_answer_of_a_passages_tenant_is_told(scene: Any) -> None:
    """The rest of it has nothing of the question about eggs, and alpha got something else."""
    scene.traffic()
    scene.call("alpha", ASKED, STRAY, 0, lasts=10)
    victim = scene.call("beta", "How are eggs boiled?", ANSWER, 2, lasts=9)
    assert told(scene, victim) == {("whole_response", ("alpha",), "possible"), ("verbatim", ("alpha",), "probable")}


@pytest.mark.parametrize(("answer", "whole"), [(STRAY, True), (ANSWERED, False)])
def test_a_request_that_holds_the_passage_need_not_be_near(scene: Any, answer: str, whole: bool) -> None:
    """A restored answer may be hours old, from another worker; that its request got a fitting answer speaks against."""
    scene.traffic()
    scene.call("alpha", ASKED, answer, -9000, lasts=10, worker="w9")
    victim = scene.call("beta", "How are eggs boiled?", ANSWER, 2, lasts=9)
    found = told(scene, victim)
    assert ("verbatim", ("alpha",), "probable") in found
    assert (("whole_response", ("alpha",), "possible") in found) == whole


@pytest.mark.parametrize(("spread", "enough"), [(0.9, True), (0.4, False)])
def test_the_terms_of_a_passage_do_not_speak_for_the_whole(spread: float, enough: bool) -> None:
    words_of = [f"word{'abcdefghij'[i // 10]}{'abcdefghij'[i % 10]}" for i in range(100)]
    here = FakeTexts(" ".join(words_of))
    keys = terms(here.words(0))
    held = np.zeros((1, keys.size), dtype=np.bool_)
    held[0, : round(100 * spread)] = True
    suspect = SimpleNamespace(use=0, near=np.zeros(1, dtype=np.int64))
    claim: Any = Claim(SimpleNamespace(suspect=suspect, keys=keys, held=held), [0], 30.0)  # type: ignore[arg-type]
    world: Any = SimpleNamespace(uses=SimpleNamespace(content=np.zeros(1, dtype=np.int64)))
    assert is_throughout(world, here, claim) == enough  # type: ignore[arg-type]


class FakeTexts:
    """One text."""

    def __init__(self, text: str) -> None:
        self._text = text

    def words(self, content: int) -> Words:
        return words(self._text)

    def units(self, content: int) -> Any:
        return fold(self._text).units


def test_a_passage_in_an_answer_to_the_own_question_is_a_passage(scene: Any) -> None:
    scene.traffic()
    scene.call("alpha", ASKED, STRAY, 0, lasts=10)
    victim = scene.call(
        "beta", "How are eggs boiled, lifted out and held?", f"{EGGS} {CLAUSE}. {EGGS[:40]}", 2, lasts=9
    )
    assert {kind for kind, _, _ in told(scene, victim)} == {"verbatim"}


def test_a_passage_of_a_request_that_was_answered_is_a_passage(scene: Any) -> None:
    """What stands around it need not be the other tenant's: its question got its answer."""
    scene.traffic()
    scene.call("alpha", ASKED, ANSWERED, 0, lasts=10)
    victim = scene.call("beta", "Tell me something.", f"Gladly. {STRAY} {CLAUSE}. That was all of it, ask again.", 2)
    assert {kind for kind, _, _ in told(scene, victim)} == {"verbatim"}


def claims(
    near: list[tuple[int, bool, float]],
    own: float,
    units: set[int],
    sure: bool = True,
    keys: int = 20,
    held: int = 5,
    answered: float = 0.5,
) -> list[tuple[float, list[int]]]:
    """Bits and places of the claims on a response. `near`: tenant, open, bits; `answered`: share of all requests."""
    size = len(near)
    unit = np.array([*(one for one, _, _ in near), RECIPIENT])
    open_ = np.array([*(opened for _, opened, _ in near), True])
    # Requests far away bring the share of answered ones to what is asked.
    far = np.arange(1000 - size - 1) < round(1000 * answered) - int((~open_).sum())
    suspect = SimpleNamespace(use=7, request=size, near=np.arange(size))
    item = SimpleNamespace(
        suspect=suspect,
        keys=np.arange(keys),
        held=np.arange(keys)[None, :].repeat(size, axis=0) < held,
        bits=np.array([bits for _, _, bits in near]),
        own_bits=own,
    )
    world: Any = SimpleNamespace(requests=SimpleNamespace(unit=unit))
    likely: Any = [item]
    found = claims_on_wholes(world, np.concatenate([~open_, far]), likely, {7: (frozenset(units), sure)})
    return [(round(claim.bits, 3), claim.places) for claim in found]


def test_the_bits_of_a_whole() -> None:
    """log2(1/2 2^3) for the open one of two requests, log2(0.9 / 0.5) for its being open, 4 that the own one is worse."""
    assert claims([(ALPHA, True, 3.0), (ALPHA, False, 9.0)], -4.0, {ALPHA}) == [(6.848, [0])]


def test_where_open_requests_are_the_rule_that_one_is_says_less() -> None:
    few, many = (claims([(ALPHA, True, 6.0)], -2.0, {ALPHA}, answered=share)[0][0] for share in (0.9, 0.2))
    assert (few, many) == (round(8 + np.log2(9), 3), round(8 + np.log2(0.9 / 0.8), 3))


def test_of_a_set_all_are_told_and_none_is_chosen() -> None:
    near = [(DELTA, True, 30.0), (ALPHA, True, 3.0), (GAMMA, False, 5.0), (GAMMA, False, 1.0)]
    assert claims(near, -6.0, {ALPHA, GAMMA})[0][1] == [1, 2]
    assert claims(near[:2], -6.0, {ALPHA, GAMMA}) == []  # gamma had no request nearby to be shown


@pytest.mark.parametrize(
    "change",
    [
        {"near": [(ALPHA, False, 9.0)]},  # answered
        {"own": 3.0},  # the own prompt fits as well
        {"near": [(ALPHA, True, 9.0), (RECIPIENT, False, 9.0)]},  # or another of the recipient's tenant
        {"near": [(DELTA, True, 9.0)]},  # not of the passage's tenant
        {"keys": 7, "held": 5},  # too little stands around the passage
        {"held": 2},
        {"near": [(ALPHA, True, 0.5)], "sure": False},  # the passage itself is in doubt
    ],
)
def test_what_makes_no_whole(change: dict[str, Any]) -> None:
    usual: dict[str, Any] = {"near": [(ALPHA, True, 3.0)], "own": -4.0, "units": {ALPHA}}
    assert claims(**usual) != []
    assert claims(**{**usual, **change}) == []


def test_whom_all_passages_allow() -> None:
    def passage(use: int, units: list[int], verdict: str) -> Any:
        return SimpleNamespace(candidate=SimpleNamespace(use=use), units=units, verdict=verdict)

    judged = [
        passage(1, [ALPHA, GAMMA], "probable"),
        passage(1, [GAMMA, DELTA], "possible"),
        passage(2, [ALPHA], "probable"),
        passage(2, [DELTA], "probable"),
        passage(3, [ALPHA], "possible"),
        passage(3, [], "undetermined"),
    ]
    assert told_by(judged) == {1: ({GAMMA}, True), 3: ({ALPHA}, False)}
