"""Which requests of other tenants were in flight beside a request, which texts do they hold, and which were not there?

The neighbourhood in which mixed streams are sought, and texts from elsewhere to compare with. Compares nothing.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from forensics.attribution.holdings import EARLY, LATE, Ints, World

NEIGHBOURS = 16  # requests in flight that a response is compared with, the latest to arrive first
LOOKED = 128  # requests that arrived last before a response's end, among which they are sought
MANY = 3  # tenants with the very same text above which it is nobody's
CONTROLS = 12  # texts that were not in flight
CONTROL_BYTES = 400  # bytes of such a text at least


def in_flight(world: World) -> Ints:
    """For each request up to NEIGHBOURS requests of other units that were in flight beside it; -1 where no more."""
    requests = world.requests
    workers = sorted({worker for worker in requests.worker if worker is not None})
    codes = {worker: code for code, worker in enumerate(workers)}
    worker = np.array([-1 if name is None else codes[name] for name in requests.worker], dtype=np.int64)
    known = (requests.received > EARLY) & (requests.finished < LATE) & (requests.unit >= 0)
    rows = np.flatnonzero(known)
    rows = rows[np.lexsort((rows, requests.received[rows]))]
    out = np.full((len(requests.request_id), NEIGHBOURS), -1, dtype=np.int64)
    for code in [-1, *range(len(workers))]:
        # A request on a worker meets those of that worker and those of none; one on none meets all.
        group = rows if code < 0 else rows[(worker[rows] == code) | (worker[rows] < 0)]
        mine = worker[group] == code
        _beside(group, mine, requests.received[group], requests.finished[group], requests.unit[group], out)
    return out


@numba.njit(cache=True, nogil=True)
def _beside(group: Any, mine: Any, received: Any, finished: Any, unit: Any, out: Any) -> None:
    for place in range(group.size):
        if not mine[place]:
            continue
        last = np.searchsorted(received, finished[place])
        n = 0
        for other in range(last - 1, max(-1, last - 1 - LOOKED), -1):
            if n == NEIGHBOURS:
                break
            if unit[other] != unit[place] and finished[other] > received[place]:
                out[group[place], n] = group[other]
                n += 1


class TextsOf:
    """Texts of requests: (content, unit, side), prompts without those that many requests share, and the response."""

    def __init__(self, world: World) -> None:
        uses = world.uses
        self._world = world
        often = np.diff(world.holdings.of_content) > MANY
        rows = np.flatnonzero(~often[uses.content])
        self._rows = rows[np.argsort(uses.request[rows], kind="stable")]
        self._requests = uses.request[self._rows]

    def of(self, requests: Ints, recipient: int) -> list[tuple[int, int, int]]:
        """Texts of the given requests (negative numbers are none) that the recipient's request does not hold itself."""
        uses = self._world.uses
        own = {int(uses.content[row]) for row in self._between(recipient)}
        found: dict[tuple[int, int, int], None] = {}
        for request in requests.tolist():
            if request < 0:
                continue
            unit = int(self._world.requests.unit[request])
            for row in self._between(request):
                content = int(uses.content[row])
                if content not in own:
                    found[content, unit, int(uses.side[row])] = None
        return list(found)

    def _between(self, request: int) -> list[int]:
        low, high = np.searchsorted(self._requests, np.array([request, request + 1]))
        rows: list[int] = self._rows[low:high].tolist()
        return rows


class Elsewhere:
    """Texts of prompts that were not in flight beside a request, spread evenly over the case."""

    def __init__(self, world: World) -> None:
        uses = world.uses
        often = np.diff(world.holdings.of_content) > MANY
        fit = (uses.side == 0) & (world.text_bytes[uses.content] >= CONTROL_BYTES) & ~often[uses.content]
        self._world = world
        self._rows = np.flatnonzero(fit)

    def of(self, use: int, near: Ints) -> list[int]:
        """At most CONTROLS texts of other requests, of tenants that had nothing in flight; the same on every run."""
        requests, uses = self._world.requests, self._world.uses
        units = {int(requests.unit[uses.request[use]]), *(int(requests.unit[r]) for r in near.tolist() if r >= 0)}
        found: dict[int, None] = {}
        count = self._rows.size
        for step in range(4 * CONTROLS if count else 0):
            row = int(self._rows[(use * 7919 + step * (count // (4 * CONTROLS) + 1)) % count])
            if int(requests.unit[uses.request[row]]) not in units:
                found[int(uses.content[row])] = None
            if len(found) == CONTROLS:
                break
        return list(found)
