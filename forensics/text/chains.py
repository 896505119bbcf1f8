"""Which places where two texts agree lie in a row, so that together they may be one copy with edits?

Collinear chaining in the manner of minimap2 (Li 2018): a dynamic programme over the latest LOOK_BACK places of one pair
of texts. A step gains the new units it covers, weighted by the place's rarity, and pays for drift between the two texts
and for what it leaps over. Says nothing about what stands between the places (`align`) nor what a chain is worth.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from forensics.text.fold import Ints

LOOK_BACK = 25  # places before one that are tried as its predecessor
GAIN = 16  # units that one place stands for
DRIFT_COST = 0.15  # score for each unit by which one text moves further than the other,
LEAP_COST = 0.05  # and for each unit leapt over
MAX_LEAP = 120  # units of the first text between two places of one chain. Wider gaps hold other text, and a span that
# bridges them would claim text that is not a copy; the parts are chains of their own
MAX_DRIFT = 16  # difference of the two distances that is always allowed,
DRIFT_SHARE = 0.5  # or this share of the longer one: one word in ten dropped, or a header put before every cell

Scores = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Chains:
    """`members[offsets[i]:offsets[i + 1]]` are the places of chain i, ascending; best score first inside a group."""

    group: Ints
    score: Scores
    members: Ints
    offsets: Ints


def chain(group: Ints, first_at: Ints, second_at: Ints, worth: Scores) -> Chains:
    """Chains of places. Sorted by group, then `first_at`, then `second_at`; every place is in one chain at most.

    `worth` is the rarity of a place (about 0 to 1); a place in no chain with another is a chain of its own.
    """
    return Chains(*_chain(group, first_at, second_at, worth))


@numba.njit(cache=True, nogil=True)
def _chain(group: Any, first_at: Any, second_at: Any, worth: Any) -> Any:
    n = group.size
    score = np.empty(n, dtype=np.float64)
    back = np.full(n, -1, dtype=np.int64)
    for i in range(n):
        score[i] = GAIN * worth[i]
        for j in range(i - 1, max(-1, i - LOOK_BACK - 1), -1):
            if group[j] != group[i]:
                break
            ahead = first_at[i] - first_at[j]
            if ahead > MAX_LEAP:
                break
            other = second_at[i] - second_at[j]
            if ahead <= 0 or other <= 0:
                continue
            drift = abs(ahead - other)
            if drift > max(MAX_DRIFT, DRIFT_SHARE * max(ahead, other)):
                continue
            gain = min(GAIN, ahead, other) * worth[i] - DRIFT_COST * drift - LEAP_COST * max(0, ahead - GAIN)
            if score[j] + gain > score[i]:
                score[i] = score[j] + gain
                back[i] = j
    used = np.zeros(n, dtype=np.bool_)
    groups = np.empty(n, dtype=np.int64)
    scores = np.empty(n, dtype=np.float64)
    members = np.empty(n, dtype=np.int64)
    offsets = np.zeros(n + 1, dtype=np.int64)
    count = 0
    filled = 0
    low = 0
    while low < n:
        high = low + 1
        while high < n and group[high] == group[low]:
            high += 1
        order = np.argsort(-score[low:high], kind="mergesort")
        for place in order:
            i = low + place
            if used[i]:
                continue
            begin = filled
            start = i
            at = i
            while at >= 0 and not used[at]:
                used[at] = True
                members[filled] = at
                filled += 1
                start = at
                at = back[at]
            # What a better chain took before this one's first place is not its own.
            rest = score[back[start]] if back[start] >= 0 else 0.0
            for k in range((filled - begin) // 2):
                members[begin + k], members[filled - 1 - k] = members[filled - 1 - k], members[begin + k]
            groups[count] = group[low]
            scores[count] = score[i] - rest
            count += 1
            offsets[count] = filled
        low = high
    return groups[:count].copy(), scores[:count].copy(), members[:filled].copy(), offsets[: count + 1].copy()
