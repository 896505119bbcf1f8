"""SGLang's engine lines among its requests: what they may and may not say, and how a mixed file is read."""

from __future__ import annotations

import json
from zoneinfo import ZoneInfo

import pytest

from forensics.ingest.parsers import kv_events, sglang_dump, sglang_engine, sglang_json, sglang_router
from forensics.ingest.record import EngineEvent, FileContext, Place, Record

STAMP = "[2026-01-02 03:04:05 DP1 TP0] "


def context(worker: str | None = None) -> FileContext:
    return FileContext("x.log", ZoneInfo("UTC"), worker, place=Place(7, 1, 0, "0" * 64))


def event(line: str, worker: str | None = None) -> EngineEvent:
    assert sglang_engine.accepts_line(line.encode())
    (found,) = sglang_engine.parse_line(line.encode(), context(worker))
    assert isinstance(found, EngineEvent)
    return found


def test_requests_among_many_batch_lines_name_the_file(bench):
    batch = STAMP + "Decode batch, #running-req: 3, #token: 70, token usage: 0.01, #queue-req: 0\n"
    request = STAMP + json.dumps(
        {
            "timestamp": "2026-01-02T03:04:06",
            "event": "request.finished",
            "rid": "r",
            "obj": {"text": "p"},
            "out": {"text": "a", "meta_info": {"id": "r", "finish_reason": {"type": "stop"}}},
        }
    )
    bench.put("node_0.log", batch * 20 + request + "\n" + batch * 20)
    summary = bench.run()
    file = summary.figures["files"][0]
    assert (file["format"], file["records"], file["structure"], file["rejected"]) == ("sglang_json", 41, 0, 0)
    assert bench.texts("r") == {"<text": "p", "choices[0].content": "a"}
    rows = bench.rows("engine_events", "byte_offset")
    assert {(row["kind"], row["worker"], json.loads(row["attributes"])["dp_rank"]) for row in rows} == {
        ("decode_batch", "node_0", 1)
    }


def test_a_log_of_batches_alone_has_no_requests_and_says_so(bench):
    bench.put("s.log", STAMP + "Prefill batch, #new-seq: 1, #new-token: 5, #cached-token: 0, #queue-req: 0\n")
    bench.put("h_0.log", STAMP + "Receive: obj=GenerateReqInput(rid='r', text='p')\n")
    summary = bench.run()
    assert [file["format"] for file in summary.figures["files"]] == ["sglang_text", "sglang_engine"]
    assert bench.case.count("requests") == 1


@pytest.mark.parametrize(
    "line",
    [
        STAMP + "Prefill batch failed: prompt was 'Decode batch, #running-req: 3'",
        STAMP + "server_args=ServerArgs(model_path='/models/glm', api_key=None)",
        STAMP + 'INFO:     10.0.0.7:5182 - "POST /generate HTTP/1.1" 200 OK',
        "Decode batch is a word",
    ],
)
def test_other_lines_give_no_event(line):
    if sglang_engine.accepts_line(line.encode()):
        assert list(sglang_engine.parse_line(line.encode(), context())) == []


def test_a_request_text_that_holds_a_batch_line_is_a_request(bench):
    text = "Decode batch, #running-req: 9, #queue-req: 9"
    bench.put("h_0.log", f"[2026-01-02 03:04:05] Receive: obj=GenerateReqInput(rid='r', text={text!r})\n")
    bench.run()
    assert bench.texts("r") == {"<text": text}
    assert bench.rows("engine_events", "byte_offset") == []


def test_unknown_counts_are_kept_and_words_are_not():
    found = event(
        STAMP + "Decode batch, #running-req: 2, #new-thing: 7, mood: cheerful, npu graph: True, x usage: 1.5%"
    )
    assert found.counts == {"running_req": 2, "new_thing": 7, "npu_graph": 1, "x_usage_percent": 1.5}
    assert found.attributes == {"dp_rank": 1, "tp_rank": 0}


def test_a_cut_batch_line_keeps_what_is_whole():
    assert event(STAMP + "Decode batch, #running-req: 12, #queue-re").counts == {"running_req": 12}


@pytest.mark.parametrize(
    ("line", "kind", "request_id"),
    [
        ("retract_decode: aborted request a:b: too long a prompt", "abort", "a:b"),
        ("retract_decode: aborted last request a-b due to OOM", "abort", "a-b"),
        ('Abort grammar queue request. req.rid="it\'s"', "abort", "it's"),
        ("Capping max_new_tokens of request q1 to 5 because of x", "max_new_tokens_capped", "q1"),
        ("Grammar accept_token failed for req q2 with token 7: x", "grammar_failure", "q2"),
    ],
)
def test_lines_that_name_a_request(line, kind, request_id):
    found = event(STAMP + line)
    assert (found.kind, found.request_id) == (kind, request_id)


def test_first_releases_with_times_print_the_end_as_a_duration():
    """0.4.9 to 0.5.1: nothing is known but when the request ended; a duration of 56 years is none."""
    found = event(
        STAMP + "Req Time Stats(rid=a, input len=3, output len=2, type=unified): queue_duration=0.00ms, "
        "forward_duration=1767323045123.45ms, start_time=0.0"
    )
    assert found.counts == {"input_len": 3, "output_len": 2, "completed_at_us": 1_767_323_045_123_450}


def test_status_rows_are_in_the_order_of_the_batch(bench):
    status = {
        "timestamp": "2026-01-02T03:04:05.5",
        "event": "scheduler.status",
        "running_rids": ["b", "a"],
        "queued_rids": [],
    }
    bench.put("node_0.log", STAMP + json.dumps(status) + "\n" + STAMP + json.dumps(status) + "\n")
    bench.put("h_0.log", STAMP + "Receive: obj=GenerateReqInput(rid='r', text='p')\n")
    bench.run()
    rows = [row for row in bench.rows("engine_events", "byte_offset") if row["kind"] == "status_running"]
    assert [(row["request_id"], json.loads(row["counts"])["row"]) for row in rows] == [("b", 0), ("a", 1)] * 2
    assert len({row["batch"] for row in rows}) == 2


def test_the_routers_times_are_utc_whatever_zone_is_declared():
    line = (
        '2026-02-19 13:32:18  INFO http_request{method=POST uri=/generate version=HTTP/1.1 request_id="g" '
        "status_code=200 latency=0}: smg::response: /x.rs:1: finished processing request"
    )
    here = FileContext("x.log", ZoneInfo("Asia/Tokyo"), place=Place(0, 1, 0, "0" * 64))
    (record,) = sglang_router.parse_line(line.encode(), here)
    assert record.received_at == 1_771_507_938_000_000
    assert here.naive_times == 0


def test_an_event_names_the_worker_as_the_requests_of_its_log_do():
    where = context()
    where.source = "pod-a"
    (batch,) = sglang_engine.parse_line((STAMP + "Decode batch, #running-req: 3").encode(), where)
    status = json.dumps({"event": "scheduler.status", "running_rids": ["r"], "queued_rids": []})
    events = sglang_json.parse(json.loads(status), where, "2026-01-02 03:04:05", " DP1 TP0")
    (request,) = sglang_json.parse({"event": "request.received", "rid": "r", "obj": {"text": "p"}}, where, None, " DP1")
    assert request.worker == "pod-a DP1"
    assert {batch.worker, *(event.worker for event in events)} == {"pod-a DP1"}


def test_an_item_of_a_batch_without_an_id_moves_no_text_to_another():
    event = {
        "event": "request.finished",
        "rid": ["a", None, "c"],
        "obj": {"text": ["pa", "pb", "pc"]},
        "out": [{"text": "ra"}, {"text": "rb"}, {"text": "rc"}],
    }
    where = context()
    records = sglang_json.parse(event, where)
    assert {record.request_id: [text[3] for text in record.texts] for record in records} == {
        "a": ["pa", "ra"],
        "c": ["pc", "rc"],
    }
    assert where.notices == {"unreadable_entry": 1}


def test_a_dumped_batch_with_too_few_answers_keeps_every_prompt():
    call = {"request": {"rid": ["a", "b"], "text": ["pa", "pb"]}, "out": [{"text": "ra", "meta_info": {}}]}
    records = [item for item in sglang_dump.parse({"sglang_dump": call}, context()) if isinstance(item, Record)]
    assert [(record.request_id, record.texts[0][3]) for record in records] == [("a", "pa"), ("b", "pb")]


@pytest.mark.parametrize("sort", [{"a": 1}, ["BlockStored"]])
def test_a_type_that_is_no_word_is_another_formats(sort):
    assert not kv_events.accepts({"type": sort, "block_hashes": []})
    assert not kv_events.accepts({"ts": 1, "events": [{"type": sort}]})


def test_the_lines_of_a_start_give_the_sizes_of_the_pools_and_the_settings_that_bear_on_them():
    line = STAMP + "max_total_num_tokens=4096, chunked_prefill_size=2048, max_running_requests=64, context_len=8192"
    (event,) = sglang_engine.parse_line(line.encode(), context())
    assert event.kind == "scheduler_start"
    assert event.counts == {
        "max_total_num_tokens": 4096,
        "chunked_prefill_size": 2048,
        "max_running_requests": 64,
        "context_len": 8192,
    }
    old = "server_args=ServerArgs(model_path='/m', schedule_policy='fcfs', page_size=16, disable_radix_cache=False, dp_size=2)"
    new = "server_args={'schedule_policy': 'lpm', 'page_size': 1, \"api_key\": 'k', 'disable_radix_cache': True}"
    (first,) = sglang_engine.parse_line((STAMP + old).encode(), context())
    (second,) = sglang_engine.parse_line((STAMP + new).encode(), context())
    assert {
        key: first.attributes[key] for key in ("schedule_policy", "page_size", "disable_radix_cache", "dp_size")
    } == {
        "schedule_policy": "fcfs",
        "page_size": 16,
        "disable_radix_cache": False,
        "dp_size": 2,
    }
    assert second.attributes["schedule_policy"] == "lpm"
    assert "k" not in second.attributes.values()


@pytest.mark.parametrize(
    ("fields", "release"),
    [
        ((), ("0.4.4", "0.4.9")),
        (("bootstrap_room", "lora_id"), ("0.5.1", "0.5.3")),
        (("bootstrap_room", "extra_key", "routed_dp_rank"), ("0.5.10", "0.5.15")),
        (("extra_key", "mm_hashes"), ("0.5.15", "0.5.18")),
        (("extra_key", "mm_hashes", "cache_salt"), ("0.5.18", "0.5.23")),
        (("cache_salt", "kv_hints"), ("0.5.23", None)),
    ],
    ids=["0.4.4", "0.5.1", "0.5.10", "0.5.15", "0.5.18", "0.5.23"],
)
def test_the_fields_of_a_request_tell_the_release_once_a_stretch(
    fields: tuple[str, ...], release: tuple[str, str | None]
):
    obj = dict.fromkeys(("text", "lora_path", *fields, *(f"field_{i}" for i in range(16))))
    where = context()
    first = sglang_json.parse({"event": "request.received", "rid": "a", "obj": obj}, where)
    second = sglang_json.parse({"event": "request.received", "rid": "b", "obj": obj}, where)
    (event,) = (item for item in first if not isinstance(item, Record))
    assert event.kind == "engine_release"
    assert (event.attributes["at_least"], event.attributes.get("below")) == release
    assert all(isinstance(item, Record) for item in second)


def test_a_request_with_few_fields_tells_no_release():
    items = sglang_json.parse(
        {"event": "request.received", "rid": "a", "obj": {"rid": "a", "lora_path": None}}, context()
    )
    assert all(isinstance(item, Record) for item in items)


def test_hits_restored_from_beyond_the_device_are_told_once_a_worker_and_by_request() -> None:
    from forensics.ingest.sglang import _tiers

    context = FileContext("engine.log", ZoneInfo("UTC"))
    told = [
        _tiers({"meta_info": {"cached_tokens_details": details}}, rid, 5, "w0", context)
        for rid, details in (("a", {"device": 9, "host": 0}), ("b", {"device": 1, "host": 64}), ("c", {"storage": 32}))
    ]
    assert [[(e.kind, e.request_id, e.counts) for e in events] for events in told] == [
        [("cache_tiers", None, {})],
        [("host_restored", "b", {"host": 64, "storage": 0})],
        [("host_restored", "c", {"host": 0, "storage": 32})],
    ]
    assert _tiers({"meta_info": {}}, "d", 5, "w0", context) == [] == _tiers(None, "e", 5, "w0", context)
