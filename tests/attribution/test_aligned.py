"""What a row of answers weighs at each place of a lane, against the rule as it is written down."""

from __future__ import annotations

import math

import numpy as np
import pytest

from forensics.attribution.aligned import ANSWERED, SILENT, Gains, Weighed, _scores


def plain(lane: list[int], offset: int, gains: dict[int, dict[int, float]], akin: set[int]) -> list[float]:
    scores = []
    for place, request in enumerate(lane):
        if not 0 <= place - offset < len(lane):
            scores.append(-math.inf)
        elif request in gains:
            gain = gains[request].get(lane[place - offset], ANSWERED)
            scores.append(min(gain, ANSWERED) if request in akin else gain)
        else:
            scores.append(ANSWERED if request in akin else SILENT)
    return scores


@pytest.mark.parametrize("offset", [-3, -1, 1, 2])
def test_places_of_a_lane_weigh_what_their_pairs_do(offset: int) -> None:
    random = np.random.default_rng(offset + 10)
    for _ in range(60):
        count = int(random.integers(4, 25))
        lane = random.permutation(count)[: random.integers(4, count + 1)]
        gains = {
            int(request): {int(near): float(random.normal(0, 12)) for near in random.permutation(count)[:5]}
            for request in random.permutation(count)[: random.integers(0, count + 1)]
        }
        akin = random.random(count) < 0.3
        weighed = {
            request: Weighed(request, 0, np.array(list(near), dtype=np.int64), np.array(list(near.values())))
            for request, near in gains.items()
        }
        found = _scores(lane, offset, Gains(weighed, count), akin)
        assert found.tolist() == plain(lane.tolist(), offset, gains, set(np.flatnonzero(akin).tolist()))


def test_a_lane_shorter_than_the_offset_has_no_places() -> None:
    weighed = {0: Weighed(0, 0, np.array([1]), np.array([5.0]))}
    assert _scores(np.array([0, 1]), 4, Gains(weighed, 2), np.zeros(2, dtype=np.bool_)).tolist() == [-math.inf] * 2
