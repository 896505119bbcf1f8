"""An engine's request log and the KV events it published, written by hand or by a small cache; read as evidence is."""

from __future__ import annotations

import hashlib
import json
import math
import random
from collections.abc import Iterable
from datetime import UTC
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from forensics.case.store import Case
from forensics.ingest.parsers.kv_events import parse
from forensics.ingest.record import EngineEvent, FileContext
from forensics.ingest.run import Parameters as Ingest
from forensics.ingest.run import run as ingest
from forensics.timeline.cache_events import Facts, judge
from forensics.timeline.cache_tree import stream_of
from forensics.timeline.run import Parameters, run

ORIGIN = 1_767_323_045  # 2026-01-02T03:04:05Z


def ids(count: int, seed: int) -> list[int]:
    return random.Random(seed).choices(range(49_000), k=count)


def stamp(second: float) -> str:
    minutes, rest = divmod(5 + second, 60)
    return f"2026-01-02T{3 + (4 + int(minutes)) // 60:02d}:{(4 + int(minutes)) % 60:02d}:{rest:09.6f}"


def hashes(tokens: list[int], salt: str = "", size: int = 1) -> list[int]:
    """As SGLang 0.5.23 documents and publishes them (mem_cache/utils.py)."""
    before = hashlib.sha256(b"sglang-cache-salt-v1\0" + salt.encode()).digest() if salt else b""
    found = []
    for first in range(0, len(tokens) - size + 1, size):
        page = b"".join(token.to_bytes(4, "little") for token in tokens[first : first + size])
        before = hashlib.sha256(before + page).digest()
        found.append(int.from_bytes(before[:8], "big", signed=True))
    return found


class Log:
    """What one engine wrote: `calls` of its request log, and `batches` of KV events by rank."""

    def __init__(self, size: int = 1) -> None:
        self.size = size
        self.calls: list[str] = []
        self._told: list[tuple[str, float, float, list[int] | None, list[int], float, dict[str, Any]]] = []
        self.lines: list[str] = []
        self._seq: dict[int, int] = {}
        self._ranks: set[int] = set()
        self.warnings: tuple[str, ...] = ()

    def call(
        self,
        rid: str,
        second: float,
        prompt: list[int] | str,
        cached: int,
        answer: Iterable[int] | None = (7,),
        took: float = 0.5,
        **keys: Any,
    ) -> None:
        """Two lines, as the engine writes them of a chat; an answer of None was not logged."""
        known = isinstance(prompt, list)
        self._told.append((rid, second, took, prompt if known else None, list(answer or ()), cached, keys))
        obj = {"rid": rid, "text": None if known else prompt, "input_ids": prompt if known else None, **keys}
        meta = {"id": rid, "prompt_tokens": len(prompt), "completion_tokens": 9, "cached_tokens": cached}
        out = {"text": "fine", "meta_info": {**meta, "e2e_latency": took, "finish_reason": {"type": "stop"}}}
        if answer is not None:
            out["output_ids"] = list(answer)
        head = {"rid": rid, "obj": obj}
        self.calls.append(json.dumps({"timestamp": stamp(second), "event": "request.received", **head}))
        if math.isinf(took):
            return
        done = {"timestamp": stamp(second + took), "event": "request.finished", **head, "out": out}
        self.calls.append(json.dumps(done))

    def stored(self, tokens: list[int], known: int = 0, salt: str = "", medium: str = "GPU") -> dict[str, Any]:
        """The event of an insert of which the first `known` blocks were there."""
        blocks = hashes(tokens, salt, self.size)
        return {
            "type": "BlockStored", "block_hashes": blocks[known:], "block_size": self.size, "lora_id": None,
            "parent_block_hash": blocks[known - 1] if known else None, "medium": medium,
        }  # fmt: skip

    def removed(self, tokens: list[int], kept: int = 0, salt: str = "") -> dict[str, Any]:
        blocks = hashes(tokens, salt, self.size)[kept:]
        return {"type": "BlockRemoved", "block_hashes": blocks[::-1], "medium": "GPU"}

    def publish(self, second: float, *events: dict[str, Any], rank: int = 0, seq: int | None = -1) -> None:
        """A batch with the rank's next number, or with this one; None: not recorded."""
        self._ranks.add(rank)
        number = self._seq.get(rank, 0) if seq == -1 else seq
        if number is not None:
            self._seq[rank] = number + 1
        batch = {"host": "w0", "seq": number, "ts": ORIGIN + second, "attn_dp_rank": rank, "events": list(events)}
        if seq is None:
            del batch["seq"]
        self.lines.append(json.dumps(batch))

    def judged(self, watched: float | None = 1000) -> dict[str, dict[str, Any]]:
        """The same of the rows that events judge, and why not of the others, by the functions alone."""
        self._watch(watched)
        context = FileContext("kv.jsonl", UTC)
        rows = [
            (item.blocks.rank, item.at, item.blocks)
            for line in self.lines
            for item in parse(json.loads(line), context)
            if isinstance(item, EngineEvent) and item.blocks is not None and item.at is not None
        ]
        streams = []
        for rank in sorted(self._ranks):
            here = sorted(((at, b) for r, at, b in rows if r == rank), key=lambda row: row[0])
            columns = {
                "at_us": pa.array([at for at, _ in here]), "seq": pa.array([b.seq for _, b in here], pa.int64()),
                "kind": pa.array([b.kind for _, b in here]), "block_size": pa.array([b.size for _, b in here], pa.int32()),
                "medium": pa.array([b.medium for _, b in here], pa.string()),
                "parent": pa.array([b.parent for _, b in here], pa.int64()),
                "blocks": pa.array([list(b.hashes) for _, b in here], pa.list_(pa.int64())),
            }  # fmt: skip
            streams.append(stream_of(pa.table(columns)))
        times = np.array([(at, at + took, at + took) for _, at, took, *_ in self._told])
        micros = np.rint((ORIGIN + np.where(np.isinf(times), 0, times)) * 1e6).astype(np.int64)
        received, at, finished = np.where(np.isinf(times), np.iinfo(np.int64).max, micros).T
        keys = [
            tuple(str(k.get(name, "")) for name in ("cache_salt", "extra_key", "lora_path")) for *_, k in self._told
        ]
        own = np.array([sorted(set(keys)).index(key) for key in keys])
        keyed = np.array([bool(extra or adapter) for _, extra, adapter in keys])
        adapters = np.array([bool(adapter) for *_, adapter in keys])
        cached = np.array([row[5] for row in self._told], dtype=np.float64)
        prompts = np.array([len(row[3] or [0]) for row in self._told], dtype=np.float64)
        whole = all(row[3] is not None for row in self._told)
        facts = Facts(
            received, received, at, finished, own, [salt for salt, *_ in keys], keyed, adapters, cached, prompts, whole
        )
        pieces = [
            (number, *(np.array(part, dtype="<i4").tobytes() for part in (row[3], row[4])))
            for number, row in enumerate(self._told)
            if row[3] is not None
        ]
        found, reasons = judge(streams, lambda: pieces, facts)
        names = [row[0] for row in self._told]
        return {
            name: {
                "kv_events": reasons[number],
                "expected_basis": "kv_events" if number in found else "tokens",
                "expected_tokens": found[number].expected if number in found else None,
                "excess_tokens": found[number].excess if number in found else None,
                "matched": names[found[number].source]
                if number in found and found[number].source is not None
                else None,
            }
            for number, name in enumerate(names)
        }

    def _watch(self, watched: float | None) -> None:
        for rank in self._ranks if watched is not None else ():
            still = {"host": "w0", "seq": None, "ts": ORIGIN + watched, "attn_dp_rank": rank, "events": []}
            self.lines.append(json.dumps(still))

    def hits(self, folder: Path, watched: float | None = 1000) -> dict[str, dict[str, Any]]:
        """cache_hits by the name of the call; the recorder was there until second `watched`."""
        self._watch(watched)
        logs = folder / "logs"
        logs.mkdir()
        (logs / "w0.log").write_text("\n".join(self.calls) + "\n")
        (logs / "kv.jsonl").write_text("".join(line + "\n" for line in self.lines))
        with Case.create(folder / "case") as case:
            ingest(case, Ingest((logs,)))
            self.warnings = run(case, Parameters()).warnings
            names = {row["request"]: row["request_id"] for row in case.table("joined_requests").to_pylist()}
            found = case.table("cache_hits").to_pylist()
        for row in found:
            row["matched"] = names.get(row["matched_request"])
        return {names[row["request"]]: row for row in found}
