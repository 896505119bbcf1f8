"""Every byte is counted once, whatever the bytes are; and nothing a file holds stops the reading."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.case.errors import NothingReadable
from forensics.ingest.blocks import Oversized, plain_blocks, stream_blocks
from forensics.ingest.documents import document_blocks
from forensics.ingest.streams import Limits
from forensics.ingest.worker import Block, FileFacts, read_block

SEEDS = [
    json.dumps(
        {
            "request_id": "g-1",
            "tenant_id": "t",
            "timestamp": "2026-03-04T05:06:07Z",
            "request": {"messages": [{"role": "user", "content": "häl\u4f60o"}], "tools": [{"a": 1}]},
            "response": {
                "choices": [
                    {"message": {"content": "yes", "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]}}
                ]
            },
        }
    ),
    json.dumps(
        {
            "req": {"prompt": ["a", "b"], "headers": {"x-request-id": "9"}},
            "res": {"id": "c", "choices": [{"text": "x"}]},
            "latency_ms": 4.5,
        }
    ),
    '[2026-01-02 03:04:05] {"timestamp":"2026-01-02T03:04:05.6","event":"request.finished","rid":"r1","obj":{"text":"p"},"out":{"text":"o","meta_info":{"id":"r1","finish_reason":{"type":"stop"},"e2e_latency":1.0}}}',
    "[2026-01-02 03:04:05] Finish: obj=GenerateReqInput(rid='r1', text='a' ... 'b', input_ids=[1, 2]), out={'text': 'x\\n', 'meta_info': {'id': 'r1', 'finish_reason': None}}",
    "[2026-01-02 03:04:05 TP0] Decode batch, #running-req: 5",
]


def facts(format_name: str, most: int = 1 << 20) -> FileFacts:
    return FileFacts("node_0.log", format_name, False, "UTC", "node_0", most)


def mutate(line: bytes, random_: random.Random) -> bytes:
    data = bytearray(line)
    for _ in range(random_.randint(0, 4)):
        at = random_.randrange(len(data) + 1)
        match random_.randrange(6):
            case 0:
                del data[at : at + random_.randint(1, 20)]
            case 1:
                data[at:at] = bytes(random_.randrange(256) for _ in range(random_.randint(1, 5)))
            case 2:
                data[at:at] = random_.choice(
                    [b"\n", b"\r\n", b"\0", b"\xff", b"\\ud800", b"NaN", b"{", b"]", b'"', b"1e999", b"'"]
                )
            case 3:
                data[at:at] = data[: random_.randint(0, 40)]
            case 4:
                del data[at:]
            case _:
                data[at:at] = random_.choice([b"[" * 3000, b'{"a":' * 1200, b"null", b"true", b"-1"])
    return bytes(data)


def balance(data: bytes, format_name: str, most: int = 1 << 20) -> None:
    result = read_block(Block(facts(format_name, most), 0, data=data, last=True))
    assert result.record_bytes + result.rejected_bytes + result.blank_bytes + result.structure_bytes == len(data)
    assert result.records + result.rejected + result.blank + result.structure == result.lines
    assert result.tables["rejects"].num_rows == result.rejected
    offsets = result.tables["records"]["byte_offset"].to_pylist()
    lengths = result.tables["records"]["byte_length"].to_pylist()
    assert all(at == 0 or data[at - 1 : at] == b"\n" for at in offsets)
    assert all(at + length <= len(data) for at, length in zip(offsets, lengths, strict=True))


@pytest.mark.parametrize("format_name", ["house", "openai_pair", "sglang_json", "sglang_text"])
def test_a_thousand_mutated_lines_reconcile(format_name):
    random_ = random.Random(7)
    lines = [mutate(random_.choice(SEEDS).encode(), random_) for _ in range(1000)]
    balance(b"\n".join(lines), format_name)


@given(
    st.lists(
        st.one_of(
            st.binary(max_size=80),
            st.text(max_size=80).map(lambda t: t.encode("utf-8", "surrogatepass")),
            st.sampled_from([s.encode() for s in SEEDS]),
        ),
        max_size=12,
    ),
    st.booleans(),
)
@settings(max_examples=150, deadline=None)
def test_any_bytes_reconcile(lines, ended):
    balance(b"\n".join(lines) + (b"\n" if ended else b""), "house", most=400)


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "request_id",
                    "request",
                    "response",
                    "messages",
                    "choices",
                    "message",
                    "content",
                    "tool_calls",
                    "function",
                    "usage",
                    "headers",
                    "metadata",
                    "timestamp",
                    "event",
                    "obj",
                    "out",
                    "meta_info",
                    "rid",
                    "text",
                    "finish_reason",
                    "status",
                    "tenant",
                    "id",
                    "created",
                ]
            ),
            inner,
            max_size=6,
        )
    ),
    max_leaves=25,
)


@given(
    st.dictionaries(
        st.sampled_from(
            [
                "request_id",
                "request",
                "response",
                "timestamp",
                "event",
                "rid",
                "obj",
                "out",
                "headers",
                "tenant_id",
                "messages",
                "choices",
                "user",
                "usage",
                "input",
                "output",
                "latency_ms",
            ]
        ),
        _json,
        max_size=8,
    ),
    st.sampled_from(["request.received", "request.finished", "request.received.openai", None]),
)
@settings(max_examples=300, deadline=None)
def test_any_shape_of_object_is_a_record_or_a_named_reject(value, event):
    if event:
        value["event"] = event
    result = read_block(Block(facts("house"), 0, data=json.dumps(value).encode(), last=True))
    assert result.records + result.rejected + result.structure == 1
    assert "parser_error" not in result.reasons


@given(st.lists(st.integers(0, 60), max_size=40), st.integers(1, 50), st.booleans())
@settings(max_examples=100, deadline=None)
def test_blocks_cover_the_file_without_gap(tmp_path_factory, sizes, block_bytes, ended):
    path = tmp_path_factory.mktemp("b") / "f"
    data = b"\n".join(b"x" * size for size in sizes) + (b"\n" if ended else b"")
    path.write_bytes(data)
    position = 0
    for item in plain_blocks(path, len(data), facts("house", 30), block_bytes):
        assert item.offset == position
        if isinstance(item, Oversized):
            assert item.length > 30
        else:
            assert item.offset == 0 or data[item.offset - 1 : item.offset] == b"\n"
        position += item.length
    assert position == len(data)


def test_an_oversized_line_is_passed_over_and_the_rest_read(bench):
    good = '{"request_id":"a"}\n'
    data = good + '{"request_id":"' + "b" * 5000 + '"}\n' + good.replace("a", "c")
    bench.put("g.jsonl", data)
    summary = bench.run(max_line_bytes=1000)
    assert summary.figures["files"][0]["reasons"] == {"oversized_line": 1}
    row = bench.rows("rejects", "byte_offset")[0]
    assert (row["byte_offset"], row["length"], row["line"]) == (len(good), 5018, 2)
    assert sorted(bench.joined()) == ["a", "c"]


@pytest.mark.parametrize("compression", ["none", "gzip"])
def test_a_line_far_over_the_limit_is_never_held(tmp_path: Path, compression):
    import gzip

    first, last = b'{"request_id":"a"}\n', b'{"request_id":"c"}\n'
    data = first + b"z" * 3_000_000 + b"\n" + last
    path = tmp_path / "f"
    path.write_bytes(data if compression == "none" else gzip.compress(data))
    one = facts("house", 50_000)
    if compression == "none":
        found = list(plain_blocks(path, len(data), one, 10_000))
    else:
        found = list(stream_blocks(path, compression, Limits(10**9, 1 << 40), one, 10_000))
    big = [item for item in found if isinstance(item, Oversized)]
    assert [(item.offset, item.length, item.reason) for item in big] == [(len(first), 3_000_001, "oversized_line")]
    assert sum(read_block(item).records for item in found if isinstance(item, Block)) == 2


def test_reject_reasons(bench):
    lines = [
        b'{"request_id": "ok"}',
        b'{"request_id": "\xff"}',
        b"{broken",
        b"[1, 2]",
        b'"text"',
        b'{"request": {"messages": []}}',
        b'{"request_id": "deep", "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b"   ",
        b'{"request_id": "nan", "x": NaN}',
        b'{"request_id": "half \\ud83d", "tenant_id": "t\\ud83d\\ude00"}',
        b'{"request_id": "cut',
    ]
    bench.put("g.jsonl", b"\n".join(lines))
    summary = bench.run()
    file = summary.figures["files"][0]
    assert file["reasons"] == {
        "bad_utf8": 1,
        "bad_json": 1,
        "not_an_object": 2,
        "no_id": 1,
        "too_deep": 1,
        "cut_last_line": 1,
    }
    assert (file["records"], file["blank"]) == (3, 1)
    assert bench.joined()["half \ufffd"]["tenant_id"] == "t\U0001f600"
    assert summary.figures["notices"] == {"lenient_json": 1, "lone_surrogate": 1}
    assert [row["line"] for row in bench.rows("rejects", "line")] == [2, 3, 4, 5, 6, 7, 11]


@pytest.mark.parametrize(
    ("data", "records"),
    [
        ('[{"request_id":"a"},{"request_id":"b"}]', 2),
        ('[\n{"request_id":"a"},\n{"request_id":"b"}\n]\n', 2),
        ('{\n  "request_id": "a",\n  "tenant_id": "t"\n}\n', 1),
        ('{\n  "request_id": "a"\n}\n{\n  "request_id": "b"\n}\n', 2),
        ('\ufeff{"request_id":"a"}\n{"request_id":"b"}\n', 2),
        ('{"request_id":"a"}\r\n\r\n{"request_id":"b"}', 2),
        ('{\n{"request_id":"a"}\n{"request_id":"b"}\n', 2),
    ],
    ids=["array", "array-lines", "pretty", "pretty-twice", "bom", "crlf", "stray-brace"],
)
def test_shapes_of_json_files(bench, data, records):
    bench.put("g.json", data)
    summary = bench.run()
    assert summary.figures["records"] == records
    row = bench.rows("evidence", "evidence")[0]
    assert row["record_bytes"] + row["rejected_bytes"] + row["blank_bytes"] + row["structure_bytes"] == len(
        data.encode()
    )
    raw = data.encode()
    for request in bench.rows("requests", "key"):
        piece = raw[request["byte_offset"] : request["byte_offset"] + request["byte_length"]]
        assert json.loads(piece.decode("utf-8-sig"))["request_id"] == request["request_id"]


@given(
    st.binary(max_size=200)
    | st.lists(
        st.sampled_from([b"{", b"}", b"[", b"]", b",", b'"a"', b":", b"1", b"\n", b" ", b'{"request_id":"a"}']),
        max_size=30,
    ).map(b"".join)
)
@settings(max_examples=200, deadline=None)
def test_documents_reconcile(data):
    end = 0
    for block in document_blocks(data, facts("house")):
        assert block.offset == end and block.data is not None
        end += len(block.data)
        read_block(block)  # asserts its own balance
    assert end == len(data)


def test_a_folder_of_junk_is_counted_and_refused(bench):
    bench.put("a.bin", bytes(range(256)) * 40)
    bench.put("b.txt", "hello\nworld\n")
    bench.put("c.7z", b"7z\xbc\xaf\x27\x1c" + b"\0" * 50)
    bench.put("empty", b"")
    bench.put("sub/package.json", '{\n "name": "x"\n}\n')
    with pytest.raises(NothingReadable):
        bench.run()
    assert {(row["reason"], row["line"]) for row in bench.rows("rejects", "line")} == {
        ("binary", 1),
        ("bad_json", 1),
        ("bad_json", 2),
        ("unsupported_container", 1),
        ("no_id", 1),
    }
    rows = bench.rows("evidence", "name")
    assert {row["format"] for row in rows} == {"unknown"}
    assert len(rows) == 5
    assert all(
        row["rejected_bytes"] + row["blank_bytes"] + row["structure_bytes"] == row["content_bytes"] for row in rows
    )
    assert {row["name"] for row in rows} == {
        "evidence/a.bin",
        "evidence/b.txt",
        "evidence/c.7z",
        "evidence/empty",
        "evidence/sub/package.json",
    }


def test_max_rejects(bench):
    bench.put("g.jsonl", '{"request_id":"a"}\nx\ny\n')
    bench.run(max_rejects=2)
    with pytest.raises(NothingReadable):
        bench.run(max_rejects=1)


def test_records_behind_megabytes_of_zeros_are_found(bench):
    """A file that a crash left full of zeros is no binary file while records stand in it."""
    bench.put("g.jsonl", b"\0" * (6 << 20) + b"\n" + b'{"request_id":"a","tenant_id":"t"}\n' * 3)
    summary = bench.run()
    file = summary.figures["files"][0]
    assert (file["format"], file["records"], file["rejected"]) == ("house", 3, 1)
