"""Which lane does each interval take so that none overlap in one lane? For pictures; knows no case."""

from __future__ import annotations

import heapq
from collections.abc import Sequence


def lanes(intervals: Sequence[tuple[int, int]]) -> list[int]:
    """A lane for each interval `[start, end)`, sorted by start: the lowest that is free, so that no lane overlaps."""
    free: list[int] = []
    busy: list[tuple[int, int]] = []
    used = 0
    result = []
    for start, end in intervals:
        while busy and busy[0][0] <= start:
            heapq.heappush(free, heapq.heappop(busy)[1])
        if free:
            lane = heapq.heappop(free)
        else:
            lane, used = used, used + 1
        heapq.heappush(busy, (end, lane))
        result.append(lane)
    return result
