"""Measures by class of leak: which alteration, which length, which language, and at equal information.

Only a truth that names classes has them. It also counts what has no class of its own: chains of shifted answers found
whole, sources that no log holds, and how many sure findings are only lookalikes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from forensics.evaluate.measures import Cell, Matching
from forensics.evaluate.records import Finding, Leak, Lookalike, band

BITS = ((0, 100, "<100"), (100, 200, "100-199"), (200, 400, "200-399"), (400, 800, "400-799"), (800, 1 << 60, "800+"))
COPIES = ("verbatim", "altered")  # families whose recall is compared between languages
SHARED = ("licence", "template", "stock_answer", "model_phrase", "same_question")


@dataclass(frozen=True)
class ClassReport:
    """Cells by class; `kind` holds the class or the language, `band` characters of the source or bits.

    `classes`: every class, all lengths. `lengths`: every class by length. `languages`: every class by language.
    `copies`: verbatim and altered copies by language and bits. `groups`: the families and the ones with a promise.
    """

    classes: tuple[Cell, ...]
    lengths: tuple[Cell, ...]
    languages: tuple[Cell, ...]
    copies: tuple[Cell, ...]
    groups: tuple[Cell, ...]
    chains: int
    chains_whole: int
    sourceless: int
    sourceless_named: int


def by_class(leaks: Sequence[Leak], findings: Sequence[Finding]) -> ClassReport | None:
    """Cells of every class in the truth; None where it names no classes."""
    labels = sorted({leak.label for leak in leaks if leak.label})
    if not labels:
        return None
    matching = Matching(leaks, findings)

    def only(name: str, length: str, chosen: set[int]) -> Cell:
        return matching.cell(name, length, lambda leak: id(leak) in chosen, lambda finding: False)

    def split(parts: dict[tuple[str, str], set[int]]) -> tuple[Cell, ...]:
        return tuple(only(name, length, chosen) for (name, length), chosen in sorted(parts.items()))

    classes: dict[tuple[str, str], set[int]] = defaultdict(set)
    lengths: dict[tuple[str, str], set[int]] = defaultdict(set)
    languages: dict[tuple[str, str], set[int]] = defaultdict(set)
    copies: dict[tuple[str, str], set[int]] = defaultdict(set)
    groups: dict[tuple[str, str], set[int]] = defaultdict(set)
    for leak in leaks:
        family = leak.label.partition("/")[0]
        classes[(leak.label, "all")].add(id(leak))
        lengths[(leak.label, band(leak.characters))].add(id(leak))
        languages[(leak.label, leak.language)].add(id(leak))
        if family in COPIES:
            copies[(leak.language, "all")].add(id(leak))
            if leak.bits is not None:
                copies[(leak.language, bits_band(leak.bits))].add(id(leak))
        groups[(family, "all")].add(id(leak))
        if family == "interleaved" and not leak.label.endswith("/three") and leak.characters >= 300:
            groups[("interleaved, two streams", "300+")].add(id(leak))
        if family == "identifier" and leak.characters >= 12 and len(leak.tenants) == 1:
            groups[("identifier, one holder", "12+")].add(id(leak))
    found = matching.matches
    chains: dict[int, list[int]] = defaultdict(list)
    for place, leak in enumerate(leaks):
        if leak.chain is not None:
            chains[leak.chain].append(place)
    lost = [place for place, leak in enumerate(leaks) if not leak.tenants]
    return ClassReport(
        classes=split(classes),
        lengths=split(lengths),
        languages=split(languages),
        copies=split(copies),
        groups=split(groups),
        chains=len(chains),
        chains_whole=sum(all(found[p].found and found[p].right_tenant for p in places) for places in chains.values()),
        sourceless=len(lost),
        sourceless_named=sum(found[place].wrong_tenant for place in lost),
    )


def bits_band(bits: float) -> str:
    """The band of a leak of `bits`."""
    return next(name for low, high, name in BITS if low <= bits < high)


def innocent(leaks: Sequence[Leak], strong: Sequence[Finding], lookalikes: Sequence[Lookalike]) -> dict[str, int]:
    """Sure findings that touch no leak and lie by half or more in a lookalike, by its class."""
    touched = Matching(leaks, strong).touched
    places: dict[tuple[str, str], list[Lookalike]] = defaultdict(list)
    for entry in lookalikes:
        places[(entry.request_id, entry.field)].append(entry)
    counts: Counter[str] = Counter()
    for number, finding in enumerate(strong):
        if number in touched:
            continue
        hit = [
            (min(finding.end, entry.end) - max(finding.start, entry.start), entry.label)
            for entry in places.get((finding.request_id, finding.field), ())
        ]
        common, label = max(hit, default=(0, ""))
        if common * 2 >= finding.end - finding.start:
            counts[label] += 1
    return dict(sorted(counts.items()))
