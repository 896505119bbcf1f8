"""Records to calls: which records tell of one call, which vantages saw it, whose it is. The work is SQL."""

from __future__ import annotations

from forensics.case.store import Case
from forensics.ingest.record import STATES

_TABLES = ("requests", "joined_requests", "request_contents", "chunks")


def rebuild(case: Case, isolate_by: str) -> None:
    """Make `requests`, `joined_requests` and `request_contents` anew from the records. Leaves scratch tables."""
    case.clear(_TABLES)
    states = {"states": list(STATES)}
    case.run("ingest/record_groups")
    case.run("ingest/request_rows", dict(states))
    case.run("ingest/request_ids")
    case.run("ingest/request_roots")
    case.run("ingest/requests")
    case.run("ingest/request_tenants")
    case.run("ingest/joined_requests", {**states, "isolate_by": isolate_by})
    case.run("ingest/request_contents")
    case.run("ingest/chunks")
    case.run("ingest/evidence_repeats")
    case.run("ingest/time_span")


def drop_scratch(case: Case) -> None:
    """Forget the scratch tables of `rebuild`."""
    case.run("ingest/drop_scratch")
