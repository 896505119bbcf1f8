"""Which prompts are read for a budget: many requests added up at once, against one after the other."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from forensics.attribution import nearby
from forensics.attribution.generated import NEAR_US, NEAR_US_UNPLACED
from forensics.attribution.holdings import EARLY, LATE, Names
from forensics.attribution.nearby import Neighbours, Prompts, nearest_first


def plain(sizes: list[int], asked: list[list[int]], texts: list[list[int]], often: set[int], budget: int) -> Any:
    """Requests by their least distance to any response, then by number; each text is paid for once."""
    near = {r: min(row.index(r) for row in asked if r in row) for row in asked for r in row if r >= 0}
    read: set[int] = set()
    spent = 0
    order = sorted(near, key=lambda r: (near[r], r))
    for place, request in enumerate(order):
        new = set(texts[request]) - read - often
        spent += sum(sizes[text] for text in new)
        if spent > budget:
            return read, len(order) - place
        read |= new
    return read, 0


@pytest.mark.parametrize("together", [1, 3, 1 << 14])
def test_many_at_once_are_one_after_the_other(together: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nearby, "TOGETHER", together)
    random = np.random.default_rng(together)
    left_over = 0
    for _ in range(150):
        requests, contents = int(random.integers(1, 30)), int(random.integers(1, 40))
        texts = [random.integers(0, contents, random.integers(0, 6)).tolist() for _ in range(requests)]
        sizes = random.integers(0, 50, contents)
        often = random.random(contents) < 0.1
        asked = [
            [-1 if random.random() < 0.2 else int(r) for r in random.permutation(requests)[: random.integers(0, 9)]]
            for _ in range(int(random.integers(0, 10)))
        ]
        budget = int(random.integers(0, 900))
        world = SimpleNamespace(requests=SimpleNamespace(request_id=range(requests)), text_bytes=sizes)
        offsets = np.cumsum([0, *map(len, texts)])
        prompts = Prompts(np.array([t for row in texts for t in row], dtype=np.int64), offsets, often)
        near = [(request, place) for row in asked for place, request in enumerate(row) if request >= 0]
        wanted, places = np.array(near, dtype=np.int64).reshape(-1, 2).T
        parts = [(wanted[at::3], places[at::3]) for at in range(3)]
        found, left = nearest_first(world, parts, prompts, budget)  # type: ignore[arg-type]
        expected = plain(sizes.tolist(), asked, texts, set(np.flatnonzero(often).tolist()), budget)
        assert (set(np.flatnonzero(found).tolist()), left) == expected
        left_over += left > 0
    assert 20 < left_over < 140


def test_neighbours_of_many_are_those_of_each() -> None:
    """Against the definition: same worker, received before the end and not too long before, the latest first."""
    random = np.random.default_rng(4)
    size = 1500
    received = np.where(random.random(size) < 0.05, EARLY, random.integers(0, 3 * NEAR_US, size))
    unit, stay = random.integers(-1, 5, size), random.integers(0, NEAR_US, size)
    finished = np.where(received == EARLY, LATE, received + stay)
    workers = [("w0", "w1", None)[at] for at in random.integers(0, 3, size)]
    requests = SimpleNamespace(received=received, finished=finished, unit=unit, worker=Names.of(pa.array(workers)))
    neighbours = Neighbours(SimpleNamespace(requests=requests))  # type: ignore[arg-type]
    asked = np.flatnonzero((received > EARLY) & (unit >= 0))
    near, offsets = neighbours.of_many(asked)
    for place, request in enumerate(asked.tolist()):
        reach = NEAR_US_UNPLACED if workers[request] is None else NEAR_US
        end = int(finished[request])
        able = [
            int(other) for other in asked if workers[other] == workers[request] and end - reach <= received[other] < end
        ]
        expected = sorted(able, key=lambda other: (-received[other], -other))[: nearby.NEIGHBOURS + 1]
        found = near[offsets[place] : offsets[place + 1]].tolist()
        assert found == [other for other in expected if other != request] == neighbours.of(request).tolist()
    assert np.diff(offsets).max() >= nearby.NEIGHBOURS
