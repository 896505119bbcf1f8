"""Seeds of many texts, parted by hash, on disk beyond the memory they may take; and those of them that matter.

A seed matters when a response has it and at least two units hold it: nearly all seeds of a log stand in one text alone,
and are dropped part by part before anything is done with them. Order is kept: rows of equal hashes stay as they came.
Knows no grams or tokens: a row is a hash, a text and a place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from io import FileIO
from pathlib import Path
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from forensics.attribution.files import nameless, read_all, write_all
from forensics.attribution.holdings import World

Table = npt.NDArray[np.int64]  # rows of (hash, text << 32 | start, end), or without the end where it says nothing
COLUMNS = 3
ROW_BYTES = 8 * COLUMNS
PART_ROWS = 1 << 16  # about so many rows should the responses have in a part: a table over them stays in a cache
MOST_BITS = 10


class Partitions:
    """Rows by the lowest bits of their hash. Beyond `most_bytes` they go to a nameless file in `folder`."""

    def __init__(self, folder: Path, rows: int, most_bytes: int, columns: int = COLUMNS) -> None:
        self.bits = min(MOST_BITS, max(0, (rows // PART_ROWS).bit_length()))
        self._folder = folder
        self._most = most_bytes
        self._columns = columns
        self._parts: list[list[Table]] = [[] for _ in range(1 << self.bits)]
        self._places: list[list[tuple[int, int]]] = [[] for _ in range(1 << self.bits)]
        self._file: FileIO | None = None
        self._end = 0
        self._held = 0
        self.rows = 0

    @property
    def spilled_bytes(self) -> int:
        """What was written to disk so far."""
        return self._end

    def split(self, rows: Table) -> tuple[Table, npt.NDArray[np.int64]]:
        """Rows by part, in their order, and where each part starts. Safe from several threads."""
        return _split(rows, self.bits)

    def add(self, rows: Table, offsets: npt.NDArray[np.int64]) -> None:
        """Take rows as `split` gives them."""
        for part in np.flatnonzero(np.diff(offsets)).tolist():
            self._parts[part].append(rows[offsets[part] : offsets[part + 1]])
        self.rows += rows.shape[0]
        self._held += rows.nbytes
        if self._held > self._most:
            self._spill()

    def take(self, part: int) -> Table:
        """All rows of a part. They stay."""
        pieces = [self._read(start, size) for start, size in self._places[part]]
        return np.concatenate([np.empty((0, self._columns), dtype=np.int64), *pieces, *self._parts[part]])

    def each(self, work: Callable[[Table], None], threads: int) -> None:
        """Do `work` on the rows of every part."""
        with ThreadPoolExecutor(threads) as pool:
            for _ in pool.map(lambda part: work(self.take(part)), range(1 << self.bits)):
                pass

    def close(self) -> None:
        """Give back memory and disk."""
        self._parts, self._places = [], []
        if self._file is not None:
            self._file.close()
            self._file = None

    def _spill(self) -> None:
        if self._file is None:
            self._file = nameless(self._folder)
        for part, pieces in enumerate(self._parts):
            if pieces:
                data = np.concatenate(pieces)
                write_all(self._file, data.data.cast("B"), self._end)
                self._places[part].append((self._end, data.nbytes))
                self._end += data.nbytes
                self._parts[part] = []
        self._held = 0

    def _read(self, start: int, size: int) -> Table:
        assert self._file is not None
        data = np.empty(size // 8, dtype=np.int64)
        read_all(self._file, data.data.cast("B"), start)
        return data.reshape(-1, self._columns)


def rows_of(hashes: Any, contents: Any, starts: Any, ends: Any = None) -> Table:
    """Rows of parallel arrays; texts and places below 2^31. Two columns where there are no ends."""
    rows = np.empty((len(hashes), COLUMNS if ends is not None else COLUMNS - 1), dtype=np.int64)
    rows[:, 0] = hashes
    rows[:, 1] = contents
    rows[:, 1] <<= 32
    rows[:, 1] |= starts
    if ends is not None:
        rows[:, 2] = ends
    return rows


def that_matter(parts: Partitions, world: World, threads: int) -> Iterator[Table]:
    """Part by part, the rows of seeds that a response has and two units hold; two parts a thread in memory."""
    holdings, most = world.holdings, max(1, len(world.requests.unit_names))

    def work(part: int) -> Table:
        rows = parts.take(part)
        kept = _matters(rows, holdings.of_content, holdings.unit, world.is_response, most)
        return rows[kept]

    with ThreadPoolExecutor(threads) as pool:
        waiting = []
        for part in range(1 << parts.bits):
            waiting.append(pool.submit(work, part))
            if len(waiting) > threads:
                yield waiting.pop(0).result()
        for future in waiting:
            yield future.result()


@numba.njit(cache=True, nogil=True)
def _split(rows: Any, bits: int) -> Any:
    parts = 1 << bits
    mask = np.int64(parts - 1)
    offsets = np.zeros(parts + 1, dtype=np.int64)
    for i in range(rows.shape[0]):
        offsets[(rows[i, 0] & mask) + 1] += 1
    for part in range(parts):
        offsets[part + 1] += offsets[part]
    at = offsets[:-1].copy()
    out = np.empty_like(rows)
    for i in range(rows.shape[0]):
        part = rows[i, 0] & mask
        for column in range(rows.shape[1]):
            out[at[part], column] = rows[i, column]
        at[part] += 1
    return out, offsets


@numba.njit(cache=True, nogil=True)
def _matters(rows: Any, of_content: Any, unit_of: Any, is_response: Any, units: int) -> Any:
    """By row: does a response have its hash, and do at least two units (no tenant counts as one)?"""
    answers = 0
    for i in range(rows.shape[0]):
        answers += is_response[rows[i, 1] >> 32]
    # A table over the hashes of responses alone: most rows are of other texts, and some of those of no hash in it.
    size = 1024
    while size < 2 * answers:
        size *= 2
    mask = np.uint64(size - 1)
    keys = np.empty(size, dtype=np.int64)
    first = np.full(size, -2, dtype=np.int32)  # -2: free, -1: a hash that nobody holds yet; else the first unit
    several = np.zeros(size, dtype=np.bool_)  # does a second unit hold it?
    for i in range(rows.shape[0]):
        if is_response[rows[i, 1] >> 32]:
            at = _slot(rows[i, 0], keys, first, mask)
            keys[at] = rows[i, 0]
            first[at] = -1
    slots = np.empty(rows.shape[0], dtype=np.uint32)
    for i in range(rows.shape[0]):
        at = _slot(rows[i, 0], keys, first, mask)
        slots[i] = at
        if first[at] == -2 or several[at]:
            continue
        content = rows[i, 1] >> 32
        for held in range(of_content[content], of_content[content + 1]):
            unit = unit_of[held] if unit_of[held] >= 0 else units
            if first[at] == -1:
                first[at] = unit
            elif first[at] != unit:
                several[at] = True
                break
    kept = np.empty(rows.shape[0], dtype=np.bool_)
    for i in range(rows.shape[0]):
        kept[i] = several[slots[i]]
    return kept


@numba.njit(cache=True, nogil=True)
def _slot(key: Any, keys: Any, first: Any, mask: Any) -> Any:
    """Where a hash is in the table, or the free place that it would have."""
    at = (np.uint64(key) >> np.uint64(12)) & mask  # the lowest bits are those of the part
    while first[at] != -2 and keys[at] != key:
        at = (at + np.uint64(1)) & mask
    return at
