"""From hits to candidate fragments: runs, trimmed of the recipient's own words, with everybody who holds them.

A candidate is a maximal run of one response field that other tenants' texts carry; it says who holds it and how far,
not yet how much that is worth. Runs that the recipient's own prompt covers become exclusions here (own material that
no seed saw, or the echo of an earlier leak).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from forensics.attribution.holdings import World
from forensics.attribution.seeds import (
    DECOY,
    GENERATED,
    GIVEN,
    MIN_WEIGHT,
    MIN_WEIGHT_NUMBERS,
    OWN,
    PHRASE,
    REPEATED,
    SHARED,
    SUPPLIED,
    Hits,
)
from forensics.attribution.texts import Texts
from forensics.text.fingerprint import GRAM, GUARANTEE
from forensics.text.fold import Units
from forensics.text.runs import COVER_GRAM, Grams, Run, covered, own_grams, runs, total_weight

MIN_DIGITS = 3  # digits that let a run of MIN_WEIGHT_NUMBERS be looked at
SAME = 0.5  # share of a run that must lie in a fragment to be another holder of the same fragment
OWN_SHARE = 0.8  # share of a run that must stand in the recipient's own prompt to be its own
SPAN_GAP = 40  # units between seeds of one excluded span
MAX_OWN_TEXTS = 8  # own texts read for one run
BATCH = 256  # responses handled at a time


@dataclass(frozen=True)
class Holder:
    """A text that carries (part of) a candidate. `start`, `end`: units of the response; `other_*`: of that text."""

    content: int
    unit: int
    side: int
    start: int
    end: int
    other_start: int
    other_end: int
    matched: int


@dataclass(frozen=True)
class Candidate:
    """A foreign run of a response. `start`, `end` in units of the response text."""

    use: int
    request: int
    content: int
    start: int
    end: int
    family: str  # target | decoy | repeated
    token: bool  # found as an identifier token, not as a run
    holders: tuple[Holder, ...]
    carriers: frozenset[int]  # units that hold any seed of it, whatever the time


@dataclass(frozen=True)
class Excluded:
    """A run that a rule dropped. Code points of the response field."""

    use: int
    start: int
    end: int
    rule: str
    detail: str
    holders: int
    bits: float | None = None


def build(world: World, texts: Texts, grams: Hits, tokens: Hits) -> tuple[list[Candidate], list[Excluded]]:
    """Candidates and exclusions of all responses, sorted by use and start."""
    by_use: dict[int, list[int]] = defaultdict(list)
    told = np.isin(grams.kind, (OWN, GIVEN))
    busy = np.unique(grams.use[~told])
    for index in np.flatnonzero(np.isin(grams.use, busy)).tolist():
        by_use[int(grams.use[index])].append(index)
    token_by_use: dict[int, list[int]] = defaultdict(list)
    for index in np.flatnonzero(~np.isin(tokens.kind, (OWN, GIVEN))).tolist():
        token_by_use[int(tokens.use[index])].append(index)
    prompts = prompts_by_request(world, {int(world.uses.request[u]) for u in by_use.keys() | token_by_use.keys()})
    candidates: list[Candidate] = []
    excluded: list[Excluded] = []
    uses = sorted(by_use.keys() | token_by_use.keys())
    for first in range(0, len(uses), BATCH):
        batch = uses[first : first + BATCH]
        texts.forget()
        needed: set[int] = set()
        for use in batch:
            needed.add(int(world.uses.content[use]))
            needed.update(int(grams.other[i]) for i in by_use.get(use, []) if grams.other[i] >= 0)
            needed.update(int(tokens.other[i]) for i in token_by_use.get(use, []) if tokens.other[i] >= 0)
            needed.update(prompts.get(int(world.uses.request[use]), ()))
        texts.load(needed)
        for use in batch:
            maker = _Maker(world, texts, use, prompts.get(int(world.uses.request[use]), []))
            maker.note(grams, by_use.get(use, []))
            maker.spans(grams, by_use.get(use, []))
            maker.runs(grams, by_use.get(use, []), ("target", (SUPPLIED, GENERATED)))
            maker.runs(grams, by_use.get(use, []), ("repeated", (REPEATED,)))
            maker.runs(grams, by_use.get(use, []), ("decoy", (DECOY,)))
            maker.tokens(tokens, token_by_use.get(use, []))
            candidates.extend(maker.candidates)
            excluded.extend(maker.excluded)
    texts.forget()
    return candidates, excluded


def prompts_by_request(world: World, requests: set[int]) -> dict[int, list[int]]:
    """Prompt texts of the given requests, in the order in which the prompt holds them: the question comes last."""
    found: dict[int, list[int]] = defaultdict(list)
    wanted = np.zeros(len(world.requests.request_id), dtype=np.bool_)
    wanted[list(requests)] = True
    rows = np.flatnonzero(wanted[world.uses.request] & (world.uses.side == 0))
    for row in rows[np.argsort(world.uses.ordinal[rows], kind="stable")].tolist():
        if world.uses.field[row].startswith("tools["):  # a schema asks nothing
            continue
        found[int(world.uses.request[row])].append(int(world.uses.content[row]))
    return found


class _Maker:
    """Candidates of one response field."""

    def __init__(self, world: World, texts: Texts, use: int, prompts: list[int]) -> None:
        self.world = world
        self.texts = texts
        self.use = use
        self.request = int(world.uses.request[use])
        self.content = int(world.uses.content[use])
        self.folded = texts.folded(self.content)
        self.prompts = sorted(set(prompts) - {self.content})
        self.candidates: list[Candidate] = []
        self.excluded: list[Excluded] = []
        self._own: Grams | None = None
        self._taken = np.zeros(self.folded.units.size, dtype=np.bool_)
        # Seeds near the ends of a run may be selected in one copy and not in another, so that a missing seed does not
        # show that the recipient lacked the text. Where one seed of a run is its own, the text it stands in is read.
        self._own_seeds: dict[int, int] = {}
        self._own_texts: dict[int, Grams] = {}

    def note(self, hits: Hits, rows: list[int]) -> None:
        """Remember which seeds are the recipient's own, and a text of its own that holds each."""
        for i in rows:
            if hits.kind[i] == OWN and hits.other[i] >= 0:
                self._own_seeds[int(hits.start[i])] = int(hits.other[i])

    def _sent_before(self, run: Run) -> bool:
        """Does one text that this tenant had sent before hold nearly all of the run?"""
        keys = sorted({key for at, key in self._own_seeds.items() if run.start + GRAM <= at + 1 <= run.end})
        for key in keys[:MAX_OWN_TEXTS]:
            if key not in self._own_texts:
                self._own_texts[key] = own_grams([self.texts.folded(key).units])
            if covered(self.folded.units[run.start : run.end], self._own_texts[key]).mean() >= OWN_SHARE:
                return True
        return False

    @property
    def own(self) -> Grams:
        """Grams of this request's own prompt."""
        if self._own is None:
            self._own = own_grams([self.texts.folded(content).units for content in self.prompts])
        return self._own

    def exclude(self, start: int, end: int, rule: str, detail: str, holders: int, *, taken: bool = True) -> None:
        """Record an exclusion; `taken` keeps identifier tokens inside it from being looked at."""
        self._taken[start:end] |= taken
        low, high = self.folded.span(start, end)
        self.excluded.append(Excluded(self.use, low, high, rule, detail, holders))

    def spans(self, hits: Hits, rows: list[int]) -> None:
        """Seeds that many tenants carry become excluded spans; they are known only as far as their seeds reach."""
        for kind, rule, detail in (
            (SHARED, "shared", "supplied by several unrelated tenants"),
            (PHRASE, "model_phrase", "generated for several unrelated tenants, supplied by none"),
        ):
            places = sorted((int(hits.start[i]), int(hits.holders[i])) for i in rows if hits.kind[i] == kind)
            start = end = -1
            most = 0
            for place, holders in places:
                if start >= 0 and place - end > SPAN_GAP:
                    self.exclude(start, end, rule, detail, most)
                    start, most = -1, 0
                if start < 0:
                    start = max(0, place - GRAM + 1)
                end = place + 1
                most = max(most, holders)
            if start >= 0:
                self.exclude(start, end, rule, detail, most)

    def runs(self, hits: Hits, rows: list[int], wanted: tuple[str, tuple[int, ...]]) -> None:
        family, kinds = wanted
        by_other: dict[tuple[int, int, int], list[int]] = defaultdict(list)
        carriers: set[int] = set()
        given: dict[int, list[int]] = defaultdict(list)
        for i in rows:
            if hits.kind[i] == GIVEN:
                given[int(hits.holder[i])].append(int(hits.start[i]))
            if int(hits.kind[i]) in kinds:
                side = 0 if hits.kind[i] in (SUPPLIED, DECOY) else 1
                by_other[int(hits.other[i]), int(hits.holder[i]), side].append(i)
                carriers.add(int(hits.holder[i]))
        found: list[Holder] = []
        for (other, unit, side), indexes in sorted(by_other.items()):
            places = np.array([hits.start[i] for i in indexes], dtype=np.int64)
            others = np.array([hits.other_start[i] for i in indexes], dtype=np.int64)
            for run in runs(self.folded.units, self.texts.folded(other).units, places, others):
                if side == 0 and self._given(run, unit, given, places):
                    continue  # this tenant was given the text before it sent it: a victim who quotes it
                if not self._long_enough(run.start, run.end):
                    continue
                trimmed = self._trim(run, family)
                if trimmed is not None:
                    found.append(
                        Holder(
                            other,
                            unit,
                            side,
                            trimmed.start,
                            trimmed.end,
                            trimmed.other_start,
                            trimmed.other_end,
                            trimmed.matched,
                        )
                    )
        self._fragments(found, family, frozenset(carriers), token=False)

    def _given(self, run: Run, unit: int, given: dict[int, list[int]], sent: np.ndarray[Any, Any]) -> bool:
        """Were at least as many seeds of the run given to this unit before it sent them as it sent first?"""
        if unit not in given:
            return False
        low, high = run.start + GRAM - 1, run.end
        before = len({at for at in given[unit] if low <= at < high})
        return before > 0 and before >= int(((sent >= low) & (sent < high)).sum())

    def _long_enough(self, start: int, end: int) -> bool:
        """Long enough to be looked at: short runs only where they hold numbers (addresses, amounts, dates of birth)."""
        units = self.folded.units[start:end]
        weight = total_weight(units)
        return weight >= MIN_WEIGHT or (
            weight >= MIN_WEIGHT_NUMBERS and int(((units >= 48) & (units <= 57)).sum()) >= MIN_DIGITS
        )

    def _trim(self, run: Run, family: str) -> Run | None:
        """Cut off what the recipient's own prompt explains; None (and an exclusion) when that is nearly all."""
        units = self.folded.units[run.start : run.end]
        if self._sent_before(run):
            if family == "target":
                self.exclude(run.start, run.end, "own_material", "this tenant had sent it before", 1)
            return None
        own = covered(units, self.own)
        if own.mean() >= OWN_SHARE:
            if family == "target":
                self.exclude(run.start, run.end, "echo", "stands in this request's own prompt", 1)
            return None
        outside = np.flatnonzero(~own)
        low, high = int(outside[0]), int(outside[-1]) + 1
        # A prompt that merely happens to share a common word at the edge must not eat the edge of a real copy.
        low = low if low >= COVER_GRAM else 0
        high = high if units.size - high >= COVER_GRAM else units.size
        if not self._long_enough(run.start + low, run.start + high):
            if family == "target":
                self.exclude(
                    run.start, run.end, "own_material", "what the own prompt leaves is too short", 1, taken=False
                )
            return None
        cut = units.size - (high - low)
        return Run(
            run.start + low,
            run.start + high,
            run.other_start + low,
            run.other_end - (units.size - high),
            max(1, run.matched - cut),
        )

    def _fragments(self, found: list[Holder], family: str, carriers: frozenset[int], *, token: bool) -> None:
        """Group overlapping runs: the longest is the fragment, the others hold it as far as they reach."""
        groups: list[tuple[int, int, list[Holder]]] = []
        found.sort(key=lambda h: (h.start - h.end, h.start, h.side, h.unit, h.content, h.other_start))
        for holder in found:
            placed = False
            remainder = [(holder.start, holder.end)]
            for start, end, members in groups:
                overlap = min(end, holder.end) - max(start, holder.start)
                if overlap <= 0:
                    continue
                remainder = _minus(remainder, start, end)
                if overlap >= SAME * (holder.end - holder.start) or overlap >= SAME * (end - start):
                    members.append(_clip(holder, start, end))
                    placed = True
            for start, end in remainder:
                if self._long_enough(start, end) or (token and not placed):
                    groups.append((start, end, [_clip(holder, start, end)]))
        for start, end, members in sorted(groups, key=lambda g: g[:2]):
            # Tokens inside a short run are candidates of their own: their search was smaller, so they may stand where
            # the run does not. The judge's result keeps one of the two.
            if family == "target" and total_weight(self.folded.units[start:end]) >= GUARANTEE:
                self._taken[start:end] = True
            self.candidates.append(
                Candidate(self.use, self.request, self.content, start, end, family, token, tuple(members), carriers)
            )

    def tokens(self, hits: Hits, rows: list[int]) -> None:
        """Identifier tokens outside of the runs already found or excluded."""
        for i in rows:
            if hits.kind[i] == SHARED and not self._taken[hits.start[i] : hits.end[i]].any():
                self.exclude(
                    int(hits.start[i]),
                    int(hits.end[i]),
                    "shared",
                    "supplied by several unrelated tenants",
                    int(hits.holders[i]),
                )
        for family, kinds in (("target", (SUPPLIED, GENERATED)), ("decoy", (DECOY,))):
            found: list[Holder] = []
            carriers: set[int] = set()
            for i in rows:
                if int(hits.kind[i]) not in kinds:
                    continue
                start, end = int(hits.start[i]), int(hits.end[i])
                if self._taken[start:end].all():
                    continue
                if covered(self.folded.units[start:end], self.own).all() or self._whole_own(start, end):
                    if family == "target":
                        self.exclude(start, end, "echo", "stands in this request's own prompt", 1)
                    continue
                side = 0 if hits.kind[i] in (SUPPLIED, DECOY) else 1
                place = int(hits.other_start[i])
                carriers.add(int(hits.holder[i]))
                found.append(
                    Holder(
                        int(hits.other[i]),
                        int(hits.holder[i]),
                        side,
                        start,
                        end,
                        place,
                        place + end - start,
                        end - start,
                    )
                )
            self._fragments(found, family, frozenset(carriers), token=True)

    def _whole_own(self, start: int, end: int) -> bool:
        """Does a token shorter than a cover gram stand in the own prompt?"""
        if end - start >= COVER_GRAM:
            return False
        needle = self.folded.units[start:end].tobytes()
        return any(_contains(self.texts.folded(content).units, needle) for content in self.prompts)


def _contains(text: Units, needle: bytes) -> bool:
    data = text.tobytes()
    at = data.find(needle)
    while at >= 0 and at % 4:
        at = data.find(needle, at + 1)
    return at >= 0


def _minus(spans: list[tuple[int, int]], start: int, end: int) -> list[tuple[int, int]]:
    rest: list[tuple[int, int]] = []
    for low, high in spans:
        if high <= start or low >= end:
            rest.append((low, high))
            continue
        if low < start:
            rest.append((low, start))
        if high > end:
            rest.append((end, high))
    return rest


def _clip(holder: Holder, start: int, end: int) -> Holder:
    """The part of a holder's run inside `[start, end)`; matched units shrink in proportion."""
    low, high = max(start, holder.start), min(end, holder.end)
    share = (high - low) / (holder.end - holder.start)
    length = holder.other_end - holder.other_start
    head = min(low - holder.start, length)
    tail = min(holder.end - high, length - head)
    return replace(
        holder,
        start=low,
        end=high,
        other_start=holder.other_start + head,
        other_end=max(holder.other_start + head + 1, holder.other_end - tail),
        matched=max(1, round(holder.matched * share)),
    )
