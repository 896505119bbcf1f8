"""KV cache events: which blocks are kept, in which form, and what is made of hostile ones."""

from __future__ import annotations

import json
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

from forensics.case.store import Case
from forensics.ingest.lines import LineReader
from forensics.ingest.parsers import kv_events
from forensics.ingest.record import EngineEvent, FileContext, Reject
from forensics.ingest.run import Parameters, run


def context() -> FileContext:
    return FileContext("kv.jsonl", UTC)


def table(tmp_path: Path, *lines: Any) -> list[dict[str, Any]]:
    path = tmp_path / "kv.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with Case.create(tmp_path / "case") as case:
        run(case, Parameters((path,)))
        return sorted(case.table("kv_events").to_pylist(), key=lambda row: (row["byte_offset"], row["ordinal"]))


STORED = {
    "type": "BlockStored",
    "block_hashes": [11, -12],
    "parent_block_hash": 10,
    "token_ids": [1, 2],
    "block_size": 1,
}


def test_a_batch_keeps_its_blocks_in_their_order_and_no_token(tmp_path: Path) -> None:
    (stored, removed, cleared) = table(
        tmp_path,
        {
            "seq": 5, "ts": 1772600767.5, "attn_dp_rank": 3, "host": "gpu-7",
            "events": [
                {**STORED, "medium": "GPU", "cache_salt": "s3cret", "session_id": "of alpha", "lora_name": "alpha-7"},
                {"type": "BlockRemoved", "block_hashes": [9], "medium": "CPU_PINNED"},
                {"type": "AllBlocksCleared"},
            ],
        },
    )  # fmt: skip
    assert (stored["worker"], stored["dp_rank"], stored["seq"], stored["kind"]) == ("gpu-7", 3, 5, "blocks_stored")
    assert (stored["blocks"], stored["parent"], stored["block_size"], stored["medium"]) == ([11, -12], 10, 1, "GPU")
    assert (removed["kind"], removed["blocks"], removed["medium"]) == ("blocks_removed", [9], "CPU_PINNED")
    assert (cleared["kind"], cleared["blocks"], cleared["ordinal"]) == ("cache_flush", None, 2)
    keys = {stored[name] for name in ("salt", "adapter", "session")}
    assert len(keys) == 3 and all(len(key) == 16 and int(key, 16) >= 0 for key in keys)


def test_arrays_of_older_engines_give_the_same_rows_as_maps(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "m").mkdir()
    array = ["BlockStored", [11, -12], 10, [1, 2], 1, None, "GPU", {"cache_salt": "s"}]
    arrays = table(tmp_path / "a", [1772600767.5, [array, ["BlockRemoved", [9], "GPU"], ["AllBlocksCleared"]], 1])
    maps = table(
        tmp_path / "m",
        {
            "ts": 1772600767.5, "attn_dp_rank": 1,
            "events": [{**STORED, "medium": "GPU", "cache_salt": "s"}, {"type": "BlockRemoved", "block_hashes": [9], "medium": "GPU"}, {"type": "AllBlocksCleared"}],
        },
    )  # fmt: skip
    assert arrays == maps and len(maps) == 3


def test_pages_that_follow_each_other_are_one_event() -> None:
    pages = [{**STORED, "block_hashes": [i], "parent_block_hash": i - 1 or None} for i in range(1, 1001)]
    pages += [{"type": "BlockRemoved", "block_hashes": [i]} for i in range(5)]
    stored, removed = kv_events.parse({"ts": 1772600767.5, "events": pages}, context())
    assert list(stored.blocks.hashes) == list(range(1, 1001)) and stored.blocks.parent is None
    assert stored.counts == {"blocks": 1000, "tokens": 2000, "block_size": 1}
    assert (stored.attributes["first_block"], stored.attributes["last_block"]) == ("1", "1000")
    assert list(removed.blocks.hashes) == list(range(5))


@pytest.mark.parametrize(
    "change",
    [{"parent_block_hash": 99}, {"cache_salt": "b"}, {"block_size": 2}, {"medium": "DISK"}, {"session_id": "b"}],
    ids=lambda change: next(iter(change)),
)
def test_pages_of_another_prompt_key_or_medium_are_an_event_of_their_own(change: dict[str, Any]) -> None:
    pages = [STORED, {**STORED, "block_hashes": [13], "parent_block_hash": -12, **change}]
    assert len(kv_events.parse({"ts": 1772600767.5, "events": pages}, context())) == 2


def test_hashes_of_other_engines_are_kept_as_digests_that_tell_them_apart() -> None:
    hashes = ["ab", "AB", 1 << 63, (1 << 64) - 1, -(1 << 63)]
    (event,) = kv_events.parse({**STORED, "block_hashes": hashes}, context())
    assert len(set(event.blocks.hashes)) == 5 and event.blocks.hashes[4] == -(1 << 63)


@pytest.mark.parametrize(
    "value",
    [
        {**STORED, "block_hashes": [None]}, {**STORED, "block_hashes": [[1]]}, {**STORED, "block_hashes": [1.5]},
        {**STORED, "block_hashes": [True]}, {**STORED, "block_hashes": [10**400]}, {**STORED, "block_hashes": {}},
        ["BlockStored"], ["BlockStored", "x"], [["BlockStored"]], [None], ["BlockRemoved", {"a": 1}], 7, None, "x", [],
    ],
    ids=lambda value: str(value)[:24],
)  # fmt: skip
def test_a_bad_entry_is_counted_and_the_others_of_its_batch_are_read(value: Any) -> None:
    where = context()
    found = kv_events.parse({"ts": 1772600767.5, "events": [STORED, value]}, where)
    assert [event.blocks.hashes[0] for event in found] == [11] and where.notices == {"unreadable_entry": 1}


@pytest.mark.parametrize(
    "change",
    [
        {"ts": float("nan")}, {"ts": "soon"}, {"ts": [1]}, {"seq": -1}, {"seq": True}, {"seq": 10**30}, {"host": "a b\n"},
        {"host": 7}, {"attn_dp_rank": -3}, {"attn_dp_rank": "0"}, {"events": [{**STORED, "block_size": -1}]},
        {"events": [{**STORED, "medium": "x" * 999}]}, {"events": [{**STORED, "parent_block_hash": {}}]},
        {"events": [{**STORED, "token_ids": "abc", "cache_salt": [1], "lora_id": {"a": "b"}}]},
    ],
    ids=lambda change: str(change)[:24],
)  # fmt: skip
def test_a_bad_fact_is_unknown(change: dict[str, Any]) -> None:
    batch = {"ts": 1772600767.5, "seq": 3, "host": "h", "attn_dp_rank": 0, "events": [STORED], **change}
    (event,) = kv_events.parse(batch, context())
    assert isinstance(event, EngineEvent) and event.blocks is not None and list(event.blocks.hashes) == [11, -12]
    known = (event.at, event.blocks.seq, event.worker, event.blocks.rank, event.blocks.size, event.blocks.parent)
    assert known != (1772600767500000, 3, "h", 0, 1, 10) or "medium" in str(change) or "token_ids" in str(change)


@pytest.mark.parametrize("line", [b"[1, 2, 3]", b"[1, [], 0]", b'[1, ["a"]]', b"[[], []]", b'["Other", [1]]', b"[]]"])
def test_an_array_that_is_no_batch_is_no_record(line: bytes) -> None:
    with pytest.raises(Reject):
        LineReader("kv_events", context()).read(line)
