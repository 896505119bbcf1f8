"""All at once is as one by one: weights of the prompts around many responses, and what they share with them."""

from __future__ import annotations

import numpy as np
import pytest

from forensics.attribution import chances, fits
from forensics.attribution.fits import Many, all_gains, most_shared
from forensics.attribution.likely import Suspect
from forensics.attribution.nearby import Held, Prompts

RATES = np.array((0.03, 0.25, 0.5))


@pytest.mark.parametrize(("together", "threads"), [(1, 2), (3, 1), (4096, 2)])
def test_all_at_once_is_one_by_one(together: int, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fits, "TOGETHER", together)
    random = np.random.default_rng(together)
    requests, contents, keys = 40, 60, np.sort(random.choice(10**6, 50, replace=False)).astype(np.uint64)
    members = [random.integers(0, contents, random.integers(0, 5)) for _ in range(requests)]
    prompts = Prompts(
        np.concatenate(members), np.cumsum([0, *(m.size for m in members)]), np.zeros(contents, dtype=np.bool_)
    )
    held_by = [np.sort(random.choice(50, random.integers(0, 20), replace=False)) for _ in range(contents)]
    edges = np.cumsum([0, *(h.size for h in held_by)])
    held = Held(
        keys, np.concatenate(held_by).astype(np.int32), edges[:-1], edges[1:], np.full(keys.size, -1, dtype=np.int32)
    )
    suspects = []
    for use in range(17):
        near = random.permutation(requests)[: random.integers(0, 9)]
        request = int(random.integers(requests))
        terms = np.sort(random.choice(keys, random.integers(0, 12), replace=False))
        suspects.append(Suspect(use, request, near, terms, np.zeros(terms.size), terms[:2], 1.0))
    many = Many.over(suspects, keys)
    unit, words = random.integers(0, 6, requests), random.uniform(1, 900, requests)
    having, prior = random.integers(0, 30, many.terms.size) * 1.0, random.uniform(0.01, 0.2, many.terms.size)
    speak, language = random.uniform(40, 90, len(suspects)), random.normal(size=many.requests.size)
    found = all_gains(
        many, held, prompts, unit[many.requests], words[many.requests], having, speak, prior, language, RATES, threads
    )
    asked, bits = random.random(many.requests.size) < 0.7, random.uniform(0, 9, many.terms.size)
    terms_shared, bits_shared = most_shared(many, asked, held, prompts, bits, threads)
    at = 0
    for i, suspect in enumerate(suspects):
        every = np.append(suspect.near, suspect.request)
        rows, columns = slice(many.of[i], many.of[i + 1]), slice(many.terms_of[i], many.terms_of[i + 1])
        assert many.requests[rows].tolist() == every.tolist()
        matrix = np.zeros((every.size, suspect.terms.size), dtype=np.bool_)
        for row, request in enumerate(every):
            own = {int(key) for content in members[request] for key in held_by[content]}
            matrix[row] = [int(np.flatnonzero(keys == term)[0]) in own for term in suspect.terms]
        typical = max(float(words[suspect.near].mean()) if suspect.near.size else 0.0, 1.0)
        expected = chances.gains(
            matrix, unit[every], having[columns], float(speak[i]), prior[columns], language[rows], words[every], typical,
            RATES,
        )  # fmt: skip
        assert found[at : at + suspect.near.size] == pytest.approx(expected)
        at += suspect.near.size
        counts = matrix.sum(axis=1)[asked[rows]]
        assert terms_shared[i] == max(counts, default=0)
        assert bits_shared[i] == pytest.approx(max((matrix @ bits[columns])[asked[rows]], default=0.0))
    assert at == found.size > 40 and (found > 0).any()
