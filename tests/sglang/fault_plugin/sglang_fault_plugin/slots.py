"""A slot that is read after an abort by whoever comes next (mechanisms M3, M4 of public reports).

When a running request is aborted, its row of `req_to_token` is given to the next request while the old contents are
still being read: every decode step of that next request attends to the aborted one's cache pages, as far as they go.
"""

from __future__ import annotations

from typing import Any

from .record import note, switched_on, tenant

TAIL = 24  # positions at the end of the victim's prompt that stay its own: what it asks


class StaleRow:
    """The fault of rows. One row at a time is stale, from the abort until another request took it."""

    def __init__(self) -> None:
        self._stale: dict[int, tuple[str, Any]] = {}
        self._victims: dict[str, Any] = {}  # request -> the pages that its row shows

    def freed(self, pool: Any, request: Any, *_: Any, **__: Any) -> None:
        """Before a row is given back."""
        slot = request.kv.req_pool_idx
        self._victims.pop(request.rid, None)
        reason = type(request.finished_reason).__name__
        if "ABORT" in reason and len(request.output_ids) > 1 and switched_on("slot_reuse"):
            length = len(request.origin_input_ids) + len(request.output_ids) - 1
            self._stale[slot] = (request.rid, pool.req_to_token[slot, :length].clone())
        else:
            self._stale.pop(slot, None)

    def taken(self, given: Any, pool: Any, requests: Any, *_: Any, **__: Any) -> None:
        """After rows were handed out."""
        for request, slot in zip(requests, given or (), strict=True):
            source, row = self._stale.pop(slot, (None, None))
            if source is None or tenant(source) == tenant(request.rid) or not switched_on("slot_reuse"):
                continue
            length = max(min(len(row), len(request.origin_input_ids) - TAIL), 0)
            self._victims[request.rid] = row[:length]
            note("leak", fault="slot_reuse", victim=request.rid, source=source, slot=int(slot), positions=length)

    def attend(
        self, original: Any, backend: Any, q: Any, k: Any, v: Any, layer: Any, batch: Any, *a: Any, **n: Any
    ) -> Any:
        """Around attention in a decode step: rows of victims show the source's pages."""
        table, kept = backend.req_to_token_pool.req_to_token, []
        for place, rid in enumerate(batch.rids or ()):
            if rid in self._victims:
                row, source = batch.req_pool_indices[place], self._victims[rid]
                kept.append((row, len(source), table[row, : len(source)].clone()))
                table[row, : len(source)] = source
        try:
            return original(backend, q, k, v, layer, batch, *a, **n)
        finally:
            for row, length, own in kept:
                table[row, :length] = own
