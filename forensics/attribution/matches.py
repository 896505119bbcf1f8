"""Which candidates compete, target against decoy, and what is known of each in the same way for both? Decides nothing.

A target's text was supplied before the response ended, a decoy's only afterwards. Lag, worker and bits are measured
alike on both sides of that moment, or the comparison would favour one of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from forensics.attribution.candidates import Candidate, Holder
from forensics.attribution.holdings import EARLY, LATE, World
from forensics.attribution.sources import TIE_UNITS, Source, leading
from forensics.attribution.strength import Strength
from forensics.attribution.texts import Texts

CODE_SIGNS = frozenset("{}();=<>[]|&_$")
CODE_SHARE = 0.06  # share of such signs from which on a passage counts as code or data


@dataclass(frozen=True)
class Match:
    """A supplied candidate. `lag` in microseconds between the response's end and the supply, always positive."""

    index: int  # of the candidate
    use: int  # a number that names the response field
    target: bool
    token: bool
    holder: Holder  # the one that reaches furthest, nearest in time
    suppliers: int  # units whose text reaches as far
    lag: int
    same_worker: bool | None  # did the recipient's worker serve the nearest use on that side of the response's end?
    exclusive: bool  # one supplier, and nobody else carries it but the recipient
    code: bool
    bits: float  # of all identifiers of that supplier in the response, where the candidate is one


def collect(
    texts: Texts,
    candidates: Sequence[Candidate],
    strengths: Sequence[Strength],
    sources: Sequence[Sequence[Source]],
    left_out: Sequence[bool],
) -> list[Match]:
    """Matches of supplied targets and of decoys, without the candidates that are `left_out` (public text)."""
    world = texts.corpus.world
    made: list[Match] = []
    chosen = [
        i
        for i, candidate in enumerate(candidates)
        if not left_out[i] and (candidate.family == "decoy" or (candidate.family == "target" and _supplied(sources[i])))
    ]
    agreeing = _agreeing(candidates, strengths, chosen, sources)
    for batch in texts.batches([{candidates[i].content} for i in chosen]):
        for i in (chosen[place] for place in batch):
            candidate = candidates[i]
            target = candidate.family == "target"
            holders = _leading_holders(candidate, sources[i])
            timed = sorted(
                (
                    _lag(world, candidate, h),
                    -h.matched,
                    h.other_start,
                    int(world.text_bytes[h.content]),
                    h.content,
                    place,
                )
                for place, h in enumerate(holders)
            )
            if not timed or timed[0][0] == LATE:
                continue
            lag, nearest = timed[0][0], timed[0][-1]
            units = {holder.unit for holder in holders}
            carriers = candidate.carriers - {int(world.requests.unit[candidate.request])}
            low, high = texts.folded(candidate.content).span(candidate.start, candidate.end)
            passage = texts.raw(candidate.content)[low:high]
            bits = strengths[i].bits
            if candidate.token and len(units) == 1:
                bits = max(bits, agreeing.get((candidate.use, target, next(iter(units))), 0.0))
            made.append(
                Match(
                    i, _key(world, candidate.use), target, candidate.token, holders[nearest], len(units), lag,
                    _same_worker(world, candidate, holders, after=not target), carriers <= units and len(units) == 1,
                    sum(sign in CODE_SIGNS for sign in passage) >= CODE_SHARE * max(1, len(passage)), bits,
                )
            )  # fmt: skip
    # In an order that the order of the evidence does not change.
    return sorted(made, key=lambda m: (m.token, m.use, candidates[m.index].start, candidates[m.index].end, m.target))


def _key(world: World, use: int) -> int:
    """A number for the response field that stays the same in whatever order the evidence was read."""
    uses, request_id = world.uses, world.requests.request_id[int(world.uses.request[use])]
    name = f"{request_id}\0{uses.vantage[use]}\0{uses.field[use]}".encode("utf-8", "replace")
    return int.from_bytes(hashlib.blake2b(name, digest_size=7).digest(), "big")


def _supplied(sources: Sequence[Source]) -> bool:
    return any(source.holder.side == 0 for source in leading(list(sources)))


def _leading_holders(candidate: Candidate, sources: Sequence[Source]) -> list[Holder]:
    """Prompts that reach as far as the furthest one; for a decoy its own holders are all there is."""
    if candidate.family == "target":
        return [source.holder for source in leading(list(sources)) if source.holder.side == 0]
    most = max(holder.end - holder.start for holder in candidate.holders)
    return [holder for holder in candidate.holders if holder.end - holder.start > most - TIE_UNITS]


def _lag(world: World, candidate: Candidate, holder: Holder) -> int:
    """Microseconds between the response's end and the unit's first supply of the text; LATE where not known."""
    holdings = world.holdings
    stop = int(world.requests.finished[candidate.request])
    for row in range(int(holdings.of_content[holder.content]), int(holdings.of_content[holder.content + 1])):
        if int(holdings.unit[row]) == holder.unit and EARLY < int(holdings.supplied[row]) < LATE:
            return abs(int(holdings.supplied[row]) - stop)
    return LATE


def _same_worker(world: World, candidate: Candidate, holders: Sequence[Holder], *, after: bool) -> bool | None:
    """Did the recipient's worker serve the use that is nearest in time on that side of the response's end?

    One use is asked, not any of many: a text that a conversation carries on would meet every worker sooner or later.
    """
    requests, uses = world.requests, world.uses
    worker, stop = requests.worker[candidate.request], int(requests.finished[candidate.request])
    best: tuple[int, str, str] | None = None
    for holder in holders:
        for row in range(int(uses.of_content[holder.content]), int(uses.of_content[holder.content + 1])):
            request = int(uses.request[row])
            if int(uses.side[row]) != 0 or int(requests.unit[request]) != holder.unit:
                continue
            received = int(requests.received[request])
            name = requests.worker[request]
            if (received > stop) != after or worker is None or name is None:
                continue
            entry = (abs(received - stop), requests.request_id[request], name)
            best = entry if best is None else min(best, entry)
    return None if best is None else best[2] == worker


def _agreeing(
    candidates: Sequence[Candidate],
    strengths: Sequence[Strength],
    chosen: Sequence[int],
    sources: Sequence[Sequence[Source]],
) -> dict[tuple[int, bool, int], float]:
    """Bits of the distinct identifiers of one response that one unit supplied, before or only afterwards."""
    best: dict[tuple[int, bool, int, bytes], float] = {}
    for i in chosen:
        candidate = candidates[i]
        units = {holder.unit for holder in _leading_holders(candidate, sources[i])}
        if candidate.token and len(units) == 1:
            key = (candidate.use, candidate.family == "target", next(iter(units)), strengths[i].terms.tobytes())
            best[key] = max(best.get(key, 0.0), strengths[i].bits)
    total: dict[tuple[int, bool, int], float] = {}
    for (use, target, unit, _), bits in sorted(best.items()):
        total[use, target, unit] = total.get((use, target, unit), 0.0) + bits
    return total
