"""How is a text cut into symbols for the character model?

Symbols are folded units plus one boundary symbol wherever something was dropped between two units.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from forensics.text.fold import Folded

BOUNDARY = np.uint32(1)


def boundaries(folded: Folded, start: int = 0, end: int | None = None) -> npt.NDArray[np.bool_]:
    """True at each unit of [start, end) that does not directly follow the unit before it in the raw text.

    Reads these units alone, so that a thousand short passages of a long text cost no thousand readings of it.
    """
    if folded.gaps is not None:
        return folded.gaps[start:end]
    positions = folded.positions[max(start - 1, 0) : end]
    gap = np.ones(folded.units[start:end].size, dtype=np.bool_)
    if gap.size:
        gap[0 if start else 1 :] = np.diff(positions) > 1
    return gap
