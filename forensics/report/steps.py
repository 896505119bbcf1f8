"""What happened when, from the first record to the last? Steps that no log knows are left for a person to fill.

Times come from the figures of scope alone and are rounded outward to the minute where they are printed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from forensics.report.fields import Said
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
_KEYS = {"first report by a person": "discovered", "awareness": "aware"}


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


def incident_steps(numbers: Numbers, said: Mapping[str, Said]) -> tuple[IncidentStep, ...]:
    """Every step in the order in which such steps come, known or not. `said`: what people set, by key of the letters'
    fields; only a time is taken from it."""
    return tuple(_step(numbers, said, *step) for step in _STEPS)


def words_of_steps() -> tuple[str, ...]:
    """Names and reasons of the steps: words of our own."""
    return (*(step[0] for step in _STEPS), *_BY_PEOPLE.values())


def _step(
    numbers: Numbers, said: Mapping[str, Said], name: str, figure: str | None, status: str, up: bool
) -> IncidentStep:
    if figure is None:
        fact = said.get(_KEYS.get(name, ""))
        if fact is not None and fact.moment is not None:
            said_at = (fact.moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
            shown = minute_down(said_at)
            return IncidentStep(name, said_at, None, None, shown, "", "set by a person", "as set with the letters")
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
