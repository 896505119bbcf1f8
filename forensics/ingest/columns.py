"""Records as Arrow tables, one set per block of evidence. The texts of a block stand once each.

Row numbers and content numbers are those of the block; the writer makes them the case's.
"""

from __future__ import annotations

import hashlib
from typing import Any

import pyarrow as pa

from forensics.ingest.record import Record

_US = pa.timestamp("us")
RECORD_FIELDS: tuple[tuple[str, Any], ...] = (
    ("part", pa.string()),
    ("request_id", pa.string()),
    ("vantage", pa.string()),
    ("tenant_id", pa.string()),
    ("user_id", pa.string()),
    ("endpoint", pa.string()),
    ("model", pa.string()),
    ("worker", pa.string()),
    ("dp_rank", pa.int32()),
    ("received_at", _US),
    ("first_token_at", _US),
    ("finished_at", _US),
    ("time_precision", pa.string()),
    ("latency_us", pa.int64()),
    ("status", pa.string()),
    ("finish_reason", pa.string()),
    ("prompt_tokens", pa.int64()),
    ("completion_tokens", pa.int64()),
    ("cached_tokens", pa.int64()),
    ("stream", pa.bool_()),
    ("prompt_state", pa.string()),
    ("response_state", pa.string()),
)
_CACHE_CHARACTERS = 48_000_000
_MOST_SENT = 2_000_000


class TextCache:
    """Digests of texts seen lately, and which texts were handed on before. One per process; bounded."""

    def __init__(self) -> None:
        self._digests: dict[str, bytes] = {}
        self._characters = 0
        self.sent: set[bytes] = set()

    def digest(self, text: str) -> bytes:
        """The 128-bit BLAKE2b of the text's UTF-8 bytes."""
        digest = self._digests.get(text)
        if digest is None:
            digest = hashlib.blake2b(text.encode(), digest_size=16).digest()
            if self._characters > _CACHE_CHARACTERS:
                self._digests.clear()
                self._characters = 0
            if len(self.sent) > _MOST_SENT:
                self.sent.clear()
            self._digests[text] = digest
            self._characters += len(text) + 100
        return digest


class BlockColumns:
    """Collects the records of one block."""

    def __init__(self, cache: TextCache) -> None:
        self._cache = cache
        self._values: list[list[Any]] = [[] for _ in RECORD_FIELDS]
        self._place: tuple[list[int], list[int], list[int], list[str]] = ([], [], [], [])
        self._ids: tuple[list[int], list[str], list[str]] = ([], [], [])
        self._uses: tuple[list[int], list[str], list[str], list[str], list[int], list[int]] = ([], [], [], [], [], [])
        self._contents: dict[bytes, int] = {}
        self._texts: list[str | None] = []
        self.rejects: list[tuple[int, int, int, str, str]] = []

    def add(self, record: Record, offset: int, length: int, line: int, digest: str) -> None:
        """Append one record that stands at `offset`."""
        row = len(self._place[0])
        for column, name in zip(self._values, _NAMES, strict=True):
            column.append(getattr(record, name))
        offsets, lengths, lines, digests = self._place
        offsets.append(offset)
        lengths.append(length)
        lines.append(line)
        digests.append(digest)
        for kind, value in record.ids.items():
            self._ids[0].append(row)
            self._ids[1].append(kind)
            self._ids[2].append(value)
        rows, sides, fields, roles, ordinals, contents = self._uses
        cache = self._cache
        for ordinal, (side, field, role, text) in enumerate(record.texts):
            key = cache.digest(text)
            content = self._contents.get(key)
            if content is None:
                content = self._contents[key] = len(self._texts)
                if key in cache.sent:
                    self._texts.append(None)
                else:
                    cache.sent.add(key)
                    self._texts.append(text)
            rows.append(row)
            sides.append(side)
            fields.append(field)
            roles.append(role)
            ordinals.append(ordinal)
            contents.append(content)

    def reject(self, offset: int, length: int, line: int, reason: str, digest: str) -> None:
        """Append one unreadable line."""
        self.rejects.append((offset, length, line, reason, digest))

    def tables(self) -> dict[str, pa.Table]:
        """The block as tables `records`, `ids`, `uses`, `contents`, `rejects`."""
        offsets, lengths, lines, digests = self._place
        records = {
            "byte_offset": pa.array(offsets, pa.int64()),
            "byte_length": pa.array(lengths, pa.int64()),
            "line": pa.array(lines, pa.int64()),
            "record_digest": pa.array(digests, pa.string()),
        }
        for (name, kind), values in zip(RECORD_FIELDS, self._values, strict=True):
            records[name] = pa.array(values, kind)
        rows, sides, fields, roles, ordinals, contents = self._uses
        bad = tuple(zip(*self.rejects, strict=True)) if self.rejects else ((), (), (), (), ())
        return {
            "records": pa.table(records),
            "ids": pa.table(
                {
                    "row": pa.array(self._ids[0], pa.int64()),
                    "kind": pa.array(self._ids[1], pa.string()),
                    "id": pa.array(self._ids[2], pa.string()),
                }
            ),
            "uses": pa.table(
                {
                    "row": pa.array(rows, pa.int64()),
                    "side": pa.array(sides, pa.string()),
                    "field": pa.array(fields, pa.string()),
                    "role": pa.array(roles, pa.string()),
                    "ordinal": pa.array(ordinals, pa.int32()),
                    "content": pa.array(contents, pa.int64()),
                }
            ),
            "contents": pa.table(
                {
                    "digest": pa.array(list(self._contents), pa.binary(16)),
                    "text": pa.array(self._texts, pa.large_string()),
                }
            ),
            "rejects": pa.table(
                {
                    "byte_offset": pa.array(bad[0], pa.int64()),
                    "length": pa.array(bad[1], pa.int64()),
                    "line": pa.array(bad[2], pa.int64()),
                    "reason": pa.array(bad[3], pa.string()),
                    "sha256": pa.array(bad[4], pa.string()),
                }
            ),
        }


_NAMES = tuple(name for name, _ in RECORD_FIELDS)
