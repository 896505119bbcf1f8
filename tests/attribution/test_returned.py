"""A passage that went to another tenant from this very answer, and came back in that tenant's next prompt."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from forensics.attribution.candidates import Candidate, Holder
from forensics.attribution.findings import Evidence, Judged
from forensics.attribution.returned import without_returned
from forensics.attribution.sources import Source
from forensics.attribution.strength import Strength
from tests.attribution.test_interleaved import OWN, QUESTION, TALE, letters, mix

OWNER, VICTIM, LATER = 0, 1, 2  # requests: of unit 5, of unit 6, of unit 6
ANSWER, PIECES, PROMPT = 10, 11, 12  # texts: of the owner, of the victim, of the later prompt


class Plain:
    """Texts of letters alone: units are code points."""

    def batches(self, needs: list[set[int]]) -> list[range]:
        return [range(len(needs))]

    def folded(self, _: int) -> Any:
        return SimpleNamespace(span=lambda low, high: (low, high))


def world(received: int = 75) -> Any:
    """The victim's answer is finished at 70, the later prompt `received` then, the owner's answer finished at 90."""
    requests = SimpleNamespace(
        unit=np.array([5, 6, 6]), received=np.array([58, 60, received]), finished=np.array([90, 70, 99])
    )
    return SimpleNamespace(requests=requests)


def finding(request: int, content: int, span: tuple[int, int], holder: Holder, source: int) -> Judged:
    candidate = Candidate(request, request, content, *span, "target", False, (holder,), frozenset({5, 6}))
    strength = Strength(90.0, 90.0, 1, 90.0, np.zeros(0, dtype=np.uint64), np.zeros(0), np.zeros(0))
    found = Source(holder, source, f"r-{source}", "text", 5, True, True)
    evidence = Evidence(strength, 0.0, [found], 0.0, {}, {}, 0.5)
    return Judged(candidate, evidence, "altered", "s", "probable", "why", [holder.unit], [found], (), None)


# The owner's answer, units 100 to 300, went to the victim; the later prompt has 120 to 200 of it.
DELIVERED = finding(VICTIM, PIECES, (0, 400), Holder(ANSWER, 5, 1, 0, 400, 100, 300, 200), OWNER)
ACCUSED = finding(OWNER, ANSWER, (120, 200), Holder(PROMPT, 6, 0, 120, 200, 40, 180, 80), LATER)


def test_what_came_back_is_the_answers_own() -> None:
    for order in ([DELIVERED, ACCUSED], [ACCUSED, DELIVERED]):
        kept, excluded = without_returned(world(), Plain(), order)  # type: ignore[arg-type]
        assert [item.candidate.request for item in kept] == [VICTIM]
        assert [(e.use, e.start, e.end, e.rule, e.holders) for e in excluded] == [(OWNER, 120, 200, "own_material", 2)]


def test_where_the_other_finding_is_no_more_than_possible_nobody_is_named() -> None:
    kept, excluded = without_returned(world(), Plain(), [replace(DELIVERED, verdict="possible"), ACCUSED])  # type: ignore[arg-type]
    assert [(item.units, item.verdict) for item in kept] == [([5], "possible"), ([], "undetermined")]
    assert excluded == []


def source(**more: Any) -> Judged:
    one = ACCUSED.ranked[0]
    other = replace(one, holder=replace(one.holder, **more))
    return replace(ACCUSED, ranked=[other])


@pytest.mark.parametrize(
    ("received", "delivered", "accused"),
    [
        (69, DELIVERED, ACCUSED),  # sent before the victim's answer was finished
        (75, replace(DELIVERED, units=[]), ACCUSED),  # the delivery names nobody
        (75, DELIVERED, source(unit=7)),  # a third tenant's prompt
        (75, DELIVERED, source(side=1)),  # an answer, not a prompt
        (75, DELIVERED, replace(ACCUSED, candidate=replace(ACCUSED.candidate, start=261, end=341))),  # mostly not delivered
        (75, DELIVERED, replace(ACCUSED, candidate=replace(ACCUSED.candidate, content=13))),  # another answer
    ],
)  # fmt: skip
def test_what_the_delivery_does_not_explain_stays(received: int, delivered: Judged, accused: Judged) -> None:
    kept, excluded = without_returned(world(received), Plain(), [delivered, accused])  # type: ignore[arg-type]
    assert kept == [delivered, accused] and excluded == []


def test_several_sources_that_are_not_all_explained_stay() -> None:
    third = replace(ACCUSED.ranked[0], holder=replace(ACCUSED.ranked[0].holder, unit=7), request=VICTIM)
    accused = replace(ACCUSED, ranked=[*ACCUSED.ranked, third], units=[6, 7])
    assert without_returned(world(), Plain(), [DELIVERED, accused])[0] == [DELIVERED, accused]  # type: ignore[arg-type]


@pytest.mark.parametrize("known", ["", " / ".join(TALE[at + 2 : at + 22] for at in range(0, 300, 24))])
def test_the_owner_of_a_stream_is_no_victim_of_its_victim(scene: Any, known: str) -> None:
    """Alpha's tale reaches beta in pieces while it is being told; beta sends what it got back before the tale ends."""
    scene.traffic()
    scene.call("beta", f"Explain these words: {known}.", "Gladly.", 20)
    answer = mix(letters(24)(OWN), letters(24)(TALE))
    asked = "Tell of the ferryman Aldous, the convent and the skiff of Orlo."
    scene.call("alpha", asked, TALE, 58, lasts=30, request_id="owner")
    scene.call("beta", QUESTION, answer, 60, lasts=10, request_id="victim")
    history = [
        {"role": "user", "content": QUESTION},
        {"role": "assistant", "content": answer},
        {"role": "user", "content": "And how long does that keep?"},
    ]
    scene.call("beta", history, "Two days in the fridge.", 75, request_id="later")
    assert {f["recipient_request_id"]: f["sources"] for f in scene.run().fragments if f["sources"]} == {
        "victim": ["alpha"]
    }
