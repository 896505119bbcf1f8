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
from forensics.text.seed_search import SeedTable, _id
from forensics.text.words import is_single

LOWER, START, CAPITAL, PAIR, HANDLE, PLAIN, PLAIN_PAIR, KANA, HAN = range(9)
WORD = 5  # units of the shortest word in a script with capitals,
PLAIN_WORD = 4  # in one without,
HANGUL_WORD = 3
PART = 2  # and of the shortest word of a pair
LONGEST = 40
LOOSE = 16  # units of the longest katakana run
HAN_LEAST, HAN_MOST = 3, 6

_PAIRED = np.uint64(0x8CB92BA72F3D8DD7)
_HANDLED = np.uint64(0xBB67AE8584CAA73B)
_NONE, _UPPER, _SMALL, _UNCASED = range(4)


@dataclass(frozen=True)
class Names:
    """Parallel arrays: `hashes` int64, `documents` int32, `starts`, `ends` int32 (units, end exclusive), `kinds`."""

    hashes: npt.NDArray[np.int64]
    documents: npt.NDArray[np.int32]
    starts: npt.NDArray[np.int32]
    ends: npt.NDArray[np.int32]
    kinds: npt.NDArray[np.int8]


def names(buffer: npt.NDArray[np.uint8], offsets: Ints, wanted: SeedTable | None = None) -> Names:
    """Tokens of the documents `buffer[offsets[i]:offsets[i + 1]]` (UTF-8); with `wanted` only those of its hashes.

    Releases the GIL.
    """
    table = fold_table()
    nothing = np.zeros(0, dtype=np.int64)
    some = (nothing, np.full(4, -1, dtype=np.int32), np.zeros(1, dtype=np.uint64))
    keys = some if wanted is None else (wanted.keys, wanted.slots, wanted.filter)
    out = _scan(buffer, offsets, table.table, table.expansions, _cases(), wanted is not None, *keys)
    return Names(
        out[:, 0].copy(), out[:, 1].astype(np.int32), out[:, 2].astype(np.int32), out[:, 3].astype(np.int32),
        out[:, 4].astype(np.int8),
    )  # fmt: skip


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
def _put(
    out: Any,
    n: int,
    value: Any,
    document: int,
    start: int,
    end: int,
    kind: int,
    only: Any,
    keys: Any,
    slots: Any,
    words: Any,
) -> int:
    if only and _id(value, keys, slots, words) < 0:
        return n
    out[n, 0] = np.int64(value)
    out[n, 1] = document
    out[n, 2] = start
    out[n, 3] = end
    out[n, 4] = kind
    return n + 1


@numba.njit(cache=True, nogil=True)
def _scan(
    buffer: Any, offsets: Any, table: Any, expansions: Any, cases: Any, only: Any, keys: Any, slots: Any, words: Any
) -> Any:
    out = np.empty((1024, 5), dtype=np.int64)
    n = 0
    for document in range(offsets.size - 1):
        i = offsets[document]
        end = offsets[document + 1]
        position = 0
        # the word being read
        word = np.uint64(0)
        length = 0
        start = 0
        first_case = _NONE
        first_unit = np.uint32(0)
        digits = 0
        initial = False  # the word before was one capital letter
        fresh = True  # a capital here says nothing: the start of a sentence or line
        # the token being read: words joined by `-_./@`
        token = np.uint64(0)
        token_start = 0
        token_length = 0
        token_digits = 0
        token_letters = 0
        # the word before
        before = np.uint64(0)
        before_start = -1
        before_kind = -1
        near = False  # only a space, hyphen or the like since the word before
        spaces = 0
        joints = 0
        # runs of signs
        han = np.uint64(0)
        han_length = 0
        kana = np.uint64(0)
        kana_length = 0
        while i <= end:
            # Most of a text is the rest of a plain word: its letters only add to what is being read.
            while length > 0 and i < end and buffer[i] < 0x80:
                unit = table[buffer[i]]
                if unit == 0:
                    break
                if 48 <= unit <= 57:
                    digits += 1
                    token_digits += 1
                else:
                    token_letters += 1
                word = word * _BASE + np.uint64(unit) + np.uint64(1)
                token = token * _BASE + np.uint64(unit) + np.uint64(1)
                length += 1
                token_length += 1
                position += 1
                i += 1
            if n + 8 >= out.shape[0]:
                grown = np.empty((2 * out.shape[0], 5), dtype=np.int64)
                grown[:n] = out[:n]
                out = grown
            code = np.uint32(0)
            value = np.uint32(0)
            finished = i >= end
            if not finished:
                code, i = decode(buffer, i, end)
                value = table[code]
            else:
                i = end + 1
            if value != 0:
                first = value
                row: Any = -1
                if value >= EXPANSION_BASE:
                    row = np.int64(value) - EXPANSION_BASE
                    first = expansions[row, 0]
                single = is_single(first)
            else:
                first = value
                row = np.int64(-1)
                single = False
            if (value == 0 or single) and length > 0:
                # a word ends
                value_of = mix(word)
                cased = first_case in (_UPPER, _SMALL)
                capital = first_case == _UPPER
                if digits == 0 and length <= LONGEST:
                    if cased:
                        if length >= WORD:
                            kind = LOWER
                            if capital:
                                kind = START if fresh else CAPITAL
                            n = _put(out, n, value_of, document, start, position, kind, only, keys, slots, words)
                        if capital and length >= PART:
                            if near and before_kind == 1:
                                n = _put(
                                    out, n, mix(before * _BASE + value_of + _PAIRED), document, before_start, position,
                                    PAIR, only, keys, slots, words,
                                )  # fmt: skip
                            before, before_start, before_kind = value_of, start, 1
                        elif not (capital and length == 1 and near):  # an initial is passed over
                            before_kind = -1
                    elif first_case == _UNCASED:
                        least = HANGUL_WORD if 0xAC00 <= first_unit <= 0xD7AF else PLAIN_WORD
                        if length >= least:
                            n = _put(out, n, value_of, document, start, position, PLAIN, only, keys, slots, words)
                        if length >= PART:
                            if near and before_kind == 2 and spaces <= 1 and joints == 0:
                                n = _put(
                                    out, n, mix(before * _BASE + value_of + _PAIRED), document, before_start, position,
                                    PLAIN_PAIR, only, keys, slots, words,
                                )  # fmt: skip
                            before, before_start, before_kind = value_of, start, 2
                        else:
                            before_kind = -1
                else:
                    before_kind = -1
                near = True
                fresh = False
                spaces = 0
                joints = 0
                initial = length == 1 and first_case == _UPPER
                word, length, digits = np.uint64(0), 0, 0
                first_case = _NONE
            if value == 0 or single:
                # what stands between words
                joins = code == 45 or code == 95 or code == 46 or code == 47 or code == 64
                if token_length > 0 and (not joins or single):
                    if 5 <= token_length <= 7 and token_digits > 0 and token_letters > 0:
                        n = _put(
                            out, n, mix(token ^ _HANDLED), document, token_start, token_start + token_length, HANDLE,
                            only, keys, slots, words,
                        )  # fmt: skip
                    token, token_length, token_digits, token_letters = np.uint64(0), 0, 0, 0
                if value == 0:
                    if code == 32 or code == 0xA0:
                        spaces += 1
                        if spaces > 1:
                            near = False
                    elif code == 45 or code == 39 or code == 0x2019 or code == 38 or code == 0x2010 or code == 0x2011:
                        joints += 1
                    elif code == 46 and initial:
                        pass
                    elif code == 44:
                        near = False
                    else:
                        near = False
                        # brackets and quotes stand inside of sentences, too
                        if not (code == 40 or code == 0xAB or code == 0x2013 or code == 0x2014):
                            fresh = True
                else:
                    near = False
                    fresh = True
                if kana_length > 0 and (value == 0 or not (0x30A1 <= first <= 0x30FF)):
                    if 3 <= kana_length <= LOOSE:
                        n = _put(
                            out,
                            n,
                            mix(kana),
                            document,
                            position - kana_length,
                            position,
                            KANA,
                            only,
                            keys,
                            slots,
                            words,
                        )
                    kana, kana_length = np.uint64(0), 0
                is_han = single and (0x3400 <= first <= 0x9FFF or first >= 0x20000)
                if han_length > 0 and not is_han:
                    if HAN_LEAST <= han_length <= HAN_MOST:
                        n = _put(
                            out, n, mix(han), document, position - han_length, position, HAN, only, keys, slots, words
                        )
                    han, han_length = np.uint64(0), 0
                if single:
                    if is_han:
                        han = han * _BASE + np.uint64(first) + np.uint64(1)
                        han_length += 1
                    if 0x30A1 <= first <= 0x30FF:
                        kana = kana * _BASE + np.uint64(first) + np.uint64(1)
                        kana_length += 1
                    position += 1
                continue
            # a letter or digit of a word
            if han_length > 0:  # it touches a run of signs, which ends there
                if HAN_LEAST <= han_length <= HAN_MOST:
                    n = _put(out, n, mix(han), document, position - han_length, position, HAN, only, keys, slots, words)
                han, han_length = np.uint64(0), 0
            if kana_length > 0:
                if 3 <= kana_length <= LOOSE:
                    n = _put(
                        out, n, mix(kana), document, position - kana_length, position, KANA, only, keys, slots, words
                    )
                kana, kana_length = np.uint64(0), 0
            if length == 0:
                start = position
                first_case = cases[code] if code < cases.size else _NONE
                first_unit = np.uint32(first)
            if token_length == 0:
                token_start = position
            for j in range(expansions.shape[1]):
                unit = value if row < 0 else expansions[row, j]
                if unit == 0:
                    break
                if 48 <= unit <= 57:
                    digits += 1
                    token_digits += 1
                else:
                    token_letters += 1
                word = word * _BASE + np.uint64(unit) + np.uint64(1)
                token = token * _BASE + np.uint64(unit) + np.uint64(1)
                length += 1
                token_length += 1
                position += 1
                if row < 0:
                    break
    return out[:n].copy()
