"""How do the tables of the case leave it as Parquet? Never the contents: `out/` holds no text of a log.

Row groups have a fixed number of rows whatever sizes the batches arrive in, so that the bytes depend on the rows alone.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from forensics.case.store import Case

if TYPE_CHECKING:
    import pyarrow as pa

SCHEMA_VERSION = "1.0"
_ROW_GROUP = 65_536
# Committed by earlier stages: read in batches on a connection of their own, in bounded memory.
EARLIER = (
    "evidence rejects requests joined_requests request_contents chunks engine_events tenants fragments appearances "
    "exclusions decoy_strata reviews trials replay_verdicts residencies batches batch_members appearance_relations "
    "worker_rates cache_hits cache_key_collisions slot_derivations event_clocks controls control_spikes "
    "predicate_tests mechanism_tests fault_window leak_factors exposures"
).split()
# Written by this stage in the open transaction, which only the case's own connection sees.
OWN = "verdicts fragment_categories affected_requests affected_tenants numbers".split()


def write_tables(case: Case) -> list[str]:
    """Write `out/<table>.parquet` for every table but the contents; returns the file names."""
    for table in EARLIER:
        query = f"scope/parquet_{table}"
        # A reader without rows yields no batch, hence no columns.
        batches = case.batches(query, rows=_ROW_GROUP) if case.count(table) else _batches(case.arrow(query))
        case.write(f"out/{table}.parquet", _encode(table, batches))
    for table in OWN:
        case.write(f"out/{table}.parquet", _encode(table, _batches(case.arrow(f"scope/parquet_{table}"))))
    return [f"{table}.parquet" for table in EARLIER + OWN]


def _encode(table: str, batches: Iterable[pa.RecordBatch]) -> bytes:
    import pyarrow.parquet as pq

    sink = io.BytesIO()
    writer: pq.ParquetWriter | None = None
    for group in _groups(batches):
        if writer is None:
            metadata = {b"schema": f"{table}/{SCHEMA_VERSION}".encode()}
            schema = group.schema.with_metadata(metadata)
            writer = pq.ParquetWriter(sink, schema, compression="zstd", coerce_timestamps="us")
        writer.write_table(group.cast(writer.schema), row_group_size=_ROW_GROUP)
    if writer is not None:
        writer.close()
    return sink.getvalue()


def _batches(table: pa.Table) -> list[pa.RecordBatch]:
    """The batches of a table; one without rows where it is empty."""
    import pyarrow as pa

    return table.to_batches() or [pa.RecordBatch.from_pylist([], schema=table.schema)]


def _groups(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Tables of exactly `_ROW_GROUP` rows, then the rest; one empty table where there are no rows."""
    import pyarrow as pa

    held: list[pa.RecordBatch] = []
    rows = 0
    empty = True
    for batch in batches:
        held.append(batch)
        rows += batch.num_rows
        while rows >= _ROW_GROUP:
            table = pa.Table.from_batches(held)
            yield table.slice(0, _ROW_GROUP).combine_chunks()
            held = table.slice(_ROW_GROUP).to_batches()
            rows -= _ROW_GROUP
            empty = False
    if held and (rows or empty):
        yield pa.Table.from_batches(held).combine_chunks()
