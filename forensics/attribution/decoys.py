"""What is the false-discovery rate among supplied matches, and may the decoys be believed?

Family A, time-mirrored: a prompt text that another tenant supplied only after a response had finished cannot have
leaked into it. Matches with such texts (decoys) show how often tenants share rare text for other reasons; they compete
with the targets (`rates.compete`). The null must be the same on both sides of the response's end, which two tests ask:

* flat in time: decoys that crowd around the response (serial correlation of content across tenants) make the mirror
  lie;
* even at the bottom: among the weakest quarter of shared matches, where hardly a leak is, targets and decoys must win
  as their exposures are. (The exclusive ones' low scores hold real leaks; they borrow this verdict.)

Where a test fails no q-value is printed; without enough decoys to tell, none is printed either.

Family B, placement: where family A lies, matches with texts that the same worker served compete with matches with
texts that only other workers served, which a fault inside one engine cannot have carried. It needs workers, and
content that does not choose its worker (decoys by time must lie on the response's worker no more often than chance
has it); a leak outside the engine (a gateway's cache) is a decoy to it and stays `possible`.

Family C, lag-shifted: matches of two responses at a short lag against those at a longer one. Shown, never printed
with a fragment: what leaks late is a decoy to it. (Family D, entrapment, is measured by the controls.)
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from forensics.attribution.holdings import EARLY, LATE, World
from forensics.attribution.rates import Competition, compete

MIN_NULL = 50  # null matches needed to test flatness
MIN_TARGETS = 20  # accepted regions needed to print a q-value at all
MAX_RATIO = 1.3
ALPHA = 0.01
LOWEST = 0.25  # share of the shared matches, weakest first, that the second test looks at
ACCEPTED_Q = 0.05
RICH = 0.2  # share of false ones among all matches from which on a case is rich in what tenants share for no leak


@dataclass(frozen=True)
class Check:
    """What the two tests of family A say. Counts and p-values are None where a test could not be made."""

    null_near: int = 0
    null_far: int = 0
    rate_ratio: float | None = None
    p_value: float | None = None
    low_targets: int | None = None
    low_decoys: int | None = None
    low_p_value: float | None = None
    valid: bool = False
    correlated: bool = False  # tenants' contents follow each other
    reason: str = ""

    @property
    def uneven(self) -> bool:
        """Did the second test fail: are earlier texts favoured, so that decoys undercount?"""
        return not self.valid and self.low_p_value is not None


@dataclass(frozen=True)
class Stratum:
    """One row of decoy_strata, and the q-value of each target score (None where not supported)."""

    name: str
    family: str  # time-mirrored | placement | lag-shifted
    targets: int
    decoys: int
    exposure: float
    null_near: int
    null_far: int
    rate_ratio: float | None
    p_value: float | None
    valid: bool
    correlated: bool  # the check has shown that tenants' contents follow each other
    reason: str
    scores: npt.NDArray[np.float64]
    q_values: npt.NDArray[np.float64]
    competition: Competition | None = None
    check: Check = field(default_factory=Check)
    score_name: str = "bits"

    def q_value(self, score: float) -> float | None:
        """q-value of a target with this score."""
        if not self.valid:
            return None
        index = int(np.searchsorted(-self.scores, -score, side="left"))
        return float(self.q_values[min(index, self.q_values.size - 1)])

    def q_at_least(self, score: float) -> float:
        """What q of a target with this score is at least, where none may be printed.

        Decoys that undercount still show that tenants share as much for no leak: then the rate that they give. So do
        those that are too few to be tested, where even the lower limit of that rate is RICH over all matches; where it
        is not, no more than the lower limit is held against a match.
        """
        if self.competition is None:
            return 0.0
        if self.check.uneven or bool((self.competition.least_q_values[-1:] > RICH).any()):
            return self.competition.q_value(score)
        return self.competition.least_q_value(score)

    @property
    def accepted(self) -> int | None:
        """Targets with q <= ACCEPTED_Q; None where no q is printed."""
        return int((self.q_values <= ACCEPTED_Q).sum()) if self.valid else None

    @property
    def false_bound(self) -> float | None:
        """Upper 95 % bound of the share of false ones among them."""
        if not self.accepted or self.competition is None:
            return None
        return self.competition.proportion_bound(float(self.scores[self.accepted - 1]))

    @property
    def expected_false(self) -> float | None:
        """E: false targets to expect among all winning ones; None where the decoys may not be believed."""
        if self.competition is None or not (self.valid or self.check.valid) or self.scores.size == 0:
            return None
        return self.competition.expected_false(float(self.scores[-1]))


def assess(
    world: World,
    name: str,
    targets: dict[int, float],
    decoys: dict[int, float],
    decoy_lags: list[int],
    seed: int,
) -> Stratum:
    """One stratum by itself, judged by the first test alone.

    `targets`, `decoys`: best score per response use; `decoy_lags`: microseconds from response end to supply.
    """
    return stratum(name, targets, decoys, band_ratio(world), flatness(world, decoy_lags), seed)


def stratum(
    name: str,
    targets: dict[int, float],
    decoys: dict[int, float],
    ratio: float,
    check: Check,
    seed: int,
    score_name: str = "bits",
) -> Stratum:
    """Family A over these matches, under the verdict of the family's check."""
    done = compete(targets, decoys, ratio, seed)
    valid, reason = check.valid, check.reason
    if valid and (done.scores.size < MIN_TARGETS or ratio <= 0):
        valid, reason = False, f"fewer than {MIN_TARGETS} matches: a q-value could not get small enough"
    return Stratum(
        name, "time-mirrored", done.scores.size, done.decoys.size, ratio, check.null_near, check.null_far,
        check.rate_ratio, check.p_value, valid, check.correlated, reason, done.scores, done.q_values, done, check,
        score_name,
    )  # fmt: skip


def flatness(world: World, decoy_lags: list[int]) -> Check:
    """The first test: null matches per second of exposure, near the response and far from it."""
    _, _, near, far, near_edge, far_edge = exposure(world)
    null_near = sum(1 for lag in decoy_lags if lag <= near_edge)
    null_far = sum(1 for lag in decoy_lags if lag > far_edge)
    rate_ratio, p_value, valid, reason = _check(null_near, null_far, near, far, len(decoy_lags))
    correlated = p_value is not None and p_value < ALPHA
    return Check(
        null_near=null_near, null_far=null_far, rate_ratio=rate_ratio, p_value=p_value, valid=valid,
        correlated=correlated, reason=reason,
    )  # fmt: skip


def evenness(check: Check, targets: dict[int, float], decoys: dict[int, float], ratio: float, seed: int) -> Check:
    """The second test, on shared matches: do targets win more often than 1 in 1 + r among the weakest quarter?"""
    if not check.valid or ratio <= 0:
        return check
    done = compete(targets, decoys, ratio, seed)
    every = np.concatenate([done.scores, done.decoys])
    is_target = np.concatenate([np.ones(done.scores.size), np.zeros(done.decoys.size)])
    lowest = np.lexsort((is_target, every))[: int(every.size * LOWEST)]
    low_targets = int(is_target[lowest].sum())
    low_decoys = int(lowest.size - low_targets)
    if lowest.size < MIN_NULL:
        return replace(
            check, low_targets=low_targets, low_decoys=low_decoys,
            reason=f"{check.reason}; {lowest.size} weak shared matches are too few for the second test",
        )  # fmt: skip
    from scipy import stats

    p_value = float(stats.binomtest(low_targets, int(lowest.size), 1 / (1 + ratio), alternative="greater").pvalue)
    made = replace(check, low_targets=low_targets, low_decoys=low_decoys, low_p_value=p_value)
    if p_value < ALPHA:
        return replace(made, valid=False, reason="the weakest shared matches favour earlier texts: decoys would lie")
    return replace(made, reason=f"{check.reason}, and the weakest shared matches are even")


def assess_placement(
    world: World,
    name: str,
    same_worker: dict[int, float],
    other_worker: dict[int, float],
    seed: int,
    null: tuple[int, int] = (0, 0),
    score_name: str = "bits",
    *,
    correlated: bool = True,
) -> Stratum:
    """Family B over matches whose leading source the same worker served, against those only others served.

    `null`: matches with texts that came too late, and how many of them the same worker served. `correlated`: is it
    asked because contents follow each other, or because the weakest shared matches were uneven?
    """
    why = "contents follow each other across tenants" if correlated else "the weakest shared matches are uneven in time"
    ratio = placement_odds(world, null)
    done = compete(same_worker, other_worker, ratio, seed)
    valid, reason = True, f"{why}: judged by worker"
    if ratio <= 0:
        valid, reason = False, f"{why}, and there are no workers to judge by"
    elif done.scores.size == 0 or float(done.q_values.min()) > 1.0 / MIN_TARGETS:
        valid, reason = False, f"{why}, and too few matches are on the same worker"
    return Stratum(
        f"{name}, by worker", "placement", done.scores.size, done.decoys.size, ratio, null[1], null[0] - null[1], None,
        None, valid, correlated, reason, done.scores, done.q_values, done, score_name=score_name,
    )  # fmt: skip


def placement_odds(world: World, null: tuple[int, int]) -> float:
    """Odds of chance for another worker: of all supplies, or of texts that came too late, where these are surely lower.

    A tenant's text that several of its requests hold meets a worker more often than a single supply would, and contents
    may choose their worker; both show in the late texts, which cannot have leaked.
    """
    ratio = placement_ratio(world)
    if null[0] < MIN_NULL or ratio <= 0:
        return ratio
    from scipy import stats

    p_value = float(stats.binomtest(null[1], null[0], 1 / (1 + ratio), alternative="greater").pvalue)
    return (null[0] - null[1]) / null[1] if p_value < ALPHA else ratio


def assess_shifted(
    name: str, short: dict[int, float], shifted: dict[int, float], check: Check, width_us: int, seed: int
) -> Stratum:
    """Family C: matches of two responses at a lag of up to `width_us` against those at up to twice that."""
    done = compete(short, shifted, 1.0, seed)
    valid, reason = check.valid, check.reason
    if valid:
        checked = evenness(check, short, shifted, 1.0, seed)
        valid, reason = checked.valid, checked.reason
    if valid and done.scores.size < MIN_TARGETS:
        valid, reason = False, f"fewer than {MIN_TARGETS} matches: a q-value could not get small enough"
    reason = f"lag up to {width_us / 1e6:.0f} s against up to twice that; {reason}"
    return Stratum(
        name, "lag-shifted", done.scores.size, done.decoys.size, 1.0, check.null_near, check.null_far, check.rate_ratio,
        check.p_value, valid, check.correlated, reason, done.scores, done.q_values, done, check,
    )  # fmt: skip


def band_ratio(world: World, low_us: int = 0, high_us: int = LATE) -> float:
    """Exposure of decoys to that of targets at lags in (low, high]: pairs of a response and a supply."""
    ends, supplied = _times(world)
    if ends.size < 2 or supplied.size < 2:
        return 0.0

    def upto(times: npt.NDArray[np.int64], side: str) -> npt.NDArray[np.float64]:
        return np.searchsorted(supplied, times, side="right" if side == "right" else "left").astype(np.float64)

    wide = min(high_us, 1 << 60)
    before = float((upto(ends - low_us, "right") - upto(ends - wide, "left")).sum())
    after = float((upto(ends + wide, "right") - upto(ends + low_us, "right")).sum())
    return after / before if before else 0.0


def placement_ratio(world: World) -> float:
    """Supplies on other workers for each supply on the same one, over all responses."""
    requests = world.requests
    names = sorted({worker for worker in requests.worker if worker})
    if len(names) < 2:
        return 0.0
    codes = {name: code for code, name in enumerate(names)}
    worker = np.array([codes.get(name or "", -1) for name in requests.worker])
    answered = np.unique(world.uses.request[world.uses.side == 1])
    responses = np.bincount(worker[answered][worker[answered] >= 0], minlength=len(names)).astype(np.float64)
    supplies = np.bincount(worker[worker >= 0], minlength=len(names)).astype(np.float64)
    same = float((responses * supplies).sum())
    return float((responses * (supplies.sum() - supplies)).sum()) / same if same else 0.0


def _check(
    null_near: int, null_far: int, near: float, far: float, total: int
) -> tuple[float | None, float | None, bool, str]:
    """Is the rate of null matches near the response compatible with the rate far from it?"""
    if total < MIN_NULL or near <= 0 or far <= 0:
        return None, None, False, f"{total} null matches; {MIN_NULL} are needed to test whether decoys may be believed"
    from scipy import stats

    ratio = (null_near / near) / (null_far / far) if null_far else float("inf")
    # One-sided exact test of the rate ratio against MAX_RATIO, conditional on the total.
    share = MAX_RATIO * near / (MAX_RATIO * near + far)
    p_value = float(stats.binomtest(null_near, null_near + null_far, share, alternative="greater").pvalue)
    finite = ratio if np.isfinite(ratio) else None
    if p_value < ALPHA:
        return finite, p_value, False, "content is serially correlated across tenants: time-mirrored decoys would lie"
    return finite, p_value, True, "null matches are flat in time"


def _times(world: World) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Ends of responses and times of first supplies, ascending, known ones only."""
    responses = np.unique(world.uses.request[world.uses.side == 1])
    ends = world.requests.finished[responses]
    supplied = world.holdings.supplied
    return (
        np.sort(ends[(ends > EARLY) & (ends < LATE)]),
        np.sort(supplied[(supplied > EARLY) & (supplied < LATE)]),
    )


def exposure(world: World) -> tuple[float, float, float, float, int, int]:
    """Pairs (response, foreign supply) before, after, shortly after and long after, and the two edges in us."""
    ends, supplied = _times(world)
    if ends.size < 2 or supplied.size < 2:
        return 0.0, 0.0, 0.0, 0.0, 0, 0
    span = int(ends[-1] - ends[0])
    near_edge, far_edge = span // 16, span // 4
    upto = np.searchsorted(supplied, ends, side="right").astype(np.float64)
    upto_near = np.searchsorted(supplied, ends + near_edge, side="right").astype(np.float64)
    upto_far = np.searchsorted(supplied, ends + far_edge, side="right").astype(np.float64)
    size = float(supplied.size)
    return (
        float(upto.sum()),
        float((size - upto).sum()),
        float((upto_near - upto).sum()),
        float((size - upto_far).sum()),
        near_edge,
        far_edge,
    )
