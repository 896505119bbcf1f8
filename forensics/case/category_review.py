"""How does a person's decision about a category of a fragment enter the case? Records it; scope applies it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

import pyarrow as pa

from forensics.case.errors import UsageError
from forensics.case.explain import find_fragment
from forensics.case.review import check_decision
from forensics.case.store import Case
from forensics.text.sensitive import CATEGORIES

CHOICES = (*CATEGORIES, "none")


@dataclass(frozen=True)
class CategoryReview:
    """A decision as recorded."""

    fragment_id: str
    category: str
    decision: str
    reason: str
    name: str


def review_category(case: Case, fragment: str, category: str, decision: str, reason: str, name: str) -> CategoryReview:
    """Record whether `category` fits `fragment` (an id or its unique beginning). Decisions are added, never changed.

    Accepting a category that no detector saw adds it; accepting `none` says that a person saw that nothing applies.
    Raises UsageError for an unknown fragment, category or decision, or an empty reason or name.
    """
    check_decision(decision, reason, name)
    if category not in CHOICES:
        raise UsageError(f"a category is one of {', '.join(CHOICES)}")
    found = find_fragment(case, fragment)["fragment_id"]
    moment = datetime.now(UTC).replace(tzinfo=None)
    row = {
        "fragment_id": found, "category": category, "decision": decision, "reason": reason, "name": name, "at": moment,
    }  # fmt: skip
    with case.transaction():
        case.append("category_reviews", pa.Table.from_pylist([row]))
    case.record("review", f"fragment {found}", reason=f"category {category}: {decision} by {name}: {reason}")
    return CategoryReview(found, category, decision, reason, name)
