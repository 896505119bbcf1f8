"""Does a response hold a string that was planted with another tenant?

A canary says whose text it is, so that nobody has to have logged the request it was planted in. Whole canaries count,
and parts of PART units and more (`text.patterns`), whatever their case and spaces. What the recipient's tenant had sent
itself before it was given it is its own; a part that several tenants write, or that canaries of more than MOST_NAMED
tenants share, tells nothing. The strings themselves go nowhere but into the case's restricted table; labels are shown.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from forensics.attribution.canary_list import CanaryList
from forensics.attribution.candidates import Candidate, Excluded, Holder
from forensics.attribution.corpus import Corpus, TextBatch
from forensics.attribution.findings import Evidence, Judged
from forensics.attribution.holdings import LATE, Ints, World
from forensics.attribution.parameters import Parameters
from forensics.attribution.sources import TIE_UNITS, Source, locate, rank
from forensics.attribution.strength import Strength
from forensics.attribution.texts import Texts
from forensics.text.characters import character_model
from forensics.text.patterns import Matches, Patterns, search
from forensics.text.runs import total_weight

STRATUM = "canary"
TRIED = ("own_material", "echo", "shared", "too_weak")
MOST_NAMED = 3  # tenants in a set


@dataclass(frozen=True)
class _Hit:
    """A match: text, unit span, canary, first unit in the canary."""

    content: int
    start: int
    end: int
    canary: int
    part: int


def find_canaries(
    corpus: Corpus, texts: Texts, listed: CanaryList, judged: list[Judged], parameters: Parameters
) -> tuple[list[Judged], list[Excluded], tuple[str, ...]]:
    """`judged` with the canaries' fragments; those that a canary bears out carry its label. Exclusions, warnings."""
    if not listed.canaries:
        return judged, [], ()
    world = corpus.world
    patterns = Patterns.over([canary.value for canary in listed.canaries])
    hits = _search(corpus, patterns)
    owners = _owners(corpus, listed)
    unknown = sum(1 for canary in listed.canaries if canary.tenant_id not in owners)
    warnings = (
        [f"{unknown} of {len(listed.canaries)} canaries belong to tenants that this case does not know"]
        if unknown
        else []
    )
    finder = _Finder(world, texts, listed, patterns, owners, hits, parameters)
    found: list[Judged] = []
    excluded: list[Excluded] = []
    rows = [
        row
        for content in sorted(hits)
        for row in range(int(world.uses.of_content[content]), int(world.uses.of_content[content + 1]))
        if world.uses.side[row] == 1
    ]
    needs = [{int(world.uses.content[row])} for row in rows]
    for batch in texts.batches(needs):
        for row in rows[batch.start : batch.stop]:
            if world.requests.unit[world.uses.request[row]] < 0:
                continue
            for result in finder.of_use(row):
                if isinstance(result, Judged):
                    found.append(result)
                else:
                    excluded.append(result)
    nobody = sum(1 for row in rows if world.requests.unit[world.uses.request[row]] < 0)
    if nobody:
        warnings.append(f"{nobody} responses of unknown tenants hold a canary or a part of one")
    return _merged(judged, found), excluded, tuple(warnings)


def _search(corpus: Corpus, patterns: Patterns) -> dict[int, list[_Hit]]:
    """Matches in all texts, by text."""

    def work(batch: TextBatch) -> tuple[Ints, Matches]:
        keys, buffer, offsets = batch
        return keys, search(buffer, offsets, patterns)

    hits: dict[int, set[_Hit]] = {}
    for keys, found in corpus.over(np.ones(corpus.world.text_bytes.size, dtype=np.bool_), work):
        columns = (keys[found.documents], found.starts, found.ends, found.patterns, found.parts)
        for row in zip(*(column.tolist() for column in columns), strict=True):
            hits.setdefault(row[0], set()).add(_Hit(*row))
    return {content: sorted(some, key=lambda h: (h.start, h.end, h.canary)) for content, some in sorted(hits.items())}


def _owners(corpus: Corpus, listed: CanaryList) -> dict[str, frozenset[str]]:
    """Isolation units, by name, of each tenant that has canaries."""
    wanted = {canary.tenant_id for canary in listed.canaries}
    found: dict[str, set[str]] = {}
    for tenant, unit in corpus.case.rows("attribution/tenant_units"):
        if tenant in wanted:
            found.setdefault(tenant, {tenant}).add(unit)
    return {tenant: frozenset(units) for tenant, units in found.items()}


class _Finder:
    """Judges the matches of one response at a time."""

    def __init__(
        self,
        world: World,
        texts: Texts,
        listed: CanaryList,
        patterns: Patterns,
        owners: dict[str, frozenset[str]],
        hits: dict[int, list[_Hit]],
        parameters: Parameters,
    ) -> None:
        self._world, self._texts, self._parameters = world, texts, parameters
        self._canaries, self._owners = listed.canaries, owners
        self._sizes = np.diff(patterns.offsets)
        self._hits = hits
        self._of_canary: dict[int, list[_Hit]] = {}
        for some in hits.values():
            for hit in some:
                self._of_canary.setdefault(hit.canary, []).append(hit)
        positions = int(world.text_bytes[world.is_response].sum())
        self._charge = math.log2(positions + 1) + math.log2(int(self._sizes.sum()) + 1)

    def of_use(self, use: int) -> Iterable[Judged | Excluded]:
        """Fragments and exclusions of one response field; overlapping matches are one place."""
        place: list[_Hit] = []
        for hit in self._hits[int(self._world.uses.content[use])]:
            if place and hit.start >= max(h.end for h in place):
                yield from self._judge(use, place)
                place = []
            place.append(hit)
        if place:
            yield from self._judge(use, place)

    def _judge(self, use: int, place: list[_Hit]) -> Iterable[Judged | Excluded]:
        world = self._world
        request = int(world.uses.request[use])
        unit = int(world.requests.unit[request])
        most = max(hit.end - hit.start for hit in place)
        best = [hit for hit in place if hit.end - hit.start > most - TIE_UNITS]
        tenants = sorted({self._canaries[hit.canary].tenant_id for hit in best})
        if any(self._is_own(tenant, request) for tenant in tenants):
            return  # the tenant's own canary, as it should be
        longest = max(best, key=lambda h: (h.end - h.start, -h.canary))
        start, end = longest.start, longest.end
        bits = self._bits(longest)

        def dropped(rule: str, detail: str, holders: int = 1) -> Excluded:
            low, high = self._texts.folded(longest.content).span(start, end)
            return Excluded(use, low, high, rule, detail, holders, round(bits, 1))

        rule = self._explained(request, unit, longest)
        if rule:
            yield dropped(rule, "a canary, or a part of one, that this tenant had sent")
            return
        whole = end - start == int(self._sizes[longest.canary])
        if not whole:
            writers = self._writers(longest, unit)
            if writers >= self._parameters.shared_limit:
                yield dropped("shared", "a part of a canary that several tenants write", writers)
                return
            if len(tenants) > MOST_NAMED:
                yield dropped("too_weak", "a part that the canaries of many tenants share", len(tenants))
                return
        net = bits - self._charge
        if net < (0.0 if whole else self._parameters.identifier_bits):
            yield dropped("too_weak", f"net {net:.1f} bits of a canary")
            return
        yield self._found(use, request, place, longest, tenants, bits, whole)

    def _found(
        self, use: int, request: int, place: list[_Hit], longest: _Hit, tenants: list[str], bits: float, whole: bool
    ) -> Judged:
        start, end = longest.start, longest.end
        folded = self._texts.folded(longest.content)
        candidate = Candidate(use, request, longest.content, start, end, "target", True, (), frozenset())
        ranked = rank(self._sources(candidate, longest, tenants))
        units = sorted({source.holder.unit for source in ranked})
        none = np.zeros(0, dtype=np.uint64)
        evidence = Evidence(
            strength=Strength(bits, bits, 1, bits, none, np.zeros(0), np.zeros(0)),
            charge=self._charge,
            sources=ranked,
            kin_recipient=0.0,
            kin_source={},
            only={},
            share_of_response=total_weight(folded.units[start:end]) / max(1, total_weight(folded.units)),
        )
        labels = sorted({self._canaries[hit.canary].label for hit in place if hit.end - hit.start == end - start})
        size = int(self._sizes[longest.canary])
        what = "a whole canary" if whole else f"{end - start} of the {size} letters of a canary"
        strong = evidence.net_bits >= self._parameters.identifier_bits
        return Judged(
            candidate, evidence, "identifier", STRATUM, "probable" if strong else "possible",
            f"{what} planted with another tenant; net {evidence.net_bits:.0f} bits; decoys do not apply to canaries",
            units, ranked, TRIED, None, tuple(tenants),
        ).with_features({"canary_label": "; ".join(labels[:MOST_NAMED]), "canary_units": size})  # fmt: skip

    def _is_own(self, tenant: str, request: int) -> bool:
        """Was the canary planted with the recipient, or with a sister account?"""
        requests = self._world.requests
        name = requests.unit_names[int(requests.unit[request])]
        return tenant == requests.tenant_id[request] or name in self._owners.get(tenant, frozenset())

    def _same(self, hit: _Hit) -> list[_Hit]:
        """Places anywhere that hold this part of the canary."""
        low, high = hit.part, hit.part + hit.end - hit.start
        found = self._of_canary[hit.canary]
        return [h for h in found if h.part <= low and high <= h.part + h.end - h.start]

    def _explained(self, request: int, unit: int, hit: _Hit) -> str:
        """Rule by which the recipient's own material explains it, or nothing."""
        world = self._world
        stop = int(world.requests.finished[request])
        supplied = given = LATE
        echo = False
        for other in self._same(hit):
            for row in range(int(world.uses.of_content[other.content]), int(world.uses.of_content[other.content + 1])):
                one = int(world.uses.request[row])
                if int(world.requests.unit[one]) != unit:
                    continue
                if int(world.uses.side[row]) == 0:
                    supplied = min(supplied, int(world.requests.received[one]))
                    echo = echo or one == request
                else:
                    given = min(given, int(world.requests.finished[one]))
        if supplied <= stop and supplied <= given:
            return "own_material"
        return "echo" if echo else ""

    def _writers(self, hit: _Hit, unit: int) -> int:
        """Tenants other than the owner that send this part of a canary."""
        world = self._world
        owner = self._owners.get(self._canaries[hit.canary].tenant_id, frozenset())
        found = set()
        for other in self._same(hit):
            for row in range(int(world.uses.of_content[other.content]), int(world.uses.of_content[other.content + 1])):
                one = int(world.requests.unit[world.uses.request[row]])
                if int(world.uses.side[row]) == 0 and one >= 0 and world.requests.unit_names[one] not in owner:
                    found.add(one)
        return len(found - {unit})

    def _sources(self, candidate: Candidate, hit: _Hit, tenants: list[str]) -> list[Source]:
        """The owners' prompts that hold it, if they were logged."""
        world = self._world
        names = {name for tenant in tenants for name in self._owners.get(tenant, frozenset())}
        found: list[Source] = []
        seen: set[tuple[int, int]] = set()
        length = hit.end - hit.start
        for other in self._same(hit):
            at = other.start + hit.part - other.part
            for row in range(int(world.uses.of_content[other.content]), int(world.uses.of_content[other.content + 1])):
                unit = int(world.requests.unit[world.uses.request[row]])
                if int(world.uses.side[row]) or unit < 0 or world.requests.unit_names[unit] not in names:
                    continue
                if (
                    world.requests.tenant_id[int(world.uses.request[row])] not in tenants
                    or (other.content, unit) in seen
                ):
                    continue
                seen.add((other.content, unit))
                source = locate(
                    world, candidate, Holder(other.content, unit, 0, hit.start, hit.end, at, at + length, length)
                )
                if source is not None:
                    found.append(source)
        return found

    def _bits(self, hit: _Hit) -> float:
        units = self._texts.units(hit.content)[hit.start : hit.end]
        return float(character_model().bits(units).sum())


def _merged(judged: list[Judged], found: list[Judged]) -> list[Judged]:
    """One fragment for one place: a longer one of the same source takes the label over, a shorter one gives way."""
    by_use: dict[int, list[Judged]] = {}
    for item in judged:
        by_use.setdefault(item.candidate.use, []).append(item)
    for item in found:
        here = item.candidate
        others = by_use.setdefault(here.use, [])
        outer = [o for o in others if o.candidate.start <= here.start and here.end <= o.candidate.end]
        same = [o for o in outer if item.units and o.units == item.units]
        if same:
            others[others.index(same[0])] = _labelled(same[0], item)
            continue
        inner = [o for o in others if here.start <= o.candidate.start and o.candidate.end <= here.end]
        by_use[here.use] = [o for o in others if o not in inner] + [item]
    return sorted(
        (i for some in by_use.values() for i in some),
        key=lambda i: (i.candidate.use, i.candidate.start, i.candidate.end),
    )


def _labelled(outer: Judged, canary: Judged) -> Judged:
    """A longer passage of the same source with what the canary inside it says."""
    raised = outer.verdict != "probable" and canary.verdict == "probable"
    return replace(
        outer,
        verdict="probable" if raised else outer.verdict,
        reason=f"{canary.reason}; inside a longer passage" if raised else outer.reason,
    ).with_features(canary.evidence.features)
