"""Writes judged fragments, their appearances and the exclusions into the case's tables. Decides nothing."""

from __future__ import annotations

import hashlib
from typing import Any

import orjson
import pyarrow as pa

from forensics.attribution.candidates import Candidate, Excluded
from forensics.attribution.decoys import Stratum
from forensics.attribution.findings import Judged
from forensics.attribution.grounds import grounds
from forensics.attribution.holdings import World
from forensics.attribution.parameters import Parameters
from forensics.attribution.sources import Source, leading
from forensics.attribution.texts import Texts
from forensics.attribution.ties import tie_weights, tier
from forensics.case.store import Case
from forensics.text.escapes import whole_escape

MAX_APPEARANCES = 12
EDGE = 3  # signs of punctuation taken in at either end
MAX_ALIGNED = 20_000  # code points; longer passages are compared by their heads


def store(
    case: Case,
    world: World,
    texts: Texts,
    judged: list[Judged],
    excluded: list[Excluded],
    strata: list[Stratum],
    parameters: Parameters,
) -> dict[str, int]:
    """Write everything; returns counts for the summary."""
    fragments: list[dict[str, Any]] = []
    appearances: list[dict[str, Any]] = []
    needs = [{j.candidate.content, *(s.holder.content for s in j.ranked[:MAX_APPEARANCES])} for j in judged]
    for batch in texts.batches(needs):
        for item in judged[batch.start : batch.stop]:
            row, found = _fragment(world, texts, item, strata, parameters)
            fragments.append(row)
            appearances.extend(found)
    fragments.sort(key=lambda r: (r["request"], r["field"], r["vantage"], r["start"], r["end"], r["kind"]))
    order = {row["fragment_id"]: place for place, row in enumerate(fragments)}
    appearances.sort(key=lambda r: (order[r["fragment_id"]], r["rank"]))
    dropped = sorted({_exclusion(world, item) for item in excluded})
    _append(case, "fragments", fragments)
    _append(case, "appearances", appearances)
    names = (
        "request", "recipient_request_id", "recipient_tenant_id", "field", "start", "end", "rule", "detail",
        "holders", "bits",
    )  # fmt: skip
    _append(case, "exclusions", [dict(zip(names, (*row[:-1], _optional(row[-1])), strict=True)) for row in dropped])
    _append(
        case,
        "decoy_strata",
        [
            {
                "stratum": s.name, "family": s.family, "targets": s.targets, "decoys": s.decoys,
                "exposure": s.exposure, "null_near": s.null_near, "null_far": s.null_far,
                "rate_ratio": s.rate_ratio, "p_value": s.p_value, "valid": s.valid, "reason": s.reason,
                "low_targets": s.check.low_targets, "low_decoys": s.check.low_decoys,
                "low_p_value": s.check.low_p_value, "score": s.score_name, "accepted": s.accepted,
                "false_share_bound": s.false_bound, "expected_false": s.expected_false,
            }
            for s in strata
        ],
    )  # fmt: skip
    return {
        "fragments": len(fragments),
        "probable": sum(1 for r in fragments if r["machine_verdict"] == "probable"),
        "exclusions": len(dropped),
    }


def _fragment(
    world: World, texts: Texts, item: Judged, strata: list[Stratum], parameters: Parameters
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    candidate, evidence = item.candidate, item.evidence
    folded = texts.folded(candidate.content)
    bare = folded.span(candidate.start, candidate.end)
    bare = whole_escape(texts.raw(candidate.content), bare[0]), bare[1]
    start, end = _with_edges(texts, item, *bare)
    edges = bare[0] - start, end - bare[1]
    request = candidate.request
    field, vantage = world.uses.field[candidate.use], world.uses.vantage[candidate.use]
    request_id = world.requests.request_id[request]
    passage = texts.raw(candidate.content)[start:end]
    identity = f"{request_id}\0{vantage}\0{field}\0{start}\0{end}\0".encode() + passage.encode("utf-8", "replace")
    fragment_id = "F-" + hashlib.blake2b(identity, digest_size=8).hexdigest()
    found: list[dict[str, Any]] = []
    seen: set[tuple[int, int, str, int]] = set()
    for source in item.ranked:
        key = (source.request, source.holder.side, source.field, source.holder.other_start)
        if key in seen or len(found) == MAX_APPEARANCES:
            continue
        seen.add(key)
        found.append(_appearance(world, texts, fragment_id, len(found) + 1, item, source, passage, edges))
    tenants = sorted({name for name in named_tenants(world, item) if name is not None}.union(item.named))
    reach = sorted(
        {(s.holder.unit, s.holder.end - s.holder.start) for s in item.ranked if s.holder.unit not in item.units},
        key=lambda pair: -pair[1],
    )
    strength = evidence.strength
    features: dict[str, Any] = {
        "bits": round(strength.bits, 2),
        "character_bits": round(strength.character_bits, 2),
        "search_charge": round(evidence.charge, 2),
        "net_bits": round(evidence.net_bits, 2),
        "agreeing_identifier_bits": round(evidence.agreeing_bits, 2),
        "words": strength.words,
        "rarest_word_bits": round(strength.rarest_word_bits, 2),
        "telling_bits": round(float(strength.term_bits.sum()), 2),
        "units": candidate.end - candidate.start,
        "code_points": end - start,
        "share_of_response": round(evidence.share_of_response, 4),
        "kinship_with_recipient_prompt": round(evidence.kin_recipient, 4),
        "kinship_with_source_prompt": round(max(evidence.kin_source.values(), default=0.0), 4),
        "source_only_bits": round(max((pair[0] for pair in evidence.only.values()), default=0.0), 2),
        "recipient_only_bits": round(max((pair[1] for pair in evidence.only.values()), default=0.0), 2),
        "prompt_likeness": round(max(evidence.likeness.values(), default=0.0), 4),
        "public_share": round(evidence.public_share, 4),
        "carriers": len(candidate.carriers),
        "runner_up_units": reach[0][1] if reach else 0,
        "margin_units": candidate.end - candidate.start - (reach[0][1] if reach else 0),
        "raw_identity": found[0]["raw_identity"] if found else None,
        **evidence.features,
        **_alteration(candidate),
        **grounds(item, folded, strata, parameters),
    }
    bound = evidence.features.get("false_share_bound")
    features["tier"] = tier(
        item.verdict,
        item.q_value,
        float(bound) if bound is not None else None,
        len(tenants),
        candidate.end - candidate.start,
        strength.bits,
    )
    features["tie_weights"] = tie_weights(found, end - start) if len(tenants) > 1 else {}
    row = {
        "fragment_id": fragment_id,
        "request": request,
        "recipient_request_id": request_id,
        "recipient_tenant_id": world.requests.tenant_id[request],
        "vantage": vantage,
        "field": field,
        "start": start,
        "end": end,
        "kind": item.kind,
        "bits": round(strength.bits, 2),
        "net_bits": round(evidence.net_bits, 2),
        "q_value": None if item.q_value is None else round(item.q_value, 6),
        "stratum": item.stratum,
        "machine_verdict": item.verdict,
        "verdict_reason": item.reason,
        "sources": tenants,
        "content": candidate.content,
        "features": orjson.dumps(features, option=orjson.OPT_SORT_KEYS).decode(),
        "exclusions_tried": list(item.tried),
    }
    return row, found


def _alteration(candidate: Candidate) -> dict[str, Any]:
    """The edit script of an altered copy in numbers; nothing for an exact one."""
    found = candidate.alteration
    if found is None:
        return {}
    return {
        "matched_units": sum(end - start for start, end in found.blocks),
        "blocks": len(found.blocks),
        "replaced_units": found.replaced,
        "inserted_units": found.inserted,
        "dropped_units": found.dropped,
        "refilled_numbers": found.refilled,
        "edit_charge": round(found.freedom, 2),
        "interleaved": found.pieces,
    }


def _with_edges(texts: Texts, item: Judged, start: int, end: int) -> tuple[int, int]:
    """Take in the punctuation that the best source shares at both ends (folding had dropped it), up to white space."""
    if not item.ranked:
        return start, end
    holder = item.ranked[0].holder
    here, there = texts.raw(item.candidate.content), texts.raw(holder.content)
    other_start, other_end = texts.folded(holder.content).span(holder.other_start, holder.other_end)
    for _ in range(EDGE):
        if end >= len(here) or other_end >= len(there) or not _edge(here[end], there[other_end]):
            break
        end, other_end = end + 1, other_end + 1
    for _ in range(EDGE):
        if start == 0 or other_start == 0 or not _edge(here[start - 1], there[other_start - 1]):
            break
        start, other_start = start - 1, other_start - 1
    return start, end


def _edge(one: str, other: str) -> bool:
    return one == other and not one.isalnum() and not one.isspace()


def _appearance(
    world: World,
    texts: Texts,
    fragment_id: str,
    rank: int,
    item: Judged,
    source: Source,
    passage: str,
    edges: tuple[int, int],
) -> dict[str, Any]:
    from rapidfuzz.distance import Levenshtein

    holder = source.holder
    low, high = texts.folded(holder.content).span(holder.other_start, holder.other_end)
    raw = texts.raw(holder.content)
    low = whole_escape(raw, low)
    # The punctuation that was taken in at the ends of the fragment, where it stands here too.
    for sign in reversed(passage[: edges[0]]):
        if low == 0 or raw[low - 1] != sign:
            break
        low -= 1
    for sign in passage[len(passage) - edges[1] :]:
        if high == len(raw) or raw[high] != sign:
            break
        high += 1
    other = raw[low:high]
    length = item.candidate.end - item.candidate.start
    return {
        "fragment_id": fragment_id,
        "rank": rank,
        "request": source.request,
        "source_request_id": world.requests.request_id[source.request],
        "source_tenant_id": _tenant(world, source),
        "side": "prompt" if holder.side == 0 else "response",
        "field": source.field,
        "start": low,
        "end": high,
        "similarity": round(min(1.0, holder.matched / length), 4),
        "raw_identity": round(Levenshtein.normalized_similarity(passage[:MAX_ALIGNED], other[:MAX_ALIGNED]), 4),
        "named": holder.unit in item.units and _tenant(world, source) in named_tenants(world, item),
        "lag_us": source.lag_us,
        "same_worker": source.same_worker,
        "overlapped": source.overlapped,
        "content": holder.content,
    }


def named_tenants(world: World, item: Judged) -> set[str | None]:
    """Of the named units the accounts whose text reaches as far as that of any of their sisters."""
    return {
        _tenant(world, source)
        for unit in item.units
        for source in leading([source for source in item.ranked if source.holder.unit == unit])
    }


def _tenant(world: World, source: Source) -> str | None:
    return world.requests.tenant_id[source.request]


def _exclusion(world: World, item: Excluded) -> tuple[Any, ...]:
    request = int(world.uses.request[item.use])
    return (
        request,
        world.requests.request_id[request],
        world.requests.tenant_id[request] or "",
        world.uses.field[item.use],
        item.start,
        item.end,
        item.rule,
        item.detail,
        item.holders,
        -1.0 if item.bits is None else item.bits,
    )


def _optional(bits: float) -> float | None:
    return None if bits < 0 else bits


def _append(case: Case, table: str, rows: list[dict[str, Any]]) -> None:
    if rows:
        case.append(table, pa.Table.from_pylist(rows))
