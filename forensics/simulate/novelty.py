"""Has this run of letters and digits been written before? A memory of everything fresh that the simulator wrote.

Texts are reduced to lower-case letters and digits. Every `stride`-th window of `length` letters is remembered, and all
windows of a new text are looked up: a run shared by two remembered texts is shorter than length + stride - 1. The
memory is a bitmap with three places a window; a chance hit costs one changed word and nothing else.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

# Letters of a window and step, by how much a letter says (a Chinese character weighs several Latin letters) and by how
# small the shipped corpus is: walks over few sentences would meet far more often than what people write.
_WINDOWS = {"zh": (7, 2), "ja": (7, 2), "ko": (7, 2), "he": (12, 4), "ar": (12, 4), "fa": (12, 4)}
_SMALL = (15, 4)
_ENGLISH = (20, 5)
_BASE = 0x9E3779B97F4A7C15 | 1
_FACTORS = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 0xD6E8FEB86659FD93)


def _windows_of(language: str) -> tuple[tuple[int, int], ...]:
    """The language's own windows, and those of English: foreign words occur in every language."""
    return (_ENGLISH,) if language == "en" else (_WINDOWS.get(language, _SMALL), _ENGLISH)


@cache
def _folding() -> NDArray[np.uint32]:
    """Code point -> its lower-case letter or digit, 0 for everything else."""
    table = np.zeros(0x110000, dtype=np.uint32)
    for point in range(0x30000):
        character = chr(point)
        if character.isalnum():
            table[point] = ord(character.lower()[0])
    return table


@cache
def _powers(length: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    inverse = pow(_BASE, -1, 1 << 64)
    up = np.empty(length, dtype=np.uint64)
    down = np.empty(length, dtype=np.uint64)
    high, low = 1, 1
    for position in range(length):
        up[position], down[position] = high, low
        high, low = high * _BASE % (1 << 64), low * inverse % (1 << 64)
    return up, down


class Novelty:
    """The memory. `bits` is the logarithm of its size in bits: 29 is 64 MiB, enough for some 100 MB of fresh text."""

    def __init__(self, bits: int = 29) -> None:
        self._map = np.zeros(1 << (bits - 3), dtype=np.uint8)
        self._shift = np.uint64(64 - bits)

    def repeated(self, text: str, language: str) -> list[int] | None:
        """Positions in `text`, one in each run that was written before, in order; None where there is none."""
        chosen: set[int] = set()
        for length, _ in _windows_of(language):
            hashes, places = self._windows(text, length)
            last = -length
            for hit in self._known(hashes).tolist():
                if hit - last >= length // 2:
                    chosen.add(int(places[hit + length // 2]))
                    last = hit
        return sorted(chosen) or None

    def remember(self, text: str, language: str) -> None:
        """Keep the windows of `text`."""
        for length, stride in _windows_of(language):
            hashes, _ = self._windows(text, length)
            for factor in _FACTORS:
                index, bit = self._probe(hashes[::stride], factor)
                np.bitwise_or.at(self._map, index, bit)

    def _known(self, hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Numbers of the hashes that are remembered. Most fall at the first of the three places."""
        left = np.arange(len(hashes))
        for factor in _FACTORS:
            index, bit = self._probe(hashes[left], factor)
            left = left[(self._map[index] & bit) != 0]
            if not len(left):
                break
        return left

    def _probe(self, hashes: NDArray[np.uint64], factor: int) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        mixed = ((hashes ^ (hashes >> np.uint64(31))) * np.uint64(factor)) >> self._shift
        bit = np.left_shift(np.uint8(1), (mixed & np.uint64(7)).astype(np.uint8))
        return (mixed >> np.uint64(3)).astype(np.int64), bit

    @staticmethod
    def _windows(text: str, length: int) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """Hash of every window of `length` letters, and the position in `text` of every letter."""
        points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
        folded = _folding()[points]
        places = np.flatnonzero(folded)
        letters = folded[places].astype(np.uint64)
        if len(letters) < length:
            return np.empty(0, dtype=np.uint64), places
        capacity = 1 << len(letters).bit_length()
        up, down = _powers(capacity)
        sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(letters * up[: len(letters)])])
        windows = (sums[length:] - sums[:-length]) * down[: len(letters) - length + 1]
        return windows ^ np.uint64(length), places
