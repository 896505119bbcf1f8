"""Which kinds of delicate content do the leaked passages seem to hold? Labels them, and lets people have the last word.

Detectors (`text/sensitive`) look at the fragment's own text only. A label that a person rejected is gone, one that a
person accepted is marked, one that a person added stands over the whole fragment. A fragment without any label is
`not_classified`, which is no finding. No label decides who is told, and none keeps a text from leaving.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pyarrow as pa

from forensics.case.store import Case
from forensics.text.sensitive import MOST, labels

NOT_CLASSIFIED = "not_classified"
NONE = "none"
_COLUMNS = {
    "fragment_id": pa.string(),
    "category": pa.string(),
    "detector": pa.string(),
    "score": pa.float64(),
    "start": pa.int64(),
    "end": pa.int64(),
    "checked": pa.string(),
}


def fill(case: Case) -> None:
    """Write `fragment_categories` for every fragment that is not excluded. Needs `verdicts`."""
    decided: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for fragment_id, category, decision in case.rows("scope/category_decisions"):
        decided[fragment_id][category] = decision
    known: dict[str, list[tuple[Any, ...]]] = {}
    rows: list[tuple[Any, ...]] = []
    for fragment_id, passage, start, end in case.rows("scope/fragment_texts"):
        if passage not in known:
            known[passage] = _seen(passage)
        rows += _in_force(fragment_id, start, end, known[passage], decided[fragment_id])
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(_COLUMNS)
    arrays = {name: pa.array(column, kind) for (name, kind), column in zip(_COLUMNS.items(), columns, strict=True)}
    case.append("fragment_categories", pa.table(arrays))


def _seen(passage: str) -> list[tuple[Any, ...]]:
    """Category, detector, score, start and end in the passage; what is too long to be read says so."""
    seen: list[tuple[Any, ...]] = [
        (label.category, label.detector, label.score, label.start, label.end) for label in labels(passage)
    ]
    if not seen:
        return [(NOT_CLASSIFIED, "none", None, 0, len(passage))]
    if len(passage) > MOST:
        seen.append((NOT_CLASSIFIED, "too long", None, MOST, len(passage)))
    return seen


def _in_force(
    fragment_id: str, start: int, end: int, seen: list[tuple[Any, ...]], decided: dict[str, str]
) -> list[tuple[Any, ...]]:
    accepted = {category for category, decision in decided.items() if decision == "accept"}
    kept = [row for row in seen if decided.get(row[0]) != "reject"]
    if NONE in accepted:
        kept = [row for row in kept if row[0] in accepted]
    elif accepted:
        kept = [row for row in kept if row[0] != NOT_CLASSIFIED or row[1] == "too long"]
    rows = [
        (fragment_id, category, detector, score, start + low, start + high, "yes" if category in accepted else "no")
        for category, detector, score, low, high in kept
    ]
    added = sorted(accepted - {row[1] for row in rows} - {NOT_CLASSIFIED})
    if len(added) > 1 and NONE in added:
        added.remove(NONE)  # a person named others: those stand
    rows += [(fragment_id, category, "person", None, start, end, "yes") for category in added]
    return rows or [(fragment_id, NOT_CLASSIFIED, "none", None, start, end, "no")]
