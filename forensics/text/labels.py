"""Which labels give a text its form? JSON keys, headings, tags; in a prompt also whatever could ask for them.

In a response a label is a JSON key (`"key":`), a Markdown heading at the start of a line, or a tag. A prompt may ask
for the same label in other ways: any short quoted string or `code`, any word with an underscore, a heading anywhere in
a line, the name of a tool. So `asked` gives more than `shown`; equal labels have equal hashes in both. Values are not
looked at. Does not count and does not judge.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from forensics.text.fingerprint import _BASE, SeedTable, _id, mix
from forensics.text.fold import EXPANSION_BASE, Ints, decode, fold_table

MOST_BYTES = 96  # of a label
MIN_UNITS = 3
_SALT = np.uint64(0x94D049BB133111EB)


@dataclass(frozen=True)
class Labels:
    """Parallel arrays: `hashes` int64, `documents` int32, `starts`, `ends` int32 (units, end exclusive)."""

    hashes: npt.NDArray[np.int64]
    documents: npt.NDArray[np.int32]
    starts: npt.NDArray[np.int32]
    ends: npt.NDArray[np.int32]


def shown(buffer: npt.NDArray[np.uint8], offsets: Ints, whole: npt.NDArray[np.bool_]) -> Labels:
    """Labels of responses; documents that are `whole` are one label each (the name of a called tool)."""
    return _labels(buffer, offsets, whole, False, None)


def asked(buffer: npt.NDArray[np.uint8], offsets: Ints, wanted: SeedTable) -> Labels:
    """What in prompts could ask for the labels `wanted`."""
    return _labels(buffer, offsets, np.zeros(offsets.size - 1, dtype=np.bool_), True, wanted)


def _labels(
    buffer: npt.NDArray[np.uint8], offsets: Ints, whole: npt.NDArray[np.bool_], loose: bool, wanted: SeedTable | None
) -> Labels:
    table = fold_table()
    nothing = (np.zeros(0, dtype=np.int64), np.full(4, -1, dtype=np.int32), np.zeros(1, dtype=np.uint64))
    keys = nothing if wanted is None else (wanted.keys, wanted.slots, wanted.filter)
    out = _scan(buffer, offsets, whole, loose, table.table, table.expansions, wanted is not None, *keys)
    return Labels(out[:, 0].copy(), out[:, 1].astype(np.int32), out[:, 2].astype(np.int32), out[:, 3].astype(np.int32))


@numba.njit(cache=True, nogil=True)
def _letter(c: Any) -> Any:
    return c >= 128 or 48 <= c <= 57 or 65 <= c <= 90 or 97 <= c <= 122


@numba.njit(cache=True, nogil=True)
def _spans(buffer: Any, low: Any, high: Any, loose: Any) -> Any:
    """Byte spans of labels in one document."""
    out = np.empty((64, 2), dtype=np.int64)
    n = 0
    i = low
    line = True  # only white space since the start of the line
    word = low  # start of the word
    joined = False  # an underscore inside it
    while i < high:
        c = buffer[i]
        start = -1
        end = -1
        if c == 34 or (loose and c == 96):  # a quote; a back quote
            j = i + 1
            while j < high and j - i <= MOST_BYTES and buffer[j] != c and buffer[j] != 92 and buffer[j] != 10:
                j += 1
            if j < high and j > i + 1 and (buffer[j] == c or (buffer[j] == 92 and j + 1 < high and buffer[j + 1] == c)):
                k = j + 1 if buffer[j] == c else j + 2
                while k < high and (buffer[k] == 32 or buffer[k] == 10):
                    k += 1
                if loose or (k < high and buffer[k] == 58):
                    start, end = i + 1, j
        elif c == 35 and (line or loose):
            j = i
            while j < high and buffer[j] == 35:
                j += 1
            if j - i <= 6 and j < high and buffer[j] == 32:
                k = j + 1
                while k < high and k - i <= MOST_BYTES and buffer[k] != 10 and buffer[k] != 34 and buffer[k] != 96:
                    k += 1
                if k - i <= MOST_BYTES:
                    start, end = j + 1, k
            i = j - 1
        elif c == 60:
            j = i + 1
            if j < high and buffer[j] == 47:
                j += 1
            k = j
            while k < high and k - i <= MOST_BYTES and (_letter(buffer[k]) or buffer[k] == 95 or buffer[k] == 45):
                k += 1
            if k < high and k > j and buffer[k] == 62:
                start, end = j, k
        letter = _letter(c)
        if loose:
            if c == 95:
                joined = joined or i > word
            elif not letter:
                if joined and i - word <= MOST_BYTES:
                    if n == out.shape[0]:
                        out = np.concatenate((out, np.empty_like(out)))
                    out[n, 0], out[n, 1] = word, i
                    n += 1
                word, joined = i + 1, False
        if start >= 0:
            if n == out.shape[0]:
                out = np.concatenate((out, np.empty_like(out)))
            out[n, 0], out[n, 1] = start, end
            n += 1
        if c == 10:
            line = True
        elif c != 32:
            line = False
        i += 1
    if loose and joined and high - word <= MOST_BYTES:
        if n == out.shape[0]:
            out = np.concatenate((out, np.empty_like(out)))
        out[n, 0], out[n, 1] = word, high
        n += 1
    return out[:n]


@numba.njit(cache=True, nogil=True)
def _scan(
    buffer: Any, offsets: Any, whole: Any, loose: Any, table: Any, expansions: Any, only: Any, keys: Any, slots: Any,
    words: Any,
) -> Any:  # fmt: skip
    out = np.empty((256, 4), dtype=np.int64)
    n = 0
    for document in range(offsets.size - 1):
        low, high = offsets[document], offsets[document + 1]
        if whole[document]:
            spans = np.empty((1, 2), dtype=np.int64)
            spans[0, 0], spans[0, 1] = low, min(high, low + MOST_BYTES)
        else:
            spans = _spans(buffer, low, high, loose)
        if spans.shape[0] == 0:
            continue
        spans = spans[np.argsort(spans[:, 0], kind="mergesort")]
        i = low
        position = 0
        for row in range(spans.shape[0]):
            while i < spans[row, 0]:
                code, i = decode(buffer, i, high)
                position += _size(table[code], expansions)
            start, start_byte = position, i
            value = np.uint64(0)
            while i < spans[row, 1]:
                code, i = decode(buffer, i, high)
                unit = table[code]
                if unit >= EXPANSION_BASE:
                    for j in range(expansions.shape[1]):
                        one = expansions[np.int64(unit) - EXPANSION_BASE, j]
                        if one == 0:
                            break
                        value = value * _BASE + np.uint64(one) + np.uint64(1)
                        position += 1
                elif unit != 0:
                    value = value * _BASE + np.uint64(unit) + np.uint64(1)
                    position += 1
            end = position
            i, position = start_byte, start  # the next span may lie inside this one
            if end - start < MIN_UNITS:
                continue
            key = mix(value ^ _SALT)
            if only and _id(key, keys, slots, words) < 0:
                continue
            if n == out.shape[0]:
                out = np.concatenate((out, np.empty_like(out)))
            out[n, 0], out[n, 1], out[n, 2], out[n, 3] = np.int64(key), document, start, end
            n += 1
    return out[:n].copy()


@numba.njit(cache=True, nogil=True)
def _size(value: Any, expansions: Any) -> int:
    """Units that a folded code point stands for."""
    if value == 0:
        return 0
    if value < EXPANSION_BASE:
        return 1
    count = 0
    for j in range(expansions.shape[1]):
        if expansions[np.int64(value) - EXPANSION_BASE, j] == 0:
            break
        count += 1
    return count
