"""The measures: recall, precision, tenants, character F1, granularity, plagdet. Pure functions on leaks and findings.

A leak counts as found when a finding in the same request and field covers at least half of it. Character precision and
recall, granularity and plagdet follow Potthast et al. 2010 (macro averages), on the response's side. Where only parts
of a leak's span are foreign, its characters are those of the parts.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from forensics.evaluate.records import Finding, Leak, band, wrongly_named

ENOUGH = 0.5  # share of a leak that one finding must cover


@dataclass(frozen=True)
class Cell:
    """Measures of one kind and length band. Shares are None where nothing is there to count.

    `wrong_tenant` counts found leaks for which a tenant was named that did not hold the text as a supplier;
    `right_tenant` those that name the true source, `right_set` those that name exactly who may be named.
    `char_recall_strict` is covered characters over leaked characters. `reached` are leaks that any finding touches.
    """

    kind: str
    band: str
    leaks: int
    found: int
    reached: int
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
        sum(covered(low, high, [(findings[n].start, findings[n].end) for n in of_leak[place]])
            for low, high in leak.pieces or ((leak.start, leak.end),))
        for place, leak in enumerate(leaks)
    ]  # fmt: skip
    sizes = [sum(high - low for low, high in leak.pieces) or leak.end - leak.start for leak in leaks]
    kept = [
        covered(finding.start, finding.end, ((leaks[n].start, leaks[n].end) for n in of_finding[number]))
        for number, finding in enumerate(findings)
    ]
    recall = _mean(common / size for common, size in zip(hit, sizes, strict=True))
    precision = _mean(common / (f.end - f.start) for common, f in zip(kept, findings, strict=True))
    detected = [len(of_leak[place]) for place in range(len(leaks)) if of_leak[place]]
    granularity = sum(detected) / len(detected) if detected else None
    f1 = None
    if recall is not None and precision is not None:
        f1 = 2 * recall * precision / (recall + precision) if recall + precision > 0 else 0.0
    plagdet = None if f1 is None else f1 / math.log2(1 + (granularity or 1.0))
    length = sum(sizes)
    return CharacterScores(recall, precision, f1, granularity, plagdet, sum(hit) / length if length else None)


@dataclass(frozen=True)
class Match:
    """What became of one leak. `wrong_tenant`: a finding on it names a tenant whom none of its leaks allows."""

    found: bool
    reached: bool
    right_tenant: bool
    wrong_tenant: bool
    right_set: bool


def match(leaks: Sequence[Leak], findings: Sequence[Finding]) -> list[Match]:
    """One match per leak, in their order.

    A leak is found when one finding covers half of its span or, where only parts of the span are foreign, when all
    findings together cover half of these parts; then the tenants of all of them count, else those of the best one.
    """
    touching: dict[int, list[int]] = defaultdict(list)
    touched: dict[int, list[Leak]] = defaultdict(list)
    for place, number, _ in pairs(leaks, findings):
        touching[place].append(number)
        touched[number].append(leaks[place])
    return [_match(leak, [findings[n] for n in touching[place]], [touched[n] for n in touching[place]])
            for place, leak in enumerate(leaks)]  # fmt: skip


def _match(leak: Leak, findings: Sequence[Finding], touched: Sequence[list[Leak]]) -> Match:
    best = max(findings, key=lambda finding: overlap(leak, finding), default=None)
    found = best is not None and overlap(leak, best) >= ENOUGH * (leak.end - leak.start)
    names = set(best.sources) if found and best is not None else set()
    may = set(leak.tenants)
    if leak.pieces:
        size = sum(high - low for low, high in leak.pieces)
        spans = [(finding.start, finding.end) for finding in findings]
        found = found or sum(covered(low, high, spans) for low, high in leak.pieces) >= ENOUGH * size
        names = {name for finding in findings for name in finding.sources} if found else set()
        may = may.union(*(other.tenants for others in touched for other in others)) if leak.tenants else may
    return Match(
        found=found,
        reached=bool(findings),
        right_tenant=leak.source_tenant in names,
        wrong_tenant=any(wrongly_named(finding, others) for finding, others in zip(findings, touched, strict=True)),
        right_set=found and leak.tenants <= names <= may,
    )


class Matching:
    """Leaks and findings brought together once, from which any number of cells can be counted."""

    def __init__(self, leaks: Sequence[Leak], findings: Sequence[Finding]) -> None:
        self.leaks = leaks
        self.findings = findings
        self.matches = match(leaks, findings)
        self._touching: dict[int, list[int]] = defaultdict(list)
        for place, number, _ in pairs(leaks, findings):
            self._touching[number].append(place)
        self.touched = frozenset(self._touching)

    def cell(
        self, kind: str, length_band: str, belongs: Callable[[Leak], bool], invented: Callable[[Finding], bool]
    ) -> Cell:
        """Measures of the leaks that belong.

        Findings are counted when they touch one of these leaks or, touching none at all, when `invented` says so.
        """
        mine = [place for place, leak in enumerate(self.leaks) if belongs(leak)]
        chosen = set(mine)
        true_findings, theirs = 0, []
        for number, finding in enumerate(self.findings):
            if any(place in chosen for place in self._touching.get(number, ())):
                true_findings += 1
                theirs.append(finding)
            elif number not in self.touched and invented(finding):
                theirs.append(finding)
        found = [self.matches[place] for place in mine]
        scores = characters([self.leaks[place] for place in mine], theirs)
        return Cell(
            kind=kind,
            band=length_band,
            leaks=len(mine),
            found=sum(entry.found for entry in found),
            reached=sum(entry.reached for entry in found),
            recall=sum(entry.found for entry in found) / len(mine) if mine else None,
            findings=len(theirs),
            true_findings=true_findings,
            precision=true_findings / len(theirs) if theirs else None,
            right_tenant=sum(entry.right_tenant for entry in found),
            wrong_tenant=sum(entry.wrong_tenant for entry in found),
            right_set=sum(entry.right_set for entry in found),
            char_recall_strict=scores.strict_recall,
            char_recall=scores.recall,
            char_precision=scores.precision,
            char_f1=scores.f1,
            granularity=scores.granularity,
            plagdet=scores.plagdet,
        )

    def by_kind(self, kind: str, length_band: str) -> Cell:
        """Measures of the leaks of one kind and band (`all` for every one); invented findings by their own kind."""
        return self.cell(
            kind,
            length_band,
            lambda leak: _belongs(kind, length_band, leak),
            lambda finding: _belongs(kind, length_band, finding),
        )


def cell(kind: str, length_band: str, leaks: Sequence[Leak], findings: Sequence[Finding]) -> Cell:
    """Measures of the leaks of one kind and band (`all` for every one)."""
    return Matching(leaks, findings).by_kind(kind, length_band)


def _belongs(kind: str, length_band: str, item: Leak | Finding) -> bool:
    return kind in ("all", item.kind) and length_band in ("all", band(item.end - item.start))


def _mean(values: Iterable[float]) -> float | None:
    found = list(values)
    return sum(found) / len(found) if found else None
