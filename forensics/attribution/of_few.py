"""Hits on tokens that few tenants hold, as rows: supplied before the response finished, or only later (decoys).

What names, labels and called tools are told by. Does not say what a token is worth.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from forensics.attribution.hits import DECOY, SUPPLIED, Hits
from forensics.attribution.holdings import World


def of_few(hits: Hits, world: World, most: int) -> pl.DataFrame:
    """One row per hit on a token that at most `most` units hold at all.

    Columns: `use, content, start, end` (units of the response), `other, other_start` (a text of the unit `holder`, and
    where), `holders` (units that hold it), `target` (supplied before; else only later).
    """
    rows = np.flatnonzero(((hits.kind == SUPPLIED) | (hits.kind == DECOY)) & (hits.holders <= most))
    return pl.DataFrame(
        {
            "use": hits.use[rows],
            "content": world.uses.content[hits.use[rows]].astype(np.int32),
            "start": hits.start[rows],
            "end": hits.end[rows],
            "other": hits.other[rows],
            "other_start": hits.other_start[rows],
            "holder": hits.holder[rows],
            "holders": hits.holders[rows],
            "target": hits.kind[rows] == SUPPLIED,
        }
    )
