"""llama.cpp's server log: restarts, slots that look alike, bodies of calls printed at the same time."""

from __future__ import annotations

import json
from zoneinfo import ZoneInfo

import pytest

from forensics.ingest import llama
from forensics.ingest.parsers import llama_server, ollama
from forensics.ingest.record import EngineEvent, FileContext, Item, Place, Record


def http(path: str = "/v1/chat/completions", status: int = 200) -> str:
    return f"srv  log_server_r: request: POST {path} 10.0.0.5 {status}\n"


def asked(text: str) -> str:
    return f"srv  log_server_r: request:  {json.dumps({'messages': [{'role': 'user', 'content': text}]})}\n"


def answered(name: str, text: str) -> str:
    body = {"id": name, "choices": [{"index": 0, "message": {"content": text}, "finish_reason": "stop"}]}
    return f"srv  log_server_r: response: {json.dumps(body)}\n"


def busy(slot: int, task: int, head: str = "") -> str:
    return f"{head}slot launch_slot_: id  {slot} | task {task} | processing task, is_child = 0\n"


START = "srv    load_model: initializing, n_slots = 2, n_ctx_slot = 512, kv_unified = 'true'\n"


def kinds(bench) -> list[tuple]:
    rows = bench.rows("engine_events", "byte_offset")
    return [(r["kind"], r["slot"], json.loads(r["attributes"] or "{}").get("process")) for r in rows]


def texts_by_id(bench) -> dict[str, dict[str, str]]:
    return {name: bench.texts(name) for name in bench.joined()}


def test_one_call_after_the_other_is_paired(bench):
    bench.put(
        "s.log",
        http() + asked("a?") + answered("c1", "A") + http("/completion", 500) + asked("b?") + answered("c2", "B"),
    )
    bench.run()
    rows = bench.joined()
    assert bench.texts("c1") == {"<messages[0].content": "a?", "choices[0].content": "A"}
    assert bench.texts("c2") == {"<messages[0].content": "b?", "choices[0].content": "B"}
    assert (rows["c2"]["endpoint"], rows["c2"]["status"]) == ("/completion", "500")


@pytest.mark.parametrize(
    "lines",
    [
        [http(), http("/completion"), asked("a?"), asked("b?"), answered("c1", "A"), answered("c2", "B")],
        [http(), asked("a?"), http("/completion"), asked("b?"), answered("c2", "B"), answered("c1", "A")],
        [asked("a?"), asked("b?"), answered("c1", "A"), answered("c2", "B")],
    ],
)
def test_calls_printed_at_once_are_not_paired_by_guess(bench, lines):
    bench.put("s.log", "".join(lines))
    bench.run()
    for found in texts_by_id(bench).values():
        assert len(found) == 1
    assert {text for found in texts_by_id(bench).values() for text in found.values()} == {"a?", "b?", "A", "B"}


def test_interleaved_ends_leave_the_entry_point_unknown(bench):
    """One answer belongs to the only request that is open; which of two ends is its own cannot be known."""
    bench.put(
        "s.log", http() + http("/completion") + asked("a?") + answered("c1", "A") + asked("b?") + answered("c2", "B")
    )
    bench.run()
    rows = bench.joined()
    assert bench.texts("c1") == {"<messages[0].content": "a?", "choices[0].content": "A"}
    assert (rows["c1"]["endpoint"], rows["c2"]["endpoint"]) == (None, None)


def test_a_restart_splits_slots_and_tasks(bench):
    bench.put("s.log", busy(0, 3) + START + busy(0, 0) + "srv  update_slots: all slots are idle\n" + START + busy(0, 0))
    bench.run()
    assert kinds(bench) == [
        ("slot_busy", "0", 0),
        ("process_start", None, 1),
        ("slots_initialized", None, 1),
        ("slot_busy", "0", 1),
        ("all_idle", None, 1),
        ("process_start", None, 2),
        ("slots_initialized", None, 2),
        ("slot_busy", "0", 2),
    ]


def test_the_several_lines_of_one_start_are_one_start(bench):
    lines = [
        "initializing ...",
        "loading model 'm.gguf'",
        "initializing slots, n_slots = 1",
        "model loaded",
        "listening on x",
    ]
    bench.put("s.log", "".join(f"srv          main: {line}\n" for line in lines) + busy(0, 0))
    bench.run()
    assert kinds(bench) == [("process_start", None, 1), ("slots_initialized", None, 1), ("slot_busy", "0", 1)]


def test_a_start_that_is_not_in_the_log_is_seen_by_its_clock(bench):
    bench.put("s.log", busy(0, 40, "5.00.000.000 I ") + busy(1, 41, "4.59.999.000 I ") + busy(0, 0, "0.01.000.000 I "))
    bench.run()
    assert kinds(bench) == [("slot_busy", "0", 0), ("slot_busy", "1", 0), ("slot_busy", "0", 1)]


def test_a_body_that_looks_like_a_slot_line_is_a_body(bench):
    text = "x\nslot launch_slot_: id  1 | task 9 | processing task"
    bench.put("s.log", (http() + asked(text) + answered("c1", text)).replace("\n", "\r\n"))
    summary = bench.run()
    assert summary.figures["rejected"] == 0
    assert bench.texts("c1") == {"<messages[0].content": text, "choices[0].content": text}
    assert [kind for kind, _, _ in kinds(bench)] == ["http_end"]


def test_a_cut_body_at_the_end(bench):
    bench.put("s.log", busy(0, 1) + http() + asked("a long question")[:-12])
    summary = bench.run()
    assert summary.figures["files"][0]["reasons"] == {"cut_last_line": 1}


def test_the_wrappers_time_is_the_events_time():
    context = FileContext(
        "s.log", ZoneInfo("UTC"), at=1_790_000_000_000_000, source="pod-1", place=Place(0, 1, 0, "0" * 64)
    )
    log = llama_server.open_log(context)
    (event,) = log.read(busy(1, 7, "0.41.020.113 I ").strip().encode())
    assert isinstance(event, EngineEvent)
    assert (event.at, event.worker) == (1_790_000_000_000_000, "pod-1")
    assert event.attributes == {"process": 0, "relative_us": 41_020_113}


def test_events_hold_no_words_of_a_message():
    message = "selected slot by LCP similarity, sim_best = 0.5 (> 0.1 thold), f_keep = 1.0 SECRET = word"
    event = llama.event_of(message, "1", -1)
    assert event is not None
    assert event.counts == {"sim_best": 0.5, "f_keep": 1.0, "task": -1}
    assert event.attributes == {"by": "similarity"}


def test_the_text_of_a_token_is_no_count():
    event = llama.event_of("n_gen = 5, n_remaining = 3, next token:   12 ' n_secret = 4'", "1", 2)
    assert event is not None
    assert event.counts == {"n_gen": 5, "n_remaining": 3, "task": 2}


def test_the_servers_own_entry_point_names_the_slot():
    record = Record(None, "engine")
    response = {"content": "A", "id_slot": 3, "tokens_evaluated": 9, "tokens_predicted": 1, "stop_type": "eos"}
    llama.body_facts(record, {"prompt": "p"}, response)
    assert (record.ids, record.prompt_tokens, record.completion_tokens, record.finish_reason) == (
        {"slot": "3"},
        9,
        1,
        "eos",
    )
    assert list(record.texts) == [
        ("prompt", "prompt", "prompt", "p"),
        ("response", "choices[0].content", "response", "A"),
    ]


# One file may hold the lines of several hosts, as Loki and CloudWatch export them.


def read_from(module, lines: list[tuple[str, str]]) -> list[Item]:
    """The items of (host, line) pairs."""
    context = FileContext("s.log", ZoneInfo("UTC"))
    log = module.open_log(context)
    items: list[Item] = []
    for number, (host, line) in enumerate(lines):
        context.source, context.place = host, Place(number, 1, number, f"{number:064x}")
        items += log.read(line.rstrip("\n").encode())
    return [*items, *log.end()]


def contents(items: list[Item]) -> set[tuple[str | None, ...]]:
    """Of each record who printed it and its texts."""
    return {(item.worker, *(text[3] for text in item.texts)) for item in items if isinstance(item, Record)}


def test_a_body_is_paired_with_one_of_its_own_host():
    lines = [("a", http()), ("a", asked("a?")), ("b", answered("c2", "B")), ("a", answered("c1", "A"))]
    assert contents(read_from(llama_server, lines)) == {("a", "a?", "A"), ("b", "B")}


def test_the_starts_of_one_host_are_not_those_of_another():
    items = read_from(llama_server, [("a", busy(0, 1)), ("b", busy(0, 1)), ("a", START), ("b", busy(0, 2))])
    starts = {(item.worker, item.attributes["process"]) for item in items if isinstance(item, EngineEvent)}
    assert starts == {("a", 0), ("a", 1), ("b", 0)}


def test_a_request_at_a_restart_is_kept():
    assert contents(read_from(llama_server, [("a", http()), ("a", asked("a?")), ("a", START)])) == {("a", "a?")}


def test_a_prompt_of_ollama_belongs_to_no_call_of_another_host():
    prompt = 'time=2025-07-11T09:05:14.123Z level=DEBUG source=routes.go:1 msg="chat request" images=0 prompt="p?"'
    end = '[GIN] 2025/07/11 - 09:05:19 | 200 |  5.19s |       10.0.0.12 | POST     "/api/chat"'
    records = read_from(ollama, [("a", prompt), ("b", end)])
    assert contents(records) == {("a", "p?"), ("b",)}
    assert contents(read_from(ollama, [("a", prompt), ("b", prompt), ("a", end)])) == {("a", "p?"), ("b", "p?")}
