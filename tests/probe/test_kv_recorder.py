"""What the recorder writes of a batch, and that ingest reads it. The sockets are tried with a real engine."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC
from typing import Any

import pytest

from forensics.ingest.parsers import kv_events
from forensics.ingest.record import FileContext
from forensics.probe.kv_recorder import line

MAP = {
    "type": "BlockStored", "block_hashes": [1, -2], "parent_block_hash": None, "token_ids": [11, 12], "block_size": 1,
    "lora_id": None, "medium": "GPU", "cache_salt": "s3cret",
}  # fmt: skip
ARRAY = ["BlockStored", [1, -2], None, [11, 12], 1, None, "GPU", {"cache_salt": "s3cret"}]


@pytest.mark.parametrize("event", [MAP, ARRAY], ids=["map", "array"])
def test_a_batch_is_a_line_without_tokens_or_salts(event: Any) -> None:
    written = line(7, [1772600767.5, [event, ["BlockRemoved", [5], "GPU"], ["AllBlocksCleared"]], 2])
    assert written.endswith(b"\n") and written.count(b"\n") == 1
    assert b"token" not in written and b"s3cret" not in written
    batch = json.loads(written)
    digest = "sha256:" + hashlib.sha256(b"s3cret").hexdigest()[:16]
    stored = {"type": "BlockStored", "block_hashes": [1, -2], "block_size": 1, "medium": "GPU", "cache_salt": digest}
    removed = {"type": "BlockRemoved", "block_hashes": [5], "medium": "GPU"}
    assert batch["events"] == [stored, removed, {"type": "AllBlocksCleared"}]
    assert (batch["seq"], batch["ts"], batch["attn_dp_rank"]) == (7, 1772600767.5, 2)
    first, *_ = kv_events.parse(batch, FileContext("kv.jsonl", UTC))
    assert list(first.blocks.hashes) == [1, -2] and (first.blocks.seq, first.blocks.salt) == (7, digest)


def test_a_line_without_events_says_until_when_nothing_was_missed() -> None:
    batch = json.loads(line(None, [1772600767.5, [], 0]))
    assert kv_events.accepts(batch)
    (seen,) = kv_events.parse(batch, FileContext("kv.jsonl", UTC))
    assert (seen.kind, seen.at, seen.blocks.seq) == ("kv_seen", 1772600767500000, None)
