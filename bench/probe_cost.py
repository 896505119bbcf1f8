"""What the slot probe costs an engine's thread, per forward pass, on stand-ins of the engine's objects.

    python bench/probe_cost.py

Steady: a decode step with the rows of the step before. Changing: one row is another in each step. Prefill: 8 prompts of
4,000 tokens in one pass, cache indices in host memory. Bytes are what the probe's thread writes for it.
"""

from __future__ import annotations

import tempfile
import time
from enum import Enum
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from forensics.probe.observer import Observer
from forensics.probe.writer import Writer


class Mode(Enum):
    EXTEND = 1
    DECODE = 2


class Numbers:
    """A list of numbers in host memory, as torch gives it."""

    device = "cpu"

    def __init__(self, values: list[int]) -> None:
        self.values = values

    def tolist(self) -> list[int]:
        return list(self.values)


def request(number: int) -> Any:
    rid = f"{number:032x}"
    return SimpleNamespace(rid=rid, req_pool_idx=number, extra_key=None, cache_salt=None, lora_id=None)


def batch(mode: Mode, requests: list[Any], length: int, places: Any) -> Any:
    slots = Numbers([one.req_pool_idx for one in requests])
    return SimpleNamespace(
        forward_mode=mode, reqs=requests, seq_lens_cpu=Numbers([length] * len(requests)), out_cache_loc=places,
        prefix_lens=[0] * len(requests), req_pool_indices_cpu=slots, forward_iter=None,
    )  # fmt: skip


def measure(name: str, batches: list[Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        writer = Writer(Path(folder), {})
        observer, scheduler = Observer(writer), SimpleNamespace(forward_ct=0, tp_rank=0)
        used = 0.0
        for one in batches:
            began = time.thread_time()
            observer.batch_start(scheduler, one)
            scheduler.forward_ct = one.forward_iter = scheduler.forward_ct + 1
            observer.batch_end(one)
            used += time.thread_time() - began
        writer.flush(30)
        size = sum(path.stat().st_size for path in Path(folder).glob("*"))
    passes, rows = len(batches), len(batches[0].reqs)
    print(f"{name:10} {rows:4} rows  {used / passes * 1e6:7.1f} us/pass  {size / passes:7.0f} bytes/pass")


def main() -> None:
    device = SimpleNamespace(device="cuda:0")
    for rows in (8, 64, 256):
        members = [request(number) for number in range(rows)]
        measure("steady", [batch(Mode.DECODE, members, 1000 + step, device) for step in range(2000)])
        changing = []
        for step in range(300):
            members = [*members[1:], request(rows + step)]
            changing.append(batch(Mode.DECODE, members, 1000, device))
        measure("changing", changing)
    places = Numbers(list(range(32_000)))
    measure("prefill", [batch(Mode.EXTEND, [request(n) for n in range(8)], 4000, places) for _ in range(50)])


if __name__ == "__main__":
    main()
