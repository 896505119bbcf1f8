"""Which words of a text could be somebody's name? Names of people and firms, code names, invented words, short handles.

Nobody can tell a name by looking at it; so every longer word is given, with what its writing shows, and the case says
which of them only one tenant has. Tokens are (`kinds`):

* LOWER, START, CAPITAL: a word of WORD units or more in a script with capitals: small, capitalised where any word would
  be (behind a full stop, on a new line), capitalised in the middle of a sentence;
* PAIR: two capitalised words in a row, initials between them left out (`Marta J. Lindqvist`);
* HANDLE: letters and digits in one token of 5 to 7 units (longer ones are `identifiers`);
* PLAIN, PLAIN_PAIR: a word, and two in a row, of an alphabet without capitals (Hebrew, Arabic, Hangul, Indic);
* KANA: a run of katakana; HAN: a whole run of 3 to 6 Han signs (in running text nothing parts a name from the rest).

Equal words have equal hashes whatever their case. Does not count and does not judge.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import cache
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from forensics.text.fingerprint import _BASE, mix
from forensics.text.fold import EXPANSION_BASE, Ints, decode, fold_table
from forensics.text.seed_search import SeedTable, _bits, _id
from forensics.text.words import is_single

LOWER, START, CAPITAL, PAIR, HANDLE, PLAIN, PLAIN_PAIR, KANA, HAN = range(9)
WORD = 5  # units of the shortest word in a script with capitals,
PLAIN_WORD = 4  # in one without,
HANGUL_WORD = 3
PART = 2  # and of the shortest word of a pair
LONGEST = 40
KANA_LEAST, KANA_MOST = 3, 16
HAN_LEAST, HAN_MOST = 3, 6

_PAIRED = np.uint64(0x8CB92BA72F3D8DD7)
_HANDLED = np.uint64(0xBB67AE8584CAA73B)
_NONE, _UPPER, _SMALL, _UNCASED = range(4)

HANDLE_LEAST, HANDLE_MOST = 5, 7
_SIGN = -1  # units of what is no word, but one sign of a script without spaces
# Columns of what was read: first byte, byte behind the last, units (or _SIGN), digits among them, units up to its end.
_BEGIN, _END, _UNITS, _DIGITS, _PLACE = range(5)


@dataclass(frozen=True)
class Names:
    """Parallel arrays: `hashes` int64, `documents` int32, `starts`, `ends` int32 (units, end exclusive), `kinds`."""

    hashes: npt.NDArray[np.int64]
    documents: npt.NDArray[np.int32]
    starts: npt.NDArray[np.int32]
    ends: npt.NDArray[np.int32]
    kinds: npt.NDArray[np.int8]


def names(
    buffer: npt.NDArray[np.uint8], offsets: Ints, wanted: SeedTable | None = None, sample: np.uint64 | None = None
) -> Names:
    """Tokens of the documents `buffer[offsets[i]:offsets[i + 1]]` (UTF-8); with `wanted` only those of its hashes, and
    with a `sample` those words, runs and handles besides whose hash has none of its bits (`in_sample`).

    Releases the GIL.
    """
    table = fold_table()
    nothing = np.zeros(0, dtype=np.int64)
    every = (nothing, np.full(4, -1, dtype=np.int32), np.full(1, np.iinfo(np.uint64).max))  # a filter that holds all
    keys = every if wanted is None else (wanted.keys, wanted.slots, wanted.filter)
    sampled = np.uint64(0) if sample is None else sample
    only = wanted is not None
    out = _scan(buffer, offsets, table.table, table.expansions, _cases(), only, *keys, sample is not None, sampled)
    return Names(
        out[:, 0].copy(), out[:, 1].astype(np.int32), out[:, 2].astype(np.int32), out[:, 3].astype(np.int32),
        out[:, 4].astype(np.int8),
    )  # fmt: skip


def in_sample(found: Names, sample: np.uint64) -> npt.NDArray[np.bool_]:
    """By token: is it in the sample? Pairs never are. The bits of a hash are as good as drawn by chance, so that the
    distinct tokens of a sample are that share of all distinct ones (distinct sampling; Gibbons 2001)."""
    alone = (found.kinds != PAIR) & (found.kinds != PLAIN_PAIR)
    return alone & ((found.hashes.view(np.uint64) & sample) == 0)


@cache
def _cases() -> npt.NDArray[np.uint8]:
    """What each code point below 0x20000 says of its word: upper case, lower case, a letter without case, nothing."""
    found = np.zeros(0x20000, dtype=np.uint8)
    for code in range(found.size):
        category = unicodedata.category(chr(code))
        if category in ("Lu", "Lt"):
            found[code] = _UPPER
        elif category == "Ll":
            found[code] = _SMALL
        elif category == "Lo":
            found[code] = _UNCASED
    return found


@numba.njit(cache=True, nogil=True)
def _scan(
    buffer: Any, offsets: Any, table: Any, expansions: Any, cases: Any, only: Any, keys: Any, slots: Any, words: Any,
    samples: Any, sample: Any,
) -> Any:  # fmt: skip
    """Rows of hash, document, start, end, kind. Reads the words of a document first, then looks at the few that tell:
    most words are not wanted, and what stands around those is nobody's business."""
    out = np.empty((1024 if only else max(1024, (offsets[-1] - offsets[0]) // 8), 5), dtype=np.int64)
    n: Any = 0
    room = 2
    for document in range(offsets.size - 1):
        room = max(room, offsets[document + 1] - offsets[document] + 2)
    hashes = np.empty(room, dtype=np.uint64)
    read = np.empty((room, 5), dtype=np.int64)
    case = np.empty(room, dtype=np.uint8)
    telling = np.empty(room, dtype=np.int64)
    for document in range(offsets.size - 1):
        low, high = offsets[document], offsets[document + 1]
        count = _read(buffer, low, high, table, expansions, hashes, read)
        chosen = _choose(buffer, high, hashes, read, count, cases, case, words, samples, sample, telling)
        for k in telling[:chosen]:
            if n + 4 > out.shape[0]:
                out = np.concatenate((out, np.empty_like(out)))
            first = n
            if read[k, _UNITS] == _SIGN:
                n = _run(hashes, read, count, k, out, n)
            elif read[k, _DIGITS] > 0:
                n = _handle(buffer, hashes, read, case, count, k, out, n)
            elif case[k] == _SMALL:
                # Most words, and whatever stands around them: a call costs many times what is done here.
                out[n, 0], out[n, 3], out[n, 4] = np.int64(mix(hashes[k])), read[k, _PLACE], LOWER
                out[n, 2] = read[k, _PLACE] - read[k, _UNITS]
                n += np.int64(read[k, _UNITS] >= WORD) & np.int64(read[k, _UNITS] <= LONGEST)
            else:
                n = _word(buffer, hashes, read, case, k, table, expansions, out, n)
            last = n
            n = first
            for row in range(first, last):
                value = np.uint64(out[row, 0])
                drawn = samples and (value & sample) == 0 and out[row, 4] != PAIR and out[row, 4] != PLAIN_PAIR
                if not only or drawn or _id(value, keys, slots, words) >= 0:
                    out[n, 0], out[n, 2], out[n, 3], out[n, 4] = out[row, 0], out[row, 2], out[row, 3], out[row, 4]
                    out[n, 1] = document
                    n += 1
    return out[:n].copy()


@numba.njit(cache=True, nogil=True)
def _read(buffer: Any, start: Any, end: Any, table: Any, expansions: Any, hashes: Any, read: Any) -> int:
    """Words and signs of one document, in order: hashes (not yet mixed; of a sign, the sign) and columns of `read`."""
    one = np.uint64(1)
    word = np.uint64(0)
    n: Any = 0
    units: Any = 0
    digits: Any = 0
    place: Any = 0
    begin = i = start
    while i < end:
        while i < end and buffer[i] < 0x80:
            # Written whether a word ends or not: a branch would be guessed wrong at the end of every word.
            unit = table[buffer[i]]
            letter = np.int64(unit != 0)
            hashes[n] = word
            read[n, _BEGIN], read[n, _END], read[n, _UNITS], read[n, _DIGITS] = begin, i, units, digits
            read[n, _PLACE] = place
            n += np.int64(units > 0) & (letter ^ 1)
            begin = begin if units > 0 else i
            word = (word * _BASE + np.uint64(unit) + one) & np.uint64(-letter)
            units = (units + 1) & -letter
            digits = (digits + (np.int64(unit >= 48) & np.int64(unit <= 57))) & -letter
            place += letter
            i += 1
        if i >= end:
            break
        at = i
        code, i = decode(buffer, at, end)
        value = table[code]
        row = np.int64(-1)
        first = value
        if value >= EXPANSION_BASE:
            row = np.int64(value) - EXPANSION_BASE
            first = expansions[row, 0]
        if value == 0 or is_single(first):
            if units > 0:
                hashes[n] = word
                read[n, _BEGIN], read[n, _END], read[n, _UNITS], read[n, _DIGITS] = begin, at, units, digits
                read[n, _PLACE] = place
                n += 1
                word = np.uint64(0)
                units = digits = 0
            if value != 0:
                place += 1
                hashes[n] = np.uint64(first)
                read[n, _BEGIN], read[n, _END], read[n, _UNITS], read[n, _DIGITS] = at, i, _SIGN, 0
                read[n, _PLACE] = place
                n += 1
            continue
        if units == 0:
            begin = at
        for j in range(expansions.shape[1]):
            unit = value if row < 0 else expansions[row, j]
            if unit == 0:
                break
            digits += np.int64(unit >= 48) & np.int64(unit <= 57)
            word = word * _BASE + np.uint64(unit) + one
            units += 1
            place += 1
            if row < 0:
                break
    if units > 0:
        hashes[n] = word
        read[n, _BEGIN], read[n, _END], read[n, _UNITS], read[n, _DIGITS] = begin, end, units, digits
        read[n, _PLACE] = place
        n += 1
    return n


@numba.njit(cache=True, nogil=True)
def _choose(
    buffer: Any, high: Any, hashes: Any, read: Any, count: int, cases: Any, case: Any, words: Any, samples: Any,
    sample: Any, chosen: Any,
) -> int:  # fmt: skip
    """Places of the words and signs that may give a token, and their number; fills `case`. `words`: the filter;
    `samples`: words are kept besides whose hash has none of the bits of `sample`."""
    n: Any = 0
    before = np.uint64(0)  # of the word before: its hash,
    case_before = np.uint8(_NONE)
    joined = False  # and whether a joint follows it directly
    for k in range(count):
        begin, end, units = read[k, _BEGIN], read[k, _END], read[k, _UNITS]
        code = np.uint32(buffer[begin])
        if code >= 0x80:
            code, _ = decode(buffer, begin, end)
        kind = cases[code] if code < cases.size else np.uint8(_NONE)
        case[k] = kind
        if units == _SIGN:
            sort = _sort_of(hashes[k])
            chosen[n] = k
            n += sort >= 0 and (
                k == 0 or read[k - 1, _UNITS] != _SIGN or read[k - 1, _END] != begin or _sort_of(hashes[k - 1]) != sort
            )
            case_before, joined = np.uint8(_NONE), False
            continue
        value = mix(hashes[k])
        pair = mix(before * _BASE + value + _PAIRED)
        # The word before makes the pair, unless it is an initial or says nothing of case.
        pairs = (kind == _UNCASED) | ((kind == _UPPER) & (units >= PART))
        known = (case_before != _NONE) & ((case_before != _UPPER) | (read[k - 1, _UNITS] > 1))
        pairs &= (not known) | (_may_hold(words, pair) & (case_before == kind))
        digits = read[k, _DIGITS]
        joins = end < high and _joins(buffer[end])
        handle = (digits > 0) & (units <= HANDLE_MOST) & (((digits < units) & (units >= HANDLE_LEAST)) | joins | joined)
        chosen[n] = k
        drawn = samples & ((value & sample) == np.uint64(0))
        n += ((_may_hold(words, value) | drawn) & (units >= HANGUL_WORD)) | pairs | handle
        before, case_before, joined = value, kind, joins
    return n


@numba.njit(cache=True, nogil=True)
def _joins(code: Any) -> Any:
    """Is it one of `-_./@`?"""
    return (code == 45) | (code == 95) | (code == 46) | (code == 47) | (code == 64)


@numba.njit(cache=True, nogil=True)
def _may_hold(words: Any, value: Any) -> Any:
    """May the table with this filter hold the hash?"""
    bits = _bits(value)
    return words[(value >> np.uint64(20)) & np.uint64(words.size - 1)] & bits == bits


@numba.njit(cache=True, nogil=True)
def _gap(buffer: Any, read: Any, case: Any, k: int) -> Any:
    """What stands between word `k` and what was read before it: is it near that, does a sentence or line begin, spaces
    and joints, and is all of it what joins the words of a token?"""
    if k == 0 or read[k - 1, _UNITS] == _SIGN:
        return False, True, 0, 0, False
    near, fresh, joins = True, False, True
    spaces = joints = 0
    initial = read[k - 1, _UNITS] == 1 and case[k - 1] == _UPPER
    i = read[k - 1, _END]
    while i < read[k, _BEGIN]:
        code, i = decode(buffer, i, read[k, _BEGIN])
        joins = joins and _joins(code)
        if code == 32 or code == 0xA0:
            spaces += 1
            near = near and spaces == 1
        elif code == 45 or code == 39 or code == 0x2019 or code == 38 or code == 0x2010 or code == 0x2011:
            joints += 1
        elif code == 44:
            near = False
        elif not (code == 46 and initial):  # an initial's full stop
            near = False
            # Brackets, quotes and dashes stand inside of sentences, too.
            if not (code == 40 or code == 0xAB or code == 0x2013 or code == 0x2014):
                fresh = True
    return near, fresh, spaces, joints, joins


@numba.njit(cache=True, nogil=True)
def _partner(buffer: Any, read: Any, case: Any, k: int) -> int:
    """The word that makes a pair with the word `k` near it, or -1: initials between them are passed over, and so are
    letters that say nothing of case."""
    j = k - 1
    while j >= 0:
        if read[j, _UNITS] == _SIGN:
            j -= 1
            continue
        if read[j, _DIGITS] > 0 or read[j, _UNITS] > LONGEST:
            return -1
        if case[j] == _NONE:
            j -= 1
            continue
        if case[j] == _UPPER and read[j, _UNITS] == 1:
            if not _gap(buffer, read, case, j)[0]:
                return -1
            j -= 1
            continue
        return j if read[j, _UNITS] >= PART else -1
    return -1


@numba.njit(cache=True, nogil=True)
def _word(buffer: Any, hashes: Any, read: Any, case: Any, k: int, table: Any, expansions: Any, out: Any, n: int) -> int:
    """The tokens that end with word `k`, which is not in small letters: itself, and a pair."""
    units, end = read[k, _UNITS], read[k, _PLACE]
    kind = case[k]
    if units > LONGEST or kind == _NONE:
        return n
    value = np.int64(mix(hashes[k]))
    near, fresh, spaces, joints, _ = _gap(buffer, read, case, k)
    capital = kind == _UPPER
    if kind == _UNCASED:
        code, _ = decode(buffer, read[k, _BEGIN], read[k, _END])
        first = table[code]
        if first >= EXPANSION_BASE:
            first = expansions[np.int64(first) - EXPANSION_BASE, 0]
        if units >= (HANGUL_WORD if 0xAC00 <= first <= 0xD7AF else PLAIN_WORD):
            out[n, 0], out[n, 2], out[n, 3], out[n, 4] = value, end - units, end, PLAIN
            n += 1
        near = near and spaces <= 1 and joints == 0
    elif units >= WORD:
        out[n, 0], out[n, 2], out[n, 3], out[n, 4] = value, end - units, end, START if fresh else CAPITAL
        n += 1
    if near and units >= PART:
        j = _partner(buffer, read, case, k)
        if j >= 0 and case[j] == kind:
            out[n, 0] = np.int64(mix(mix(hashes[j]) * _BASE + mix(hashes[k]) + _PAIRED))
            out[n, 2], out[n, 3] = read[j, _PLACE] - read[j, _UNITS], end
            out[n, 4] = PAIR if capital else PLAIN_PAIR
            n += 1
    return n


@numba.njit(cache=True, nogil=True)
def _handle(buffer: Any, hashes: Any, read: Any, case: Any, count: int, k: int, out: Any, n: int) -> int:
    """The handle in which word `k` is the first with a digit: words that only `-_./@` joins."""
    units, digits = read[k, _UNITS], read[k, _DIGITS]
    low = k
    while units <= HANDLE_MOST and low > 0 and _gap(buffer, read, case, low)[4]:
        low -= 1
        if read[low, _DIGITS] > 0:
            return n
        units += read[low, _UNITS]
    high = k
    while units <= HANDLE_MOST and high + 1 < count and read[high + 1, _UNITS] > 0:
        if not _gap(buffer, read, case, high + 1)[4]:
            break
        high += 1
        units += read[high, _UNITS]
        digits += read[high, _DIGITS]
    if units < HANDLE_LEAST or units > HANDLE_MOST or digits == units:
        return n
    token = np.uint64(0)
    for j in range(low, high + 1):
        for _ in range(read[j, _UNITS]):
            token *= _BASE
        token += hashes[j]
    start = read[low, _PLACE] - read[low, _UNITS]
    out[n, 0], out[n, 2], out[n, 3], out[n, 4] = np.int64(mix(token ^ _HANDLED)), start, start + units, HANDLE
    return n + 1


@numba.njit(cache=True, nogil=True)
def _sort_of(sign: Any) -> int:
    """HAN, KANA, or -1 for a sign of another script, which gives no token."""
    if 0x3400 <= sign <= 0x9FFF or sign >= 0x20000:
        return HAN
    return KANA if 0x30A1 <= sign <= 0x30FF else -1


@numba.njit(cache=True, nogil=True)
def _run(hashes: Any, read: Any, count: int, k: int, out: Any, n: int) -> int:
    """The token of the run of signs that begins with sign `k`, if it gives one."""
    sort = _sort_of(hashes[k])
    value = np.uint64(0)
    end = k
    while end < count and read[end, _UNITS] == _SIGN and _sort_of(hashes[end]) == sort:
        if end > k and read[end - 1, _END] != read[end, _BEGIN]:
            break
        value = value * _BASE + hashes[end] + np.uint64(1)
        end += 1
    if (HAN_LEAST <= end - k <= HAN_MOST) if sort == HAN else (KANA_LEAST <= end - k <= KANA_MOST):
        place = read[k, _PLACE] - 1
        out[n, 0], out[n, 2], out[n, 3], out[n, 4] = np.int64(mix(value)), place, place + end - k, sort
        n += 1
    return n
