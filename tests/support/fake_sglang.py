"""A small engine with the method names of SGLang, and the registry through which plugins hook them."""

from __future__ import annotations

import json
import pkgutil
import sys
import types
from collections.abc import Callable, Iterator
from enum import Enum
from pathlib import Path
from typing import Any

import pytest


class Kind(Enum):
    BEFORE = "before"
    AFTER = "after"
    AROUND = "around"


class FINISH_LENGTH:
    pass


class FINISH_ABORT:
    pass


class ForwardMode(Enum):
    EXTEND = 1
    DECODE = 2


class Kv:
    def __init__(self) -> None:
        self.req_pool_idx: int | None = None


class Req:
    def __init__(self, rid: str, prompt: list[int], salt: str | None = None) -> None:
        self.rid, self.origin_input_ids, self.output_ids = rid, prompt, []
        self.kv, self.extra_key, self.cache_salt, self.lora_id = Kv(), None, salt, None
        self.finished_reason: Any = None

    def reset_for_retract(self) -> None:
        self.output_ids = []


class ReqToTokenPool:
    """Rows 1..size, the last one freed is the first one given, as since 0.5.18."""

    def __init__(self, size: int) -> None:
        self.free_slots = list(range(1, size + 1))
        self.req_generation = [0] * (size + 1)

    def alloc(self, reqs: list[Req]) -> list[int]:
        for req in reqs:
            if req.kv.req_pool_idx is None:
                req.kv.req_pool_idx = self.free_slots.pop()
                self.req_generation[req.kv.req_pool_idx] += 1
        return [req.kv.req_pool_idx for req in reqs]

    def free(self, req: Req) -> None:
        self.free_slots.append(req.kv.req_pool_idx)
        req.kv.req_pool_idx = None

    def clear(self) -> None:
        self.free_slots = [1, 2, 3]


class Tensor:
    """A list of numbers somewhere."""

    def __init__(self, values: list[int], device: str = "cpu") -> None:
        self.values, self.device = values, device

    def tolist(self) -> list[int]:
        assert self.device == "cpu", "the probe must not wait for a device"
        return list(self.values)


class TokenToKVPoolAllocator:
    def free(self, free_index: Tensor) -> None:
        pass


class RadixKey:
    def __init__(self, ids: list[int], salt: str | None) -> None:
        self.token_ids, self.extra_key, self.cache_salt = ids, None, salt

    def __len__(self) -> int:
        return len(self.token_ids)


class RadixCache:
    answer = 0

    def match_prefix(self, params: Any) -> Any:
        return types.SimpleNamespace(device_prefix_len=self.answer, host_hit_length=0, last_device_node=7)

    def insert(self, params: Any) -> Any:
        return types.SimpleNamespace(prefix_len=1)

    def checkpoint(self, req: Req, *, up_to: int) -> None:
        self.insert(types.SimpleNamespace(key=RadixKey(req.origin_input_ids[:up_to], req.cache_salt)))

    def evict(self, params: Any) -> None:
        TokenToKVPoolAllocator().free(Tensor([40, 41]))


def release_kv_cache(req: Req, tree: RadixCache, *, checkpoint: bool) -> None:
    TokenToKVPoolAllocator().free(Tensor([9, 10, 11, 20]))


class Batch:
    def __init__(
        self, mode: ForwardMode, reqs: list[Req], lengths: list[int], places: Any, prefixes: Any = None
    ) -> None:
        self.forward_mode, self.reqs, self.seq_lens_cpu = mode, reqs, Tensor(lengths)
        self.out_cache_loc, self.prefix_lens, self.forward_iter = places, prefixes, None
        self.req_pool_indices_cpu = Tensor([req.kv.req_pool_idx for req in reqs])


class Scheduler:
    def __init__(self) -> None:
        self.forward_ct, self.tp_rank, self.dp_rank, self.pp_rank = 0, 1, 2, 0
        self.waiting_queue: list[Req] = []
        self.running_batch = types.SimpleNamespace(reqs=[])
        self.ran: list[int] = []

    def run_batch(self, batch: Batch) -> str:
        self.forward_ct += 1
        batch.forward_iter = self.forward_ct
        self.ran.append(self.forward_ct)
        return "result"

    def process_batch_result(self, batch: Batch, result: str) -> None:
        pass

    def handle_generate_request(self, recv_req: Any) -> None:
        pass

    def abort_request(self, recv_req: Any) -> None:
        pass

    def flush_cache(self, empty_cache: bool = True) -> bool:
        return True


class TokenizerManager:
    async def _handle_batch_output(self, recv_obj: Any) -> str:
        return "handled"


MODULES: dict[str, dict[str, Any]] = {
    "sglang": {}, "sglang.srt": {}, "sglang.srt.managers": {}, "sglang.srt.mem_cache": {},
    "sglang.srt.managers.scheduler": {"Scheduler": Scheduler},
    "sglang.srt.managers.schedule_batch": {"Req": Req},
    "sglang.srt.managers.tokenizer_manager": {"TokenizerManager": TokenizerManager},
    "sglang.srt.mem_cache.memory_pool": {"ReqToTokenPool": ReqToTokenPool},
    "sglang.srt.mem_cache.radix_cache": {"RadixCache": RadixCache},
    "sglang.srt.mem_cache.allocator": {"TokenToKVPoolAllocator": TokenToKVPoolAllocator},
    "sglang.srt.mem_cache.common": {"release_kv_cache": release_kv_cache},
}  # fmt: skip


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Any]]:
    """The fake engine under SGLang's names; gives what hooks a method, with SGLang's meaning of before, after, around."""
    changed: list[tuple[Any, str, Any]] = []
    for name, things in MODULES.items():
        module = types.ModuleType(name)
        module.__path__ = []  # type: ignore[attr-defined]
        for key, thing in things.items():
            setattr(module, key, thing)
        monkeypatch.setitem(sys.modules, name, module)
    for name in MODULES:
        owner, _, last = name.rpartition(".")
        if owner:
            setattr(sys.modules[owner], last, sys.modules[name])

    def hook(target: str, tell: Callable[..., Any], kind: Kind) -> None:
        owner, _, name = target.rpartition(".")
        holder = pkgutil.resolve_name(owner)
        original = getattr(holder, name)
        changed.append((holder, name, original))

        def wrapped(*arguments: Any, **named: Any) -> Any:
            if kind is Kind.AROUND:
                return tell(original, *arguments, **named)
            if kind is Kind.BEFORE:
                changed_arguments = tell(*arguments, **named)
                arguments, named = (arguments, named) if changed_arguments is None else changed_arguments
                return original(*arguments, **named)
            result = original(*arguments, **named)
            other = tell(result, *arguments, **named)
            return result if other is None else other

        setattr(holder, name, wrapped)

    yield hook
    for holder, name, original in reversed(changed):
        setattr(holder, name, original)


KINDS = {"before": Kind.BEFORE, "after": Kind.AFTER, "around": Kind.AROUND}


def lines(folder: Path) -> list[dict[str, Any]]:
    """All events of a folder, file by file."""
    return [
        json.loads(line)
        for path in sorted(folder.glob("probe-*.jsonl"))
        for line in path.read_bytes().split(b"\n")
        if line
    ]
