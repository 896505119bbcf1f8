"""Which facts do the exports share? Read once from the finished case; pseudonyms only, no text of a log."""

from __future__ import annotations

from dataclasses import dataclass

from forensics.case.pseudonyms import Pseudonyms
from forensics.case.store import Case
from forensics.report.figures import Numbers, microseconds

MOST_RESPONSES = 1000  # listed one by one; all are counted
MINUTE = 60_000_000  # microseconds


@dataclass(frozen=True)
class Response:
    """A response with foreign text, under its pseudonyms. Times in microseconds since 1970."""

    request_ref: str
    tenant_ref: str
    verdict: str
    fragments: int
    foreign_chars: int
    received_us: int | None


@dataclass(frozen=True)
class Category:
    """A kind of delicate content that detectors saw, or a person: in how many fragments, and how many were checked."""

    name: str
    fragments: int
    checked: int


@dataclass(frozen=True)
class Facts:
    """What an export may know. `reviewed` of `fragments` have a person's decision; `as_of_us`: the evidence's end."""

    case_ref: str
    numbers: Numbers
    responses: tuple[Response, ...]
    fragments: int
    reviewed: int
    formats: tuple[str, ...]
    as_of_us: int | None
    categories: tuple[Category, ...] = ()

    @property
    def surest(self) -> str | None:
        """The surest verdict of any response; None where no response is possible or better."""
        return self.responses[0].verdict if self.responses else None

    def count(self, name: str) -> int:
        """A count among the case's figures."""
        return int(self.numbers.rows[name].n or 0)


def load_facts(case: Case, pseudonyms: Pseudonyms) -> Facts:
    """The facts of a case that scope has finished."""
    fragments, reviewed, formats = case.rows("report/export_state")[0]
    responses = tuple(
        Response(pseudonyms.request(row[0]), pseudonyms.tenant(row[1]), *row[2:])
        for row in case.rows("report/export_responses", {"most": MOST_RESPONSES})
    )
    as_of = case.rows("report/as_of")[0][0]
    return Facts(
        pseudonyms.case_ref,
        Numbers.load(case),
        responses,
        fragments,
        reviewed,
        tuple(formats or ()),
        microseconds(as_of),
        tuple(Category(*row) for row in case.rows("report/export_categories")),
    )


def window_us(facts: Facts) -> tuple[int | None, int | None]:
    """First and last affected response, outward to the minute."""
    first, last = facts.numbers.moment("window.first_at"), facts.numbers.moment("window.last_at")
    return (
        None if first is None else first // MINUTE * MINUTE,
        None if last is None else -(-last // MINUTE) * MINUTE,
    )
