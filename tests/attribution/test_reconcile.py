"""One passage, one finding."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from forensics.attribution.candidates import Alteration, Candidate, Holder
from forensics.attribution.findings import Evidence, Judged
from forensics.attribution.generated import GENERATED
from forensics.attribution.reconcile import reconcile
from forensics.attribution.sources import Source
from forensics.attribution.strength import Strength


def finding(use: int, start: int, end: int, verdict: str, units: list[int], net: float = 50.0, **more: Any) -> Judged:
    candidate = Candidate(use, 0, 0, start, end, "target", False, (), frozenset())
    none = np.zeros(0)
    strength = Strength(net, net, 1, net, np.zeros(0, dtype=np.uint64), none, none)
    evidence = Evidence(strength, 0.0, [], 0.0, {}, {}, 0.5)
    return Judged(candidate, evidence, more.pop("kind", "verbatim"), "s", verdict, "why", units, [], (), None, **more)


def shown(judged: list[Judged]) -> list[tuple[int, int, int, str, list[int]]]:
    return [(j.candidate.use, j.candidate.start, j.candidate.end, j.verdict, j.units) for j in judged]


def test_the_stronger_of_two_findings_of_one_span_stays() -> None:
    weak, strong = finding(3, 10, 40, "possible", [1]), finding(3, 10, 40, "probable", [1], kind="altered")
    for order in ([weak, strong], [strong, weak]):
        (one,) = reconcile(order)
        assert (one.verdict, one.kind, one.units) == ("probable", "altered", [1])


def test_of_equal_verdicts_the_one_with_more_bits_stays() -> None:
    (one,) = reconcile([finding(0, 0, 9, "possible", [1], 30.0), finding(0, 0, 9, "possible", [1], 60.0)])
    assert one.evidence.net_bits == 60.0


def test_two_tests_that_name_different_tenants_name_both() -> None:
    (one,) = reconcile([finding(0, 5, 20, "probable", [4]), finding(0, 5, 20, "possible", [2])])
    assert (one.verdict, one.units) == ("probable", [2, 4])
    assert "names another tenant" in one.reason


def test_nobody_gives_way_to_somebody_of_the_same_span() -> None:
    (one,) = reconcile([finding(0, 5, 20, "undetermined", [], 90.0), finding(0, 5, 20, "possible", [2])])
    assert (one.verdict, one.units) == ("possible", [2])


def test_what_names_nobody_gives_way_where_named_spans_cover_most_of_it() -> None:
    unnamed = finding(0, 0, 100, "undetermined", [])
    left, right = finding(0, 0, 45, "probable", [1]), finding(0, 50, 90, "probable", [2])
    assert shown(reconcile([unnamed, left, right])) == [(0, 0, 45, "probable", [1]), (0, 50, 90, "probable", [2])]
    assert len(reconcile([unnamed, left])) == 2
    assert len(reconcile([unnamed, left, finding(0, 10, 55, "probable", [1])])) == 3  # overlap is not counted twice
    assert len(reconcile([unnamed, finding(1, 0, 100, "probable", [1])])) == 2  # another response


def test_overlapping_sources_of_a_mixed_stream_stay() -> None:
    assert len(reconcile([finding(0, 0, 90, "probable", [1]), finding(0, 5, 100, "probable", [2])])) == 2


def test_a_name_given_by_a_canary_counts_as_a_name() -> None:
    (one,) = reconcile([finding(0, 0, 20, "undetermined", []), finding(0, 0, 20, "probable", [], named=("tenant-a",))])
    assert one.named == ("tenant-a",)


def capped(use: int, units: list[int]) -> Judged:
    """A passage that these units supplied, unnamed because contents follow each other."""
    one = finding(use, 10, 40, "undetermined", [])
    sources = [
        Source(Holder(9, unit, 0, 10, 40, 0, 30, 30), unit, f"r-{unit}", "text", 5, False, False) for unit in units
    ]
    return replace(one, ranked=sources, evidence=replace(one.evidence, sources=sources, capped=True))


def test_shared_text_is_named_by_something_else_of_the_same_tenant_in_the_response() -> None:
    sure = finding(0, 60, 90, "probable", [3])
    assert shown(reconcile([capped(0, [3]), sure]))[0] == (0, 10, 40, "possible", [3])


def test_shared_text_stays_unnamed_otherwise() -> None:
    sure, weak = finding(0, 60, 90, "probable", [3]), finding(0, 60, 90, "possible", [3])
    for beside in ([], [weak], [replace(sure, units=[4])], [replace(sure, candidate=replace(sure.candidate, use=1))]):
        assert reconcile([capped(0, [3]), *beside])[0].units == []
    assert reconcile([capped(0, [3, 5]), sure])[0].units == []  # which of the two it was, it does not say


def test_a_passage_of_an_answer_that_is_itself_mixed_names_nobody() -> None:
    """The answer that holds it is a victim, too: what stands in it may be one of the streams."""
    source = Source(Holder(7, 4, 1, 10, 40, 0, 30, 30), 5, "r-5", "choices[0].content", 9, True, True)
    passage = replace(finding(3, 10, 40, "probable", [4]), stratum=GENERATED, ranked=[source])
    stream = finding(8, 0, 90, "possible", [2], kind="altered")
    pieces = Alteration(((0, 30), (60, 90)), 9.0, 0, 30, 0, pieces=True)
    for content, units in ((7, []), (6, [4])):
        mixed = replace(stream, candidate=replace(stream.candidate, content=content, alteration=pieces))
        told = {one.candidate.use: one.units for one in reconcile([passage, mixed])}
        assert told == {3: units, 8: [2]}
    supplied = replace(passage, stratum="supplied text")
    mixed = replace(stream, candidate=replace(stream.candidate, content=7, alteration=pieces))
    assert {one.candidate.use: one.units for one in reconcile([supplied, mixed])} == {3: [4], 8: [2]}
