"""How do groups of names rank against those that were supplied only later, and so cannot have leaked?

Words of scripts without capitals are judged apart: every rare word is such a name. Does not decide what is reported.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from forensics.attribution import decoys
from forensics.attribution.holdings import LATE, World
from forensics.attribution.name_places import Group, Place
from forensics.attribution.parameters import Parameters
from forensics.attribution.rare_names import RareNames
from forensics.attribution.sources import Source
from forensics.attribution.strength import Strength
from forensics.text.names import PLAIN, PLAIN_PAIR

STRATUM, PLAIN_STRATUM = "supplied name", "supplied word"  # words of scripts without capitals are judged apart


@dataclass(frozen=True)
class Scored:
    """A group with the strength and the source of each place that is worth its price; `charge` for all of them."""

    group: Group
    places: tuple[tuple[Place, Strength, Source | None], ...]
    charge: float
    beside: bool

    @property
    def bits(self) -> float:
        """Of all places."""
        return sum(strength.bits for _, strength, _ in self.places)

    @property
    def net(self) -> float:
        """Less the charge."""
        return self.bits - self.charge


def stratum_of(
    world: World,
    rare: RareNames,
    scored: list[Scored],
    named: set[tuple[int, int]],
    plain: bool,
    parameters: Parameters,
) -> decoys.Stratum:
    """Of names that capitals mark, or (`plain`) of words of scripts without: any rare word is one, and leaks of the
    others say nothing of it."""
    best: dict[bool, dict[int, float]] = {True: {}, False: {}}
    for item in scored:
        group = item.group
        if mostly_plain(item) == plain and (group.use, group.holder) not in named and item.net > 0:
            scores = best[group.target]
            scores[group.use] = max(scores.get(group.use, -math.inf), item.net)
    lags = _lags(world, rare, plain)
    return decoys.assess(world, PLAIN_STRATUM if plain else STRATUM, best[True], best[False], lags, parameters.seed)


def _lags(world: World, rare: RareNames, plain: bool) -> list[int]:
    """Microseconds from the end of a response to the first supply of each decoy name, strong or not."""
    found: dict[tuple[int, int], int] = {}
    holdings = world.holdings
    of_kind = pl.col("kind").is_in([PLAIN, PLAIN_PAIR]) == plain
    rows = rare.hits.filter(~pl.col("target") & of_kind).select("use", "holder", "other")
    for use, unit, other in rows.iter_rows():
        stop = int(world.requests.finished[int(world.uses.request[use])])
        low, high = int(holdings.of_content[other]), int(holdings.of_content[other + 1])
        times = [int(holdings.supplied[r]) for r in range(low, high) if int(holdings.unit[r]) == unit]
        if times and stop < LATE:
            lag = min(times) - stop
            found[use, unit] = min(found.get((use, unit), LATE), lag)
    return sorted(lag for lag in found.values() if 0 <= lag < LATE)


def all_plain(places: Sequence[Place]) -> bool:
    """Are they all words, or pairs of words, of a script without capitals?"""
    return all(place.kinds & {PLAIN, PLAIN_PAIR} for place in places)


def mostly_plain(item: Scored) -> bool:
    """Are half of its names words of a script without capitals? Their texts hold Latin words here and there."""
    return 2 * sum(all_plain([place]) for place, _, _ in item.places) >= len(item.places)


@dataclass(frozen=True)
class Nets:
    """Net bits, ascending, of the groups of tenants that no other passage names: by `mostly_plain`, and of targets or
    decoys. Every rare word of a script without capitals is a name; they say nothing of those that capitals mark."""

    by_kind: dict[tuple[bool, bool], list[float]]

    @classmethod
    def of(cls, scored: list[Scored], named: set[tuple[int, int]]) -> Nets:
        """Of these groups; `named`: uses and units that another passage names."""
        found: dict[tuple[bool, bool], list[float]] = {}
        for item in scored:
            if (item.group.use, item.group.holder) not in named:
                found.setdefault((mostly_plain(item), item.group.target), []).append(item.net)
        return cls({kind: sorted(nets) for kind, nets in found.items()})

    def as_good(self, item: Scored, target: bool) -> int:
        """How many targets, or decoys, of its kind are worth as much?"""
        nets = self.by_kind.get((mostly_plain(item), target), [])
        return len(nets) - bisect_left(nets, item.net)
