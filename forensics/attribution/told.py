"""What seeds say about who had a text, where they name no other text: the recipient's own, and those given to others.

Kept in sorted arrays, since there are many of them and few are ever asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from forensics.attribution.hits import GIVEN, OWN, Hits


@dataclass(frozen=True)
class OwnSeeds:
    """The recipients' own seeds, by use: where they stand, and a text of the recipient's that holds each."""

    uses: npt.NDArray[np.int32]
    starts: npt.NDArray[np.int32]
    texts: npt.NDArray[np.int32]

    @classmethod
    def of(cls, hits: Hits) -> OwnSeeds:
        """Take them out of the hits."""
        rows = np.flatnonzero((hits.kind == OWN) & (hits.other >= 0))
        rows = rows[np.argsort(hits.use[rows], kind="stable")]
        return cls(hits.use[rows], hits.start[rows], hits.other[rows])

    def texts_of(self, use: int, low: int, high: int) -> list[int]:
        """Texts that hold a seed of this use between the units `low` and `high`, sorted."""
        first, last = np.searchsorted(self.uses, np.array([use, use + 1], dtype=self.uses.dtype))
        inside = (self.starts[first:last] >= low) & (self.starts[first:last] < high)
        return [int(key) for key in np.unique(self.texts[first:last][inside])]


@dataclass(frozen=True)
class GivenSeeds:
    """Seeds that another unit was given before it sent them, by use and unit."""

    keys: npt.NDArray[np.int64]  # use and unit in one number, ascending
    starts: npt.NDArray[np.int32]

    @classmethod
    def of(cls, hits: Hits) -> GivenSeeds:
        """Take them out of the hits."""
        rows = np.flatnonzero(hits.kind == GIVEN)
        keys = _use_and_unit(hits.use[rows].astype(np.int64), hits.holder[rows])
        order = np.argsort(keys, kind="stable")
        return cls(keys[order], hits.start[rows][order])

    def count(self, use: int, unit: int, low: int, high: int) -> int:
        """Seeds between the units `low` and `high` of the response that `unit` was given before it sent them."""
        first, last = np.searchsorted(self.keys, np.array([0, 1], dtype=np.int64) + _use_and_unit(use, unit))
        starts = self.starts[first:last]
        return int(np.unique(starts[(starts >= low) & (starts < high)]).size)


def _use_and_unit(use: Any, unit: Any) -> Any:
    return use * (1 << 31) + unit + 1


@dataclass(frozen=True)
class Told:
    """Both."""

    own: OwnSeeds
    given: GivenSeeds

    @classmethod
    def of(cls, hits: Hits) -> Told:
        """Take them out of the hits."""
        return cls(OwnSeeds.of(hits), GivenSeeds.of(hits))
