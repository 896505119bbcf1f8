"""Who else holds the passage of another text that was found in a response, in one piece, at whatever time?

Streams are sought among the requests in flight alone. Whose text it is can be told only when everybody who holds it is
known: a tenant that supplied it days before, several that did, or the recipient itself. One pass over all texts, and
only where there is something to ask for. Decides nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from forensics.attribution.corpus import Corpus, TextBatch
from forensics.attribution.holdings import Ints
from forensics.text.fingerprint import GRAM, select
from forensics.text.keys import among, distinct
from forensics.text.seed_search import SeedFilter, sift

Passage = tuple[int, int, int]  # text, first and last unit
ALONG = 64  # units by which grams of one copy may be displaced
LEAST = 0.6  # share of the passage's fingerprints that a text must hold
WHOLE = 0.9  # share from which on it holds the passage as a whole: what is at its ends may differ


@dataclass(frozen=True)
class Other:
    """Another text with the passage: the share (0..1) of it that it holds, and where its first and last gram stand."""

    content: int
    share: float
    start: int
    end: int


def others(corpus: Corpus, passages: list[Passage]) -> list[list[Other]]:
    """For each passage the other texts that hold it, by number of the text."""
    if not passages:
        return []
    asked: list[tuple[Ints, Ints]] = []
    for content, low, high in passages:
        data = corpus.data(content)
        hashes, _, places = select(data, np.array([0, data.size], dtype=np.int64))
        inside = (places >= low + GRAM - 1) & (places < high)
        keys, first = np.unique(hashes[inside], return_index=True)
        asked.append((keys, places[inside][first].astype(np.int64)))
    wanted = distinct(np.concatenate([keys for keys, _ in asked]))
    found = _holding(corpus, wanted)
    return [_of(passage, keys, places, *found) for passage, (keys, places) in zip(passages, asked, strict=True)]


def _holding(corpus: Corpus, wanted: Ints) -> tuple[Ints, Ints, Ints]:
    """Hashes, texts and places of all grams that are wanted, in all texts."""
    seeds = SeedFilter.empty(wanted.size, 0, 64 * (wanted.size + 1024))
    seeds.put(wanted)

    def work(batch: TextBatch) -> tuple[Ints, Ints, Ints]:
        keys, buffer, offsets = batch
        hashes, documents, places = sift(buffer, offsets, seeds)
        mine = among(hashes, wanted)
        return hashes[mine], keys[documents[mine]].astype(np.int64), places[mine].astype(np.int64)

    everything = np.ones(corpus.world.text_bytes.size, dtype=np.bool_)
    parts = list(corpus.over(everything, work))
    if not parts:
        none = np.zeros(0, dtype=np.int64)
        return wanted[:0], none, none
    hashes, texts, places = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(hashes, kind="stable")
    return hashes[order], texts[order], places[order]


def _of(passage: Passage, keys: Ints, places: Ints, hashes: Ints, texts: Ints, there: Ints) -> list[Other]:
    content = passage[0]
    firsts, lasts = np.searchsorted(hashes, keys), np.searchsorted(hashes, keys, side="right")
    held: dict[int, set[int]] = {}
    spots: dict[int, list[tuple[int, int]]] = {}
    for number, (first, last) in enumerate(zip(firsts.tolist(), lasts.tolist(), strict=True)):
        for row in range(first, last):
            text = int(texts[row])
            if text != content:
                held.setdefault(text, set()).add(number)
                spots.setdefault(text, []).append((int(there[row]) - int(places[number]), int(there[row])))
    found = []
    for text, numbers in sorted(held.items()):
        if len(numbers) >= LEAST * keys.size:
            # A text can hold the passage twice: the places of one copy belong together.
            shift = sorted(by for by, _ in spots[text])[len(spots[text]) // 2]
            along = [place for by, place in spots[text] if abs(by - shift) <= ALONG]
            found.append(Other(text, len(numbers) / keys.size, max(0, min(along) - GRAM + 1), max(along) + 1))
    return found
