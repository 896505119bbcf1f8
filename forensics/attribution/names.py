"""Does a response hold names that one other tenant alone has? People, firms, code names, invented words, short handles.

One name is weak: famous ones stand in anybody's answer, and a character model cannot tell a rare surname from an odd
word. So the names of ONE tenant in one response are added up, each paid for:

    net = sum over places (bits - log2 V) - log2(R U) - log2 C(m, k)

V: distinct tokens that the tenant sent (a place could have met any of them); R U: responses times tenants (one pair
was picked); C(m, k): the k places were picked among the m tokens of the response that some one tenant supplies. A
place that is not worth its price is left out. Where the tenant was in flight on the recipient's worker, R U shrinks
to the pairs that were. Where another fragment of the response names the tenant already, R U is not paid: no pair was
searched for.

Names that were supplied only after the response (decoys) are scored alike; they give a q-value where they can
(`decoys`), and where they do about as well as the others nothing is reported. `probable` takes two names or more and a
q-value (or that the tenant was in flight on the same worker), or that the tenant was named already. A single name is
`possible` where its tenant was in flight on the same worker, or there shortly before and the name is worth as much as a
copied passage must be; else nobody is named: no statistic tells a private name that one tenant has from a famous one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from forensics.attribution import decoys
from forensics.attribution.candidates import Candidate, Excluded, Holder, prompts_by_request
from forensics.attribution.corpus import Corpus
from forensics.attribution.findings import Evidence, Judged
from forensics.attribution.generated import near
from forensics.attribution.holdings import LATE, World
from forensics.attribution.name_bits import most_bits, name_strength
from forensics.attribution.name_places import (
    Group,
    Place,
    groups_of,
    surroundings,
    terms_of_names,
    with_numbers,
    without_explained,
)
from forensics.attribution.name_prices import Prices
from forensics.attribution.name_screen import worth_scoring
from forensics.attribution.parameters import Parameters
from forensics.attribution.rare_names import RareNames, find_rare_names
from forensics.attribution.sources import Source, locate, rank
from forensics.attribution.strength import ODD_BITS, Counts, Strength, count_background, keys_between
from forensics.attribution.texts import Texts
from forensics.text.names import LOWER, PLAIN, PLAIN_PAIR, START
from forensics.text.runs import total_weight
from forensics.text.words import Keys, Words

STRATUM, PLAIN_STRATUM = "supplied name", "supplied word"  # words of scripts without capitals are judged apart
TRIED = ("own_material", "echo", "shared", "same_question", "too_weak")
UNNAMED_UNITS = 12  # units of a name that is reported though nobody can be named for it: shorter ones are everywhere
LEAST_BITS = 4.0  # net, where decoys bear it out
DECOY_SHARE = 0.2  # decoys that do as well, for each target, above which nothing is reported
MIN_AGREEING = 2
SUBJECT_SHARE = 0.1  # of the tenants that may use a word which, around the name in both texts, shows a common subject
BACKGROUND_SHARE = 4  # of the text that the background of passages is counted in, a name's is a part


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


def find_names(
    corpus: Corpus,
    texts: Texts,
    judged: list[Judged],
    excluded: list[Excluded],
    correlated: bool,
    parameters: Parameters,
) -> tuple[list[Judged], list[Excluded], list[decoys.Stratum]]:
    """Fragments beside `judged`, exclusions, and the decoy stratum. `correlated`: contents follow each other."""
    world = corpus.world
    if len(world.requests.unit_names) < 2:
        return [], [], []
    rare = find_rare_names(corpus, parameters)
    named = {
        (i.candidate.use, i.units[0]) for i in judged if i.verdict == "probable" and len(i.units) == 1 and i.ranked
    }
    prices = Prices(world, rare.sent)
    groups = [g for g in groups_of(world, rare, judged) if prices.worth_a_look(g, (g.use, g.holder) in named)]
    groups = worth_scoring(corpus, texts, groups, prices, named, parameters.background_bytes // BACKGROUND_SHARE)
    groups, dropped = without_explained(world, texts, groups, excluded)
    scored = _score(corpus, texts, groups, prices, named, parameters)
    strata = {plain: _stratum(world, rare, scored, named, plain, parameters) for plain in (False, True)}
    found: list[Judged] = []
    for batch in texts.batches([{item.group.content} for item in scored]):
        for item in scored[batch.start : batch.stop]:
            results = (
                _judge(world, texts, item, scored, strata[_mostly_plain(item)], named, correlated, parameters)
                if item.group.target
                else []
            )
            for result in results:
                if isinstance(result, Judged):
                    found.append(result)
                else:
                    dropped.append(result)
    return found, dropped, list(strata.values())


def _candidate(group: Group, place: Place) -> Candidate:
    length = place.end - place.start
    holder = Holder(
        place.other, group.holder, 0, place.start, place.end, place.other_start, place.other_start + length, length
    )
    family = "target" if group.target else "decoy"
    return Candidate(
        group.use, group.request, group.content, place.start, place.end, family, True, (holder,),
        frozenset({group.holder}),
    )  # fmt: skip


def _score(
    corpus: Corpus,
    texts: Texts,
    groups: list[Group],
    prices: Prices,
    named: set[tuple[int, int]],
    parameters: Parameters,
) -> list[Scored]:
    """Strengths under the character model and the case's own counts, without groups whose names are worth nothing."""
    world = corpus.world
    keys: list[Keys] = []
    around: list[list[Keys]] = []  # by group and place: telling words that surround the name in both texts
    worthy: list[Group] = []
    prompts = prompts_by_request(world, {group.request for group in groups})
    needs = [_needed(group, prompts) for group in groups]
    for batch in texts.batches(needs):
        known: dict[tuple[int, int | None], Words] = {}
        for group in (with_numbers(texts, one) for one in groups[batch.start : batch.stop]):
            # The case's own counts can only take from what the characters give: most places fall before they are read.
            price = float(prices.tokens[group.holder])
            places = tuple(
                place for place in group.places if _may_pay(place, most_bits(texts, _candidate(group, place)), price)
            )
            if not places:
                continue
            worthy.append(replace(group, places=places))
            here = []
            own_names = terms_of_names(texts, group)
            for place in places:
                keys.append(keys_between(texts.words(group.content), place.start, place.end)[1])
                here.append(surroundings(texts, group, place, prompts.get(group.request, []), own_names, known))
            around.append(here)
            keys += here
    if not keys:
        return []
    groups = worthy
    needs = [_needed(group, prompts) for group in groups]
    counts = count_background(corpus, np.concatenate(keys), parameters.background_bytes // BACKGROUND_SHARE)
    found: list[Scored] = []
    for batch in texts.batches(needs):
        for i in batch:
            group = _of_other_subjects(groups[i], around[i], counts, world)
            item = _scored(world, texts, group, counts, prices, (group.use, group.holder) in named)
            if item is not None:
                found.append(item)
    return found


def _needed(group: Group, prompts: dict[int, list[int]]) -> set[int]:
    return {group.content, *prompts.get(group.request, [])[-1:], *(place.other for place in group.places)}


def _may_pay(place: Place, bits: float, price: float) -> bool:
    """Is a place with at most so many bits worth its price, and odd enough if it is a small word?"""
    return bits > price and (not _unmarked(place) or bits >= ODD_BITS * (place.end - place.start))


def _unmarked(place: Place) -> bool:
    """Does its writing say nothing of a name: small letters, or the capital that begins a sentence?"""
    return place.kinds <= {LOWER, START}


def _measured(texts: Texts, group: Group, place: Place, counts: Counts, world: World) -> Strength:
    return name_strength(texts, _candidate(group, place), counts, int(world.requests.unit[group.request]))


def _of_other_subjects(group: Group, around: list[Keys], counts: Counts, world: World) -> Group:
    """The group without the names that stand among the same rare words in both texts: what both are about."""
    out = frozenset({group.holder, int(world.requests.unit[group.request])})
    limit = SUBJECT_SHARE * (counts.counts.shape[1] - 1)
    kept = []
    for place, keys in zip(group.places, around, strict=True):
        _, tenants = counts.of(keys, out)
        if not bool((tenants <= limit).any()):
            kept.append(place)
    return replace(group, places=tuple(kept))


def _scored(world: World, texts: Texts, group: Group, counts: Counts, prices: Prices, named: bool) -> Scored | None:
    price = float(prices.tokens[group.holder])
    places: dict[bytes, tuple[Place, Strength, Source | None]] = {}
    units = texts.units(group.content)
    for place in group.places:
        strength = _measured(texts, group, place, counts, world)
        if not _may_pay(place, strength.bits, price):
            continue
        candidate = _candidate(group, place)
        source = locate(world, candidate, candidate.holders[0]) if group.target else None
        if group.target and source is None:
            continue
        places.setdefault(units[place.start : place.end].tobytes(), (place, strength, source))
    chosen = _distinct(texts, group, list(places.values()))
    if not chosen:
        return None
    sources = [source for _, _, source in chosen if source is not None]
    beside = bool(sources) and all(bool(s.same_worker) and bool(s.overlapped) for s in sources)
    charge = len(chosen) * price + prices.choice(len(chosen), group.rivals)
    if not named:
        charge += prices.pairs_beside if beside else prices.pairs
    return Scored(group, chosen, charge, beside)


Named = tuple[Place, Strength, Source | None]


def _distinct(texts: Texts, group: Group, places: list[Named]) -> tuple[Named, ...]:
    """Without names whose words another one has, too: a part of it, said again."""
    units = texts.units(group.content)
    found = texts.words(group.content)
    held = []
    for place, _, _ in places:
        inside = found.within(place.start, place.end)
        held.append({units[found.starts[i] : found.ends[i]].tobytes() for i in range(inside.start, inside.stop)})
    order = sorted(range(len(places)), key=lambda i: (-places[i][1].bits, places[i][0].start))
    kept: list[int] = []
    said: set[bytes] = set()
    for i in order:
        if said.isdisjoint(held[i]):
            kept.append(i)
            said |= held[i]
    return tuple(places[i] for i in sorted(kept))


def _stratum(
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
        if _mostly_plain(item) == plain and (group.use, group.holder) not in named and item.net > 0:
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


def _mostly_plain(item: Scored) -> bool:
    """Are half of its names words of a script without capitals? Their texts hold Latin words here and there."""
    return 2 * sum(all_plain([place]) for place, _, _ in item.places) >= len(item.places)


def _judge(
    world: World,
    texts: Texts,
    item: Scored,
    scored: list[Scored],
    stratum: decoys.Stratum,
    named: set[tuple[int, int]],
    correlated: bool,
    parameters: Parameters,
) -> list[Judged | Excluded]:
    group, net = item.group, item.net
    folded = texts.folded(group.content)
    known = (group.use, group.holder) in named

    def dropped(detail: str) -> list[Judged | Excluded]:
        spans = [(folded.span(place.start, place.end), strength) for place, strength, _ in item.places]
        return [Excluded(group.use, a, b, "too_weak", detail, 2, round(s.bits, 1)) for (a, b), s in spans]

    q_value = None if known else stratum.q_value(net)
    good = q_value is not None and q_value <= parameters.q_limit
    if net < (LEAST_BITS if good else parameters.identifier_bits):
        return dropped(f"names of one tenant, net {net:.1f} bits")
    as_good, plain = {True: 0, False: 0}, all_plain([place for place, _, _ in item.places])
    for other in scored:
        # Every rare word of a script without capitals is such a name; they say nothing of those that capitals mark.
        if _mostly_plain(other) == _mostly_plain(item):
            as_good[other.group.target] += other.net >= net and (other.group.use, other.group.holder) not in named
    if not known and as_good[False] > DECOY_SHARE * as_good[True]:
        return dropped(f"names of one tenant, net {net:.1f} bits; names that came later do as well")
    if q_value is not None and q_value > parameters.possible_q and not item.beside:
        return dropped(f"q {q_value:.2f} by decoys")
    if not known and not good and all(LOWER in place.kinds for place, _, _ in item.places):
        return dropped("words in small letters, and no decoys to show that they are no ordinary ones")
    # A script without capitals marks no names: words of a language that few tenants write are rare by themselves.
    if not known and not good and net < parameters.probable_bits and plain:
        return dropped(f"words of a script without capitals, net {net:.1f} bits, and no decoys to show what they are")
    agree = sum(place.names for place, _, _ in item.places)
    longest = max(place.end - place.start for place, _, _ in item.places)
    units, verdict, floor = [group.holder], "possible", parameters.generated_bits
    close = any(source is not None and near(source) for *_, source in item.places)
    if known:
        verdict, why = "probable", "the same tenant is named for another passage of this response"
    elif correlated and not item.beside:
        units, verdict = [], "undetermined"
        why = "contents follow each other across tenants, and it was not in flight on the same worker; nobody is named"
    elif not good and all(_unmarked(place) for place, _, _ in item.places):
        units, verdict = [], "undetermined"
        why = "words with a capital only where any word has one; nobody is named"
        floor = parameters.identifier_bits if close else floor
    elif agree >= MIN_AGREEING and not good and not close:
        units, verdict = [], "undetermined"
        why = "no q-value bears it out, and its tenant was not near; nobody is named"
    elif agree >= MIN_AGREEING:
        why = "no q-value" if q_value is None else f"q {q_value:.3g} by decoys"
        if not correlated and (good or (item.beside and net >= parameters.probable_bits)):
            verdict = "probable"
    elif close and (item.beside or net >= parameters.possible_bits):
        why = "one name, and famous ones look the same; its tenant was on the same worker shortly before"
    elif close:
        units, verdict, floor = [], "undetermined", parameters.identifier_bits
        why = "one name, and famous ones look the same; its tenant was near, but not in flight; nobody is named"
    else:
        units, verdict = [], "undetermined"
        why = "one name, and famous ones look the same; nobody is named"
    if not units and (longest < UNNAMED_UNITS or net < floor):
        return dropped(f"{agree} names, short or of few bits, net {net:.1f}; {why}")
    who = "a name" if agree == 1 else f"{agree} names"
    reason = f"{who} that one other tenant alone supplies; net {net:.0f} bits "
    reason += f"({item.bits:.0f} less {item.charge:.0f} for the search); {why}"
    found: list[Judged | Excluded] = []
    for place, strength, source in item.places:
        assert source is not None
        ranked = rank([source])
        evidence = Evidence(
            strength=strength,
            charge=item.charge / len(item.places),
            sources=ranked,
            kin_recipient=0.0,
            kin_source={},
            only={},
            share_of_response=total_weight(folded.units[place.start : place.end]) / max(1, total_weight(folded.units)),
            agreeing_bits=item.bits,
            features={"agreeing_names": agree, "agreeing_net_bits": round(net, 2)},
        )
        found.append(
            Judged(
                _candidate(group, place), evidence, "identifier" if units else "undetermined", stratum.name, verdict,
                reason, units, ranked, TRIED, q_value,
            )
        )  # fmt: skip
    return found
