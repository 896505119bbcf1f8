"""Parquet and Arrow tables: every value as JSON, every byte counted, and no file that fills or ends the program."""

from __future__ import annotations

import base64
import gzip
import json
import os
import random
import subprocess
import sys
from datetime import date, time
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.case.errors import NothingReadable
from forensics.case.store import Case
from forensics.ingest import child, transcoders
from forensics.ingest.blocks import Oversized
from forensics.ingest.isolated import dump_rows
from forensics.ingest.isolated.table_values import Values
from forensics.ingest.record import FileContext
from forensics.ingest.run import Parameters, run
from forensics.ingest.streams import Limits
from forensics.ingest.units import Unit

FORMATS = Path(__file__).parent / "formats"
ROOT = str(Path(dump_rows.__file__).parents[3])
FUZZ = int(os.environ.get("FORENSICS_FUZZ", "2000"))


def units(path: Path, ratio: int = 1000, most: int = 1 << 30, longest: int = 1 << 20) -> list[Unit | Oversized]:
    size = path.stat().st_size
    context = FileContext("f", ZoneInfo("UTC"), max_line_bytes=longest)
    found = list(transcoders.units("parquet_rows", path, size, Limits(ratio, most), context))
    assert sum(unit.length if isinstance(unit, Oversized) else unit.size for unit in found) == size
    return found


def rows(path: Path, table: pa.Table, **options: Any) -> list[dict[str, Any]]:
    pq.write_table(table, path, **options)
    found = units(path)
    assert not [unit for unit in found if isinstance(unit, Oversized) or unit.reason]
    return [json.loads(unit.data) for unit in found if not unit.structure]


JSON_TYPES: list[tuple[pa.DataType, Any]] = [
    (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    (pa.uint64(), st.integers(0, 2**64 - 1)),
    (pa.bool_(), st.booleans()),
    (pa.float64(), st.floats(allow_nan=False, allow_infinity=False)),
    (pa.string(), st.text(max_size=20)),
    (pa.large_string(), st.text(max_size=20)),
]


def nested(kind: tuple[pa.DataType, Any], depth: int) -> Any:
    """(type, strategy of values) of a kind, perhaps inside lists and structs."""
    if not depth:
        return st.just(kind)
    inner = nested(kind, depth - 1)
    return inner | inner.map(
        lambda one: (pa.list_(one[0]), st.none() | st.lists(one[1] | st.none(), max_size=4))
    ) | inner.map(
        lambda one: (
            pa.struct([("a", one[0]), ("b", pa.string())]),
            st.none() | st.fixed_dictionaries({"a": st.none() | one[1], "b": st.none() | st.text(max_size=3)}),
        )
    )  # fmt: skip


@settings(max_examples=200)
@given(st.data())
def test_values_that_json_has_come_back_as_they_were(data):
    kind, values = data.draw(st.sampled_from(JSON_TYPES).flatmap(lambda kind: nested(kind, 2)))
    column = data.draw(st.lists(st.none() | values, max_size=12))
    array = pa.array(column, kind)
    start = data.draw(st.integers(0, len(column)))
    assert Values().of(array) == column
    assert Values().of(array.slice(start)) == column[start:]
    if pa.types.is_string(kind):
        assert Values().of(array.dictionary_encode()) == column


CASES: dict[str, tuple[pa.Array, list[Any]]] = {
    "whole numbers beyond doubles": (pa.array([2**53 + 1, None]), [2**53 + 1, None]),
    "decimals": (pa.array([Decimal("1.50"), Decimal("-7.00")], pa.decimal128(20, 2)), [1.5, -7.0]),
    "an instant": (pa.array([1772600767123456, None], pa.timestamp("us", "UTC")), ["2026-03-04T05:06:07.123456Z", None]),
    "nanoseconds": (pa.array([1772600767123456789], pa.timestamp("ns", "UTC")), ["2026-03-04T05:06:07.123456789Z"]),
    "no zone": (pa.array([1772600767123], pa.timestamp("ms")), ["2026-03-04T05:06:07.123"]),
    "a zone": (pa.array([1772600767], pa.timestamp("s", "Asia/Kolkata")), ["2026-03-04T10:36:07+05:30"]),
    "an offset": (pa.array([1772600767], pa.timestamp("s", "-03:30")), ["2026-03-04T01:36:07-03:30"]),
    "an unknown zone": (pa.array([1772600767], pa.timestamp("s", "Nowhere/Atall")), ["2026-03-04T05:06:07Z"]),
    "summer": (pa.array([1783400767], pa.timestamp("s", "Europe/Berlin")), ["2026-07-07T07:06:07+02:00"]),
    "before 1970": (pa.array([-1], pa.timestamp("us", "UTC")), ["1969-12-31T23:59:59.999999Z"]),
    "the far future": (pa.array([2**62], pa.timestamp("s", "UTC")), [str(2**62)]),
    "dates": (pa.array([date(2026, 3, 4)]), ["2026-03-04"]),
    "clock": (pa.array([time(5, 6, 7, 89)]), ["05:06:07.000089"]),
    "text as bytes": (pa.array(["{\"a\": \"é\"}".encode()]), ['{"a": "é"}']),
    "bytes": (pa.array([b"\x00\xff\x10"]), [base64.b64encode(b"\x00\xff\x10").decode()]),
    "a map": (pa.array([[("a", 1), ("b", None)], None, []], pa.map_(pa.string(), pa.int64())), [{"a": 1, "b": None}, None, {}]),
    "a map of numbers": (pa.array([[(1, "x")]], pa.map_(pa.int64(), pa.string())), [[[1, "x"]]]),
    "not a number": (pa.array([float("nan"), float("inf"), 0.5]), [None, None, 0.5]),
    "lists of one length": (pa.array([[1, 2], [3, 4]], pa.list_(pa.int32(), 2)), [[1, 2], [3, 4]]),
    "nothing": (pa.nulls(2), [None, None]),
    "repeated texts": (pa.array(["a", "b", "a", None]).dictionary_encode(), ["a", "b", "a", None]),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(CASES))
def test_values_of_each_kind(name):
    column, expected = CASES[name]
    assert orjson.loads(orjson.dumps(Values().of(column))) == expected


def test_a_decimal_is_written_digit_by_digit(tmp_path):
    digits = "12345678901234567890.10"
    pq.write_table(pa.table({"id": pa.array([Decimal(digits)], pa.decimal128(30, 2))}), tmp_path / "t.parquet")
    (only,) = units(tmp_path / "t.parquet")
    assert only.data == b'{"id":' + digits.encode() + b"}"


def test_a_number_as_id_keeps_its_digits(tmp_path):
    table = pa.table(
        {
            "request_id": pa.array([Decimal("9007199254740993")], pa.decimal128(20, 0)),
            "user_id": pa.array([2**53 + 1]),
            "prompt": ["Hi"],
            "response": ["Ho"],
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    with Case.create(tmp_path / "case") as case:
        run(case, Parameters((tmp_path / "t.parquet",)))
        (row,) = case.table("requests").to_pylist()
        assert (row["request_id"], row["user_id"]) == ("9007199254740993", "9007199254740993")


def test_rows_of_all_groups_come_in_their_order_and_share_the_bytes(tmp_path):
    table = pa.table({"request_id": [f"r{n}" for n in range(2500)], "response": ["same"] * 2500})
    found = rows(tmp_path / "t.parquet", table, row_group_size=700)
    assert [row["request_id"] for row in found] == [f"r{n}" for n in range(2500)]


def test_more_rows_than_bytes_are_all_read(tmp_path):
    path = tmp_path / "t.parquet"
    table = pa.table({"request_id": ["r"] * 9000, "response": ["same"] * 9000})
    pq.write_table(table, path, compression="zstd")
    assert path.stat().st_size < 9000
    with Case.create(tmp_path / "case") as case:
        run(case, Parameters((path,)))
        (row,) = case.table("evidence").to_pylist()
        assert row["records"] == 9000


def test_a_column_stays_the_text_that_it_is(tmp_path):
    texts = ['{"a": 1}', "1.0", "null", "", "  x ", "\u2028\n", "=1+1"]
    assert [row["t"] for row in rows(tmp_path / "t.parquet", pa.table({"t": texts}))] == texts


def test_text_that_is_no_utf8_is_read_and_counted(tmp_path):
    path = tmp_path / "t.parquet"
    raw = pa.array([b"a\xffb"], pa.binary())
    pq.write_table(pa.table({"t": pa.Array.from_buffers(pa.string(), 1, raw.buffers())}), path)
    context = FileContext("f", ZoneInfo("UTC"))
    (only,) = transcoders.units("parquet_rows", path, path.stat().st_size, Limits(1000, 1 << 30), context)
    assert json.loads(only.data) == {"t": "a\ufffdb"}
    assert context.notices == {"bad_bytes": 1}


def test_damaged_and_cut_files_are_said(tmp_path):
    whole = (FORMATS / "parquet_rows" / "house.parquet").read_bytes()
    path = tmp_path / "t.parquet"
    for data in (whole[:-1], whole[:100], b"PAR1", whole[:-8] + b"\xff\xff\xff\x7fPAR1", b"ARROW1\0\0" + whole):
        path.write_bytes(data)
        (only,) = units(path)
        assert isinstance(only, Oversized)
        assert (only.reason, only.length) == ("bad_container", len(data))
    with Case.create(tmp_path / "case") as case, pytest.raises(NothingReadable):
        run(case, Parameters((path,)))


def test_a_page_that_is_damaged_loses_its_row_group_and_no_other(tmp_path):
    path = tmp_path / "t.parquet"
    chance = random.Random(1)
    texts = [chance.randbytes(500).hex() for _ in range(300)]
    table = pa.table({"request_id": [f"r{n}" for n in range(300)], "response": texts})
    pq.write_table(table, path, row_group_size=100, compression="zstd")
    second = pq.ParquetFile(path).metadata.row_group(1).column(1)
    data = bytearray(path.read_bytes())
    middle = second.dictionary_page_offset + second.total_compressed_size // 2
    data[middle : middle + 2000] = b"\0" * 2000
    path.write_bytes(data)
    found = units(path)
    read = [json.loads(unit.data)["request_id"] for unit in found if isinstance(unit, Unit)]
    assert read == [f"r{n}" for n in (*range(100), *range(200, 300))]
    (lost,) = (unit for unit in found if isinstance(unit, Oversized))
    assert lost.reason == "bad_container"
    assert abs(lost.length - len(data) / 3) < 2


def test_an_encrypted_file_is_said(tmp_path):
    path = tmp_path / "t.parquet"
    path.write_bytes(b"PARE" + b"\0" * 100 + b"PARE")
    (only,) = units(path)
    assert isinstance(only, Oversized)
    assert only.reason == "encrypted_container"


@pytest.mark.parametrize("plain", [True, False])
def test_encrypted_columns_are_said(plain, tmp_path):
    encryption = pytest.importorskip("pyarrow.parquet.encryption")

    class Keys(encryption.KmsClient):
        def __init__(self, _: Any) -> None:
            encryption.KmsClient.__init__(self)

        def wrap_key(self, key: bytes, _: str) -> bytes:
            return base64.b64encode(key)

        def unwrap_key(self, key: str, _: str) -> bytes:
            return base64.b64decode(key)

    path = tmp_path / "t.parquet"
    table = pa.table({"request_id": ["a"], "response": ["x"]})
    factory = encryption.CryptoFactory(Keys)
    how = encryption.EncryptionConfiguration(footer_key="f", column_keys={"c": ["response"]}, plaintext_footer=plain)
    properties = factory.file_encryption_properties(encryption.KmsConnectionConfig(), how)
    with pq.ParquetWriter(path, table.schema, encryption_properties=properties) as writer:
        writer.write_table(table)
    (only,) = units(path)
    assert isinstance(only, Oversized)
    assert only.reason == "encrypted_container"


def test_a_dictionary_bomb_is_bounded(tmp_path):
    """A megabyte that a hundred thousand rows repeat: a hundred gigabytes as text."""
    path = tmp_path / "t.parquet"
    once = pa.DictionaryArray.from_arrays(pa.array([0] * 100_000, pa.int32()), pa.array(["x" * 1_000_000]))
    pq.write_table(pa.table({"request_id": ["r"] * 100_000, "response": once}), path, compression="zstd")
    assert path.stat().st_size < 100_000
    *_, last = units(path, ratio=100, longest=4 << 20)
    assert isinstance(last, Oversized)
    assert last.reason == "ratio"
    assert last.lines == 0


def test_a_page_that_unfolds_to_very_much_is_bounded(tmp_path):
    path = tmp_path / "t.parquet"
    table = pa.table({"response": pa.array([b"\0" * (500 << 20)], pa.large_binary())})
    pq.write_table(table, path, compression="zstd", use_dictionary=False, write_statistics=False)
    *_, last = units(path)
    assert last.reason == "memory"


def test_the_process_can_say_no_word_that_is_not_known(tmp_path, monkeypatch):
    said = [
        b"!notice \x1b[2J 5",
        b"!notice bad_bytes 3",
        b"!notice",
        b"!refused \xff\xfe",
        b"!nonsense 1",
        b"!end \x1b",
    ]
    monkeypatch.setattr(child, "_lines", lambda *given, **named: iter(said))
    path = tmp_path / "t.parquet"
    path.write_bytes(b"PAR1" * 9)
    context = FileContext("f", ZoneInfo("UTC"))
    found = list(transcoders.units("parquet_rows", path, 36, Limits(1000, 1 << 30), context))
    assert context.notices == {"bad_bytes": 3}
    assert [unit.reason for unit in found] == ["bad_container"]
    assert found[0].size == 36


def test_a_table_is_read_once(tmp_path, monkeypatch):
    """Detection looks at the first rows and keeps them: a second process would cost as much, and the budget twice."""
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"request_id": [f"r{n}" for n in range(900)], "response": ["text"] * 900}), path)
    started = []
    real = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda *given, **named: started.append(1) or real(*given, **named))
    with Case.create(tmp_path / "case") as case:
        run(case, Parameters((path,)))
        assert sorted(case.table("requests")["request_id"].to_pylist()) == sorted(f"r{n}" for n in range(900))
    assert len(started) == 1


def test_a_table_inside_a_compression_is_said(tmp_path):
    path = tmp_path / "t.parquet.gz"
    pq.write_table(pa.table({"request_id": ["r"]}), tmp_path / "t.parquet")
    path.write_bytes(gzip.compress((tmp_path / "t.parquet").read_bytes()))
    with Case.create(tmp_path / "case") as case:
        with pytest.raises(NothingReadable):
            run(case, Parameters((path,)))
        (row,) = case.table("evidence").to_pylist()
        assert "decompress it first" in row["format_reason"]
        assert case.table("rejects")["reason"].to_pylist() == ["unsupported_container"]


def test_a_row_that_is_too_long_is_one_reject(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"response": ["short", "x" * 5000, "short"]}), path)
    assert [unit.reason for unit in units(path, longest=1000)] == [None, "oversized_line", None]


def test_the_limit_of_bytes_makes_the_run_partial(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"request_id": [f"r{n}" for n in range(3000)], "response": ["text"] * 3000}), path)
    with Case.create(tmp_path / "case") as case:
        summary = run(case, Parameters((path,), max_bytes=50_000))
        assert summary.figures["partial"]
        (row,) = case.table("evidence").to_pylist()
        assert 0 < row["records"] < 3000
        assert not row["complete"]


def test_a_blob_store_table_of_kserve_is_read_by_its_profile(tmp_path):
    """`Bytes` is a binary column here: the body itself, and no base64 of it."""
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
    answer = {"id": "c1", "choices": [{"index": 0, "message": {"role": "assistant", "content": "Ho"}}]}
    table = pa.table(
        {
            "Id": ["k1", "k1"],
            "ReqType": ["org.kubeflow.serving.inference.request", "org.kubeflow.serving.inference.response"],
            "Bytes": pa.array([json.dumps(body).encode(), json.dumps(answer).encode()]),
            "InferenceService": ["llama", "llama"],
            "Namespace": ["ns", "ns"],
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    with Case.create(tmp_path / "case") as case:
        run(case, Parameters((tmp_path / "t.parquet",)))
        (row,) = case.table("evidence").to_pylist()
        assert (row["format"], row["records"]) == ("kserve_events", 2)
        assert sorted(case.table("contents")["text"].to_pylist()) == ["Hi", "Ho"]


def test_mutated_files_neither_end_nor_fill_this_process(tmp_path):
    """A few through the process; `test_fuzz` counts their bytes as well. A crash there is one reject here."""
    chance = random.Random("tables")
    samples = [path.read_bytes() for path in sorted((FORMATS / "parquet_rows").iterdir()) if path.suffix != ".json"]
    path = tmp_path / "t.parquet"
    for number in range(max(8, FUZZ // 150)):
        data = bytearray(samples[number % len(samples)])
        for _ in range(chance.randint(1, 4)):
            at = chance.randrange(8, len(data))
            data[at] = chance.randrange(256)
        path.write_bytes(data)
        units(path)


def test_the_process_of_tables_can_write_nothing(tmp_path):
    tried = """
import sys
from forensics.ingest.isolated.bounds import give_up
give_up(1 << 30, 10, alone=False)
try:
    with open(sys.argv[1], "wb") as file:
        file.write(b"x")
except OSError:
    print("refused")
"""
    result = subprocess.run(
        [sys.executable, "-c", tried, str(tmp_path / "w")],
        capture_output=True, text=True, env={**os.environ, "PYTHONPATH": ROOT}, check=False,
    )  # fmt: skip
    # The kernel sends a signal before it returns the error; the interpreter ignores that.
    assert result.stdout.split() == ["refused"]


@pytest.mark.parametrize("arrow", [True, False])
def test_two_columns_of_one_name_are_refused_with_the_reason(arrow, tmp_path):
    """A dictionary would keep the last of them and say nothing."""
    path = tmp_path / "t"
    inner = pa.StructArray.from_arrays([pa.array(["a"]), pa.array(["b"])], ["role", "role"])
    for table in (
        pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"])], ["request_id", "request_id"]),
        pa.table({"request_id": ["a"], "request": inner}),
    ):
        if arrow:
            with pa.ipc.new_file(path, table.schema) as writer:
                writer.write_table(table)
        else:
            pq.write_table(table, path)
        (only,) = units(path)
        assert isinstance(only, Oversized)
        assert (only.reason, only.length) == ("repeated_column", path.stat().st_size)
