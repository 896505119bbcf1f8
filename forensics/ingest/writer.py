"""Blocks into the case: gives texts and records their keys in order of first appearance, and appends in bulk."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from forensics.case.store import Case
from forensics.ingest.worker import BlockResult

_FLUSH_BYTES = 32 << 20
_FLUSH_ROWS = 60_000
_PIECES_MOST = 100
_RUNS_MOST = 8


class Writer:
    """Appends the tables of blocks, which must come in the order of the evidence."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._contents: dict[bytes, int] = {
            bytes.fromhex(digest): content for digest, content in case.rows("ingest/content_digests")
        }
        self._next_record = int(case.rows("ingest/next_record")[0][0])
        self._held: dict[str, list[pa.Table]] = {}
        self._bytes = self._rows = 0

    def add(self, evidence: int, result: BlockResult, line: int) -> None:
        """Take one block of file `evidence`; `line` is the number of lines before it."""
        tables = result.tables
        records = tables["records"]
        first = self._next_record
        self._next_record += records.num_rows
        if records.num_rows:
            self._hold(
                "records",
                _number(records, evidence, line).append_column(
                    "record", pa.array(np.arange(first, self._next_record, dtype=np.int64))
                ),
            )
        if tables["ids"].num_rows:
            self._hold("record_ids", _rows_of(tables["ids"], first))
        if tables["uses"].num_rows:
            keys = self._content_keys(_digests(tables["contents"]["digest"]), tables["texts"])
            uses = _rows_of(tables["uses"], first)
            at = uses.schema.get_field_index("content")
            self._hold("record_contents", uses.set_column(at, "content", pa.array(keys[uses["content"].to_numpy()])))
        if tables["chunks"].num_rows:
            self._hold("record_chunks", _rows_of(tables["chunks"], first))
        if tables["settings"].num_rows:
            self._hold("record_settings", _rows_of(tables["settings"], first))
        if tables["events"].num_rows:
            self._hold("engine_events", _of_file(tables["events"], evidence))
        if tables["kv"].num_rows:
            self._hold("kv_events", _of_file(tables["kv"], evidence))
        if tables["rejects"].num_rows:
            self._hold("rejects", _number(tables["rejects"], evidence, line))
        if self._bytes > _FLUSH_BYTES or self._rows > _FLUSH_ROWS:
            self.flush()

    def reject(self, evidence: int, offset: int, length: int, line: int, reason: str, sha256: str) -> None:
        """Take one unreadable stretch that no block holds; `line` is the number of lines before it."""
        row = {
            "byte_offset": [offset],
            "length": [length],
            "line": [line],
            "reason": [reason],
            "sha256": [sha256],
        }
        self._hold("rejects", _number(pa.table(row), evidence, 0))

    def flush(self) -> None:
        """Append what is held."""
        for name, tables in self._held.items():
            whole = pa.concat_tables(tables)
            # Very many small files make very many pieces of a row each, which are slow to append.
            self._case.append(name, whole.combine_chunks() if len(tables) > _PIECES_MOST else whole)
        self._held = {}
        self._bytes = self._rows = 0

    def _hold(self, name: str, table: pa.Table) -> None:
        self._held.setdefault(name, []).append(table)
        self._bytes += table.nbytes
        self._rows += table.num_rows

    def _content_keys(self, digests: list[bytes], texts: pa.Table) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """The case's key of every content of the block; new ones are appended."""
        known = self._contents
        first = len(known)
        keys = np.array([known.setdefault(digest, len(known)) for digest in digests], dtype=np.int64)
        if len(known) == first:
            return keys
        # A text that two processes met at the same time comes twice; the second is not new any more.
        handed = texts["content"].to_numpy()
        fresh = keys[handed] >= first
        if int(fresh.sum()) != len(known) - first:
            raise AssertionError("a reading process held back a text that the case does not have")
        runs = _runs(fresh)
        if len(runs) > _RUNS_MOST:
            # Two processes that meet the same short texts give very many runs, and each would be a table of its own.
            texts, handed = texts.filter(pa.array(fresh)), handed[fresh]
            runs = [(0, len(handed))]
        for start, stop in runs:
            part = texts.slice(start, stop - start)  # no copy: texts are most of the case
            self._hold(
                "contents",
                pa.table(
                    {
                        "content": pa.array(keys[handed[start:stop]]),
                        "digest": pa.array([digests[i].hex() for i in handed[start:stop]], pa.string()),
                        "text": part["text"],
                        "code_points": part["code_points"],
                        "bytes": part["bytes"],
                    }
                ),
            )
        return keys


def _digests(column: pa.ChunkedArray) -> list[bytes]:
    """The 16 bytes of each row; `to_pylist` makes an object of Arrow's for every row first."""
    width = column.type.byte_width
    found: list[bytes] = []
    for chunk in column.chunks:
        data = chunk.buffers()[1].to_pybytes() if len(chunk) else b""
        first = chunk.offset * width
        found += [data[at : at + width] for at in range(first, first + len(chunk) * width, width)]
    return found


def _runs(flags: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> list[tuple[int, int]]:
    """`[start, stop)` of every run of set flags."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], flags, [False])).astype(np.int8)))
    return [(int(start), int(stop)) for start, stop in edges.reshape(-1, 2)]


def _number(table: pa.Table, evidence: int, line: int) -> pa.Table:
    """Lines counted from 1 in the file instead of from 0 in the block; and the file's number."""
    at = table.schema.get_field_index("line")
    return _of_file(table.set_column(at, "line", pc.add(table["line"], line + 1)), evidence)


def _of_file(table: pa.Table, evidence: int) -> pa.Table:
    return table.append_column("evidence", pa.array(np.full(table.num_rows, evidence, dtype=np.int32)))


def _rows_of(table: pa.Table, first: int) -> pa.Table:
    at = table.schema.get_field_index("row")
    return table.set_column(at, "record", pc.add(table["row"], first))
