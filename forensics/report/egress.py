"""Does a file that is meant to leave the house hold text that leaked? Does not decide what happens then.

Each view of the file (`decoded`) is compared with every passage, whole, or any RUN letters and digits in a row out of
it; spaces, case, punctuation and markup make no difference. A passage of fewer than SHORTEST code points is left to
`corpus_check`. Words of our own templates are allowed, known by the digests of their grams, so that a log that quotes
them blocks nothing: a run counts where less than half of it lies in them. Text of other tenants that did not leak,
their identifiers and their names are `corpus_check`'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from forensics.case.store import Case
from forensics.report.decoded import View, unfold
from forensics.text.fold import Units, fold
from forensics.text.match import every_gram, grams_of, marked, pack
from forensics.text.patterns import MIN_UNITS, Patterns, search
from forensics.text.safe_text import safe_text
from forensics.text.seed_search import SeedTable

SHORTEST = 12
RUN = 20


@dataclass(frozen=True)
class Passage:
    """Text that must not leave, and the fragment it belongs to. Never printed: its repr holds no text."""

    fragment_id: str
    text: str

    def __repr__(self) -> str:
        return f"Passage({self.fragment_id!r}, {len(self.text)} code points)"


@dataclass(frozen=True)
class Hit:
    """A file that must not leave: which fragment, or which request's text it holds, and where; never the text.

    `place` is a view of the file with code points in it; `what`: text | identifier | name | unread.
    """

    path: str
    fragment_id: str
    request_id: str = ""
    place: str = field(default="", compare=False)
    what: str = field(default="text", compare=False)

    @property
    def why(self) -> str:
        """What was found and where, as words without log text."""
        where = f", in {safe_text(self.place)}" if self.place else ""
        if self.what == "unread":
            return f"something that cannot be checked{where}"
        if self.fragment_id:
            return f"leaked text (fragment {self.fragment_id}){where}"
        held = f" (request {safe_text(self.request_id)} holds it)" if self.request_id else ""
        noun = {"identifier": "an identifier", "name": "a name"}.get(self.what, "text")
        return f"{noun} of another tenant{held}{where}"


def passages(case: Case) -> Iterable[Passage]:
    """Every fragment's own text, and its text where a named source holds it."""
    for batch in case.batches("report/leaked_texts", rows=256):
        columns = (batch.column(name).to_pylist() for name in ("fragment_id", "text", "start", "end"))
        for fragment_id, text, start, end in zip(*columns, strict=True):
            yield Passage(fragment_id, text[start:end])


def check(files: Iterable[tuple[str, bytes]], leaked: Iterable[Passage], allowed: Sequence[str] = ()) -> list[Hit]:
    """The files that hold a passage, each with the first such fragment, sorted by path.

    `files` are (path, bytes). `allowed` are texts of our own.
    """
    return check_views([view for path, data in files for view in unfold(path, data).views], leaked, allowed)


def check_views(views: Sequence[View], leaked: Iterable[Passage], allowed: Sequence[str] = ()) -> list[Hit]:
    """The same for files that are unfolded already."""
    own = _Own(allowed)
    kept = list({passage.text: passage for passage in leaked if _long(passage.text)}.values())
    found: dict[str, Hit] = {}
    if not views or not kept:
        return []
    patterns = Patterns.over([passage.text for passage in kept])
    sizes = np.diff(patterns.offsets)
    matches = search(*pack([view.text for view in views]), patterns)
    for row in np.lexsort((matches.starts, matches.documents, matches.patterns)).tolist():
        number, start, end = int(matches.patterns[row]), int(matches.starts[row]), int(matches.ends[row])
        view = views[int(matches.documents[row])]
        if view.path in found or end - start < min(RUN, int(sizes[number])):
            continue
        low = int(patterns.offsets[number] + matches.parts[row])
        if own.holds(patterns.units[low : low + end - start].tobytes()):
            continue
        first, last = fold(view.text).span(start, end)
        found[view.path] = Hit(view.path, kept[number].fragment_id, place=f"{view.place}, characters {first}-{last}")
    # Passages of signs alone, or of very few letters: whole, as they stand.
    for passage, size in zip(kept, sizes.tolist(), strict=True):
        text = _close(passage.text)
        if size < MIN_UNITS and len(text) >= MIN_UNITS and text not in own.close:
            for view in views:
                if view.path not in found and text in _close(view.text):
                    found[view.path] = Hit(view.path, passage.fragment_id, place=view.place)
    return [found[path] for path in sorted(found)]


class _Own:
    """Words of our own: digests of their grams, and for what is shorter than a gram the words themselves."""

    def __init__(self, allowed: Sequence[str]) -> None:
        self.table = SeedTable.over(every_gram(*pack(allowed)).hashes)
        self.units = "\n".join(_string(fold(text).units) for text in allowed)
        self.close = "\n".join(_close(text) for text in allowed)
        self.holds = cache(self._holds)  # the same run is met in file after file

    def _holds(self, run: bytes) -> bool:
        """Does a run of units, given as their bytes, stand in them, or half or more of it?"""
        units = np.frombuffer(run, dtype=np.uint32)
        if _string(units) in self.units:
            return True
        grams = grams_of(units)
        mask = marked(units, grams.positions[self.table.ids(grams.hashes) >= 0])
        return 2 * int(mask.sum()) >= units.size


def _string(units: Units) -> str:
    return "".join(map(chr, units.tolist()))


def _long(text: str) -> bool:
    return len(" ".join(text.split())) >= SHORTEST


def _close(text: str) -> str:
    return "".join(text.lower().split())
