"""What several tenants have in common names none of them: given text, frames, common words in pieces."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from forensics.attribution.candidates import Alteration, Candidate, Excluded, Holder
from forensics.attribution.findings import Evidence, Judged
from forensics.attribution.generated import needed_bits, unit_close
from forensics.attribution.judge import judge
from forensics.attribution.parameters import Parameters
from forensics.attribution.sources import Source
from forensics.attribution.strength import Strength

FAR_US = 40 * 60 * 1_000_000


def strength(telling: float) -> Strength:
    """A passage of 200 bits, `telling` of them in a word that says what it is about."""
    terms = np.array([7], dtype=np.uint64)
    return Strength(200.0, 200.0, 12, 20.0, terms, np.array([telling]), np.array([20.0]))


def evidence(telling: float, sources: list[Source], only: float = 0.0) -> Evidence:
    return Evidence(strength(telling), 40.0, sources, 0.0, {}, {3: (only, 0.0)}, 0.5, first_unit=3)


def candidate(side: int, carriers: set[int], crowd: int, pieces: bool = False) -> tuple[Candidate, list[Source]]:
    holder = Holder(9, 3, side, 0, 90, 0, 90, 90)
    alteration = Alteration(((0, 40), (50, 90)), 10.0, 9, 2, 0, pieces=pieces)
    made = Candidate(0, 0, 0, 0, 90, "target", False, (holder,), frozenset(carriers), crowd, alteration)
    return made, [Source(holder, 3, "r-3", "text", FAR_US, False, False)]


@pytest.mark.parametrize(
    ("carriers", "crowd", "close", "edited", "needed"),
    [
        ({3}, 2, True, False, 10.0),
        ({3, 4}, 3, True, False, 36.0),
        ({3, 4, 5}, 4, True, False, 72.0),
        ({3}, 4, True, False, 72.0),
        ({3}, 2, False, False, 40.0),
        ({3}, 2, True, True, 40.0),
        ({3, 4}, 3, False, False, 40.0),
        ({3, 4, 5}, 4, False, True, 180.0),
        ({3, 4, 5}, 4, False, False, 180.0),
    ],
)
def test_what_more_tenants_were_given_needs_more_that_one_of_them_alone_asked(
    carriers: set[int], crowd: int, close: bool, edited: bool, needed: float
) -> None:
    """Of 360 telling bits one rare word is enough where the source alone has the text and was near, a tenth where three
    have it, and a fifth where four have, and half where none of them was near; far off or in other words it takes 40
    bits at least."""
    made, sources = candidate(1, carriers, crowd)
    made = made if edited else replace(made, alteration=None)
    assert needed_bits(made, evidence(360.0, sources), Parameters(), 3, close=close) == needed


def test_pieces_of_what_several_tenants_were_given_whole_are_a_frame() -> None:
    made, sources = candidate(1, {3, 4, 5}, 3, pieces=True)
    found = judge(made, evidence(60.0, sources, only=50.0), Parameters())
    assert isinstance(found, Excluded) and found.rule == "model_phrase"
    made, sources = candidate(1, {3}, 2, pieces=True)
    found = judge(made, evidence(60.0, sources, only=50.0), Parameters())
    assert isinstance(found, Judged) and found.units == [3]


def test_pieces_of_common_words_name_nobody() -> None:
    made, sources = candidate(0, {3}, 2)
    found = judge(made, evidence(0.0, sources), Parameters())
    assert isinstance(found, Excluded) and found.rule == "too_weak"
    found = judge(made, evidence(15.0, sources), Parameters())
    assert isinstance(found, Judged) and found.units == [3]


@pytest.mark.parametrize(
    ("of_recipient", "of_source", "rule"), [(1.0, 0.0, "echo"), (1.0, 12.0, None), (0.7, 0.0, None)]
)
def test_a_passage_of_the_recipients_own_words_is_an_echo(
    of_recipient: float, of_source: float, rule: str | None
) -> None:
    """Own words in a frame that the other's text has too: a run of 30 net bits, and nothing in it is the other's."""
    made, sources = candidate(0, {3}, 2)
    made = replace(made, alteration=None)
    weak = replace(strength(40.0), bits=74.0)
    found = judge(
        made, replace(evidence(40.0, sources, only=of_source), strength=weak, kin_recipient=of_recipient), Parameters()
    )
    assert (found.rule if isinstance(found, Excluded) else None) == rule


def test_pairs_of_signs_need_more_than_words() -> None:
    """A long prompt in a script without spaces holds some of any text's pairs of signs."""
    made, sources = candidate(1, {3}, 2)
    made = replace(made, alteration=None)
    found = evidence(360.0, sources)
    signs = replace(found, strength=replace(found.strength, sign_share=0.8))
    assert needed_bits(made, found, Parameters(), 3, close=True) == 10.0
    assert needed_bits(made, signs, Parameters(), 3, close=True) == 72.0
    assert needed_bits(made, replace(signs, share_of_response=1.0), Parameters(), 3, close=True) == 10.0


@pytest.mark.parametrize(("lag_s", "same_worker", "near"), [(60, True, True), (7200, True, False), (60, False, False)])
def test_one_telling_word_is_enough_of_a_tenant_that_was_near_in_time_and_place(
    lag_s: int, same_worker: bool, near: bool
) -> None:
    """Of four workers two requests share one every fourth time: hours later that is no nearness."""
    made, sources = candidate(1, {3}, 2)
    made = replace(made, alteration=None)
    sources = [replace(sources[0], lag_us=lag_s * 1_000_000, same_worker=same_worker)]
    assert unit_close(made, sources, 3) == near
    strong = replace(strength(60.0), bits=300.0)
    found = judge(made, replace(evidence(60.0, sources, only=15.0), strength=strong), Parameters())
    named = isinstance(found, Judged) and found.units == [3]
    assert named == near
