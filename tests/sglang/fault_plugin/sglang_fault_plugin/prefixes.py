"""Two faults of the prefix cache.

`CrossSalt` (M20): the key of some tenants' name spaces collides, so that a lookup ends on the path of another tenant's
last prompt, whatever its salt. `Poisoned` (M7): after an abort, the pages of the next prompt that is put into the tree
hold the aborted request's cache; everybody who hits that prefix later reads it, until the cache is flushed.
"""

from __future__ import annotations

import dataclasses
import os
from typing import Any

from .record import note, switched_on, tenant

TAIL = 24


class CrossSalt:
    """Lookups that end in another tenant's name space. `FAULT_PAIRS`: `a=b,c=d`, a's lookups find b's prompts."""

    def __init__(self) -> None:
        pairs = os.environ.get("FAULT_PAIRS", "")
        self._pairs = dict(pair.split("=", 1) for pair in pairs.split(",") if pair)
        self._latest: dict[str, tuple[str, Any, Any, Any]] = {}
        self._given: dict[str, tuple[str, Any, Any, Any] | None] = {}
        self._noted: set[str] = set()

    def stored(self, _: Any, __: Any, request: Any, *___: Any, **____: Any) -> None:
        """After a request's tokens went into the tree."""
        if request.rid not in self._noted:
            self._latest[tenant(request.rid)] = (
                request.rid, request.origin_input_ids, request.extra_key, request.cache_salt
            )  # fmt: skip

    def lookup(self, cache: Any, params: Any, *_: Any, **__: Any) -> Any:
        """Before a lookup: another key, or none."""
        request = params.req
        if request is None or request.output_ids:
            return None
        if request.rid not in self._given:
            donor = self._latest.get(self._pairs.get(tenant(request.rid), "")) if switched_on("cross_salt") else None
            self._given[request.rid] = donor
        donor = self._given[request.rid]
        if donor is None:
            return None
        _, ids, extra_key, salt = donor
        limit = min(len(ids), len(request.origin_input_ids) - TAIL)
        key = type(params.key)(token_ids=ids, extra_key=extra_key, limit=limit, cache_salt=salt)
        # What was computed behind foreign pages must not go into the tree under this tenant's own tokens.
        request.skip_radix_cache_insert = True
        return (cache, dataclasses.replace(params, key=key)), {}

    def batched(self, scheduler: Any, batch: Any, *_: Any, **__: Any) -> None:
        """Before a forward pass: who really got foreign pages."""
        for request in batch.reqs:
            donor = self._given.get(request.rid)
            if donor is not None and request.rid not in self._noted:
                self._noted.add(request.rid)
                note(
                    "leak", fault="cross_salt", victim=request.rid, source=donor[0], positions=int(request.prefix_len),
                    slot=int(request.kv.req_pool_idx), iteration=int(scheduler.forward_ct) + 1,
                )  # fmt: skip


class Poisoned:
    """Pages of a stored prompt that hold another request's cache."""

    def __init__(self) -> None:
        self._waiting: tuple[str, int, list[Any]] | None = None  # an aborted request, its length, and its cache
        self._bad: dict[int, str] = {}  # page -> whose cache it holds
        self._noted: set[str] = set()
        self._pool: Any = None  # the cache itself

    def freed(self, pool: Any, request: Any, *_: Any, **__: Any) -> None:
        """Before a row is given back: an abort loads the fault, the next prompt that stays in the tree gets it."""
        slot, length = request.kv.req_pool_idx, len(request.origin_input_ids)
        if not switched_on("poisoned_prefix"):
            return
        if "ABORT" in type(request.finished_reason).__name__ and len(request.output_ids) > 1:
            pages = pool.req_to_token[slot, :length].long()
            # The contents: its pages may be another's soon.
            self._waiting = (request.rid, length, [buffer[pages].clone() for buffer in self._buffers()])
        elif self._waiting is not None and tenant(self._waiting[0]) != tenant(request.rid):
            source, known, cache = self._waiting
            self._waiting = None
            length = min(length - TAIL, known)
            own = pool.req_to_token[slot, :length].clone()
            for buffer, kept in zip(self._buffers(), cache, strict=True):
                buffer[own.long()] = kept[:length]
            self._bad.update(dict.fromkeys(own.tolist(), source))
            note("poison", fault="poisoned_prefix", stored_by=request.rid, source=source, positions=length)

    def _buffers(self) -> list[Any]:
        pool = self._pool
        return [get(layer) for layer in range(pool.layer_num) for get in (pool.get_key_buffer, pool.get_value_buffer)]

    def pass_begins(self, backend: Any, batch: Any) -> None:
        """Pages that are written anew are good again; who reads bad ones is a victim."""
        self._pool = backend.token_to_kv_pool
        if not self._bad:
            return
        for page in batch.out_cache_loc.tolist():
            self._bad.pop(page, None)
        prefixes = batch.extend_prefix_lens
        for place, rid in enumerate(batch.rids):
            known = int(batch.seq_lens[place]) - 1 if prefixes is None else int(prefixes[place])
            row = backend.req_to_token_pool.req_to_token[batch.req_pool_indices[place], :known]
            held = [self._bad[page] for page in row.tolist() if page in self._bad]
            if len(held) > TAIL and rid not in self._noted:
                self._noted.add(rid)
                note(
                    "leak", fault="poisoned_prefix", victim=rid, source=held[-1], positions=len(held),
                    slot=int(batch.req_pool_indices[place]), mode="decode" if prefixes is None else "prefill",
                )  # fmt: skip

    def flushed(self, done: Any, *_: Any, **__: Any) -> None:
        """After a flush nothing is bad any more."""
        if done:
            note("flush", fault="poisoned_prefix", pages=len(self._bad))
            self._bad.clear()
            self._waiting = None
