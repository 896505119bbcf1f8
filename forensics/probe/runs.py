"""Run-length coding of lists of cache indices. Knows nothing of engines."""

from __future__ import annotations


def runs(values: list[int]) -> list[list[int]]:
    """The values in their order as pairs `[start, end]`, both ends inclusive: 7, 8, 9, 3 gives [[7, 9], [3, 3]]."""
    if values and values[-1] - values[0] == len(values) - 1 and values == list(range(values[0], values[-1] + 1)):
        return [[values[0], values[-1]]]  # the usual case of a long prompt, a hundred times faster
    made: list[list[int]] = []
    last: list[int] | None = None
    for value in values:
        if last is not None and value == last[1] + 1:
            last[1] = value
        else:
            last = [value, value]
            made.append(last)
    return made
