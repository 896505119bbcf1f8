"""What is the false-discovery rate among supplied matches, and may the decoys be believed?

Family A, time-mirrored: a prompt text that another tenant supplied only after a response had finished cannot have
leaked into it. Matches with such texts (decoys) show how often tenants share rare text for other reasons. Each
response keeps its best target and its best decoy; the higher score wins (target-decoy competition; Elias and Gygi
2007), and

    FDR(s) = (D(s) + 1) / (r T(s)),   q(s) = min over s' <= s of FDR(s')

with r the ratio of decoy to target exposure (pairs of responses and supplies after and before), and the +1 of Levitsky
et al. 2017. The null must be flat in time: when decoys crowd around the response (serial correlation of content across
tenants), the mirror lies and no q-value is printed. Without enough decoys to tell, none is printed either.

Family B, placement: where family A lies, matches with texts that the same worker served compete with matches with texts
that only other workers served, which a fault inside one engine cannot have carried. It needs workers, and content that
does not choose its worker; a leak outside the engine (a gateway's cache) is a decoy to it and stays `possible`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from forensics.attribution.holdings import EARLY, LATE, World

MIN_NULL = 50  # null matches needed to test flatness
MIN_TARGETS = 20  # accepted regions needed to print a q-value at all
MAX_RATIO = 1.3
ALPHA = 0.01


@dataclass(frozen=True)
class Stratum:
    """One row of decoy_strata, and the q-value of each target score (None where not supported)."""

    name: str
    family: str  # time-mirrored | placement
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

    def q_value(self, score: float) -> float | None:
        """q-value of a target with this score."""
        if not self.valid:
            return None
        index = int(np.searchsorted(-self.scores, -score, side="left"))
        return float(self.q_values[min(index, self.q_values.size - 1)])


def assess(
    world: World,
    name: str,
    targets: dict[int, float],
    decoys: dict[int, float],
    decoy_lags: list[int],
    seed: int,
) -> Stratum:
    """`targets`, `decoys`: best score per response use; `decoy_lags`: microseconds from response end to supply."""
    before, after, near, far, near_edge, far_edge = _exposure(world)
    ratio = after / before if before else 0.0
    scores, losing, q_values = _compete(targets, decoys, ratio, seed)
    null_near = sum(1 for lag in decoy_lags if lag <= near_edge)
    null_far = sum(1 for lag in decoy_lags if lag > far_edge)
    rate_ratio, p_value, valid, reason = _check(null_near, null_far, near, far, len(decoy_lags))
    correlated = p_value is not None and p_value < ALPHA
    if valid and (scores.size < MIN_TARGETS or ratio <= 0):
        valid, reason = False, f"fewer than {MIN_TARGETS} matches: a q-value could not get small enough"
    return Stratum(
        name, "time-mirrored", scores.size, losing, ratio, null_near, null_far, rate_ratio, p_value, valid, correlated,
        reason, scores, q_values,
    )  # fmt: skip


def assess_placement(
    world: World, name: str, same_worker: dict[int, float], other_worker: dict[int, float], seed: int
) -> Stratum:
    """Family B over matches whose leading source the same worker served, against those only others served."""
    ratio = _placement_ratio(world)
    scores, losing, q_values = _compete(same_worker, other_worker, ratio, seed)
    valid, reason = True, "contents follow each other across tenants: judged by worker"
    if ratio <= 0:
        valid, reason = False, "contents follow each other across tenants, and there are no workers to judge by"
    elif scores.size == 0 or float(q_values.min()) > 1.0 / MIN_TARGETS:
        valid, reason = False, "contents follow each other across tenants, and too few matches are on the same worker"
    return Stratum(
        f"{name}, by worker", "placement", scores.size, losing, ratio, 0, 0, None, None, valid, True, reason, scores,
        q_values,
    )  # fmt: skip


def _placement_ratio(world: World) -> float:
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


def _compete(
    targets: dict[int, float], decoys: dict[int, float], ratio: float, seed: int
) -> tuple[npt.NDArray[np.float64], int, npt.NDArray[np.float64]]:
    """Scores of the targets that win, the number of decoys that win, q-values of the former; best first."""
    coin = np.random.default_rng(seed)
    won_by_target: list[float] = []
    won_by_decoy: list[float] = []
    for use in sorted(targets.keys() | decoys.keys()):
        target, decoy = targets.get(use, -np.inf), decoys.get(use, -np.inf)
        if target > decoy or (target == decoy and coin.random() < 0.5):
            won_by_target.append(target)
        else:
            won_by_decoy.append(decoy)
    scores = np.array(sorted(won_by_target, reverse=True), dtype=np.float64)
    losing = np.array(sorted(won_by_decoy), dtype=np.float64)
    above = losing.size - np.searchsorted(losing, scores, side="left")
    rank = np.searchsorted(-scores, -scores, side="right")
    rate = (above + 1) / np.maximum(ratio * rank, 1e-9)
    q_values = np.minimum(np.minimum.accumulate(rate[::-1])[::-1], 1.0) if scores.size else rate
    return scores, losing.size, q_values


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


def _exposure(world: World) -> tuple[float, float, float, float, int, int]:
    """Pairs (response, foreign supply) before, after, shortly after and long after, and the two edges in us."""
    requests, holdings = world.requests, world.holdings
    responses = np.unique(world.uses.request[world.uses.side == 1])
    ends = requests.finished[responses]
    ends = np.sort(ends[(ends > EARLY) & (ends < LATE)])
    supplied = holdings.supplied[(holdings.supplied > EARLY) & (holdings.supplied < LATE)]
    supplied = np.sort(supplied)
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
