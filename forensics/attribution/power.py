"""What does a leak have that a common cause lacks, and how much does it tell in this case?

Length and rarity do not separate a short leak from two tenants who quote the same rare document. Measured for each
match, for targets and decoys in the same way (a decoy is a text that came too late; its lag is mirrored):

* how rare (bits, bits a unit, rarest word, telling words), how many suppliers, particulars inside,
* abrupt edges: does the run begin or end in the middle of a sentence of its source?
* kinship with the recipient's own request, and with the rest of the source's,
* how long between the supply and the response's end, the same worker, raw identity.

Where decoys are valid, a logistic combination is learned on the case itself against them, cross-validated by response
(semi-supervised, in the manner of Percolator; Kaell et al. 2007): a response is never scored by weights it has
trained. Elsewhere FIXED weights say how a match looks; they are shown with the fragment and decide nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from forensics.attribution.candidates import Candidate, Holder, prompts_by_request
from forensics.attribution.matches import Match
from forensics.attribution.rates import compete
from forensics.attribution.strength import Strength, asked_share, prompt_terms
from forensics.attribution.texts import Texts
from forensics.text.identifiers import identifiers
from forensics.text.keys import distinct
from forensics.text.words import Words, terms

Floats = npt.NDArray[np.float64]

NAMES = (
    "bits", "bits_per_unit", "rarest_word_bits", "telling_share", "other_suppliers", "particulars_inside",
    "abrupt_start", "abrupt_end", "kinship_with_recipient_prompt", "kinship_with_rest_of_source", "log_lag",
    "same_worker", "near_on_worker", "raw_identity",
)  # fmt: skip
# Features that say nothing about where a text was served.
PLACED = [place for place, name in enumerate(NAMES) if name not in ("same_worker", "near_on_worker")]
# How a match looks where nothing could be learned: log-odds for each feature as measured, set by hand and not tuned.
FIXED = {
    "bits": 0.01, "bits_per_unit": 0.3, "rarest_word_bits": 0.02, "telling_share": 0.5, "other_suppliers": -1.0,
    "particulars_inside": 0.7, "abrupt_start": 1.0, "abrupt_end": 0.7, "kinship_with_recipient_prompt": -2.0,
    "kinship_with_rest_of_source": 0.5, "log_lag": -0.3, "same_worker": 1.0,
    "near_on_worker": 1.5, "raw_identity": 1.0,
}  # fmt: skip
FIXED_START = -3.0
MIN_LEARN = 50  # targets and decoys each, in all, for learning
FOLDS = 3
REPEATS = 5  # foldings whose scores are averaged, so that one folding's luck does not decide
ROUNDS = 8
RIDGE = 1.0
SURE_Q = 0.05  # targets that are taken for leaks while learning
FEWEST_SURE = 10
SHORT_LAG = 60.0  # seconds; a shorter lag tells no more than this one
NEAR_LAG = 300.0  # seconds after which a text on the same worker is half as near
MAX_COMPARED = 4000  # code points of a passage that are compared sign by sign
SENTENCE_ENDS = frozenset(".!?:;\n。！？：；…؟۔।\"'”»)]}")


@dataclass(frozen=True)
class Learned:
    """Log-odds of every match, and the mean weight of each feature (standardised) over the folds."""

    scores: Floats
    weights: Floats


def measure(
    texts: Texts, candidates: Sequence[Candidate], strengths: Sequence[Strength], matches: Sequence[Match]
) -> Floats:
    """One row of NAMES for each match."""
    world = texts.corpus.world
    prompts = prompts_by_request(world, {candidates[m.index].request for m in matches})
    needs = [
        {candidates[m.index].content, m.holder.content, *prompts.get(candidates[m.index].request, ())} for m in matches
    ]
    table = np.zeros((len(matches), len(NAMES)))
    own_terms: dict[int, npt.NDArray[np.uint64]] = {}
    for batch in texts.batches(needs):
        for i in batch:
            match, candidate = matches[i], candidates[matches[i].index]
            strength = strengths[match.index]
            if candidate.request not in own_terms:
                own_terms[candidate.request] = prompt_terms(texts, prompts.get(candidate.request, []))
            table[i] = _row(texts, candidate, strength, match, own_terms[candidate.request])
    return table


def _row(
    texts: Texts, candidate: Candidate, strength: Strength, match: Match, own: npt.NDArray[np.uint64]
) -> tuple[float, ...]:
    units = max(1, candidate.end - candidate.start)
    holder = match.holder
    here = _passage(texts, candidate.content, candidate.start, candidate.end)
    low, high = texts.folded(holder.content).span(holder.other_start, holder.other_end)
    source = texts.raw(holder.content)
    there = source[low:high]
    total = float(strength.all_term_bits.sum())
    rest = _rest(texts, holder)
    return (
        match.bits,
        match.bits / units,
        strength.rarest_word_bits,
        float(strength.term_bits.sum()) / total if total else 0.0,
        float(match.suppliers - 1),
        float(_identifiers_in(here) > 0),
        float(_breaks_before(source, low)),
        float(_breaks_after(source, high)),
        asked_share(strength, own, own),
        asked_share(strength, rest, rest),
        math.log1p(max(SHORT_LAG, match.lag / 1e6)),
        float(bool(match.same_worker)),
        float(bool(match.same_worker)) / (1 + match.lag / 1e6 / NEAR_LAG),
        _identity(here, there),
    )


def _passage(texts: Texts, content: int, start: int, end: int) -> str:
    low, high = texts.folded(content).span(start, end)
    return texts.raw(content)[low:high]


def _identifiers_in(text: str) -> int:
    data = np.frombuffer(text.encode("utf-8", "replace"), dtype=np.uint8)
    return int((~identifiers(data, np.array([0, data.size], dtype=np.int64)).nested).sum()) if data.size else 0


def _breaks_before(text: str, at: int) -> bool:
    """Does a run that begins at `at` begin inside a sentence of `text`?"""
    head = text[max(0, at - 8) : at].rstrip(" \t")
    return bool(head) and head[-1] not in SENTENCE_ENDS


def _breaks_after(text: str, at: int) -> bool:
    """Does a run that ends at `at` end inside a sentence of `text`?"""
    tail = text[at : at + 8].lstrip(" \t")
    return bool(tail) and tail[0] not in SENTENCE_ENDS


def _identity(one: str, other: str) -> float:
    from rapidfuzz.distance import Levenshtein

    return float(Levenshtein.normalized_similarity(one[:MAX_COMPARED], other[:MAX_COMPARED]))


def _rest(texts: Texts, holder: Holder) -> npt.NDArray[np.uint64]:
    """Terms of the source's text outside of the passage."""
    found = texts.words(holder.content)
    outside = (found.ends <= holder.other_start) | (found.starts >= holder.other_end)
    part = Words(found.starts[outside], found.ends[outside], found.hashes[outside], found.single[outside])
    return distinct(terms(part))


def fixed_scores(table: Floats) -> Floats:
    """Log-odds by FIXED."""
    return np.asarray(FIXED_START + table @ np.array([FIXED[name] for name in NAMES]))


def learn(
    table: Floats,
    is_target: npt.NDArray[np.bool_],
    uses: npt.NDArray[np.int64],
    ratio: float,
    seed: int,
) -> Learned | None:
    """Cross-validated log-odds of all matches; None where there are too few to learn from.

    Each fold's weights come from the other folds alone: targets that are sure there (q <= SURE_Q by the scores so far,
    at first by one feature, at least the FEWEST_SURE best) against decoys, over and over. The folds are cut by
    response, REPEATS times anew, and the scores averaged.
    """
    if int(is_target.sum()) < MIN_LEARN or int((~is_target).sum()) < MIN_LEARN:
        return None
    different = distinct(uses)
    dice = np.random.default_rng(seed)
    scores = np.zeros(uses.size)
    weights = np.zeros(table.shape[1])
    for _ in range(REPEATS):
        order = dice.permutation(different)
        fold = np.argsort(order)[np.searchsorted(different, uses)] % FOLDS
        for number in range(FOLDS):
            train, test = fold != number, fold == number
            mean, spread = table[train].mean(axis=0), table[train].std(axis=0)
            scaled = (table - mean) / np.where(spread > 1e-9, spread, 1.0)
            made = _train(scaled[train], is_target[train], uses[train], ratio, seed)
            scores[test] += (scaled[test] @ made[1:] + made[0]) / REPEATS
            weights += made[1:] / (FOLDS * REPEATS)
    return Learned(scores, weights)


def _train(
    scaled: Floats, is_target: npt.NDArray[np.bool_], uses: npt.NDArray[np.int64], ratio: float, seed: int
) -> Floats:
    """Weights (the constant first) after ROUNDS of choosing sure targets and telling them from decoys."""
    best = _first_direction(scaled, is_target)
    weights = np.zeros(scaled.shape[1] + 1)
    for _ in range(ROUNDS):
        sure = _sure(best, is_target, uses, ratio, seed)
        kept = sure | ~is_target
        weights = logistic(scaled[kept], sure[kept].astype(np.float64))
        best = scaled @ weights[1:] + weights[0]
    return weights


def _first_direction(scaled: Floats, is_target: npt.NDArray[np.bool_]) -> Floats:
    """The single feature, in the direction, by which most targets stand above nearly all decoys."""
    chosen, most = scaled[:, 0], -1
    for column in range(scaled.shape[1]):
        for sign in (1.0, -1.0):
            values = sign * scaled[:, column]
            edge = np.quantile(values[~is_target], 0.98)
            above = int((values[is_target] > edge).sum())
            if above > most:
                chosen, most = values, above
    return chosen


def _sure(
    scores: Floats, is_target: npt.NDArray[np.bool_], uses: npt.NDArray[np.int64], ratio: float, seed: int
) -> npt.NDArray[np.bool_]:
    """Targets with q <= SURE_Q by these scores; the best FEWEST_SURE where fewer are."""
    targets: dict[int, float] = {}
    decoys: dict[int, float] = {}
    for use, target, score in zip(uses.tolist(), is_target.tolist(), scores.tolist(), strict=True):
        side = targets if target else decoys
        side[use] = max(side.get(use, -math.inf), score)
    done = compete(targets, decoys, ratio, seed)
    passing = done.scores[done.q_values <= SURE_Q]
    rank = np.sort(scores[is_target])[::-1]
    edge = float(passing.min()) if passing.size else math.inf
    edge = min(edge, float(rank[min(FEWEST_SURE, rank.size) - 1]))
    return is_target & (scores >= edge)


def logistic(table: Floats, labels: Floats, ridge: float = RIDGE) -> Floats:
    """Weights (the constant first) of a ridge logistic regression, by Newton's method; the constant is not shrunk."""
    design = np.column_stack([np.ones(table.shape[0]), table])
    penalty = np.full(design.shape[1], ridge)
    penalty[0] = 1e-6
    weights = np.zeros(design.shape[1])
    for _ in range(50):
        chance = 1 / (1 + np.exp(-np.clip(design @ weights, -30, 30)))
        slope = design.T @ (labels - chance) - penalty * weights
        curve = (design * (chance * (1 - chance))[:, None]).T @ design + np.diag(penalty)
        step = np.linalg.solve(curve, slope)
        weights = weights + step * min(1.0, 5.0 / max(1e-12, float(np.abs(step).max())))
        if float(np.abs(step).max()) < 1e-8:
            break
    return weights
