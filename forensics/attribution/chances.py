"""The arithmetic of `likely`, compiled: bits of every prompt nearby from which terms it holds. Decides nothing."""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

HIT_RATES = (0.1, 0.25, 0.5)  # shares of an answer's terms that stand in its prompt
RATE_BITS = 2.0  # paid for taking the rate that suits best
CHANCE_CAP = 0.5
CHANCE_FLOOR = 2.0**-10  # no term counts more than ten bits: words of one subject come together
PRIOR = 4.0  # prompts that the case's answers and the character model stand for
_RATES = np.array(HIT_RATES)

Bits = npt.NDArray[np.float64]


def weights(held: Any, unit: Any, marked: Any, prior: Bits, words: Bits, typical: float) -> Bits:
    """Bits for "answers this prompt" against "does not", by prompt.

    `held[prompt, term]`; `unit` of each prompt, the last prompt being the response's own; `marked`: prompts in the
    response's language; `prior`: chance of each term before the prompts nearby are counted; `words` of each prompt.
    """
    result: Bits = _weights(held, unit, marked, prior, words, typical, _RATES, True)
    return result


def most(held: Any, unit: Any, marked: Any, prior: Bits, words: Bits, typical: float) -> Bits:
    """What `weights` cannot exceed, whatever prior of at least `prior` and whichever of the terms it is given."""
    result: Bits = _weights(held, unit, marked, prior, words, typical, _RATES[-1:], False)
    return result


@numba.njit(cache=True, nogil=True)
def _weights(
    held: Any, unit: Any, marked: Any, prior: Any, words: Any, typical: Any, rates: Any, count_misses: Any
) -> Any:
    prompts, terms = held.shape
    mine = unit[prompts - 1]
    every = np.zeros(terms, dtype=np.int64)  # prompts of other tenants in the language that hold the term
    others = 0
    for p in range(prompts):
        if marked[p] and unit[p] != mine:
            others += 1
            for t in range(terms):
                every[t] += held[p, t]
    result = np.zeros(prompts)
    chance = np.zeros(terms)
    done = np.zeros(prompts, dtype=np.bool_)
    for first in range(prompts):
        if done[first]:
            continue
        # A tenant's own prompts say nothing about chance: it speaks of one subject in all of them.
        count = others
        for t in range(terms):
            chance[t] = every[t]
        if unit[first] != mine:
            for p in range(first, prompts):
                if marked[p] and unit[p] == unit[first]:
                    count -= 1
                    for t in range(terms):
                        chance[t] -= held[p, t]
        for t in range(terms):
            chance[t] = (chance[t] + PRIOR * prior[t]) / (count + PRIOR)
        for p in range(first, prompts):
            if unit[p] != unit[first]:
                continue
            done[p] = True
            scale = max(1.0, words[p] / typical)
            best = -math.inf
            for rate in rates:
                bits = 0.0
                for t in range(terms):
                    at = min(max(chance[t] * scale, CHANCE_FLOOR), CHANCE_CAP)
                    both = max(rate, at)
                    if held[p, t]:
                        bits += math.log2(both / at)
                    elif count_misses:
                        bits += math.log2((1.0 - both) / (1.0 - at))
                best = max(best, bits)
            result[p] = best - RATE_BITS
    return result


@numba.njit(cache=True, nogil=True)
def _fit(held: Any, chance: Any, scale: Any, rates: Any) -> float:
    """Bits of one prompt at the rate that suits it best."""
    best = -math.inf
    for rate in rates:
        bits = 0.0
        for t in range(held.size):
            at = min(max(chance[t] * scale, CHANCE_FLOOR), CHANCE_CAP)
            both = max(rate, at)
            if held[t]:
                bits += math.log2(both / at)
            else:
                bits += math.log2((1.0 - both) / (1.0 - at))
        best = max(best, bits)
    return best - RATE_BITS


@numba.njit(cache=True, nogil=True)
def gains(
    held: Any, unit: Any, having: Any, texts: Any, prior: Any, language: Any, words: Any, typical: Any, rates: Any
) -> Any:
    """Bits by which each prompt explains the terms better than the own one (the last) or none, whichever does more.

    Like `weights`, with the chance of a term counted: `having` of `texts` prompts in the language hold it, and `prior`
    of PRIOR more; where more
    of the prompts nearby do (tenants that speak of one matter at a time), theirs counts. The prompts nearby of the
    tenant that is weighed and of the response's own are left out of both, for either prompt alike. `language`: bits
    that the script of each prompt adds.
    """
    prompts, terms = held.shape
    last = prompts - 1
    mine = unit[last]
    others = 0
    every = np.zeros(terms, dtype=np.int64)
    own = np.zeros(terms, dtype=np.int64)
    for p in range(prompts):
        others += unit[p] != mine
        for t in range(terms):
            if unit[p] != mine:
                every[t] += held[p, t]
            else:
                own[t] += held[p, t]
    result = np.full(last, -math.inf)
    chance = np.zeros(terms)
    done = np.zeros(prompts, dtype=np.bool_)
    for first in range(last):
        if done[first]:
            continue
        count = others
        theirs = np.zeros(terms, dtype=np.int64)
        if unit[first] != mine:
            for q in range(first, prompts):
                if unit[q] == unit[first]:
                    count -= 1
                    for t in range(terms):
                        theirs[t] += held[q, t]
        for t in range(terms):
            left = max(0.0, having[t] - own[t] - theirs[t]) + PRIOR * prior[t]
            chance[t] = max(left / (texts + PRIOR), (every[t] - theirs[t]) / (count + 1.0))
        own_fit = _fit(held[last], chance, max(1.0, words[last] / typical), rates) + language[last]
        base = max(0.0, own_fit)
        for q in range(first, last):
            if unit[q] == unit[first]:
                done[q] = True
                result[q] = _fit(held[q], chance, max(1.0, words[q] / typical), rates) + language[q] - base
    return result


@numba.njit(cache=True, nogil=True)
def segments(scores: Any, least: float, drop: float) -> Any:
    """Runs of scores with a sum of at least `least`: (start, end, sum), none overlapping, in order.

    A run starts and ends with a positive score; it is given up where the sum has fallen by `drop` from its best.
    """
    found = np.empty((scores.size + 1, 3), dtype=np.float64)
    n = 0
    place = 0
    while place < scores.size:
        if not scores[place] > 0:
            place += 1
            continue
        total = best = 0.0
        end = place
        at = place
        while at < scores.size:
            total += scores[at]
            if total > best:
                best, end = total, at + 1
            if total <= 0 or total <= best - drop:
                break
            at += 1
        if best >= least:
            found[n, 0], found[n, 1], found[n, 2] = place, end, best
            n += 1
        place = end
    return found[:n]
