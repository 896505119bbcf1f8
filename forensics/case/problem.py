"""What is one thing that is not as recorded? Finds none itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """One thing that is not as recorded. `subject` is an id or a path of the case, never log text."""

    check: str
    subject: str
    problem: str
