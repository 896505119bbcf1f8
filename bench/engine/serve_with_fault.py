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
    """The response-path fault, in the process that hands texts to clients.

    Texts arrive in pieces, for one request at a time or for several. What arrives for a partner waits in `held` until
    the victim's own next piece, so that the client sees one stream.
    """

    def __init__(self) -> None:
        self.handle = tokenizer_manager.TokenizerManager._handle_batch_output
        self.live: dict[str, None] = {}
        self.known: set[str] = set()
        self.givers: dict[str, tuple[str, str]] = {}  # source -> (victim, way)
        self.swapped: set[str] = set()
        self.held: dict[str, tuple[str, str]] = {}  # victim -> (text, source)
        self.lengths: dict[str, int] = {}
        self.count = 0

    async def __call__(self, manager: Any, output: Any) -> None:
        texts = getattr(output, "output_strs", None)
        if texts:
            for place, rid in enumerate(output.rids):
                texts[place] = self.cross(rid, texts[place])
                if output.finished_reasons[place] is not None:
                    self.live.pop(rid, None)
        await self.handle(manager, output)

    def cross(self, rid: str, text: str) -> str:
        """What the client of `rid` gets in place of `text`; writes down which part of its answer is foreign."""
        if rid not in self.known:
            self.known.add(rid)
            self.count += 1
            others = [other for other in self.live if other not in self.givers]
            if others and self.count % STREAMS == 0:
                self.pair(rid, others[-1], "swap" if self.count // STREAMS % 2 else "mix")
            self.live[rid] = None
        victim, way = self.givers.get(rid, ("", ""))
        if victim in self.live:
            self.held[victim] = (self.held.get(victim, ("", rid))[0] + text, rid)
        own = "" if rid in self.swapped else text
        foreign, source = self.held.pop(rid, ("", ""))
        start = self.lengths.get(rid, 0) + len(own)
        if foreign:
            way = "swap" if rid in self.swapped else "mix"
            note(fault="streams", way=way, victim=rid, source=source, start=start, end=start + len(foreign))
        self.lengths[rid] = start + len(foreign)
        return own + foreign

    def pair(self, first: str, second: str, way: str) -> None:
        """From now on `second` gets what is meant for `first`, and the other way round if they are swapped."""
        self.givers[first] = (second, way)
        if way == "swap":
            self.givers[second] = (first, way)
            self.swapped |= {first, second}


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
