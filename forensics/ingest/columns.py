"""Records as Arrow tables, one set per block of evidence. The texts of a block stand once each.

Row numbers and content numbers are those of the block; the writer makes them the case's.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Callable
from functools import cache
from itertools import accumulate
from operator import attrgetter
from typing import Any

import orjson
import pyarrow as pa

from forensics.ingest.record import Blocks, EngineEvent, Item, Place, Record

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
        self.digests: dict[str, bytes] = {}
        self._characters = 0
        self.sent: set[bytes] = set()

    def digest(self, text: str, data: bytes) -> bytes:
        """The 128-bit BLAKE2b of the text's UTF-8 bytes, which are `data`; from now on `digests` knows it."""
        digest = hashlib.blake2b(data, digest_size=16).digest()
        if self._characters > _CACHE_CHARACTERS:
            self.digests.clear()
            self._characters = 0
        if len(self.sent) > _MOST_SENT:
            self.sent.clear()
        self.digests[text] = digest
        self._characters += len(text) + 100
        return digest


class BlockColumns:
    """Collects the records of one block."""

    def __init__(self, cache: TextCache) -> None:
        self._cache = cache
        self._records: list[tuple[Any, ...]] = []
        self._places: list[tuple[int, int, int, str]] = []
        self._ids: list[tuple[int, str, str]] = []
        self._uses: list[tuple[int, str, str, str, int, int]] = []
        self._contents: dict[bytes, int] = {}
        self._by_text: dict[str, int] = {}
        self._new: list[int] = []
        self._texts: list[bytes] = []  # UTF-8
        self._code_points: list[int] = []
        self._chunks: list[tuple[int, int, int, int | None, int, int]] = []
        self._events: list[tuple[Any, ...]] = []
        self._settings: list[tuple[int, str | None, int, int]] = []
        self._input, self._output = array("i"), array("i")
        self._kv: list[tuple[Any, ...]] = []
        self._blocks = array("q")
        self.rejects: list[tuple[int, int, int, str, str]] = []

    def add(self, item: Item, place: Place, first: int) -> None:
        """Append one item that stands at `place`; `first` is the number of lines before the block."""
        if isinstance(item, EngineEvent):
            self._event(item, place)
        else:
            self._record(item, place, first)

    def _event(self, event: EngineEvent, place: Place) -> None:
        self._events.append(
            (
                place.offset,
                event.at,
                event.worker,
                event.kind,
                event.request_id,
                event.slot,
                event.batch,
                event.iteration,
                _json(event.counts),
                _json(event.attributes),
            )
        )
        if event.blocks is not None:
            blocks = event.blocks
            self._kv.append((place.offset, event.at, event.worker, *_KV_VALUES(blocks), len(blocks.hashes)))
            self._blocks.extend(blocks.hashes)

    def _record(self, record: Record, place: Place, first: int) -> None:
        row = len(self._records)
        self._records.append(_VALUES(record))
        self._places.append((place.offset, place.size, place.line - first, place.digest))
        for chunk in record.chunks:
            self._chunks.append((row, *chunk))
        if record.sampling is not None or record.input_ids is not None or record.output_ids is not None:
            asked, answered = record.input_ids or (), record.output_ids or ()
            self._input.extend(asked)
            self._output.extend(answered)
            self._settings.append((row, record.sampling, len(asked), len(answered)))
        if record.ids:
            for kind, value in record.ids.items():
                self._ids.append((row, kind, value))
        uses = self._uses
        known = self._by_text.get
        for ordinal, (side, field, role, text) in enumerate(record.texts):
            content = known(text)
            if content is None:
                content = self._content(text)
            uses.append((row, side, field, role, ordinal, content))

    def _content(self, text: str) -> int:
        """The block's number of a text that it has not met yet."""
        data: bytes | None = None
        key = self._cache.digests.get(text)
        if key is None:
            data = text.encode()
            key = self._cache.digest(text, data)
        content = self._contents.setdefault(key, len(self._contents))
        self._by_text[text] = content
        if key not in self._cache.sent:
            self._cache.sent.add(key)
            self._new.append(content)
            # Encoded once for both, the digest and the table: of texts that are not ASCII it is dear.
            self._texts.append(text.encode() if data is None else data)
            self._code_points.append(len(text))
        return content

    def reject(self, offset: int, length: int, line: int, reason: str, digest: str) -> None:
        """Append one unreadable line."""
        self.rejects.append((offset, length, line, reason, digest))

    def tables(self, aside: Callable[[list[bytes]], bool] | None = None) -> dict[str, pa.Table]:
        """The block as tables `records`, `ids`, `uses`, `chunks`, `settings`, `events`, `kv`, `contents`, `texts`,
        `rejects`.

        `contents` names every text of the block; `texts` holds those that this process has not handed on before,
        without the column `text` where `aside` took them.
        """
        taken = aside is not None and aside(self._texts)
        return {
            "records": pa.table(
                {
                    **_columns(self._places, _PLACE_FIELDS),
                    **_columns(self._records, RECORD_FIELDS),
                }
            ),
            "ids": _table(self._ids, _ID_FIELDS),
            "uses": _table(self._uses, _USE_FIELDS),
            "chunks": _table(self._chunks, _CHUNK_FIELDS),
            "settings": _settings(self._settings, self._input, self._output),
            "events": _table(self._events, _EVENT_FIELDS),
            "kv": _kv(self._kv, self._blocks),
            "contents": pa.table({"digest": pa.array(list(self._contents), pa.binary(16))}),
            "texts": pa.table(
                {
                    "content": pa.array(self._new, pa.int64()),
                    # Python knows how long its strings are; counting them again would read every byte.
                    "code_points": pa.array(self._code_points, pa.int64()),
                    "bytes": pa.array(list(map(len, self._texts)), pa.int64()),
                    **({} if taken else {"text": _strings(self._texts)}),
                }
            ),
            "rejects": _table(self.rejects, _REJECT_FIELDS),
        }


def _strings(texts: list[bytes]) -> pa.Array:
    """Texts out of their UTF-8 bytes, which came from an encoder and so are not checked again."""
    data = pa.array(texts, pa.large_binary())
    return pa.Array.from_buffers(pa.large_string(), len(data), data.buffers())


def _settings(rows: list[tuple[int, str | None, int, int]], asked: array[int], answered: array[int]) -> pa.Table:
    """Parameters and tokens by record; the tokens are not touched one by one."""
    if not rows:
        return _SETTINGS.empty_table()
    records, sampling, asked_counts, answered_counts = zip(*rows, strict=True)
    lists = [_lists(asked_counts, asked, pa.int32()), _lists(answered_counts, answered, pa.int32())]
    return pa.table([pa.array(records, pa.int64()), pa.array(sampling, pa.string()), *lists], schema=_SETTINGS)


def _kv(rows: list[tuple[Any, ...]], blocks: array[int]) -> pa.Table:
    """Events of prefix caches; the hashes are not touched one by one."""
    if not rows:
        return _KV.empty_table()
    *columns, counts = zip(*rows, strict=True)
    values = [pa.array(column, kind) for column, kind in zip(columns, _KV.types, strict=False)]
    return pa.table([*values, _lists(counts, blocks, pa.int64())], schema=_KV)


def _lists(counts: tuple[int, ...], numbers: array[int], kind: Any) -> pa.Array:
    """A list per count, the numbers in turn; none where the count is 0."""
    ends = pa.array([0, *accumulate(counts)], pa.int32())
    values = pa.Array.from_buffers(kind, len(numbers), [None, pa.py_buffer(numbers.tobytes())])
    return pa.ListArray.from_arrays(ends, values, mask=pa.array([not count for count in counts]))


def _json(values: dict[str, Any]) -> str | None:
    return orjson.dumps(values, option=orjson.OPT_SORT_KEYS).decode() if values else None


def _table(rows: list[Any], fields: tuple[tuple[str, Any], ...]) -> pa.Table:
    return pa.table(_columns(rows, fields)) if rows else _empty(fields)


@cache
def _empty(fields: tuple[tuple[str, Any], ...]) -> pa.Table:
    """Most blocks have no row of most sorts, and of many small files each is a block."""
    return pa.schema(fields).empty_table()


def _columns(rows: list[Any], fields: tuple[tuple[str, Any], ...]) -> dict[str, pa.Array]:
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(fields)
    return {name: pa.array(column, kind) for (name, kind), column in zip(fields, columns, strict=True)}


_VALUES = attrgetter(*(name for name, _ in RECORD_FIELDS))
_PLACE_FIELDS = (
    ("byte_offset", pa.int64()),
    ("byte_length", pa.int64()),
    ("line", pa.int64()),
    ("record_digest", pa.string()),
)
_ID_FIELDS = (("row", pa.int64()), ("kind", pa.string()), ("id", pa.string()))
_USE_FIELDS = (
    ("row", pa.int64()),
    ("side", pa.string()),
    ("field", pa.string()),
    ("role", pa.string()),
    ("ordinal", pa.int32()),
    ("content", pa.int64()),
)
_CHUNK_FIELDS = (
    ("row", pa.int64()),
    ("choice", pa.int32()),
    ("seq", pa.int32()),
    ("at", _US),
    ("start", pa.int64()),
    ("end", pa.int64()),
)
_SETTINGS = pa.schema(
    [
        ("row", pa.int64()),
        ("sampling", pa.string()),
        ("input_ids", pa.list_(pa.int32())),
        ("output_ids", pa.list_(pa.int32())),
    ]
)
_KV_VALUES: Callable[[Blocks], tuple[Any, ...]] = attrgetter(
    "ordinal", "rank", "seq", "kind", "size", "medium", "parent", "salt", "adapter", "session"
)
_KV = pa.schema(
    [
        ("byte_offset", pa.int64()),
        ("at", _US),
        ("worker", pa.string()),
        ("ordinal", pa.int32()),
        ("dp_rank", pa.int32()),
        ("seq", pa.int64()),
        ("kind", pa.string()),
        ("block_size", pa.int32()),
        ("medium", pa.string()),
        ("parent", pa.int64()),
        ("salt", pa.string()),
        ("adapter", pa.string()),
        ("session", pa.string()),
        ("blocks", pa.list_(pa.int64())),
    ]
)
_EVENT_FIELDS = (
    ("byte_offset", pa.int64()),
    ("at", _US),
    ("worker", pa.string()),
    ("kind", pa.string()),
    ("request_id", pa.string()),
    ("slot", pa.string()),
    ("batch", pa.string()),
    ("iteration", pa.int64()),
    ("counts", pa.string()),
    ("attributes", pa.string()),
)
_REJECT_FIELDS = (
    ("byte_offset", pa.int64()),
    ("length", pa.int64()),
    ("line", pa.int64()),
    ("reason", pa.string()),
    ("sha256", pa.string()),
)
