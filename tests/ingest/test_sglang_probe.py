"""The probe's events: what is kept, what is never kept, and lines that somebody else wrote."""

from __future__ import annotations

import json
from zoneinfo import ZoneInfo

import pytest

from forensics.ingest.parsers import sglang_probe
from forensics.ingest.record import EngineEvent, FileContext, Reject

BASE = {"v": 1, "ts": 1772600767.25, "mono": 1.0, "host": "h1", "pid": 7, "tp": 0, "dp": 0, "pp": 0}


def read(context: FileContext | None = None, **fields: object) -> EngineEvent:
    context = context or FileContext("probe.jsonl", ZoneInfo("UTC"))
    (item,) = sglang_probe.parse({**BASE, **fields}, context)
    assert isinstance(item, EngineEvent)
    return item


def test_neither_token_ids_nor_keys_are_kept():
    rows = [{"rid": "r", "slot": 1, "tok": [41, 42], "extra_key": "alpha-secret", "lora": "beta-adapter"}]
    for name in ("batch_start", "batch_end"):
        event = read(ev=name, iter=1, rows=rows)
        said = json.dumps([event.counts, event.attributes])
        assert "41" not in said
        assert "alpha" not in said
        assert "beta" not in said
    assert read(ev="batch_end", iter=1, rows=rows).counts == {"size": 1, "tokens": 2}


def test_members_that_cannot_be_read_count_in_the_size_and_are_told():
    context = FileContext("probe.jsonl", ZoneInfo("UTC"))
    rows = [{"rid": "r", "slot": "x"}, {"rid": 5}, "r", None, {"rid": "s", "slot": 2, "seq_len": -4}]
    event = read(context, ev="batch_start", iter=1, rows=rows)
    assert event.counts == {"size": 5}
    assert event.attributes["rid"] == ["r", "s"]
    assert event.attributes["slot"] == [-1, 2]
    assert context.notices == {"unreadable_entry": 3}


@pytest.mark.parametrize("rows", [None, 3, "r", {"rid": "r"}, [[]]], ids=["none", "number", "text", "object", "lists"])
def test_rows_of_another_type_are_an_empty_batch(rows: object):
    event = read(ev="batch_start", iter=1, rows=rows)
    assert event.attributes["rid"] == []


@pytest.mark.parametrize(
    "fields",
    [{"iter": 2**60}, {"iter": True}, {"iter": -1}, {"iter": "9"}, {"iter": 1.5}],
    ids=["huge", "bool", "negative", "text", "fraction"],
)
def test_an_iteration_that_is_none_names_no_batch(fields: dict[str, object]):
    event = read(ev="batch_start", rows=[], **fields)
    assert (event.batch, event.iteration) == (None, None)


def test_ranges_are_checked_and_counted():
    context = FileContext("probe.jsonl", ZoneInfo("UTC"))
    event = read(context, ev="kv_free", kv=[[5, 9], [9, 5], [1], 12, [1, "2"]], why="evict")
    assert event.attributes["kv"] == [[5, 9], [12, 12]]
    assert event.counts == {"kv_indices": 6}
    assert event.attributes["why"] == "evict"
    assert context.notices == {"unreadable_entry": 3}


def test_an_event_of_a_later_schema_is_kept_under_its_name():
    event = read(ev="kv_moved", v=2, rid="r")
    assert (event.kind, event.request_id, event.attributes["ev"]) == ("probe_other", "r", "kv_moved")


def test_a_name_that_is_no_word_is_rejected():
    with pytest.raises(Reject):
        read(ev="a\nb")


def test_two_processes_of_one_host_have_batches_of_their_own():
    first = read(ev="batch_start", iter=1, rows=[], pid=1)
    second = read(ev="batch_start", iter=1, rows=[], pid=2)
    assert first.batch != second.batch


def test_a_reason_or_host_that_is_no_word_is_dropped():
    event = read(ev="finish", rid="r", reason="a sentence of a prompt", host="a b")
    assert "reason" not in event.attributes
    assert event.worker == "DP0"


def test_a_run_of_passes_stays_one_event_that_names_the_pass_it_repeats():
    like = read(ev="batch_start", iter=4, rows=[{"rid": "r", "slot": 1}])
    event = read(ev="batch_repeat", **{"iter": [5, 204], "as": 4, "ts_first": 1772600766.25, "ts_end": None})
    assert (event.kind, event.iteration, event.counts["last"]) == ("probe_batch_repeat", 5, 204)
    assert event.batch == like.batch
    assert event.at - event.counts["from_us"] == 1_000_000


@pytest.mark.parametrize(
    "fields",
    [
        {"iter": [5, 4], "as": 3},
        {"iter": 5, "as": 4},
        {"iter": [5, 6]},
        {"iter": [5, 10**9], "as": 4},
        {"iter": [5, 6], "as": 5},
    ],
    ids=["backwards", "number", "of nothing", "endless", "of itself"],
)
def test_a_run_that_makes_no_sense_is_rejected(fields: dict[str, object]):
    with pytest.raises(Reject):
        read(ev="batch_repeat", ts_first=1772600766.25, **fields)


def test_the_probes_own_digests_are_kept_as_they_are():
    event = read(ev="match", rid="r", matched=3, last_node_extra_key="sha256:0123456789abcdef", salt="a tenant's salt")
    assert event.attributes["last_node_extra_key"] == "sha256:0123456789abcdef"
    assert "tenant" not in event.attributes["salt"]


def test_a_row_that_the_batch_and_its_request_place_differently_is_kept():
    event = read(ev="batch_start", iter=1, rows=[{"rid": "r", "slot": 4, "req_slot": 5}, {"rid": "s", "slot": 6}])
    assert event.attributes["req_slot"] == [5, -1]


def test_the_start_of_a_file_tells_the_engines_release():
    event = read(ev="probe_start", probe="1.0.0", sglang="0.5.23", process="Process-1", hooked=["a.b"], missing=[])
    assert (event.kind, event.attributes["sglang"]) == ("probe_start", "0.5.23")
    assert "hooked" not in event.attributes
