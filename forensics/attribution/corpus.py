"""The case's texts, read in passes. Kept in memory as one block where they fit into a share of the memory setting.

A pass over the table costs its decompression every time, and several passes are needed: the table is read once. Texts
beyond the share go to a nameless file, from which a pass reads at the speed of the disk's cache, and memory stays at a
few batches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from io import FileIO
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from forensics.attribution.files import nameless, read_all, write_all
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
        self._read_once = False
        self._keys: list[Ints] = []
        self._offsets: list[Ints] = []
        self._places: list[npt.NDArray[np.uint8] | tuple[int, int]] = []  # the bytes, or where they are in the file
        self._file: FileIO | None = None
        self._end = 0
        self._batch_of = np.zeros(0, dtype=np.int32)  # by content, and its row there
        self._row_of = np.zeros(0, dtype=np.int32)
        self._escaped: set[int] = set()

    def batches(self, wanted: npt.NDArray[np.bool_]) -> Iterator[TextBatch]:
        """The wanted texts in batches of about BATCH_BYTES: content keys, UTF-8 buffer, offsets."""
        self._prepare()
        pack = _Pack()
        for keys, offsets, place in zip(self._keys, self._offsets, self._places, strict=True):
            mask = wanted[keys]
            if not mask.any():
                continue
            batch = keys, self._buffer(place), offsets
            if mask.all():
                yield batch
                continue
            pack.add(batch, np.flatnonzero(mask))
            if pack.size >= BATCH_BYTES:
                yield pack.take()
        if pack.size:
            yield pack.take()

    def close(self) -> None:
        """Give back memory and disk."""
        self._keys, self._offsets, self._places = [], [], []
        if self._file is not None:
            self._file.close()
            self._file = None

    def _prepare(self) -> None:
        """Read all texts, responses and others apart: the two are asked for apart, and need no copy then."""
        if self._read_once:
            return
        self._read_once = True
        self._batch_of = np.zeros(self.world.text_bytes.size, dtype=np.int32)
        self._row_of = np.zeros(self.world.text_bytes.size, dtype=np.int32)
        packs = (_Pack(), _Pack())
        for batch in self._read():
            is_response = self.world.is_response[batch[0]]
            for pack, mask in zip(packs, (is_response, ~is_response), strict=True):
                pack.add(batch, np.flatnonzero(mask))
                if pack.size >= BATCH_BYTES:
                    self._keep(pack.take())
        for pack in packs:
            if pack.size:
                self._keep(pack.take())

    def _keep(self, batch: TextBatch) -> None:
        keys, buffer, offsets = batch
        self._batch_of[keys] = len(self._keys)
        self._row_of[keys] = np.arange(keys.size)
        self._keys.append(keys)
        self._offsets.append(offsets)
        if self._fits:
            self._places.append(buffer)
            return
        if self._file is None:
            self._file = nameless(self.case.root / "restricted" / "spill")
        write_all(self._file, buffer.data, self._end)
        self._places.append((self._end, buffer.size))
        self._end += buffer.size

    def _buffer(self, place: npt.NDArray[np.uint8] | tuple[int, int]) -> npt.NDArray[np.uint8]:
        if not isinstance(place, tuple):
            return place
        assert self._file is not None
        start, size = place
        data = np.empty(size, dtype=np.uint8)
        read_all(self._file, data.data, start)
        return data

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
        """One text."""
        return self.data(key).tobytes().decode()

    def is_escaped(self, key: int) -> bool:
        """Does the text write letters as \\uXXXX? All passes, `text` and `data` give it with those undone."""
        self._prepare()
        return key in self._escaped

    def data(self, key: int) -> npt.NDArray[np.uint8]:
        """One text as UTF-8."""
        self._prepare()
        number = self._batch_of[key]
        offsets, place = self._offsets[number], self._places[number]
        row = self._row_of[key]
        low, high = int(offsets[row]), int(offsets[row + 1])
        if isinstance(place, tuple):
            return self._buffer((place[0] + low, high - low))
        found: npt.NDArray[np.uint8] = place[low:high]
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
                self._escaped.add(key)
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
