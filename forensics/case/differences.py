"""Where do two passages differ? As edit operations with offsets; marked up for a reader who sees no colour.

The passages are compared code point by code point (Levenshtein; RapidFuzz). Nothing here decides what a difference
means, and without the marks nothing holds text.
"""

from __future__ import annotations

from dataclasses import dataclass

MAX_ALIGNED = 20_000  # code points of either passage that are compared; the rest of a longer one is not
# Equal stretches shorter than this between two differences belong to them: single letters that agree by chance.
ISLAND = 3
OPEN, CLOSE = "⟦", "⟧"
FIRST, LAST = "⟪", "⟫"
_MARKS = str.maketrans({mark: f"\\u{ord(mark):04x}" for mark in (OPEN, CLOSE, FIRST, LAST)})


@dataclass(frozen=True)
class Edit:
    """A difference: code points `[start, end)` of the recipient's passage stand for `[other_start, other_end)` of the
    source's; both counted from the start of the passage. `kind`: changed | added (only the recipient has it) |
    missing (only the source has it)."""

    kind: str
    start: int
    end: int
    other_start: int
    other_end: int


@dataclass(frozen=True)
class Differences:
    """Of one source: how many code points of the recipient's passage are equal, and the edits in order of the text.
    `compared`: code points of the recipient's passage that were compared at all."""

    rank: int
    compared: int
    equal: int
    edits: tuple[Edit, ...]


def differences(rank: int, passage: str, other: str) -> Differences:
    """Edits that lead from the source's passage `other` to the recipient's `passage`."""
    from rapidfuzz.distance import Levenshtein

    mine, theirs = passage[:MAX_ALIGNED], other[:MAX_ALIGNED]
    edits: list[Edit] = []
    for step in Levenshtein.opcodes(theirs, mine):
        if step.tag == "equal":
            continue
        if edits and step.dest_start - edits[-1].end < ISLAND and step.src_start - edits[-1].other_end < ISLAND:
            last = edits.pop()
            edits.append(_edit(last.start, step.dest_end, last.other_start, step.src_end))
        else:
            edits.append(_edit(step.dest_start, step.dest_end, step.src_start, step.src_end))
    equal = len(mine) - sum(edit.end - edit.start for edit in edits)
    return Differences(rank, len(mine), equal, tuple(edits))


def _edit(start: int, end: int, other_start: int, other_end: int) -> Edit:
    kind = "missing" if start == end else "added" if other_start == other_end else "changed"
    return Edit(kind, start, end, other_start, other_end)


def marked(text: str, spans: list[tuple[int, int]]) -> list[tuple[str, bool]]:
    """`text` in pieces, those in `spans` (ascending, apart) between marks; an empty span is a bare pair of marks.

    Each piece says whether it is a difference. Marks that the text brings along are written as escapes.
    """
    pieces: list[tuple[str, bool]] = []
    last = 0
    for start, end in spans:
        pieces += [(plain(text[last:start]), False), (OPEN + plain(text[start:end]) + CLOSE, True)]
        last = end
    pieces.append((plain(text[last:]), False))
    return [piece for piece in pieces if piece[0]]


def plain(text: str) -> str:
    """`text` in which nothing can be taken for one of our marks."""
    return text.translate(_MARKS)
