"""What of the candidates stands in the public texts that an analyst gave? That part is no evidence of a leak.

A reference is joined like a tenant called `public`: a long public stretch is cut out of a candidate, so that private
text copied along with a licence stays a finding; a candidate that is public for the most part is dropped as a whole.
Each stretch and each drop is an exclusion `public_text` that names the reference and says how much of it stands there.
Decoys are treated alike. References are known by winnowed fingerprints (`case/references`), so that up to EDGE weight
at either end of a public stretch cannot be told from what stands beside it.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace

import numpy as np

from forensics.attribution.candidates import Candidate, Excluded, _clip, _with_carriers
from forensics.attribution.hits import MIN_WEIGHT, Carriers
from forensics.attribution.judge import PUBLIC_SHARE
from forensics.attribution.texts import Texts
from forensics.case.references import references
from forensics.case.store import Case
from forensics.text.fingerprint import GUARANTEE, WINDOW, Hashes
from forensics.text.identifiers import identifiers
from forensics.text.keys import among, distinct
from forensics.text.match import Mask, grams_of, marked, pack, weights

EDGE = WINDOW  # weight by which a public stretch may reach further than its fingerprints show
CUT = 2 * GUARANTEE  # weight of a public stretch that is cut out; a shorter one is a phrase inside something else
REST = MIN_WEIGHT + EDGE  # weight of what must be left beside a cut for it to be looked at
BATCH_ROWS = 1 << 18
NONE: Hashes = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True)
class _Sets:
    """Per reference, the grams and tokens that some candidate has too, ascending."""

    grams: dict[str, Hashes]
    tokens: dict[str, Hashes]


def without_public(
    case: Case, texts: Texts, candidates: list[Candidate], carriers: tuple[Carriers, Carriers]
) -> tuple[list[Candidate], list[Excluded]]:
    """Candidates less what stands in the case's references, and what was set aside. Nothing where there are none."""
    if not references(case) or not candidates:
        return candidates, []
    sets = _sets(case, texts, candidates)
    kept: list[Candidate] = []
    excluded: list[Excluded] = []
    for batch in texts.batches([{candidate.content} for candidate in candidates]):
        for candidate in candidates[batch.start : batch.stop]:
            pieces, dropped = _token(candidate, texts, sets) if candidate.token else _run(candidate, texts, sets)
            kept.extend(piece if piece is candidate else _with_carriers(piece, carriers) for piece in pieces)
            if candidate.family == "target":
                excluded.extend(dropped)
    return kept, excluded


def _sets(case: Case, texts: Texts, candidates: list[Candidate]) -> _Sets:
    """Read the references once, keeping what a candidate asks for: memory follows the candidates."""
    wanted: list[Hashes] = []
    wanted_tokens: list[Hashes] = []
    for batch in texts.batches([{candidate.content} for candidate in candidates]):
        part = candidates[batch.start : batch.stop]
        runs = [grams_of(texts.folded(c.content).units[c.start : c.end]).hashes for c in part if not c.token]
        wanted.append(distinct(np.concatenate([NONE, *runs])))
        for candidate in part:
            if candidate.token:
                wanted_tokens.append(_token_hash(candidate, texts))
    asked = {
        "gram": distinct(np.concatenate([NONE, *wanted])),
        "token": distinct(np.concatenate([NONE, *wanted_tokens])),
    }
    found: dict[str, dict[str, list[Hashes]]] = {"gram": defaultdict(list), "token": defaultdict(list)}
    for rows in case.batches("attribution/reference_fingerprints", rows=BATCH_ROWS):
        hashes = rows["hash"].to_numpy()
        names, kinds = np.array(rows["name"].to_pylist()), np.array(rows["kind"].to_pylist())
        for kind, keys in asked.items():
            hit = np.flatnonzero((kinds == kind) & among(hashes, keys))
            for name in np.unique(names[hit]).tolist():
                found[kind][name].append(hashes[hit[names[hit] == name]])
    grams, tokens = (
        {name: distinct(np.concatenate(parts)) for name, parts in sorted(found[kind].items())}
        for kind in ("gram", "token")
    )
    return _Sets(grams, tokens)


def _token_hash(candidate: Candidate, texts: Texts) -> Hashes:
    """The candidate's identifier as `identifiers` hashes it."""
    found = identifiers(*pack([texts.raw(candidate.content)]))
    return found.hashes[(found.starts == candidate.start) & (found.ends == candidate.end)]


def _token(candidate: Candidate, texts: Texts, sets: _Sets) -> tuple[list[Candidate], list[Excluded]]:
    mine = _token_hash(candidate, texts)
    for name, known in sets.tokens.items():
        if among(mine, known).any():
            return [], [_excluded(candidate, texts, candidate.start, candidate.end, 1.0, name)]
    return [candidate], []


def _run(candidate: Candidate, texts: Texts, sets: _Sets) -> tuple[list[Candidate], list[Excluded]]:
    units = texts.folded(candidate.content).units[candidate.start : candidate.end]
    grams = grams_of(units)
    masks = {}
    for name, known in sets.grams.items():
        held = among(grams.hashes, known)
        if held.any():
            masks[name] = marked(units, grams.positions[held])
    if not masks:
        return [candidate], []
    weight = weights(units)
    public: Mask = np.logical_or.reduce(list(masks.values()))
    cuts = _stretches(public, weight)
    left = [(0, units.size)]
    dropped: list[Excluded] = []
    for low, high in cuts:
        first, _ = left.pop()
        left += [(first, low), (high, units.size)]
        dropped.append(_named(candidate, texts, masks, weight, low, high))
    pieces = []
    for low, high in left:
        total = int(weight[low:high].sum())
        if cuts and total < REST:
            continue  # too little to be told from the edge of the public stretch beside it
        if float(weight[low:high][public[low:high]].sum()) >= PUBLIC_SHARE * total:
            dropped.append(_named(candidate, texts, masks, weight, low, high))
        elif cuts:
            pieces += _piece(candidate, low, high)
        else:
            pieces.append(candidate)
    return pieces, dropped


def _stretches(public: Mask, weight: np.ndarray[tuple[int], np.dtype[np.int64]]) -> list[tuple[int, int]]:
    """Public stretches of weight CUT or more; gaps that winnowing may leave are bridged."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], public, [False]]).astype(np.int8)))
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
    holders = tuple(_clip(h, start, end) for h in candidate.holders if min(h.end, end) > max(h.start, start))
    return [replace(candidate, start=start, end=end, holders=holders)] if holders else []


def _named(
    candidate: Candidate,
    texts: Texts,
    masks: dict[str, Mask],
    weight: np.ndarray[tuple[int], np.dtype[np.int64]],
    low: int,
    high: int,
) -> Excluded:
    """The exclusion of a stretch, with the reference that holds most of it."""
    part = weight[low:high]
    shares = {name: float(part[mask[low:high]].sum()) / float(part.sum()) for name, mask in masks.items()}
    name = max(sorted(shares), key=lambda known: shares[known])
    return _excluded(candidate, texts, candidate.start + low, candidate.start + high, shares[name], name)


def _excluded(candidate: Candidate, texts: Texts, start: int, end: int, share: float, name: str) -> Excluded:
    low, high = texts.folded(candidate.content).span(start, end)
    holders = len({holder.unit for holder in candidate.holders})
    return Excluded(candidate.use, low, high, "public_text", f"{share:.0%} of it stands in the reference {name}", holders)
