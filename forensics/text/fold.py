"""What counts as the same letter? Folds text to units and keeps the way back to raw code points.

A unit is one folded letter or digit: NFKC, case folded, without combining marks, Hangul composed, digits of any
script as ASCII. White space, punctuation, symbols, controls and format characters are dropped, so that case, spacing,
quotes, dashes, zero-width characters and full-width forms do not hide a copy. The table is shipped
(data/fold.npz, made by build_fold), so that results do not depend on Python's Unicode version.

Does not hash, and does not judge what a match is worth.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

EXPANSION_BASE = 0x200000

Units = npt.NDArray[np.uint32]
Ints = npt.NDArray[np.int64]


def holds(units: bytes, needle: Units) -> bool:
    """Whether a run of units stands in others, given as their bytes."""
    wanted = needle.tobytes()
    at = units.find(wanted)
    while at >= 0 and at % 4:
        at = units.find(wanted, at + 1)
    return at >= 0


@dataclass(frozen=True)
class FoldTable:
    """`table[code point]`: 0 dropped, below EXPANSION_BASE a unit, above it a row of `expansions` (0 padded)."""

    table: Units
    expansions: npt.NDArray[np.uint32]


@cache
def fold_table() -> FoldTable:
    """The shipped table, read once per process."""
    with np.load(Path(__file__).parent / "data" / "fold.npz") as data:
        return FoldTable(data["table"], data["expansions"])


@dataclass(frozen=True)
class Folded:
    """Units of a text and, for each, the code point it came from (`positions`, ascending, not strictly)."""

    units: Units
    positions: Ints
    gaps: npt.NDArray[np.bool_] | None = None  # where positions do not tell: does a unit follow no other directly?

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Code point span `[start, end)` of the units `[start, end)`; needs start < end."""
        return int(self.positions[start]), int(self.positions[end - 1]) + 1


def fold(text: str) -> Folded:
    """Fold one text. Linear in its length; offsets are code points of `text`."""
    return fold_bytes(np.frombuffer(text.encode("utf-8", "surrogatepass"), dtype=np.uint8))


def fold_bytes(data: npt.NDArray[np.uint8]) -> Folded:
    """Fold one text given as UTF-8; the same result as `fold` of the decoded text, without decoding it."""
    table = fold_table()
    units, positions = _fold(data, table.table, table.expansions)
    return Folded(units, positions)


class UnitsOf:
    """The units of texts without their places, one text after the other: the room to fold in is kept."""

    def __init__(self) -> None:
        self._room: Units = np.empty(0, dtype=np.uint32)

    def __call__(self, data: npt.NDArray[np.uint8]) -> Units:
        """Units of one text given as UTF-8; those of `fold_bytes`."""
        if self._room.size < 2 * data.size + 1:
            self._room = np.empty(4 * data.size + 1, dtype=np.uint32)
        table = fold_table()
        return self._room[: fold_into(data, 0, data.size, table.table, table.expansions, self._room)].copy()


@numba.njit(cache=True, nogil=True)
def decode(buffer: Any, i: Any, end: Any) -> Any:
    """Code point at byte `i` and the index of the next one. Malformed bytes come back as U+FFFD, one at a time."""
    first = buffer[i]
    if first < 0x80:
        return np.uint32(first), i + 1
    if first < 0xC2:
        return np.uint32(0xFFFD), i + 1
    if first < 0xE0:
        if i + 1 >= end:
            return np.uint32(0xFFFD), i + 1
        return np.uint32(((first & 0x1F) << 6) | (buffer[i + 1] & 0x3F)), i + 2
    if first < 0xF0:
        if i + 2 >= end:
            return np.uint32(0xFFFD), i + 1
        return (
            np.uint32(((first & 0x0F) << 12) | ((buffer[i + 1] & 0x3F) << 6) | (buffer[i + 2] & 0x3F)),
            i + 3,
        )
    if i + 3 >= end or first > 0xF4:
        return np.uint32(0xFFFD), i + 1
    code = (
        ((first & 0x07) << 18) | ((buffer[i + 1] & 0x3F) << 12) | ((buffer[i + 2] & 0x3F) << 6) | (buffer[i + 3] & 0x3F)
    )
    if code > 0x10FFFF:
        return np.uint32(0xFFFD), i + 1
    return np.uint32(code), i + 4


@numba.njit(cache=True, nogil=True)
def _fold(data: Any, table: Any, expansions: Any) -> Any:
    units = np.empty(2 * data.size + 4, dtype=np.uint32)
    positions = np.empty(2 * data.size + 4, dtype=np.int64)
    n: Any = 0
    i = 0
    place = 0
    while i < data.size:
        first = np.uint32(data[i])
        if first < 0x80:
            # Written whether it counts or not: a branch would be guessed wrong at the end of every word.
            units[n] = table[first]
            positions[n] = place
            n += table[first] != 0
            i += 1
            place += 1
            continue
        code, i = decode(data, i, data.size)
        value = table[code]
        if value != 0:
            if value < EXPANSION_BASE:
                units[n] = value
                positions[n] = place
                n += 1
            else:
                row = value - EXPANSION_BASE
                for j in range(expansions.shape[1]):
                    if expansions[row, j] == 0:
                        break
                    units[n] = expansions[row, j]
                    positions[n] = place
                    n += 1
        place += 1
    return units[:n].copy(), positions[:n].copy()


@numba.njit(cache=True, nogil=True)
def fold_into(buffer: Any, start: Any, end: Any, table: Any, expansions: Any, units: Any) -> int:
    """Units of the bytes `[start, end)`; returns their number. `units` has room for two a byte and one more."""
    i = start
    size: Any = 0
    while i < end:
        code = np.uint32(buffer[i])
        if code < 128:
            # Written whether it counts or not: a branch would be guessed wrong at the end of every word.
            i += 1
            units[size] = table[code]
            size += table[code] != 0
            continue
        code, i = decode(buffer, i, end)
        value = table[code]
        if value == 0:
            continue
        if value < EXPANSION_BASE:
            units[size] = value
            size += 1
            continue
        row = np.int64(value) - EXPANSION_BASE
        for part in range(expansions.shape[1]):
            if expansions[row, part] == 0:
                break
            units[size] = expansions[row, part]
            size += 1
    return size


@numba.njit(cache=True, nogil=True)
def weight(unit: Any) -> int:
    """Information weight of a unit: Han 3, kana and Hangul 2, everything else 1 (alphabets of different richness)."""
    if unit < 0x3040:
        return 1
    if unit <= 0x30FF:
        return 2
    if 0x3400 <= unit <= 0x4DBF or 0x4E00 <= unit <= 0x9FFF:
        return 3
    if 0xAC00 <= unit <= 0xD7AF:
        return 2
    if 0x20000 <= unit <= 0x3FFFF:
        return 3
    return 1
