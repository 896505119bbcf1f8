"""Chains of places where two texts agree: the kernel against a plain twin, and what a chain may bridge."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.text import chains

Place = tuple[int, int, int, float]


def plain(places: list[Place]) -> list[tuple[int, float, list[int]]]:
    """The same programme over lists."""
    score, back = [], []
    for i, (group, a, b, worth) in enumerate(places):
        best, before = 16 * worth, -1
        for j in range(i - 1, max(-1, i - 26), -1):
            other = places[j]
            ahead, along = a - other[1], b - other[2]
            if other[0] != group or ahead > 120:
                break
            if ahead <= 0 or along <= 0 or abs(ahead - along) > max(16, 0.5 * max(ahead, along)):
                continue
            gain = min(16, ahead, along) * worth - 0.15 * abs(ahead - along) - 0.05 * max(0, ahead - 16)
            if score[j] + gain > best:
                best, before = score[j] + gain, j
        score.append(best)
        back.append(before)
    found, used = [], set()
    for group in sorted({place[0] for place in places}):
        members = [i for i, place in enumerate(places) if place[0] == group]
        for i in sorted(members, key=lambda i: -score[i]):
            if i in used:
                continue
            row, at = [], i
            while at >= 0 and at not in used:
                used.add(at)
                row.append(at)
                at = back[at]
            found.append((group, score[i] - (score[at] if at >= 0 else 0.0), row[::-1]))
    return found


def run(places: list[Place]) -> list[tuple[int, float, list[int]]]:
    columns = list(zip(*places, strict=True)) if places else [(), (), (), ()]
    group, a, b = (np.array(column, dtype=np.int64) for column in columns[:3])
    made = chains.chain(group, a, b, np.array(columns[3], dtype=np.float64))
    return [
        (int(made.group[i]), float(made.score[i]), made.members[made.offsets[i] : made.offsets[i + 1]].tolist())
        for i in range(made.group.size)
    ]


place = st.tuples(st.integers(0, 2), st.integers(0, 300), st.integers(0, 300), st.sampled_from([0.25, 0.5, 1.0]))


@settings(max_examples=150, deadline=None)
@given(st.lists(place, max_size=60, unique_by=lambda p: p[:3]))
def test_the_kernel_is_its_twin(places: list[Place]) -> None:
    places.sort()
    got, wanted = run(places), plain(places)
    assert [row[2] for row in got] == [row[2] for row in wanted]
    np.testing.assert_allclose([row[1] for row in got], [row[1] for row in wanted])


def members(*places: tuple[int, int]) -> Any:
    return sorted(row[2] for row in run([(0, a, b, 1.0) for a, b in places]))


def test_what_one_chain_bridges() -> None:
    assert members((10, 110), (40, 140)) == [[0, 1]]
    assert members((10, 110), (40, 155)) == [[0, 1]]  # a dropped word
    assert members((10, 110), (40, 200)) == [[0], [1]]  # too far in one text
    assert members((10, 110), (140, 240)) == [[0], [1]]  # text that is no copy stands between
    assert members((10, 140), (40, 110)) == [[0], [1]]  # the wrong order


def test_common_places_make_a_weaker_chain() -> None:
    rare = run([(0, 10, 10, 1.0), (0, 30, 30, 1.0)])[0][1]
    common = run([(0, 10, 10, 0.2), (0, 30, 30, 0.2)])[0][1]
    assert common < rare / 3
