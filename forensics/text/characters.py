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
_SEED = np.uint64(0xD6E8FEB86659FD93)
with np.errstate(over="ignore"):
    _POWERS = np.cumprod(np.concatenate([[np.uint64(1)], np.full(ORDER, _BASE)]), dtype=np.uint64)
    # Of the context of each order, before what it is made of: as `keys` makes it.
    _SEEDS = np.arange(1, ORDER + 2, dtype=np.uint64) * _SEED * _POWERS
_LETTER_BITS, _DIGIT_BITS = float(np.log2(36)), float(np.log2(10))

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
        best, most = _best(
            symbols, self.context_keys, self.context_counts, self.context_kinds, self._context_places, self.pair_keys,
            self.pair_counts, self._pair_places, _SEEDS, _POWERS,
        )  # fmt: skip
        # The best of all orders, not the highest one: a lower bound of the information, so that a rare context
        # (one odd number in the training text) cannot make a symbol look more surprising than it is.
        return np.minimum(-np.log2(best), most)

    def worth(
        self, symbols: npt.NDArray[np.uint32], starts: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.float64]:
        """Bits of each stretch `symbols[starts[i]:ends[i]]` (none is empty): the sum of its part of `bits`."""
        every, ends_of = _with_before(symbols, starts, ends)
        total = np.concatenate([[0.0], np.cumsum(self.bits(every))])
        return np.asarray(total[ends_of] - total[ends_of - (ends - starts)])

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
    symbols: Any, contexts: Any, context_counts: Any, context_kinds: Any, context_places: Any, pairs: Any,
    pair_counts: Any, pair_places: Any, seeds: Any, powers: Any,
) -> Any:  # fmt: skip
    """The largest probability that any order gives each symbol (1e-9 at least), and the most bits it can hold."""
    out = np.empty(symbols.size, dtype=np.float64)
    most = np.empty(symbols.size, dtype=np.float64)
    for i in range(symbols.size):
        symbol = np.uint64(symbols[i])
        probability = 1.0 / _script_size(symbol)
        best = probability
        before = np.uint64(0)
        for order in range(ORDER + 1):
            if order > 0:
                at = i - order
                before += (np.uint64(symbols[at]) if at >= 0 else np.uint64(BOUNDARY)) * powers[order - 1]
            context = seeds[order] + before
            place = _find(_short_of(context), contexts, context_places)
            if place >= 0 and context_counts[place] > 0:
                total = np.float64(context_counts[place])
                kinds = np.float64(context_kinds[place])
                there = _find(_short_of(context * _BASE + symbol + np.uint64(1)), pairs, pair_places)
                pair = np.float64(pair_counts[there]) if there >= 0 else 0.0
                probability = (min(pair, total) + kinds * probability) / max(total + kinds, 1.0)
                best = max(best, probability)
        out[i] = min(max(best, 1e-9), 1.0)
        # No more than a symbol of a random string can hold: a digit one of 10, a Latin letter one of 36.
        most[i] = _LETTER_BITS if 97 <= symbol <= 122 else _DIGIT_BITS if 48 <= symbol <= 57 else np.inf
    return out, most


@numba.njit(cache=True, nogil=True)
def _script_size(symbol: Any) -> float:
    """The rough number of signs of its script: all that is known of a symbol before anything is."""
    if 0x3400 <= symbol <= 0x9FFF:
        return 8192.0
    if 0xAC00 <= symbol <= 0xD7AF:
        return 4096.0
    return 65536.0 if symbol >= 0x20000 else 128.0


@numba.njit(cache=True, nogil=True)
def _with_before(symbols: Any, starts: Any, ends: Any) -> Any:
    """The stretches one after the other, each behind the ORDER symbols before it, and where each ends."""
    out = np.empty((ends - starts).sum() + ORDER * starts.size, dtype=np.uint32)
    ends_of = np.empty(starts.size, dtype=np.int64)
    n: Any = 0
    for stretch in range(starts.size):
        for at in range(starts[stretch] - ORDER, ends[stretch]):
            out[n] = symbols[at] if at >= 0 else BOUNDARY
            n += 1
        ends_of[stretch] = n
    return out, ends_of


def keys(symbols: npt.NDArray[np.uint32], order: int) -> tuple[Keys, Keys]:
    """Hash of the `order` symbols before each symbol, and of those with the symbol itself."""
    padded = np.concatenate([np.full(order, BOUNDARY, dtype=np.uint64), symbols.astype(np.uint64)])
    n = symbols.size
    with np.errstate(over="ignore"):
        context = np.full(n, np.uint64(order + 1) * _SEED, dtype=np.uint64)
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
