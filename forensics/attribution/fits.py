"""How well do the prompts around many responses explain them? The arithmetic of `chances`, for all responses at once.

A case of a million requests has hundreds of thousands of responses that do not take up their own prompt: what is kept
of each is its weights alone, and which terms a prompt holds is read again for the few that are asked about (`held`).
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from forensics.attribution.chances import gains
from forensics.attribution.holdings import Ints
from forensics.attribution.likely import Suspect
from forensics.attribution.nearby import Held, Prompts
from forensics.text.term_search import gather
from forensics.text.words import Keys

BLOCK = 1 << 15  # responses that are laid out at a time
TOGETHER = 4096  # and that a thread takes at a time

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Many:
    """Suspects in one piece: `requests[of[i]:of[i + 1]]` are the neighbours of the i-th, its own request last, with
    their `places` in that list; `terms[terms_of[i]:terms_of[i + 1]]` its terms, numbers of the keys that were read."""

    requests: Ints
    places: Ints
    of: Ints
    terms: Ints
    terms_of: Ints

    @classmethod
    def over(cls, suspects: list[Suspect], keys: Keys) -> Many:
        """Of these suspects; `keys`: those that their terms are among, ascending."""
        terms, terms_of = in_one([suspect.terms for suspect in suspects])
        return cls(*asked_around(suspects), np.searchsorted(keys, terms).astype(np.int64), terms_of)


def blocks(suspects: list[Suspect]) -> Iterator[list[Suspect]]:
    """The suspects in parts. What is laid out of them in one piece takes as much as they do."""
    for low in range(0, len(suspects), BLOCK):
        yield suspects[low : low + BLOCK]


def asked_around(suspects: list[Suspect]) -> tuple[Ints, Ints, Ints]:
    """`requests`, `places` and `of` of `Many`."""
    requests, of = in_one([suspect.near for suspect in suspects])
    own = np.array([suspect.request for suspect in suspects], dtype=np.int64)
    requests, of = np.insert(requests, of[1:], own), of + np.arange(of.size)
    return requests, np.arange(requests.size) - np.repeat(of[:-1], np.diff(of)), of


def in_one(parts: list[Any]) -> tuple[Any, Ints]:
    """The parts (one at least) one after the other, and where each begins."""
    sizes = np.array([0, *(part.size for part in parts)], dtype=np.int64)
    return np.concatenate(parts), sizes.cumsum()


def all_gains(
    many: Many, held: Held, prompts: Prompts, unit: Ints, words: Floats, having: Floats, speak: Floats, prior: Floats,
    language: Floats, rates: Floats, threads: int,
) -> Floats:  # fmt: skip
    """`chances.gains` of each suspect, one after the other, without the own request.

    By neighbour: its `unit`, `words` of its prompt, bits of its `language`; by term: prompts `having` it, its `prior`;
    by suspect: prompts that `speak` its language.
    """
    out = np.zeros(many.requests.size - (many.of.size - 1))
    columns: list[npt.NDArray[np.int32]] = []

    def work(part: slice) -> None:
        column = columns.pop() if columns else np.full(held.keys.size, -1, dtype=np.int32)
        _gains(
            part.start, part.stop, many.requests, many.of, many.terms, many.terms_of, prompts.content, prompts.offsets,
            held.found, held.lows, held.highs, column, unit, words, having, speak, prior, language, rates, out,
        )  # fmt: skip
        columns.append(column)

    _on_all(work, many.of.size - 1, threads)
    return out


def most_shared(
    many: Many, asked: Flags, held: Held, prompts: Prompts, bits: Floats, threads: int
) -> tuple[Ints, Floats]:
    """By suspect: the most of its terms, and the most bits of them, that one of the prompts `asked` for holds.

    `asked`: by neighbour; `bits`: by term.
    """
    terms, worth = np.zeros(many.of.size - 1, dtype=np.int64), np.zeros(many.of.size - 1)
    columns: list[npt.NDArray[np.int32]] = []

    def work(part: slice) -> None:
        column = columns.pop() if columns else np.full(held.keys.size, -1, dtype=np.int32)
        _shared(
            part.start, part.stop, many.requests, many.of, asked, many.terms, many.terms_of, prompts.content,
            prompts.offsets, held.found, held.lows, held.highs, column, bits, terms, worth,
        )  # fmt: skip
        columns.append(column)

    _on_all(work, many.of.size - 1, threads)
    return terms, worth


def _on_all(work: Any, size: int, threads: int) -> None:
    def parts() -> Iterator[slice]:
        for low in range(0, size, TOGETHER):
            yield slice(low, min(size, low + TOGETHER))

    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(work, parts()):
            pass


@numba.njit(cache=True, nogil=True)
def _gains(
    start: Any, stop: Any, requests: Any, of: Any, terms: Any, terms_of: Any, members: Any, offsets: Any, found: Any,
    lows: Any, highs: Any, column: Any, unit: Any, words: Any, having: Any, speak: Any, prior: Any, language: Any,
    rates: Any, out: Any,
) -> None:  # fmt: skip
    for s in range(start, stop):
        low, high, first, last = of[s], of[s + 1], terms_of[s], terms_of[s + 1]
        held = gather(requests[low:high], members, offsets, found, lows, highs, terms[first:last], column)
        typical = 0.0
        for row in range(low, high - 1):
            typical += words[row]
        typical = max(typical / max(1, high - 1 - low), 1.0)
        out[low - s : high - 1 - s] = gains(
            held, unit[low:high], having[first:last], speak[s], prior[first:last], language[low:high], words[low:high],
            typical, rates,
        )  # fmt: skip


@numba.njit(cache=True, nogil=True)
def _shared(
    start: Any, stop: Any, requests: Any, of: Any, asked: Any, terms: Any, terms_of: Any, members: Any, offsets: Any,
    found: Any, lows: Any, highs: Any, column: Any, bits: Any, most: Any, worth: Any,
) -> None:  # fmt: skip
    for s in range(start, stop):
        low, high, first, last = of[s], of[s + 1], terms_of[s], terms_of[s + 1]
        held = gather(requests[low:high], members, offsets, found, lows, highs, terms[first:last], column)
        for row in range(low, high):
            if not asked[row]:
                continue
            count: Any = 0
            total = 0.0
            for t in range(last - first):
                if held[row - low, t]:
                    count += 1
                    total += bits[first + t]
            most[s] = max(most[s], count)
            worth[s] = max(worth[s], total)
