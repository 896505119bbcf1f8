"""What does a search for names cost, in bits? Each place, each pair of a response and a tenant, each choice (`names`).

Does not say what a name is worth.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from forensics.attribution.holdings import World


class Prices:
    """What a search costs: bits. `sent`: distinct tokens that each unit sent."""

    def __init__(self, world: World, sent: npt.NDArray[np.float64]) -> None:
        requests, uses = world.requests, world.uses
        units = len(requests.unit_names)
        self.tokens = np.log2(np.maximum(2.0, sent))
        responses = max(2, int(np.unique(uses.request[uses.side == 1]).size))
        self.pairs = math.log2(responses) + math.log2(max(2, units))
        self.pairs_beside = min(self.pairs, 1.0 + math.log2(max(2.0, _pairs_in_flight(world))))

    def choice(self, chosen: int, among: int) -> float:
        """For picking `chosen` places among `among`."""
        return math.log2(math.comb(max(chosen, among), chosen))


def _pairs_in_flight(world: World) -> float:
    """Pairs of a request and another that was on its worker at the same time."""
    requests = world.requests
    pairs = 0.0
    workers = np.array([name or "" for name in requests.worker])
    for name in sorted({w for w in requests.worker if w}):
        rows = np.flatnonzero(workers == name)
        starts, ends = np.sort(requests.received[rows]), np.sort(requests.finished[rows])
        begun = np.searchsorted(starts, requests.finished[rows], side="left")
        gone = np.searchsorted(ends, requests.received[rows], side="left")
        pairs += float(np.maximum(begun - gone - 1, 0).sum())
    return pairs if pairs else float("inf")
