"""In which scripts is a text written, unit by unit? Coarse: what a reader sees as another alphabet."""

from __future__ import annotations

from functools import cache
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from forensics.text.fold import EXPANSION_BASE, Ints, Units, decode, fold_table

NAMES = (
    "digit", "latin", "greek", "cyrillic", "hebrew", "arabic", "indic", "thai", "georgian_armenian", "kana",
    "hangul", "han", "other",
)  # fmt: skip
DIGIT = 0


@numba.njit(cache=True, nogil=True)
def script_of(unit: Any) -> int:
    """Index into NAMES of a folded unit."""
    if 48 <= unit <= 57:
        return 0
    if unit < 0x0250 or 0x1E00 <= unit <= 0x1EFF:
        return 1
    if 0x0370 <= unit <= 0x03FF:
        return 2
    if 0x0400 <= unit <= 0x052F:
        return 3
    if 0x0590 <= unit <= 0x05FF:
        return 4
    if 0x0600 <= unit <= 0x077F:
        return 5
    if 0x0900 <= unit <= 0x0DFF:
        return 6
    if 0x0E00 <= unit <= 0x0EFF:
        return 7
    if 0x0530 <= unit <= 0x058F or 0x10A0 <= unit <= 0x10FF:
        return 8
    if 0x3040 <= unit <= 0x30FF:
        return 9
    if 0xAC00 <= unit <= 0xD7AF:
        return 10
    if 0x3400 <= unit <= 0x9FFF or unit >= 0x20000:
        return 11
    return 12


@cache
def _script_table() -> npt.NDArray[np.uint8]:
    """Script of each code point, by its first folded unit; len(NAMES) for those that folding drops."""
    table = fold_table()
    return np.asarray(_by_code(table.table, table.expansions))


@numba.njit(cache=True)
def _by_code(table: Any, expansions: Any) -> Any:
    found = np.empty(table.size, dtype=np.uint8)
    for code in range(table.size):
        value = table[code]
        if value >= EXPANSION_BASE:
            value = expansions[np.int64(value) - EXPANSION_BASE, 0]
        found[code] = 13 if value == 0 else script_of(value)
    return found


@numba.njit(cache=True, nogil=True)
def _count(buffer: Any, offsets: Any, script_table: Any) -> Any:
    counts = np.zeros((offsets.size - 1, 14), dtype=np.int32)
    for document in range(offsets.size - 1):
        row = counts[document]
        digits = latin = 0  # apart, since they come in a row and each would wait for the one before it in memory
        i = offsets[document]
        end = offsets[document + 1]
        while i < end:
            code = np.uint32(buffer[i])
            if code < 128:
                i += 1
                digits += script_table[code] == 0
                latin += script_table[code] == 1
            else:
                code, i = decode(buffer, i, end)
                row[script_table[code]] += 1
        row[0] += digits
        row[1] += latin
    return counts


def count_scripts(buffer: npt.NDArray[np.uint8], offsets: Ints) -> npt.NDArray[np.int32]:
    """Units per script (columns as NAMES) of the documents `buffer[offsets[i]:offsets[i+1]]` (UTF-8)."""
    return np.asarray(_count(buffer, offsets, _script_table()))[:, : len(NAMES)]


@numba.njit(cache=True)
def scripts(units: Any) -> Any:
    """Script index of each unit."""
    out = np.empty(units.size, dtype=np.int8)
    for i in range(units.size):
        out[i] = script_of(units[i])
    return out


def longest_run(units: Units, script: int, gap: int = 2) -> tuple[int, int]:
    """Unit span of the longest run in `script`; up to `gap` units of another script (not digits) may interrupt it.

    Kana and Han count as one script, since Japanese mixes them.
    """
    found = scripts(units)
    wanted = {script} | ({9, 11} if script in (9, 11) else set())
    good = np.isin(found, list(wanted))
    best = (0, 0)
    start, last = -1, -1
    for i in np.flatnonzero(good).tolist():
        between = found[last + 1 : i] if last >= 0 else found[:0]
        if start < 0 or int((between != DIGIT).sum()) > gap:
            start = i
        last = i
        if last + 1 - start > best[1] - best[0]:
            best = (start, last + 1)
    return best
