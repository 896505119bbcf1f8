"""What of the candidates stands in the public texts that an analyst gave? That part is no evidence of a leak.

A reference is joined like a tenant called `public`: a long public stretch is cut out of a candidate, so that private
text copied along with a licence stays a finding; a candidate that is public for the most part is dropped as a whole.
Each stretch and each drop is an exclusion `public_text` that names the reference and says how much of it stands there.
Decoys are treated alike. References are known by winnowed fingerprints (`case/references`), so that a window's weight
at either end of a public stretch cannot be told from what stands beside it (`carve`).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from forensics.attribution.candidates import Candidate, Excluded, pieces_with_carriers
from forensics.attribution.carve import carve
from forensics.attribution.hits import Carriers
from forensics.attribution.parameters import Parameters
from forensics.attribution.texts import Texts
from forensics.case.references import references
from forensics.case.store import Case
from forensics.text.fingerprint import Hashes
from forensics.text.identifiers import identifiers
from forensics.text.keys import among, distinct
from forensics.text.match import grams_of, marked, pack

BATCH_ROWS = 1 << 18
NONE: Hashes = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True)
class _Sets:
    """Per reference, the grams and tokens that some candidate has too, ascending."""

    grams: dict[str, Hashes]
    tokens: dict[str, Hashes]


def without_public(
    texts: Texts, candidates: list[Candidate], carriers: tuple[Carriers, Carriers], parameters: Parameters
) -> tuple[list[Candidate], list[Excluded]]:
    """Candidates less what stands in the case's references, and what was set aside. Nothing where there are none."""
    case = texts.corpus.case
    if "public_text" in parameters.without_rules or not candidates or not references(case):
        return candidates, []
    sets = _sets(case, texts, candidates)
    kept: list[tuple[Candidate, bool]] = []
    excluded: list[Excluded] = []
    for batch in texts.batches([{candidate.content} for candidate in candidates]):
        for candidate in candidates[batch.start : batch.stop]:
            pieces, dropped = _token(candidate, texts, sets) if candidate.token else _run(candidate, texts, sets)
            kept.extend((piece, piece is not candidate) for piece in pieces)
            if candidate.family == "target":
                excluded.extend(dropped)
    return pieces_with_carriers(kept, carriers), excluded


def _sets(case: Case, texts: Texts, candidates: list[Candidate]) -> _Sets:
    """Read the references once, keeping what a candidate asks for: memory follows the candidates."""
    wanted: list[Hashes] = []
    wanted_tokens: list[Hashes] = []
    for batch in texts.batches([{candidate.content} for candidate in candidates]):
        part = candidates[batch.start : batch.stop]
        runs = [grams_of(texts.units(c.content)[c.start : c.end]).hashes for c in part if not c.token]
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
    mine: Hashes = found.hashes[(found.starts == candidate.start) & (found.ends == candidate.end)]
    return mine


def _token(candidate: Candidate, texts: Texts, sets: _Sets) -> tuple[list[Candidate], list[Excluded]]:
    mine = _token_hash(candidate, texts)
    for name, known in sets.tokens.items():
        if among(mine, known).any():
            return [], [_excluded(candidate, texts, candidate.start, candidate.end, 1.0, name)]
    return [candidate], []


def _run(candidate: Candidate, texts: Texts, sets: _Sets) -> tuple[list[Candidate], list[Excluded]]:
    units = texts.units(candidate.content)[candidate.start : candidate.end]
    grams = grams_of(units)
    masks = {}
    for name, known in sets.grams.items():
        held = among(grams.hashes, known)
        if held.any():
            masks[name] = marked(units, grams.positions[held])
    if not masks:
        return [candidate], []
    pieces, parts = carve(candidate, units, np.logical_or.reduce(list(masks.values())))
    dropped = []
    for low, high, share in parts:
        name = max(sorted(masks), key=lambda known: int(masks[known][low:high].sum()))
        dropped.append(_excluded(candidate, texts, candidate.start + low, candidate.start + high, share, name))
    return pieces, dropped


def _excluded(candidate: Candidate, texts: Texts, start: int, end: int, share: float, name: str) -> Excluded:
    low, high = texts.folded(candidate.content).span(start, end)
    holders = len({holder.unit for holder in candidate.holders})
    detail = f"{share:.0%} of it stands in the reference {name}"
    return Excluded(candidate.use, low, high, "public_text", detail, holders)
