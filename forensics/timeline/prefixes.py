"""Hashes of the beginnings of texts at growing lengths: common prefixes are found by equality. No tables, no I/O.

Lengths grow by a tenth, so that a common prefix is known to within a tenth. A hash is 64 bits, eight bytes at a time
through the finaliser of SplitMix64 (Steele, Lea, Flood 2014).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba
import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

_FIRST = 32
MOST_BYTES = 1 << 20


def _grid() -> npt.NDArray[np.int64]:
    lengths = [_FIRST]
    while lengths[-1] < MOST_BYTES:
        lengths.append((max(lengths[-1] + 8, int(lengths[-1] * 1.1)) + 7) // 8 * 8)
    return np.array(lengths, dtype=np.int64)


GRID = _grid()  # bytes; at most 255 of them


def prefix_hashes(
    buffer: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.uint8], npt.NDArray[np.uint64]]:
    """(text, place in GRID, hash of the text's first GRID[place] bytes) for every text and length that it has.

    Text `i` is `buffer[offsets[i]:offsets[i + 1]]`, UTF-8 or anything else.
    """
    sizes = np.diff(offsets)
    counts = np.searchsorted(GRID, sizes, side="right")
    total = int(counts.sum())
    texts = np.repeat(np.arange(len(sizes), dtype=np.int32), counts)
    places = np.empty(total, dtype=np.uint8)
    hashes = np.empty(total, dtype=np.uint64)
    _fill(buffer, offsets, GRID, counts, places, hashes)
    return texts, places, hashes


@numba.njit(cache=True, nogil=True)
def _fill(buffer: Any, offsets: Any, grid: Any, counts: Any, places: Any, hashes: Any) -> None:
    out = 0
    for i in range(len(offsets) - 1):
        position = offsets[i]
        state = np.uint64(0x9E3779B97F4A7C15)
        done = 0
        for place in range(counts[i]):
            while done < grid[place]:
                word = np.uint64(0)
                for k in range(8):
                    word |= np.uint64(buffer[position + done + k]) << np.uint64(8 * k)
                state = _mixed(state ^ word)
                done += 8
            places[out] = place
            hashes[out] = state
            out += 1


@numba.njit(cache=True, nogil=True)
def _mixed(value: Any) -> Any:
    value = value + np.uint64(0x9E3779B97F4A7C15)
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


@numba.njit(cache=True, nogil=True)
def token_hashes(tokens: Any, size: int) -> Any:
    """A hash of all tokens so far at the end of every whole block of `size` tokens."""
    hashes = np.empty(len(tokens) // size, dtype=np.uint64)
    state = np.uint64(0x9E3779B97F4A7C15)
    for i in range(len(hashes) * size):
        state = _mixed(state ^ np.uint64(tokens[i]))
        if (i + 1) % size == 0:
            hashes[i // size] = state
    return hashes


def bound(place: int, size: int) -> int:
    """The most bytes that a common prefix can have which is known to reach GRID[place] and not the next length.

    `place` -1: no length was reached. `size` is the text's.
    """
    following = int(GRID[place + 1]) - 1 if place + 1 < len(GRID) else size
    return min(following, size)
