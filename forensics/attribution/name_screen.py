"""Which groups of names could be worth their price at all? A bound from above for all of them together.

Most names that one tenant alone supplies are ordinary rare words, and a group of them is not worth its search. To see
that takes less than to score it (`names`): at most a name holds what its characters hold, and each of its words no more
than the case's own counts of that word give. Of the names of a group the best subset counts, since some may fall. What
passes is scored as if nothing had been looked at here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
import numpy.typing as npt
import polars as pl

from forensics.attribution.corpus import Corpus
from forensics.attribution.name_bits import MOST_BITS
from forensics.attribution.name_places import MIN_DIGITS, MOST_AROUND, Group, with_numbers
from forensics.attribution.name_prices import Prices
from forensics.attribution.strength import MIN_TENANTS, SPACED_OUT, count_background
from forensics.attribution.texts import Texts
from forensics.text.characters import ORDER, character_model
from forensics.text.fingerprint import mix
from forensics.text.fold import Ints
from forensics.text.scripts import DIGIT, scripts
from forensics.text.symbols import BOUNDARY, boundaries
from forensics.text.words import Keys, whole_counts

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class _Places:
    """Names of all groups: `group` of each, its text (`name`, equal for equal ones), bits by characters, of these
    outside of words, the most it can hold, and whether there are `numbers` around it. Words of the names: `place` of
    each, hash, bits by characters."""

    group: Ints
    name: Ints
    characters: Floats
    outside: Floats
    most: Floats
    numbers: npt.NDArray[np.bool_]
    place: Ints
    hashes: Keys
    word_bits: Floats


def worth_scoring(
    corpus: Corpus, texts: Texts, groups: list[Group], prices: Prices, named: set[tuple[int, int]], budget: int
) -> list[Group]:
    """The groups whose names may be worth more than they cost. `budget`: bytes of text that words are counted in."""
    if not groups:
        return []
    unit = corpus.world.requests.unit
    price = np.array([float(prices.tokens[group.holder]) for group in groups])
    due = np.array([0.0 if (group.use, group.holder) in named else prices.pairs_beside for group in groups])
    rivals = np.array([group.rivals for group in groups], dtype=np.float64)
    read = _read(texts, groups)
    worth = np.minimum(read.characters, read.most)
    kept = _best(read.group, read.name, worth, price, rivals) > due
    wanted = kept[read.group[read.place]]
    counts = count_background(corpus, read.hashes[wanted], budget)
    holder = np.array([group.holder for group in groups], dtype=np.int64)
    recipient = np.array([int(unit[group.request]) for group in groups], dtype=np.int64)
    owner = read.group[read.place]
    seen = _seen(counts.keys, counts.counts, whole_counts(counts.counts), read.hashes, holder[owner], recipient[owner])
    by_case = 1.0 - np.log2(np.clip(seen / max(counts.words, 1), 1e-12, 1.0))
    words = np.where(seen > 0, np.minimum(read.word_bits, by_case), read.word_bits)
    worth = read.outside + np.bincount(read.place, weights=words, minlength=read.group.size)
    kept &= _best(read.group, read.name, np.minimum(worth, read.most), price, rivals) > due
    kept |= _longer(texts, groups, np.unique(read.group[read.numbers & ~kept[read.group]]))
    return [group for group, stays in zip(groups, kept.tolist(), strict=True) if stays]


def _longer(texts: Texts, groups: list[Group], chosen: Ints) -> npt.NDArray[np.bool_]:
    """By group: is it one of the chosen, and are its names read with numbers, so that they are worth more?"""
    found = np.zeros(len(groups), dtype=np.bool_)
    needs = [{groups[i].content, *(place.other for place in groups[i].places)} for i in chosen]
    for batch in texts.batches(needs):
        for i in chosen[batch.start : batch.stop].tolist():
            found[i] = with_numbers(texts, groups[i]).places != groups[i].places
    return found


def _read(texts: Texts, groups: list[Group]) -> _Places:
    """Bits of the names, text by text."""
    order = sorted(range(len(groups)), key=lambda i: groups[i].content)
    by_content: dict[int, list[int]] = {}
    for i in order:
        by_content.setdefault(groups[i].content, []).append(i)
    model = character_model()
    parts: list[tuple[Any, ...]] = []
    first = 0
    contents = list(by_content)
    for batch in texts.batches([{content} for content in contents]):
        for content in contents[batch.start : batch.stop]:
            members = by_content[content]
            starts = np.array([place.start for i in members for place in groups[i].places], dtype=np.int64)
            ends = np.array([place.end for i in members for place in groups[i].places], dtype=np.int64)
            owner = np.repeat(np.array(members), [len(groups[i].places) for i in members])
            folded, words = texts.folded(content), texts.words(content)
            symbols, of_symbol = _symbols(folded.units, boundaries(folded), starts, ends)
            low = np.searchsorted(words.starts, starts)
            high = np.maximum(low, np.searchsorted(words.ends, ends, side="right"))
            characters, outside, place, word, bits = _weigh(
                model.bits(symbols), of_symbol, starts, ends, words.starts, words.ends, low, high
            )
            inside, hashes = _inside(folded.units, starts, ends)
            sizes = np.concatenate([[0], np.cumsum(ends - starts)])
            room = np.concatenate([[0.0], np.cumsum(MOST_BITS[scripts(inside)])])[sizes]
            digits = np.concatenate([[0], np.cumsum(scripts(folded.units) == DIGIT)])
            low, high = np.maximum(starts - MOST_AROUND, 0), np.minimum(ends + MOST_AROUND, folded.units.size)
            around = digits[high] - digits[low] - digits[ends] + digits[starts] >= MIN_DIGITS
            parts.append(
                (owner, hashes, characters, outside, np.diff(room), around, place + first, words.hashes[word], bits)
            )
            first += starts.size
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    return _Places(*columns)


@numba.njit(cache=True, nogil=True)
def _symbols(units: Any, gaps: Any, starts: Any, ends: Any) -> Any:
    """Symbols of all names as the character model reads them, each behind a beginning; and the name's symbols' units:
    1 where a unit ends with the symbol, 0 for the boundary before it, -1 for what stands before the name."""
    room = 0
    for i in range(starts.size):
        room += ORDER + 2 * (ends[i] - starts[i])
    symbols = np.empty(room, dtype=np.uint32)
    kind = np.empty(room, dtype=np.int8)
    n: Any = 0
    for i in range(starts.size):
        for _ in range(ORDER):
            symbols[n], kind[n] = BOUNDARY, -1
            n += 1
        parted = 0
        for at in range(starts[i], ends[i]):
            parted += gaps[at]
        apart = parted > SPACED_OUT * (ends[i] - starts[i])  # letters set apart one by one are no words
        for at in range(starts[i], ends[i]):
            if at == starts[i] or (gaps[at] and not apart):
                symbols[n], kind[n] = BOUNDARY, 0
                n += 1
            symbols[n], kind[n] = units[at], 1
            n += 1
    return symbols[:n], kind[:n]


@numba.njit(cache=True, nogil=True)
def _weigh(bits: Any, kind: Any, starts: Any, ends: Any, word_starts: Any, word_ends: Any, low: Any, high: Any) -> Any:
    """By name: bits, and bits outside of its words; by word of a name: the name, the word, its bits."""
    characters = np.zeros(starts.size)
    outside = np.zeros(starts.size)
    words = (high - low).sum()
    place = np.empty(words, dtype=np.int64)
    word = np.empty(words, dtype=np.int64)
    word_bits = np.empty(words)
    n: Any = 0
    at: Any = 0
    for i in range(starts.size):
        size = ends[i] - starts[i]
        total = np.zeros(size + 1)
        at += ORDER
        for unit in range(size):
            worth = bits[at]
            at += 1
            if kind[at - 1] == 0:
                worth += bits[at]
                at += 1
            total[unit + 1] = total[unit] + worth
        characters[i] = outside[i] = total[size]
        for k in range(low[i], high[i]):
            place[n], word[n] = i, k
            word_bits[n] = total[word_ends[k] - starts[i]] - total[word_starts[k] - starts[i]]
            outside[i] -= word_bits[n]
            n += 1
    return characters, outside, place, word, word_bits


@numba.njit(cache=True, nogil=True)
def _inside(units: Any, starts: Any, ends: Any) -> Any:
    """The units of all names, one after the other, and a hash of each name."""
    out = np.empty((ends - starts).sum(), dtype=units.dtype)
    hashes = np.zeros(starts.size, dtype=np.int64)
    n: Any = 0
    for i in range(starts.size):
        value = np.uint64(0)
        for at in range(starts[i], ends[i]):
            out[n] = units[at]
            value = mix(value + np.uint64(units[at]) + np.uint64(1))
            n += 1
        hashes[i] = np.int64(value)
    return out, hashes


@numba.njit(cache=True, nogil=True)
def _seen(keys: Any, counts: Any, whole: Any, wanted: Any, holder: Any, recipient: Any) -> Any:
    """Occurrences of each word outside of two units; 0 where fewer than MIN_TENANTS others have it."""
    out = np.zeros(wanted.size)
    for i in range(wanted.size):
        row = np.searchsorted(keys, wanted[i])
        if row == keys.size or keys[row] != wanted[i]:
            continue
        total, having = whole[0][row], whole[1][row]
        for column in (holder[i], recipient[i]):
            total -= counts[row, column]
            having -= counts[row, column] > 0
        out[i] = total if having >= MIN_TENANTS else 0
    return out


def _best(group: Ints, name: Ints, worth: Floats, price: Floats, rivals: Floats) -> Floats:
    """By group: the most that any of its names are worth together, each once, less what each costs and the choice of so
    many."""
    from scipy.special import gammaln

    once = (
        pl.DataFrame({"group": group, "name": name, "over": np.maximum(worth - price[group], 0.0)})
        .group_by("group", "name")
        .agg(pl.col("over").max())
        .sort("group", "over", descending=[False, True])
    )
    owner, over = once["group"].to_numpy(), once["over"].to_numpy()
    sizes = np.bincount(owner, minlength=price.size)
    first = np.cumsum(sizes) - sizes
    rank = np.arange(owner.size) - first[owner] + 1.0
    total = np.cumsum(over)
    before = np.concatenate([[0.0], total])[first[owner]]
    among = np.maximum(rivals[owner], rank)
    choice = (gammaln(among + 1) - gammaln(rank + 1) - gammaln(among - rank + 1)) / np.log(2.0)
    best = np.full(price.size, -np.inf)
    np.maximum.at(best, owner, total - before - choice)
    return best
