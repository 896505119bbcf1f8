"""The compiled arithmetic against plain numpy, and its bound."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.attribution import chances

CASES = st.integers(0, 2**32 - 1)


def case(seed):
    random = np.random.default_rng(seed)
    prompts, terms = random.integers(1, 12), random.integers(0, 20)
    held = random.random((prompts, terms)) < random.random()
    unit = random.integers(0, 4, prompts)
    marked = random.random(prompts) < 0.7
    prior = random.random(terms) ** 3 / 2
    words = random.integers(1, 5000, prompts).astype(float)
    return held, unit, marked, prior, words, float(words.mean())


def plain(held, unit, marked, prior, words, typical):
    mine = unit == unit[-1]
    found = []
    for place in range(unit.size):
        others = (unit != unit[place]) & ~mine & marked
        chance = (held[others].sum(axis=0) + 4 * prior) / (others.sum() + 4)
        chance = np.clip(chance * max(1, words[place] / typical), 2**-10, 0.5)
        best = []
        for rate in (0.1, 0.25, 0.5):
            both = np.maximum(rate, chance)
            best.append(np.where(held[place], np.log2(both / chance), np.log2((1 - both) / (1 - chance))).sum())
        found.append(max(best) - 2)
    return np.array(found)


@settings(deadline=None)  # the first call compiles
@given(CASES)
def test_weights_are_those_of_the_formula(seed):
    np.testing.assert_allclose(chances.weights(*case(seed)), plain(*case(seed)), atol=1e-9)


@settings(deadline=None)
@given(CASES, CASES)
def test_no_larger_prior_and_no_choice_of_terms_exceeds_the_bound(seed, other):
    held, unit, marked, prior, words, typical = case(seed)
    bound = chances.most(held, unit, marked, prior, words, typical)
    random = np.random.default_rng(other)
    chosen = random.random(prior.size) < random.random()
    larger = (prior + random.random(prior.size) / 4)[chosen]
    weights = chances.weights(np.ascontiguousarray(held[:, chosen]), unit, marked, larger, words, typical)
    assert (weights <= bound + 1e-9).all()
