"""Named questions to a case: one SQL file each. Finds, checks and runs them; does not phrase answers in prose.

A new question is one file in `queries/ask/` with the five-line header, and one test.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from forensics.case.csv_file import csv_bytes
from forensics.case.errors import UsageError
from forensics.case.queries import query_header, query_names
from forensics.case.store import Case
from forensics.text.safe_text import safe_text

FOLDER = "ask/"


@dataclass(frozen=True)
class Question:
    """A question: its name, what it asks, what one row is, the parameters it needs, the order of the rows."""

    name: str
    question: str
    grain: str
    parameters: tuple[str, ...]
    order: str


@dataclass(frozen=True)
class Answer:
    """Rows of a question, in its order."""

    question: Question
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    def records(self) -> list[dict[str, Any]]:
        """Rows as JSON-ready objects; times are ISO 8601 in UTC."""
        return [{column: _plain(value) for column, value in zip(self.columns, row, strict=True)} for row in self.rows]


def questions() -> tuple[Question, ...]:
    """Every question, sorted by name."""
    return tuple(_question(name) for name in query_names() if name.startswith(FOLDER))


def ask(case: Case, name: str, parameters: Mapping[str, str] | None = None) -> Answer:
    """Answer question `name`. Raises UsageError for an unknown question or a missing or surplus parameter."""
    query = FOLDER + name.replace("-", "_")
    if query not in query_names():
        raise UsageError("there is no such question; `forensics ask CASE --list` shows them all")
    question = _question(query)
    given = dict(parameters or {})
    missing = [key for key in question.parameters if key not in given]
    surplus = [key for key in given if key not in question.parameters]
    if surplus:
        takes = ", ".join(question.parameters) or "none"
        names = ", ".join(safe_text(key) for key in surplus)
        raise UsageError(f"unknown parameter: {names}; {question.name} takes {takes}")
    if missing:
        raise UsageError(f"{question.name} needs " + " ".join(f"--param {key}=..." for key in missing))
    table = case.arrow(query, dict(given))
    return Answer(question, tuple(table.column_names), tuple(zip(*(c.to_pylist() for c in table.columns), strict=True)))


def to_csv(answer: Answer) -> str:
    """The answer as CSV: control characters visible, formulas inert."""
    return csv_bytes(answer.columns, ([_plain(value) for value in row] for row in answer.rows)).decode()


def _question(query: str) -> Question:
    header = query_header(query)
    named = [part.split(" ")[0] for part in header["parameters"].split(", ")]
    parameters = tuple(name for name in named if name and name != "none")
    name = query.removeprefix(FOLDER).replace("_", "-")
    return Question(name, header["question"], header["grain"], parameters, header["order"])


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat(timespec="microseconds") + "Z"
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value
