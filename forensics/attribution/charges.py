"""What does the search for copies cost, in bits? The logarithm of the places where a match could have come by chance.

E = m n 2^-S (Karlin and Altschul 1990): m places in responses, n places in all texts. A place is a byte; for
identifiers it is a distinct token of the same length, since no other can be equal. Does not say what a match is worth
(`strength`), and not what a search for names costs (`name_prices`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from forensics.attribution.holdings import World
from forensics.text.fold import Ints

Floats = npt.NDArray[np.float64]

LENGTHS = 65  # lengths of tokens told apart, in units: 0 to 63, and 64 and more
PRECISION = 12  # bits of a hash that choose a register; a count's standard error is 1.6 %
RANKED = 64 - PRECISION  # bits of it that are left

Registers = npt.NDArray[np.int8]


@dataclass(frozen=True)
class TokenCounts:
    """How many distinct identifier tokens of each length stand in the responses, and in all texts (LENGTHS cells)."""

    in_responses: Floats
    everywhere: Floats


def no_tokens() -> Registers:
    """Empty sketches, one for each length."""
    return np.zeros((LENGTHS, 1 << PRECISION), dtype=np.int8)


def sketch(hashes: Ints, lengths: Ints) -> Registers:
    """Registers of the distinct tokens of each length, by their 64-bit hashes; two sketches merge by the larger one.

    A token that stands in every turn of a conversation is one chance of a match, not many. HyperLogLog++ (Heule,
    Nunkesser, Hall 2013); the counts are datasketch's.
    """
    bits = hashes.astype(np.int64).view(np.uint64)
    found = no_tokens()
    # The rank is the place of the first set bit; 52 bits are exact in a float.
    rank = RANKED + 1 - np.frexp((bits >> np.uint64(PRECISION)).astype(np.float64))[1]
    places = (bits & np.uint64((1 << PRECISION) - 1)).astype(np.int64)
    np.maximum.at(found, (np.minimum(lengths, LENGTHS - 1), places), rank.astype(np.int8))
    return found


def count_tokens(in_responses: Registers, in_others: Registers) -> TokenCounts:
    """Counts of two sketches and of both together."""
    return TokenCounts(_counts(in_responses), _counts(np.maximum(in_responses, in_others)))


def _counts(registers: Registers) -> Floats:
    from datasketch import HyperLogLogPlusPlus

    return np.array([HyperLogLogPlusPlus(reg=row).count() if row.any() else 0.0 for row in registers])


class Charges:
    """Bits that a match of a case pays for the search that found it."""

    def __init__(self, world: World, tokens: TokenCounts) -> None:
        responses = int(world.text_bytes[world.is_response].sum())
        self._text = math.log2(responses + 1) + math.log2(int(world.text_bytes.sum()) + 1)
        # One bit for searching twice: everywhere, and beside.
        self._saved_beside = max(0.0, self._text - _bits_of_pairs(world) - 1.0)
        # Each length is a search of its own. The bits of a token count its length, too, so that it is paid for: by the
        # share of tokens that have it.
        shares = np.maximum(tokens.everywhere, 1.0) / max(1.0, float(tokens.everywhere.sum()))
        self._tokens = np.log2(tokens.in_responses + 1.0) + np.log2(tokens.everywhere + 1.0) - np.log2(shares)

    def of_text(self, beside: bool) -> float:
        """For a passage; `beside`: its source was in flight on the recipient's worker."""
        return self._text - (self._saved_beside if beside else 0.0)

    def of_token(self, units: int, beside: bool) -> float:
        """For an identifier of so many units; tokens are taken to lie as densely beside as elsewhere."""
        charge = float(self._tokens[min(units, LENGTHS - 1)])
        return max(0.0, charge - (self._saved_beside if beside else 0.0))


def _bits_of_pairs(world: World) -> float:
    """Places of the search among texts that were in flight on the same worker at the same time: much fewer."""
    requests, uses = world.requests, world.uses
    size = np.zeros(len(requests.request_id))
    answer = np.zeros(len(requests.request_id))
    np.add.at(size, uses.request, world.text_bytes[uses.content].astype(np.float64))
    np.add.at(answer, uses.request[uses.side == 1], world.text_bytes[uses.content[uses.side == 1]].astype(np.float64))
    pairs = 0.0
    workers = np.array([name or "" for name in requests.worker])
    for name in sorted({w for w in requests.worker if w}):
        rows = np.flatnonzero(workers == name)
        starts, ends = np.sort(requests.received[rows]), np.sort(requests.finished[rows])
        by_start = np.concatenate([[0.0], np.cumsum(size[rows][np.argsort(requests.received[rows], kind="stable")])])
        by_end = np.concatenate([[0.0], np.cumsum(size[rows][np.argsort(requests.finished[rows], kind="stable")])])
        begun = by_start[np.searchsorted(starts, requests.finished[rows], side="left")]
        gone = by_end[np.searchsorted(ends, requests.received[rows], side="left")]
        pairs += float((answer[rows] * np.maximum(begun - gone, 0.0)).sum())
    return math.log2(pairs + 1) if pairs > 0 else math.inf
