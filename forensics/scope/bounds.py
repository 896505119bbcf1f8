"""How many responses may be affected, beyond those that were found? From the controls' recall; measures nothing itself.

By class c of planted leaks: T_c responses found and a recall with lower limit r_c give at most T_c / r_c affected ones
(reference: spike-in recovery). The sum is resampled over responses. Requests that could not be examined are taken to be
affected as often as those that could.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from forensics.case.store import Case
from forensics.scope.number import Number

FLOOR = "copies under the guaranteed run of 32 letters, paraphrase and translation are not measured"
RECALL = "recall.probable"
RESAMPLES = 2000
SEED = 0
NOT_MEASURED = (
    f"not measured: `forensics controls` plants leaks in unaffected responses and measures how many are found; {FLOOR}"
)
STALE = f"not printed: the controls measured an earlier attribution; run `forensics controls` again; {FLOOR}"


@dataclass(frozen=True)
class Recall:
    """Found spikes of one class: share and its lower limit, 0..1."""

    share: float
    low: float


@dataclass(frozen=True)
class Breach:
    """Affected responses: estimate, and limits from below and above."""

    point: float
    low: float
    high: float


def from_controls(case: Case, confidence: float) -> Iterator[Number]:
    """The controls' figures by name, and the bounds that follow."""
    yield _unexamined(case)
    rows = case.rows("scope/controls")
    if not rows or not all(row[-1] for row in rows):
        method = STALE if rows else NOT_MEASURED
        yield Number("upper_bound.responses", None, method)
        yield Number("recall", None, method)
        return
    recall: dict[str, Recall] = {}
    for measure, part, value, n, total, low, high, method, _ in rows:
        if part.count("=") <= 1:
            yield Number(_name(measure, part), value, method, n, total, low, high)
        if measure == RECALL and part.startswith("length=") and "," not in part and value is not None:
            recall[part.removeprefix("length=")] = Recall(value, low)
    whole = next((row for row in rows if row[0] == "recall.reported" and row[1] == "all"), None)
    if whole is None:
        yield Number("recall", None, f"no leak could be planted; {FLOOR}")
    else:
        yield Number("recall", whole[2], whole[7], whole[3], whole[4], whole[5], whole[6])
    yield _upper(case, recall, confidence)


def _unexamined(case: Case) -> Number:
    """What is found, and all that could not be examined: a bound that assumes nothing of the latter."""
    requests, _, unread, affected = case.rows("scope/examined")[0]
    method = (
        f"found responses ({affected}) and every request that could not be examined ({unread}), whatever it holds; "
        "says nothing of leaks that were missed in what was examined"
    )
    return Number("upper_bound.unexamined_all", affected + unread, method, affected + unread, requests)


def _upper(case: Case, recall: Mapping[str, Recall], confidence: float) -> Number:
    name = "upper_bound.responses"
    classes = [row[1] for row in case.rows("scope/accepted_classes")]
    requests, examined, _, _ = case.rows("scope/examined")[0]
    if not classes:
        return Number(
            name, None, f"nothing is probable, and no recall turns nothing into a bound; see elusion.responses; {FLOOR}"
        )
    lacking = sorted({part for part in classes if part not in recall or recall[part].low <= 0})
    if lacking:
        method = (
            f"not assessable: of the planted leaks of class {', '.join(lacking)} none was found, or none was planted; "
            f"more --rounds may help; {FLOOR}"
        )
        return Number(name, None, method, n=len(classes), total=requests)
    breach = breach_size(classes, recall, confidence)
    scale = requests / examined if examined else 1.0
    method = (
        "found responses by class over the lower limit of the class's recall on planted leaks, resampled over "
        f"responses ({confidence * 100:g} %), times requests over examined ones ({requests}/{examined}, taken to be "
        "affected as often); value: at the observed recall; false ones among the found are not taken off; classes in "
        f"which nothing was found add nothing; {FLOOR}"
    )
    high = min(breach.high * scale, float(requests))
    return Number(name, round(min(breach.point * scale, float(requests))), method, len(classes), requests, None, high)


def breach_size(classes: Sequence[str], recall: Mapping[str, Recall], confidence: float) -> Breach:
    """`classes`: one per affected response. Point: sum of T_c / r_c; high: the upper quantile over resamples of the
    responses of the sum of T_c / r_c,low, and never less than that sum; low: what was found."""
    import numpy as np

    counts = Counter(classes)
    names = sorted(counts)
    found = np.array([counts[name] for name in names], dtype=np.float64)
    worst = np.array([1 / recall[name].low for name in names])
    point = float((found / np.array([recall[name].share for name in names])).sum())
    high = float((found * worst).sum())
    total = int(found.sum())
    drawn = np.random.default_rng(SEED).multinomial(total, found / total, size=RESAMPLES)
    quantile = float(np.quantile(drawn @ worst, 0.5 + confidence / 2))
    return Breach(point, float(total), max(high, quantile))


def _name(measure: str, part: str) -> str:
    return f"controls.{measure}." + re.sub(r"[^a-z0-9]+", "_", part.lower())
