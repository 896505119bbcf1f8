"""The false-discovery rate by decoys, with hand-computed values, and when it must not be printed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from forensics.attribution import decoys as family
from forensics.attribution.decoys import Check, Stratum, assess, assess_placement, evenness, placement_odds
from forensics.attribution.holdings import LATE, Holdings, Requests, Uses, World

SECOND = 1_000_000
RESPONSES = 160


@dataclass
class Times:
    """When responses ended and when foreign prompts were received, in microseconds."""

    ends: list[int]
    supplied: list[int]

    def world(self) -> World:
        count = len(self.ends)
        ends = np.array(self.ends, dtype=np.int64)
        everywhere = np.zeros(count, dtype=np.int64)
        keys = np.arange(count, dtype=np.int64)
        requests = Requests(
            [f"r{i}" for i in range(count)], ["t"] * count, everywhere, ["t"], [None] * count, ends - SECOND, ends,
            np.ones(count, dtype=np.bool_), np.ones(count, dtype=np.bool_),
        )  # fmt: skip
        uses = Uses(
            keys, keys, np.ones(count, dtype=np.int8), ["choices[0].content"] * count, ["response"] * count,
            everywhere, ["gateway"] * count, np.arange(count + 1, dtype=np.int64),
        )  # fmt: skip
        supplied = np.array(self.supplied, dtype=np.int64)
        never = np.full(supplied.size, LATE, dtype=np.int64)
        holdings = Holdings(
            np.zeros(supplied.size, dtype=np.int64),
            supplied,
            never,
            never,
            np.arange(supplied.size + 1, dtype=np.int64),
        )
        flags = np.zeros(count, dtype=np.bool_)
        return World(requests, uses, holdings, np.ones(count, dtype=np.int64), flags, flags)

    def lags_after(self) -> list[int]:
        """Lag of every pair of a response and a later supply: what matches without any reason look like."""
        return sorted(s - e for e in self.ends for s in self.supplied if s > e)

    def ratio(self) -> float:
        after = sum(s > e for e in self.ends for s in self.supplied)
        return after / (len(self.ends) * len(self.supplied) - after)


EVEN = Times([i * 60 * SECOND for i in range(RESPONSES)], [i * 37 * SECOND + 11 for i in range(200)])
FLAT = EVEN.lags_after()[::61]
TARGETS = {use: 100.0 - use for use in range(25)}  # 100, 99 ... 76


def stratum(decoys: dict[int, float], lags: list[int], targets: dict[int, float] | None = None) -> Stratum:
    return assess(EVEN.world(), "supplied text", TARGETS if targets is None else targets, decoys, lags, 0)


def test_the_formula_by_hand() -> None:
    """FDR(s) = (D(s) + 1) / (r T(s)), q(s) the least FDR of any lower score."""
    assert len(FLAT) > 100
    made = stratum({100: 80.5, 101: 78.5}, FLAT)
    r = EVEN.ratio()
    assert made.valid, made.reason
    assert made.exposure == pytest.approx(r)
    assert (made.targets, made.decoys) == (25, 2)
    # 20 targets lie above 80.5, at 81 and more: 1/20r is the least anywhere
    for score in (100.0, 90.0, 81.0):
        assert made.q_value(score) == pytest.approx(min(1.0, 1 / (20 * r)))
    # at 79: one decoy, 22 targets; below it two decoys and at most 25 targets, which is more
    for score in (80.0, 79.0):
        assert made.q_value(score) == pytest.approx(min(1.0, 2 / (22 * r)))
    for score in (78.0, 77.0, 76.0):
        assert made.q_value(score) == pytest.approx(min(1.0, 3 / (25 * r)))


def test_a_response_counts_once() -> None:
    """Of the target and the decoy of one response the better one stands, the other one falls out."""
    made = stratum({3: 10.0, 4: 98.5, 200: 5.0}, FLAT)
    r = EVEN.ratio()
    # use 4 (96) loses to its decoy (98.5); use 3 (97) wins; 200 has no target
    assert (made.targets, made.decoys) == (24, 2)
    assert made.q_value(76.0) == pytest.approx(min(1.0, 2 / (24 * r)))


def test_q_never_falls_with_a_weaker_score() -> None:
    made = stratum({100 + i: 99.5 - 3 * i for i in range(8)}, FLAT)
    values = [made.q_value(100.0 - i) for i in range(25)]
    assert values == sorted(values)
    assert all(0 < value <= 1 for value in values)


@pytest.mark.parametrize("count", [0, 1, 49])
def test_few_null_matches_print_nothing(count: int) -> None:
    made = stratum({}, FLAT[:: len(FLAT) // max(count, 1)][:count])
    assert not made.valid
    assert made.q_value(100.0) is None
    assert str(count) in made.reason
    assert (made.rate_ratio, made.p_value) == (None, None)


def test_few_targets_print_nothing() -> None:
    made = stratum({}, FLAT, dict.fromkeys(range(19), 50.0))
    assert not made.valid
    assert made.q_value(50.0) is None
    assert stratum({}, FLAT, dict.fromkeys(range(20), 50.0)).valid


def test_serially_correlated_content_prints_nothing() -> None:
    """Decoys that crowd around the response: tenants talk about the same things at the same time."""
    near = [lag for lag in EVEN.lags_after() if lag <= 160 * 60 * SECOND // 16]
    made = stratum({}, near[:120] + FLAT[::8])
    assert not made.valid
    assert made.q_value(100.0) is None
    assert "serially correlated" in made.reason
    assert made.p_value is not None
    assert made.p_value < 0.01


def test_all_decoys_near_print_nothing() -> None:
    made = stratum({}, [SECOND] * 80)
    assert (made.valid, made.null_far, made.rate_ratio) == (False, 0, None)


def test_the_check_counts_lags_by_hand() -> None:
    """Near: a sixteenth of the span of responses; far: more than a quarter of it."""
    span = (RESPONSES - 1) * 60 * SECOND
    lags = [span // 16] * 30 + [span // 16 + 1] * 10 + [span // 4] * 10 + [span // 4 + 1] * 40
    made = stratum({}, lags)
    assert (made.null_near, made.null_far) == (30, 40)
    near = sum(0 < s - e <= span // 16 for e in EVEN.ends for s in EVEN.supplied)
    far = sum(s - e > span // 4 for e in EVEN.ends for s in EVEN.supplied)
    assert made.rate_ratio == pytest.approx((30 / near) / (40 / far))


def test_nothing_supplied_later_prints_nothing() -> None:
    world = Times([1000 * SECOND + i * SECOND for i in range(40)], [1, 2, 3]).world()
    made = assess(world, "supplied text", TARGETS, {}, [5] * 60, 0)
    assert (made.valid, made.exposure) == (False, 0.0)


def test_equal_scores_are_decided_by_the_seed_alone() -> None:
    ties = {use: 100.0 - use for use in range(25)}
    one, two = (assess(EVEN.world(), "x", TARGETS, ties, FLAT, 5) for _ in range(2))
    assert (one.targets, one.decoys) == (two.targets, two.decoys)
    assert one.scores.tolist() == two.scores.tolist()
    assert 3 <= one.targets <= 22


def test_a_small_case_says_why_it_prints_none(scene) -> None:  # type: ignore[no-untyped-def]
    scene.traffic()
    secret = "the depot in Halloran Street shipped seventeen crates of printed ledgers to the wrong quay on Tuesday"
    scene.call("alpha", f"Note: {secret}.", "Noted.", 0)
    scene.call("beta", "How are eggs boiled?", f"Well, {secret}!", 60)
    result = scene.run()
    assert result.only()["q_value"] is None
    assert [(row["valid"], "needed" in row["reason"]) for row in result.strata] == [(False, True)] * 4
    assert sum("no q-value is printed" in warning for warning in result.summary.warnings) == 4


def test_odds_of_the_worker_are_those_of_late_texts_where_they_are_lower() -> None:
    """Two workers, half of the supplies on each: odds 1. Of 60 late texts 40 lie on the response's worker: odds 20/40."""
    times = Times([i * 60 * SECOND for i in range(40)], [])
    world = times.world()
    world.requests.worker[:] = ["a" if i % 2 else "b" for i in range(40)]
    assert placement_odds(world, (0, 0)) == pytest.approx(1.0)
    assert placement_odds(world, (60, 40)) == pytest.approx(0.5)
    assert placement_odds(world, (60, 10)) == pytest.approx(1.0)  # never higher
    assert placement_odds(world, (49, 40)) == pytest.approx(1.0)  # too few to tell
    made = assess_placement(world, "x", {i: 90.0 - i for i in range(30)}, {100: 95.0}, 0, (60, 40))
    # one decoy above all: (1 + 1) / (0.5 T) at best 2 / 15
    assert (made.valid, made.exposure) == (False, 0.5)
    made = assess_placement(world, "x", {i: 90.0 - i for i in range(60)}, {100: 10.0}, 0)
    assert made.valid
    assert made.q_value(90.0) == pytest.approx(1 / 60)


RICH = {use: 100.0 - use for use in range(12)}, {100 + use: 98.5 - use for use in range(12)}


def test_too_few_to_be_tested_decoys_still_speak_where_tenants_share_much() -> None:
    """12 targets among 12 decoys: even the lower limit of the share of false ones is high; so the rate itself counts."""
    targets, decoys = RICH
    made = stratum(decoys, FLAT[::40], targets)
    assert (made.valid, made.q_value(90.0)) == (False, None)
    ratio = EVEN.ratio()
    assert made.q_at_least(100.0) == pytest.approx(min(1.0, 1 / (2 * ratio)))  # two targets lie above every decoy
    assert made.q_at_least(89.0) > 0.5


def test_a_few_decoys_of_many_targets_hold_no_more_against_a_match_than_their_lower_limit() -> None:
    made = stratum({100: 98.5, 101: 77.5}, FLAT[::40])
    assert not made.valid
    assert made.q_at_least(100.0) == 0.0  # no decoy does as well
    ratio = EVEN.ratio()
    # 2 decoys, 25 targets at 76 and better: the exact lower limit of 2 in 27, as odds
    low = 0.0091
    assert made.q_at_least(76.0) == pytest.approx(low / (1 - low) / ratio, rel=1e-3)
    assert made.q_at_least(76.0) < 0.05


def test_without_decoys_nothing_is_held_against_a_match() -> None:
    assert stratum({}, FLAT[::40]).q_at_least(76.0) == 0.0


def test_decoys_that_undercount_give_the_rate_that_they_show() -> None:
    """The second test failed: earlier texts are favoured, so that later ones are fewer than the false among those."""
    targets = {use: float(use % 50) for use in range(300)}
    decoys = {1000 + use: 25.0 + use % 50 for use in range(100)}
    ratio = EVEN.ratio()
    check = evenness(Check(valid=True), targets, decoys, ratio, 0)
    assert (check.valid, check.low_p_value is not None) == (False, True)
    made = family.stratum("supplied text", targets, decoys, ratio, check, 0)
    assert made.q_value(49.0) is None
    assert made.competition is not None
    assert made.q_at_least(49.0) == made.competition.q_value(49.0) > 0.2
