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

from dataclasses import replace

import numpy as np

from forensics.attribution import decoys
from forensics.attribution.candidates import Candidate, Excluded, Holder, prompts_by_request
from forensics.attribution.corpus import Corpus
from forensics.attribution.findings import Evidence, Judged
from forensics.attribution.generated import near
from forensics.attribution.holdings import World
from forensics.attribution.name_bits import most_bits, name_strength
from forensics.attribution.name_decoys import Nets, Scored, all_plain, mostly_plain, stratum_of
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
from forensics.attribution.rare_names import RareNames
from forensics.attribution.sources import Source, locate, rank
from forensics.attribution.strength import ODD_BITS, Counts, Strength, count_background, keys_between
from forensics.attribution.texts import Texts
from forensics.text.names import LOWER, START
from forensics.text.runs import total_weight
from forensics.text.words import Keys, Words

TRIED = ("own_material", "echo", "shared", "same_question", "too_weak")
UNNAMED_UNITS = 12  # units of a name that is reported though nobody can be named for it: shorter ones are everywhere
LEAST_BITS = 4.0  # net, where decoys bear it out and the tenant was near
DECOY_SHARE = 0.2  # decoys that do as well, for each target, above which nothing is reported
MIN_AGREEING = 2
SUBJECT_SHARE = 0.1  # of the tenants that may use a word which, around the name in both texts, shows a common subject
BACKGROUND_SHARE = 4  # of the text that the background of passages is counted in, a name's is a part


def find_names(
    corpus: Corpus,
    texts: Texts,
    rare: RareNames,
    judged: list[Judged],
    excluded: list[Excluded],
    correlated: bool,
    parameters: Parameters,
) -> tuple[list[Judged], list[Excluded], list[decoys.Stratum]]:
    """Fragments beside `judged`, exclusions, and the decoy stratum. `correlated`: contents follow each other."""
    world = corpus.world
    if len(world.requests.unit_names) < 2:
        return [], [], []
    named = {
        (i.candidate.use, i.units[0]) for i in judged if i.verdict == "probable" and len(i.units) == 1 and i.ranked
    }
    prices = Prices(world, rare.sent)
    groups = groups_of(world, rare, judged)
    groups = worth_scoring(corpus, texts, groups, prices, named, parameters.background_bytes // BACKGROUND_SHARE)
    groups, dropped = without_explained(world, texts, groups, excluded)
    scored = _score(corpus, texts, groups, prices, named, parameters)
    nets = Nets.of(scored, named)
    strata = {plain: stratum_of(world, rare, scored, named, plain, parameters) for plain in (False, True)}
    found: list[Judged] = []
    for batch in texts.batches([{item.group.content} for item in scored]):
        for item in scored[batch.start : batch.stop]:
            results = (
                _judge(world, texts, item, nets, strata[mostly_plain(item)], named, correlated, parameters)
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


def _judge(
    world: World,
    texts: Texts,
    item: Scored,
    nets: Nets,
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
    close = any(source is not None and near(source) for *_, source in item.places)
    # Decoys speak for many findings at once, and of those the weakest are the likeliest to be false.
    if net < (LEAST_BITS if good and close else parameters.identifier_bits):
        return dropped(f"names of one tenant, net {net:.1f} bits")
    plain = all_plain([place for place, _, _ in item.places])
    if not known and nets.as_good(item, False) > DECOY_SHARE * nets.as_good(item, True):
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
