"""`forensics replay run` as a command: exit codes, JSON, Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.support.fake_sglang_server import FakeServer, Fault
from tests.support.replay_plans import in_case, plan

HELD = ("T-1", "T-4")


def command(path: Path, url: str, *more: str) -> list[str]:
    return [sys.executable, "-m", "forensics", "replay", "run", str(path), "--server", url, "--seconds", "5", *more]


def test_30_where_nothing_came_and_0_where_something_did(tmp_path: Path) -> None:
    path = in_case(tmp_path / "case", plan())
    with FakeServer(Fault(holds=HELD)).running() as server:
        done = subprocess.run(command(path, server.url, "--json", "-q"), capture_output=True, text=True)
        assert done.returncode == 30, done.stderr
        data = json.loads(done.stdout)["data"]
        assert [leak["verdict"] for leak in data["leaks"]] == ["not_reproduced"] and data["trials"] == 9
        server.fault.slot = True
        done = subprocess.run(command(path, server.url, "--fresh"), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "fragment f1: reproduced_in_company." in done.stdout and "next: forensics scope" in done.stdout


def test_ctrl_c_leaves_an_empty_server_and_the_same_command_goes_on(tmp_path: Path) -> None:
    path = in_case(tmp_path / "case", plan())
    trials = path.parent / "trials.jsonl"
    with FakeServer(Fault(step=0.05, holds=HELD)).running() as server:
        # A shell's background jobs, and what they start, ignore the signal that Ctrl-C sends.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        running = subprocess.Popen(command(path, server.url, "-q"), stderr=subprocess.PIPE, text=True)
        signal.signal(signal.SIGINT, before)
        end = time.monotonic() + 60
        while not (trials.exists() and trials.read_bytes().count(b"\n") >= 1 and server._running):
            assert time.monotonic() < end and running.poll() is None
            time.sleep(0.01)
        os.kill(running.pid, signal.SIGINT)
        _, said = running.communicate(timeout=60)
        assert running.returncode == 130 and "resumes" in said
        assert not server._running and not server._queue and not server.paused
        kept = trials.read_bytes()
        server.fault.step = 0.002
        done = subprocess.run(command(path, server.url, "-q"), capture_output=True, text=True)
        assert done.returncode == 30
        assert trials.read_bytes().startswith(kept) and trials.read_bytes().count(b"\n") == 9


def test_another_machine_is_refused_before_anything_is_sent(tmp_path: Path) -> None:
    path = in_case(tmp_path / "case", plan())
    done = subprocess.run(command(path, "http://192.0.2.7:30000"), capture_output=True, text=True)
    assert done.returncode == 2 and "--allow-remote" in done.stderr
    assert not (path.parent / "trials.jsonl").exists()
