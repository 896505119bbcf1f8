"""Seeds in parts, in memory or on disk, are the seeds of one heap: against plain twins, and in a whole run."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.attribution import partitions, seeds
from forensics.attribution import run as attribution
from forensics.attribution.partitions import Partitions, rows_of, that_matter
from forensics.case.store import Case, Resources
from forensics.ingest import run as ingest

TEXTS = 6
UNITS = 3

heaps = st.lists(
    st.lists(st.tuples(st.integers(-9, 9), st.integers(0, TEXTS - 1), st.integers(0, 99)), max_size=12), max_size=5
)


def the_world(held: list[list[int]], responses: set[int]) -> SimpleNamespace:
    """As much of a case as the parts look at."""
    return SimpleNamespace(
        holdings=SimpleNamespace(
            of_content=np.cumsum([0, *map(len, held)]).astype(np.int64),
            unit=np.array([unit for units in held for unit in units], dtype=np.int64),
        ),
        requests=SimpleNamespace(unit_names=["u"] * UNITS),
        is_response=np.array([text in responses for text in range(TEXTS)]),
    )


def plainly(rows: list[tuple[int, int, int]], held: list[list[int]], responses: set[int]) -> list[tuple[int, int, int]]:
    """Rows whose hash a response has and two units hold, by hash, else in their order."""
    texts = defaultdict(set)
    for key, text, _ in rows:
        texts[key].add(text)
    return sorted(
        (
            row
            for row in rows
            if texts[row[0]] & responses and len({unit for text in texts[row[0]] for unit in held[text]}) >= 2
        ),
        key=lambda row: row[0],
    )


@settings(deadline=None, max_examples=60)
@given(
    heaps,
    st.lists(st.lists(st.integers(-1, UNITS - 1), max_size=3, unique=True), min_size=TEXTS, max_size=TEXTS),
    st.sets(st.integers(0, TEXTS - 1)),
    st.sampled_from([0, 1, 100, 1 << 20]),
    st.sampled_from([1, 7, 1 << 19]),
)
def test_what_matters_is_kept_however_it_is_parted(
    tmp_path_factory: pytest.TempPathFactory,
    heap: list[list[tuple[int, int, int]]],
    held: list[list[int]],
    responses: set[int],
    most_bytes: int,
    expected_rows: int,
) -> None:
    parts = Partitions(tmp_path_factory.getbasetemp(), expected_rows, most_bytes)
    assert parts.bits == (4 if expected_rows == 1 << 19 else 0)
    for rows in heap:
        columns = [np.array(column, dtype=np.int64) for column in zip(*rows, strict=True)] or [np.zeros(0, int)] * 3
        parts.add(*parts.split(rows_of(columns[0], columns[1], columns[2], columns[2] + 1)))
    whole = [row for rows in heap for row in rows]
    if most_bytes == 0:
        assert parts.spilled_bytes == len(whole) * partitions.ROW_BYTES
    tables = list(that_matter(parts, the_world(held, responses), 2))
    found = np.concatenate(tables)
    found = found[np.argsort(found[:, 0], kind="stable")]
    parts.close()
    assert [(int(a), int(b) >> 32, int(b) & 0x7FFFFFFF) for a, b, _ in found] == plainly(whole, held, responses)
    assert (found[:, 2] == (found[:, 1] & 0x7FFFFFFF) + 1).all()


def _log(path: Path) -> Path:
    """Leaks, text that many share, and text that tenants own, in three scripts."""
    deed = "the deed of Quarrington mill lies in box 4471-9982-113 behind the third shelf of the Tromsoe archive"
    han = "昨天下午我们在青石巷口的旧书店里找到一本没有封面的航海日记,其中记着风向和潮汐的变化"
    motto = "all our conversations are recorded for training and quality, please do not send card numbers by mail"
    records = []
    for number in range(60):
        tenant = f"t{number % 7}"
        prompt = f"{motto}. Question {number} about the garden in lane {number * 37}?"
        answer = f"Water it {number} times, and mind the frost of week {number * 3}."
        if number % 7 == 1:
            prompt += f" Keep this: {deed} ({number})."
        if number % 7 == 2:
            prompt += f" 请保密:{han}。"
        if number in (24, 39):
            answer += f" By the way, {deed}."
        if number == 47:
            answer += f" {han}"
        if number % 5 == 0:
            answer += f" As you know, {motto}."
        records.append(
            {
                "request_id": f"r-{number}",
                "tenant_id": tenant,
                "timestamp": f"2026-05-11T06:{number:02d}:00Z",
                "finished_at": f"2026-05-11T06:{number:02d}:05Z",
                "worker": "w0",
                "request": {"messages": [{"role": "user", "content": prompt}]},
                "response": {"choices": [{"message": {"role": "assistant", "content": answer}}]},
            }
        )
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def _tables(root: Path, log: Path, memory: int) -> list[object]:
    with Case.create(root, Resources(memory_bytes=memory)) as case:
        ingest.run(case, ingest.Parameters(evidence=(log,)))
        attribution.run(case, attribution.Parameters())
        tables = ("fragments", "appearances", "exclusions", "decoy_strata")
        return [case.table(name).sort_by([(name, "ascending") for name in _keys(case, name)]) for name in tables]


def _keys(case: Case, table: str) -> list[str]:
    return [field.name for field in case.table(table).schema if not str(field.type).startswith(("list", "map"))]


def test_a_run_in_many_parts_on_disk_is_the_run_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = _log(tmp_path / "log.jsonl")
    whole = _tables(tmp_path / "whole", log, 2 << 30)
    assert {row["recipient_request_id"] for row in whole[0].to_pylist()} >= {"r-24", "r-39", "r-47"}  # type: ignore[attr-defined]
    spilled, groups = [], []
    made, taken = Partitions.close, seeds.Seeds._ordered

    def close(self: Partitions) -> None:
        spilled.append((self.bits, self.spilled_bytes))
        made(self)

    def ordered(self: seeds.Seeds, tables: list[partitions.Table]) -> seeds.Rows:
        groups.append(len(tables))
        return taken(self, tables)

    monkeypatch.setattr(Partitions, "close", close)
    monkeypatch.setattr(seeds.Seeds, "_ordered", ordered)
    monkeypatch.setattr(partitions, "PART_ROWS", 16)
    parted = _tables(tmp_path / "parted", log, 1 << 12)
    assert max(bits for bits, _ in spilled) >= 4  # 16 parts,
    assert max(size for _, size in spilled) > 1 << 13  # on disk,
    assert len(groups) > 2 + 2  # and looked at in several groups
    assert parted == whole
    assert not list((tmp_path / "parted" / "restricted" / "spill").iterdir())
