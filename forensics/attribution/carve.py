"""What is left of a candidate when the parts that a rule explains are cut out of it? Knows no rule.

A long explained stretch is cut out, so that private text that was copied along with it stays a candidate; where most of
what is left is explained too, it is dropped. A short stretch inside something else is a phrase, and cuts nothing.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from forensics.attribution.candidate import Candidate, clip
from forensics.attribution.hits import MIN_WEIGHT
from forensics.attribution.holdings import Ints
from forensics.text.fingerprint import GUARANTEE, WINDOW
from forensics.text.fold import Units
from forensics.text.match import Mask, weights

MOST = 0.5  # share of a candidate, by weight, that must be explained for all of it to be
EDGE = WINDOW  # weight by which an explained stretch may reach further than its fingerprints show
CUT = 2 * GUARANTEE  # weight of a stretch that is cut out
REST = MIN_WEIGHT + EDGE  # weight of what must be left beside a cut for it to be looked at

Part = tuple[int, int, float]  # first and last unit of the candidate, share (0..1) of it that is explained


def carve(candidate: Candidate, units: Units, explained: Mask) -> tuple[list[Candidate], list[Part]]:
    """Pieces that stay candidates, and the parts that are explained. `units`, `explained`: of the candidate's run."""
    if not explained.any():
        return [candidate], []
    weight = weights(units)
    if candidate.alteration is not None:  # its holders reach as far as they agree, not to a place
        share = _share(explained, weight, 0, units.size)
        return ([], [(0, units.size, share)]) if share >= MOST else ([candidate], [])
    cuts = _stretches(explained, weight)
    left = [(0, units.size)]
    parts: list[Part] = []
    for low, high in cuts:
        first, _ = left.pop()
        left += [(first, low), (high, units.size)]
        parts.append((low, high, _share(explained, weight, low, high)))
    pieces: list[Candidate] = []
    for low, high in left:
        if cuts and int(weight[low:high].sum()) < REST:
            continue  # too little to be told from the edge of the stretch beside it
        share = _share(explained, weight, low, high)
        if share >= MOST:
            parts.append((low, high, share))
        elif cuts:
            pieces += _piece(candidate, low, high)
        else:
            pieces.append(candidate)
    return pieces, sorted(parts)


def _share(explained: Mask, weight: Ints, low: int, high: int) -> float:
    total = float(weight[low:high].sum())
    return float(weight[low:high][explained[low:high]].sum()) / total if total else 0.0


def _stretches(explained: Mask, weight: Ints) -> list[tuple[int, int]]:
    """Explained stretches of weight CUT or more; gaps that winnowing may leave are bridged."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], explained, [False]]).astype(np.int8)))
    joined: list[tuple[int, int]] = []
    for low, high in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        if joined and int(weight[joined[-1][1] : low].sum()) <= EDGE:
            joined[-1] = (joined[-1][0], high)
        else:
            joined.append((low, high))
    return [(low, high) for low, high in joined if int(weight[low:high].sum()) >= CUT]


def _piece(candidate: Candidate, low: int, high: int) -> list[Candidate]:
    """The part of a candidate between two units of its own; nothing where no holder reaches into it."""
    start, end = candidate.start + low, candidate.start + high
    holders = tuple(clip(h, start, end) for h in candidate.holders if min(h.end, end) > max(h.start, start))
    return [replace(candidate, start=start, end=end, holders=holders)] if holders else []
