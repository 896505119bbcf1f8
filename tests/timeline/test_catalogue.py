"""The catalogue of mechanisms is whole, and every fact it names can be looked up or says that it can not."""

from __future__ import annotations

from forensics.case.queries import query_names
from forensics.timeline.catalogue import load


def test_every_mechanism_of_the_reference_is_there_once() -> None:
    assert [hypothesis.id for hypothesis in load().hypotheses] == [f"M{number}" for number in range(1, 29)]
    assert all(hypothesis.source and hypothesis.seen_in and hypothesis.title for hypothesis in load().hypotheses)
    assert all(hypothesis.any or hypothesis.note for hypothesis in load().hypotheses)


def test_every_fact_has_its_query_and_a_flag() -> None:
    predicates = load().predicates
    assert {p.unit for p in predicates} == {"pair", "source", "recipient"}
    shipped = {name for name in query_names() if name.startswith("timeline/predicate_")}
    assert shipped == {f"timeline/predicate_{p.query}" for p in predicates if p.query}
    assert all(predicate.flag for predicate in predicates)


def test_every_fact_serves_a_hypothesis() -> None:
    catalogue = load()
    used = {name for hypothesis in catalogue.hypotheses for name in hypothesis.any + hypothesis.needs}
    assert {p.name for p in catalogue.predicates} == used
