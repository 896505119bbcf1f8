"""How far does a copy reach beyond a place where two texts agree, edits allowed?

Gapped x-drop extension (Altschul et al. 1997; Zhang et al. 2000): a banded dynamic programme with affine gaps from a
fixed start, given up once the score has fallen DROP below its best. Ends where the score was best, so that text that
merely resembles the copy is left out. Says where a copy ends, not how the two texts differ (`align`).
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from forensics.text.fold import Units

MATCH = 2  # scores in halves of a unit, so that they are whole numbers
MISMATCH = -4
OPEN = -6  # for the first unit of a gap,
EXTEND = -1  # and each further one: a dropped word costs about as much as four or five changed letters
DROP = 32
BAND = 40  # units by which the two texts may drift apart
_LOW = -(1 << 30)


def extend(first: Units, second: Units, first_at: int, second_at: int) -> tuple[int, int, int]:
    """Units of either text from `first_at` and `second_at` on that the copy still covers, and its score."""
    found = _extend(first[first_at:], second[second_at:])
    return int(found[0]), int(found[1]), int(found[2])


def extend_back(first: Units, second: Units, first_at: int, second_at: int) -> tuple[int, int, int]:
    """The same before `first_at` and `second_at`, going back."""
    found = _extend(first[:first_at][::-1], second[:second_at][::-1])
    return int(found[0]), int(found[1]), int(found[2])


@numba.njit(cache=True, nogil=True)
def _extend(first: Any, second: Any) -> Any:
    width = 2 * BAND + 1
    # best score ending here; with a gap in the first text; with a gap in the second
    score = np.full(width + 2, _LOW, dtype=np.int64)
    down = np.full(width + 2, _LOW, dtype=np.int64)
    best, best_i, best_j = 0, 0, 0
    for k in range(BAND, width):  # row 0: gaps in the first text only
        j = k - BAND
        if j == 0:
            score[k] = 0
        elif j <= second.size and OPEN + EXTEND * (j - 1) >= -DROP:
            score[k] = OPEN + EXTEND * (j - 1)
    for i in range(1, first.size + 1):
        alive = False
        across = _LOW
        left = _LOW
        # Place k of the row before is one column further left: its diagonal is k, what stands above it k + 1.
        for k in range(width):
            j = i + k - BAND
            if j < 0 or j > second.size:
                score[k] = _LOW
                down[k] = _LOW
                left = _LOW
                across = _LOW
                continue
            diagonal = score[k]
            above = score[k + 1] if k + 1 < width else _LOW
            gap = down[k + 1] if k + 1 < width else _LOW
            down[k] = max(above + OPEN, gap + EXTEND)
            across = max(left + OPEN, across + EXTEND)
            value = max(down[k], across)
            if j > 0 and diagonal > _LOW:
                value = max(value, diagonal + (MATCH if first[i - 1] == second[j - 1] else MISMATCH))
            if value < best - DROP:
                value = _LOW
            else:
                alive = True
                if value > best:
                    best, best_i, best_j = value, i, j
            score[k] = value
            left = value
        if not alive:
            break
    return best_i, best_j, best
