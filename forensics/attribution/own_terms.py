"""Does the recipient's tenant hold what a claim on another's answer rests on?

What a tenant sent before, or was answered before, explains an answer however little its own prompt does (rule 2 of the
design: earlier conversations, documents kept by the service). Looked at are the prompts and answers of the tenant's
LATEST requests before the response's end, wherever they were served, and verbatim passages of any age by their seeds.
"""

from __future__ import annotations

import numpy as np

from forensics.attribution.corpus import Corpus
from forensics.attribution.displaced import Claim
from forensics.attribution.hits import OWN, Hits
from forensics.attribution.holdings import EARLY, Ints
from forensics.attribution.nearby import Prompts, look_up
from forensics.text.fingerprint import WINDOW

LATEST = 64  # requests of the tenant before the end of the response
OWN_SHARE = 0.5  # of the terms shared with the other's prompt that the tenant's own texts hold
OWN_SEED_SHARE = 0.3  # of a response's seeds, at their usual density, that the tenant had sent before


class OwnTexts:
    """Requests of each tenant in the order of their arrival, and the texts of their responses."""

    def __init__(self, corpus: Corpus, prompts: Prompts) -> None:
        world = corpus.world
        self._corpus, self._prompts = corpus, prompts
        self._requests: dict[int, Ints] = {}
        order = np.argsort(world.requests.received, kind="stable")
        order = order[(world.requests.received[order] > EARLY) & (world.requests.unit[order] >= 0)]
        units = world.requests.unit[order]
        by_unit = np.argsort(units, kind="stable")
        edges = np.searchsorted(units[by_unit], np.arange(len(world.requests.unit_names) + 1))
        for unit in range(len(world.requests.unit_names)):
            self._requests[unit] = order[by_unit[edges[unit] : edges[unit + 1]]]
        rows = np.flatnonzero(world.uses.side == 1)
        rows = rows[np.argsort(world.uses.request[rows], kind="stable")]
        self._answers = world.uses.content[rows]
        self._offsets = np.searchsorted(world.uses.request[rows], np.arange(len(world.requests.request_id) + 1))

    def before(self, request: int) -> list[int]:
        """Texts of the tenant's latest requests before the end of `request`, without its own."""
        world = self._corpus.world
        requests = self._requests[int(world.requests.unit[request])]
        last = int(np.searchsorted(world.requests.received[requests], world.requests.finished[request]))
        contents: list[int] = []
        for other in requests[max(0, last - LATEST) : last].tolist():
            if other == request:
                continue
            contents += self._prompts.of(other).tolist()
            if world.requests.finished[other] < world.requests.finished[request]:
                contents += self._answers[self._offsets[other] : self._offsets[other + 1]].tolist()
        return contents


def without_own(corpus: Corpus, claims: list[Claim], prompts: Prompts, grams: Hits) -> list[Claim]:
    """The claims whose terms the recipient's tenant does not hold itself."""
    world = corpus.world
    own = OwnTexts(corpus, prompts)
    texts = [own.before(claim.likely.suspect.request) for claim in claims]
    wanted = np.zeros(world.text_bytes.size, dtype=np.bool_)
    for contents in texts:
        wanted[contents] = True
    held = look_up(corpus, wanted, [claim.likely.keys for claim in claims])
    rows = np.flatnonzero(grams.kind == OWN)
    sent = np.unique(np.stack([grams.use[rows].astype(np.int64), grams.start[rows].astype(np.int64)]), axis=1)[0]
    kept = []
    for claim, contents in zip(claims, texts, strict=True):
        use = claim.likely.suspect.use
        seeds = int(np.searchsorted(sent, use, side="right") - np.searchsorted(sent, use, side="left"))
        usual = 2.0 / (WINDOW + 1) * float(world.text_bytes[world.uses.content[use]])
        if seeds >= OWN_SEED_SHARE * usual:
            continue
        has = held.in_texts(np.array(contents, dtype=np.int64), claim.likely.keys)
        most = max(int(claim.likely.held[place].sum()) for place in claim.places)
        mine = max(int((claim.likely.held[place] & has).sum()) for place in claim.places)
        if mine < OWN_SHARE * most:
            kept.append(claim)
    return kept
