"""Texts of a case on demand, folded once. Keeps what a batch of candidates needs and forgets it afterwards."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from forensics.attribution.corpus import Corpus
from forensics.text.escapes import fold_escaped, unescape
from forensics.text.fold import Folded, fold, fold_bytes
from forensics.text.words import Words, words

FEW = 64  # texts that are looked up one by one rather than read in a pass over all of them
FOLDED_BYTES = 192 << 20  # folded texts kept
BATCH_BYTES = 160 << 20  # raw texts that a batch may need


@dataclass
class Texts:
    """A cache over the corpus; `load` before use, `forget` between batches."""

    corpus: Corpus
    _raw: dict[int, str] = field(default_factory=dict)
    _folded: OrderedDict[int, Folded] = field(default_factory=OrderedDict)
    _folded_bytes: int = 0
    _words: dict[int, Words] = field(default_factory=dict)

    def load(self, keys: Iterable[int]) -> None:
        """Fetch the texts of `keys` that are not here yet."""
        missing = sorted(set(keys) - self._raw.keys())
        if not missing or self.corpus.in_memory:
            return
        if len(missing) <= FEW:
            for content, text in self.corpus.case.rows("attribution/texts_of", {"keys": missing}):
                self._raw[int(content)] = text
            return
        wanted = np.zeros(self.corpus.world.text_bytes.size, dtype=np.bool_)
        wanted[missing] = True
        for contents, buffer, offsets in self.corpus.batches(wanted):
            data = buffer.tobytes()
            for content, start, end in zip(contents.tolist(), offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
                self._raw[content] = data[start:end].decode()
        for content in sorted(self.corpus.escaped & set(missing)):
            self._raw[content] = self._logged(content)

    def forget(self) -> None:
        """Drop everything."""
        self._raw.clear()
        self._folded.clear()
        self._folded_bytes = 0
        self._words.clear()

    def batches(self, needs: list[set[int]]) -> Iterator[range]:
        """Ranges of `needs` whose texts fit into a batch, each loaded before it is given. Forgets the one before."""
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
            self.load(needed)
            yield range(first, last)
            first = last
        self.forget()

    def raw(self, key: int) -> str:
        """The text as logged."""
        if key not in self._raw:
            if self.corpus.in_memory:
                if key not in self.corpus.escaped:
                    return self.corpus.text(key)
                self._raw[key] = self._logged(key)
            else:
                self.load([key])
        return self._raw[key]

    def _logged(self, key: int) -> str:
        return str(self.corpus.case.rows("attribution/texts_of", {"keys": [key]})[0][1])

    def folded(self, key: int) -> Folded:
        """The folded text."""
        known = self._folded.get(key)
        if known is not None:
            self._folded.move_to_end(key)
            return known
        if key in self.corpus.escaped:
            made = fold_escaped(self.raw(key))
        else:
            made = fold_bytes(self.corpus.data(key)) if self.corpus.in_memory else fold(self.raw(key))
        self._folded[key] = made
        self._folded_bytes += made.units.nbytes + made.positions.nbytes
        while self._folded_bytes > FOLDED_BYTES and len(self._folded) > 1:
            _, dropped = self._folded.popitem(last=False)
            self._folded_bytes -= dropped.units.nbytes + dropped.positions.nbytes
        return made

    def words(self, key: int) -> Words:
        """The words of the text."""
        if key not in self._words:
            text = self.raw(key)
            self._words[key] = words(unescape(text)[0] if key in self.corpus.escaped else text)
        return self._words[key]
