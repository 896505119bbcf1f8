"""Rows of a Parquet or Arrow file as JSON objects, a bounded batch at a time. Runs in a process of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from forensics.ingest.isolated.bounds import OUT_OF_MEMORY, Speaker, give_up, leave

_MEMORY = 2 << 30
_BATCH_BYTES = 8 << 20
_BATCH_ROWS = 1024
_MOST_COLUMNS = 10_000
_MOST_THRIFT = 64 << 20


def main(arguments: list[str]) -> None:
    """Read the file that is the standard input; `arguments` are its size and the longest row, in bytes."""
    size, longest = map(int, arguments[:2])
    speaker = Speaker()
    code = 0
    try:
        import orjson  # noqa: F401  # before nothing can be opened any more
        import pyarrow as pa
        import pyarrow.compute
        import pyarrow.parquet

        import forensics.ingest.isolated.table_values  # noqa: F401

        pa.set_cpu_count(1)
        pa.set_memory_pool(pa.system_memory_pool())
        source = os.fdopen(0, "rb", buffering=0)
        give_up(_MEMORY, 120 + (size >> 18), alone=False)
        _read(pa.PythonFile(source, "r"), longest, speaker)
    except MemoryError:
        code = OUT_OF_MEMORY
    except (OSError, NotImplementedError, ValueError, TypeError, OverflowError, KeyError, RecursionError) as error:
        # Arrow's errors are among these. What they say may quote the file, so that only the sort of trouble goes on.
        speaker.tell("end", _reason(error))
    speaker.flush()
    leave(code)


def _reason(error: Exception) -> str:
    return "encrypted_container" if "crypt" in str(error)[:400] else "bad_container"


def _read(file: Any, longest: int, speaker: Speaker) -> None:
    import orjson

    from forensics.ingest.isolated.table_values import Values, repeated

    values = Values()
    head = file.read(4)
    file.seek(0)
    if head == b"PARE":
        speaker.tell("end", "encrypted_container")
        return
    groups = _parquet(file, speaker) if head == b"PAR1" else _arrow(file, speaker)
    for batch in groups:
        if repeated(batch.schema):
            # One of two columns of a name would hide the other.
            speaker.tell("end", "repeated_column")
            return
        columns = [values.of(column) for column in batch.columns]
        names = batch.schema.names
        for row in zip(*columns, strict=True):
            line = orjson.dumps(dict(zip(names, row, strict=True)), option=orjson.OPT_NON_STR_KEYS)
            if len(line) > longest:
                speaker.tell("refused", "oversized_line")
            else:
                speaker.say(line)
        for name, count in values.notices.items():
            speaker.tell("notice", name, count)
        values.notices.clear()


def _parquet(file: Any, speaker: Speaker) -> Iterator[Any]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    options = {"thrift_string_size_limit": _MOST_THRIFT, "thrift_container_size_limit": 1_000_000}
    table = pq.ParquetFile(file, buffer_size=1 << 20, pre_buffer=False, **options)
    metadata = table.metadata
    if metadata.num_columns > _MOST_COLUMNS:
        raise ValueError
    # Texts that repeat stay one text each: a dictionary may stand for very many bytes.
    texts = [
        field.name
        for field in table.schema_arrow
        if pa.types.is_string(field.type) or pa.types.is_binary(field.type) or pa.types.is_large_string(field.type)
    ]
    if texts:
        file.seek(0)
        table = pq.ParquetFile(file, buffer_size=1 << 20, pre_buffer=False, read_dictionary=texts, **options)
    speaker.tell("groups", metadata.num_row_groups)
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        rows = group.num_rows
        speaker.tell("rows", max(rows, 0))
        if rows <= 0:
            continue
        at_once = min(_BATCH_ROWS, max(1, _BATCH_BYTES * rows // max(group.total_byte_size, 1)))
        found = 0
        try:
            for batch in table.iter_batches(at_once, row_groups=[number], use_threads=False):
                found += batch.num_rows
                yield batch
        except (OSError, ValueError) as error:
            # The other groups stand for themselves.
            speaker.tell("lost", _reason(error))
            continue
        if found != rows:
            speaker.tell("lost", "bad_container")


def _arrow(file: Any, speaker: Speaker) -> Iterator[Any]:
    import pyarrow as pa

    table = pa.ipc.open_file(file)
    speaker.tell("groups", table.num_record_batches)
    for number in range(table.num_record_batches):
        batch = table.get_batch(number)
        # The library takes what the file says of its buffers at its word until it is asked.
        batch.validate(full=True)
        if batch.num_columns > _MOST_COLUMNS:
            raise ValueError
        speaker.tell("rows", batch.num_rows)
        for start in range(0, batch.num_rows, _BATCH_ROWS):
            yield batch.slice(start, _BATCH_ROWS)
