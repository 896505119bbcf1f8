"""SGLang with two injected faults, started like `python -m sglang.launch_server`. For recording logs with ground truth.

Rows: every ROWS-th request that decodes beside another one attends to that one's KV rows as well as its own, as after
a slot that was handed out twice. Streams: every STREAMS-th pair of requests whose text arrives together gets each
other's text (`swap`) or the second one's text mixed into the first (`mix`), as after a mix-up in the response path.

FAULT_ROWS, FAULT_STREAMS: the two numbers, 0 for never. FAULT_LOG: a file of JSON lines, one per victim of the first
fault and one per foreign piece of text of the second, with the place in the victim's answer. Runs in the engine's own
environment; knows nothing of the toolkit.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from sglang.srt.layers.attention import torch_native_backend
from sglang.srt.managers import tokenizer_manager

ROWS, STREAMS = int(os.environ.get("FAULT_ROWS", "0")), int(os.environ.get("FAULT_STREAMS", "0"))
LOG = os.environ.get("FAULT_LOG", "faults.jsonl")


def note(**facts: Any) -> None:
    """One line of the fault log."""
    with Path(LOG).open("a", encoding="utf-8") as file:
        file.write(json.dumps({**facts, "at": time.time()}) + "\n")


class Rows:
    """The slot fault, in the scheduler's process."""

    def __init__(self) -> None:
        self.seen: set[str] = set()
        self.borrowed: dict[str, Any] = {}
        self.decode = torch_native_backend.TorchNativeAttnBackend.forward_decode

    def __call__(self, backend: Any, q: Any, k: Any, v: Any, layer: Any, batch: Any, *rest: Any, **more: Any) -> Any:
        rids = batch.rids or []
        table = backend.req_to_token_pool.req_to_token
        if layer.layer_id == 0 and len(rids) > 1:
            for place, rid in enumerate(rids):
                if rid in self.seen:
                    continue
                self.seen.add(rid)
                other = (place + 1) % len(rids)
                if len(self.seen) % ROWS == 0 and rids[other] not in self.borrowed:
                    length = int(batch.seq_lens[other]) - 1
                    self.borrowed[rid] = table[batch.req_pool_indices[other], :length].clone()
                    note(fault="rows", victim=rid, source=rids[other])
        kept = []
        for place, rid in enumerate(rids):
            if rid in self.borrowed:
                row, source = batch.req_pool_indices[place], self.borrowed[rid]
                length = min(len(source), int(batch.seq_lens[place]) - 1)
                kept.append((row, length, table[row, :length].clone()))
                table[row, :length] = source[:length]
        try:
            return self.decode(backend, q, k, v, layer, batch, *rest, **more)
        finally:
            for row, length, own in kept:
                table[row, :length] = own


class Streams:
    """The response-path fault, in the process that hands texts to clients."""

    def __init__(self) -> None:
        self.handle = tokenizer_manager.TokenizerManager._handle_batch_output
        self.partner: dict[str, tuple[str, str]] = {}
        self.known: set[str] = set()
        self.lengths: dict[str, int] = {}
        self.count = 0

    async def __call__(self, manager: Any, output: Any) -> None:
        texts = getattr(output, "output_strs", None)
        if texts:
            self.cross(output.rids, texts)
        await self.handle(manager, output)

    def cross(self, rids: list[str], texts: list[str]) -> None:
        """Hand texts to the wrong ones, and write down which part of which answer is foreign."""
        fresh = [rid for rid in rids if rid not in self.known]
        self.known.update(rids)
        if fresh and len(rids) > 1:
            self.count += 1
            if self.count % STREAMS == 0:
                first = fresh[0]
                second = next(rid for rid in rids if rid != first)
                if second not in self.partner:
                    way = "swap" if self.count // STREAMS % 2 else "mix"
                    self.partner[first] = (second, way)
                    if way == "swap":
                        self.partner[second] = (first, way)
        given = dict(zip(rids, texts, strict=True))
        for place, rid in enumerate(rids):
            source, way = self.partner.get(rid, ("", ""))
            foreign = given.get(source, "") if source else ""
            start = self.lengths.get(rid, 0)
            if source in given and way == "swap":
                texts[place] = foreign
            elif foreign and way == "mix":
                texts[place] = given[rid] + foreign
                start += len(given[rid])
            if foreign:
                note(fault="streams", way=way, victim=rid, source=source, start=start, end=start + len(foreign))
            self.lengths[rid] = self.lengths.get(rid, 0) + len(texts[place])


if ROWS:
    rows = Rows()
    torch_native_backend.TorchNativeAttnBackend.forward_decode = lambda *a, **k: rows(*a, **k)
if STREAMS:
    streams = Streams()
    tokenizer_manager.TokenizerManager._handle_batch_output = lambda manager, output: streams(manager, output)

if __name__ == "__main__":
    from sglang.launch_server import run_server
    from sglang.srt.server_args import prepare_server_args

    run_server(prepare_server_args(sys.argv[1:]))
