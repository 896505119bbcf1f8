"""Which passages of a response are copies of another tenant's text with edits in them?

Exact runs (`candidates`) break at every edit. Here all seeds that a response field shares with one other text, those
of runs too short to be looked at included, are chained (`text.chains`), the chain is extended with gaps
(`text.extend`) and aligned inside its window (`text.align`). What comes out is a candidate like any other: it goes
through the same evidence and the same judge. Three things differ. Its bits are those of whole words that are aligned;
every edit is charged for the freedom of where and how much (`freedom`); and how far a holder's text reaches is counted
in units that agree, so that a text that agrees better is the source.

The recipient's own text explains a passage when it agrees with it nearly as well as the other's does, edits or not.
Passages without edits are left to `candidates`; which of two overlapping findings stays, `settled` says.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from forensics.attribution.altered_seeds import ChainedSeeds, chained, chosen, shared_spans
from forensics.attribution.candidates import (
    MAX_OWN_TEXTS,
    OWN_SHARE,
    SAME,
    SUPPLIER_LEAD,
    Alteration,
    Candidate,
    Excluded,
    Holder,
    prompts_by_request,
    with_carriers,
)
from forensics.attribution.hits import MIN_WEIGHT, Carriers, Hits
from forensics.attribution.holdings import Ints, World
from forensics.attribution.texts import Texts
from forensics.attribution.told import Told
from forensics.text.align import Block, align
from forensics.text.extend import extend, extend_back
from forensics.text.fold import Units
from forensics.text.runs import COVER_GRAM, covered, runs, total_weight
from forensics.text.scripts import DIGIT, scripts

MIN_AGREEMENT = 0.55  # share of the units of a copy that agree; below it the two texts are two texts
MORE_WEIGHT = 12  # weight that must agree outside of the longest exact run for the copy to be an altered one
MIN_GENERATED = 60  # weight of an altered copy of a response: what models always say, they say in such variants
MORE_UNITS = 4  # units by which an extension must exceed the longest exact run to be aligned at all
# Bits paid for an edit: that there is one, and what it takes out and puts in (log2 of both lengths besides).
EDIT_BITS = 4.0


@dataclass(frozen=True)
class _Copy:
    """An aligned chain."""

    holder: Holder  # its span in the response, its true span in the other text; `matched` units in blocks
    blocks: tuple[Block, ...]  # what agrees and is not the recipient's own
    founder: bool  # may make a fragment; the others say who else has one
    weight: int  # weight of the blocks


def find_altered(
    world: World, texts: Texts, grams: Hits, carriers: tuple[Carriers, Carriers]
) -> tuple[list[Candidate], list[Excluded]]:
    """Candidates with edits in them, and what the recipient's own texts explain; by use and start."""
    seeds = chained(world, grams)
    picked = chosen(seeds)
    if not picked:
        return [], []
    told = Told.of(grams)
    uses = sorted(picked)
    shared = shared_spans(grams, picked)
    prompts = prompts_by_request(world, {int(world.uses.request[use]) for use in uses})
    needs = []
    for use in uses:
        others = {int(seeds.other[seeds.members(number)[0]]) for number in picked[use]}
        needs.append({int(world.uses.content[use]), *others, *prompts.get(int(world.uses.request[use]), [])})
    candidates: list[Candidate] = []
    excluded: list[Excluded] = []
    for batch in texts.batches(needs):
        for use in uses[batch.start : batch.stop]:
            own = prompts.get(int(world.uses.request[use]), [])
            maker = _Maker(world, texts, use, own, told, seeds, shared.get(use, []))
            for family in (0, 1):
                found = [n for n in picked[use] if int(seeds.family[seeds.members(n)[0]]) == family]
                candidates.extend(maker.candidates(found, family))
            excluded.extend(maker.excluded)
    return with_carriers(candidates, carriers), excluded


class _Maker:
    """Altered copies in one response field."""

    def __init__(
        self,
        world: World,
        texts: Texts,
        use: int,
        prompts: list[int],
        told: Told,
        seeds: ChainedSeeds,
        shared: list[tuple[int, int]],
    ) -> None:
        self.world = world
        self.texts = texts
        self.use = use
        self.request = int(world.uses.request[use])
        self.content = int(world.uses.content[use])
        self.folded = texts.folded(self.content)
        self.prompts = sorted(set(prompts) - {self.content})
        self.told = told
        self.seeds = seeds
        self.shared = np.zeros(self.folded.units.size, dtype=np.bool_)
        for low, high in shared:
            self.shared[low:high] = True
        self.excluded: list[Excluded] = []

    def candidates(self, chains: list[int], family: int) -> list[Candidate]:
        """Candidates of one family from these chains."""
        firsts = [n for n in chains if self.seeds.may_found[n]]
        copies = [copy for n in firsts if (copy := self._copy(n, family, founders=True)) is not None]
        if not copies:
            return []
        copies.extend(copy for n in chains if (copy := self._copy(n, family, founders=False)) is not None)
        # As for exact runs: a supplier's copy comes before a somewhat longer one of another response.
        copies.sort(key=lambda c: (-c.weight * (SUPPLIER_LEAD if c.holder.side == 0 else 1.0), *_place(c.holder)))
        # What makes no fragment comes last, however much it holds, so that it finds the fragment that it belongs to.
        copies.sort(key=lambda c: not c.founder)
        groups: list[tuple[_Copy, list[Holder]]] = []
        for copy in copies:
            free = [(copy.holder.start, copy.holder.end)]
            for founder, members in groups:
                low = max(founder.holder.start, copy.holder.start)
                high = min(founder.holder.end, copy.holder.end)
                if high <= low:
                    continue
                free = [part for span in free for part in _outside(span, low, high)]
                shorter = min(founder.holder.end - founder.holder.start, copy.holder.end - copy.holder.start)
                if high - low >= SAME * shorter:
                    members.append(_reach(copy, founder.holder.start, founder.holder.end))
            for low, high in free if copy.founder else ():
                part = _clipped(self.folded.units, copy, low, high)
                if part is not None:
                    groups.append((part, [_reach(part, part.holder.start, part.holder.end)]))
        made = [self._candidate(founder, members, family) for founder, members in groups]
        return sorted(made, key=lambda candidate: (candidate.start, candidate.end))

    def _candidate(self, founder: _Copy, members: list[Holder], family: int) -> Candidate:
        held = [holder for holder in members if holder.matched > 0]
        blocks = founder.blocks
        freedom = 0.0
        replaced = inserted = dropped = refilled = 0
        units, others = self.folded.units, self.texts.units(founder.holder.content)
        for left, right in pairwise(blocks):
            other_end = left.other_start + left.end - left.start
            refilled += _refills(units[left.end : right.start], others[other_end : right.other_start])
            here = right.start - left.end
            there = max(0, right.other_start - other_end)
            freedom += EDIT_BITS + math.log2(1 + here) + math.log2(1 + there)
            replaced += min(here, there)
            inserted += max(0, here - there)
            dropped += max(0, there - here)
        return Candidate(
            self.use,
            self.request,
            self.content,
            founder.holder.start,
            founder.holder.end,
            "decoy" if family else "target",
            False,
            tuple(held),
            frozenset(holder.unit for holder in held),
            alteration=Alteration(
                tuple((block.start, block.end) for block in blocks), freedom, replaced, inserted, dropped, refilled
            ),
        )

    def _copy(self, number: int, family: int, *, founders: bool) -> _Copy | None:
        """Extend and align a chain; None where no copy comes of it, or (`founders`) none that may make a fragment."""
        rows = self.seeds.members(number)
        first_at, second_at = self.seeds.first_at[rows], self.seeds.second_at[rows]
        other = int(self.seeds.other[rows[0]])
        unit, side = int(self.seeds.holder[rows[0]]), int(self.seeds.side[rows[0]])
        here, there = self.folded.units, self.texts.units(other)
        exact = runs(here, there, first_at, second_at)
        if not exact:
            return None
        longest = max(exact, key=lambda run: (run.matched, -run.start))
        low, low_other, _ = extend_back(here, there, int(first_at[0]) + 1, int(second_at[0]) + 1)
        high, high_other, _ = extend(here, there, int(first_at[-1]) + 1, int(second_at[-1]) + 1)
        start, other_start = int(first_at[0]) + 1 - low, int(second_at[0]) + 1 - low_other
        end, other_end = int(first_at[-1]) + 1 + high, int(second_at[-1]) + 1 + high_other
        if end - start - longest.matched < MORE_UNITS:
            blocks: tuple[Block, ...] = (Block(longest.start, longest.end, longest.other_start),)
        else:
            anchors = list(zip(first_at.tolist(), second_at.tolist(), strict=True))
            blocks = align(here, there, (start, end), (other_start, other_end), anchors).blocks
        if not blocks:
            return None
        start, end = blocks[0].start, blocks[-1].end
        if side == 0 and self._given(start, end, unit, first_at):
            return None
        if sum(block.end - block.start for block in blocks) < MIN_AGREEMENT * (end - start):
            return None
        weights = [total_weight(here[block.start : block.end]) for block in blocks]
        more = sum(weights) - max(weights)
        founder = more >= MORE_WEIGHT and (side == 0 or sum(weights) >= MIN_GENERATED)
        founder = founder and bool(self.seeds.may_found[number])
        if founders != founder:
            return None
        own = self._own(start, end, there, founder and family == 0)
        if own is None:
            return None
        explained = own | self.shared[start:end]
        blocks = _without(blocks, explained, start)
        kept = sum(total_weight(here[block.start : block.end]) for block in blocks)
        if kept < MIN_WEIGHT:
            if founder and family == 0 and explained.any():
                rule = "own_material" if own.sum() >= self.shared[start:end].sum() else "shared"
                self._exclude(start, end, rule, "what other explanations leave of an altered copy is too short")
            return None
        matched = sum(block.end - block.start for block in blocks)
        last = blocks[-1]
        holder = Holder(
            other, unit, side, blocks[0].start, last.end, blocks[0].other_start,
            last.other_start + last.end - last.start, matched,
        )  # fmt: skip
        return _Copy(holder, blocks, founder and matched >= MIN_AGREEMENT * (last.end - blocks[0].start), kept)

    def _given(self, start: int, end: int, unit: int, sent: Ints) -> bool:
        """Was this unit given at least as many seeds of the passage before it sent them as it sent first?"""
        before = self.told.given.count(self.use, unit, start, end)
        return before > 0 and before >= int(((sent >= start) & (sent < end)).sum())

    def _own(self, start: int, end: int, there: Units, says: bool) -> npt.NDArray[np.bool_] | None:
        """Units of the passage that the own prompt holds; None where own texts hold it about as well as the other."""
        units = self.folded.units[start:end]
        theirs = max(float(covered(units, [there]).mean()), 1.0 / max(1, units.size))
        own = covered(units, [self.texts.units(content) for content in self.prompts])
        if own.mean() >= OWN_SHARE * theirs:
            if says:
                self._exclude(start, end, "echo", "an altered copy of this request's own prompt")
            return None
        for key in self.told.own.texts_of(self.use, start, end)[:MAX_OWN_TEXTS]:
            if covered(units, [self.texts.units(key)]).mean() >= OWN_SHARE * theirs:
                if says:
                    self._exclude(start, end, "own_material", "an altered copy of what this tenant had sent before")
                return None
        return own

    def _exclude(self, start: int, end: int, rule: str, detail: str) -> None:
        low, high = self.folded.span(start, end)
        self.excluded.append(Excluded(self.use, low, high, rule, detail, 1))


def _refills(here: Units, there: Units) -> bool:
    """Do two stretches differ in their digits alone, and have both some?"""
    mine, theirs = scripts(here) == DIGIT, scripts(there) == DIGIT
    return bool(mine.any() and theirs.any()) and np.array_equal(here[~mine], there[~theirs])


def _place(holder: Holder) -> tuple[int, ...]:
    return (holder.start, holder.side, holder.unit, holder.content, holder.other_start)


def _outside(span: tuple[int, int], low: int, high: int) -> list[tuple[int, int]]:
    parts = [(span[0], min(span[1], low)), (max(span[0], high), span[1])]
    return [part for part in parts if part[0] < part[1]]


def _without(blocks: tuple[Block, ...], own: npt.NDArray[np.bool_], start: int) -> tuple[Block, ...]:
    """Blocks without the units that are explained; what is left of a block must be longer than a cover gram."""
    if not own.any():
        return blocks
    kept: list[Block] = []
    for block in blocks:
        low = block.start
        while low < block.end:
            high = low
            while high < block.end and own[high - start] == own[low - start]:
                high += 1
            whole = low == block.start and high == block.end
            if not own[low - start] and (whole or high - low >= COVER_GRAM):
                kept.append(Block(low, high, block.other_start + low - block.start))
            low = high
    return tuple(kept)


def _clip(blocks: tuple[Block, ...], low: int, high: int) -> tuple[Block, ...]:
    """The parts of the blocks inside `[low, high)`."""
    return tuple(
        Block(max(b.start, low), min(b.end, high), b.other_start + max(0, low - b.start))
        for b in blocks
        if min(b.end, high) > max(b.start, low)
    )


def _clipped(units: Units, copy: _Copy, low: int, high: int) -> _Copy | None:
    """The part of a copy that no better one has taken; None where too little is left."""
    if (low, high) == (copy.holder.start, copy.holder.end):
        return copy
    blocks = _clip(copy.blocks, low, high)
    weight = sum(total_weight(units[block.start : block.end]) for block in blocks)
    if weight < MIN_WEIGHT:
        return None
    last = blocks[-1]
    holder = replace(
        copy.holder,
        start=blocks[0].start,
        end=last.end,
        other_start=blocks[0].other_start,
        other_end=last.other_start + last.end - last.start,
        matched=sum(block.end - block.start for block in blocks),
    )
    return _Copy(holder, blocks, copy.founder, weight)


def _reach(copy: _Copy, start: int, end: int) -> Holder:
    """What a copy holds of the fragment `[start, end)`: it reaches as far as it has units that agree."""
    blocks = _clip(copy.blocks, start, end)
    matched = sum(block.end - block.start for block in blocks)
    if matched == 0:
        return replace(copy.holder, start=start, end=start, matched=0)
    last = blocks[-1]
    return replace(
        copy.holder,
        start=start,
        end=start + matched,
        other_start=blocks[0].other_start,
        other_end=last.other_start + last.end - last.start,
        matched=matched,
    )
