"""Writes down what SGLang publishes of its prefix cache (`--kv-events-config`), one JSON line per batch.

    python -m sglang_slot_probe.kv_recorder FOLDER tcp://127.0.0.1:5557 [tcp://127.0.0.1:5558 ...]

One address per data-parallel rank. Start it before the engine: what was published before is not known. Every line has
the batch's number (`seq`), so that losses and restarts show; a line without events every ten seconds says that it was
still there. Token ids are left out and salts are digests, but the hashes of pages of one token can be turned back into
tokens by trying all: the files are as secret as prompts. Needs pyzmq and msgspec, which come with SGLang.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import socket
import time
from pathlib import Path
from typing import Any

KEPT = ("block_hashes", "parent_block_hash", "block_size", "lora_id", "medium", "lora_name", "session_id")
FIELDS = ("type", "block_hashes", "parent_block_hash", "token_ids", "block_size", "lora_id", "medium")
SHORT = ("type", "block_hashes", "medium")
STILL_THERE = 10.0  # seconds
MOST_BYTES = 256_000_000  # then the next file is begun


def event(value: Any) -> dict[str, Any]:
    """An event as a map without token ids; older engines publish arrays."""
    if isinstance(value, list):
        names = FIELDS if value[0] == "BlockStored" else SHORT
        extra = value[-1] if isinstance(value[-1], dict) else {}
        value = {**dict(zip(names, value)), **extra}  # noqa: B905
    told = {"type": value["type"], **{key: value[key] for key in KEPT if value.get(key) is not None}}
    if value.get("cache_salt"):
        told["cache_salt"] = "sha256:" + hashlib.sha256(value["cache_salt"].encode()).hexdigest()[:16]
    return told


def line(seq: int | None, batch: Any) -> bytes:
    """A batch `[ts, events, rank]` as a line."""
    rank = batch[2] if len(batch) > 2 else None
    facts = {"host": socket.gethostname(), "seq": seq, "ts": batch[0], "attn_dp_rank": rank}
    return json.dumps({**facts, "events": [event(one) for one in batch[1]]}, separators=(",", ":")).encode() + b"\n"


def record(folder: Path, addresses: list[str]) -> None:
    """Write until interrupted."""
    import msgspec
    import zmq

    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    context, poller = zmq.Context(), zmq.Poller()
    files: dict[Any, int] = {}
    ranks: dict[Any, int | None] = {}
    for address in addresses:
        source = context.socket(zmq.SUB)
        source.setsockopt(zmq.RCVHWM, 0)  # what is not read yet waits in memory
        source.setsockopt(zmq.SUBSCRIBE, b"")
        source.connect(address)
        poller.register(source, zmq.POLLIN)
    said = time.monotonic()
    while True:
        told = []
        for source, _ in poller.poll(1000):
            *_, seq, payload = source.recv_multipart()
            batch = msgspec.msgpack.decode(payload)
            ranks[source] = batch[2] if len(batch) > 2 else None
            told.append((source, line(int.from_bytes(seq, "big"), batch)))
        if not told and time.monotonic() - said > STILL_THERE:
            said = time.monotonic()
            told = [(source, line(None, [time.time(), [], rank])) for source, rank in ranks.items()]
        for source, data in told:
            if source not in files or os.fstat(files[source]).st_size > MOST_BYTES:
                if source in files:
                    os.close(files[source])
                name = f"kv-{socket.gethostname()}-{ranks[source] or 0}-{time.time_ns()}.jsonl"
                files[source] = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            os.write(files[source], data)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("addresses", nargs="+", metavar="address")
    given = parser.parse_args()
    record(given.folder, given.addresses)
