"""The `--tenants` file: who is behind a request id, user, key, header or account. Reads it; joins nothing."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from forensics.case.errors import MissingInput, UsageError

if TYPE_CHECKING:
    import pyarrow as pa

LONG = ("key_kind", "key", "tenant_id", "organisation", "legal_name", "contact", "country", "language")
SHORT = ("key", "tenant")
KINDS = ("request_id", "user", "api_key", "header", "tenant", "any")
_MOST_BYTES = 1 << 30
_REMEDY = (
    "the first line must be `key_kind,key,tenant_id` with any of `organisation,legal_name,contact,country,language`, "
    "or `key,tenant`"
)


def read_tenants(path: Path) -> pa.Table:
    """The file as a table with the columns of `tenants`. Raises MissingInput, or UsageError with the remedy."""
    import pyarrow as pa

    if not path.is_file():
        raise MissingInput(f"{path} is not there; --tenants needs a CSV file")
    if path.stat().st_size > _MOST_BYTES:
        raise UsageError(f"{path} is over 1 GiB; --tenants needs one line per key")
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not UTF-8; save it as UTF-8 CSV") from None
    rows = list(_rows(text, path))
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(LONG)
    return pa.table({name: pa.array(column, pa.string()) for name, column in zip(LONG, columns, strict=True)})


def _rows(text: str, path: Path) -> Iterable[tuple[str | None, ...]]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    seen: dict[tuple[str, str], tuple[str | None, ...]] = {}
    organisations: dict[str, str] = {}
    try:
        header = [name.strip().lower() for name in next(reader, [])]
        short = tuple(header) == SHORT
        if not short and not (set(header) <= set(LONG) and {"key_kind", "key", "tenant_id"} <= set(header)):
            raise UsageError(f"{path}: the header is not understood; {_REMEDY}")
        if len(set(header)) < len(header):
            raise UsageError(f"{path}: a column stands twice in the header; {_REMEDY}")
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            line = reader.line_num
            if len(cells) > len(header):
                raise UsageError(f"{path} line {line} has more cells than the header; quote cells that hold commas")
            found = dict(zip(header, cells, strict=False))
            if short:
                found = {"key_kind": "any", "key": found.get("key", ""), "tenant_id": found.get("tenant", "")}
            kind = found.get("key_kind", "").strip().lower()
            if kind not in KINDS:
                raise UsageError(f"{path} line {line}: key_kind must be one of {', '.join(KINDS[:-1])}")
            if not found.get("key") or not found.get("tenant_id"):
                raise UsageError(f"{path} line {line}: key and tenant must not be empty")
            row = (kind, *(found.get(name) or None for name in LONG[1:]))
            known = seen.setdefault((kind, found["key"]), row)
            if known[2] != row[2]:
                raise UsageError(f"{path} line {line} gives a key that an earlier line gave to another tenant")
            organisation = row[3]
            if organisation and organisations.setdefault(str(row[2]), organisation) != organisation:
                raise UsageError(f"{path} line {line} gives a tenant that an earlier line gave to another organisation")
            if known is row:
                yield row
    except csv.Error:
        raise UsageError(f"{path} line {reader.line_num} is not CSV; check its quotes") from None
