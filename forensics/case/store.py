"""The case directory and its database: open, lock, query, replace tables in one transaction. Knows no stage.

    CASE/case.duckdb  custody.jsonl  manifest.json  restricted/  out/  notify/  report/  replay/

Directories are 0700 and files 0600. One process writes at a time (DuckDB's own file lock).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from forensics.case import custody
from forensics.case.errors import MissingInput, Sealed, UnsafePermissions, UsageError
from forensics.case.queries import load_query

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

SEAL = "seal.json"  # a case with this file is closed for writing
DESTROYED = "destroyed.json"  # what remains of a destroyed case, beside its custody log
FOLDERS = ("restricted", "out", "notify", "report", "replay")
SCHEMA = (
    "schema/ingest",
    "schema/attribution",
    "schema/replay",
    "schema/likelihood",
    "schema/canaries",
    "schema/timeline",
    "schema/scope",
    "schema/categories",
    "schema/notices",
    "schema/controls",
    "schema/mechanisms",
)
Parameters = dict[str, object]
# Rows that DuckDB gathers before it compresses and writes them. Its usual 122,880 rows of long texts are gigabytes.
_ROW_GROUP = 8192


@dataclass(frozen=True)
class Resources:
    """What a run may use. `memory_bytes` bounds DuckDB and the kernels' buffers; beyond it they spill to disk."""

    memory_bytes: int = 2 << 30
    threads: int = 2


# Cases that are open in this process.
_OPEN: WeakSet[Case] = WeakSet()


class Case:
    """An open case. Use `Case.create`, `Case.open`; close it, or use it as a context manager."""

    def __init__(self, root: Path, connection: duckdb.DuckDBPyConnection, resources: Resources) -> None:
        self.root = root
        self.resources = resources
        self._connection = connection

    @classmethod
    def create(cls, root: Path, resources: Resources | None = None) -> Case:
        """Open the case at `root`, making it if absent.

        Raises UsageError where `root` is a file or a folder that holds something other than a case,
        UnsafePermissions where others may read it, Sealed where the case is closed.
        """
        if root.exists() and not root.is_dir():
            raise UsageError(f"{root} is a file; --case needs a directory")
        if root.is_dir() and any(root.iterdir()) and not (root / "case.duckdb").exists():
            raise UsageError(f"{root} is not empty and not a case; give --case a new directory")
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name in FOLDERS:
            (root / name).mkdir(mode=0o700, exist_ok=True)
        return cls._connect(root, resources)

    @classmethod
    def open(cls, root: Path, resources: Resources | None = None, *, read_only: bool = False) -> Case:
        """Open an existing case. Raises MissingInput where there is none, Sealed where it may only be read."""
        if (root / DESTROYED).is_file():
            raise MissingInput(f"the case {root} was destroyed; {DESTROYED} in it says what, when and by whom")
        if not (root / "case.duckdb").is_file():
            raise MissingInput(f"{root} is not a case: it has no case.duckdb. `forensics run ... --case DIR` makes one")
        return cls._connect(root, resources, read_only=read_only)

    @classmethod
    def _connect(cls, root: Path, resources: Resources | None, *, read_only: bool = False) -> Case:
        import duckdb

        check_permissions(root)
        if not read_only and (root / SEAL).is_file():
            raise Sealed(Sealed.text(root))
        resources = resources or Resources()
        previous = os.umask(0o077)
        try:
            scratch = root / "restricted" / "spill"
            scratch.mkdir(mode=0o700, exist_ok=True)
            config: dict[str, Any] = {
                "autoinstall_known_extensions": "false",
                "autoload_known_extensions": "false",
                "threads": str(resources.threads),
                "memory_limit": f"{max(resources.memory_bytes // 4, 256 << 20)}B",
                "temp_directory": str(scratch),
                "write_buffer_row_group_count": "1",
            }
            try:
                connection = duckdb.connect(":memory:", config=config)
                path = str(root.absolute() / "case.duckdb").replace("'", "''")
                options = f"ROW_GROUP_SIZE {_ROW_GROUP}" + (", READ_ONLY" if read_only else "")
                connection.execute(f"ATTACH '{path}' AS evidence_case ({options})")
                connection.execute("USE evidence_case")
            except (duckdb.IOException, duckdb.ResourceInUseException) as error:
                connection.close()
                if isinstance(error, duckdb.ResourceInUseException) or "lock" in str(error).lower():
                    raise UsageError(f"{root} is in use by another forensics process; wait for it to end") from None
                raise
        finally:
            os.umask(previous)
        # Nothing below needs files outside the case: Parquet is written from Arrow, not by COPY.
        connection.execute("SET enable_external_access = false")
        # A time without an offset is UTC on every machine; of all connections, as `batches` has one of its own.
        connection.execute("SET GLOBAL TimeZone = 'UTC'")
        connection.execute("SET lock_configuration = true")
        case = cls(root, connection, resources)
        _OPEN.add(case)
        if not read_only:
            for name in SCHEMA:
                connection.execute(load_query(name))
        return case

    def __enter__(self) -> Case:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the database."""
        self._connection.close()

    # -- queries ----------------------------------------------------------------------------------------------

    def rows(self, name: str, parameters: Parameters | None = None) -> list[tuple[Any, ...]]:
        """Rows of query `name` with `parameters` bound by name."""
        return self._connection.execute(load_query(name), _bound(name, parameters)).fetchall()

    def arrow(
        self, name: str, parameters: Parameters | None = None, held: Mapping[str, pa.Table] | None = None
    ) -> pa.Table:
        """Result of query `name` as an Arrow table. `held`: further tables that it reads, for this call alone."""
        for table, rows in (held or {}).items():
            self._connection.register(table, rows)
        try:
            return self._connection.sql(load_query(name), params=_bound(name, parameters)).to_arrow_table()
        finally:
            for table in held or {}:
                self._connection.unregister(table)

    def batches(self, name: str, parameters: Parameters | None = None, rows: int = 4096) -> Iterator[pa.RecordBatch]:
        """Result of query `name` in Arrow batches of at most `rows`, on a cursor of its own (bounded memory)."""
        cursor = self._connection.cursor()
        try:
            cursor.execute("USE evidence_case")
            yield from cursor.sql(load_query(name), params=_bound(name, parameters)).to_arrow_reader(rows)
        finally:
            cursor.close()

    def run(self, name: str, parameters: Parameters | None = None) -> None:
        """Run a query for its effect (INSERT, DELETE)."""
        self._connection.execute(load_query(name), _bound(name, parameters)).fetchall()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing: an error or an interruption inside leaves the former state."""
        self._connection.execute("BEGIN TRANSACTION")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    def append(self, table: str, data: pa.Table) -> None:
        """Append Arrow rows to `table`. The columns are matched by name; all must be given."""
        target = self._connection.table(_TABLES[table])
        strange = sorted(set(data.column_names) - set(target.columns))
        if strange:
            raise ValueError(f"{table} has no column {', '.join(strange)}")
        given = set(data.column_names)
        columns = ", ".join(f'"{name}"' if name in given else "NULL" for name in target.columns)
        # No view over the rows: until the transaction ends, DuckDB keeps each that was made in it, with all its rows.
        self._connection.from_arrow(data).project(columns).insert_into(_TABLES[table])

    def clear(self, tables: Sequence[str]) -> None:
        """Delete all rows of `tables`."""
        for table in tables:
            self._connection.execute(f"DELETE FROM {_TABLES[table]}")  # noqa: S608

    def table(self, table: str) -> pa.Table:
        """A whole table as Arrow, unsorted."""
        return self._connection.sql(f"SELECT * FROM {_TABLES[table]}").to_arrow_table()  # noqa: S608

    def count(self, table: str) -> int:
        """Number of rows of `table`."""
        return int(self._connection.execute(f"SELECT count(*) FROM {_TABLES[table]}").fetchall()[0][0])  # noqa: S608

    # -- paths ------------------------------------------------------------------------------------------------

    @property
    def out(self) -> Path:
        """Internal results."""
        return self.root / "out"

    @property
    def custody_path(self) -> Path:
        """The custody log."""
        return self.root / "custody.jsonl"

    def record(self, action: str, object_: str, sha256: str = "", reason: str = "") -> None:
        """Append to the custody log."""
        self.record_all([(action, object_, sha256, reason)])

    def record_all(self, actions: Sequence[tuple[str, str, str, str]]) -> None:
        """Append several (action, object, SHA-256, reason) to the custody log."""
        previous = os.umask(0o077)
        try:
            custody.append_all(self.custody_path, actions)
        finally:
            os.umask(previous)

    def check_writable(self) -> None:
        """Raise Sealed where the case may only be read."""
        if (self.root / SEAL).is_file():
            raise Sealed(Sealed.text(self.root))

    def write(self, relative: str, data: bytes) -> Path:
        """Write a file of the case, 0600, replacing it as a whole. `relative` comes from code, never from data.

        Raises Sealed where the case may only be read.
        """
        self.check_writable()
        path = self.root / relative
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        partial = path.with_name(path.name + ".partial")
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        partial.replace(path)
        return path


# Table names come from this list, so that no name from data can reach a statement.
_TABLES = {
    name: name
    for name in (
        "evidence rejects records record_ids record_contents record_chunks record_settings requests joined_requests "
        "contents request_contents chunks request_settings engine_events kv_events tenants stages "
        "join_keys request_joins join_outcomes clock_offsets divergences advice "
        "fragments appearances exclusions decoy_strata reviews trials replay_verdicts replays canaries "
        "reference_sets reference_fingerprints "
        "residencies batches batch_members appearance_relations worker_rates "
        "cache_hits cache_key_collisions slot_derivations event_clocks "
        "leak_pairs pair_facts predicate_tests mechanism_tests fault_window leak_factors exposures "
        "verdicts affected_requests affected_tenants numbers "
        "fragment_categories category_reviews notice_facts notices notice_releases "
        "controls control_spikes elusion_sample elusion_reviews likelihoods"
    ).split()
}


def interrupt_queries() -> None:
    """Stop the running queries of all open cases, from any thread: they raise DuckDB's InterruptException."""
    for case in list(_OPEN):
        with suppress(Exception):  # a connection that was closed in between
            case._connection.interrupt()


def check_permissions(root: Path) -> None:
    """Raise UnsafePermissions where group or others may enter the case directory."""
    if stat.S_IMODE(root.stat().st_mode) & 0o077:
        raise UnsafePermissions(f"{root} can be read by others; run: chmod 700 {root}")


def _bound(name: str, parameters: Parameters | None) -> Parameters:
    """Only the parameters that the query names: DuckDB refuses unused ones."""
    text = load_query(name)
    return {key: value for key, value in (parameters or {}).items() if f"${key}" in text}
