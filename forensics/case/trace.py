"""A passage that somebody reported: which texts of the case hold it, and who used them when?

The first act of most incidents is a customer who sends a few lines or a screenshot's text. This finds every run that
the passage and a text of the case have in common, letters and digits only, so that line breaks, quotes, case and
full-width forms of a transcript do not matter. It does not decide whether anything leaked, and returns no text.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from forensics.case.errors import UsageError
from forensics.case.store import Case
from forensics.text.fold import Folded, fold, weight

# A run counts from this information weight on (letters and digits 1, kana and Hangul 2, Han 3): 16 letters, 6 Han.
# A shorter passage must be there as a whole.
MINIMUM_WEIGHT = 16
SHORTEST_PASSAGE = 6
_BASE = np.uint64(0x9E3779B97F4A7C15)
_BITMAP_BITS = np.uint64(20)


@dataclass(frozen=True)
class Run:
    """A maximal common run: `[start, end)` in the text and in the passage (code points), `units` letters and digits."""

    start: int
    end: int
    passage_start: int
    passage_end: int
    units: int


@dataclass(frozen=True)
class Sighting:
    """One use of a text that holds part of the passage, and where the evidence says so."""

    request_id: str
    tenant_id: str | None
    worker: str | None
    received_at: Any
    finished_at: Any
    vantage: str
    side: str
    field: str
    runs: tuple[Run, ...]
    share: float  # of the passage's letters and digits that this text holds, 0..1
    evidence_name: str
    evidence_sha256: str
    line: int
    byte_offset: int
    fragment_ids: tuple[str, ...]


@dataclass(frozen=True)
class Trace:
    """Who held the passage (prompt side) and who received it (response side), each in order of time."""

    passage_sha256: str
    passage_code_points: int
    passage_units: int
    texts_searched: int
    holders: tuple[Sighting, ...]
    receivers: tuple[Sighting, ...]


class Passage:
    """A folded passage, ready to be looked for."""

    def __init__(self, text: str) -> None:
        self.folded: Folded = fold(text)
        size = int(self.folded.units.size)
        if size < SHORTEST_PASSAGE:
            raise UsageError(f"the passage needs at least {SHORTEST_PASSAGE} letters or digits")
        mean = sum(weight(int(unit)) for unit in self.folded.units) / size
        self.gram = min(size, max(SHORTEST_PASSAGE, round(MINIMUM_WEIGHT / mean)))
        self.places: dict[bytes, list[int]] = {}
        for place in range(size - self.gram + 1):
            self.places.setdefault(self.folded.units[place : place + self.gram].tobytes(), []).append(place)
        self._seen = np.zeros(1 << int(_BITMAP_BITS), dtype=np.bool_)
        self._seen[_grams(self.folded.units, self.gram)] = True

    def runs(self, text: str) -> tuple[Run, ...]:
        """Maximal common runs with `text`, longest first choice, none overlapping another in the text."""
        other = fold(text)
        if other.units.size < self.gram:
            return ()
        hits = np.flatnonzero(self._seen[_grams(other.units, self.gram)])
        found: list[Run] = []
        free = 0
        for position in hits.tolist():
            if position < free:
                continue
            best = max(
                (self._extend(other, position, place) for place in self._places_of(other, position)),
                key=lambda span: (span[1] - span[0], -span[2]),
                default=None,
            )
            if best is None:
                continue
            start, end, place = best
            free = end
            found.append(Run(*other.span(start, end), *self.folded.span(place, place + end - start), units=end - start))
        return tuple(found)

    def share(self, runs: Iterable[Run]) -> float:
        """Share of the passage's units that lie in `runs`."""
        covered = np.zeros(self.folded.units.size, dtype=np.bool_)
        for run in runs:
            low = np.searchsorted(self.folded.positions, run.passage_start)
            covered[low : low + run.units] = True
        return float(covered.mean())

    def _places_of(self, other: Folded, position: int) -> list[int]:
        return self.places.get(other.units[position : position + self.gram].tobytes(), [])

    def _extend(self, other: Folded, position: int, place: int) -> tuple[int, int, int]:
        """The run to the right of a common gram; nothing fits on its left, as grams are met in order."""
        length = min(other.units.size - position, self.folded.units.size - place)
        same = other.units[position : position + length] == self.folded.units[place : place + length]
        differs = np.flatnonzero(~same)
        return position, position + int(differs[0] if differs.size else length), place


def trace(case: Case, text: str) -> Trace:
    """Every use of a text that shares a run with the passage `text`; logged in custody by the passage's digest."""
    passage = Passage(text)
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    case.record("trace", "passage", digest)
    runs: dict[int, tuple[Run, ...]] = {}
    searched = 0
    for content, candidate in _texts(case):
        searched += 1
        found = passage.runs(candidate)
        if found:
            runs[content] = found
    sightings = list(_sightings(case, passage, runs))
    return Trace(
        digest,
        len(text),
        int(passage.folded.units.size),
        searched,
        tuple(s for s in sightings if s.side == "prompt"),
        tuple(s for s in sightings if s.side == "response"),
    )


def _sightings(case: Case, passage: Passage, runs: dict[int, tuple[Run, ...]]) -> Iterator[Sighting]:
    uses = case.arrow("case/uses_of_contents", {"contents": sorted(runs)}).to_pylist() if runs else []
    requests = sorted({use["request"] for use in uses})
    known: dict[tuple[int, str], list[tuple[int, int, str]]] = {}
    for request, field, start, end, fragment_id, _ in case.rows("case/fragments_of_requests", {"requests": requests}):
        known.setdefault((request, field), []).append((start, end, fragment_id))
    shares = {content: passage.share(found) for content, found in runs.items()}
    for use in uses:
        content, request = use.pop("content"), use.pop("request")
        fragments = known.get((request, use["field"]), []) if use["side"] == "response" else []
        yield Sighting(
            **use,
            runs=runs[content],
            share=shares[content],
            fragment_ids=tuple(
                fragment_id
                for start, end, fragment_id in fragments
                if any(run.start < end and start < run.end for run in runs[content])
            ),
        )


def _texts(case: Case) -> Iterator[tuple[int, str]]:
    for batch in case.batches("case/content_texts", rows=1024):
        yield from zip(batch["content"].to_pylist(), batch["text"].to_pylist(), strict=True)


def _grams(units: npt.NDArray[np.uint32], size: int) -> npt.NDArray[np.int64]:
    """A bitmap slot for each run of `size` units."""
    count = units.size - size + 1
    value = np.zeros(count, dtype=np.uint64)
    for offset in range(size):
        value = value * _BASE + units[offset : offset + count]
    value ^= value >> np.uint64(32)
    return (value * _BASE >> (np.uint64(64) - _BITMAP_BITS)).astype(np.int64)
