"""Verdicts on hand-made evidence."""

from __future__ import annotations

import numpy as np
import pytest

from forensics.attribution.candidate import Alteration
from forensics.attribution.candidates import Candidate, Excluded, Holder
from forensics.attribution.findings import Evidence, Judged
from forensics.attribution.generated import needed_bits
from forensics.attribution.grounds import _changes
from forensics.attribution.judge import judge
from forensics.attribution.parameters import Parameters
from forensics.attribution.sources import Source
from forensics.attribution.strength import Strength


def supplied(units: list[int], *, capped: bool, q_value: float | None = None) -> Judged:
    found = at_least(units, 0.0, capped=capped, q_value=q_value)
    assert isinstance(found, Judged)
    return found


def at_least(
    units: list[int], least_q: float, *, capped: bool, q_value: float | None = None, names: bool = True
) -> Judged | Excluded:
    """A passage of 200 bits, 20 of them in one word, that these units had supplied on another worker."""
    holders = tuple(Holder(9, unit, 0, 0, 90, 0, 90, 90) for unit in units)
    sources = [Source(holder, holder.unit, f"r-{holder.unit}", "text", 5, False, False) for holder in holders]
    strength = Strength(200.0, 200.0, 12, 20.0, np.zeros(0, dtype=np.uint64), np.zeros(0), np.zeros(0))
    evidence = Evidence(
        strength, 40.0, sources, 0.0, {}, {}, 0.5, capped=capped, q_value=q_value, least_q=least_q, particular=names
    )
    return judge(Candidate(0, 0, 0, 0, 90, "target", False, holders, frozenset(units)), evidence, Parameters())


def test_what_may_be_known_by_heart_is_no_more_than_possible_from_afar() -> None:
    """Without a name, a number or an address of anybody; a q-value knows better."""
    for q_value, names, verdict in ((None, False, "possible"), (None, True, "probable"), (0.01, False, "probable")):
        found = at_least([3], 0.0, capped=False, q_value=q_value, names=names)
        assert isinstance(found, Judged)
        assert (found.verdict, found.units) == (verdict, [3])


def test_what_would_change_a_weakened_verdict_is_said() -> None:
    weakened = at_least([3], 0.15, capped=False)
    by_heart = at_least([3], 0.0, capped=False, names=False)
    assert isinstance(weakened, Judged) and isinstance(by_heart, Judged)
    assert any("q would be 0.15 at least" in line for line in _changes(weakened, [], Parameters()))
    assert any("known by heart" in line for line in _changes(by_heart, [], Parameters()))


def test_decoys_that_may_not_print_a_q_value_still_weaken_a_verdict() -> None:
    verdicts = []
    for least_q in (0.0, 0.05, 0.06, 0.2, 0.21):
        found = at_least([3], least_q, capped=False)
        verdicts.append(found.verdict if isinstance(found, Judged) else found.rule)
    assert verdicts == ["probable", "probable", "possible", "possible", "too_weak"]
    weak = at_least([3], 0.5, capped=False)
    assert isinstance(weak, Excluded)
    assert "q 0.50 at least" in weak.detail


def test_without_correlation_the_supplier_is_named() -> None:
    assert (supplied([3], capped=False).verdict, supplied([3], capped=False).units) == ("probable", [3])
    assert supplied([3, 5], capped=False).units == [3, 5]


def test_shared_text_alone_names_nobody_where_contents_follow_each_other() -> None:
    for units in ([3], [3, 5]):
        for q_value in (None, 0.01, 0.15):
            found = supplied(units, capped=True, q_value=q_value)
            assert (found.kind, found.verdict, found.units) == ("verbatim", "undetermined", [])
            assert [source.holder.unit for source in found.ranked] == units  # candidates stand in appearances
            assert "nobody is named" in found.reason


def test_what_would_change_it_is_a_worker() -> None:
    said = list(_changes(supplied([3], capped=True), [], Parameters()))
    assert any("worker" in line for line in said)
    assert not any("could name a source" in line for line in said)


def altered(telling: float, near: bool, q_value: float | None) -> Judged | Excluded:
    """A copy with edits, of 200 bits; `telling`: bits of its one word that few tenants use."""
    holder = Holder(9, 3, 0, 0, 90, 0, 90, 84)
    source = Source(holder, 3, "r-3", "text", 5_000_000, near, False)
    terms, bits = np.ones(1, dtype=np.uint64), np.array([telling])
    strength = Strength(200.0, 200.0, 12, 20.0, terms, bits, bits)
    evidence = Evidence(strength, 40.0, [source], 0.0, {}, {}, 0.5, q_value=q_value)
    edits = Alteration(((0, 40), (46, 90)), 12.0, 6, 0, 0)
    candidate = Candidate(0, 0, 0, 0, 90, "target", False, (holder,), frozenset({3}), alteration=edits)
    return judge(candidate, evidence, Parameters())


@pytest.mark.parametrize("q_value", [None, 0.03, 0.15])
def test_an_altered_copy_of_common_words_alone_needs_its_source_near(q_value: float | None) -> None:
    """Two customers' versions of a program that everybody knows agree in long pieces."""
    dropped = altered(0.0, near=False, q_value=q_value)
    assert isinstance(dropped, Excluded)
    assert (dropped.rule, "words that many tenants use" in dropped.detail) == ("too_weak", True)
    for kept in (altered(20.0, near=False, q_value=q_value), altered(0.0, near=True, q_value=q_value)):
        assert isinstance(kept, Judged)
        assert (kept.kind, kept.units) == ("altered", [3])


@pytest.mark.parametrize(
    ("likeness", "signs", "needed"),
    [(0.0, 0.0, 10.0), (0.29, 0.0, 10.0), (0.3, 0.0, 100.0), (0.45, 0.0, 100.0), (0.0, 0.9, 40.0), (0.3, 0.9, 100.0)],
)
def test_of_two_tasks_of_one_kind_the_source_must_have_half_of_what_the_answer_says(
    likeness: float, signs: float, needed: float
) -> None:
    """An answer of 200 telling bits that two near each other were given; the first of them asks somewhat alike. Pairs of
    signs (Han, kana) ask for a fifth, and take nothing from the half."""
    holder = Holder(9, 3, 1, 0, 90, 0, 90, 90)
    source = Source(holder, 3, "r-3", "text", 5_000_000, True, True)
    terms, bits = np.arange(1, 11, dtype=np.uint64), np.full(10, 20.0)
    strength = Strength(200.0, 200.0, 12, 20.0, terms, bits, bits, sign_share=signs)
    evidence = Evidence(strength, 40.0, [source], 0.0, {}, {}, 0.5, likeness={3: likeness}, first_unit=3)
    candidate = Candidate(0, 0, 0, 0, 90, "target", False, (holder,), frozenset({3}), crowd=2)
    assert needed_bits(candidate, evidence, Parameters(), 3, close=True) == needed
