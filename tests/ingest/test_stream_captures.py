"""Streams come back as they were sent, however they were cut; what is foreign in them is neither dropped nor merged."""

from __future__ import annotations

import json
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.ingest.parsers import sse_capture
from forensics.ingest.record import FileContext, Record
from forensics.ingest.units import Unit
from forensics.ingest.wrappers import sse as framing

TEXTS = st.text(st.characters(blacklist_categories=("Cs",)), min_size=0, max_size=30)


def records(data: bytes) -> tuple[list[Record], FileContext, list[Unit]]:
    """What the wrapper and the parser make of a capture."""
    context = FileContext("capture", ZoneInfo("UTC"))
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    units = []
    offset = 0
    for number, line in enumerate(lines):
        size = min(len(line) + 1, len(data) - offset)
        units.append(Unit(line.removesuffix(b"\r"), offset, size, number, 1))
        offset += size
    peeler = framing.Peeler(context)
    made = [out for unit in units for out in peeler.feed(unit)] + list(peeler.end())
    assert sum(unit.size for unit in made) == len(data)
    assert sum(unit.lines for unit in made) == len(lines)
    found: list[Record] = []
    for unit in made:
        if unit.data.startswith(framing.MARK):
            context.times = unit.times
            found += sse_capture.parse_line(unit.data, context)
    return found, context, made


def texts(record: Record) -> dict[str, str]:
    return {field: text for _, field, _, text in record.texts}


def chunk(
    own: str, content: str | None, index: int = 0, finish: str | None = None, role: bool = False
) -> dict[str, Any]:
    delta: dict[str, Any] = {} if content is None else {"content": content}
    if role:
        delta["role"] = "assistant"
    return {
        "id": own,
        "object": "chat.completion.chunk",
        "created": 1772600767,
        "choices": [{"index": index, "delta": delta, "finish_reason": finish}],
    }


@st.composite
def interleaved(draw: st.DrawFn) -> tuple[list[list[str]], list[int]]:
    """Pieces of each choice, and the choice of each event."""
    pieces = draw(st.lists(st.lists(TEXTS, min_size=1, max_size=6), min_size=1, max_size=4))
    order = [choice for choice, listed in enumerate(pieces) for _ in listed]
    return pieces, draw(st.permutations(order))


@settings(max_examples=150, deadline=None)
@given(interleaved(), st.sampled_from(["\n\n", "\r\n\r\n", "\n"]), st.booleans(), st.booleans(), st.integers(0, 3))
def test_any_cut_of_an_answer_over_choices_comes_back_with_ranges_that_partition_it(drawn, end, timed, done, left_off):
    pieces, order = drawn
    waiting = [iter(listed) for listed in pieces]
    remaining = [len(listed) for listed in pieces]
    lines = []
    for number, choice in enumerate(order):
        remaining[choice] -= 1
        made = chunk("c-1", next(waiting[choice]), choice, None if remaining[choice] else "stop")
        stamp = f"{1772600767 + number}.5 " if timed else ""
        lines.append(f"{stamp}data: {json.dumps(made, ensure_ascii=bool(number % 2))}{end}")
    if done:
        lines.append(f"data: [DONE]{end}")
    data = "".join(lines).encode()
    data = data[: len(data) - min(left_off, len(end))]  # no blank line, or no line end at all
    found, context, _ = records(data)
    assert len(found) == 1
    (record,) = found
    assert texts(record) == {
        f"choices[{choice}].content": "".join(listed) for choice, listed in enumerate(pieces) if "".join(listed)
    }
    assert record.response_state == "full"
    assert context.notices == {} or set(context.notices) <= {"made_id"}
    for choice, listed in enumerate(pieces):
        ranges = [(start, stop) for number, _, _, start, stop in record.chunks if number == choice]
        sent = [piece for piece in listed if piece]
        if not timed:
            assert ranges == []
            continue
        assert [stop - start for start, stop in ranges] == [len(piece) for piece in sent]
        assert [start for start, _ in ranges] == [sum(map(len, sent[:n])) for n in range(len(sent))]
    if timed:
        assert [at for _, _, at, _, _ in record.chunks if at is None] == []
        assert record.finished_at == max(1772600767_500000 + 1_000_000 * n for n in range(len(order)))


@settings(max_examples=80, deadline=None)
@given(st.lists(st.lists(TEXTS.filter(bool), min_size=1, max_size=4), min_size=1, max_size=4), st.integers(1, 3))
def test_several_streams_of_one_capture_stay_apart(answers, ending):
    """Ended by [DONE], by a finish reason, or broken off before the next begins."""
    data = ""
    for number, pieces in enumerate(answers):
        for place, piece in enumerate(pieces):
            last = place == len(pieces) - 1
            finish = "stop" if last and ending != 3 else None
            data += f"data: {json.dumps(chunk(f'id-{number}', piece, 0, finish, role=not place))}\n\n"
        if ending == 1:
            data += "data: [DONE]\n\n"
    found, context, _ = records(data.encode())
    assert [record.request_id for record in found] == [f"id-{number}" for number in range(len(answers))]
    assert [texts(record) for record in found] == [{"choices[0].content": "".join(pieces)} for pieces in answers]
    assert {record.response_state for record in found} == {"partial_stream" if ending == 3 else "full"}
    assert context.notices == {}


@settings(max_examples=80, deadline=None)
@given(st.lists(TEXTS.filter(bool), min_size=2, max_size=6), TEXTS.filter(bool), st.data(), st.booleans())
def test_a_chunk_of_another_id_is_never_dropped_and_never_merged(pieces, foreign, data, role):
    place = data.draw(st.integers(1, len(pieces) - 1))
    events = [chunk("own", piece, role=not n) for n, piece in enumerate(pieces)]
    events.insert(place, chunk("other", foreign, role=role))
    events.append(chunk("own", None, 0, "stop"))
    found, context, _ = records("".join(f"data: {json.dumps(e)}\n\n" for e in events).encode() + b"data: [DONE]\n\n")
    (record,) = found
    assert texts(record) == {"choices[0].content": "".join(pieces), "choices[1].content": foreign}
    assert record.ids["stray_id"] == "other"
    assert context.notices == {"stray_chunk": 1}


@settings(max_examples=80, deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=5), st.lists(TEXTS, min_size=0, max_size=4), st.booleans())
def test_anthropic_blocks_come_back(said, thought, stop):
    events: list[dict[str, Any]] = [{"type": "message_start", "message": {"id": "msg_1", "model": "c", "content": []}}]
    for index, (sort, key, listed) in enumerate((("thinking", "thinking", thought), ("text", "text", said))):
        events.append({"type": "content_block_start", "index": index, "content_block": {"type": sort, key: ""}})
        events += [
            {"type": "content_block_delta", "index": index, "delta": {"type": f"{sort}_delta", key: piece}}
            for piece in listed
        ]
        events.append({"type": "content_block_stop", "index": index})
    if stop:
        events += [{"type": "message_delta", "delta": {"stop_reason": "end_turn"}}, {"type": "message_stop"}]
    data = "".join(
        f"event: {e['type']}\n2026-01-02T03:04:05.00{n % 10}Z data: {json.dumps(e)}\n\n" for n, e in enumerate(events)
    )
    found, _, _ = records(data.encode())
    (record,) = found
    wanted = {"choices[0].reasoning": "".join(thought), "choices[0].content": "".join(said)}
    assert texts(record) == {field: text for field, text in wanted.items() if text}
    assert record.response_state == ("full" if stop else "partial_stream")
    assert [stop - start for _, _, _, start, stop in record.chunks] == [len(piece) for piece in said if piece]


@pytest.mark.parametrize("back", ["own", "later", ""])
def test_what_came_between_two_chunks_of_one_stream_is_no_stream_of_its_own(back):
    data = "".join(
        f"data: {json.dumps(made)}\n\n"
        for made in (
            chunk("own", "a", role=True),
            chunk("later", "b", role=True),
            chunk("last", "c", role=True),
            *([chunk(back, "d")] if back else []),
        )
    )
    found, _, _ = records(data.encode())
    assert [record.request_id for record in found] == {
        "own": ["own"],
        "later": ["own", "later"],
        "": ["own", "later", "last"],
    }[back]


def test_requests_of_one_capture_without_an_answer_stay_apart():
    asked = "> POST /v1/chat/completions HTTP/1.1\n> x-request-id: r-%d\n> \n"
    found, _, _ = records("".join(asked % number for number in (1, 2)).encode())
    assert [record.request_id for record in found] == ["r-1", "r-2"]


def test_a_stream_whose_chunks_are_of_several_apis_is_put_together():
    made = [
        chunk("a", "1"),
        {"candidates": [{"content": {"parts": [{"text": "2"}]}}]},
        {"type": "response.output_text.delta", "output_index": 0, "delta": "3"},
        {"candidates": [{"content": {"parts": [{"text": "4"}, {"thought": True, "text": "t"}]}}]},
        {"type": "content_block_delta", "index": 1, "delta": {"text": "5"}},
    ]
    (record,), _, _ = records("".join(f"data: {json.dumps(part)}\n\n" for part in made).encode())
    assert sorted("".join(texts(record).values())) == ["1", "2", "3", "4", "5", "t"]


def test_an_error_inside_a_stream_and_an_abort_leave_it_partial():
    broken = f"data: {json.dumps(chunk('a', 'He', role=True))}\n\ndata: {json.dumps({'error': {'message': 'gone'}})}\n\ndata: [DONE]\n\n"
    (record,), _, _ = records(broken.encode())
    assert (record.response_state, record.status, texts(record)) == (
        "partial_stream",
        "error",
        {"choices[0].content": "He"},
    )
    cut = f'data: {json.dumps(chunk("a", "He", role=True))}\n\ndata: {{"id": "a", "cho'
    (record,), context, _ = records(cut.encode())
    assert (record.response_state, texts(record)) == ("partial_stream", {"choices[0].content": "He"})
    assert context.notices == {"unreadable_event": 1}


def test_a_capture_in_transfer_chunks_is_read():
    event = f"data: {json.dumps(chunk('a', 'tide', finish='stop', role=True))}\n\n"
    data = (
        "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nx-request-id: mine\r\n\r\n"
        '{\r\n "model": "m",\r\n "messages": [{"role": "user", "content": "High or low?"}]\r\n}\r\n'
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-Request-Id: theirs\r\n\r\n"
        f"{len(event):x}\r\n{event}\r\ne\r\ndata: [DONE]\n\n\r\n0\r\n\r\n"
    )
    (record,), _, _ = records(data.encode())
    assert texts(record) == {"messages[0].content": "High or low?", "choices[0].content": "tide"}
    assert (record.request_id, record.ids["x-request-id"], record.status) == ("theirs", "mine", "200")


def test_a_request_line_before_the_stream_is_its_prompt(bench):
    asked = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "Ready?"}]}
    lines = ""
    for number in range(2):
        lines += json.dumps({**asked, "messages": [{"role": "user", "content": f"Ready {number}?"}]}) + "\n\n"
        lines += f"data: {json.dumps(chunk(f'c{number}', 'Yes', finish='stop', role=True))}\n\ndata: [DONE]\n\n"
    bench.put("c.log", lines)
    summary = bench.run()
    assert bench.texts("c0") == {"<messages[0].content": "Ready 0?", "choices[0].content": "Yes"}
    assert bench.texts("c1") == {"<messages[0].content": "Ready 1?", "choices[0].content": "Yes"}
    assert summary.figures["files"][0]["format"] == "sse_capture"
    assert summary.figures["rejected"] == 0


def test_lines_of_other_formats_between_streams_are_left_to_them(bench):
    pair = {"request_id": "g", "tenant_id": "t", "request": {"messages": [{"role": "user", "content": "q"}]}}
    stream = f"data: {json.dumps(chunk('c', 'Yes', finish='stop'))}\n\ndata: [DONE]\n\n"
    bench.put("mixed.log", stream + json.dumps(pair) + "\n" + stream.replace('"c"', '"d"') + "no line of any log\n")
    summary = bench.run()
    assert sorted(bench.joined()) == ["c", "d", "g"]
    assert bench.texts("g") == {"<messages[0].content": "q"}
    assert summary.figures["rejected"] == 1


@pytest.mark.parametrize(
    "line", [b"* one\n* two\n* three\n", b"> quoted\n> text\n", b'{"ts": 1, "data": "{\\"request_id\\": 1}"}\n']
)
def test_what_only_looks_like_a_capture_is_none(line):
    assert not any(framing.accepts(part) for part in line.split(b"\n"))


@pytest.mark.parametrize("wrong", ["", "Two masons"], ids=["nothing", "less"])
def test_a_final_event_that_differs_from_the_deltas_is_said(wrong, bench):
    def response(kind: str, **more: Any) -> str:
        return f"event: {kind}\ndata: {json.dumps({'type': kind, **more})}\n\n"

    item = {"id": "m1", "type": "message", "content": [{"type": "output_text", "text": "Two masons."}]}
    final = {"id": "r1", "object": "response", "status": "completed", "output": [item]}
    deltas = response("response.output_text.delta", item_id="m1", output_index=0, content_index=0, delta=wrong)
    bench.put(
        "r.sse",
        response("response.created", response={"id": "r1", "output": []})
        + deltas
        + response("response.completed", response=final),
    )
    summary = bench.run()
    if wrong:
        assert bench.texts("r1") == {"choices[0].content": wrong, "choices[1].content": "Two masons."}
        assert summary.figures["notices"] == {"stream_differs": 1}
    else:
        assert bench.texts("r1") == {"choices[0].content": "Two masons."}
        assert summary.figures["notices"] == {}


def test_a_stream_that_a_limit_cuts_is_said(bench, monkeypatch):
    from forensics.ingest.wrappers import sse

    monkeypatch.setattr(sse, "MOST_LINES", 8)
    head = 'data: {"id": "c1", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": "%s"}}]}\n\n'
    bench.put("stream.txt", "".join(head % word for word in "one two three four five six seven".split()))
    summary = bench.run()
    assert any("captured streams are longer than can be held" in warning for warning in summary.warnings)
    bench.put("short.txt", head % "eight")
    assert summary.figures["notices"]["stream_cut_by_limit"] == 1
