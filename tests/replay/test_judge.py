"""From trials to verdicts: exact figures against values from tables, and every verdict by its rule."""

from __future__ import annotations

import hashlib

import pytest

from forensics.replay.hits import Matcher
from forensics.replay.judge import carried_over, judge
from forensics.replay.records import SCHEMA, Exchange, Trial
from tests.support.replay_plans import (
    ARMS,
    COMPANY,
    MARKS,
    OTHER,
    RADIX_OFF,
    RECIPIENT,
    SOURCE,
    TEXTS,
    arm,
    plan,
    request,
)

OWN, FOREIGN, STRANGE, CLEAN = (
    TEXTS["t0002"].split("\n")[1],
    TEXTS["t0001"].split("\n")[1],
    TEXTS["t0005"].split("\n")[1],
    "I have nothing to say about that.",
)
SINGLE = arm("max_running_1", SOURCE, RECIPIENT, COMPANY, switch="max_running_1", flags=("--max-running-requests", "1"))


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def trial(name: str, number: int, answer: str, outcome: str = "finished", washout: str = "", **source: str) -> Trial:
    """A trial whose recipient got `answer`. source: outcome and error of the planned source."""
    each = []
    for one in {each.name: each for each in (*ARMS, RADIX_OFF, SINGLE)}[name].requests:
        text, ended, error = ("", "cancelled", "") if one != RECIPIENT else (answer, outcome, "")
        if one == SOURCE:
            ended, error = source.get("source", "cancelled"), source.get("error", "")
        each.append(Exchange(one, one, ended, "stop", 200, error, 1, 1, 0, 0, 1, 2, sha(text), len(text)))
    server = {"digest": "d", "version": None, "model": None, "flags": {}}
    return Trial(SCHEMA, "f1", name, number, 1, server, (), tuple(each), sha(washout), True, 5)


def trials(**answers: list[str]) -> list[Trial]:
    return [trial(name, number, text) for name, texts in answers.items() for number, text in enumerate(texts)]


RESPONSES = {sha(text): text for text in (OWN, FOREIGN, STRANGE, CLEAN, "")}


def verdict(*more: Trial, arms: object = None, **answers: list[str]) -> tuple[str, str]:
    made = plan(arms=(*ARMS, *(arms or ()))) if arms else plan()  # type: ignore[misc]
    (found,), _ = judge(made, TEXTS, [*trials(**answers), *more], RESPONSES, {})
    return found.verdict, found.because


def test_arms_have_exact_intervals() -> None:
    (leak,), _ = judge(plan(), TEXTS, trials(alone=[OWN] * 5, original=[FOREIGN] * 5), RESPONSES, {})
    found = {one.name: (one.low, one.high) for one in leak.arms}
    # Clopper-Pearson, 5 of 5 from published tables; none of 5 one-sided is 1 - 0.05^(1/5); of nothing all is open.
    assert found["original"] == (pytest.approx(0.4782, abs=1e-4), 1.0)
    assert found["alone"] == (0.0, pytest.approx(1 - 0.05**0.2))
    assert found["control"] == (0.0, 1.0)


@pytest.mark.parametrize(
    ("alone", "control", "original", "expected"),
    [
        ([OWN] * 3, [OWN] * 3, [FOREIGN] * 3, "reproduced_in_company"),
        ([OWN] * 5, [OWN] * 5, [FOREIGN] * 3 + [OWN] * 2, "inconclusive"),  # 3 of 5 against 0 of 5: p = 0.08
        ([OWN] * 5, [], [FOREIGN] * 5, "reproduced"),
        ([OWN] * 5, [STRANGE] * 5, [FOREIGN] * 5, "reproduced_in_company"),
        ([OWN] * 5, [OWN] * 5, [OWN] * 5, "not_reproduced"),
        ([OWN] * 2, [OWN] * 5, [FOREIGN] * 5, "inconclusive"),
        ([OWN] * 5, [OWN] * 5, [OWN] * 2, "inconclusive"),
        ([FOREIGN] * 5, [OWN] * 5, [FOREIGN] * 5, "model_memory"),
        ([FOREIGN] * 5, [FOREIGN] * 5, [FOREIGN] * 5, "model_memory"),
        ([OWN] * 5, [FOREIGN] * 5, [FOREIGN] * 5, "model_memory"),  # its text, and it was not there
        ([FOREIGN] + [OWN] * 9, [OWN] * 10, [FOREIGN] * 10, "inconclusive"),  # more often in company, and alone too
        ([OWN] * 5, [OWN] * 5, [STRANGE] * 5, "model_memory"),  # of a request that no trial of the arm sent
        ([OWN, CLEAN, OWN, CLEAN], [CLEAN] * 4, [CLEAN] * 4, "not_reproduced"),  # other texts are no foreign texts
        ([], [OWN] * 5, [FOREIGN] * 5, "inconclusive"),
    ],
)
def test_verdict(alone: list[str], control: list[str], original: list[str], expected: str) -> None:
    assert verdict(alone=alone, control=control, original=original)[0] == expected


def test_what_it_says() -> None:
    _, because = verdict(alone=[OWN] * 5, control=[STRANGE] * 5, original=[FOREIGN] * 5)
    assert because == (
        "foreign text in 5 of 5 in the original company, 0 of 5 alone, 5 of 5 in a control company (Fisher's exact test, "
        "p = 0.004), 5 of them from the planned source; any company will do (surrogate texts)"
    )
    _, because = verdict(alone=[OWN] * 5, control=[OWN] * 5, original=[OWN] * 5)
    assert "at most 45% of trials" in because and "clears nobody" in because


def test_a_switch_cures_only_where_it_is_told_apart() -> None:
    base = {"alone": [OWN] * 5, "control": [OWN] * 5, "original": [FOREIGN] * 5}
    both = (RADIX_OFF, SINGLE)
    assert verdict(**base, radix_off=[OWN] * 5, max_running_1=[OWN] * 5, arms=both)[0] == "cured_by_radix_off"
    assert verdict(**base, radix_off=[FOREIGN] * 5, max_running_1=[OWN] * 5, arms=both)[0] == "cured_by_max_running_1"
    assert verdict(**base, radix_off=[FOREIGN] + [OWN] * 4, arms=both)[0] == "reproduced_in_company"  # it still leaks
    three = {name: answers[:3] for name, answers in base.items()}
    # 3 of 3 against 0 of 3 is p = 0.05: enough for one switch, not for two.
    assert verdict(**three, radix_off=[OWN] * 3, arms=(RADIX_OFF,))[0] == "cured_by_radix_off"
    assert verdict(**three, radix_off=[OWN] * 3, max_running_1=[OWN] * 3, arms=both)[0] == "reproduced_in_company"
    assert verdict(alone=[OWN] * 5, control=[OWN] * 5, original=[OWN] * 5, radix_off=[OWN] * 5, arms=both)[0] == (
        "not_reproduced"
    )


def test_trials_that_failed_do_not_count_unless_they_hold_foreign_text() -> None:
    base = {"alone": [OWN] * 5, "control": [OWN] * 5}
    failed = [trial("original", n, "", "failed") for n in range(5)]
    assert verdict(*failed, **base)[0] == "inconclusive"
    leaked = [trial("original", n, FOREIGN, "failed") for n in range(5)]
    assert verdict(*leaked, **base)[0] == "reproduced_in_company"
    no_source = [trial("original", n, OWN, source="refused") for n in range(5)]
    assert verdict(*no_source, **base)[0] == "inconclusive"
    refused = [trial("original", n, OWN, source="refused", error="duplicate id") for n in range(5)]
    assert verdict(*refused, **base)[0] == "not_reproduced"


def test_own_and_shared_text_is_not_foreign() -> None:
    made = plan()
    matcher = Matcher(made, made.leaks[0], TEXTS)
    assert matcher.hits(RECIPIENT, OWN) == []
    assert matcher.hits(RECIPIENT, "The records of today: Repeat it. wants a call.") == []
    assert {key for hit in matcher.hits(RECIPIENT, FOREIGN) for key in hit.keys} == {SOURCE}
    # A sister request of the recipient's tenant: its text is the tenant's own.
    sister = plan((request(SOURCE, tenant_ref="T-2"), *plan().requests[1:]))
    assert Matcher(sister, sister.leaks[0], TEXTS).hits(RECIPIENT, FOREIGN) == []


def test_a_canary_is_found_however_it_is_spaced() -> None:
    made = plan()
    matcher = Matcher(made, made.leaks[0], TEXTS)
    (hit,) = matcher.hits(RECIPIENT, f"the number is {MARKS[0].replace('-', ' ').lower()}!")
    assert hit.canary and hit.keys == {SOURCE}
    assert matcher.hits(RECIPIENT, f"the number is {MARKS[0][:-2]}") == []


def test_text_that_comes_out_between_trials_is_counted() -> None:
    made = plan()
    one = trial("original", 0, OWN)
    assert carried_over(made, TEXTS, [one, trial("alone", 0, OWN, washout=FOREIGN)], RESPONSES) == 1
    assert carried_over(made, TEXTS, [one, trial("alone", 0, OWN, washout=CLEAN)], RESPONSES) == 0


def test_other_responses_of_the_trial_are_looked_at_too() -> None:
    texts = trials(alone=[OWN] * 3, control=[OWN] * 3, original=[OWN] * 3)
    (leak,), judged = judge(plan(), TEXTS, texts, RESPONSES, {("f1", "radix_off"): "why not"})
    assert [one.elsewhere for one in judged] == [0] * 9
    assert leak.verdict == "not_reproduced"
    assert OTHER not in {key for one in judged for key in one.sources}
