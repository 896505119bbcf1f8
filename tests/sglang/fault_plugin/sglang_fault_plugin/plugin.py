"""Hooks the fault that `FAULT` names into an engine, and the record of forward passes in any case. FAULT=clean: none."""

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
    """Entry point."""
    fault = os.environ.get("FAULT")
    if not fault:
        return
    if "sglang.srt.managers.scheduler" in sys.modules:
        _scheduler_side(fault)
    if current_process().name == "MainProcess":
        _front_side(fault)


def _scheduler_side(fault: str) -> None:
    before, after, around = HookType.BEFORE, HookType.AFTER, HookType.AROUND
    forwards = Forwards()
    poisoned = Poisoned() if fault == "poisoned_prefix" else None

    def begins(mode: str) -> Any:
        def hook(backend: Any, q: Any, k: Any, v: Any, layer: Any, batch: Any, *_: Any, **__: Any) -> None:
            if layer.layer_id == 0:
                forwards.see(mode, batch)
                if poisoned is not None:
                    poisoned.pass_begins(backend, batch)

        return hook

    HookRegistry.register(f"{_BACKEND}.forward_extend", begins("prefill"), before)
    HookRegistry.register(f"{_SCHEDULER}.on_idle", lambda *_, **__: forwards.end(), before)
    if fault == "slot_reuse":
        rows = StaleRow()
        HookRegistry.register(f"{_POOL}.free", rows.freed, before)
        HookRegistry.register(f"{_POOL}.alloc", rows.taken, after)
        HookRegistry.register(f"{_BACKEND}.forward_decode", rows.attend, around)
    elif fault == "cross_salt":
        salts = CrossSalt()
        HookRegistry.register(f"{_TREE}.checkpoint", salts.stored, after)
        HookRegistry.register(f"{_TREE}.match_prefix", salts.lookup, before)
        HookRegistry.register(f"{_SCHEDULER}.run_batch", salts.batched, before)
    elif poisoned is not None:
        HookRegistry.register(f"{_POOL}.free", poisoned.freed, before)
        HookRegistry.register(f"{_SCHEDULER}.flush_cache", poisoned.flushed, after)
    elif fault == "duplicate_rid":
        twins = DuplicateRid()
        HookRegistry.register(f"{_SCHEDULER}._add_request_to_queue", twins.added, before)
        HookRegistry.register(f"{_POOL}.free", twins.freed, before)
    HookRegistry.register(f"{_BACKEND}.forward_decode", begins("decode"), before)


def _front_side(fault: str) -> None:
    if fault == "shifted":
        HookRegistry.register(f"{_FRONT}.generate_request", Shifted().generate, HookType.AROUND)
    elif fault == "duplicate_rid":
        HookRegistry.register(f"{_FRONT}._init_req_state", DuplicateRid().entered, HookType.BEFORE)
    elif fault == "random":
        leaks = Random()
        HookRegistry.register(f"{_FRONT}._init_req_state", leaks.entered, HookType.BEFORE)
        HookRegistry.register(f"{_FRONT}._handle_batch_output", leaks.output, HookType.BEFORE)
