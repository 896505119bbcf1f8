"""How surprising is a text to somebody who has read ordinary prose, code and numbers, but not this case?

A small character model (order 5, Witten-Bell interpolation; Bell, Cleary, Witten 1990) over folded symbols. It scores
words that the case has never seen, so that one unseen account number counts in a case of twelve requests. Counts are
keyed by 32-bit hashes; a collision can only make a symbol look more likely, that is, the evidence weaker.

The shipped model (data/characters.npz) is made by build_characters from an openly licensed corpus; it holds hashed
counts, no text. It does not know the case; the case's own word statistics are in `background`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from forensics.text.symbols import BOUNDARY

ORDER = 5
_BASE = np.uint64(0x9E3779B97F4A7C15)

Keys = npt.NDArray[np.uint32]


@dataclass(frozen=True)
class CharacterModel:
    """Sorted 32-bit keys with counts: of a context, of its distinct successors, of a context with its successor."""

    context_keys: Keys
    context_counts: npt.NDArray[np.uint32]
    context_kinds: npt.NDArray[np.uint32]
    pair_keys: Keys
    pair_counts: npt.NDArray[np.uint32]

    def bits(self, symbols: npt.NDArray[np.uint32]) -> npt.NDArray[np.float64]:
        """Bits of each symbol given up to ORDER symbols before it; same length as `symbols`."""
        probability = best = _uniform(symbols)
        for order in range(ORDER + 1):
            contexts, pairs = keys(symbols, order)
            total, kinds = _lookup(self.context_keys, contexts, self.context_counts, self.context_kinds)
            (pair,) = _lookup(self.pair_keys, pairs, self.pair_counts)
            known = total > 0
            mixed = (np.minimum(pair, total) + kinds * probability) / np.maximum(total + kinds, 1)
            probability = np.where(known, mixed, probability)
            best = np.maximum(best, probability)
        # The best of all orders, not the highest one: a lower bound of the information, so that a rare context
        # (one odd number in the training text) cannot make a symbol look more surprising than it is.
        return np.minimum(-np.log2(np.clip(best, 1e-9, 1.0)), _most(symbols))


def _most(symbols: npt.NDArray[np.uint32]) -> npt.NDArray[np.float64]:
    """No more than a symbol of a random string can hold: a digit one of 10, a Latin letter one of 36."""
    most = np.full(symbols.size, np.inf)
    most[(symbols >= 97) & (symbols <= 122)] = np.log2(36)
    most[(symbols >= 48) & (symbols <= 57)] = np.log2(10)
    return most


def keys(symbols: npt.NDArray[np.uint32], order: int) -> tuple[Keys, Keys]:
    """Hash of the `order` symbols before each symbol, and of those with the symbol itself."""
    padded = np.concatenate([np.full(order, BOUNDARY, dtype=np.uint64), symbols.astype(np.uint64)])
    n = symbols.size
    with np.errstate(over="ignore"):
        context = np.full(n, np.uint64(order + 1) * np.uint64(0xD6E8FEB86659FD93), dtype=np.uint64)
        for back in range(order):
            context = context * _BASE + padded[back : back + n]
        pair = context * _BASE + symbols.astype(np.uint64) + np.uint64(1)
    return _short(context), _short(pair)


def _short(values: npt.NDArray[np.uint64]) -> Keys:
    with np.errstate(over="ignore"):
        mixed = values ^ (values >> np.uint64(33))
        mixed = mixed * np.uint64(0xFF51AFD7ED558CCD)
        mixed = mixed ^ (mixed >> np.uint64(33))
    return (mixed >> np.uint64(32)).astype(np.uint32)


def _lookup(sorted_keys: Keys, wanted: Keys, *counts: npt.NDArray[np.uint32]) -> list[npt.NDArray[np.float64]]:
    # In order, each search ends near the last one: half the time, sorting included.
    order = np.argsort(wanted)
    index = np.empty(wanted.size, dtype=np.intp)
    index[order] = np.searchsorted(sorted_keys, wanted[order])
    index = np.minimum(index, sorted_keys.size - 1)
    known = sorted_keys[index] == wanted
    return [np.where(known, column[index], 0).astype(np.float64) for column in counts]


def _uniform(symbols: npt.NDArray[np.uint32]) -> npt.NDArray[np.float64]:
    """Probability of a symbol before anything is known: one over the rough size of its script."""
    size = np.full(symbols.size, 1 << 7, dtype=np.float64)
    size[(symbols >= 0x3400) & (symbols <= 0x9FFF)] = 1 << 13
    size[(symbols >= 0xAC00) & (symbols <= 0xD7AF)] = 1 << 12
    size[symbols >= 0x20000] = 1 << 16
    return 1.0 / size


@cache
def character_model() -> CharacterModel:
    """The shipped model, read once per process."""
    with np.load(Path(__file__).parent / "data" / "characters.npz") as data:
        return CharacterModel(
            np.cumsum(data["context_steps"], dtype=np.uint32),
            data["context_counts"].astype(np.uint32),
            data["context_kinds"].astype(np.uint32),
            np.cumsum(data["pair_steps"], dtype=np.uint32),
            data["pair_counts"].astype(np.uint32),
        )
