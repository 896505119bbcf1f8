"""What do the detectors say of one place together?

Several detectors look at the same response, and may see the same passage. A passage is reported once: findings of one
span become one, and what names nobody gives way to what names somebody for most of the same units. Two findings of one
span that name different tenants name both: which of the two it was, none of them can tell. Overlapping spans of
different extent stay (the sources of mixed streams lie in each other). A passage of an answer that is known to be the
original of another's is that answer's own, and a finding that names nobody for it goes. A passage that names nobody
only because contents follow each other names its one supplier where that tenant is named in the same response for
something that is not shared text without a worker. Judges nothing else anew.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from forensics.attribution.findings import Judged
from forensics.attribution.generated import GENERATED
from forensics.attribution.judge import UNNAMED
from forensics.attribution.mixed import is_mixed
from forensics.attribution.sources import leading, leading_units

COVERED = 0.8  # share of an unnamed finding that named ones must cover to stand for it
_ORDER = {"probable": 0, "possible": 1, "undetermined": 2}


def reconcile(judged: list[Judged]) -> list[Judged]:
    """The findings, one for each span, by use and place."""
    copied = {(item.candidate.request, source.request) for item in judged if item.units for source in item.ranked[:1]}
    judged = [item for item in judged if not _is_original(item, copied)]
    mixed = {item.candidate.content for item in judged if is_mixed(item.candidate)}
    judged = [_from_a_mixture(item, mixed) for item in judged]
    by_use: dict[int, list[Judged]] = defaultdict(list)
    for item in judged:
        by_use[item.candidate.use].append(item)
    kept: list[Judged] = []
    for _, items in sorted(by_use.items()):
        items = _borne_out(items)
        spans: dict[tuple[int, int], list[Judged]] = defaultdict(list)
        for item in items:
            spans[item.candidate.start, item.candidate.end].append(item)
        one_each = [_together(same) for _, same in sorted(spans.items())]
        named = [(one.candidate.start, one.candidate.end) for one in one_each if _names(one)]
        kept.extend(one for one in one_each if _names(one) or not _mostly(one, named))
    return kept


def _borne_out(items: list[Judged]) -> list[Judged]:
    """Names the one supplier of a capped passage that a sure finding of the same response names, as `possible`."""
    sure = {item.units[0] for item in items if item.verdict == "probable" and len(item.units) == 1}
    found = []
    for item in items:
        units = leading_units([source for source in leading(item.ranked) if source.holder.side == 0])
        if item.evidence.capped and not item.units and len(units) == 1 and units[0] in sure:
            reason = f"{item.reason.removesuffix(UNNAMED)}; another finding of this response names its tenant"
            item = replace(item, units=units, verdict="possible", reason=reason)
        found.append(item)
    return found


def _from_a_mixture(item: Judged, mixed: set[int]) -> Judged:
    """Names nobody for a passage of an answer in which streams of others are mixed: it may be one of them."""
    if item.stratum != GENERATED or not item.units or is_mixed(item.candidate):
        return item
    if not any(source.holder.content in mixed for source in leading(item.ranked)):
        return item
    reason = f"{item.reason}; the answer that holds it is itself mixed with others': nobody is named"
    return replace(item, units=[], verdict="undetermined", reason=reason)


def _is_original(item: Judged, copied: set[tuple[int, int]]) -> bool:
    """Is every other holder of an unnamed passage a response that was named as a copy of this one?"""
    if _names(item) or not item.ranked:
        return False
    return all((source.request, item.candidate.request) in copied for source in item.ranked)


def _names(item: Judged) -> bool:
    return bool(item.units or item.named)


def _together(same: list[Judged]) -> Judged:
    """The strongest of the findings of one span, naming all whom those that name anybody name."""
    ranked = sorted(same, key=lambda one: (_ORDER[one.verdict], not _names(one), -one.evidence.net_bits, one.kind))
    best = ranked[0]
    others = [one for one in ranked[1:] if _names(one) and set(one.units) != set(best.units)]
    if not _names(best) or not others:
        return best
    units = sorted({unit for one in (best, *others) for unit in one.units})
    sources = [*best.ranked, *(source for one in others for source in one.ranked)]
    return replace(
        best,
        units=units,
        named=tuple(sorted({name for one in (best, *others) for name in one.named})),
        ranked=sources,
        reason=f"{best.reason}; another test of the same passage names another tenant, and both are named",
    )


def _mostly(item: Judged, spans: list[tuple[int, int]]) -> bool:
    """Do the spans cover most of the item?"""
    start, end = item.candidate.start, item.candidate.end
    reached, inside = start, 0
    for low, high in sorted(spans):
        low, high = max(low, reached), min(high, end)
        if low < high:
            inside, reached = inside + high - low, high
    return inside >= COVERED * (end - start)
