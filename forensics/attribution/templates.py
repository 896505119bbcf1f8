"""Is a match the text of a template that several tenants use? Such text has a common origin, and is no leak.

Platforms give their customers much the same system prompt, with a name filled in and a sentence changed here and there.
A passage of it is then supplied by fewer tenants than `shared` asks for, each version by two or three. System prompts
are sketched (MinHash over winnowed fingerprints of their beginnings) and near-duplicates are clustered; where a cluster
spans `template_tenants` tenants, what two of them supply is the template's and is set aside. What one of them alone has
filled in is its own, and stays a candidate. Prompts are read only where a candidate has two suppliers.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from forensics.attribution.candidates import Candidate, Excluded, pieces_with_carriers
from forensics.attribution.carve import carve
from forensics.attribution.corpus import TextBatch
from forensics.attribution.hits import Carriers
from forensics.attribution.parameters import OFF, Parameters
from forensics.attribution.texts import Texts
from forensics.text.fingerprint import Hashes, fingerprint

LIKE = 0.4  # Jaccard likeness of two beginnings, as sketched, that makes them versions of one text
ASKED_LIKE = 0.3  # the same for the sketches' index, which misses some of those near its threshold
BEGINNING = 8192  # bytes of a prompt that are sketched
PERMUTATIONS = 128
PER_UNIT = 16  # system prompts of one tenant that are sketched, the first by content
SUPPLIERS = 2  # tenants of a cluster that supply a passage of the template
ROLES = ("system", "developer")


def without_templates(
    texts: Texts, candidates: list[Candidate], carriers: tuple[Carriers, Carriers], parameters: Parameters
) -> tuple[list[Candidate], list[Excluded]]:
    """Candidates less what is a template's, and what was set aside."""
    asked = [candidate for candidate in candidates if len(_suppliers(candidate)) >= SUPPLIERS]
    if parameters.template_tenants >= OFF or not asked:
        return candidates, []
    clusters = _clusters(texts, {h.content for c in asked for h in c.holders if h.side == 0})
    spans = _spans(texts, clusters)
    templates = {cluster for cluster, units in spans.items() if len(units) >= parameters.template_tenants}
    if not templates:
        return candidates, []
    kept: list[tuple[Candidate, bool]] = []
    excluded: list[Excluded] = []
    for batch in texts.batches([{candidate.content} for candidate in candidates]):
        for candidate in candidates[batch.start : batch.stop]:
            cluster, mask = _explained(candidate, clusters, templates)
            folded = texts.folded(candidate.content)
            pieces, parts = carve(candidate, folded.units[candidate.start : candidate.end], mask)
            kept.extend((piece, piece is not candidate) for piece in pieces)
            if candidate.family != "target":
                continue
            for low, high, share in parts:
                start, end = folded.span(candidate.start + low, candidate.start + high)
                detail = (
                    f"{share:.0%} of it is supplied by two or more of the {len(spans[cluster])} tenants whose system "
                    "prompts are versions of one template"
                )
                holders = len(_suppliers(candidate))
                excluded.append(Excluded(candidate.use, start, end, "template", detail, holders))
    return pieces_with_carriers(kept, carriers), excluded


def _suppliers(candidate: Candidate) -> set[int]:
    return {holder.unit for holder in candidate.holders if holder.side == 0 and not candidate.token}


def _explained(
    candidate: Candidate, clusters: dict[int, int], templates: set[int]
) -> tuple[int, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    """The template that most of a candidate's suppliers share, and which units two of them supply."""
    size = candidate.end - candidate.start
    best = -1, np.zeros(size, dtype=np.bool_)
    by_cluster: defaultdict[int, defaultdict[int, list[tuple[int, int]]]] = defaultdict(lambda: defaultdict(list))
    if not candidate.token:
        for holder in candidate.holders:
            cluster = clusters.get(holder.content, -1)
            if holder.side == 0 and holder.unit >= 0 and cluster in templates:
                by_cluster[cluster][holder.unit].append((holder.start, holder.end))
    for cluster, units in sorted(by_cluster.items()):
        held = np.zeros(size, dtype=np.int32)
        for spans in units.values():
            mine = np.zeros(size, dtype=np.bool_)
            for start, end in spans:
                mine[max(0, start - candidate.start) : max(0, end - candidate.start)] = True
            held += mine
        mask = held >= SUPPLIERS
        if mask.sum() > best[1].sum():
            best = cluster, mask
    return best


def _clusters(texts: Texts, holders: set[int]) -> dict[int, int]:
    """Cluster of each system prompt, those among `holders` in any case: the smallest content of its near-duplicates."""
    from datasketch import MinHash, MinHashLSH

    world = texts.corpus.world
    wanted = np.zeros(world.text_bytes.size, dtype=np.bool_)
    taken: defaultdict[int, int] = defaultdict(int)
    for row in np.flatnonzero(world.uses.role.where(ROLES.__contains__) & (world.uses.side == 0)).tolist():
        content, unit = int(world.uses.content[row]), int(world.requests.unit[world.uses.request[row]])
        if not wanted[content] and (taken[unit] < PER_UNIT or content in holders):
            taken[unit] += 1
            wanted[content] = True
    prints: dict[int, Hashes] = {}
    for found in texts.corpus.over(wanted, _beginnings):
        prints.update(found)
    keys = sorted(key for key, hashes in prints.items() if hashes.size)
    # The low half of a fingerprint is mixed well enough to be its own hash.
    values = [(prints[key] & 0xFFFFFFFF).tolist() for key in keys]
    sketches = MinHash.bulk(values, num_perm=PERMUTATIONS, seed=1, hashfunc=int, scheme="affine32") if keys else []
    lsh = MinHashLSH(threshold=ASKED_LIKE, num_perm=PERMUTATIONS)
    leader = {key: key for key in keys}

    def find(key: int) -> int:
        while leader[key] != key:
            leader[key] = leader[leader[key]]
            key = leader[key]
        return key

    for key, sketch in zip(keys, sketches, strict=True):
        for other in lsh.query(sketch):
            if sketch.jaccard(sketches[other]) >= LIKE:
                one, two = find(key), find(keys[other])
                leader[max(one, two)] = min(one, two)
        lsh.insert(len(lsh.keys), sketch)
    return {key: find(key) for key in keys}


def _beginnings(batch: TextBatch) -> dict[int, Hashes]:
    """Fingerprints of the first BEGINNING bytes of each text."""
    keys, buffer, offsets = batch
    parts = [
        buffer[start : min(end, start + BEGINNING)]
        for start, end in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)
    ]
    cut = np.concatenate([[0], np.cumsum([part.size for part in parts])]).astype(np.int64)
    found = fingerprint(np.concatenate(parts), cut)
    edges = np.searchsorted(found.documents, np.arange(keys.size + 1))
    return {int(key): np.unique(found.hashes[edges[row] : edges[row + 1]]) for row, key in enumerate(keys.tolist())}


def _spans(texts: Texts, clusters: dict[int, int]) -> dict[int, set[int]]:
    """Units that supply a text of each cluster."""
    holdings = texts.corpus.world.holdings
    spans: defaultdict[int, set[int]] = defaultdict(set)
    for content, cluster in clusters.items():
        low, high = int(holdings.of_content[content]), int(holdings.of_content[content + 1])
        rows = np.arange(low, high)
        known = (holdings.unit[rows] >= 0) & (holdings.supplied[rows] <= holdings.finished[rows])
        spans[cluster].update(holdings.unit[rows[known]].tolist())
    return dict(spans)
