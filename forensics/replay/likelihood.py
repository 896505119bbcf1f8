"""Whose context explains a response? Log-probabilities of its tokens, compared between contexts. Asks no server.

Given the scores of one response under the recipient's own prompt, under each named source's prompt and under matched
wrong sources' prompts (natural logarithms, one a token), the difference to the own prompt is a curve; the foreign part
is its segment of the greatest sum. With both models known that is the maximum-likelihood place of a stretch that comes
from the other (Page, Biometrika 1954, cumulative sums; Bentley, CACM 1984, for the algorithm). If the own prompt had
produced the response, a given segment would reach a sum of t or more with a chance of exp(-t) at the most (Markov, as
the expected likelihood ratio is 1), any of the n(n+1)/2 segments of n tokens with n(n+1)/2 times that. That holds for
sampling at temperature 1 from the scoring model; it is a yardstick and no p-value where answers are greedy or the
model another. The p-value is that of the rank among wrong sources: (1 + as good or better) / (1 + wrong sources), and
is given with 99 of them or more. Fewer: no p-value, and the finding changes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Scores = Sequence[float]
Finding = Literal["supports", "another_fits_better", "none", "not_assessed"]
LEAST_WRONG = 99
ALPHA = 0.01
MARGIN = math.log(100)  # nats by which the source must be ahead of the runner-up
FLOOR = -60.0  # of one token's score, nats: one impossible token must not outweigh a response


@dataclass(frozen=True)
class Segment:
    """Tokens `[start, end)` of the response and the sum of their differences, in nats. Empty: nothing is better."""

    start: int
    end: int
    total: float


@dataclass(frozen=True)
class Likelihood:
    """The test of one response. Sums in nats; `curve`: differences of the best named source, one a token."""

    tokens: int
    source: str  # the named source that fits best
    part: Segment
    curve: tuple[float, ...]
    runner_up: float | None  # the best wrong source's
    margin: float | None
    wrong: int
    rank: int  # of the source among itself and the wrong ones, 1 is best; ties count against it
    p_value: float | None
    needed: float  # what a sum must reach
    own_per_token: float  # mean score under the recipient's own prompt: a screen that needs no source
    finding: Finding


def differences(own: Scores, other: Scores) -> list[float]:
    """Per token, how much better the other context explains it. Raises ValueError where the lengths differ."""
    if len(own) != len(other):
        raise ValueError("both contexts must score the same tokens")
    return [max(there, FLOOR) - max(here, FLOOR) for here, there in zip(own, other, strict=True)]


def best_segment(curve: Scores) -> Segment:
    """The segment of the greatest sum, the shortest and first of equal ones; empty where all sums are 0 or less."""
    best = Segment(0, 0, 0.0)
    start, total = 0, 0.0
    for place, value in enumerate(curve):
        if total <= 0:
            start, total = place, 0.0
        total += value
        if total > best.total:
            best = Segment(start, place + 1, total)
    return best


def needed(tokens: int, alpha: float = ALPHA) -> float:
    """The sum that some segment of `tokens` tokens reaches with a chance of at most `alpha` under the own prompt."""
    return math.log(max(tokens * (tokens + 1) // 2, 1) / alpha)


def judge(own: Scores, named: Mapping[str, Scores], wrong: Sequence[Scores]) -> Likelihood:
    """The test. `named`: scores under each possible source's prompt, at least one; `wrong`: under wrong sources'.

    `supports`: the sum is enough, ahead of the runner-up by MARGIN, and p <= ALPHA. `another_fits_better`: a wrong
    source is ahead by as much. `none`: neither, as of text that anybody's model would write. `not_assessed`: the same
    questions, but fewer than LEAST_WRONG wrong sources were there to answer them.
    """
    curves = {key: differences(own, scores) for key, scores in sorted(named.items())}
    segments = {key: best_segment(curve) for key, curve in curves.items()}
    source = min(segments, key=lambda key: (-segments[key].total, key))
    part = segments[source]
    others = sorted((best_segment(differences(own, scores)).total for scores in wrong), reverse=True)
    runner_up = others[0] if others else None
    margin = None if runner_up is None else part.total - runner_up
    better = sum(total >= part.total for total in others)
    p_value = (1 + better) / (1 + len(others)) if len(others) >= LEAST_WRONG else None
    least = needed(len(own))
    finding: Finding = "none"
    if p_value is None:
        finding = "not_assessed"
    elif part.total >= least and margin is not None and margin >= MARGIN and p_value <= ALPHA:
        finding = "supports"
    elif runner_up is not None and margin is not None and runner_up >= least and margin <= -MARGIN:
        finding = "another_fits_better"
    return Likelihood(
        tokens=len(own),
        source=source,
        part=part,
        curve=tuple(curves[source]),
        runner_up=runner_up,
        margin=margin,
        wrong=len(others),
        rank=1 + better,
        p_value=p_value,
        needed=least,
        own_per_token=sum(own) / len(own) if own else 0.0,
        finding=finding,
    )
