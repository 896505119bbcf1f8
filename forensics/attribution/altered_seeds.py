"""Which seeds of a response field, put in a row with those of one other text, may be a copy with edits?

All seeds that the field shares with the other text are chained (`text.chains`), those of runs too short to be looked
at included. Here stand the chains and the choice of those that are worth an alignment; `altered` aligns them.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from forensics.attribution.hits import (
    AGAIN_DECOY,
    AGAIN_GENERATED,
    AGAIN_SUPPLIED,
    DECOY,
    GENERATED,
    PHRASE,
    SHARED,
    SUPPLIED,
    WEAK_DECOY,
    WEAK_GENERATED,
    WEAK_SUPPLIED,
    Hits,
)
from forensics.attribution.holdings import Ints, World
from forensics.text.chains import Scores, chain
from forensics.text.fingerprint import GRAM

FOREIGN = (SUPPLIED, GENERATED, WEAK_SUPPLIED, WEAK_GENERATED, AGAIN_SUPPLIED, AGAIN_GENERATED)
DECOYS = (DECOY, WEAK_DECOY, AGAIN_DECOY)
MIN_SCORE = 18.0  # of a chain that is looked at: more than one place, not all of them common
MIN_SCORE_GENERATED = 28.0  # the same for a chain with a response, where phrases of the model are no news
MEMBER_SCORE = 8.0  # of a chain that says who else has the passage
MAX_CHAINS = 48  # of one response field that are aligned, the best first
SPAN_GAP = 40  # units between seeds of one span of shared text


@dataclass(frozen=True)
class ChainedSeeds:
    """Seeds of one response field with one other text, in chains: parallel arrays over all chains."""

    use: Ints
    other: Ints
    holder: Ints
    family: Ints  # 0 target, 1 decoy
    side: Ints
    first_at: Ints
    second_at: Ints
    may_found: npt.NDArray[np.bool_]  # by chain: long enough, or with such a seed, to be a copy with edits
    chains: tuple[Scores, Ints, Ints]  # score, members, offsets

    def members(self, number: int) -> Ints:
        """Rows of chain `number`."""
        _, members, offsets = self.chains
        return members[offsets[number] : offsets[number + 1]]


def chained(world: World, grams: Hits) -> ChainedSeeds:
    """Chains of all seeds that stand for another text."""
    rows = np.flatnonzero(np.isin(grams.kind, (*FOREIGN, *DECOYS)) & (grams.other >= 0))
    kind = grams.kind[rows].astype(np.int64)
    family = np.isin(kind, DECOYS).astype(np.int64)
    side = np.isin(kind, (GENERATED, WEAK_GENERATED, AGAIN_GENERATED)).astype(np.int64)
    alone = ~np.isin(kind, (WEAK_SUPPLIED, WEAK_GENERATED, WEAK_DECOY))
    columns = [
        column[rows].astype(np.int64)
        for column in (grams.use, grams.other, grams.holder, grams.start, grams.other_start)
    ]
    use, other, holder, first_at, second_at = columns
    order = np.lexsort((second_at, first_at, side, family, holder, other, use))
    use, other, holder, first_at, second_at = (column[order] for column in columns)
    family, side, alone = family[order], side[order], alone[order]
    new = np.zeros(rows.size, dtype=np.bool_)
    for column in (use, other, holder, family, side):
        new[1:] |= column[1:] != column[:-1]
    holders = grams.holders[rows][order]
    tenants = max(3, len(world.requests.unit_names))
    worth = np.clip(1.0 - np.log(np.maximum(holders - 1, 1)) / math.log(tenants), 0.1, 1.0)
    found = chain(np.cumsum(new), first_at, second_at, worth)
    several = np.diff(found.offsets) >= 2
    may_found = several & (found.score >= MIN_SCORE)
    if rows.size:
        heads = found.offsets[:-1]
        may_found |= np.add.reduceat(alone[found.members], heads) > 0
        may_found &= (side[found.members[heads]] == 0) | (several & (found.score >= MIN_SCORE_GENERATED))
    chains = (found.score, found.members, found.offsets)
    return ChainedSeeds(use, other, holder, family, side, first_at, second_at, may_found, chains)


def chosen(seeds: ChainedSeeds) -> dict[int, list[int]]:
    """Chains to align, by use: all that are worth it of a field that has one long enough to be a copy with edits."""
    score, members, offsets = seeds.chains
    if score.size == 0:
        return {}
    heads = members[offsets[:-1]]
    use = seeds.use[heads]
    kept = np.flatnonzero(np.isin(use, use[seeds.may_found]) & (score >= MEMBER_SCORE))
    kept = kept[np.lexsort((kept, -score[kept], use[kept]))]
    by_use: dict[int, list[int]] = defaultdict(list)
    for number in kept.tolist():
        found = by_use[int(use[number])]
        if len(found) < MAX_CHAINS:
            found.append(number)
    return by_use


def shared_spans(grams: Hits, uses: dict[int, list[int]]) -> dict[int, list[tuple[int, int]]]:
    """Spans of units, by use, that hold seeds which several unrelated tenants supplied, or that models always say."""
    rows = np.flatnonzero(np.isin(grams.kind, (SHARED, PHRASE)) & np.isin(grams.use, sorted(uses)))
    rows = rows[np.lexsort((grams.start[rows], grams.use[rows]))]
    spans: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for use, at in zip(grams.use[rows].tolist(), grams.start[rows].tolist(), strict=True):
        low, found = max(0, at - GRAM + 1), spans[use]
        if found and low - found[-1][1] <= SPAN_GAP:
            found[-1] = (found[-1][0], at + 1)
        else:
            found.append((low, at + 1))
    return spans
