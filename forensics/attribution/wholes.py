"""Is the whole of a response the answer to a request of the tenant that a passage in it names already?

A passage of another tenant's prompt in a response is a splice, or it is what that tenant's own answer quotes. Which of
the two shows in the rest: after a splice it answers the recipient's prompt, and the other request was answered, too. In
bits, over all k requests nearby of the tenant T that the passages name:

    E = log2( 1/k sum over the open ones of 2^(bits of its prompt) OPEN / share of open requests ) - own bits

with the weights of `likely` on the words outside the passages; the own bits are those of the best prompt nearby of the
recipient's tenant. Open is a request whose response has nothing to do with its prompt, or is missing.
Where one tenant alone is named, the requests that hold the passages are asked besides, wherever they were served
(`passage_suspects`), with the weights of `aligned`, which count each term in all prompts of the case: such a request
must explain the rest of the answer better than the own one does, and than every other tenant's nearby.
Nobody is named here whom the passages do not name: where they name a set, so does the whole. Verdicts are `swapped`'s.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from forensics.attribution.aligned import LINK_BITS, Weighed
from forensics.attribution.chains import Context, claims_of, suspects_with
from forensics.attribution.displaced import Claim
from forensics.attribution.findings import Judged
from forensics.attribution.holdings import World
from forensics.attribution.likely import Likely, Spans, Suspect, telling

SURE_BITS = 4.0  # for the whole where a passage is probable,
DOUBTFUL_BITS = 8.0  # and where all are only possible
OPEN = 0.9  # share of requests whose answer went astray that are open
MIN_KEYS = 8  # telling words outside the passages; with fewer the rest says nothing
MIN_SHARED = 3  # of them in the other prompt
MOST_REQUESTS = 8  # that hold a passage, above which it is no question that somebody asked


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


def _holding(judged: list[Judged], told: dict[int, tuple[frozenset[int], bool]]) -> dict[int, set[int]]:
    """By use whose passages name one tenant: that tenant's requests that hold them."""
    found: dict[int, set[int]] = defaultdict(set)
    for item in judged:
        units, _ = told.get(item.candidate.use, (frozenset(), False))
        if len(units) == 1 and set(item.units) == units:
            found[item.candidate.use] |= {one.request for one in item.ranked if one.holder.unit in units}
    return found


def passage_suspects(
    context: Context, judged: list[Judged], told: dict[int, tuple[frozenset[int], bool]], spans: Spans
) -> list[Suspect]:
    """Responses with passages of one tenant, each with its neighbours and the requests that hold the passages.

    Without responses that are akin to their own prompt, and without the terms that stand only in the passages or in
    what a rule has set aside (`spans`).
    """
    world, texts, vocabulary = context.world, context.texts, context.strange.vocabulary
    outside: Spans = {use: [span for span in found if not span[2]] for use, found in spans.items()}
    for item in judged:
        outside.setdefault(item.candidate.use, []).append((item.candidate.start, item.candidate.end, True))
    holding = _holding(judged, told)
    strange = set(vocabulary.uses[~context.strange.beside].tolist())
    chosen = {use: held for use, held in holding.items() if use in strange and len(held) <= MOST_REQUESTS}
    found = suspects_with(context, chosen)
    kept = []
    for batch in texts.batches([{int(world.uses.content[one.use])} for one in found]):
        for one in found[batch.start : batch.stop]:
            _, keys, _ = telling(world, texts, one, outside[one.use])
            said = np.isin(one.terms, keys)
            kept.append(replace(one, terms=one.terms[said], shares=one.shares[said]))
    return kept


def passage_claims(
    context: Context,
    weighed: list[Weighed],
    judged: list[Judged],
    told: dict[int, tuple[frozenset[int], bool]],
    answered: npt.NDArray[np.bool_],
) -> list[Claim]:
    """Claims of the requests that hold the passages. `weighed`: of `passage_suspects`; `answered`: by request."""
    requests = context.world.requests
    holding = _holding(judged, told)
    chosen = []
    for one in weighed:
        units, sure = told[one.use]
        theirs = np.isin(requests.unit[one.near], sorted(units))
        asked = np.isin(one.near, sorted(holding[one.use])) & ~answered[one.near]
        if not asked.any():
            continue
        place = int(np.argmax(np.where(asked, one.gain, -math.inf)))
        bits = float(one.gain[place])
        rival = float(one.gain[~theirs].max(initial=-math.inf))
        if bits < (SURE_BITS if sure else DOUBTFUL_BITS) or bits < rival + LINK_BITS:
            continue
        if int(one.held()[place].sum()) >= MIN_SHARED:
            chosen.append((one, place))
    return list(claims_of(context, chosen).values())
