"""How many bits is a matched text worth under the case's own background, and what is it about?

Every word of a candidate is scored twice: by the shipped character model (a lower bound of its surprise to somebody who
has not read this case) and by the case's own word, pair and triple counts over tenants other than the recipient and
those that carry the candidate. The cheaper score counts. Counts are trusted only where two or more other tenants have
them. So a phrase that the case uses all day is worth little, an account number that one tenant has is worth much, and
nothing is worth anything just for being long.

Interpolation of triple, pair and single counts: p(w | h) = (c(h w) + K p(w | h')) / (c(h) + K), K = 4 (a Dirichlet
prior on the shorter history; MacKay and Peto 1995).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from forensics.attribution.candidates import Candidate
from forensics.attribution.corpus import Corpus, TextBatch
from forensics.attribution.texts import Texts
from forensics.text.characters import character_model
from forensics.text.fold import Ints
from forensics.text.keys import among, distinct
from forensics.text.symbols import BOUNDARY, boundaries
from forensics.text.words import Keys, Words, count_keys, pairs, sum_counts, terms, triples, whole_counts

PRIOR = 4.0
MIN_TENANTS = 2
MAX_CELLS = 50_000_000  # keys x units counted at a time (200 MB)
MAX_TERMS = 4000  # terms of a prompt that kinship looks at
SPACED_OUT = 0.6  # share of gaps between letters above which they are not word boundaries
ODD_BITS = 3.5  # a unit, from which a word is rather an invented one than a rare one
TERM_BITS = 8.0  # a term worth less says nothing about what a text is about,
COMMON_TENANTS = 2  # nor does one that more than this many other tenants use,
COMMON_SHARE = 0.05  # or more than this share of them


@dataclass(frozen=True)
class Strength:
    """`bits` of a candidate, of its words; the words' terms and their bits, for kinship."""

    bits: float
    character_bits: float
    words: int
    rarest_word_bits: float
    terms: Keys
    term_bits: npt.NDArray[np.float64]  # 0 for terms that say nothing about what a text is about
    all_term_bits: npt.NDArray[np.float64]  # the same with common terms
    # Its words: unit spans in the response, and the bits of each. Empty where it has none, or was not scored by words.
    word_starts: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    word_ends: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    word_bits: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    sign_share: float = 0.0  # of `term_bits`, that pairs of signs hold: scripts without spaces


@dataclass(frozen=True)
class Counts:
    """`counts[key index, unit]` over the background texts; the last column is texts without a unit."""

    keys: Keys
    counts: npt.NDArray[np.int32]
    words: int

    def of(self, wanted: Keys, leave_out: frozenset[int]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
        """Occurrences of each key and the number of units that have it, without the units `leave_out`."""
        out = np.array(sorted(unit for unit in leave_out if 0 <= unit < self.counts.shape[1]), dtype=np.int64)
        total, tenants = sum_counts(self.keys, self.counts, self._whole, wanted, out)
        return np.where(tenants >= MIN_TENANTS, total, 0.0), tenants

    @cached_property
    def _whole(self) -> tuple[Ints, Ints]:
        found: tuple[Ints, Ints] = whole_counts(self.counts)
        return found


def keys_of(candidate: Candidate, found: Words) -> tuple[Words, Keys]:
    """The whole words inside a candidate (of an altered one, those that agree) and every key that scoring looks up."""
    inside = found.within(candidate.start, candidate.end)
    if candidate.alteration is None:
        return _keys(found, inside)
    blocks = np.array(candidate.alteration.blocks, dtype=np.int64).reshape(-1, 2)
    starts, ends = found.starts[inside], found.ends[inside]
    place = np.searchsorted(blocks[:, 0], starts, side="right") - 1
    agree = (place >= 0) & (ends <= blocks[np.maximum(place, 0), 1])
    return _keys(found, np.arange(inside.start, inside.stop)[agree])


def keys_between(found: Words, start: int, end: int) -> tuple[Words, Keys]:
    """The whole words between two units, and every key that scoring looks up."""
    return _keys(found, found.within(start, end))


def _keys(found: Words, inside: Ints | slice) -> tuple[Words, Keys]:
    part = Words(found.starts[inside], found.ends[inside], found.hashes[inside], found.single[inside])
    if part.hashes.size == 0:
        return part, part.hashes
    keys = [part.hashes, terms(part)]
    if part.hashes.size > 1:
        keys.append(pairs(part.hashes))
    if part.hashes.size > 2:
        keys.append(triples(part.hashes))
    return part, np.concatenate(keys)


def count_background(corpus: Corpus, keys: Keys, budget: int) -> Counts:
    """Count `keys` over the case's texts, responses first, up to `budget` bytes, on all threads."""
    world = corpus.world
    keys = distinct(keys)
    units = len(world.requests.unit_names)
    order = corpus.case.arrow("attribution/background_texts")
    sizes = order["bytes"].to_numpy()
    chosen = np.zeros(world.text_bytes.size, dtype=np.bool_)
    chosen[order["content"].to_numpy()[np.cumsum(sizes) <= max(budget, int(sizes[0]) if sizes.size else 0)]] = True
    group = np.full(world.text_bytes.size, units, dtype=np.int32)
    # A text that several units hold word for word counts for the first of them: one text, one voice.
    held = np.flatnonzero(np.diff(world.holdings.of_content) > 0)
    unit = world.holdings.unit[world.holdings.of_content[held]]
    group[held] = np.where(unit >= 0, unit, units)
    counts = np.zeros((keys.size, units + 1), dtype=np.int32)
    total = 0
    step = max(1, MAX_CELLS // (units + 1))
    for first in range(0, keys.size, step):
        part = keys[first : first + step]

        tables: list[npt.NDArray[np.int32]] = []  # one a thread, which take and give back

        def work(batch: TextBatch, part: Keys = part, tables: list[npt.NDArray[np.int32]] = tables) -> int:
            contents, buffer, offsets = batch
            try:
                found = tables.pop()
            except IndexError:
                found = np.zeros((part.size, units + 1), dtype=np.int32)
            read = count_keys(buffer, offsets, group[contents], part, found)
            tables.append(found)
            return read

        total = sum(corpus.over(chosen, work))
        for found in tables:
            counts[first : first + step] += found
    return Counts(keys, counts, total)


def prompt_terms(texts: Texts, contents: list[int]) -> Keys:
    """Distinct terms of a request's prompt texts (at most MAX_TERMS, the last texts first: they hold the question)."""
    found: list[Keys] = []
    size = 0
    for content in reversed(contents):
        part = distinct(terms(texts.words(content)))
        found.append(part)
        size += part.size
        if size >= MAX_TERMS:
            break
    return distinct(np.concatenate(found))[: 2 * MAX_TERMS] if found else np.zeros(0, dtype=np.uint64)


def measure(candidate: Candidate, texts: Texts, counts: Counts, recipient: int) -> Strength:
    """Bits of a candidate and of its terms. `recipient` is the unit that received it; its texts do not count."""
    left_out = candidate.carriers | {h.unit for h in candidate.holders} | {recipient}
    return _words_bits(candidate, texts, counts, _unit_bits(candidate, texts), left_out)


def bits_by_characters(candidate: Candidate, texts: Texts) -> float:
    """The bits that `measure` gives a candidate without alteration where nothing was counted: counts can only take."""
    return float(_unit_bits(candidate, texts).sum())


def _unit_bits(candidate: Candidate, texts: Texts) -> npt.NDArray[np.float64]:
    """Bits of each unit by the character model, with the boundary before it counted in."""
    folded = texts.folded(candidate.content)
    units = folded.units[candidate.start : candidate.end]
    gaps = boundaries(folded, candidate.start, candidate.end).copy()
    if gaps.size and gaps.mean() > SPACED_OUT:  # letters set apart one by one are no words
        gaps[:] = False
    gaps[:1] = True
    places = np.flatnonzero(gaps)
    symbols = np.insert(units, places, BOUNDARY)
    symbol_bits = character_model().bits(symbols)
    at = np.arange(units.size) + np.cumsum(gaps)
    unit_bits: npt.NDArray[np.float64] = symbol_bits[at]
    unit_bits[places] += symbol_bits[at[places] - 1]
    return unit_bits


def _words_bits(
    candidate: Candidate,
    texts: Texts,
    counts: Counts,
    unit_bits: npt.NDArray[np.float64],
    left_out: frozenset[int],
) -> Strength:
    part, _ = keys_of(candidate, texts.words(candidate.content))
    cumulative = np.concatenate([[0.0], np.cumsum(unit_bits)])
    characters = float(cumulative[-1])
    if candidate.alteration is not None:  # only words that agree as a whole speak for a copy
        characters = float((cumulative[part.ends - candidate.start] - cumulative[part.starts - candidate.start]).sum())
    if part.hashes.size == 0:
        return Strength(characters, characters, 0, characters, part.hashes, np.zeros(0), np.zeros(0))
    low = part.starts - candidate.start
    high = part.ends - candidate.start
    by_characters = cumulative[high] - cumulative[low]
    single, _ = counts.of(part.hashes, left_out)
    total = max(counts.words, 1)
    probability = single / total
    best = probability.copy()
    if part.hashes.size > 1:
        pair, _ = counts.of(pairs(part.hashes), left_out)
        history = single[:-1]
        mixed = np.where(history > 0, (pair + PRIOR * probability[1:]) / (history + PRIOR), probability[1:])
        best[1:] = np.maximum(best[1:], mixed)
        if part.hashes.size > 2:
            triple, _ = counts.of(triples(part.hashes), left_out)
            history = pair[:-1]
            deeper = np.where(history > 0, (triple + PRIOR * mixed[1:]) / (history + PRIOR), mixed[1:])
            best[2:] = np.maximum(best[2:], deeper)
    by_case = np.where(best > 0, 1.0 - np.log2(np.clip(best, 1e-12, 1.0)), np.inf)
    word_bits = np.minimum(by_characters, by_case)
    outside = characters - float(by_characters.sum())
    # Terms: words, and pairs of neighbouring signs in scripts without spaces, with the bits of their words.
    term_keys = terms(part)
    both = part.single[:-1] & part.single[1:] & (part.ends[:-1] == part.starts[1:])
    term_bits = np.concatenate([word_bits[~part.single], (word_bits[:-1] + word_bits[1:])[both]])
    all_term_bits = term_bits.copy()
    _, tenants = counts.of(term_keys, left_out)
    common = tenants > max(COMMON_TENANTS, (counts.counts.shape[1] - 1) * COMMON_SHARE)
    term_bits[common | (term_bits < TERM_BITS)] = 0.0
    of_signs = float(term_bits[int((~part.single).sum()) :].sum())
    return Strength(
        outside + float(word_bits.sum()),
        characters,
        int(part.hashes.size),
        float(word_bits.max()),
        term_keys,
        term_bits,
        all_term_bits,
        part.starts,
        part.ends,
        word_bits,
        of_signs / max(1.0, float(term_bits.sum())),
    )


def kinship(strength: Strength, prompt: Keys) -> float:
    """Share (0..1, by bits) of a candidate's telling terms that a prompt holds too; 0 where it has none."""
    total = float(strength.term_bits.sum())
    return float(strength.term_bits[among(strength.terms, prompt)].sum()) / total if total else 0.0


def asked_share(strength: Strength, first: Keys, second: Keys) -> float:
    """Share (0..1, by bits) of a candidate's terms, common ones too, that both questions hold."""
    total = float(strength.all_term_bits.sum())
    both = among(strength.terms, first) & among(strength.terms, second)
    return float(strength.all_term_bits[both].sum()) / total if total else 0.0


def particulars(strength: Strength, theirs: Keys, own: Keys) -> tuple[float, float]:
    """Bits of telling terms that only their prompt holds, and of those that only the own prompt holds."""
    in_theirs, in_own = among(strength.terms, theirs), among(strength.terms, own)
    bits = strength.term_bits
    return float(bits[in_theirs & ~in_own].sum()), float(bits[in_own & ~in_theirs].sum())


def likeness(first: Keys, second: Keys, counts: Counts, leave_out: frozenset[int]) -> float:
    """How far two prompts ask the same: shared over smaller weight, terms weighted by rarity over tenants (0..1).

    Terms that the background pass did not count (see `count_background`) weigh as if no other tenant had them.
    """
    if first.size == 0 or second.size == 0:
        return 0.0
    units = counts.counts.shape[1]

    def weigh(keys: Keys) -> npt.NDArray[np.float64]:
        _, tenants = counts.of(keys, leave_out)
        weights = np.log2(units / (1.0 + tenants))
        return np.where(tenants > max(3, units // 5), 0.0, np.clip(weights, 0.0, None))

    one, two = weigh(first), weigh(second)
    shared = float(one[among(first, second)].sum())
    smaller = min(float(one.sum()), float(two.sum()))
    return shared / smaller if smaller > 0 else 0.0
