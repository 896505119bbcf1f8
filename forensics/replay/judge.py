"""What do the trials of a plan show? Rates per arm, exact tests between arms, one verdict per leak. Plays nothing.

A trial is a hit where the recipient's response holds foreign text (`hits`): text, not a difference of texts, so that
run-to-run noise, which is measured first, makes no hit. Text of a request that the trial sent is a leak; text of one
that it did not send is the model's memory or habit.

Rates: Clopper and Pearson. Arms: Fisher's exact test, one-sided; switches corrected by Holm. docs/replay.md has the
rules in words. `not_reproduced` clears nobody.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from forensics.case.exact_tests import fisher, holm
from forensics.case.intervals import exact_interval
from forensics.replay.hits import Matcher, covered
from forensics.replay.plan import ALONE, CONTROL, ORIGINAL, Arm, Leak, Plan
from forensics.replay.records import FAILED, FINISHED, REFUSED, Trial

FEWEST = 3  # trials of an arm, below which it says nothing
LEVEL = 0.05 + 1e-9  # 3 of 3 against 0 of 3 is 1/20, but for rounding
CONFIDENCE = 0.95
# Switches by how much they tell of the mechanism, most first: a single request at a time cures everything.
TELLING = (
    "fixed", "radix_force_miss", "overlap_off", "chunked_off", "radix_off", "deterministic", "max_running_2",
    "max_running_1",
)  # fmt: skip
REPRODUCED, IN_COMPANY, NOT, CURED = "reproduced", "reproduced_in_company", "not_reproduced", "cured_by_"
MEMORY, INCONCLUSIVE = "model_memory", "inconclusive"


@dataclass(frozen=True)
class Judged:
    """One trial. `hit`: foreign text of a request of this trial in the recipient's response; `absent`: of one that was
    not sent; `from_source`: of a planned source; `elsewhere`: other responses of the trial with foreign text;
    `foreign`: code points; `valid`: whether it counts."""

    fragment_id: str
    arm: str
    trial: int
    valid: bool
    hit: bool
    absent: bool
    from_source: bool
    foreign: int
    elsewhere: int
    sources: tuple[str, ...]
    response: str  # digest of the recipient's response
    why: str  # why it does not count


@dataclass(frozen=True)
class ArmFigures:
    """An arm: trials that count, hits among them with their exact interval. `differ`: responses other than the one that
    the recipient gives most often alone; `failed`: trials that do not count. `p`: against the original arm, one-sided;
    for switches corrected."""

    name: str
    trials: int
    hits: int
    absent: int
    from_source: int
    elsewhere: int
    differ: int | None
    failed: int
    low: float
    high: float
    p: float | None
    skipped: str | None


@dataclass(frozen=True)
class LeakVerdict:
    """One leak. `because`: a sentence without text of a log. `cures`: switches that cure it, most telling first."""

    fragment_id: str
    verdict: str
    because: str
    cures: tuple[str, ...]
    arms: tuple[ArmFigures, ...]

    @property
    def reproduced(self) -> bool:
        """Whether the leak came again."""
        return self.verdict in (REPRODUCED, IN_COMPANY) or self.verdict.startswith(CURED)


def judge(
    plan: Plan,
    texts: Mapping[str, str],
    trials: Sequence[Trial],
    responses: Mapping[str, str],
    skipped: Mapping[tuple[str, str], str],
) -> tuple[tuple[LeakVerdict, ...], tuple[Judged, ...]]:
    """Verdicts in the order of the plan's leaks, and every trial judged, by fragment, arm and number."""
    verdicts: list[LeakVerdict] = []
    every: list[Judged] = []
    for leak in plan.leaks:
        matcher = Matcher(plan, leak, texts)
        arms = {arm.name: arm for arm in plan.arms if arm.leak == leak.fragment_id}
        mine = sorted((t for t in trials if t.fragment_id == leak.fragment_id), key=lambda t: (t.arm, t.trial))
        judged = [_trial(matcher, leak, arms[t.arm], t, responses) for t in mine if t.arm in arms]
        every += judged
        if judged or any(fragment == leak.fragment_id for fragment, _ in skipped):
            verdicts.append(_leak(plan, leak, list(arms.values()), judged, skipped))
    return tuple(verdicts), tuple(sorted(every, key=lambda one: (one.fragment_id, one.arm, one.trial)))


def carried_over(plan: Plan, texts: Mapping[str, str], trials: Sequence[Trial], responses: Mapping[str, str]) -> int:
    """How often what was sent between two trials got text of the plan: a fault that outlives its requests."""
    found = 0
    matchers = {leak.fragment_id: Matcher(plan, leak, texts) for leak in plan.leaks}
    known: dict[tuple[str, str], bool] = {}
    for before, trial in pairwise(trials):
        key = before.fragment_id, trial.washout
        if key not in known:
            known[key] = bool(matchers[before.fragment_id].of_tenant("", responses.get(trial.washout, "")))
        found += known[key]
    return found


def _trial(matcher: Matcher, leak: Leak, arm: Arm, trial: Trial, responses: Mapping[str, str]) -> Judged:
    sent = frozenset(arm.requests)
    by_key = {one.key: one for one in trial.requests}
    recipient = by_key[leak.recipient]
    hits = matcher.hits(leak.recipient, responses.get(recipient.text_sha256, ""))
    here = [hit for hit in hits if hit.keys & sent]
    away = [hit for hit in hits if not hit.keys & sent]
    source = any(hit.keys & set(leak.sources) for hit in hits)
    why = ""
    if not hits:
        sources = [by_key[key] for key in leak.sources if key in by_key]
        if recipient.outcome == FAILED or (recipient.outcome == REFUSED and recipient.error != "duplicate id"):
            why = recipient.error or recipient.outcome
        elif sources and all(one.outcome in (FAILED, REFUSED) and one.error != "duplicate id" for one in sources):
            why = "no source was answered"
    return Judged(
        trial.fragment_id,
        trial.arm,
        trial.trial,
        not why,
        bool(here),
        bool(away) and not here,
        source,
        covered(hits),
        sum(
            any(hit.keys & sent for hit in matcher.hits(one.key, responses.get(one.text_sha256, "")))
            for one in trial.requests
            if one.key != leak.recipient and one.outcome == FINISHED
        ),
        tuple(sorted({key for hit in hits for key in hit.keys})),
        recipient.text_sha256,
        why,
    )


def _leak(
    plan: Plan,
    leak: Leak,
    arms: Sequence[Arm],
    judged: Sequence[Judged],
    skipped: Mapping[tuple[str, str], str],
) -> LeakVerdict:
    by_arm = {arm.name: [one for one in judged if one.arm == arm.name and one.valid] for arm in arms}
    usual = Counter(one.response for one in by_arm.get(ALONE, ())).most_common(1)
    original = _rate(by_arm.get(ORIGINAL, ()))
    tests: dict[str, float] = {}
    for arm in arms:
        if arm.name != ORIGINAL and len(by_arm[arm.name]) >= FEWEST:
            tests[arm.name] = fisher(original, _rate(by_arm[arm.name]), "greater")
    switches = {arm.name: str(arm.switch) for arm in arms if arm.switch is not None}
    tried = [name for name in tests if name in switches]
    corrected = tests | dict(zip(tried, holm([tests[name] for name in tried]), strict=True))
    figures = []
    for arm in arms:
        found = by_arm[arm.name]
        hits, total = _rate(found)
        bounds = exact_interval(hits, total, CONFIDENCE)
        figures.append(
            ArmFigures(
                arm.name, total, hits, sum(one.absent for one in found), sum(one.from_source for one in found),
                sum(one.elsewhere > 0 for one in found),
                sum(one.response != usual[0][0] for one in found) if usual else None,
                sum(one.arm == arm.name and not one.valid for one in judged),
                0.0 if bounds.low is None else bounds.low, 1.0 if bounds.high is None else bounds.high,
                corrected.get(arm.name),
                skipped.get((leak.fragment_id, arm.name)),
            )
        )  # fmt: skip
    cures = sorted(
        (
            switches[arm.name]
            for arm in figures
            if arm.name in switches and arm.p is not None and arm.p <= LEVEL and arm.hits == 0
        ),
        key=lambda name: (TELLING.index(name) if name in TELLING else len(TELLING), name),
    )
    verdict, because = _verdict({arm.name: arm for arm in figures}, tests.get(ALONE))
    if verdict in (IN_COMPANY, REPRODUCED) and cures:
        verdict, because = f"{CURED}{cures[0]}", f"{because}; no hit with {', '.join(cures)}"
    elif verdict not in (IN_COMPANY, REPRODUCED):
        cures = []
    kind = "surrogate texts" if plan.text == "surrogate" else "the customers' own texts"
    return LeakVerdict(leak.fragment_id, verdict, f"{because} ({kind})", tuple(cures), tuple(figures))


def _verdict(arms: Mapping[str, ArmFigures], p_alone: float | None) -> tuple[str, str]:
    """The verdict before switches are looked at, and why."""
    original, alone, control = (arms.get(name) for name in (ORIGINAL, ALONE, CONTROL))
    if original is None or alone is None:
        return INCONCLUSIVE, "the arms alone and original are both needed"
    said = f"foreign text in {_of(original)} in the original company, {_of(alone)} alone"
    if control is not None and control.trials:
        said += f", {_of(control)} in a control company"
    # Text of requests that were not there: alone, every hit is of that kind.
    habit = alone.hits + alone.absent + (control.absent if control else 0)
    tried = alone.trials + (control.trials if control else 0)
    if habit:
        p = fisher((original.hits, original.trials), (habit, tried), "greater")
        if p > LEVEL:
            return (
                MEMORY,
                f"{said}; text of requests that were not sent came in {habit} of {tried}, as often as in company",
            )
        return INCONCLUSIVE, f"{said}; text of requests that were not sent came in {habit} of {tried} as well"
    if original.absent and not original.hits:
        return MEMORY, f"{said}; the foreign text is of requests that were not sent"
    few = [arm.name for arm in (original, alone) if arm.trials < FEWEST]
    if few:
        return INCONCLUSIVE, f"{said}; fewer than {FEWEST} trials count in {' and '.join(few)}"
    if not original.hits:
        return NOT, f"{said}; at most {original.high:.0%} of trials by the exact upper limit. This clears nobody"
    if p_alone is None or p_alone > LEVEL:
        return INCONCLUSIVE, f"{said}; too few trials to tell the two apart"
    said += f" (Fisher's exact test, p = {p_alone:.2g}), {original.from_source} of them from the planned source"
    if control is None or control.trials < FEWEST:
        return REPRODUCED, f"{said}; no control company was tried"
    if control.hits:
        said += "; any company will do"
    return IN_COMPANY, said


def _rate(found: Sequence[Judged]) -> tuple[int, int]:
    return sum(one.hit for one in found), len(found)


def _of(arm: ArmFigures) -> str:
    return f"{arm.hits} of {arm.trials}"
