"""The measures: recall, precision, tenants, character F1, granularity, plagdet. Pure functions on leaks and findings.

A leak counts as found when a finding in the same request and field covers at least half of it. Character precision and
recall, granularity and plagdet follow Potthast et al. 2010 (macro averages), on the response's side.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from forensics.evaluate.records import Finding, Leak, band

ENOUGH = 0.5  # share of a leak that one finding must cover


@dataclass(frozen=True)
class Cell:
    """Measures of one kind and length band. Shares are None where nothing is there to count.

    `wrong_tenant` counts found leaks for which a tenant was named that did not hold the text as a supplier;
    `right_tenant` those that name the true source, `right_set` those that name exactly who may be named.
    `char_recall_strict` is covered characters over leaked characters.
    """

    kind: str
    band: str
    leaks: int
    found: int
    recall: float | None
    findings: int
    true_findings: int
    precision: float | None
    right_tenant: int
    wrong_tenant: int
    right_set: int
    char_recall_strict: float | None
    char_recall: float | None
    char_precision: float | None
    char_f1: float | None
    granularity: float | None
    plagdet: float | None


@dataclass(frozen=True)
class CharacterScores:
    """Potthast et al. 2010, macro averaged."""

    recall: float | None
    precision: float | None
    f1: float | None
    granularity: float | None
    plagdet: float | None
    strict_recall: float | None


def overlap(leak: Leak, finding: Finding) -> int:
    """Characters that both cover."""
    if leak.request_id != finding.request_id or leak.field != finding.field:
        return 0
    return max(0, min(leak.end, finding.end) - max(leak.start, finding.start))


def pairs(leaks: Sequence[Leak], findings: Sequence[Finding]) -> list[tuple[int, int, int]]:
    """(leak, finding, characters in common) by number, where there are any."""
    by_place: dict[tuple[str, str], list[int]] = defaultdict(list)
    for number, finding in enumerate(findings):
        by_place[(finding.request_id, finding.field)].append(number)
    return [
        (place, number, common)
        for place, leak in enumerate(leaks)
        for number in by_place.get((leak.request_id, leak.field), ())
        if (common := overlap(leak, findings[number])) > 0
    ]


def covered(start: int, end: int, spans: Iterable[tuple[int, int]]) -> int:
    """Characters of `[start, end)` in the union of `spans`."""
    total, reached = 0, start
    for low, high in sorted(spans):
        low, high = max(low, reached), min(high, end)
        if high > low:
            total, reached = total + high - low, high
    return total


def characters(leaks: Sequence[Leak], findings: Sequence[Finding]) -> CharacterScores:
    """Character measures of `findings` against `leaks`."""
    of_leak: dict[int, list[int]] = defaultdict(list)
    of_finding: dict[int, list[int]] = defaultdict(list)
    for leak, finding, _ in pairs(leaks, findings):
        of_leak[leak].append(finding)
        of_finding[finding].append(leak)
    hit = [
        covered(leak.start, leak.end, ((findings[n].start, findings[n].end) for n in of_leak[place]))
        for place, leak in enumerate(leaks)
    ]
    kept = [
        covered(finding.start, finding.end, ((leaks[n].start, leaks[n].end) for n in of_finding[number]))
        for number, finding in enumerate(findings)
    ]
    recall = _mean(common / (leak.end - leak.start) for common, leak in zip(hit, leaks, strict=True))
    precision = _mean(common / (f.end - f.start) for common, f in zip(kept, findings, strict=True))
    detected = [len(of_leak[place]) for place in range(len(leaks)) if of_leak[place]]
    granularity = sum(detected) / len(detected) if detected else None
    f1 = None
    if recall is not None and precision is not None:
        f1 = 2 * recall * precision / (recall + precision) if recall + precision > 0 else 0.0
    plagdet = None if f1 is None else f1 / math.log2(1 + (granularity or 1.0))
    length = sum(leak.end - leak.start for leak in leaks)
    return CharacterScores(recall, precision, f1, granularity, plagdet, sum(hit) / length if length else None)


def cell(kind: str, length_band: str, leaks: Sequence[Leak], findings: Sequence[Finding]) -> Cell:
    """Measures of the leaks of one kind and band (`all` for every one).

    Findings belong to the cell when they touch one of its leaks or, touching none at all, when their own kind and
    length are the cell's.
    """
    mine = [leak for leak in leaks if _belongs(kind, length_band, leak)]
    chosen = {id(leak) for leak in mine}
    touching: dict[int, list[Leak]] = defaultdict(list)
    for place, number, _ in pairs(leaks, findings):
        touching[number].append(leaks[place])
    theirs = [
        finding
        for number, finding in enumerate(findings)
        if any(id(leak) in chosen for leak in touching[number])
        or (not touching[number] and _belongs(kind, length_band, finding))
    ]
    best: dict[int, tuple[int, Finding]] = {}
    named: dict[int, set[str]] = defaultdict(set)
    for place, number, common in pairs(mine, theirs):
        leak, finding = mine[place], theirs[number]
        named[place] |= finding.sources
        if common >= ENOUGH * (leak.end - leak.start) and common > best.get(place, (0,))[0]:
            best[place] = (common, finding)
    true_findings = sum(any(overlap(leak, finding) for leak in mine) for finding in theirs)
    scores = characters(mine, theirs)
    return Cell(
        kind=kind,
        band=length_band,
        leaks=len(mine),
        found=len(best),
        recall=len(best) / len(mine) if mine else None,
        findings=len(theirs),
        true_findings=true_findings,
        precision=true_findings / len(theirs) if theirs else None,
        right_tenant=sum(mine[place].source_tenant in finding.sources for place, (_, finding) in best.items()),
        wrong_tenant=sum(bool(names - mine[place].tenants) for place, names in named.items()),
        right_set=sum(mine[place].tenants == finding.sources for place, (_, finding) in best.items()),
        char_recall_strict=scores.strict_recall,
        char_recall=scores.recall,
        char_precision=scores.precision,
        char_f1=scores.f1,
        granularity=scores.granularity,
        plagdet=scores.plagdet,
    )


def _belongs(kind: str, length_band: str, item: Leak | Finding) -> bool:
    return kind in ("all", item.kind) and length_band in ("all", band(item.end - item.start))


def _mean(values: Iterable[float]) -> float | None:
    found = list(values)
    return sum(found) / len(found) if found else None
