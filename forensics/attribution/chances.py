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


def counted(held: Any, unit: Any, having: Bits, texts: float, words: Bits, typical: float, rates: Bits) -> Bits:
    """Like `weights`, with the chance of a term counted: `having` of `texts` prompts in the language hold it.

    Where more of the prompts nearby hold it than of all (tenants that speak of one matter at a time), theirs counts.
    The prompts nearby of the tenant that is weighed, and of the response's own, are left out of both.
    """
    result: Bits = _counted(held, unit, having, texts, words, typical, rates)
    return result


@numba.njit(cache=True, nogil=True)
def _counted(held: Any, unit: Any, having: Any, texts: Any, words: Any, typical: Any, rates: Any) -> Any:
    prompts, terms = held.shape
    mine = unit[prompts - 1]
    every = np.zeros(terms, dtype=np.int64)
    own = np.zeros(terms, dtype=np.int64)
    others = 0
    for p in range(prompts):
        others += unit[p] != mine
        for t in range(terms):
            if unit[p] != mine:
                every[t] += held[p, t]
            else:
                own[t] += held[p, t]
    result = np.zeros(prompts)
    for p in range(prompts):
        count = others
        for q in range(prompts):
            count -= unit[q] == unit[p] and unit[q] != mine
        scale = max(1.0, words[p] / typical)
        best = -math.inf
        for rate in rates:
            bits = 0.0
            for t in range(terms):
                near = every[t]
                if near:
                    for q in range(prompts):
                        near -= held[q, t] and unit[q] == unit[p] and unit[q] != mine
                left = max(0.0, having[t] - own[t] - (every[t] - near)) + 0.5
                at = max(left / (texts + 1.0), near / (count + 1.0)) * scale
                at = min(max(at, CHANCE_FLOOR), CHANCE_CAP)
                both = max(rate, at)
                if held[p, t]:
                    bits += math.log2(both / at)
                else:
                    bits += math.log2((1.0 - both) / (1.0 - at))
            best = max(best, bits)
        result[p] = best - RATE_BITS
    return result
