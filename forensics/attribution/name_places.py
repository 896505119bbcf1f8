"""Where do names of one other tenant stand in a response, and what explains them innocently?

Overlapping tokens of one tenant are one place. Explained is what lies in a passage that another rule has dealt with,
what the recipient's own prompt holds (or its stem: names are inflected), and everything where the words come by the
dozen (a common subject, or a language that only two tenants write). Does not score.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np
import polars as pl

from forensics.attribution.candidates import Excluded, prompts_by_request
from forensics.attribution.findings import Judged
from forensics.attribution.holdings import World
from forensics.attribution.rare_names import RareNames
from forensics.attribution.texts import Texts
from forensics.text.characters import character_model
from forensics.text.fold import holds
from forensics.text.keys import among, distinct
from forensics.text.names import LOWER, PAIR, PLAIN_PAIR
from forensics.text.scripts import DIGIT, scripts
from forensics.text.words import Keys, Words, pairs, terms

CROWD, CROWD_SHARE = 6, 0.15  # more words of one tenant, and this share of the response's tokens, are a subject
STEM, SUFFIX = 5, 2  # units of a word that must stand in the own prompt to explain it; of its end that may differ. Of
# shorter words all must stand there: four letters (`take` of `Takega`) stand in any prompt
SHORTEST = 4  # units of a word of a name that can be explained so at all
TELLING_UNITS = 4  # of a word around a name that may tell what both texts are about
AROUND = 120  # words to either side of a name that show its subject,
TELLING_BITS = 12.0  # if the character model gives a word this many bits
MOST_AROUND = 64  # units to either side of a name that may be read with it,
MIN_DIGITS = 3  # if so many digits are among them
EXPLAINED = ("public_text", "shared", "own_material", "echo", "same_question", "model_phrase")


@dataclass(frozen=True)
class Place:
    """One name: units of the response, and where the other text holds its first token.

    `names`: how many names there are in it, where it is read with the numbers around them (`with_numbers`).
    """

    start: int
    end: int
    other: int
    other_start: int
    kinds: frozenset[int]
    names: int = 1


@dataclass(frozen=True)
class Group:
    """Names of one tenant (`holder`) in one response field. `rivals`: tokens there that some one tenant supplies."""

    use: int
    request: int
    content: int
    holder: int
    target: bool
    places: tuple[Place, ...]
    rivals: int


def groups_of(world: World, rare: RareNames, judged: list[Judged]) -> list[Group]:
    """Groups by use and holder, targets before decoys; without what lies in other fragments."""
    taken: dict[int, list[tuple[int, int]]] = {}
    for item in judged:
        taken.setdefault(item.candidate.use, []).append((item.candidate.start, item.candidate.end))
    rivals = dict(rare.hits.group_by("use").agg(pl.col("seed").n_unique()).iter_rows())
    key = ["use", "holder", "target"]
    alone = pl.col("seed").filter(~pl.col("kind").is_in([PAIR, PLAIN_PAIR]))
    shown = (
        rare.hits.with_columns(
            every=alone.n_unique().over(key), tokens=pl.Series(rare.tokens[rare.hits["content"].to_numpy()])
        )
        .filter((pl.col("every") <= CROWD) | (pl.col("every") <= CROWD_SHARE * pl.col("tokens")))
        .filter(~pl.col("small") | (pl.col("kind") == LOWER))
        .sort(*key, "start", "end", descending=[False, False, True, False, False], maintain_order=True)
        .select(*key, "content", "start", "end", "other", "other_start", "kind", "seed")
    )
    found: list[Group] = []
    for (use, holder, target, content), rows in groupby(shown.iter_rows(), key=lambda row: row[:4]):
        places = _places([row[4:] for row in rows], taken.get(use, []))
        if places:
            request = int(world.uses.request[use])
            found.append(Group(use, request, content, holder, target, places, int(rivals[use])))
    return found


def _places(rows: list[tuple[int, int, int, int, int, int]], taken: list[tuple[int, int]]) -> tuple[Place, ...]:
    """Each name where it stands first: said again it is no other name."""
    found: list[Place] = []
    tokens: list[tuple[int, ...]] = []
    for start, end, other, other_start, kind, seed in rows:
        if any(start < high and low < end for low, high in taken):
            continue
        last = found[-1] if found else None
        if last is not None and start < last.end and last.other == other:
            found[-1] = replace(last, end=max(last.end, end), kinds=last.kinds | {kind})
            tokens[-1] = (*tokens[-1], seed)
        elif last is None or start >= last.end:
            found.append(Place(start, end, other, other_start, frozenset({kind})))
            tokens.append((seed,))
    first = dict(zip(reversed(tokens), reversed(found), strict=True))
    return tuple(sorted(first.values(), key=lambda place: place.start))


def without_explained(
    world: World, texts: Texts, groups: list[Group], excluded: list[Excluded]
) -> tuple[list[Group], list[Excluded]]:
    """Groups that nothing explains; exclusions of those that something does (targets only)."""
    spans: dict[int, list[tuple[int, int]]] = {}
    for item in excluded:
        if item.rule in EXPLAINED:
            spans.setdefault(item.use, []).append((item.start, item.end))
    prompts = prompts_by_request(world, {group.request for group in groups})
    needs = [{g.content, *prompts.get(g.request, ()), *(p.other for p in g.places)} for g in groups]
    kept: list[Group] = []
    dropped: list[Excluded] = []
    for batch in texts.batches(needs):
        for group in groups[batch.start : batch.stop]:
            own = prompts.get(group.request, [])
            folded = texts.folded(group.content)
            rest = []
            for place in group.places:
                low, high = folded.span(place.start, place.end)
                if any(low < last and first < high for first, last in spans.get(group.use, ())):
                    continue
                if _in_own(texts, group, place, own):
                    if group.target:
                        detail = "the own prompt has the name, or its stem"
                        dropped.append(Excluded(group.use, low, high, "own_material", detail, 2))
                    continue
                rest.append(place)
            if rest:
                kept.append(replace(group, places=tuple(rest)))
    return kept, dropped


def with_numbers(texts: Texts, group: Group) -> Group:
    """The group with each name read as far as both texts agree, word by word, where numbers stand beside it in both.

    A street with its number and postcode is one particular, and no common subject of which the number would be a sign.
    """
    here, found = texts.units(group.content), texts.words(group.content)
    read: list[Place] = []
    for place in group.places:
        there = texts.units(place.other)
        low = high = 0
        while (
            low < min(MOST_AROUND, place.start, place.other_start)
            and here[place.start - low - 1] == there[place.other_start - low - 1]
        ):
            low += 1
        length = place.end - place.start
        room = min(here.size - place.end, there.size - place.other_start - length, MOST_AROUND)
        while high < room and here[place.end + high] == there[place.other_start + length + high]:
            high += 1
        inside = found.within(place.start - low, place.end + high)
        if inside.start >= inside.stop:
            read.append(place)
            continue
        start = min(place.start, int(found.starts[inside.start]))
        end = max(place.end, int(found.ends[inside.stop - 1]))
        outside = np.concatenate([here[start : place.start], here[place.end : end]])
        if int((scripts(outside) == DIGIT).sum()) < MIN_DIGITS:
            read.append(place)
        elif read and read[-1].other == place.other and start < read[-1].end:
            read[-1] = replace(
                read[-1],
                end=max(read[-1].end, end),
                kinds=read[-1].kinds | place.kinds,
                names=read[-1].names + place.names,
            )
        else:
            read.append(replace(place, start=start, end=end, other_start=place.other_start - (place.start - start)))
    return replace(group, places=tuple(read))


def _in_own(texts: Texts, group: Group, place: Place, own: list[int]) -> bool:
    """Does an own prompt hold a word of the name, or its stem?"""
    found = texts.words(group.content)
    units = texts.units(group.content)
    inside = found.within(place.start, place.end)
    if bool(found.single[inside].any()):
        return any(holds(texts.units(key).tobytes(), units[place.start : place.end]) for key in own)
    for i in range(inside.start, inside.stop):
        low, high = int(found.starts[i]), int(found.ends[i])
        stem = units[low : high - SUFFIX] if high - low - SUFFIX >= STEM else units[low:high]
        if high - low >= SHORTEST and any(holds(texts.units(key).tobytes(), stem) for key in own):
            return True
    return False


def terms_of_names(texts: Texts, group: Group) -> Keys:
    """The terms of all the group's names."""
    found = texts.words(group.content)
    return distinct(np.concatenate([_terms_inside(found, place) for place in group.places]))


def surroundings(
    texts: Texts,
    group: Group,
    place: Place,
    prompts: list[int],
    names: Keys,
    known: dict[tuple[int, int | None], Words],
) -> Keys:
    """Telling words that stand around a name in the other text, and in the question or around it in the response.

    Longer words that the character model does not expect; the group's own `names` are left out. `known`: what was
    looked at before.
    """

    def window(content: int, at: int | None) -> Words:
        if (content, at) not in known:
            known[content, at] = _around(texts, content, at)
        return known[content, at]

    here = [(group.content, window(group.content, place.start))]
    if prompts:
        here.append((prompts[-1], window(prompts[-1], None)))
    there = window(place.other, place.other_start)
    # Few words stand in both; only those are weighed.
    shared = distinct(there.hashes[~there.single])
    shared = shared[among(shared, distinct(np.concatenate([part.hashes[~part.single] for _, part in here])))]
    shared = shared[~among(shared, names)]
    mine = distinct(np.concatenate([_telling(texts, content, part, shared) for content, part in here]))
    theirs = _telling(texts, place.other, there, shared)
    both = mine[among(mine, theirs)]
    return both[~among(both, names)]


def _terms_inside(found: Words, place: Place) -> Keys:
    inside = found.within(place.start, place.end)
    return terms(Words(found.starts[inside], found.ends[inside], found.hashes[inside], found.single[inside]))


def _around(texts: Texts, content: int, at: int | None) -> Words:
    """The words within AROUND words of the unit `at`; of the end where it is None."""
    found = texts.words(content)
    middle = found.hashes.size if at is None else int(np.searchsorted(found.starts, at))
    part = slice(max(0, middle - AROUND), middle + AROUND)
    return Words(found.starts[part], found.ends[part], found.hashes[part], found.single[part])


def _telling(texts: Texts, content: int, part: Words, wanted: Keys) -> Keys:
    """Those of the `wanted` words that tell something where they stand, and all pairs of neighbouring signs."""
    long = np.flatnonzero((part.ends - part.starts >= TELLING_UNITS) & ~part.single & among(part.hashes, wanted))
    if long.size:
        units = texts.units(content)[int(part.starts[0]) :]
        starts = part.starts[long] - part.starts[0]
        long = long[character_model().worth(units, starts, part.ends[long] - part.starts[0]) >= TELLING_BITS]
    both = part.single[:-1] & part.single[1:] & (part.ends[:-1] == part.starts[1:])
    return distinct(np.concatenate([part.hashes[long], pairs(part.hashes)[both] if both.any() else part.hashes[:0]]))
