"""What does the search for copies cost, in bits? The logarithm of the places where a match could have come by chance.

E = m n 2^-S (Karlin and Altschul 1990): m places in responses, n places in all texts. A place is a byte; for
identifiers it is a token of the same length, since no other can be equal. Does not say what a match is worth
(`strength`), and not what a search for names costs (`name_prices`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from forensics.attribution.holdings import World
from forensics.text.fold import Ints

LENGTHS = 65  # lengths of tokens told apart, in units: 0 to 63, and 64 and more


@dataclass(frozen=True)
class TokenCounts:
    """How many identifier tokens of each length (LENGTHS cells) stand in the responses, and in all other texts."""

    in_responses: Ints
    in_others: Ints


def count_lengths(starts: Ints, ends: Ints) -> Ints:
    """Tokens by length in units, in LENGTHS cells."""
    return np.bincount(np.minimum(ends - starts, LENGTHS - 1), minlength=LENGTHS).astype(np.int64)


class Charges:
    """Bits that a match of a case pays for the search that found it."""

    def __init__(self, world: World, tokens: TokenCounts) -> None:
        responses = int(world.text_bytes[world.is_response].sum())
        self._text = math.log2(responses + 1) + math.log2(int(world.text_bytes.sum()) + 1)
        # One bit for searching twice: everywhere, and beside.
        self._saved_beside = max(0.0, self._text - _bits_of_pairs(world) - 1.0)
        everywhere = tokens.in_responses + tokens.in_others
        # Each length is a search of its own; for having many of them each pays the same.
        searches = math.log2(max(1, int(np.count_nonzero(everywhere))))
        self._tokens = np.log2(tokens.in_responses + 1.0) + np.log2(everywhere + 1.0) + searches

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
