"""How does a person's decision about a fragment enter the case? Records it; verdicts are scope's business."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

import pyarrow as pa

from forensics.case.errors import UsageError
from forensics.case.explain import find_fragment
from forensics.case.store import Case

DECISIONS = ("accept", "reject", "unsure")


@dataclass(frozen=True)
class Review:
    """A decision as recorded."""

    fragment_id: str
    decision: str
    reason: str
    name: str


def review(case: Case, fragment: str, decision: str, reason: str, name: str) -> Review:
    """Record one decision about `fragment` (an id or its unique beginning). Decisions are added, never changed.

    Raises UsageError for an unknown fragment or decision, or an empty reason or name.
    """
    if decision not in DECISIONS:
        raise UsageError(f"a decision is one of {', '.join(DECISIONS)}")
    if not reason.strip() or not name.strip():
        raise UsageError("a decision needs a reason and the name of who decides")
    found = find_fragment(case, fragment)["fragment_id"]
    moment = datetime.now(UTC).replace(tzinfo=None)
    row = {"fragment_id": found, "decision": decision, "reason": reason, "name": name, "at": moment}
    columns = {key: pa.array([value], pa.timestamp("us") if key == "at" else pa.string()) for key, value in row.items()}
    with case.transaction():
        case.append("reviews", pa.table(columns))
    case.record("review", f"fragment {found}", reason=f"{decision} by {name}: {reason}")
    return Review(found, decision, reason, name)
