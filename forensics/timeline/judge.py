"""Which facts are true of leaks beyond chance, and which mechanisms do they leave? Reads no table.

A fact stands where its exact test, corrected for all facts that could be tested (Holm), is at most `alpha`. A mechanism
stands through a fact; those that stand through one and the same fact cannot be told apart and are named as a class.
Where a fact is true only of leaks that a stronger one explains as well, what rests on it is explained, not claimed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from forensics.case.exact_tests import holm
from forensics.case.words import counted, ratio
from forensics.timeline.catalogue import Catalogue, Hypothesis, Predicate
from forensics.timeline.exact import Matched, Stratum, matched

STANDS, EXPLAINED, FALLS, NOT_TESTABLE = "stands", "explained", "falls", "not_testable"
_SAME = 1e-6


@dataclass(frozen=True)
class SetFact:
    """One predicate in one set. `leak` is None where the logs do not say it."""

    recipient: int
    source: int | None
    leak: bool | None
    with_fact: int
    controls: int


@dataclass(frozen=True)
class PredicateTest:
    """A row of predicate_tests."""

    level: str
    predicate: Predicate
    status: str
    unknown: int
    result: Matched | None
    p_holm: float | None
    p_beyond: float | None
    rank: int | None
    finding: str


@dataclass(frozen=True)
class MechanismTest:
    """A row of mechanism_tests. `class_` names the hypotheses that stand through the same fact, itself included."""

    hypothesis: Hypothesis
    status: str
    rank: int | None
    class_: str
    predicate: str | None
    p_holm: float | None
    condition: str
    finding: str
    missing: str


def judge_predicates(
    catalogue: Catalogue, level: str, facts: Mapping[str, Sequence[SetFact]], alpha: float
) -> list[PredicateTest]:
    """One test per predicate of the catalogue, in its order. `facts`: the sets of each predicate, by its name."""
    results: dict[str, Matched] = {}
    for predicate in catalogue.predicates:
        result = matched(_strata(_once(predicate, facts.get(predicate.name, ()))))
        if result.p_value is None and result.leaks and not result.leaks_with:
            # No leak and no control has it: nothing to compare, and nothing that it could explain.
            result = replace(result, p_value=1.0)
        results[predicate.name] = result
    family = [name for name, result in results.items() if result.p_value is not None]
    adjusted = dict(zip(family, holm([results[name].p_value or 0.0 for name in family]), strict=True))
    tests = []
    for predicate in catalogue.predicates:
        sets = _once(predicate, facts.get(predicate.name, ()))
        result = results[predicate.name]
        p_holm = adjusted.get(predicate.name)
        status = _status(predicate, sets, result, p_holm, alpha, len(family))
        unknown = sum(fact.leak is None for fact in sets)
        finding = _finding(predicate, status, result, p_holm, len(sets))
        shown = result if result.leaks else None
        tests.append(PredicateTest(level, predicate, status, unknown, shown, p_holm, None, None, finding))
    return _ranked(tests, facts, alpha)


def judge_mechanisms(
    catalogue: Catalogue, tests: Sequence[PredicateTest], conditions: Mapping[str, bool], alpha: float
) -> list[MechanismTest]:
    """One verdict per hypothesis, in the order of the catalogue. `conditions`: what the logs show to be on or off."""
    by_name = {test.predicate.name: test for test in tests}
    rows = [_mechanism(hypothesis, by_name, conditions, alpha) for hypothesis in catalogue.hypotheses]
    classes: dict[int, list[str]] = {}
    for row in rows:
        if row.status == STANDS and row.rank is not None:
            classes.setdefault(row.rank, []).append(row.hypothesis.id)
    places = {rank: place for place, rank in enumerate(sorted(classes), start=1)}
    return [
        replace(row, rank=places[row.rank], class_=", ".join(classes[row.rank]))
        if row.status == STANDS and row.rank is not None
        else replace(row, rank=None)
        for row in rows
    ]


def claimed(test: PredicateTest, alpha: float) -> bool:
    """Whether a fact stands in its own right: the best one, or one that is true of other leaks, too."""
    own = test.rank == 1 or (test.p_beyond is not None and test.p_beyond <= alpha)
    return test.status == STANDS and own


def _once(predicate: Predicate, facts: Sequence[SetFact]) -> list[SetFact]:
    """The sets, each source (or recipient) counted once where the fact is about it alone."""
    if predicate.unit == "pair":
        return list(facts)
    seen: set[int | None] = set()
    kept = []
    for fact in facts:
        unit = fact.source if predicate.unit == "source" else fact.recipient
        if unit not in seen:
            seen.add(unit)
            kept.append(fact)
    return kept


def _strata(facts: Sequence[SetFact]) -> list[Stratum]:
    return [Stratum(fact.leak, fact.with_fact, fact.controls) for fact in facts if fact.leak is not None]


def _status(
    predicate: Predicate,
    sets: Sequence[SetFact],
    result: Matched,
    p_holm: float | None,
    alpha: float,
    family: int,
) -> str:
    if predicate.query is None or all(fact.leak is None for fact in sets):
        return NOT_TESTABLE
    if result.leaks == 0:
        return "no_controls"
    if p_holm is None:
        return "no_contrast"
    if p_holm <= alpha:
        return STANDS
    if not result.leaks_with:
        return FALLS
    if result.least_p is not None and result.least_p * family > alpha:
        return "too_few"
    return FALLS


def _finding(predicate: Predicate, status: str, result: Matched, p_holm: float | None, sets: int) -> str:
    if status == NOT_TESTABLE:
        if predicate.query is None:
            return "no log that is read here tells it"
        return "the logs do not tell it of any leak" if sets else "there is no leak to test it on"
    if status == "no_controls":
        return "no request of another customer matches in place and time, so there is nothing to compare with"
    figures = (
        f"{result.leaks_with} of {counted(result.leaks, 'leak')}, {result.controls_with} of {result.controls} controls"
    )
    if status == "no_contrast":
        return f"{figures}: in every set the leak and all its controls are alike, which says nothing either way"
    if result.odds_ratio is None:
        return f"{figures}: it is true of none"
    odds = f"odds ratio {ratio(result.odds_ratio)} ({ratio(result.low)} to {ratio(result.high)})"
    numbers = f"{figures}; {odds}, p {_p(result.p_value)}, corrected {_p(p_holm)}"
    if status == "too_few":
        return f"{numbers}; so few leaks could not have shown it: the least p they can give is {_p(result.least_p)}"
    return numbers


def _ranked(tests: list[PredicateTest], facts: Mapping[str, Sequence[SetFact]], alpha: float) -> list[PredicateTest]:
    """Ranks for those that stand, equal where the evidence is the same, and what they add beyond the first."""
    standing = sorted((test for test in tests if test.status == STANDS), key=_strength)
    if not standing:
        return tests
    first = standing[0]
    explained = {fact.recipient for fact in facts[first.predicate.name] if fact.leak}
    ranks: dict[str, int] = {}
    beyond: dict[str, float | None] = {}
    for place, test in enumerate(standing, start=1):
        name = test.predicate.name
        former = standing[place - 2] if place > 1 else None
        ranks[name] = ranks[former.predicate.name] if former is not None and _alike(former, test) else place
        rest = [fact for fact in _once(test.predicate, facts[name]) if fact.recipient not in explained]
        beyond[name] = None if ranks[name] == 1 else matched(_strata(rest)).p_value
    return [_placed(test, first, ranks, beyond, alpha) if test.predicate.name in ranks else test for test in tests]


def _placed(
    test: PredicateTest,
    first: PredicateTest,
    ranks: Mapping[str, int],
    beyond: Mapping[str, float | None],
    alpha: float,
) -> PredicateTest:
    name = test.predicate.name
    finding = test.finding
    if ranks[name] > 1:
        p = beyond[name]
        if p is None:
            finding += f"; no leak is left over that {first.predicate.name} does not explain"
        elif p > alpha:
            finding += f"; not among the leaks that {first.predicate.name} does not explain (p {_p(p)})"
        else:
            finding += f"; also among the leaks that {first.predicate.name} does not explain (p {_p(p)})"
    return replace(test, rank=ranks[name], p_beyond=beyond[name], finding=finding)


def _strength(test: PredicateTest) -> tuple[float, float, str]:
    assert test.result is not None and test.result.p_value is not None
    return test.result.p_value, -(test.result.low or 0.0), test.predicate.name


def _alike(a: PredicateTest, b: PredicateTest) -> bool:
    """Whether two facts were found in the same numbers, so that neither fits better."""
    left, right = a.result, b.result
    if left is None or right is None or left.p_value is None or right.p_value is None:
        return False
    same = math.isclose(left.p_value, right.p_value, rel_tol=_SAME)
    return same and left.leaks_with == right.leaks_with and a.predicate.kind == b.predicate.kind


def _mechanism(
    hypothesis: Hypothesis, tests: Mapping[str, PredicateTest], conditions: Mapping[str, bool], alpha: float
) -> MechanismTest:
    met = conditions.get(hypothesis.condition or "")
    condition = ""
    if hypothesis.condition is not None:
        words = {None: "the logs do not say", True: "it is in use", False: "it is not in use"}
        condition = f"{hypothesis.condition.replace('_', ' ')}: {words[met]}"
    asked = [tests[name] for name in hypothesis.any]
    missing = "; ".join(sorted({test.predicate.flag for test in asked if test.status == NOT_TESTABLE}))

    def verdict(status: str, finding: str, best: PredicateTest | None = None) -> MechanismTest:
        return MechanismTest(
            hypothesis,
            status,
            best.rank if best is not None and status == STANDS else None,
            hypothesis.id,
            best.predicate.name if best is not None else None,
            best.p_holm if best is not None else None,
            condition,
            finding,
            missing,
        )

    if not hypothesis.moves_text:
        return verdict("no_text", hypothesis.note)
    if hypothesis.condition is not None and met is False:
        return verdict("ruled_out", "the engine's own settings say that what it needs is off")
    for name in hypothesis.needs:
        needed = tests[name]
        if needed.result is not None and needed.result.leaks_with * 2 < needed.result.leaks:
            finding = f"most leaks lack what it needs: {needed.predicate.question}: {needed.finding}"
            return verdict(FALLS, finding, needed)
    if not asked:
        return verdict(NOT_TESTABLE, hypothesis.note)
    # One fact that cannot be judged leaves the hypothesis open, whatever became of the others.
    for status in (STANDS, "too_few", "no_contrast", FALLS, "no_controls"):
        found = [test for test in asked if test.status == status]
        if found:
            best = min(found, key=lambda test: (test.rank or 0, test.p_holm if test.p_holm is not None else 1.0))
            kept = status if status in (STANDS, FALLS) else "undecided"
            if kept == STANDS and not claimed(best, alpha):
                kept = EXPLAINED
            return verdict(kept, f"{best.predicate.question}: {best.finding}", best)
    return verdict(NOT_TESTABLE, "; ".join(sorted({test.finding for test in asked})))


def _p(value: float | None) -> str:
    if value is None:
        return "unknown"
    return f"{value:.2g}" if value >= 1e-300 else "below 1e-300"
