"""Pickles are read as data and never run: what they hold, what they would do, and what is only made to look like one."""

from __future__ import annotations

import datetime
import decimal
import io
import json
import os
import pickle
import random
import subprocess
import sys
import time
import types
from collections import OrderedDict
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.case import custody
from forensics.case.errors import NothingReadable
from forensics.case.store import Case
from forensics.ingest import transcoders
from forensics.ingest.blocks import Oversized
from forensics.ingest.isolated import dump_rows
from forensics.ingest.isolated.bounds import Speaker
from forensics.ingest.isolated.pickle_values import Inert, Numbers
from forensics.ingest.isolated.pickles import Bounds, PickleError, Reader
from forensics.ingest.record import FileContext
from forensics.ingest.run import Parameters, run
from forensics.ingest.streams import Limits
from forensics.ingest.units import Unit
from tests.support.dumps import dump_of, request_class

FORMATS = Path(__file__).parent / "formats"
FUZZ = int(os.environ.get("FORENSICS_FUZZ", "2000"))


def load(data: bytes, **bounds: int) -> Any:
    return Reader(data, Bounds(**bounds)).load()


def as_data(value: Any) -> Any:
    """What this reader makes of a value: runs of numbers spelled out, sets as sorted lists."""
    if isinstance(value, list | tuple):
        made: list[Any] = []
        for item in value:
            made += item.values() if isinstance(item, Numbers) else [as_data(item)]
        return type(value)(made)
    if isinstance(value, set | frozenset):
        return sorted(map(as_data, value))
    if isinstance(value, dict):
        return {key: as_data(item) for key, item in value.items()}
    return bytes(value) if isinstance(value, bytearray) else value


def units(path: Path) -> list[Unit | Oversized]:
    size = path.stat().st_size
    context = FileContext("f", ZoneInfo("UTC"))
    found = list(transcoders.units("sglang_dump", path, size, Limits(1000, 1 << 30), context))
    assert sum(unit.length if isinstance(unit, Oversized) else unit.size for unit in found) == size
    return found


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**60), 10**60)
    | st.floats(allow_nan=False)
    | st.binary(max_size=300)
    | st.binary(max_size=20).map(bytearray)
    | st.text(max_size=300)
    | st.sets(st.integers(0, 10**6), max_size=1)
    | st.lists(st.integers(-(2**31), 2**31 - 1), min_size=10, max_size=60),
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.lists(inner, max_size=5).map(tuple)
        | st.dictionaries(st.text("abc", max_size=3) | st.integers(0, 9), inner, max_size=5)
    ),
    max_leaves=25,
)


@given(VALUES, st.integers(0, 5))
def test_data_comes_back_as_it_was_whatever_the_protocol(value, protocol):
    assert as_data(load(pickle.dumps(value, protocol))) == as_data(value)


@pytest.mark.parametrize("protocol", range(6))
def test_one_value_in_two_places_is_one_value(protocol):
    shared = ["x"]
    first, second = load(pickle.dumps([shared, shared], protocol))
    assert first is second
    itself: list[Any] = []
    itself.append(itself)
    found = load(pickle.dumps(itself, protocol))
    assert found[0] is found


@pytest.mark.parametrize("protocol", range(6))
def test_what_only_makes_data_becomes_that_data(protocol):
    moment = datetime.datetime(2026, 3, 4, 5, 6, 7, 89)
    value = {"o": OrderedDict(a=1), "m": moment, "d": decimal.Decimal("1.50"), "f": frozenset((3,))}
    found = load(pickle.dumps(value, protocol))
    assert found == {"o": {"a": 1}, "m": "2026-03-04T05:06:07.000089", "d": "1.50", "f": [3]}


@pytest.mark.parametrize("protocol", range(6))
def test_an_object_is_its_class_name_and_its_state(protocol):
    found = load(pickle.dumps(request_class()(rid="r1", text="Hi"), protocol))
    assert isinstance(found, Inert)
    assert found.name == "sglang.srt.managers.io_struct.GenerateReqInput"
    assert found.state == {"rid": "r1", "text": "Hi"}


class Does:
    def __init__(self, function: Any, *arguments: Any, state: Any = None) -> None:
        self.told = (function, arguments) if state is None else (function, arguments, state)

    def __reduce__(self) -> Any:
        return self.told


def attacks(canary: Path) -> dict[str, bytes]:
    """Pickles that touch the canary when they are loaded in the usual way."""
    command = f"touch {canary}"
    shell = command.encode()
    made = {
        f"{name} {protocol}": pickle.dumps(value, protocol)
        for protocol in range(6)
        for name, value in {
            "system": Does(os.system, command),
            "popen": Does(subprocess.Popen, ["touch", str(canary)]),
            "eval": Does(eval, f"open({str(canary)!r}, 'w')"),
            "open": {"requests": [Does(open, str(canary), "w")]},
            "in a request": {"requests": [(request_class()(rid="r", text=Does(os.system, command)), {}, 1.7e9, 1.7e9)]},
        }.items()
    }
    made["instance"] = b"(S'" + shell + b"'\nios\nsystem\n."
    made["object"] = b"(cos\nsystem\nS'" + shell + b"'\no."
    made["new object"] = b"\x80\x04cos\nsystem\n(V" + shell + b"\nt\x81."
    return made


def test_a_pickle_that_would_run_a_command_runs_none(tmp_path):
    canary = tmp_path / "canary"
    path = tmp_path / "evil.pkl"
    armed = attacks(canary)
    # That they would: else this test says nothing. Loaded in a process of its own.
    path.write_bytes(armed["system 4"])
    subprocess.run([sys.executable, "-c", f"import pickle; pickle.load(open({str(path)!r}, 'rb'))"], check=True)
    assert canary.exists()
    canary.unlink()
    for name, data in armed.items():
        load(data)
        assert not canary.exists(), name
    for name in ("system 0", "popen 2", "eval 4", "open 5", "in a request 4", "instance", "object", "new object"):
        path.write_bytes(armed[name])
        found = units(path)
        assert not canary.exists(), name
        if "request" not in name:
            assert [unit.reason for unit in found] == ["unreadable_entry"], name


def test_the_process_that_reads_can_open_and_start_nothing(tmp_path):
    """What it could do, had a pickle a way to make it."""
    tried = """
import sys, os, socket
from forensics.ingest.isolated.bounds import give_up
give_up(1 << 30, 10, alone=True)
failed = []
for name, act in {
    "open": lambda: open("/etc/hostname"), "write": lambda: open(sys.argv[1], "w"), "socket": lambda: socket.socket(),
    "fill": lambda: bytearray(2 << 30),
}.items():
    try:
        act()
    except (OSError, MemoryError):
        failed.append(name)
print(*failed)
"""
    root = str(Path(dump_rows.__file__).parents[3])
    result = subprocess.run(
        [sys.executable, "-c", tried, str(tmp_path / "written")],
        capture_output=True, text=True, env={**os.environ, "PYTHONPATH": root}, check=True,
    )  # fmt: skip
    assert result.stdout.split() == ["open", "write", "socket", "fill"]


BOMBS = {
    "a length that is not there": b"\x80\x04\x8e" + (1 << 62).to_bytes(8, "little") + b"x.",
    "a number of 2 GB": b"\x80\x04\x8b" + (0x7FFFFFFF).to_bytes(4, "little") + b"1.",
    "a negative length": b"\x80\x04\x8b" + (-5).to_bytes(4, "little", signed=True) + b"1.",
    "a number of many digits": b"I" + b"9" * 100_000 + b"\n.",
    "no stop": b"\x80\x04]",
    "an empty stack": b"\x80\x04.",
    "a mark in place of a value": b"\x80\x04(.",
    "items of no list": b"\x80\x04K\x01(K\x02e.",
    "a memo that is not there": b"\x80\x04h\x07.",
    "an unknown opcode": b"\x80\x04\xff.",
    "half a pair": b"\x80\x04}(K\x01u.",
}


@pytest.mark.parametrize("name", sorted(BOMBS))
def test_a_pickle_that_is_none_is_refused(name):
    with pytest.raises(PickleError):
        load(BOMBS[name])


def test_more_memory_than_the_bound_is_refused():
    with pytest.raises(PickleError) as refused:
        load(b"\x80\x04" + b"(" * 100_000, memory=1 << 20)
    assert refused.value.reason == "memory"
    with pytest.raises(PickleError) as refused:
        load(b"\x80\x04" + b"N0" * 100_000 + b"N.", opcodes=1000)
    assert refused.value.reason == "memory"


def laughing(levels: int) -> Any:
    value: Any = ["ha"] * 10
    for _ in range(levels):
        value = [value] * 10
    return value


def nested(levels: int) -> bytes:
    """A list in a list in a list; the library's own writer cannot write so many."""
    return b"\x80\x04" + b"]" * levels + b"a" * (levels - 1) + b"."


@pytest.mark.parametrize(
    ("value", "fits"),
    [(laughing(30), False), (laughing(2), True), ("x" * 100_000, True), (["x" * 1_000_000] * 5_000, False)],
    ids=("doubling", "few", "long text", "one text very often"),
)
def test_a_value_that_repeats_without_end_is_one_reject(value, fits, tmp_path):
    path = tmp_path / "bomb.pkl"
    path.write_bytes(pickle.dumps([{"rid": "a", "text": "b", "more": value}, {"rid": "c", "text": "d"}]))
    begin = time.process_time()
    first, second = units(path)
    assert (first.reason is None) is fits
    assert json.loads(second.data) == {"rid": "c", "text": "d"}
    assert time.process_time() - begin < 5


def test_deep_nesting_is_one_reject(tmp_path):
    path = tmp_path / "deep.pkl"
    path.write_bytes(nested(1_000_000))
    assert [unit.reason for unit in units(path)] == ["unreadable_entry"]
    path.write_bytes(b"\x80\x04" + b"N" + b"\x85" * 1_000_000 + b".")
    assert [unit.reason for unit in units(path)] == ["unreadable_entry"]


def test_deep_keys_are_left_out():
    """To hash a tuple in a tuple in a tuple would end the process."""
    deep = b"\x80\x04}" + b"N" + b"\x85" * 1_000_000 + b"Ns."
    assert load(deep) == {}


def test_a_dump_that_is_cut_short_is_said_and_all_its_bytes_are_counted(tmp_path):
    data = dump_of([("r1", "Hi", "Ho"), ("r2", "Ha", "He")], protocol=4)
    path = tmp_path / "cut.pkl"
    for size in range(2, len(data)):
        with pytest.raises(PickleError):
            load(data[:size])
    for size in (10, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:size])
        (only,) = units(path)
        assert isinstance(only, Oversized)
        assert only.reason == "bad_container"
    path.write_bytes(data + data[:-1])
    assert [getattr(unit, "reason", None) for unit in units(path)] == [None, None, "bad_container"]
    path.write_bytes(data + data)
    assert len(units(path)) == 4


def test_mutated_dumps_raise_nothing_else():
    chance = random.Random("pickles")
    samples = [dump_of([("r1", "Hi", "Ho"), ("r2", "Ha", "He")], protocol=protocol) for protocol in range(6)]
    samples += [path.read_bytes() for path in sorted((FORMATS / "sglang_dump").glob("*.pkl"))]
    fine = 0
    for number in range(max(FUZZ, 200)):
        data = bytearray(samples[number % len(samples)])
        for _ in range(chance.randint(1, 4)):
            at = chance.randrange(len(data))
            match chance.randrange(4):
                case 0:
                    data[at] = chance.randrange(256)
                case 1:
                    del data[at : at + chance.randint(1, 20)]
                case 2:
                    data[at:at] = bytes(chance.randrange(256) for _ in range(chance.randint(1, 8)))
                case _:
                    start = chance.randrange(len(data))
                    data[at:at] = data[start : start + 50]
            if not data:
                data = bytearray(b"\x80")
        said = Speaker()
        try:
            lines = list(dump_rows.rows(bytes(data), 1 << 20, said))
        except PickleError:
            continue
        fine += 1
        for line in lines:
            assert isinstance(json.loads(line), dict)
    assert fine


TEXTS = {
    "a log of vLLM's workers": b"(VllmWorkerProcess pid=12) INFO 03-04 05:06:07 core.py:1] up\n" * 50,
    "a log of Ray": b"(RayActor pid=1, ip=10.0.0.1) [2026-03-04 05:06:07] Prefill batch\n" * 50,
    "JSON": b'{"request_id": "a"}\n[1]\n',
    "words": b"cat\ndog\nhorse\n(see there)\n" * 20,
    "a stamp": b"[2026-03-04 05:06:07] Finish: obj=...\n",
    "brackets": b"]\n}\n(\n)\n",
    "a list of items": b"(dp rank 1) ready\n(lp) ok\n",
    "zeros": b"\0" * 100,
    "UTF-16": "\ufeffrequest".encode("utf-16-le"),
    "a lone mark": b"\x80\x04",
    "nothing": b"",
}


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_texts_are_no_pickles(name):
    assert transcoders.of_head(TEXTS[name]) != "sglang_dump"


@pytest.mark.parametrize("protocol", range(6))
def test_a_dump_is_known_by_its_opcodes(protocol):
    data = dump_of([(f"r{n}", "Hi " * 500, "Ho") for n in range(10)], protocol=protocol)
    assert transcoders.of_head(data[: transcoders.HEAD]) == "sglang_dump"
    assert transcoders.of_head(data[:64]) == "sglang_dump"


def test_without_leave_a_pickle_is_refused_and_says_how_to_go_on(tmp_path):
    path = tmp_path / "dump.pkl"
    path.write_bytes(dump_of([("r1", "Hi", "Ho")]))
    with Case.create(tmp_path / "case") as case:
        with pytest.raises(NothingReadable):
            run(case, Parameters((path,)))
        (row,) = case.table("evidence").to_pylist()
        assert "--allow-pickle" in row["format_reason"]
        assert case.table("rejects")["reason"].to_pylist() == ["pickle_not_allowed"]
        assert "allow-pickle" not in [entry.action for entry in custody.read(case.custody_path)]
        # With leave the same file is read, and the case remembers that it was given.
        run(case, Parameters((path,), allow_pickle=True))
        assert case.table("requests")["request_id"].to_pylist() == ["r1"]
        assert "allow-pickle" in [entry.action for entry in custody.read(case.custody_path)]


def test_leave_is_given_on_the_command_line(tmp_path):
    from typer.testing import CliRunner

    from forensics.cli.main import app

    path = tmp_path / "dump.pkl"
    path.write_bytes(dump_of([("r1", "Hi", "Ho")]))
    call = ["ingest", str(path), "--case", str(tmp_path / "case"), "--json"]
    assert CliRunner().invoke(app, call).exit_code == NothingReadable.exit_code
    allowed = CliRunner().invoke(app, [*call, "--allow-pickle"])
    assert allowed.exit_code == 0
    assert json.loads(allowed.stdout)["data"]["files"][0]["format"] == "sglang_dump"


def test_a_pickle_inside_a_compression_is_said(tmp_path):
    import gzip

    path = tmp_path / "dump.pkl.gz"
    path.write_bytes(gzip.compress(dump_of([("r1", "Hi", "Ho")])))
    with Case.create(tmp_path / "case") as case:
        with pytest.raises(NothingReadable):
            run(case, Parameters((path,), allow_pickle=True))
        (row,) = case.table("evidence").to_pylist()
        assert "decompress it first" in row["format_reason"]


def test_many_token_ids_take_little_time_and_memory(tmp_path):
    path = tmp_path / "ids.pkl"
    ids = list(range(100_000))
    request = request_class()
    calls = [(request(rid=f"r{n}", input_ids=tuple(ids) if n % 2 else ids), {}, 1.7e9, 1.7e9) for n in range(20)]
    path.write_bytes(pickle.dumps({"requests": calls}))
    found = units(path)
    assert len(found) == 20
    assert {json.loads(unit.data)["sglang_dump"]["request"]["input_tokens"] for unit in found} == {100_000}


def test_an_unpickler_of_the_library_agrees_on_the_samples():
    """The samples are real pickles: the library's own reader, with these classes at hand, reads the same requests."""
    stub = types.SimpleNamespace

    class Known(pickle.Unpickler):
        def find_class(self, module: str, name: str) -> Any:
            return {"GenerateReqInput": stub, "ServerArgs": stub}[name]

    for path in sorted((FORMATS / "sglang_dump").glob("*.pkl")):
        value = Known(io.BytesIO(path.read_bytes())).load()
        calls = value["requests"] if isinstance(value, dict) else value
        assert [call[0].rid for call in calls] == [
            json.loads(unit.data)["sglang_dump"]["request"]["rid"] for unit in units(path)
        ]
