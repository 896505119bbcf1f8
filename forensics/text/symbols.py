"""How is a text cut into symbols for the character model?

Symbols are folded units plus one boundary symbol wherever something was dropped between two units.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from forensics.text.fold import Folded

BOUNDARY = np.uint32(1)


def boundaries(folded: Folded) -> npt.NDArray[np.bool_]:
    """True at each unit that does not directly follow the unit before it in the raw text."""
    if folded.gaps is not None:
        return folded.gaps
    gap = np.ones(folded.units.size, dtype=np.bool_)
    gap[1:] = np.diff(folded.positions) > 1
    return gap
