"""Is the whole of a response the answer to a request of the tenant that a passage in it names already?

A passage of another tenant's prompt in a response is a splice, or it is what that tenant's own answer quotes. Which of
the two shows in the rest: after a splice it answers the recipient's prompt, and the other request was answered, too. In
bits, over all k requests nearby of the tenant T that the passages name:

    E = log2( 1/k sum over the open ones of 2^(bits of its prompt) OPEN / share of open requests ) - own bits

with the weights of `likely` on the words outside the passages; the own bits are those of the best prompt nearby of the
recipient's tenant. Open is a request whose response has nothing to do with its prompt, or is missing.
Nobody is named here whom the passages do not name: where they name a set, so does the whole. Verdicts are `swapped`'s.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from forensics.attribution.displaced import Claim
from forensics.attribution.findings import Judged
from forensics.attribution.holdings import World
from forensics.attribution.likely import Likely

SURE_BITS = 4.0  # for the whole where a passage is probable,
DOUBTFUL_BITS = 8.0  # and where all are only possible
OPEN = 0.9  # share of requests whose answer went astray that are open
MIN_KEYS = 8  # telling words outside the passages; with fewer the rest says nothing
MIN_SHARED = 3  # of them in the other prompt


def told_by(judged: list[Judged]) -> dict[int, tuple[frozenset[int], bool]]:
    """Whom all passages of a response allow (units), and whether one of them is probable; by use. None if nobody."""
    found: dict[int, tuple[frozenset[int], bool]] = {}
    for item in judged:
        if item.units:
            units, sure = found.get(item.candidate.use, (frozenset(item.units), False))
            found[item.candidate.use] = units & frozenset(item.units), sure or item.verdict == "probable"
    return {use: told for use, told in found.items() if told[0]}


def claims_on_wholes(
    world: World, answered: npt.NDArray[np.bool_], likely: list[Likely], told: dict[int, tuple[frozenset[int], bool]]
) -> list[Claim]:
    """Claims on the whole answers, one place for each tenant of the set. `answered`: by request."""
    share = float(np.clip((~answered).mean(), 0.01, 1.0)) if answered.size else 1.0
    found = []
    for item in likely:
        units, sure = told.get(item.suspect.use, (frozenset(), False))
        near, bits = item.suspect.near, item.bits
        unit = world.requests.unit[near]
        theirs = np.isin(unit, sorted(units))
        opened = theirs & ~answered[near]
        if not units or not opened.any() or item.keys.size < MIN_KEYS:
            continue
        mine = bits[unit == world.requests.unit[item.suspect.request]]
        own = max(item.own_bits, float(mine.max(initial=-math.inf)))
        best = float(bits[opened].max())
        every = best + math.log2(float(np.exp2(bits[opened] - best).sum()) / float(theirs.sum()))
        net = every + max(0.0, math.log2(OPEN / share)) - own
        if net < (SURE_BITS if sure else DOUBTFUL_BITS):
            continue
        places = []
        for one in sorted(units):
            at = np.flatnonzero(opened & (unit == one))
            at = at if at.size else np.flatnonzero(unit == one)
            if at.size:
                places.append(int(at[np.argmax(bits[at])]))
        # A tenant of the set that was not near cannot be shown with a request: then the passages alone are told.
        if len(places) == len(units) and max(int(item.held[place].sum()) for place in places) >= MIN_SHARED:
            found.append(Claim(item, sorted(places), net))
    return found
