"""What the engine's objects say, as events of the probe's file. Reads them, changes none, imports nothing of SGLang.

Names of attributes differ between versions; each is looked for under all names that it has had (0.5.12 to 0.5.23).
Texts are never touched. Token ids only where `tokens` was asked for. Nothing here waits for a device: a list of cache
indices that lies on one is left out.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from .runs import runs
from .writer import Event, Writer

_MODES = {"EXTEND": "prefill", "DECODE": "decode", "MIXED": "mixed", "IDLE": "idle"}
_REPEAT_STEPS, _REPEAT_SECONDS = 200, 1.0  # a repeat is written down at the latest then
_KNOWN = 65_536  # requests of which the last prefix match is remembered


class Observer:
    """The events of one process. Public methods are called from the engine's threads by hooks and may raise.

    writer: takes the events. kv: also lists of cache indices. tokens: also the ids of generated tokens.
    """

    def __init__(self, writer: Writer, *, kv: bool = True, tokens: bool = False) -> None:
        self.writer, self._kv, self._tokens = writer, kv, tokens
        self._owners: dict[int, tuple[str | None, int | None]] = {}  # slot -> request, generation
        self._rows: dict[int, tuple[Any, Event]] = {}  # slot -> request, what of its row never changes
        self._matched: dict[str, tuple[Any, ...]] = {}
        self._why: list[tuple[str | None, str]] = []  # what the engine is about while it frees
        self._grouped = False
        self._ranked = False
        self._last: tuple[int, list[Any], list[int], int] | None = None  # iteration, requests, slots, iteration written
        self._repeat: Event | None = None
        self._repeat_kv: list[int] = []
        self._emitted: dict[str, int] = {}

    def emit(self, name: str, facts: Event) -> None:
        """Write an event, after the repeated steps that came before it."""
        self._end_repeat()
        self.writer.put(name, facts)

    # Batches

    def batch_start(self, scheduler: Any, batch: Any) -> None:
        """A forward pass is about to run; `scheduler.forward_ct` is one less than its number."""
        if not self._ranked:
            self._find_ranks(scheduler)
        iteration = int(scheduler.forward_ct) + 1
        requests = list(batch.reqs)
        slots = _numbers(getattr(batch, "req_pool_indices_cpu", None))
        if slots is None:
            slots = [_slot(request) for request in requests]
        name = getattr(batch.forward_mode, "name", str(batch.forward_mode))
        mode = _MODES.get(name, name.lower())
        if mode == "decode" and not self._tokens and self._repeats(iteration, requests, slots, batch):
            return
        self._end_repeat()
        lengths = _numbers(getattr(batch, "seq_lens_cpu", None)) or _numbers(getattr(batch, "seq_lens", None))
        prefixes = getattr(batch, "prefix_lens", None) if mode != "decode" else None
        rows = [self._row(request, slot) for request, slot in zip(requests, slots)]  # noqa: B905
        if lengths is not None:
            rows = [{**row, "seq_len": length} for row, length in zip(rows, lengths)]  # noqa: B905
        if prefixes is not None:
            rows = [{**row, "prefix_len": int(length)} for row, length in zip(rows, prefixes)]  # noqa: B905
        facts: Event = {"iter": iteration, "mode": mode, "rows": rows}
        places = self._places(getattr(batch, "out_cache_loc", None))
        if places is not None:
            facts["out_kv"] = runs(places)
        self.writer.put("batch_start", facts)
        self._last = (iteration, requests, slots, iteration) if mode == "decode" else None

    def batch_end(self, batch: Any) -> None:
        """The result of a forward pass was processed."""
        iteration = getattr(batch, "forward_iter", None)
        if self._repeat is not None and (iteration is None or self._repeat["iter"][0] <= iteration):
            self._repeat["ts_end"] = round(time.time(), 6)
            return
        facts: Event = {"iter": iteration}
        if self._tokens:
            facts["rows"] = [self._new_tokens(request) for request in batch.reqs]
        self.emit("batch_end", facts)

    def _repeats(self, iteration: int, requests: list[Any], slots: list[int], batch: Any) -> bool:
        if self._last is None or self._last[0] != iteration - 1 or self._last[1:3] != (requests, slots):
            return False
        now = round(time.time(), 6)
        if self._repeat is not None and (
            iteration - self._repeat["iter"][0] >= _REPEAT_STEPS or now - self._repeat["ts_first"] >= _REPEAT_SECONDS
        ):
            self._end_repeat()
        if self._repeat is None:
            self._repeat = {"iter": [iteration, iteration], "as": self._last[3], "ts_first": now, "ts_end": None}
        self._repeat["iter"][1] = iteration
        self._repeat["ts"], self._repeat["mono"] = now, round(time.monotonic(), 6)
        self._repeat_kv += self._places(getattr(batch, "out_cache_loc", None)) or []
        self._last = (iteration, requests, slots, self._last[3])
        return True

    def _end_repeat(self) -> None:
        if self._repeat is not None:
            facts, self._repeat = self._repeat, None
            if self._repeat_kv:
                facts["out_kv"], self._repeat_kv = runs(self._repeat_kv), []
            self.writer.put("batch_repeat", facts)

    def _row(self, request: Any, slot: int) -> Event:
        known = self._rows.get(slot)
        own = _slot(request)
        if known is None or known[0] is not request or own != slot:
            known = (request, self._new_row(request, slot, own))
            self._rows[slot] = known
        return known[1]

    def _new_row(self, request: Any, slot: int, own: Any) -> Event:
        row: Event = {"rid": str(request.rid), "slot": slot}
        owner = self._owners.get(slot)
        if owner is not None and owner[1] is not None:
            row["gen"] = owner[1]
        if own is not None and own != slot:
            row["req_slot"] = own
        lora = getattr(request, "lora_id", None)
        return {**row, **_spaces(request), **({"lora": str(lora)} if lora else {})}

    def _new_tokens(self, request: Any) -> Event:
        ids = request.output_ids
        known = self._emitted.get(request.rid, 0)
        self._emitted[request.rid] = len(ids)
        if _reason(request) is not None:
            self._emitted.pop(request.rid, None)
        return {"rid": str(request.rid), "tok": [int(token) for token in ids[known:]]}

    # Slots and cache indices

    def slots_taken(self, pool: Any, wanted: Any, given: Any) -> None:
        """Rows were handed out: `wanted` are requests (older versions: a count), `given` the rows of all of them."""
        if given is None:
            return
        requests = list(wanted) if isinstance(wanted, Iterable) else [None] * len(given)
        generations = getattr(pool, "req_generation", None)
        for request, slot in zip(requests, given):  # noqa: B905
            rid, slot = (None if request is None else str(request.rid)), int(slot)
            if rid is not None and self._owners.get(slot, (None, None))[0] == rid:
                continue  # a later chunk of a long prompt keeps its row
            generation = None if generations is None else int(generations[slot])
            self._owners[slot] = (rid, generation)
            self._rows.pop(slot, None)
            self.emit("slot_alloc", {"slot": slot, **_some(gen=generation), "rid": rid})

    def slot_freed(self, what: Any) -> None:
        """A row is about to be given back, by its request or (older versions) by its number."""
        for one in what if isinstance(what, list) else [what]:
            request = one if hasattr(one, "rid") else None
            slot = int(one) if request is None else _slot(request)
            if slot is None:
                continue
            rid, generation = self._owners.pop(slot, (None, None))
            self._rows.pop(slot, None)
            reason = None if request is None else _reason(request)
            why = None if request is None else "retract" if reason is None else _ending(reason)
            rid = rid if request is None else str(request.rid)
            self.emit("slot_free", {"slot": slot, **_some(gen=generation), "rid": rid, "why": why})
            if request is not None and reason is not None:
                self._matched.pop(rid or "", None)
                count = len(getattr(request, "output_ids", ()))
                self.emit("finish", {"rid": rid, "reason": reason, "out": count})

    def slots_cleared(self) -> None:
        """All rows became free at once."""
        self._owners.clear()
        self._rows.clear()
        self.emit("slot_clear", {})

    def kv_freed(self, allocator: Any, places: Any) -> None:
        """Cache indices are about to be given back."""
        if self._grouped:
            return  # told when each part of the group was freed
        known = self._places(places)
        if known:
            rid, why = self._why[-1] if self._why else (None, None)
            self.emit("kv_free", {"kv": runs(known), "rid": rid, "why": why})

    @contextmanager
    def grouped(self) -> Iterator[None]:
        """The allocator frees what it was told before, all at once."""
        self._grouped = True
        try:
            yield
        finally:
            self._grouped = False

    @contextmanager
    def about(self, request: Any, why: str | None) -> Iterator[None]:
        """The engine works for `request`; what it frees meanwhile, it frees for that reason (None: as it ended)."""
        if why is None:
            reason = _reason(request)
            why = "retract" if reason is None else _ending(reason)
        self._why.append((None if request is None else str(request.rid), why))
        try:
            yield
        finally:
            self._why.pop()

    # Prefixes

    def matched(self, key: Any, request: Any, result: Any) -> None:
        """The prefix cache was asked; written when the answer for a request is another than before."""
        if request is None:
            return
        rid = str(request.rid)
        length = getattr(result, "device_prefix_len", None)
        if length is None:
            length = len(getattr(result, "device_indices", ()))
        host = int(getattr(result, "host_hit_length", 0) or 0)
        node = getattr(result, "last_device_node", None)
        number = node if isinstance(node, int) else getattr(node, "id", None)
        answer = (int(length), host, number)
        if self._matched.get(rid) == answer:
            return
        if len(self._matched) >= _KNOWN:
            self._matched.clear()
        self._matched[rid] = answer
        facts = {"rid": rid, "matched": answer[0], **_some(host=host or None, node=number), **_spaces(key)}
        node_key = getattr(getattr(node, "key", None), "extra_key", None)
        self.emit("match", {**facts, **_some(last_node_extra_key=_digest(node_key))})

    def inserted(self, key: Any, result: Any) -> None:
        """A request's tokens went into the prefix cache; only what was new there is told."""
        length = len(key)
        known = result if isinstance(result, int) else int(getattr(result, "prefix_len", 0))
        if length > known:
            rid = self._why[-1][0] if self._why else None
            self.emit("insert", {"rid": rid, "len": length, "new": length - known, **_spaces(key)})

    # Requests

    def received(self, request: Any) -> None:
        """The scheduler took a request in."""
        self.emit("recv", {"rid": str(request.rid)})

    def aborted(self, scheduler: Any, order: Any) -> None:
        """Requests whose id begins with the ordered one are about to be stopped."""
        rid, everyone = str(order.rid), bool(getattr(order, "abort_all", False))
        waiting = list(getattr(scheduler, "waiting_queue", ()))
        running = list(getattr(getattr(scheduler, "running_batch", None), "reqs", None) or ())
        hit = [str(request.rid) for request in waiting + running if everyone or str(request.rid).startswith(rid)]
        self.emit("abort", {"rid": rid, "all": everyone, "match": list(dict.fromkeys(hit))})

    def retracted(self, request: Any) -> None:
        """A running request went back to the queue."""
        self.emit("retract", {"rid": str(request.rid)})

    def flushed(self, done: Any) -> None:
        """The prefix cache was flushed, or was not because requests were running."""
        self._matched.clear()
        self.emit("flush", {"ok": bool(done)})

    def delivered(self, output: Any, place: str) -> None:
        """The last piece of answers passes through `place`."""
        reasons = getattr(output, "finished_reasons", None)
        if not reasons:
            return
        counts = getattr(output, "completion_tokens", None)
        for number, reason in enumerate(reasons):
            if reason is not None:
                count = counts[number] if counts and number < len(counts) else None
                self.emit("emit", {"rid": str(output.rids[number]), "n": count, "at": place})

    # Helpers

    def _places(self, indices: Any) -> list[int] | None:
        return _numbers(indices) if self._kv else None

    def _find_ranks(self, scheduler: Any) -> None:
        self._ranked = True
        for key in ("tp", "dp", "pp"):
            for holder in (scheduler, getattr(scheduler, "ps", None), getattr(scheduler, "parallel", None)):
                rank = getattr(holder, f"{key}_rank", None)
                if isinstance(rank, int):
                    self.writer.ranks = {**self.writer.ranks, key: rank}
                    break


def _numbers(tensor: Any) -> list[int] | None:
    """The whole numbers in a list or a tensor; None where they lie on a device or there are none to be had."""
    if tensor is None:
        return None
    if isinstance(tensor, list):
        return tensor
    if str(getattr(tensor, "device", "cpu")) != "cpu":
        return None
    found = tensor.tolist()
    return found if isinstance(found, list) else None


def _slot(request: Any) -> Any:
    kv = getattr(request, "kv", None)
    return getattr(kv if kv is not None and hasattr(kv, "req_pool_idx") else request, "req_pool_idx", None)


def _reason(request: Any) -> str | None:
    """stop, length or abort; None while a request runs."""
    reason = getattr(request, "finished_reason", None)
    if reason is None:
        return None
    name = type(reason).__name__.upper()
    return "abort" if "ABORT" in name else "length" if "LENGTH" in name else "stop"


def _ending(reason: str) -> str:
    return "abort" if reason == "abort" else "finish"


def _spaces(holder: Any) -> Event:
    """The name spaces of a request or key in the prefix cache, as digests: a salt may be a secret of a tenant."""
    extra, salt = getattr(holder, "extra_key", None), getattr(holder, "cache_salt", None)
    return _some(extra_key=_digest(extra), salt=_digest(salt))


def _digest(value: Any) -> str | None:
    return f"sha256:{hashlib.sha256(str(value).encode()).hexdigest()[:16]}" if value else None


def _some(**facts: Any) -> Event:
    return {name: value for name, value in facts.items() if value is not None}
