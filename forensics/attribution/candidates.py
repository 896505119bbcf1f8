"""From hits to candidate fragments: runs, trimmed of the recipient's own words, with everybody who holds them.

A candidate is a maximal run of one response field that other tenants' texts carry; it says who holds it and how far,
not yet how much that is worth. Runs that the recipient's own prompt covers become exclusions here (own material that
no seed saw, or the echo of an earlier leak).
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from forensics.attribution.candidate import (
    Alteration,
    Candidate,
    Excluded,
    Holder,
    clip,
    minus,
    pieces_with_carriers,
    with_carriers,
)
from forensics.attribution.hits import (
    DECOY,
    GENERATED,
    MIN_WEIGHT,
    MIN_WEIGHT_NUMBERS,
    PHRASE,
    REPEATED,
    SHARED,
    SUPPLIED,
    Carriers,
    Hits,
)
from forensics.attribution.holdings import World
from forensics.attribution.texts import Texts
from forensics.attribution.told import Told
from forensics.text.fingerprint import GRAM, GUARANTEE, WINDOW
from forensics.text.fold import Units, holds
from forensics.text.match import weights
from forensics.text.runs import COVER_GRAM, Run, covered, runs, total_weight

__all__ = [
    "Alteration",
    "Candidate",
    "Excluded",
    "Holder",
    "build",
    "pieces_with_carriers",
    "prompts_by_request",
    "with_carriers",
]

MATCHES = (SUPPLIED, GENERATED, DECOY, REPEATED)  # kinds of hits that stand for another text
MIN_DIGITS = 3  # digits that let a run of MIN_WEIGHT_NUMBERS be looked at
SAME = 0.5  # share of a run that must lie in a fragment to be another holder of the same fragment
OWN_SHARE = 0.8  # share of a run that must stand in the recipient's own prompt to be its own
SUPPLIER_LEAD = 1.6  # how much longer another response's run must be to come before a supplier's
SHARED_SHARE = 0.5  # share of a run, by weight, that several unrelated tenants supply, and
SHARED_REST = MIN_WEIGHT + WINDOW  # weight of a stretch between that must be the holder's own, for it to be one's own
SPAN_GAP = 40  # units between seeds of one excluded span
MAX_OWN_TEXTS = 8  # own texts read for one run


class Hit(NamedTuple):
    """One hit of a response field (see seeds.Hits)."""

    start: int
    end: int
    other: int
    other_start: int
    holder: int
    holders: int


ByKind = dict[int, list[Hit]]


def build(
    world: World, texts: Texts, grams: Hits, tokens: Hits, carriers: tuple[Carriers, Carriers]
) -> tuple[list[Candidate], list[Excluded]]:
    """Candidates and exclusions of all responses, sorted by use and start."""
    runs_by_use, tokens_by_use = _by_use(grams), _by_use(tokens)
    told = Told.of(grams)
    uses = sorted(runs_by_use.keys() | tokens_by_use.keys())
    prompts = prompts_by_request(world, {int(world.uses.request[use]) for use in uses})
    candidates: list[Candidate] = []
    excluded: list[Excluded] = []
    needs = []
    for use in uses:
        others = {
            hit.other
            for found in (runs_by_use.get(use, {}), tokens_by_use.get(use, {}))
            for kind in MATCHES
            for hit in found.get(kind, ())
        }
        # The own prompt is read only where there is something to weigh it against.
        own = prompts.get(int(world.uses.request[use]), []) if others else []
        needs.append({int(world.uses.content[use]), *others, *own})
    for batch in texts.batches(needs):
        for use in uses[batch.start : batch.stop]:
            own = prompts.get(int(world.uses.request[use]), [])
            maker = _Maker(world, texts, use, own, told, runs_by_use.get(use, {}))
            maker.spans()
            maker.runs("target", (SUPPLIED, GENERATED))
            maker.runs("repeated", (REPEATED,))
            maker.runs("decoy", (DECOY,))
            maker.tokens(tokens_by_use.get(use, {}))
            candidates.extend(maker.candidates)
            excluded.extend(maker.excluded)
    return with_carriers(candidates, carriers), excluded


def _by_use(hits: Hits) -> dict[int, ByKind]:
    """Hits by use and kind, without those that only say who else has a seed."""
    rows = np.flatnonzero(np.isin(hits.kind, (*MATCHES, SHARED, PHRASE)))
    found: dict[int, ByKind] = {}
    columns = (hits.start, hits.end, hits.other, hits.other_start, hits.holder, hits.holders)
    values = zip(*(column[rows].tolist() for column in columns), strict=True)
    for use, kind, value in zip(hits.use[rows].tolist(), hits.kind[rows].tolist(), values, strict=True):
        found.setdefault(use, {}).setdefault(kind, []).append(Hit(*value))
    return found


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

    def __init__(self, world: World, texts: Texts, use: int, prompts: list[int], told: Told, hits: ByKind) -> None:
        self.texts = texts
        self.use = use
        self.request = int(world.uses.request[use])
        self.content = int(world.uses.content[use])
        self.folded = texts.folded(self.content)
        self.prompts = sorted(set(prompts) - {self.content})
        self.hits = hits
        self.candidates: list[Candidate] = []
        self.excluded: list[Excluded] = []
        self._taken = np.zeros(self.folded.units.size, dtype=np.bool_)
        # Seeds near the ends of a run may be selected in one response and not in another, so that a missing seed does
        # not show that the recipient lacked the text. Where one seed is its own, the text it stands in is read.
        self._told = told
        self._shared = np.zeros(self.folded.units.size, dtype=np.bool_)
        for hit in hits.get(SHARED, ()):
            self._shared[max(0, hit.start - GRAM + 1) : hit.start + 1] = True

    def _sent_before(self, run: Run) -> bool:
        """Does one text that this tenant had sent before hold nearly all of the run?"""
        for key in self._told.own.texts_of(self.use, run.start + GRAM - 1, run.end)[:MAX_OWN_TEXTS]:
            if covered(self.folded.units[run.start : run.end], [self.texts.units(key)]).mean() >= OWN_SHARE:
                return True
        return False

    @property
    def own(self) -> list[Units]:
        """This request's own prompt, folded."""
        return [self.texts.units(content) for content in self.prompts]

    def exclude(self, start: int, end: int, rule: str, detail: str, holders: int, *, taken: bool = True) -> None:
        """Record an exclusion; `taken` keeps identifier tokens inside it from being looked at."""
        self._taken[start:end] |= taken
        low, high = self.folded.span(start, end)
        self.excluded.append(Excluded(self.use, low, high, rule, detail, holders))

    def spans(self) -> None:
        """Seeds that many tenants carry become excluded spans; they are known only as far as their seeds reach."""
        for kind, rule, detail in (
            (SHARED, "shared", "supplied by several unrelated tenants"),
            (PHRASE, "model_phrase", "generated for several unrelated tenants, supplied by none"),
        ):
            start = end = -1
            most = 0
            taken = kind != SHARED  # between shared seeds there may be an identifier that one tenant has filled in
            for hit in sorted(self.hits.get(kind, ())):
                if start >= 0 and hit.start - end > SPAN_GAP:
                    self.exclude(start, end, rule, detail, most, taken=taken)
                    start, most = -1, 0
                if start < 0:
                    start = max(0, hit.start - GRAM + 1)
                end = hit.start + 1
                most = max(most, hit.holders)
            if start >= 0:
                self.exclude(start, end, rule, detail, most, taken=taken)
        self._taken |= self._shared

    def runs(self, family: str, kinds: tuple[int, ...]) -> None:
        """Candidates of one family from the hits of these kinds."""
        by_other: dict[tuple[int, int, int], list[Hit]] = defaultdict(list)
        for kind in kinds:
            for hit in self.hits.get(kind, ()):
                by_other[hit.other, hit.holder, 0 if kind in (SUPPLIED, DECOY) else 1].append(hit)
        if not by_other:
            return
        carriers = {unit for _, unit, _ in by_other}
        found: list[Holder] = []
        for (other, unit, side), hits in sorted(by_other.items()):
            places = np.array([hit.start for hit in hits], dtype=np.int64)
            others = np.array([hit.other_start for hit in hits], dtype=np.int64)
            for run in runs(self.folded.units, self.texts.units(other), places, others):
                if side == 0 and self._given(run, unit, places):
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

    def _given(self, run: Run, unit: int, sent: npt.NDArray[np.int64]) -> bool:
        """Were at least as many seeds of the run given to this unit before it sent them as it sent first?"""
        low, high = run.start + GRAM - 1, run.end
        before = self._told.given.count(self.use, unit, low, high)
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
        if self._mostly_shared(run.start + low, run.start + high):
            if family == "target":
                detail = "hardly more than text that several unrelated tenants supply"
                self.exclude(run.start + low, run.start + high, "shared", detail, 1, taken=False)
            return None
        cut = units.size - (high - low)
        return Run(
            run.start + low,
            run.start + high,
            run.other_start + low,
            run.other_end - (units.size - high),
            max(1, run.matched - cut),
        )

    def _mostly_shared(self, start: int, end: int) -> bool:
        """Is a run shared text with a word or two filled in? Identifiers and names among these are looked at apart."""
        shared, weight = self._shared[start:end], weights(self.folded.units[start:end])
        if weight[shared].sum() < SHARED_SHARE * weight.sum():
            return False
        edges = np.flatnonzero(np.diff(np.concatenate([[True], shared, [True]]).astype(np.int8)))
        own = zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)
        return max((int(weight[low:high].sum()) for low, high in own), default=0) < SHARED_REST

    def _fragments(self, found: list[Holder], family: str, carriers: frozenset[int], *, token: bool) -> None:
        """Group overlapping runs: the longest is the fragment, the others hold it as far as they reach."""
        groups: list[tuple[int, int, list[Holder]]] = []
        # A supplier's run comes before a somewhat longer one of another response: two victims whose answers begin alike
        # share more with each other than with the source.
        found.sort(key=lambda h: (_precedence(h), h.start, h.side, h.unit, h.content, h.other_start))
        for holder in found:
            placed = False
            remainder = [(holder.start, holder.end)]
            for start, end, members in groups:
                overlap = min(end, holder.end) - max(start, holder.start)
                if overlap <= 0:
                    continue
                remainder = minus(remainder, start, end)
                if overlap >= SAME * (holder.end - holder.start) or overlap >= SAME * (end - start):
                    members.append(clip(holder, start, end))
                    placed = True
            for start, end in remainder:
                if self._long_enough(start, end) or (token and not placed):
                    groups.append((start, end, [clip(holder, start, end)]))
        for start, end, members in sorted(groups, key=lambda g: g[:2]):
            # Tokens inside a short run are candidates of their own: their search was smaller, so they may stand where
            # the run does not. The judge's result keeps one of the two.
            if family == "target" and total_weight(self.folded.units[start:end]) >= 2 * GUARANTEE:
                self._taken[start:end] = True
            self.candidates.append(
                Candidate(self.use, self.request, self.content, start, end, family, token, tuple(members), carriers)
            )

    def tokens(self, hits: ByKind) -> None:
        """Identifier tokens outside of the runs already found or excluded."""
        for hit in hits.get(SHARED, ()):
            if not self._taken[hit.start : hit.end].any():
                self.exclude(hit.start, hit.end, "shared", "supplied by several unrelated tenants", hit.holders)
        for family, kinds in (("target", (SUPPLIED, GENERATED)), ("decoy", (DECOY,))):
            found: list[Holder] = []
            for kind in kinds:
                for hit in hits.get(kind, ()):
                    if self._taken[hit.start : hit.end].all():
                        continue
                    if self._own_token(hit.start, hit.end):
                        if family == "target":
                            self.exclude(hit.start, hit.end, "echo", "stands in this request's own prompt", 1)
                        continue
                    side = 0 if kind in (SUPPLIED, DECOY) else 1
                    length = hit.end - hit.start
                    found.append(
                        Holder(
                            hit.other,
                            hit.holder,
                            side,
                            hit.start,
                            hit.end,
                            hit.other_start,
                            hit.other_start + length,
                            length,
                        )
                    )
            self._fragments(found, family, frozenset(holder.unit for holder in found), token=True)

    def _own_token(self, start: int, end: int) -> bool:
        """Does a token stand in the own prompt?"""
        return bool(covered(self.folded.units[start:end], self.own).all()) or self._whole_own(start, end)

    def _whole_own(self, start: int, end: int) -> bool:
        """Does a token shorter than a cover gram stand in the own prompt?"""
        if end - start >= COVER_GRAM:
            return False
        needle = self.folded.units[start:end]
        return any(holds(self.texts.units(content).tobytes(), needle) for content in self.prompts)


def _precedence(holder: Holder) -> float:
    return (holder.start - holder.end) * (SUPPLIER_LEAD if holder.side == 0 else 1.0)
