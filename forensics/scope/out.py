"""Which files does the case leave in `out/`? Internal lists with raw ids and offsets; never text of a log.

Each file is written whole, sorted, with nothing in it that depends on the day, the machine or the order of threads.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import orjson

from forensics.case.csv_file import csv_bytes
from forensics.case.pseudonyms import Pseudonyms
from forensics.case.store import Case
from forensics.scope import parquet, timesketch, trace

REQUEST_COLUMNS = (
    "request_id",
    "tenant_id",
    "received_at",
    "worker",
    "verdict",
    "fragments",
    "foreign_chars",
    "source_tenants",
)
TENANT_COLUMNS = (
    "tenant_id",
    "role",
    "notify",
    "verdict",
    "requests_as_recipient",
    "requests_as_source",
    "fragments",
    "foreign_chars",
    "first_at",
    "last_at",
    "categories",
)
EXPOSURE_COLUMNS = (
    "request_id",
    "tenant_id",
    "received_at",
    "worker",
    "relation",
    "shared",
    "leaks",
    "fragment_id",
    "supported",
    "examined",
)
FRAGMENT_COLUMNS = (
    "fragment_id",
    "recipient_request_id",
    "recipient_tenant_id",
    "field",
    "start",
    "end",
    "kind",
    "verdict",
    "bits",
    "q_value",
    "sources",
)
APPEARANCE_COLUMNS = ("source_request_id", "source_tenant_id", "side", "field", "start", "end", "similarity", "rank")
FILES = (
    "fragments.jsonl",
    "affected_requests.csv",
    "affected_possible.csv",
    "affected_tenants.csv",
    "exposures.csv",
    "numbers.json",
    "timeline.jsonl",
    "trace.json",
    *(f"{table}.parquet" for table in parquet.EARLIER + parquet.OWN),
)


def write_all(case: Case, pseudonyms: Pseudonyms, trace_slices: int) -> trace.Trace:
    """Write every file of `out/`; returns the trace, for its figures."""
    case.write("out/fragments.jsonl", _lines(_fragments(case)))
    for name, listed in (("affected_requests", "affected"), ("affected_possible", "possible")):
        rows = case.rows("scope/out_requests", {"listed": listed})
        case.write(f"out/{name}.csv", csv_bytes(REQUEST_COLUMNS, rows))
    case.write("out/affected_tenants.csv", csv_bytes(TENANT_COLUMNS, case.rows("scope/out_tenants")))
    case.write("out/exposures.csv", csv_bytes(EXPOSURE_COLUMNS, case.rows("scope/out_exposures")))
    case.write("out/numbers.json", _numbers(case))
    case.write("out/timeline.jsonl", _lines(timesketch.events(case, pseudonyms)))
    picture = trace.build(case, pseudonyms, trace_slices)
    case.write("out/trace.json", picture.document)
    parquet.write_tables(case)
    return picture


def complete(case: Case) -> bool:
    """Whether every file of `out/` is there."""
    return all((case.out / name).is_file() for name in FILES)


def _lines(objects: Iterable[dict[str, Any]]) -> bytes:
    return b"".join(orjson.dumps(item) + b"\n" for item in objects)


def _fragments(case: Case) -> Iterable[dict[str, Any]]:
    appearances: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for fragment_id, *values in case.rows("scope/out_appearances"):
        appearances[fragment_id].append(dict(zip(APPEARANCE_COLUMNS, values, strict=True)))
    dropped: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for fragment_id, rule, start, end, holders, detail in case.rows("scope/out_exclusions"):
        dropped[fragment_id].append(
            {"rule": rule, "outcome": "dropped", "start": start, "end": end, "holders": holders, "detail": detail}
        )
    for *values, tried in case.rows("scope/out_fragments"):
        fragment = dict(zip(FRAGMENT_COLUMNS, values, strict=True))
        fragment["appearances"] = appearances[fragment["fragment_id"]]
        # `tried`: the rule was applied to this fragment and did not explain it; `dropped`: it explained text beside it.
        fragment["exclusions"] = [
            {
                "rule": rule,
                "outcome": "tried",
                "start": fragment["start"],
                "end": fragment["end"],
                "holders": None,
                "detail": "",
            }
            for rule in tried
        ] + dropped[fragment["fragment_id"]]
        yield fragment


def _numbers(case: Case) -> bytes:
    numbers = [
        {
            "name": name,
            "value": None if value is None else orjson.loads(value),
            "n": n,
            "total": total,
            "low": low,
            "high": high,
            "method": method,
        }
        for name, value, n, total, low, high, method in case.rows("scope/out_numbers")
    ]
    return orjson.dumps({"schema": "numbers/1.0", "numbers": numbers}, option=orjson.OPT_INDENT_2) + b"\n"
