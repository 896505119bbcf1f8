"""Rows that were appended to a case are let go at once, not at the end of the stage's transaction."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pyarrow as pa

from forensics.case.store import Case, Resources

_ROWS = 20_000


def _rejects(case: Case) -> None:
    table = pa.table(
        {
            "evidence": pa.array([0] * _ROWS, pa.int32()),
            "byte_offset": pa.array(list(range(_ROWS)), pa.int64()),
            "length": pa.array([1] * _ROWS, pa.int64()),
            "line": pa.array(list(range(_ROWS)), pa.int64()),
            "reason": pa.array(["bad_json"] * _ROWS),
            "sha256": pa.array([hashlib.sha256(b"%d" % row).hexdigest() for row in range(_ROWS)]),
        }
    )
    case.append("rejects", table.select(table.column_names[::-1]))


def test_rows_are_let_go_before_the_transaction_ends(tmp_path: Path) -> None:
    with Case.create(tmp_path / "case", Resources(1 << 30, 1)) as case, case.transaction():
        _rejects(case)
        before = pa.total_allocated_bytes()
        for _ in range(5):
            _rejects(case)
        # One such table is 2 MB.
        assert pa.total_allocated_bytes() < before + 1_000_000
        assert case.count("rejects") == 6 * _ROWS
        assert case.table("rejects")["sha256"][0].as_py() == hashlib.sha256(b"0").hexdigest()


def test_long_rows_are_written_before_the_transaction_ends(tmp_path: Path) -> None:
    case = Case.create(tmp_path / "it's a case", Resources(1 << 30, 1))
    path = tmp_path / "it's a case" / "case.duckdb"
    with case, case.transaction():
        before = path.stat().st_size
        for _ in range(3):
            _rejects(case)
        assert path.stat().st_size > before
