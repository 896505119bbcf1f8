"""Hooks the record of forward passes and all faults into an engine; which one may happen, `FAULT_SWITCH` says."""

from __future__ import annotations

import os
import sys
from multiprocessing import current_process
from typing import Any

from sglang.srt.plugins.hook_registry import HookRegistry, HookType

from .front import DuplicateRid, Random, Shifted
from .prefixes import CrossSalt, Poisoned
from .record import Forwards
from .slots import StaleRow

_BACKEND = "sglang.srt.layers.attention.torch_native_backend.TorchNativeAttnBackend"
_POOL = "sglang.srt.mem_cache.memory_pool.ReqToTokenPool"
_TREE = "sglang.srt.mem_cache.unified_radix_cache.UnifiedRadixCache"
_SCHEDULER = "sglang.srt.managers.scheduler.Scheduler"
_FRONT = "sglang.srt.managers.tokenizer_manager.TokenizerManager"


def register() -> None:
    """Entry point. Does nothing where no record is asked for."""
    if not os.environ.get("FAULT_LOG"):
        return
    if "sglang.srt.managers.scheduler" in sys.modules:
        _scheduler_side()
    if current_process().name == "MainProcess":
        _front_side()


def _scheduler_side() -> None:
    before, after, around = HookType.BEFORE, HookType.AFTER, HookType.AROUND
    forwards, rows, salts, poisoned, twins = Forwards(), StaleRow(), CrossSalt(), Poisoned(), DuplicateRid()

    def begins(mode: str) -> Any:
        def hook(backend: Any, q: Any, k: Any, v: Any, layer: Any, batch: Any, *_: Any, **__: Any) -> None:
            if layer.layer_id == 0:
                forwards.see(mode, batch)
                poisoned.pass_begins(backend, batch)

        return hook

    hook = HookRegistry.register
    hook(f"{_SCHEDULER}.on_idle", lambda *_, **__: forwards.end(), before)
    hook(f"{_BACKEND}.forward_extend", begins("prefill"), before)
    hook(f"{_BACKEND}.forward_decode", rows.attend, around)
    hook(f"{_BACKEND}.forward_decode", begins("decode"), before)
    hook(f"{_POOL}.alloc", rows.taken, after)
    for fault in (rows, poisoned, twins):
        hook(f"{_POOL}.free", fault.freed, before)
    hook(f"{_TREE}.checkpoint", salts.stored, after)
    hook(f"{_TREE}.match_prefix", salts.lookup, before)
    hook(f"{_SCHEDULER}.run_batch", salts.batched, before)
    hook(f"{_SCHEDULER}.flush_cache", poisoned.flushed, after)
    hook(f"{_SCHEDULER}._add_request_to_queue", twins.added, before)


def _front_side() -> None:
    twins, leaks = DuplicateRid(), Random()
    HookRegistry.register(f"{_FRONT}.generate_request", Shifted().generate, HookType.AROUND)
    HookRegistry.register(f"{_FRONT}._init_req_state", twins.entered, HookType.BEFORE)
    HookRegistry.register(f"{_FRONT}._init_req_state", leaks.entered, HookType.BEFORE)
    HookRegistry.register(f"{_FRONT}._handle_batch_output", leaks.output, HookType.BEFORE)
