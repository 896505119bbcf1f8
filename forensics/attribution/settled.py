"""Of an altered copy and the exact runs in it, which is reported? Knows nothing of how they were found."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from forensics.attribution.candidates import Candidate
from forensics.attribution.findings import Judged
from forensics.text.fingerprint import GRAM

KEPT_SHARE = 0.8  # share of an exact fragment that must lie in an altered one to be part of it


def settle(judged: list[Judged]) -> list[Judged]:
    """Of an altered copy and the exact runs in it, keep one.

    The altered one takes in what names the same tenants, or nobody; it is as sure as the surest part. Where an exact
    run names another tenant, or reaches beyond it on both sides, the altered copy gives way: what agrees letter by
    letter says more. Of two altered ones of the same tenants the wider one stays.
    """
    altered: dict[int, list[Judged]] = defaultdict(list)
    runs: dict[int, list[Judged]] = defaultdict(list)
    for item in judged:
        (runs if item.candidate.alteration is None else altered)[item.candidate.use].append(item)
    gone: set[int] = set()
    better: dict[int, Judged] = {}
    for use, items in altered.items():
        exact = runs[use]
        for item in items:
            inside = [j for j in exact if _inside(j.candidate, item.candidate) >= KEPT_SHARE]
            contrary = [j for j in exact if j.units and _touch(j.candidate, item.candidate) and j.units != item.units]
            if item.candidate.alteration is not None and item.candidate.alteration.pieces:
                # Between its pieces stand those of other streams.
                inside = [j for j in inside if _in_pieces(j.candidate, item.candidate)]
                contrary = [j for j in contrary if _in_pieces(j.candidate, item.candidate)]
            around = [j for j in exact if _inside(item.candidate, j.candidate) >= KEPT_SHARE and j not in inside]
            wider = [
                j for j in items if j is not item and j.units == item.units and _wider(j.candidate, item.candidate)
            ]
            if (not item.units and any(j.units for j in inside)) or contrary or around or wider:
                gone.add(id(item))
                continue
            gone.update(id(j) for j in inside)
            strong = [j for j in inside if j.verdict == "probable" and not j.candidate.token]
            if item.verdict == "possible" and strong:
                better[id(item)] = replace(
                    item, verdict="probable", reason=f"{strong[0].reason}; by the exact run inside it"
                )
    return [better.get(id(item), item) for item in judged if id(item) not in gone]


def _inside(inner: Candidate, outer: Candidate) -> float:
    common = min(inner.end, outer.end) - max(inner.start, outer.start)
    return max(0, common) / max(1, inner.end - inner.start)


def _wider(one: Candidate, other: Candidate) -> bool:
    """Does `one` hold most of `other`, and reach further?"""
    if _inside(other, one) < KEPT_SHARE:
        return False
    return (one.end - one.start, -one.start, -one.holders[0].content) > (
        other.end - other.start, -other.start, -other.holders[0].content,
    )  # fmt: skip


def _touch(one: Candidate, other: Candidate) -> bool:
    return min(one.end, other.end) - max(one.start, other.start) >= GRAM


def _in_pieces(inner: Candidate, outer: Candidate) -> bool:
    """Do the pieces of a stream make up most of the other passage?"""
    blocks = outer.alteration.blocks if outer.alteration else ()
    held = sum(max(0, min(high, inner.end) - max(low, inner.start)) for low, high in blocks)
    return held >= KEPT_SHARE * (inner.end - inner.start)
