"""How fast is a whole run, in MB of raw log per second, and how much memory does it take?

Simulates a case of the size asked for, runs `forensics run` on it as a user would, and parses the same bytes with a
bare two-process orjson loop as yardstick: no reader of JSON logs can be faster than that. Measures, never judges.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import orjson
import psutil

PIECE = 1 << 24


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=1000, help="raw log to simulate (default 1000)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--requests", type=int, default=20000)
    parser.add_argument("--tenants", type=int, default=100)
    parser.add_argument("--leaks", type=int, default=150)
    parser.add_argument("--memory", default="2G")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--logs", type=Path, help="use this folder (simulated if it does not exist) and keep it")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        incident = arguments.logs or Path(scratch) / "incident"
        if not incident.exists():
            simulate(incident, arguments)
        logs = incident / "logs"
        size = sum(path.stat().st_size for path in logs.rglob("*") if path.is_file())
        bare = bare_parse(logs, arguments.threads)
        case = Path(scratch) / "case"
        command = ["run", str(logs), "--case", str(case), "--memory", arguments.memory]
        command += ["--threads", str(arguments.threads), "--json"]
        seconds, peak, out = measured([sys.executable, "-m", "forensics", *command])
        envelope = json.loads(out)
        result = {
            "raw_mb": round(size / 1e6, 1),
            "run_seconds": round(seconds, 1),
            "run_mb_per_second": round(size / 1e6 / seconds, 1),
            "peak_rss_mb": round(peak / 1e6),
            "bare_parse_seconds": round(bare, 1),
            "bare_parse_mb_per_second": round(size / 1e6 / bare, 1),
            "run_over_bare": round(seconds / bare, 1),
            "requests": envelope["data"]["overview"]["requests"],
            "affected": envelope["data"]["overview"]["affected"],
            "case_mb": round(sum(p.stat().st_size for p in case.rglob("*") if p.is_file()) / 1e6, 1),
        }
        shutil.rmtree(case)
    if arguments.json:
        print(json.dumps(result))
        return
    for name, value in result.items():
        print(f"{name.replace('_', ' '):26} {value}")


def simulate(incident: Path, arguments: argparse.Namespace) -> None:
    """A simulated incident of the size asked for."""
    settings = {"seed": arguments.seed, "requests": arguments.requests, "tenants": arguments.tenants}
    settings |= {"leaks": arguments.leaks, "megabytes": arguments.megabytes}
    options = [part for name, value in settings.items() for part in (f"--{name}", str(value))]
    subprocess.run([sys.executable, "-m", "forensics", "simulate", str(incident), *options, "--json"],
                   check=True, stdout=subprocess.DEVNULL)  # fmt: skip


def measured(command: list[str]) -> tuple[float, int, bytes]:
    """Seconds, peak resident bytes of the process and its children together, and stdout."""
    with tempfile.TemporaryFile() as out:
        started = time.monotonic()
        process = subprocess.Popen(command, stdout=out)
        peak = 0
        while process.poll() is None:
            peak = max(peak, tree_bytes(process.pid))
            time.sleep(0.1)
        seconds = time.monotonic() - started
        if process.returncode:
            raise SystemExit(f"forensics run ended with {process.returncode}")
        out.seek(0)
        return seconds, peak, out.read()


def tree_bytes(pid: int) -> int:
    """Resident memory of a process and all below it; pages that they share count once per process."""
    total = 0
    try:
        root = psutil.Process(pid)
        for process in (root, *root.children(recursive=True)):
            total += process.memory_info().rss
    except psutil.NoSuchProcess:
        pass
    return total


def bare_parse(logs: Path, processes: int) -> float:
    """Seconds to orjson-parse every line of the logs, `processes` at a time, and keep nothing."""
    tasks = [
        (str(path), start, min(start + PIECE, path.stat().st_size))
        for path in sorted(logs.rglob("*"))
        if path.is_file()
        for start in range(0, path.stat().st_size, PIECE)
    ]
    started = time.monotonic()
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        parsed = sum(pool.imap_unordered(parse_range, tasks))
    seconds = time.monotonic() - started
    if not parsed:
        raise SystemExit("nothing was parsed: the logs are not JSON lines")
    return seconds


def parse_range(task: tuple[str, int, int]) -> int:
    """Lines parsed of those that start in a byte range of a file."""
    path, start, end = task
    parsed = 0
    with Path(path).open("rb") as file:
        if start:
            file.seek(start - 1)
            file.readline()
        while file.tell() < end and (line := file.readline()):
            if line.strip():
                orjson.loads(line[line.index(b"{") :])  # engine lines begin with a time
                parsed += 1
    return parsed


if __name__ == "__main__":
    main()
