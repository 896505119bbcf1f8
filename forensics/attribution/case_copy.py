"""A private copy of the case to experiment on: planted leaks and fictitious tenants never touch the evidence.

The copy lies inside the case's `restricted/` folder, readable by its owner only, and is removed whatever happens.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from forensics.attribution.holdings import Ints
from forensics.attribution.parameters import Parameters
from forensics.attribution.run import run as attribute
from forensics.attribution.spikes import Spike
from forensics.case.store import Case

FOLDER = "controls-copy"
FILES = ("case.duckdb", "case.duckdb.wal")  # what was committed stands in the two together


@contextmanager
def copied(case: Case) -> Iterator[Case]:
    """An open copy of the case's database."""
    root = case.root / "restricted" / FOLDER
    shutil.rmtree(root, ignore_errors=True)  # what an interrupted run may have left
    root.mkdir(mode=0o700)
    try:
        (root / "restricted").mkdir(mode=0o700)
        for name in FILES:
            if (case.root / name).exists():
                shutil.copyfile(case.root / name, root / name)
                (root / name).chmod(0o600)
        with Case.open(root, case.resources) as copy:
            yield copy
    finally:
        shutil.rmtree(root, ignore_errors=True)


def rerun(copy: Case, parameters: Parameters) -> None:
    """Attribute the copy as a whole, with the recorded parameters and no knowledge of what was changed."""
    copy.run("schema/stage_delete", {"stage": "attribution"})
    attribute(copy, parameters)


def plant(copy: Case, spikes: Sequence[Spike], contents: int) -> None:
    """Let the responses of `spikes` hold their new texts. `contents`: number of texts before."""
    _append_texts(copy, [spike.planted for spike in spikes], contents)
    for number, spike in enumerate(spikes):
        copy.run(
            "attribution/plant",
            {"request": spike.request, "field": spike.field, "old": spike.content, "new": contents + number},
        )


def entrap(copy: Case, texts: Sequence[str], tenants: int, times: Ints, names: str) -> None:
    """Give each text to one of `tenants` fictitious tenants as the prompt of a request of its own.

    `times`: receive time of each, UTC microseconds. `names`: what the tenants' ids begin with.
    """
    joined, seen = copy.table("joined_requests"), copy.table("requests")
    uses = copy.count("contents")
    request, key = joined.num_rows, int(pa.compute.max(seen["key"]).as_py()) + 1
    _append_texts(copy, texts, uses)
    calls: list[dict[str, Any]] = []
    rows: list[dict[str, Any]] = []
    used: list[dict[str, Any]] = []
    for i in range(len(texts)):
        tenant = f"{names}{i % tenants:03d}"
        common = {
            "request": request + i, "request_id": f"{names}r{i:06d}", "tenant_id": tenant, "received_at": int(times[i]),
            "finished_at": int(times[i]), "prompt_state": "full", "response_state": "absent",
        }  # fmt: skip
        calls.append(
            {
                **common, "tenant_basis": "record", "isolation_unit": tenant, "vantages": "gateway",
                "examinable": False, "examinable_reason": "response absent",
            }
        )  # fmt: skip
        rows.append(
            {
                **common, "key": key + i, "evidence": 0, "byte_offset": 0, "byte_length": 0, "line": 0,
                "record_digest": "", "ids": "{}", "vantage": "gateway",
            }
        )  # fmt: skip
        used.append(
            {
                "request": request + i, "key": key + i, "side": "prompt", "field": "messages[0].content",
                "role": "user", "ordinal": 0, "content": uses + i,
            }
        )  # fmt: skip
    for table, made, like in (("joined_requests", calls, joined), ("requests", rows, seen)):
        copy.append(table, _like(made, like.schema))
    copy.append("request_contents", pa.Table.from_pylist(used))


def _like(rows: list[dict[str, Any]], schema: pa.Schema) -> pa.Table:
    """Rows with every column of `schema`; what they lack is null. Times come as microseconds."""
    columns = []
    for field in schema:
        values = [row.get(field.name) for row in rows]
        if pa.types.is_timestamp(field.type):
            columns.append(pa.array(values, pa.int64()).cast(pa.timestamp("us")))
        else:
            columns.append(pa.array(values, field.type))
    return pa.table(dict(zip(schema.names, columns, strict=True)))


def _append_texts(copy: Case, texts: Sequence[str], first: int) -> None:
    import hashlib

    data = [text.encode("utf-8", "replace") for text in texts]
    copy.append(
        "contents",
        pa.table(
            {
                "content": pa.array(range(first, first + len(texts)), pa.int64()),
                "digest": [hashlib.blake2b(part, digest_size=16).hexdigest() for part in data],
                "text": [part.decode() for part in data],
                "code_points": pa.array([len(text) for text in texts], pa.int64()),
                "bytes": pa.array([len(part) for part in data], pa.int64()),
            }
        ),
    )
