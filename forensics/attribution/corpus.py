"""The case's texts, read in passes. Kept in memory as one block where they fit into a share of the memory setting.

A pass over the table costs its decompression every time; several passes are needed, so that texts that fit are read
once. Beyond the share each pass reads the table anew, and memory stays at a few batches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from forensics.attribution.holdings import Ints, World
from forensics.case.store import Case
from forensics.text.escapes import has_escapes, unescape

BATCH_BYTES = 8 << 20
BATCH_ROWS = 256
MEMORY_SHARE = 4  # texts up to this part of the memory setting are kept

TextBatch = tuple[Ints, npt.NDArray[np.uint8], Ints]
Result = TypeVar("Result")


class Corpus:
    """Texts by content key. `world` gives their sizes."""

    def __init__(self, case: Case, world: World) -> None:
        self.case = case
        self.world = world
        self._fits = int(world.text_bytes.sum()) <= case.resources.memory_bytes // MEMORY_SHARE
        self._kept: list[TextBatch] = []
        self._batch_of = np.zeros(0, dtype=np.int32)
        self.escaped: set[int] = set()
        """Texts read so far in which letters are written as \\uXXXX; all passes give them with those undone."""

    @property
    def in_memory(self) -> bool:
        """Are the texts kept, so that a single one costs nothing to look up?"""
        return bool(self._kept)

    def batches(self, wanted: npt.NDArray[np.bool_]) -> Iterator[TextBatch]:
        """The wanted texts in batches of about BATCH_BYTES: content keys, UTF-8 buffer, offsets."""
        if self._fits and not self._kept:
            self._keep()
        pack = _Pack()
        for batch in self._kept if self._fits else self._read():
            mask = wanted[batch[0]]
            if self._fits and mask.all():
                yield batch
                continue
            pack.add(batch, np.flatnonzero(mask))
            if pack.size >= BATCH_BYTES:
                yield pack.take()
        if pack.size:
            yield pack.take()

    def _keep(self) -> None:
        """Read all texts, responses and others apart: the two are asked for apart, and need no copy then."""
        self._batch_of = np.zeros(self.world.text_bytes.size, dtype=np.int32)
        packs = (_Pack(), _Pack())
        for batch in self._read():
            is_response = self.world.is_response[batch[0]]
            for pack, mask in zip(packs, (is_response, ~is_response), strict=True):
                pack.add(batch, np.flatnonzero(mask))
                if pack.size >= BATCH_BYTES:
                    self._keep_batch(pack.take())
        for pack in packs:
            if pack.size:
                self._keep_batch(pack.take())

    def _keep_batch(self, batch: TextBatch) -> None:
        self._batch_of[batch[0]] = len(self._kept)
        self._kept.append(batch)

    def over(
        self,
        wanted: npt.NDArray[np.bool_],
        work: Callable[[TextBatch], Result],
        tick: Callable[[int], None] | None = None,
    ) -> Iterator[Result]:
        """`work` over all batches on all threads; results in the order of the batches."""
        threads = self.case.resources.threads
        with ThreadPoolExecutor(threads) as pool:
            waiting: list[tuple[Future[Result], int]] = []
            for batch in self.batches(wanted):
                waiting.append((pool.submit(work, batch), int(batch[1].size)))
                if len(waiting) > threads:
                    future, size = waiting.pop(0)
                    yield future.result()
                    if tick:
                        tick(size)
            for future, size in waiting:
                yield future.result()
                if tick:
                    tick(size)

    def text(self, key: int) -> str:
        """One text. Only while the texts are in memory."""
        return self.data(key).tobytes().decode()

    def data(self, key: int) -> npt.NDArray[np.uint8]:
        """One text as UTF-8. Only while the texts are in memory."""
        keys, buffer, offsets = self._kept[self._batch_of[key]]
        row = int(np.searchsorted(keys, key))
        found: npt.NDArray[np.uint8] = buffer[offsets[row] : offsets[row + 1]]
        return found

    def _read(self) -> Iterator[TextBatch]:
        last = -1
        for batch in self.case.batches("attribution/texts", rows=BATCH_ROWS):
            keys = batch["content"].to_numpy().astype(np.int64)
            if keys.size and (int(keys[0]) <= last or bool((np.diff(keys) <= 0).any())):
                raise RuntimeError("contents are not stored in the order of their keys")
            last = int(keys[-1]) if keys.size else last
            column = batch["text"].cast(pa.large_string())
            _, ends, data = column.buffers()
            offsets = np.frombuffer(ends, dtype=np.int64)[column.offset : column.offset + len(column) + 1]
            buffer = np.frombuffer(data if data is not None else b"", dtype=np.uint8)
            yield self._plain(keys, buffer, offsets)

    def _plain(self, keys: Ints, buffer: npt.NDArray[np.uint8], offsets: Ints) -> TextBatch:
        """The batch with escapes undone in the texts that have any."""
        every = buffer[offsets[0] : offsets[-1]].data
        if not has_escapes(every):
            return keys, buffer, offsets
        parts: list[npt.NDArray[np.uint8]] = []
        for row, key in enumerate(keys.tolist()):
            part = buffer[offsets[row] : offsets[row + 1]]
            if has_escapes(part.data):
                self.escaped.add(key)
                text, _ = unescape(part.tobytes().decode("utf-8", "replace"))
                part = np.frombuffer(text.encode("utf-8", "replace"), dtype=np.uint8)
            parts.append(part)
        ends = np.cumsum([0, *(part.size for part in parts)]).astype(np.int64)
        return keys, np.concatenate(parts), ends


class _Pack:
    """Texts on their way into one batch; `size` in bytes, at least 1 a text."""

    def __init__(self) -> None:
        self.size = 0
        self._keys: list[Ints] = []
        self._parts: list[npt.NDArray[np.uint8]] = []
        self._sizes: list[Ints] = []

    def add(self, batch: TextBatch, rows: Ints) -> None:
        """Take these rows of a batch."""
        if rows.size == 0:
            return
        keys, buffer, offsets = batch
        sizes = offsets[rows + 1] - offsets[rows]
        parts = [buffer[offsets[row] : offsets[row + 1]] for row in rows.tolist()]
        if 2 * int(sizes.sum()) < buffer.size:  # a copy, or a few texts would hold on to the memory of many
            parts = [np.concatenate(parts)]
        self._keys.append(keys[rows])
        self._sizes.append(sizes)
        self._parts.extend(parts)
        self.size += int(sizes.sum()) + rows.size

    def take(self) -> TextBatch:
        """What was taken, as a batch; empty afterwards."""
        sizes = np.concatenate(self._sizes)
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        batch = np.concatenate(self._keys), np.concatenate(self._parts), offsets
        self._keys, self._parts, self._sizes, self.size = [], [], [], 0
        return batch
