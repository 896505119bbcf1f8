"""Does a simulation give the same bytes again, and does its engine keep its own rules?"""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from simulated import SMALL, Incident

from forensics.case.errors import UsageError
from forensics.simulate.dice import Dice
from forensics.simulate.engine import Engine
from forensics.simulate.requests import Choice, Message, Request, Tenant
from forensics.simulate.run import simulate

TINY = dataclasses.replace(SMALL, requests=80, leaks=5, ambiguous=0, undetermined=0)


def digests(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.mark.parametrize("compress", ["none", "gz", "zst"])
def test_same_seed_same_bytes_in_another_process(compress: str, tmp_path: Path):
    here = tmp_path / "here" / "incident"
    there = tmp_path / "there" / "incident"
    for folder in (here, there):
        folder.parent.mkdir()
    simulate(here, dataclasses.replace(TINY, compress=compress))
    code = (
        "import sys; from pathlib import Path; from forensics.simulate.parameters import Parameters;"
        "from forensics.simulate.run import simulate;"
        f"simulate(Path(sys.argv[1]), Parameters(seed=7, tenants=24, requests=80, workers=3, leaks=5,"
        f" long_prompt_chars=1500, compress={compress!r}))"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "12345"}
    subprocess.run([sys.executable, "-c", code, str(there)], check=True, env=environment)
    assert digests(here) == digests(there)


def test_another_seed_gives_another_log(tmp_path: Path):
    simulate(tmp_path / "a", TINY)
    simulate(tmp_path / "b", dataclasses.replace(TINY, seed=9))
    assert digests(tmp_path / "a")["logs/gateway.jsonl"] != digests(tmp_path / "b")["logs/gateway.jsonl"]


def test_disconnected_requests_have_no_finished_line(engine_incident: Incident):
    gone = [exchange for exchange in engine_incident.exchanges.values() if exchange.finished is None]
    gateway = [json.loads(line) for line in (engine_incident.folder / "logs" / "gateway.jsonl").open("rb")]
    assert gone
    assert {exchange.rid for exchange in gone} == {r["request_id"] for r in gateway if "finished_at" not in r}


def test_leaks_lie_between_deploy_and_fix(incident: Incident):
    body = json.loads((incident.folder / "incident.json").read_bytes())
    assert body["synthetic"] is True
    for row in incident.truth:
        exchange = incident.exchanges[row["response_request_id"]]
        assert body["deploy_at"].rstrip("Z") <= exchange.received.rstrip("Z")
        assert exchange.finished.rstrip("Z") < body["fix_at"].rstrip("Z")


def test_short_leaks_are_a_fifth_or_more(incident: Incident):
    assert sum(row["chars"] < 80 for row in incident.truth) >= 0.15 * len(incident.truth)


def test_responses_hold_every_shape(house_incident: Incident):
    names = {field for exchange in house_incident.exchanges.values() for field in exchange.fields}
    assert "choices[0].reasoning" in names
    assert "choices[0].tool_calls[0].function.arguments" in names
    assert any(not exchange.fields.get("choices[0].content") for exchange in house_incident.exchanges.values())
    assert "choices[1].content" in names


class _Watcher:
    """Hooks that hold the engine to its rules."""

    def __init__(self) -> None:
        self.order: list[int] = []
        self.most = 0

    def admitted(self, worker, request, now):
        assert worker.rows[request.slot] is request
        assert len(set(map(id, worker.rows.values()))) == len(worker.rows)
        assert not set(worker.rows) & set(worker.free)
        self.most = max(self.most, len(worker.rows))
        self.order.append(request.slot)

    def finished(self, worker, request, now):
        assert worker.rows[request.slot] is request


def _request(number: int, length: int) -> Request:
    tenant = Tenant(f"t{number}", f"t{number}", "", "", "", ("en",), -1, "", {}, "")
    return Request(
        f"r{number}", tenant, number, 1, [Message("system", "s"), Message("user", "x" * 400, tenant)],
        [Choice("y" * length)], True, "u", 0.0,
    )  # fmt: skip


def test_a_slot_never_holds_two_requests():
    watcher = _Watcher()
    engine = Engine(2, 3, "lifo", Dice(5, "engine"), watcher)
    done: list[Request] = []
    engine.on_done = done.append
    for number in range(300):
        request = _request(number, 50 + number % 7 * 300)
        request.worker = number % 2
        engine.at(number * 0.4, lambda now, item: engine.receive(item, now), request)
    engine.run()
    assert watcher.most == 3
    assert len(done) == 300 and len({request.rid for request in done}) == 300
    stays = sorted((r.worker, r.slot, r.admitted, r.finished) for r in done if r.slot >= 0)
    for former, later in itertools.pairwise(stays):
        if former[:2] == later[:2]:
            assert former[3] <= later[2]


@pytest.mark.parametrize(("policy", "expected"), [("lifo", [3, 3, 3, 3]), ("fifo", [1, 2, 3, 1])])
def test_free_slots_are_reused_by_the_policy(policy: str, expected: list[int]):
    watcher = _Watcher()
    engine = Engine(1, 3, policy, Dice(99, "engine"), watcher)
    for number in range(4):
        engine.at(number * 1000.0, lambda now, item: engine.receive(item, now), _request(number, 40))
    engine.run()
    assert watcher.order == expected


@pytest.mark.parametrize(
    "change",
    [
        {"faults": ("no_such_fault",)},
        {"form": "xml"},
        {"ambiguous": 99},
        {"tenants": 1},
        {"slot_policy": "random"},
    ],
)
def test_impossible_parameters_are_refused(change: dict, tmp_path: Path):
    with pytest.raises(UsageError):
        simulate(tmp_path / "x", dataclasses.replace(TINY, **change))


def test_a_used_folder_is_refused(tmp_path: Path):
    (tmp_path / "other").write_text("kept")
    with pytest.raises(UsageError):
        simulate(tmp_path, TINY)
    assert (tmp_path / "other").read_text() == "kept"
