"""How surprising is a text to somebody who has read ordinary prose, code and numbers, but not this case?

A small character model (order 5, Witten-Bell interpolation; Bell, Cleary, Witten 1990) over folded symbols. It scores
words that the case has never seen, so that one unseen account number counts in a case of twelve requests. Counts are
keyed by 32-bit hashes; a collision can only make a symbol look more likely, that is, the evidence weaker.

The shipped model (data/characters.npz) is made by build_characters from an openly licensed corpus; it holds hashed
counts, no text. It does not know the case; the case's own word statistics are in `background`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from forensics.text.symbols import BOUNDARY

ORDER = 5
PLACE_BITS = 18
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
        best = _best(
            symbols, _uniform(symbols), self.context_keys, self.context_counts, self.context_kinds,
            self._context_places, self.pair_keys, self.pair_counts, self._pair_places,
        )  # fmt: skip
        # The best of all orders, not the highest one: a lower bound of the information, so that a rare context
        # (one odd number in the training text) cannot make a symbol look more surprising than it is.
        return np.minimum(-np.log2(np.clip(best, 1e-9, 1.0)), _most(symbols))

    def worth(
        self, symbols: npt.NDArray[np.uint32], starts: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.float64]:
        """Bits of each stretch `symbols[starts[i]:ends[i]]` (none is empty): the sum of its part of `bits`."""
        padded = np.concatenate([np.full(ORDER, BOUNDARY, dtype=np.uint32), symbols])
        sizes = ends - starts + ORDER  # with what stands before
        first = np.cumsum(sizes) - sizes
        at = np.repeat(starts - first, sizes) + np.arange(int(sizes.sum()))
        bits = self.bits(padded[at])
        total = np.concatenate([[0.0], np.cumsum(bits)])
        return np.asarray(total[first + sizes] - total[first + ORDER])

    @cached_property
    def _context_places(self) -> npt.NDArray[np.int32]:
        return _places(self.context_keys)

    @cached_property
    def _pair_places(self) -> npt.NDArray[np.int32]:
        return _places(self.pair_keys)


def _places(sorted_keys: Keys) -> npt.NDArray[np.int32]:
    """Where the keys with each beginning (PLACE_BITS bits) start: keys are hashes, so that there are few of each."""
    firsts = np.arange((1 << PLACE_BITS) + 1, dtype=np.uint64) << np.uint64(32 - PLACE_BITS)
    return np.searchsorted(sorted_keys.astype(np.uint64), firsts).astype(np.int32)


@numba.njit(cache=True, nogil=True)
def _find(wanted: Any, sorted_keys: Any, places: Any) -> int:
    """Where a key is, or -1."""
    first = wanted >> np.uint64(32 - PLACE_BITS)
    for place in range(places[first], places[first + np.uint64(1)]):
        if sorted_keys[place] >= wanted:
            return place if sorted_keys[place] == wanted else -1
    return -1


@numba.njit(cache=True, nogil=True)
def _short_of(value: Any) -> Any:
    """`_short` of one value."""
    mixed = value ^ (value >> np.uint64(33))
    mixed = mixed * np.uint64(0xFF51AFD7ED558CCD)
    mixed = mixed ^ (mixed >> np.uint64(33))
    return mixed >> np.uint64(32)


@numba.njit(cache=True, nogil=True)
def _best(
    symbols: Any, uniform: Any, contexts: Any, context_counts: Any, context_kinds: Any, context_places: Any,
    pairs: Any, pair_counts: Any, pair_places: Any,
) -> Any:  # fmt: skip
    """The largest probability that any order gives each symbol."""
    out = np.empty(symbols.size, dtype=np.float64)
    for i in range(symbols.size):
        symbol = np.uint64(symbols[i])
        probability = uniform[i]
        best = probability
        for order in range(ORDER + 1):
            context = np.uint64(order + 1) * np.uint64(0xD6E8FEB86659FD93)
            for back in range(order):
                at = i - order + back
                context = context * _BASE + (np.uint64(symbols[at]) if at >= 0 else np.uint64(BOUNDARY))
            place = _find(_short_of(context), contexts, context_places)
            if place >= 0 and context_counts[place] > 0:
                total = np.float64(context_counts[place])
                kinds = np.float64(context_kinds[place])
                there = _find(_short_of(context * _BASE + symbol + np.uint64(1)), pairs, pair_places)
                pair = np.float64(pair_counts[there]) if there >= 0 else 0.0
                probability = (min(pair, total) + kinds * probability) / max(total + kinds, 1.0)
                best = max(best, probability)
        out[i] = best
    return out


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
