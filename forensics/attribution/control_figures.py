"""Which figures follow from what the controls found? Counts in, rows of the table `controls` out. Reads no case.

Recall is final: what the reported fragments cover, not what a seed touched. Every share stands with its counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from forensics.attribution.rates import chapman, entrapment, exact_limits
from forensics.attribution.spikes import Spike

FLOOR = (
    "copies under the guaranteed run (32 letters or digits; 11 Han signs), paraphrase and translation are not measured"
)
COVERED = 0.5  # share of a planted passage that fragments must cover for it to count as found
# Which spikes are counted together: all, by one property, by length and one more, and each class on its own.
GROUPS: tuple[tuple[str, ...], ...] = (
    (), ("kind",), ("length",), ("form",), ("side",), ("near",), ("script",), ("length", "form"), ("length", "side"),
    ("side", "near"), ("kind", "length", "form", "side", "near"),
)  # fmt: skip
MEASURES = (
    ("recall.reported", "reported", "planted passages covered by fragments of any verdict"),
    ("recall.probable", "probable", "planted passages covered by fragments that are probable"),
    ("right_tenant", "right_tenant", "planted passages over which a fragment names the source alone"),
    ("wrong_tenant", "wrong_tenant", "planted passages over which a fragment names a tenant who never held it"),
)


@dataclass(frozen=True)
class Found:
    """One fragment of a response that carries a spike."""

    field: str
    start: int
    end: int
    kind: str
    verdict: str
    sources: tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    """What became of one spike."""

    round: int
    spike: Spike
    reported: bool
    probable: bool
    right_tenant: bool
    wrong_tenant: bool
    kinds: tuple[str, ...]

    def property(self, name: str) -> str:
        """The value of one of the properties that GROUPS names."""
        kind = self.spike.spike_class
        values = {
            "kind": kind.kind,
            "length": str(kind.length) if kind.length else kind.kind,
            "form": kind.form,
            "side": kind.side,
            "near": "yes" if self.spike.near else "no",
            "script": self.spike.script,
        }
        return values[name]


@dataclass(frozen=True)
class Figure:
    """One row of the table `controls`, without the run that it measured."""

    measure: str
    part: str
    value: float | None
    n: int | None
    total: int | None
    low: float | None
    high: float | None
    method: str


def match(number: int, spike: Spike, found: Sequence[Found], tenants: frozenset[str]) -> Outcome:
    """Was the spike found, and who was named? `tenants`: those that are one with the source."""
    over = [f for f in found if f.field == spike.field and f.start < spike.end and spike.start < f.end]
    named = {name for f in over for name in f.sources}
    return Outcome(
        number,
        spike,
        _covers(over, spike),
        _covers([f for f in over if f.verdict == "probable"], spike),
        any(f.sources and set(f.sources) <= tenants for f in over),
        bool(named - tenants),
        tuple(sorted({f.kind for f in over})),
    )


def _covers(found: Iterable[Found], spike: Spike) -> bool:
    """Do the fragments cover half of the planted passage or more, counted once?"""
    covered, reached = 0, spike.start
    for f in sorted(found, key=lambda f: (f.start, f.end)):
        low, high = max(f.start, reached), min(f.end, spike.end)
        if high > low:
            covered, reached = covered + high - low, high
    return covered >= COVERED * (spike.end - spike.start)


def recall_figures(outcomes: Sequence[Outcome], confidence: float) -> list[Figure]:
    """Every measure for every group that holds a spike."""
    made: list[Figure] = []
    for group in GROUPS:
        parts: dict[str, list[Outcome]] = {}
        for outcome in outcomes:
            part = ", ".join(f"{name}={outcome.property(name)}" for name in group) or "all"
            parts.setdefault(part, []).append(outcome)
        for part, members in sorted(parts.items()):
            for measure, attribute, what in MEASURES:
                n = sum(bool(getattr(outcome, attribute)) for outcome in members)
                limits = exact_limits(n, len(members), confidence)
                method = f"{what}; {limits.method}; {FLOOR}"
                made.append(Figure(measure, part, limits.share, n, limits.total, limits.low, limits.high, method))
    return made


def elusion_figures(strata: Iterable[tuple[str, int, int, int]], confidence: float) -> list[Figure]:
    """From (stratum, responses in it, read, leaks among them): missed responses at most, by stratum and in all.

    The limits of the strata hold together: each is taken at 1 - (1 - confidence) / strata (Bonferroni).
    """
    made: list[Figure] = []
    rows = list(strata)
    high_sum: float | None = 0.0
    low_sum = 0.0
    read_all = leaks_all = size_all = 0
    for stratum, size, read, leaks in rows:
        limits = exact_limits(leaks, read, 1 - (1 - confidence) / len(rows))
        what = "responses without a finding that a person read: leaks among them"
        made.append(
            Figure(
                "elusion.rate", stratum, limits.share, leaks, read, limits.low, limits.high, f"{what}; {limits.method}"
            )
        )
        high_sum = None if high_sum is None or limits.high is None else high_sum + limits.high * size
        low_sum += (limits.low or 0.0) * size
        read_all, leaks_all, size_all = read_all + read, leaks_all + leaks, size_all + size
    if rows:
        method = (
            "affected responses among those without a finding: sum over strata of stratum size times the exact limit, "
            "all strata together at the stated confidence"
        )
        if high_sum is None:
            method += "; not known until the sample out/elusion_sample.csv is read (controls --reviewed FILE)"
        value = None
        if read_all and high_sum is not None:
            value = sum(size * leaks / read for _, size, read, leaks in rows if read)
        made.append(
            Figure(
                "elusion.responses", "all", value, leaks_all, size_all, low_sum if read_all else None, high_sum, method
            )
        )
    return made


def recapture_figure(by_text: int, by_identifier: int, by_both: int, confidence: float) -> Figure:
    """Responses affected, as two detectors that fail for different reasons make it."""
    method = (
        f"Chapman's estimate from text reuse ({by_text} responses), identifiers ({by_identifier}) and both "
        f"({by_both}), probable and named; what is hard for one is hard for the other (positive dependence), so "
        "this is a lower bound; leaks without an identifier in them can be seen by one detector only"
    )
    if not by_text or not by_identifier or not by_both:
        short = method + "; not estimated: a list is empty, or they share nothing"
        return Figure("capture_recapture.responses", "all", None, by_both, None, None, None, short)
    made = chapman(by_text, by_identifier, by_both, confidence)
    seen = by_text + by_identifier - by_both
    return Figure("capture_recapture.responses", "all", made.estimate, by_both, seen, made.low, made.high, method)


def period_figures(rows: Iterable[tuple[str, int, int, int]], confidence: float) -> list[Figure]:
    """From (period, responses, reported, probable): how often something is found where no leak can be."""
    names = {
        "before the fault began": (
            "false_positives.before",
            "findings in responses that had finished before the fault began, as declared: false ones",
        ),
        "after it was fixed": ("rate.after_fix", "findings in responses received after the fix, as declared"),
    }
    made: list[Figure] = []
    for period, responses, reported, probable in rows:
        measure, what = names[period]
        for part, n in (("probable", probable), ("any verdict", reported)):
            limits = exact_limits(n, responses, confidence)
            made.append(
                Figure(measure, part, limits.share, n, responses, limits.low, limits.high, f"{what}; {limits.method}")
            )
    return made


def entrapment_figures(counts: dict[str, tuple[int, int]], ratio: float, texts: int) -> list[Figure]:
    """From (real, fictitious) findings by level: the share of false ones (Wen et al. 2025)."""
    made: list[Figure] = []
    for part, (real, trapped) in sorted(counts.items()):
        method = (
            f"{texts} public texts were given to tenants who do not exist, {ratio:.3f} times the volume of the real "
            f"tenants' prompts; findings that name one are false: {trapped} beside {real} others; at least "
            "N_E/(N_T+N_E), estimate N_E(1+1/r)/(N_T+N_E)"
        )
        if real + trapped == 0 or ratio <= 0:
            made.append(Figure("entrapment.false_share", part, None, trapped, real + trapped, None, None, method))
            continue
        least, combined = entrapment(real, trapped, ratio)
        made.append(Figure("entrapment.false_share", part, combined, trapped, real + trapped, least, None, method))
    return made
