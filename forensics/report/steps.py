"""What happened when, from the first record to the last? Steps that no log knows are left for a person to fill.

Times come from the figures of scope alone and are rounded outward to the minute where they are printed.
"""

from __future__ import annotations

from dataclasses import dataclass

from forensics.report.figures import Numbers
from forensics.report.render import minute_down, minute_up

TO_FILL = "to fill"
# Step, the figure that holds its time, what it is when known, and whether a time is rounded up.
_STEPS: tuple[tuple[str, str | None, str, bool], ...] = (
    ("evidence begins", "evidence.first_at", "known", False),
    ("what may have begun it", "window.opens_at", "candidate", False),
    ("onset of the fault", "fault.onset", "estimated", False),
    ("fault began, as declared", "declared.fault_began", "declared", False),
    ("first affected response", "window.first_at", "known", False),
    ("first alarm of an engine", "engine.first_alarm_at", "known", False),
    ("first report by a person", None, "", False),
    ("awareness", None, "", False),
    ("containment", None, "", False),
    ("last affected response", "window.last_at", "known", True),
    ("end of the fault", "fault.end", "estimated", True),
    ("what may have ended it", "window.closes_at", "candidate", True),
    ("fix, as declared", "declared.fault_fixed", "declared", True),
    ("verification", None, "", True),
    ("evidence ends", "evidence.last_at", "known", True),
)
_BY_PEOPLE = {
    "first report by a person": "no log holds it",
    "awareness": "only a person sets it",
    "containment": "no log holds it",
    "verification": "a person judges it, by the rates after the last affected response",
}


@dataclass(frozen=True)
class IncidentStep:
    """One step. Times in microseconds since 1970, None where not known; `shown` and `interval` are words."""

    name: str
    at: int | None
    low: int | None
    high: int | None
    shown: str
    interval: str
    status: str
    basis: str


def incident_steps(numbers: Numbers) -> tuple[IncidentStep, ...]:
    """Every step in the order in which such steps come, known or not."""
    return tuple(_step(numbers, *step) for step in _STEPS)


def _step(numbers: Numbers, name: str, figure: str | None, status: str, up: bool) -> IncidentStep:
    if figure is None:
        return IncidentStep(name, None, None, None, TO_FILL, "", TO_FILL, _BY_PEOPLE[name])
    minute = minute_up if up else minute_down
    at = numbers.moment(figure)
    low, high = numbers.moment(f"{figure}.earliest"), numbers.moment(f"{figure}.latest")
    basis = numbers.rows[figure].method if figure in numbers.rows else "not estimated: the timeline has not run"
    if at is None:
        return IncidentStep(name, None, low, high, "not known", "", _unknown(status), basis)
    interval = f"{minute_down(low)} to {minute_up(high)}" if low is not None and high is not None else ""
    return IncidentStep(name, at, low, high, minute(at), interval, status, basis)


def _unknown(status: str) -> str:
    return TO_FILL if status in ("candidate", "declared") else "not in these logs"
