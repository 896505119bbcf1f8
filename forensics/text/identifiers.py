"""Which tokens of a text could identify somebody? Account numbers, keys, hashes, e-mails, phone numbers, paths.

A token is a run of units held together by joining punctuation (`-_.@/:` and the like; single spaces between digits,
as in phone numbers and IBANs). Punctuation is not hashed, so `4471-9982-11`, `4471 9982 11` and `4471998211` are one
token. Han, kana and other signs of scripts without spaces end a token. Tokens joined by `/ : = ? & #` are also given
part by part, since a copy may carry `ref:` or not; a number of 9 or more digits also without letters that touch it;
groups of digits also without the first, the last or both: another number may stand beside them (`7 4471 9982 11 2`).

Kept are tokens of at least MIN_UNITS units that are e-mails, or mix digits (3 or more) and letters, or have 8 or more
digits, or are paths of 16 or more units. Dates and time stamps are left out: every tenant writes the same ones.
Names and invented words without a digit are not tokens here; they are found inside longer runs only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from forensics.text.fingerprint import _BASE, mix
from forensics.text.fold import EXPANSION_BASE, decode, fold_table
from forensics.text.words import is_single

MIN_UNITS = 8
MIN_CORE = 9  # digits of a number that is looked at without the letters that touch it
_SALT = np.uint64(0xD6E8FEB86659FD93)

# columns of an accumulator
_LENGTH, _DIGITS, _LETTERS, _AT, _START, _JOINS = range(6)
# runs of groups: without the last one, without the first, without both
_SHORT, _TAIL, _INNER = range(3)


@dataclass(frozen=True)
class Identifiers:
    """Parallel arrays: `hashes` int64, `documents` int32, `starts` and `ends` int32 (unit indexes, end exclusive);
    `nested`: groups of a longer run."""

    hashes: npt.NDArray[np.int64]
    documents: npt.NDArray[np.int32]
    starts: npt.NDArray[np.int32]
    ends: npt.NDArray[np.int32]
    nested: npt.NDArray[np.bool_]


def identifiers(buffer: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64]) -> Identifiers:
    """Identifier tokens of the documents `buffer[offsets[i]:offsets[i+1]]` (UTF-8). Releases the GIL."""
    table = fold_table()
    kinds = _kinds()
    return Identifiers(*_scan(buffer, offsets, table.table, table.expansions, kinds, _classes(kinds, table.table)))


def is_nested(data: npt.NDArray[np.uint8], start: int, end: int) -> bool:
    """Is the token at these units of a text (UTF-8) made of groups of a longer run, and nothing else?"""
    found = identifiers(data, np.array([0, data.size], dtype=np.int64))
    mine = found.nested[(found.starts == start) & (found.ends == end)]
    return bool(mine.size and mine.all())


def _kinds() -> npt.NDArray[np.uint8]:
    """Kind of each ASCII character between units: 1 joins, 2 joins and parts, 3 space, 4 joins an e-mail, 0 ends."""
    kinds = np.zeros(128, dtype=np.uint8)
    for character in "-_.'+":
        kinds[ord(character)] = 1
    for character in "/:=?&#\\":
        kinds[ord(character)] = 2
    kinds[ord(" ")] = 3
    kinds[ord("@")] = 4
    return kinds


# classes of ASCII characters while words are passed over
_ENDS, _LETTER, _JOINT, _PART, _STOP = range(5)


def _classes(kinds: npt.NDArray[np.uint8], table: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint8]:
    """What each ASCII character does to a word of letters: ends it, belongs to it, joins, parts; or makes it a case
    for the scan: digits and `@`.
    """
    classes = np.array([_ENDS, _JOINT, _PART, _ENDS, _STOP], dtype=np.uint8)[kinds]
    units = table[:128]
    classes[units != 0] = _LETTER
    classes[(units >= 48) & (units <= 57)] = _STOP
    return classes


@numba.njit(cache=True, nogil=True)
def _wide_kind(code: Any) -> int:
    """The same for signs beyond ASCII: typographic spaces and dashes as their plain forms, 6 for invisible ones."""
    if code == 0xA0 or 0x2000 <= code <= 0x200A or code == 0x202F or code == 0x205F or code == 0x3000:
        return 3
    if 0x2010 <= code <= 0x2015 or code == 0x2212 or code == 0xFE63 or code == 0xFF0D or code == 0xFF0E:
        return 1
    if code == 0xAD or 0x200B <= code <= 0x200D or code == 0x2060 or code == 0xFEFF:
        return 6
    return 0


@numba.njit(cache=True, nogil=True)
def _digits_at(head: Any, i: int, n: int) -> int:
    """Number made of the `n` digits at index `i` of the first 16 units, or -1."""
    value = 0
    for j in range(i, i + n):
        if head[j] < 48 or head[j] > 57:
            return -1
        value = value * 10 + (head[j] - 48)
    return value


@numba.njit(cache=True, nogil=True)
def _is_date(head: Any, length: int, letters: int) -> bool:
    """YYYYMMDD..., DDMMYYYY or MMDDYYYY, with at most the two letters of an ISO time stamp."""
    if letters > 2 or length > 23:
        return False
    year, month, day = _digits_at(head, 0, 4), _digits_at(head, 4, 2), _digits_at(head, 6, 2)
    if 1900 <= year <= 2099 and 1 <= month <= 12 and 1 <= day <= 31:
        return True
    if length == 8:
        year, first, second = _digits_at(head, 4, 4), _digits_at(head, 0, 2), _digits_at(head, 2, 2)
        return 1900 <= year <= 2099 and 1 <= first <= 31 and 1 <= second <= 31
    return False


@numba.njit(cache=True, nogil=True)
def _keeps(acc: Any, head: Any) -> bool:
    length, digits, letters = acc[_LENGTH], acc[_DIGITS], acc[_LETTERS]
    if length < MIN_UNITS or length > 512:
        return False
    if acc[_AT] == 1 and letters >= 4:
        return True
    if _is_date(head, length, letters):
        return False
    if letters == 0:
        return digits >= MIN_UNITS
    if digits >= 3 and digits + letters >= MIN_UNITS:
        return True
    return length >= 16 and acc[_JOINS] >= 2


@numba.njit(cache=True, nogil=True)
def _add(out: Any, n: int, value: Any, document: int, token: Any) -> int:
    """Append one token: hash, document, first unit, end, and that it is no group of a longer run."""
    out[n, 0] = np.int64(mix(value ^ _SALT))
    out[n, 1] = document
    out[n, 2] = token[_START]
    out[n, 3] = token[_START] + token[_LENGTH]
    out[n, 4] = 0
    return n + 1


@numba.njit(cache=True, nogil=True)
def _add_groups(out: Any, n: int, spaces: Any, document: int, accs: Any, heads: Any, hashes: Any) -> int:
    """Append the run without its last group, its first, and both, where two groups are left: one is a part anyhow."""
    for which in range(3):
        if spaces >= 2 + which // 2 and _keeps(accs[which], heads[which]):
            n = _add(out, n, hashes[which], document, accs[which])
            out[n - 1, 4] = 1
    accs[:] = 0
    return n


@numba.njit(cache=True, nogil=True)
def _open_group(spaces: Any, accs: Any, heads: Any, hashes: Any, whole: Any, head: Any, value: Any) -> None:
    """A digit stands behind a space: what is before it is the run without its last group, so far."""
    accs[_SHORT], heads[_SHORT], hashes[_SHORT] = whole, head, value
    if spaces > 0:
        accs[_INNER], heads[_INNER], hashes[_INNER] = accs[_TAIL], heads[_TAIL], hashes[_TAIL]


@numba.njit(cache=True, nogil=True)
def _pass_over(buffer: Any, i: Any, end: Any, position: Any, table: Any, classes: Any) -> Any:
    """Byte and unit behind the words of letters from byte `i` on, which no rule can keep; `i` starts a token.

    Stops at the start of the first run that holds a digit, an `@` or two signs that part: the scan reads it whole.
    """
    start, start_position = i, position
    parts = 0
    while i < end:
        code = np.uint32(buffer[i])
        if code < 128:
            i += 1
            kind = classes[code]
            if kind == _LETTER:
                position += 1
                continue
        else:
            code, i = decode(buffer, i, end)
            value = table[code]
            if value != 0:
                if not is_single(value) and not 48 <= value <= 57:
                    position += 1
                    continue
                kind = _STOP
                if is_single(value):
                    position += 1
                    kind = _ENDS
            else:
                wide = _wide_kind(code)
                kind = _JOINT if wide == 1 or wide == 6 else _ENDS
        if kind == _JOINT:
            continue
        if kind == _PART:
            parts += 1
            if parts < 2:
                continue
        if kind != _ENDS:
            return start, start_position
        start, start_position = i, position
        parts = 0
    return end, position


@numba.njit(cache=True, nogil=True)
def _scan(buffer: Any, offsets: Any, table: Any, expansions: Any, kinds: Any, classes: Any) -> Any:
    capacity = (offsets[-1] - offsets[0]) * 3 // 4 + 8  # three groups of 9 bytes give 8 tokens at most
    out = np.empty((capacity, 5), dtype=np.int64)
    n = 0
    whole = np.zeros(8, dtype=np.int64)
    part = np.zeros(8, dtype=np.int64)
    core = np.zeros(8, dtype=np.int64)
    core_head = np.zeros(16, dtype=np.int64)
    whole_head = np.zeros(16, dtype=np.int64)
    part_head = np.zeros(16, dtype=np.int64)
    groups = np.zeros((3, 8), dtype=np.int64)
    group_heads = np.zeros((3, 16), dtype=np.int64)
    group_hashes = np.zeros(3, dtype=np.uint64)
    for document in range(offsets.size - 1):
        i = offsets[document]
        end = offsets[document + 1]
        position = 0
        whole[:] = 0
        part[:] = 0
        groups[:] = 0
        spaces: Any = 0  # between digits, in the run so far
        whole_hash = np.uint64(0)
        part_hash = np.uint64(0)
        core[:] = 0
        core_hash = np.uint64(0)
        spaced = False  # a single space after a digit is open
        previous_digit: Any = False
        joined = 0  # joining signs in a row
        while True:
            if whole[_LENGTH] == 0:
                i, position = _pass_over(buffer, i, end, position, table, classes)
            code = np.uint32(0)
            value = np.uint32(0)
            if i < end:
                code, i = decode(buffer, i, end)
                value = table[code]
                kind = kinds[code] if code < 128 else _wide_kind(code)
                if kind == 6:
                    continue
                if value != 0 and is_single(
                    value
                ):  # a script without spaces: its signs touch the token, as spaces would
                    position += 1
                    value = np.uint32(0)
                finished = False
            else:
                kind = 0
                finished = True
            if value != 0:
                first = value
                count = 1
                row: Any = -1
                if value >= EXPANSION_BASE:
                    row = np.int64(value) - EXPANSION_BASE
                    first = expansions[row, 0]
                    count = expansions.shape[1]
                if spaced:
                    if not 48 <= first <= 57:
                        if MIN_CORE <= core[_LENGTH] < whole[_LENGTH] and _keeps(core, core_head):
                            n = _add(out, n, core_hash, document, core)
                        core[:] = 0
                        core_hash = np.uint64(0)
                        if _keeps(whole, whole_head):
                            n = _add(out, n, whole_hash, document, whole)
                        n = _add_groups(out, n, spaces, document, groups, group_heads, group_hashes)
                        spaces = 0
                        whole[:] = 0
                        whole_hash = np.uint64(0)
                    else:
                        _open_group(spaces, groups, group_heads, group_hashes, whole, whole_head, whole_hash)
                        spaces += 1
                        if spaces == 1:
                            groups[_TAIL, _START] = position
                            group_heads[_TAIL] = 0
                            group_hashes[_TAIL] = 0
                    spaced = False
                joined = 0
                for j in range(count):
                    unit = value if row < 0 else expansions[row, j]
                    if unit == 0:
                        break
                    is_digit = 48 <= unit <= 57
                    if is_digit:
                        if core[_LENGTH] == 0:
                            core[_START] = position
                            core_head[:] = 0
                        if core[_LENGTH] < 16:
                            core_head[core[_LENGTH]] = unit
                        core[_LENGTH] += 1
                        core[_DIGITS] += 1
                        core_hash = core_hash * _BASE + np.uint64(unit)
                    elif core[_LENGTH] > 0:
                        # A number with letters on it, as in `Konto-4471...` or with a particle behind it.
                        if core[_LENGTH] >= MIN_CORE and _keeps(core, core_head):
                            n = _add(out, n, core_hash, document, core)
                        core[:] = 0
                        core_hash = np.uint64(0)
                    if whole[_LENGTH] == 0:
                        whole[_START] = position
                        whole_head[:] = 0
                    if part[_LENGTH] == 0:
                        part[_START] = position
                        part_head[:] = 0
                    if whole[_LENGTH] < 16:
                        whole_head[whole[_LENGTH]] = unit
                    if part[_LENGTH] < 16:
                        part_head[part[_LENGTH]] = unit
                    whole[_LENGTH] += 1
                    part[_LENGTH] += 1
                    if is_digit:
                        whole[_DIGITS] += 1
                        part[_DIGITS] += 1
                    else:
                        whole[_LETTERS] += 1
                        part[_LETTERS] += 1
                    if spaces > 0:
                        length = groups[_TAIL, _LENGTH]
                        if length < 16:
                            group_heads[_TAIL, length] = unit
                        groups[_TAIL, _LENGTH] += 1
                        groups[_TAIL, _DIGITS if is_digit else _LETTERS] += 1
                        group_hashes[_TAIL] = group_hashes[_TAIL] * _BASE + np.uint64(unit)
                    whole_hash = whole_hash * _BASE + np.uint64(unit)
                    part_hash = part_hash * _BASE + np.uint64(unit)
                    position += 1
                    previous_digit = is_digit
                continue
            joined += 1
            ends_part = kind == 0 or kind == 2 or kind == 3 or joined > 3
            ends_whole = kind == 0 or joined > 3
            if kind == 3:
                if previous_digit and joined == 1 and whole[_LENGTH] > 0:
                    spaced = True
                else:
                    ends_whole = True
            elif spaced:
                ends_whole = True
            if (ends_whole or (ends_part and kind != 3)) and core[_LENGTH] > 0:
                alone = core[_LENGTH] == part[_LENGTH] or core[_LENGTH] == whole[_LENGTH]
                if not alone and core[_LENGTH] >= MIN_CORE and _keeps(core, core_head):
                    n = _add(out, n, core_hash, document, core)
                core[:] = 0
                core_hash = np.uint64(0)
            if ends_part and part[_LENGTH] > 0:
                same = part[_START] == whole[_START] and (ends_whole and part[_LENGTH] == whole[_LENGTH])
                if not same and _keeps(part, part_head):
                    n = _add(out, n, part_hash, document, part)
                part[:] = 0
                part_hash = np.uint64(0)
            if ends_whole and whole[_LENGTH] > 0:
                if _keeps(whole, whole_head):
                    n = _add(out, n, whole_hash, document, whole)
                n = _add_groups(out, n, spaces, document, groups, group_heads, group_hashes)
                spaces = 0
                whole[:] = 0
                whole_hash = np.uint64(0)
                spaced = False
            if kind == 4:
                whole[_AT] = 1 if whole[_LENGTH] > 0 else whole[_AT]
                part[_AT] = 1 if part[_LENGTH] > 0 else part[_AT]
            if kind == 2 and whole[_LENGTH] > 0:
                whole[_JOINS] += 1
            if finished:
                break
    return (
        out[:n, 0].copy(),
        out[:n, 1].astype(np.int32),
        out[:n, 2].astype(np.int32),
        out[:n, 3].astype(np.int32),
        out[:n, 4] == 1,
    )
