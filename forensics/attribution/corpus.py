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
        self._first: list[int] = []

    @property
    def in_memory(self) -> bool:
        """Are the texts kept, so that a single one costs nothing to look up?"""
        return bool(self._kept)

    def batches(self, wanted: npt.NDArray[np.bool_]) -> Iterator[TextBatch]:
        """The wanted texts in batches of about BATCH_BYTES: content keys, UTF-8 buffer, offsets."""
        if self._fits and not self._kept:
            self._kept = list(self._read())
            self._first = [int(keys[0]) for keys, _, _ in self._kept]
        source = self._kept if self._fits else self._read()
        keys_left: list[Ints] = []
        parts: list[npt.NDArray[np.uint8]] = []
        sizes: list[Ints] = []
        size = 0
        for keys, buffer, offsets in source:
            mask = wanted[keys]
            if mask.all():
                yield keys, buffer, offsets
                continue
            rows = np.flatnonzero(mask)
            if rows.size == 0:
                continue
            keys_left.append(keys[rows])
            sizes.append(offsets[rows + 1] - offsets[rows])
            parts.extend(buffer[offsets[row] : offsets[row + 1]] for row in rows.tolist())
            size += int(sizes[-1].sum())
            if size >= BATCH_BYTES:
                yield _packed(keys_left, parts, sizes)
                keys_left, parts, sizes, size = [], [], [], 0
        if keys_left:
            yield _packed(keys_left, parts, sizes)

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
        place = int(np.searchsorted(self._first, key, side="right")) - 1
        keys, buffer, offsets = self._kept[place]
        row = int(np.searchsorted(keys, key))
        return buffer[offsets[row] : offsets[row + 1]]

    def _read(self) -> Iterator[TextBatch]:
        waiting: list[pa.RecordBatch] = []
        size = 0
        last = -1
        for batch in self.case.batches("attribution/texts", rows=BATCH_ROWS):
            keys = batch["content"].to_numpy()
            if keys.size and (int(keys[0]) <= last or bool((np.diff(keys) <= 0).any())):
                raise RuntimeError("contents are not stored in the order of their keys")
            last = int(keys[-1]) if keys.size else last
            waiting.append(batch)
            size += batch.nbytes
            if size >= BATCH_BYTES:
                yield _buffers(waiting)
                waiting, size = [], 0
        if waiting:
            yield _buffers(waiting)


def _buffers(batches: list[pa.RecordBatch]) -> TextBatch:
    table = pa.Table.from_batches(batches)
    column = table["text"].cast(pa.large_string()).combine_chunks()
    column = column.chunk(0) if isinstance(column, pa.ChunkedArray) else column
    offsets = np.frombuffer(column.buffers()[1], dtype=np.int64)[column.offset : column.offset + len(column) + 1]
    data = column.buffers()[2]
    buffer = np.frombuffer(data, dtype=np.uint8) if data is not None else np.zeros(0, dtype=np.uint8)
    return table["content"].to_numpy().astype(np.int64), buffer, offsets


def _packed(keys: list[Ints], parts: list[npt.NDArray[np.uint8]], sizes: list[Ints]) -> TextBatch:
    offsets = np.concatenate([[0], np.cumsum(np.concatenate(sizes))]).astype(np.int64)
    return np.concatenate(keys), np.concatenate(parts), offsets
