"""How does a person's decision about a fragment enter the case? Records it; verdicts are scope's business.

A sitting walks the fragments that wait, forward and back; each decision is recorded at once, so that nothing is lost
when it is broken off.
"""

from __future__ import annotations

from dataclasses import dataclass, field
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
    check_decision(decision, reason, name)
    found = find_fragment(case, fragment)
    moment = datetime.now(UTC).replace(tzinfo=None)
    row = {
        "fragment_id": found["fragment_id"],
        "decision": decision,
        "reason": reason,
        "name": name,
        "at": moment,
        # What was decided on: a later run that names others, or has other characters, is noticed by it.
        **{key: found[key] for key in ("recipient_request_id", "field", "start", "end", "sources")},
    }
    with case.transaction():
        case.append("reviews", pa.Table.from_pylist([row], schema=case.table("reviews").schema))
    case.record("review", f"fragment {found['fragment_id']}", reason=f"{decision} by {name}: {reason}")
    return Review(found["fragment_id"], decision, reason, name)


def check_decision(decision: str, reason: str, name: str) -> None:
    """Raise UsageError for an unknown decision, or one without a reason or a name."""
    if decision not in DECISIONS:
        raise UsageError(f"a decision is one of {', '.join(DECISIONS)}")
    if not reason.strip() or not name.strip():
        raise UsageError("a decision needs a reason and the name of who decides")


@dataclass(frozen=True)
class Waiting:
    """A fragment that waits. `earlier`: a decision that no longer counts, and why."""

    fragment_id: str
    earlier: str | None


@dataclass
class Sitting:
    """A walk through `fragments`. `place` may be their number: then all have been seen."""

    case: Case
    fragments: tuple[Waiting, ...]
    place: int = 0
    decided: list[Review] = field(default_factory=list)

    @property
    def current(self) -> Waiting | None:
        """The fragment that is looked at; None at the end."""
        return self.fragments[self.place] if self.place < len(self.fragments) else None

    def decision(self, fragment_id: str) -> Review | None:
        """What was decided on a fragment in this sitting, last."""
        return next((one for one in reversed(self.decided) if one.fragment_id == fragment_id), None)

    def forward(self) -> None:
        """On to the next one."""
        self.place = min(self.place + 1, len(self.fragments))

    def back(self) -> bool:
        """Back to the one before; False at the first."""
        moved = self.place > 0
        self.place = max(self.place - 1, 0)
        return moved

    def decide(self, decision: str, reason: str, name: str) -> Review:
        """Record a decision about the current fragment and go on. Raises UsageError as `review` does."""
        current = self.current
        if current is None:
            raise UsageError("there is no fragment to decide on")
        made = review(self.case, current.fragment_id, decision, reason, name)
        self.decided.append(made)
        self.forward()
        return made


def sitting(case: Case, fragment: str | None = None) -> Sitting:
    """A walk through all fragments that wait, or to one `fragment` (an id or its unique beginning) in any state."""
    from forensics.case.ask import ask

    waiting = {row["fragment_id"]: row["earlier"] for row in ask(case, "review-queue").records()}
    if fragment is not None:
        found = find_fragment(case, fragment)["fragment_id"]
        return Sitting(case, (Waiting(found, waiting.get(found)),))
    return Sitting(case, tuple(Waiting(*item) for item in waiting.items()))
