"""How much of a text's order of words has nobody else written?

Every two neighbouring words of a text make a key. A table notes which groups (tenants) use a key; two keys can share a
cell, so that it can say too many, never too few. Where two streams are mixed, neighbours come from different texts, and
hardly a pair of them has been seen before. Nothing is kept of a text but bits.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from forensics.text.fingerprint import _BASE, _longest, mix
from forensics.text.fold import Ints, fold_table
from forensics.text.vocabulary import GROUPS, TermSets
from forensics.text.words import _PAIR, word_hashes

CELLS = 1 << 23  # 8 bytes each
SPAN = 80  # neighbouring words looked at together: the shortest mixed passage that is looked for
STEP = 50  # from the start of one stretch to the next


def neighbours(buffer: npt.NDArray[np.uint8], offsets: Ints) -> TermSets:
    """A key for every two neighbouring words of each document, in order. Releases the GIL."""
    table = fold_table()
    return TermSets(*_neighbours(buffer, offsets, table.table, table.expansions))


@numba.njit(cache=True, nogil=True)
def _neighbours(buffer: Any, offsets: Any, table: Any, expansions: Any) -> Any:
    keys = np.empty(2 * (offsets[-1] - offsets[0]) + 2, dtype=np.uint64)
    ends = np.zeros(offsets.size, dtype=np.int64)
    hashes = np.empty(2 * _longest(offsets) + 2, dtype=np.uint64)
    n = 0
    for document in range(offsets.size - 1):
        size = word_hashes(buffer, offsets[document], offsets[document + 1], table, expansions, hashes)
        for i in range(1, size):
            keys[n] = mix(hashes[i - 1] * _BASE + hashes[i] + _PAIR)
            n += 1
        ends[document + 1] = n
    return keys[:n].copy(), ends


class Orders:
    """Which groups have written two words in a row? The order in which texts are added does not matter."""

    def __init__(self) -> None:
        self._cells = np.zeros(CELLS, dtype=np.uint64)

    def add(self, sets: TermSets, groups: Ints) -> None:
        """Note the pairs of each document for its group."""
        _add(self._cells, sets.keys, sets.offsets, groups)

    def stretches(self, sets: TermSets, groups: Ints, share: float) -> tuple[Ints, npt.NDArray[np.float64], Ints]:
        """Stretches of SPAN pairs of which at least `share` (0..1) is known to no other group, STEP pairs apart:
        document, share and first pair of each, by document and place. A shorter document is one stretch."""
        return _stretches(self._cells, sets.keys, sets.offsets, groups, share)


@numba.njit(cache=True, nogil=True)
def _add(cells: Any, keys: Any, offsets: Any, groups: Any) -> None:
    mask = np.uint64(cells.size - 1)
    for document in range(offsets.size - 1):
        bit = np.uint64(1) << np.uint64(groups[document] % GROUPS)
        for i in range(offsets[document], offsets[document + 1]):
            cells[keys[i] & mask] |= bit


@numba.njit(cache=True, nogil=True)
def _stretches(cells: Any, keys: Any, offsets: Any, groups: Any, least: float) -> Any:
    mask = np.uint64(cells.size - 1)
    most = keys.size // STEP + 2 * offsets.size
    documents = np.empty(most, dtype=np.int64)
    shares = np.empty(most, dtype=np.float64)
    firsts = np.empty(most, dtype=np.int64)
    n = 0
    for document in range(offsets.size - 1):
        others = ~(np.uint64(1) << np.uint64(groups[document] % GROUPS))
        low, high = offsets[document], offsets[document + 1]
        span = min(SPAN, high - low)
        if span == 0:
            continue
        first = 0
        while True:
            first = min(first, high - low - span)  # the last one ends with the document
            count = 0
            for i in range(low + first, low + first + span):
                count += cells[keys[i] & mask] & others == 0
            if count >= least * span:
                documents[n] = document
                shares[n] = count / span
                firsts[n] = first
                n += 1
            if first == high - low - span:
                break
            first += STEP
    return documents[:n].copy(), shares[:n].copy(), firsts[:n].copy()
