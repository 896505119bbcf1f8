"""How much likelier are a response's rare terms if it answers this prompt than if it does not? For all prompts nearby.

Decides nothing: `swapped` does.
"""

from __future__ import annotations

import math
from collections.abc import Container
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from forensics.attribution import chances
from forensics.attribution.candidates import Candidate
from forensics.attribution.chances import CHANCE_CAP
from forensics.attribution.corpus import Corpus
from forensics.attribution.holdings import Ints, World
from forensics.attribution.nearby import Held, Prompts, Reader
from forensics.attribution.strength import TERM_BITS, Counts, Strength, measure
from forensics.attribution.texts import Texts
from forensics.text.public import public_share
from forensics.text.words import Keys, Words

PROMPT_SHARE = 0.25  # of what a tenant's answers use, one prompt of its holds about so much
PUBLIC = 0.2  # share of public text in a response that may stand under anybody's question
SAME_LANGUAGE = 0.3  # share of a response's marks that a prompt in its language holds
BYTES_A_WORD = 6.0
KNOWN_LANGUAGE = 0.3  # share of its terms that some other tenant uses, below which nobody else writes the language
KNOWN_SIGNS = 0.5  # the same for pairs of signs, which any two texts of a script share
UNKNOWN_BITS = 16.0  # bits that a term needs then: what is common in the language cannot be told otherwise
NOTHING = Counts(np.zeros(1, dtype=np.uint64), np.zeros((1, 2), dtype=np.int32), 1)

Spans = dict[int, list[tuple[int, int, bool]]]  # by use: start, end, and whether it is a fragment or an exclusion


@dataclass(frozen=True, slots=True)
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


def weigh(
    corpus: Corpus,
    texts: Texts,
    suspects: list[Suspect],
    prompts: Prompts,
    spans: Spans,
    read: Reader,
    answered: npt.NDArray[np.bool_] | None = None,
    least: float = -math.inf,
    always: Container[int] = (),
) -> list[Likely]:
    """Measure each suspect against every prompt nearby, its own tenant's too.

    `read` looks for the terms and marks of these suspects (at least).
    Suspects that no prompt of another tenant that is not `answered` (by request) can explain with at least `least` bits
    are left out, but for the uses `always`.
    """
    world = corpus.world
    wanted = np.zeros(world.text_bytes.size, dtype=np.bool_)
    for suspect in suspects:
        for request in (suspect.request, *suspect.near.tolist()):
            wanted[prompts.of(request)] = True
    held = read.held(wanted)
    length = np.zeros(len(world.requests.request_id))
    np.add.at(length, np.repeat(np.arange(length.size), np.diff(prompts.offsets)), world.text_bytes[prompts.content])
    near: list[Around] = []
    for suspect in suspects:
        one = around(world, suspect, prompts, held, length)
        others = np.append(one.unit[:-1] != one.unit[-1], False)
        if answered is not None:
            others[:-1] &= ~answered[suspect.near]
        if not others.any():
            continue
        bits = chances.most(*one.facts(), PROMPT_SHARE * suspect.shares, *one.size())
        if suspect.use in always or float(bits[others].max()) >= least:
            near.append(one)
    found = []
    for batch in texts.batches([{int(world.uses.content[one.suspect.use])} for one in near]):
        for one in near[batch.start : batch.stop]:
            suspect = one.suspect
            strength, keys, bits = telling(world, texts, suspect, spans.get(suspect.use, []))
            places = np.searchsorted(suspect.terms, keys)
            prior = np.minimum(CHANCE_CAP, one.typical * np.exp2(-bits))
            prior = np.maximum(prior, PROMPT_SHARE * suspect.shares[places])
            part = replace(one, held=np.ascontiguousarray(one.held[:, places]))
            weights = chances.weights(*part.facts(), prior, *part.size())
            found.append(
                Likely(suspect, strength, keys, part.held[:-1], weights[:-1], float(weights[-1]), part.held[-1])
            )
    return found


@dataclass(frozen=True)
class Around:
    """The prompts around a suspect, its own last: which of its terms each holds, whose, in its language, how long."""

    suspect: Suspect
    held: npt.NDArray[np.bool_]
    unit: Ints
    marked: npt.NDArray[np.bool_]
    words: npt.NDArray[np.float64]
    typical: float

    def facts(self) -> tuple[npt.NDArray[np.bool_], Ints, npt.NDArray[np.bool_]]:
        """Which terms each prompt holds, whose it is, whether it is in the language."""
        return self.held, self.unit, self.marked

    def size(self) -> tuple[npt.NDArray[np.float64], float]:
        """Words of each prompt, and of a usual one."""
        return self.words, self.typical


def reader(corpus: Corpus, suspects: list[Suspect]) -> Reader:
    """Looks for the terms and marks of these suspects."""
    return Reader(corpus, [*(suspect.terms for suspect in suspects), *(suspect.marks for suspect in suspects)])


def around(world: World, suspect: Suspect, prompts: Prompts, held: Held, length: npt.NDArray[np.float64]) -> Around:
    """What the prompts around a suspect hold of its terms. `length`: bytes of each request's prompt."""
    every = np.append(suspect.near, suspect.request)
    words = length[every] / BYTES_A_WORD
    # Terms of the language are no sign of the subject: the chance is that of prompts in the response's language.
    marked = held.by_request(prompts, every, suspect.marks).mean(axis=1) if suspect.marks.size else np.ones(every.size)
    return Around(
        suspect,
        held.by_request(prompts, every, suspect.terms),
        world.requests.unit[every].astype(np.int64),
        marked >= SAME_LANGUAGE,
        words,
        max(float(words[:-1].mean()), 1.0),
    )


def telling(
    world: World, texts: Texts, suspect: Suspect, spans: list[tuple[int, int, bool]]
) -> tuple[Strength, Keys, npt.NDArray[np.float64]]:
    """The whole response's strength; its rare terms outside known fragments and their bits by the character model."""
    content = int(world.uses.content[suspect.use])
    units = texts.units(content)
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
