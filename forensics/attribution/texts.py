"""Texts of a case on demand, folded once. Keeps what a batch of candidates needs and forgets it afterwards."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from forensics.case.store import Case
from forensics.text.fold import Folded, fold
from forensics.text.words import Words, words


@dataclass
class Texts:
    """A cache over the `contents` table; `load` before use, `forget` between batches."""

    case: Case
    _raw: dict[int, str] = field(default_factory=dict)
    _folded: dict[int, Folded] = field(default_factory=dict)
    _words: dict[int, Words] = field(default_factory=dict)

    def load(self, keys: Iterable[int]) -> None:
        """Fetch the texts of `keys` that are not here yet, in one query."""
        missing = sorted(set(keys) - self._raw.keys())
        if missing:
            for content, text in self.case.rows("attribution/texts_of", {"keys": missing}):
                self._raw[int(content)] = text

    def forget(self) -> None:
        """Drop everything."""
        self._raw.clear()
        self._folded.clear()
        self._words.clear()

    def raw(self, key: int) -> str:
        """The text as logged."""
        if key not in self._raw:
            self.load([key])
        return self._raw[key]

    def folded(self, key: int) -> Folded:
        """The folded text."""
        if key not in self._folded:
            self._folded[key] = fold(self.raw(key))
        return self._folded[key]

    def words(self, key: int) -> Words:
        """The words of the text."""
        if key not in self._words:
            self._words[key] = words(self.raw(key))
        return self._words[key]
