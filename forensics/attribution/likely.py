"""How much likelier are a response's rare terms if it answers this prompt than if it does not? For all prompts nearby.

Decides nothing: `swapped` does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from forensics.attribution.candidates import Candidate
from forensics.attribution.corpus import Corpus
from forensics.attribution.holdings import Ints, World
from forensics.attribution.nearby import Prompts, look_up
from forensics.attribution.strength import TERM_BITS, Counts, Strength, measure
from forensics.attribution.texts import Texts
from forensics.text.public import public_share
from forensics.text.words import Keys, Words

PROMPT_SHARE = 0.25  # of what a tenant's answers use, one prompt of its holds about so much
PUBLIC = 0.2  # share of public text in a response that may stand under anybody's question
HIT_RATES = (0.1, 0.25, 0.5)  # shares of an answer's terms that stand in its prompt
CHANCE_CAP = 0.5
CHANCE_FLOOR = 2.0**-10  # no term counts more than ten bits: words of one subject come together
PRIOR = 4.0  # prompts that the case's answers and the character model stand for
SAME_LANGUAGE = 0.3  # share of a response's marks that a prompt in its language holds
BYTES_A_WORD = 6.0
KNOWN_LANGUAGE = 0.3  # share of its terms that some other tenant uses, below which nobody else writes the language
KNOWN_SIGNS = 0.5  # the same for pairs of signs, which any two texts of a script share
UNKNOWN_BITS = 16.0  # bits that a term needs then: what is common in the language cannot be told otherwise
NOTHING = Counts(np.zeros(1, dtype=np.uint64), np.zeros((1, 2), dtype=np.int32), 1)

Spans = dict[int, list[tuple[int, int, bool]]]  # by use: start, end, and whether it is a fragment or an exclusion


@dataclass(frozen=True)
class Suspect:
    """A strange response, its rare terms, and the requests around it, the latest first."""

    use: int
    request: int
    near: Ints
    terms: Keys
    shares: npt.NDArray[np.float64]  # of the tenants of its language that use each term
    marks: Keys  # terms that show its language
    coverage: float  # share of its terms that the tenant closest in language uses


@dataclass(frozen=True)
class Likely:
    """A suspect with the weight (bits) of each prompt nearby and of its own, and what they rest on."""

    suspect: Suspect
    strength: Strength
    keys: Keys  # distinct telling terms of the response
    held: npt.NDArray[np.bool_]  # [near request, term]
    bits: npt.NDArray[np.float64]  # by near request
    own_bits: float
    own: npt.NDArray[np.bool_]  # by term


def weigh(corpus: Corpus, texts: Texts, suspects: list[Suspect], prompts: Prompts, spans: Spans) -> list[Likely]:
    """Measure each suspect against every prompt nearby, its own tenant's too."""
    world = corpus.world
    measured: list[tuple[Strength, Keys, npt.NDArray[np.float64]]] = []
    for batch in texts.batches([{int(world.uses.content[s.use])} for s in suspects]):
        for suspect in suspects[batch.start : batch.stop]:
            measured.append(_telling(world, texts, suspect, spans.get(suspect.use, [])))
    wanted = np.zeros(world.text_bytes.size, dtype=np.bool_)
    for suspect in suspects:
        for request in (suspect.request, *suspect.near.tolist()):
            wanted[prompts.of(request)] = True
    held = look_up(corpus, wanted, [*(keys for _, keys, _ in measured), *(suspect.marks for suspect in suspects)])
    length = np.zeros(len(world.requests.request_id))
    np.add.at(length, np.repeat(np.arange(length.size), np.diff(prompts.offsets)), world.text_bytes[prompts.content])
    found = []
    for suspect, (strength, keys, bits) in zip(suspects, measured, strict=True):
        every = np.append(suspect.near, suspect.request)
        rows = held.by_request(prompts, every, keys)
        unit = world.requests.unit[every]
        mine = unit == unit[-1]
        words = length[every] / BYTES_A_WORD
        typical = max(float(words[:-1].mean()), 1.0)
        # Terms of the language are no sign of the subject: the chance is that of prompts in the response's language.
        marked = (
            held.by_request(prompts, every, suspect.marks).mean(axis=1) if suspect.marks.size else np.ones(every.size)
        )
        common = PROMPT_SHARE * suspect.shares[np.searchsorted(suspect.terms, keys)]
        prior = np.maximum(np.minimum(CHANCE_CAP, typical * np.exp2(-bits)), common)
        weights = np.zeros(every.size)
        for one in np.unique(unit).tolist():
            others = (unit != one) & ~mine & (marked >= SAME_LANGUAGE)
            chance = (rows[others].sum(axis=0) + PRIOR * prior) / (int(others.sum()) + PRIOR)
            for place in np.flatnonzero(unit == one).tolist():
                weights[place] = _ratio(rows[place], chance * max(1.0, words[place] / typical))
        found.append(Likely(suspect, strength, keys, rows[:-1], weights[:-1], float(weights[-1]), rows[-1]))
    return found


def _telling(
    world: World, texts: Texts, suspect: Suspect, spans: list[tuple[int, int, bool]]
) -> tuple[Strength, Keys, npt.NDArray[np.float64]]:
    """The whole response's strength; its rare terms outside known fragments and their bits by the character model."""
    content = int(world.uses.content[suspect.use])
    units = texts.folded(content).units
    candidate = Candidate(suspect.use, suspect.request, content, 0, units.size, "target", False, (), frozenset())
    strength = measure(candidate, texts, NOTHING, int(world.requests.unit[suspect.request]))
    starts, ends = term_spans(texts.words(content))
    free = np.ones(starts.size, dtype=np.bool_)
    positions = texts.folded(content).positions
    for low, high, leaked in spans:
        if not leaked:
            low, high = (int(place) for place in np.searchsorted(positions, (low, high)))
        free &= (ends <= low) | (starts >= high)
    if public_share(texts.raw(content)) >= PUBLIC:
        free[:] = False
    needed = TERM_BITS
    if suspect.coverage < KNOWN_LANGUAGE:
        needed = UNKNOWN_BITS
    if suspect.coverage < KNOWN_SIGNS:
        free[int((~texts.words(content).single).sum()) :] = False
    rare = np.isin(strength.terms, suspect.terms)
    telling = free & rare & (strength.all_term_bits >= needed)
    keys, first = np.unique(strength.terms[telling], return_index=True)
    return strength, keys, strength.all_term_bits[telling][first]


def term_spans(found: Words) -> tuple[Ints, Ints]:
    """Unit spans of `words.terms`, in its order."""
    both = found.single[:-1] & found.single[1:] & (found.ends[:-1] == found.starts[1:])
    return (
        np.concatenate([found.starts[~found.single], found.starts[:-1][both]]),
        np.concatenate([found.ends[~found.single], found.ends[1:][both]]),
    )


def _ratio(held: npt.NDArray[np.bool_], chance: npt.NDArray[np.float64]) -> float:
    """Bits for "answers this prompt" against "does not", at the rate that suits it best (two bits are paid for it)."""
    chance = np.clip(chance, CHANCE_FLOOR, CHANCE_CAP)
    best = -math.inf
    for rate in HIT_RATES:
        both = np.maximum(rate, chance)
        bits = np.where(held, np.log2(both / chance), np.log2((1 - both) / (1 - chance)))
        best = max(best, float(bits.sum()))
    return best - 2.0
