"""Named questions to a case: one SQL file each. Finds, checks and runs them; does not phrase answers in prose.

A new question is one file in `queries/ask/` with the header (and `empty`: what it means that there is no row), and one
test. An answer without rows says why: which stage has not run, and what the header says.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from forensics.case import custody
from forensics.case.csv_file import csv_bytes
from forensics.case.errors import UsageError
from forensics.case.queries import query_header, query_names
from forensics.case.stage import verb
from forensics.case.store import Case
from forensics.text.safe_text import safe_text

if TYPE_CHECKING:
    import pyarrow as pa

FOLDER = "ask/"
NO_ROW = "nothing in this case answers it"


@dataclass(frozen=True)
class Question:
    """A question: its name, what it asks, what one row is, the parameters it needs, the order of the rows, the tables
    it reads, and what it means that there is no row."""

    name: str
    question: str
    grain: str
    parameters: tuple[str, ...]
    order: str
    inputs: tuple[str, ...]
    empty: str


@dataclass(frozen=True)
class Answer:
    """Rows of a question, in its order. `note`: why there are none; empty where there are."""

    question: Question
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    note: str = ""

    def records(self) -> list[dict[str, Any]]:
        """Rows as JSON-ready objects; times are ISO 8601 in UTC."""
        return [{column: _plain(value) for column, value in zip(self.columns, row, strict=True)} for row in self.rows]

    def printed(self) -> Answer:
        """The answer as it is shown: where it has no rows, one that holds the reason alone, in a column `note`."""
        if not self.note:
            return self
        return Answer(self.question, (*self.columns, "note"), ((*(None for _ in self.columns), self.note),))


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
    held = {"custody": _custody(case)} if "custody" in question.inputs else None
    table = case.arrow(query, dict(given), held)
    rows = tuple(zip(*(c.to_pylist() for c in table.columns), strict=True))
    return Answer(question, tuple(table.column_names), rows, "" if rows else _why_empty(case, question))


def to_csv(answer: Answer) -> str:
    """The answer as CSV: control characters visible, formulas inert; without rows, the reason."""
    shown = answer.printed()
    return csv_bytes(shown.columns, ([_plain(value) for value in row] for row in shown.rows)).decode()


# Which tables a stage fills (a test holds it to what stages write); others: ingest or people.
FILLS = {
    "attribution": "fragments appearances exclusions decoy_strata",
    "timeline": "residencies batches batch_members appearance_relations worker_rates cache_hits "
    "cache_key_collisions slot_derivations event_clocks leak_pairs pair_facts predicate_tests mechanism_tests "
    "fault_window leak_factors exposures",
    "scope": "verdicts fragment_categories affected_requests affected_tenants numbers",
    "controls": "controls control_spikes elusion_sample",
}


def _why_empty(case: Case, question: Question) -> str:
    done = {row[0] for row in case.rows("schema/stage_rows")}
    read = set(question.inputs)
    lacking = [verb(stage) for stage, tables in FILLS.items() if stage not in done and read & set(tables.split())]
    missing = "".join(f"`forensics {name}` has not run on this case; " for name in lacking)
    return missing + question.empty


def _custody(case: Case) -> pa.Table:
    """The custody log as a table: sequence, utc, actor, action, object, reason."""
    import pyarrow as pa

    entries = list(custody.read(case.custody_path))
    columns = ("utc", "actor", "action", "object", "reason")
    texts = {name: pa.array([getattr(entry, name) for entry in entries], pa.string()) for name in columns}
    return pa.table({"sequence": pa.array([entry.sequence for entry in entries], pa.int64()), **texts})


def _question(query: str) -> Question:
    header = query_header(query)
    named = [part.split(" ")[0] for part in header["parameters"].split(", ")]
    parameters = tuple(name for name in named if name and name != "none")
    name = query.removeprefix(FOLDER).replace("_", "-")
    inputs = tuple(re.findall(r"[a-z_]+", header["inputs"]))
    return Question(
        name, header["question"], header["grain"], parameters, header["order"], inputs, header.get("empty", NO_ROW)
    )


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat(timespec="microseconds") + "Z"
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value
