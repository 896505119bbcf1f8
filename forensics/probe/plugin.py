"""Ties the observer to the engine: which methods are watched, in which versions they are found, and that no error of
the probe ever reaches the engine.

Switched on by `SLOT_PROBE_DIR` alone. Others: `SLOT_PROBE_MAX_BYTES` (256000000), `SLOT_PROBE_KEEP` (16 files of a
process), `SLOT_PROBE_KV` (1; 0 leaves lists of cache indices out), `SLOT_PROBE_TOKENS` (0; 1 writes the ids of
generated tokens, which are text to whoever has the tokenizer).
"""

from __future__ import annotations

import os
import pkgutil
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from multiprocessing import current_process
from pathlib import Path
from typing import Any

from . import __version__
from .observer import Observer
from .writer import Writer

_ERRORS = 100  # of one kind at one place; then that place is left alone
_MANAGERS = "sglang.srt.managers"
_CACHE = "sglang.srt.mem_cache"
_SCHEDULER = f"{_MANAGERS}.scheduler"
_FRONT = f"{_MANAGERS}.tokenizer_manager"
_DETOKENIZER = f"{_MANAGERS}.detokenizer_manager"


@dataclass(frozen=True)
class Watch:
    """One thing to watch. `targets`: where it has been in the versions known, each that exists is watched. `module`:
    the process is of the right kind when this module is loaded (the front end's: also in the main process, where it is
    loaded after the plugins). `when`: before | after | around."""

    name: str
    module: str
    targets: tuple[str, ...]
    when: str
    tell: Callable[..., Any]


def watches(observer: Observer) -> tuple[Watch, ...]:
    """What is watched. before: tell(*arguments); after: tell(result, *arguments); around: tell gives a context."""
    trees = (f"{_CACHE}.unified_radix_cache.UnifiedRadixCache", f"{_CACHE}.radix_cache.RadixCache")
    allocators = (
        f"{_CACHE}.allocator.token.TokenToKVPoolAllocator",
        f"{_CACHE}.allocator.paged.PagedTokenToKVPoolAllocator",
        f"{_CACHE}.allocator.TokenToKVPoolAllocator",
        f"{_CACHE}.allocator.PagedTokenToKVPoolAllocator",
    )
    groups = (f"{_CACHE}.allocator.base.BaseTokenToKVPoolAllocator", f"{_CACHE}.allocator.BaseTokenToKVPoolAllocator")
    pool = f"{_CACHE}.memory_pool.ReqToTokenPool"
    scheduler = f"{_SCHEDULER}.Scheduler"

    def every(holders: tuple[str, ...], method: str) -> tuple[str, ...]:
        return tuple(f"{holder}.{method}" for holder in holders)

    def of(*arguments: Any, **named: Any) -> Any:
        return arguments[1] if len(arguments) > 1 else next(iter(named.values()), None)

    def match(result: Any, *arguments: Any, **named: Any) -> None:
        asked = of(*arguments, **named)
        observer.matched(getattr(asked, "key", asked), getattr(asked, "req", None), result)

    def insert(result: Any, *arguments: Any, **named: Any) -> None:
        given = of(*arguments, **named)
        observer.inserted(getattr(given, "key", given), result)

    def watch(name: str, targets: tuple[str, ...], when: str, tell: Callable[..., Any], where: str = "") -> Watch:
        return Watch(name, where or _SCHEDULER, targets, when, tell)

    return (
        watch("batch_start", (f"{scheduler}.run_batch",), "before", lambda s, b, *_, **__: observer.batch_start(s, b)),
        watch("batch_end", (f"{scheduler}.process_batch_result",), "after",
              lambda _, __, b, *___, **____: observer.batch_end(b)),
        watch("recv", (f"{scheduler}.handle_generate_request",), "before",
              lambda *a, **k: observer.received(of(*a, **k))),
        watch("abort", (f"{scheduler}.abort_request",), "before", lambda *a, **k: observer.aborted(a[0], of(*a, **k))),
        watch("flush", (f"{scheduler}.flush_cache",), "after", lambda done, *_, **__: observer.flushed(done)),
        watch("retract", (f"{_MANAGERS}.schedule_batch.Req.reset_for_retract",), "before", observer.retracted),
        watch("slot_alloc", (f"{pool}.alloc",), "after",
              lambda given, *a, **k: observer.slots_taken(a[0], of(*a, **k), given)),
        watch("slot_free", (f"{pool}.free",), "before", lambda *a, **k: observer.slot_freed(of(*a, **k))),
        watch("slot_clear", (f"{pool}.clear",), "after", lambda *_, **__: observer.slots_cleared()),
        watch("kv_free", every(allocators, "free"), "before", lambda *a, **k: observer.kv_freed(a[0], of(*a, **k))),
        watch("kv_group", every(groups, "free_group_end"), "around", lambda *_, **__: observer.grouped()),
        watch("release", (f"{_CACHE}.common.release_kv_cache",), "around",
              lambda request, *_, **__: observer.about(request, None)),
        watch("evict", every(trees, "evict"), "around", lambda *_, **__: observer.about(None, "evict")),
        watch("dedup", tuple(target for method in ("checkpoint", "cache_finished_req", "cache_unfinished_req")
                             for target in every(trees, method)), "around",
              lambda *a, **k: observer.about(of(*a, **k), "dedup")),
        watch("match", every(trees, "match_prefix"), "after", match),
        watch("insert", every(trees, "insert"), "after", insert),
        watch("emit", (f"{_FRONT}.TokenizerManager._handle_batch_output",), "before",
              lambda *a, **k: observer.delivered(of(*a, **k), "front"), _FRONT),
        watch("detokenize", (f"{_DETOKENIZER}.DetokenizerManager.handle_batch_token_id_out",), "before",
              lambda *a, **k: observer.delivered(of(*a, **k), "detokenizer"), _DETOKENIZER),
    )  # fmt: skip


class Guard:
    """Calls the observer for the engine: measures what it costs, swallows and counts what it raises."""

    def __init__(self, writer: Writer, watch: Watch) -> None:
        self._writer, self._name, self._tell, self._alive = writer, watch.name, watch.tell, True

    def tell(self, *arguments: Any, **named: Any) -> None:
        """For hooks before and after: gives None, which leaves arguments and result as they are."""
        if self._alive:
            began = time.perf_counter_ns()
            try:
                self._tell(*arguments, **named)
            except Exception as error:
                self._failed(error)
            self._writer.cost_ns += time.perf_counter_ns() - began

    def around(self, original: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        """For hooks around: calls the original exactly once, whatever happens in the probe."""
        context: AbstractContextManager[None] | None = None
        if self._alive:
            try:
                context = self._tell(*arguments, **named)
                context.__enter__()
            except Exception as error:
                context = None
                self._failed(error)
        try:
            return original(*arguments, **named)
        finally:
            if context is not None:
                try:
                    context.__exit__(None, None, None)
                except Exception as error:
                    self._failed(error)

    def _failed(self, error: Exception) -> None:
        if self._writer.count_error(self._name, error) >= _ERRORS:
            self._alive = False


def register() -> None:
    """Entry point. Does nothing without `SLOT_PROBE_DIR`; never raises."""
    folder = os.environ.get("SLOT_PROBE_DIR")
    if not folder:
        return
    try:
        from sglang.srt.plugins.hook_registry import HookRegistry, HookType

        install(Path(folder), HookRegistry.register, {kind: HookType(kind) for kind in ("before", "after", "around")})
    except Exception as error:
        print(f"slot probe: not recording: {type(error).__name__}", file=sys.stderr)


def install(folder: Path, hook: Callable[..., Any], kinds: dict[str, Any]) -> Observer:
    """Hook everything that this process and version have; say in the file what was found and what was not."""
    head: dict[str, Any] = {
        "schema": 1, "probe": __version__, "sglang": _version("sglang"), "process": current_process().name,
        "hooked": [], "missing": [], "kv": _flag("SLOT_PROBE_KV", True), "tokens": _flag("SLOT_PROBE_TOKENS", False),
    }  # fmt: skip
    writer = Writer(
        folder, head, _number("SLOT_PROBE_MAX_BYTES", 256_000_000), _number("SLOT_PROBE_KEEP", 16)
    )  # fmt: skip
    observer = Observer(writer, kv=head["kv"], tokens=head["tokens"])
    for watch in watches(observer):
        if watch.module not in sys.modules and (watch.module, head["process"]) != (_FRONT, "MainProcess"):
            continue
        found = [target for target in watch.targets if _exists(target)]
        if not found:
            head["missing"].append(watch.name)
        guard = Guard(writer, watch)
        seen: set[int] = set()
        for target in found:
            method = pkgutil.resolve_name(target)
            if id(method) in seen:
                continue  # two names of one thing
            seen.add(id(method))
            try:
                hook(target, guard.around if watch.when == "around" else guard.tell, kinds[watch.when])
                head["hooked"].append(target)
            except Exception as error:
                writer.count_error(watch.name, error)
                head["missing"].append(watch.name)
    if head["hooked"] or head["missing"]:
        writer.begin()
    return observer


def _exists(target: str) -> bool:
    try:
        owner, _, name = target.rpartition(".")
        holder = pkgutil.resolve_name(owner)
        # An inherited method is watched where it is written, or it would be told twice.
        return name in vars(holder) if isinstance(holder, type) else hasattr(holder, name)
    except Exception:
        return False


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _flag(name: str, default: bool) -> bool:
    return os.environ.get(name, "1" if default else "0").strip().lower() not in ("0", "false", "no", "off", "")


def _number(name: str, default: int) -> int:
    try:
        return int(os.environ.get(name, default))
    except ValueError:
        return default
