"""What is the same in two stretches of text, and what was changed?

Levenshtein alignment (rapidfuzz) of folded units inside a window that seeds have fixed, cut at places known to agree so
that long copies stay cheap. Agreement shorter than SMALL counts as chance. Says nothing about raw characters, which the
report compares itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from forensics.text.fold import Units
from forensics.text.runs import total_weight

SMALL = 4  # weight of agreement between edits that is no chance: three letters in a row meet anywhere
PIECE = 1500  # units that are aligned at a time


@dataclass(frozen=True)
class Block:
    """`[start, end)` of the first text is equal to what begins at `other_start` in the second, in units."""

    start: int
    end: int
    other_start: int


@dataclass(frozen=True)
class Alignment:
    """Equal blocks in order, and an edit script in numbers.

    `matched`: units in blocks; `replaced`, `inserted`: other units of the first text that stand against something or
    nothing in the second; `dropped`: units of the second that stand against nothing or against fewer; `edits`: places
    where something changes between two blocks.
    """

    blocks: tuple[Block, ...]
    matched: int
    replaced: int
    inserted: int
    dropped: int

    @property
    def edits(self) -> int:
        """Places where something changes."""
        return max(0, len(self.blocks) - 1)


def align(
    first: Units,
    second: Units,
    first_span: tuple[int, int],
    second_span: tuple[int, int],
    anchors: list[tuple[int, int]],
) -> Alignment:
    """Alignment of the two spans. `anchors`: units of either text that are known to agree, ascending."""
    from rapidfuzz.distance import Levenshtein

    cuts = [(first_span[0], second_span[0])]
    for here, there in anchors:
        far = here - cuts[-1][0] >= PIECE
        if far and there > cuts[-1][1] and here < first_span[1] and there < second_span[1]:
            cuts.append((here, there))
    cuts.append((first_span[1], second_span[1]))
    equal: list[Block] = []
    for (low, other_low), (high, other_high) in pairwise(cuts):
        codes = Levenshtein.opcodes(_text(first[low:high]), _text(second[other_low:other_high]))
        for code in codes:
            if code.tag != "equal":
                continue
            start, other = low + code.src_start, other_low + code.dest_start
            end = low + code.src_end
            last = equal[-1] if equal else None
            if last is not None and last.end == start and last.other_start + last.end - last.start == other:
                equal[-1] = Block(last.start, end, last.other_start)
            else:
                equal.append(Block(start, end, other))
    blocks = tuple(b for b in equal if total_weight(first[b.start : b.end]) >= SMALL)
    replaced = inserted = dropped = 0
    for left, right in pairwise(blocks):
        here = right.start - left.end
        there = right.other_start - (left.other_start + left.end - left.start)
        replaced += min(here, there)
        inserted += max(0, here - there)
        dropped += max(0, there - here)
    return Alignment(blocks, sum(b.end - b.start for b in blocks), replaced, inserted, dropped)


def _text(units: Units) -> str:
    return units.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
