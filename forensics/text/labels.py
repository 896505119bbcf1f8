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

from forensics.text.fingerprint import _BASE, mix
from forensics.text.fold import EXPANSION_BASE, Ints, decode, fold_table
from forensics.text.seed_search import SeedTable, _id

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
def _begins_line(buffer: Any, low: Any, i: Any) -> Any:
    """Is there only white space between the start of the line and byte `i`?"""
    i -= 1
    while i >= low and buffer[i] == 32:
        i -= 1
    return i < low or buffer[i] == 10


@numba.njit(cache=True, nogil=True)
def _spans(buffer: Any, low: Any, high: Any, marks: Any, loose: Any, out: Any) -> Any:
    """Byte spans of labels in one document, and their number. `marks`: the bytes at which a label can be told."""
    n = 0
    i = low
    joined = low  # end of the last word with an underscore
    while True:
        while i < high and not marks[buffer[i]]:
            i += 1
        if i >= high:
            return out, n
        c = buffer[i]
        start = -1
        end = -1
        if c == 34 or c == 96:  # a quote; a back quote
            j = i + 1
            while j < high and j - i <= MOST_BYTES and buffer[j] != c and buffer[j] != 92 and buffer[j] != 10:
                j += 1
            if j < high and j > i + 1 and (buffer[j] == c or (buffer[j] == 92 and j + 1 < high and buffer[j + 1] == c)):
                k = j + 1 if buffer[j] == c else j + 2
                while k < high and (buffer[k] == 32 or buffer[k] == 10):
                    k += 1
                if loose or (k < high and buffer[k] == 58):
                    start, end = i + 1, j
        elif c == 35:
            here = i
            while i + 1 < high and buffer[i + 1] == 35:
                i += 1
            j = i + 1
            if (loose or _begins_line(buffer, low, here)) and j - here <= 6 and j < high and buffer[j] == 32:
                k = j + 1
                while k < high and k - here <= MOST_BYTES and buffer[k] != 10 and buffer[k] != 34 and buffer[k] != 96:
                    k += 1
                if k - here <= MOST_BYTES:
                    start, end = j + 1, k
        elif c == 60:
            j = i + 1
            if j < high and buffer[j] == 47:
                j += 1
            k = j
            while k < high and k - i <= MOST_BYTES and (_letter(buffer[k]) or buffer[k] == 95 or buffer[k] == 45):
                k += 1
            if k < high and k > j and buffer[k] == 62:
                start, end = j, k
        elif i >= joined:  # an underscore: it joins where the word has begun before it
            j = i
            while j > joined and (_letter(buffer[j - 1]) or buffer[j - 1] == 95):
                j -= 1
            if j < i:
                k = i
                while k < high and (_letter(buffer[k]) or buffer[k] == 95):
                    k += 1
                joined = k
                if k - j <= MOST_BYTES:
                    start, end = j, k
        if start >= 0:
            if n == out.shape[0]:
                out = np.concatenate((out, np.empty_like(out)))
            out[n, 0], out[n, 1] = start, end
            n += 1
        i += 1


@numba.njit(cache=True, nogil=True)
def _scan(
    buffer: Any, offsets: Any, whole: Any, loose: Any, table: Any, expansions: Any, only: Any, keys: Any, slots: Any,
    words: Any,
) -> Any:  # fmt: skip
    out = np.empty((256, 4), dtype=np.int64)
    n = 0
    marks = np.zeros(256, dtype=np.bool_)
    marks[34] = marks[35] = marks[60] = True
    marks[95] = marks[96] = loose
    room = np.empty((64, 2), dtype=np.int64)
    for document in range(offsets.size - 1):
        low, high = offsets[document], offsets[document + 1]
        if whole[document]:
            room[0, 0], room[0, 1] = low, min(high, low + MOST_BYTES)
            found = 1
        else:
            room, found = _spans(buffer, low, high, marks, loose, room)
        if found == 0:
            continue
        spans = room[:found]
        spans = spans[np.argsort(spans[:, 0], kind="mergesort")]
        i = low
        position = 0
        for row in range(spans.shape[0]):
            value = np.uint64(0)
            length = 0
            at = spans[row, 0]
            while at < spans[row, 1]:
                code, at = decode(buffer, at, high)
                unit = table[code]
                if unit >= EXPANSION_BASE:
                    for j in range(expansions.shape[1]):
                        one = expansions[np.int64(unit) - EXPANSION_BASE, j]
                        if one == 0:
                            break
                        value = value * _BASE + np.uint64(one) + np.uint64(1)
                        length += 1
                elif unit != 0:
                    value = value * _BASE + np.uint64(unit) + np.uint64(1)
                    length += 1
            if length < MIN_UNITS:
                continue
            key = mix(value ^ _SALT)
            if only and _id(key, keys, slots, words) < 0:
                continue
            # Only now is it worth counting the units before it.
            while i < spans[row, 0]:
                if buffer[i] < 0x80:
                    position += table[buffer[i]] != 0
                    i += 1
                else:
                    code, i = decode(buffer, i, high)
                    position += _size(table[code], expansions)
            if n == out.shape[0]:
                out = np.concatenate((out, np.empty_like(out)))
            out[n, 0], out[n, 1], out[n, 2], out[n, 3] = np.int64(key), document, position, position + length
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
