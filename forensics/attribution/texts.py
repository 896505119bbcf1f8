"""Texts of a case on demand, folded once. Keeps what a batch of candidates needs and forgets it afterwards."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field

from forensics.attribution.corpus import Corpus
from forensics.text.escapes import fold_escaped, unescape
from forensics.text.fold import Folded, Units, UnitsOf, fold_bytes
from forensics.text.words import Words, words, words_of_bytes

FOLDED_BYTES = 192 << 20  # folded texts kept
UNITS_BYTES = 96 << 20  # texts kept of which the units alone were asked for
BATCH_BYTES = 160 << 20  # raw texts that a batch may need


@dataclass
class Texts:
    """A cache over the corpus; `forget` between batches."""

    corpus: Corpus
    _raw: dict[int, str] = field(default_factory=dict)
    _folded: OrderedDict[int, Folded] = field(default_factory=OrderedDict)
    _folded_bytes: int = 0
    _units: OrderedDict[int, Units] = field(default_factory=OrderedDict)
    _units_bytes: int = 0
    _units_of: UnitsOf = field(default_factory=UnitsOf)
    _words: dict[int, Words] = field(default_factory=dict)

    def forget(self) -> None:
        """Drop everything."""
        self._raw.clear()
        self._folded.clear()
        self._folded_bytes = 0
        self._units.clear()
        self._units_bytes = 0
        self._words.clear()

    def batches(self, needs: list[set[int]]) -> Iterator[range]:
        """Ranges of `needs` whose texts fit into a batch. Forgets the one before."""
        first = 0
        while first < len(needs):
            needed: set[int] = set()
            size = 0
            last = first
            while last < len(needs) and (last == first or size < BATCH_BYTES):
                new = needs[last] - needed
                size += int(self.corpus.world.text_bytes[list(new)].sum()) if new else 0
                needed |= new
                last += 1
            self.forget()
            yield range(first, last)
            first = last
        self.forget()

    def raw(self, key: int) -> str:
        """The text as logged."""
        if not self.corpus.is_escaped(key):
            return self.corpus.text(key)
        if key not in self._raw:
            self._raw[key] = str(self.corpus.case.rows("attribution/texts_of", {"keys": [key]})[0][1])
        return self._raw[key]

    def folded(self, key: int) -> Folded:
        """The folded text."""
        known = self._folded.get(key)
        if known is not None:
            self._folded.move_to_end(key)
            return known
        made = fold_escaped(self.raw(key)) if self.corpus.is_escaped(key) else fold_bytes(self.corpus.data(key))
        self._folded[key] = made
        self._folded_bytes += made.units.nbytes + made.positions.nbytes
        while self._folded_bytes > FOLDED_BYTES and len(self._folded) > 1:
            _, dropped = self._folded.popitem(last=False)
            self._folded_bytes -= dropped.units.nbytes + dropped.positions.nbytes
        return made

    def units(self, key: int) -> Units:
        """The folded text without its places: a third of the memory, and all that a comparison needs."""
        folded = self._folded.get(key)
        if folded is not None:
            return folded.units
        known = self._units.get(key)
        if known is not None:
            self._units.move_to_end(key)
            return known
        if self.corpus.is_escaped(key):
            return self.folded(key).units
        made = self._units_of(self.corpus.data(key))
        self._units[key] = made
        self._units_bytes += made.nbytes
        while self._units_bytes > UNITS_BYTES and len(self._units) > 1:
            self._units_bytes -= self._units.popitem(last=False)[1].nbytes
        return made

    def words(self, key: int) -> Words:
        """The words of the text."""
        if key not in self._words:
            self._words[key] = (
                words(unescape(self.raw(key))[0])
                if self.corpus.is_escaped(key)
                else words_of_bytes(self.corpus.data(key))
            )
        return self._words[key]
