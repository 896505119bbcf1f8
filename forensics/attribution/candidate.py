"""What is a candidate, who holds it, and what is kept of one that a rule dropped?

The records that the steps of attribution hand on, and the arithmetic of their spans. Finds and judges nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from forensics.attribution.hits import Carriers
from forensics.text.fingerprint import GRAM

FORM_EDITS = 3  # numbers that differ,
FORM_SHARE = 0.5  # and share of all edits, for two texts to be one form with other values


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
class Alteration:
    """What an altered copy has besides: units of the response that agree, bits charged for the edits, and their sum.

    `refilled`: edits that put other numbers in the place of numbers and leave the letters.
    """

    blocks: tuple[tuple[int, int], ...]
    freedom: float
    replaced: int
    inserted: int
    dropped: int
    refilled: int = 0
    pieces: bool = False  # pieces of a stream among others, not edits

    @property
    def is_form(self) -> bool:
        """Are most of its edits other numbers in the same text? That is a form that both filled, no damaged copy."""
        return self.refilled >= FORM_EDITS and self.refilled >= FORM_SHARE * (len(self.blocks) - 1)


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
    carriers: frozenset[int]  # units whose texts are no background to it
    crowd: int = 0  # units that hold most of its seeds, whatever the time
    alteration: Alteration | None = None  # None where it agrees unit by unit

    @property
    def read(self) -> Candidate:
        """Where its words are read: pieces of a stream have broken them, but the other text has them whole."""
        if self.alteration is None or not self.alteration.pieces:
            return self
        best = self.holders[0]
        return replace(self, content=best.content, start=best.other_start, end=best.other_end, alteration=None)


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


def with_carriers(candidates: list[Candidate], carriers: tuple[Carriers, Carriers]) -> list[Candidate]:
    """Everybody who holds a supplied text is left out of the background, or a leak to many would hide itself.

    Not so for a text that nobody supplied: that many tenants were given it is what a habit of the model looks like.
    """
    by_grams, by_tokens = carriers
    of_runs = iter(
        by_grams.units([(one.content, one.start + GRAM - 1, one.end) for one in candidates if not one.token])
    )
    of_tokens = iter(by_tokens.units([(one.content, one.start, one.start + 1) for one in candidates if one.token]))
    result = []
    for candidate in candidates:
        found = next(of_tokens if candidate.token else of_runs)
        supplied = any(holder.side == 0 for holder in candidate.holders)
        all_carriers = candidate.carriers | found if supplied else candidate.carriers
        result.append(replace(candidate, carriers=all_carriers, crowd=len(found)))
    return result


def pieces_with_carriers(pieces: list[tuple[Candidate, bool]], carriers: tuple[Carriers, Carriers]) -> list[Candidate]:
    """Pieces in their order; those that are marked as cut out of a candidate get carriers of their own."""
    cut = iter(with_carriers([piece for piece, fresh in pieces if fresh], carriers))
    return [next(cut) if fresh else piece for piece, fresh in pieces]


def minus(spans: list[tuple[int, int]], start: int, end: int) -> list[tuple[int, int]]:
    """Spans without `[start, end)`."""
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


def clip(holder: Holder, start: int, end: int) -> Holder:
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
