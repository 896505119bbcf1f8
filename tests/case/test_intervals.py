"""Limits of shares against the beta quantiles of scipy.stats, and against plain binomial sums."""

from __future__ import annotations

from math import comb

import pytest
from scipy.stats import beta

from forensics.case.intervals import exact_limits


@pytest.mark.parametrize(("hits", "total"), [(1, 2), (3, 10), (7, 11185), (499_999, 1_000_000)])
def test_limits_are_quantiles_of_beta_distributions(hits: int, total: int) -> None:
    [limits] = exact_limits([(hits, total)])
    known = (beta.ppf(0.025, hits, total - hits + 1), beta.ppf(0.975, hits + 1, total - hits))
    assert limits == pytest.approx(known, rel=1e-12)


def test_at_the_limits_the_count_is_as_unlikely_as_said() -> None:
    [(low, high)] = [limits for limits in exact_limits([(3, 10)], 0.9) if limits is not None]
    at_least = sum(comb(10, k) * low**k * (1 - low) ** (10 - k) for k in range(3, 11))
    at_most = sum(comb(10, k) * high**k * (1 - high) ** (10 - k) for k in range(4))
    assert (at_least, at_most) == (pytest.approx(0.05), pytest.approx(0.05))


def test_none_all_and_nothing() -> None:
    assert exact_limits([(0, 0), (0, 4), (4, 4)], 0.9375) == [
        None, (0.0, pytest.approx(0.5)), (pytest.approx(0.5), 1.0)
    ]  # fmt: skip
