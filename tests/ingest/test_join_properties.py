"""Whatever ids a handful of records carry, the join merges at most one call of each vantage and invents no tenant."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.case.store import Case
from forensics.ingest import join
from forensics.ingest.run import Parameters, run

_ids = st.sampled_from(["a", "b", "c"])
_record = st.fixed_dictionaries(
    {
        "vantage": st.sampled_from(["gateway", "engine", "client"]),
        "request_id": _ids,
        "timestamp": st.integers(1772600000, 1772600003),
    },
    optional={
        "tenant_id": st.sampled_from(["t1", "t2"]),
        "rid": _ids,
        "x-request-id": _ids,
        "request": st.sampled_from([{"messages": [{"content": "p1"}]}, {"messages": [{"content": "p2"}]}]),
        "response": st.builds(
            lambda i, t: {"id": i, "choices": [{"message": {"content": t}}]}, _ids, st.sampled_from(["x", "y"])
        ),
    },
)


def ids_of(record: dict) -> set[str]:
    found = {record["request_id"], record.get("rid"), record.get("x-request-id"), record.get("response", {}).get("id")}
    return found - {None}


@given(st.lists(_record, min_size=1, max_size=6))
@settings(max_examples=20, deadline=None)
def test_joined_calls(records):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "g.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
        with Case.create(root / "case") as case:
            run(case, Parameters((root / "g.jsonl",)))
            rows = case.table("requests").to_pylist()
            joined = {row["request"]: row for row in case.table("joined_requests").to_pylist()}
            uses = case.table("request_contents").to_pylist()
            repeated = case.table("evidence").to_pylist()[0]["repeated"]

    distinct = {json.dumps(record) for record in records}
    assert repeated == len(records) - len(distinct)
    # One row of each vantage at most, and every row in exactly one call.
    assert max(Counter((row["request"], row["vantage"]) for row in rows).values()) == 1
    assert {row["request"] for row in rows} == set(joined) == set(range(len(joined)))
    assert all(joined[row["request"]]["vantages"].split(",").count(row["vantage"]) == 1 for row in rows)
    # A call's tenant stands in a record that shares an id with it, and where its own rows name one, it is one of theirs.
    for request, call in joined.items():
        own = [row for row in rows if row["request"] == request]
        named = {row["tenant_id"] for row in own} - {None}
        known = {row["request_id"] for row in own} | {value for row in own for value in json.loads(row["ids"]).values()}
        near = {record.get("tenant_id") for record in records if ids_of(record) & known} - {None}
        assert call["tenant_id"] in (named or near | {None})
        assert call["request_id"] in {row["request_id"] for row in own}
    # Every text that a kept record holds is used by a call, once per place.
    texts = {(use["request"], use["side"], use["field"], use["content"]) for use in uses}
    assert len(texts) == len(uses)
    keys = {row["key"]: row["request"] for row in rows}
    assert all(keys[use["key"]] == use["request"] for use in uses)


@pytest.mark.parametrize("calls", [7, 100])
def test_slices_of_calls_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, calls: int) -> None:
    """Several vantages, engine lines in two parts: the tables of a real log, put together so many calls at a time."""
    logs = (Path(__file__).resolve().parents[2] / "sample_logs" / "sglang-clean" / "logs",)
    tables = []
    for slice_ in (1 << 18, calls):
        monkeypatch.setattr(join, "SLICE", slice_)
        with Case.create(tmp_path / str(slice_)) as case:
            run(case, Parameters(logs))
            rows = [case.table(name).to_pylist() for name in ("requests", "joined_requests", "request_contents")]
            tables.append([sorted(map(repr, table)) for table in rows])
    assert len(tables[0][0]) > 200
    assert tables[0] == tables[1]
