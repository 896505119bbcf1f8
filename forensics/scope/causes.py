"""Which figures tell of the cause: mechanisms, onset, exposures? From the timeline's tables; tests nothing itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from forensics.case.store import Case
from forensics.scope.number import Number


def from_timeline(case: Case) -> Iterator[Number]:
    """The figures of mechanisms, of the fault's onset and end, and of exposures, by name."""
    rows = case.rows("scope/mechanism_tests")
    yield _mechanism(rows)
    counts = Counter(row[2] for row in rows)
    for status, words in _STATUSES.items():
        method = f"hypotheses of the catalogue that {words}"
        yield Number(f"mechanisms.{status}", counts[status], method, counts[status], len(rows))
    for predicate, status, leaks_with, leaks, odds, low, high, finding in case.rows("scope/predicate_tests"):
        value = None if odds is None or odds == float("inf") else odds
        yield Number(
            f"fact.{predicate}", value, f"odds ratio ({status}); {finding}", leaks_with, leaks, low, _finite(high)
        )
    yield from _window(case)
    supported, unsupported, tenants, unread, requests = case.rows("scope/exposure_counts")[0]
    yield Number(
        "exposures",
        supported,
        "requests without readable foreign text in a slot, pass or prefix of a mechanism that stands",
        supported,
        requests,
    )
    yield Number("exposures.tenants", tenants, "customers of these requests")
    yield Number("exposures.not_examined", unread, "of these, those whose text could not be read", unread, supported)
    method = "requests that share the like with a leak where the logs cannot say whether it is the mechanism"
    yield Number("exposures.not_judged", unsupported, method, unsupported, requests)


_STATUSES = {
    "stands": "stand: one of their facts is true of leaks beyond chance",
    "explained": "hold only for leaks that a mechanism explains which stands",
    "falls": "fall: what can be tested of them is not",
    "ruled_out": "are ruled out by what was switched off",
    "undecided": "cannot be decided: too few leaks, or nothing to compare with",
    "not_testable": "cannot be tested on these logs",
    "no_text": "move no text between requests",
}


def _mechanism(rows: Sequence[tuple[Any, ...]]) -> Number:
    name = "mechanism"
    first = [row for row in rows if row[3] == 1]
    if first:
        ids = first[0][4]
        several = "the evidence cannot tell these apart" if "," in ids else "it fits best"
        return Number(name, ids, f"{several}: {first[0][6]}")
    if not rows:
        return Number(name, None, "not tested: the timeline has not run")
    counts = Counter(row[2] for row in rows)
    tested = counts["falls"] + counts["undecided"]
    if not tested:
        return Number(
            name, None, "not testable: these logs tell none of the facts that mechanisms rest on, or hold no leak"
        )
    return Number(
        name,
        None,
        f"none stands: {counts['falls']} of {len(rows)} hypotheses fall, {counts['undecided']} are undecided, "
        f"{counts['not_testable']} cannot be tested on these logs",
    )


def _window(case: Case) -> Iterator[Number]:
    for bound, moment, low, high, affected, responses, event_kind, event_at, finding in case.rows("scope/fault_window"):
        event = f"; engine event inside: {event_kind} at {event_at}" if event_kind else ""
        yield Number(f"fault.{bound}", moment, finding + event, affected, responses)
        for name, edge, words in (("earliest", low, "earliest"), ("latest", high, "latest")):
            unknown = "" if edge else "; not within these logs"
            yield Number(f"fault.{bound}.{name}", edge, f"{words} {bound} by the interval{unknown}")


def _finite(value: float | None) -> float | None:
    """JSON knows no infinity: an interval without an upper end has none."""
    return None if value is None or value == float("inf") else value
