"""How do time and memory grow with the log, stage by stage, on one thread and on two?

    python bench/size.py --megabytes 100 250 500 1000 --threads 1 2 --plot docs/cost-by-size.svg

Makes logs of those sizes with `traffic.py` (histories that repeat, or with `--new` texts that are all new), runs the
stages one after the other as verbs of their own, and prints wall seconds, CPU seconds and the peak memory of each, and
by how much the time grows where the data doubles. `--plot` draws seconds against size. Measures, never judges.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

from throughput import tree_bytes

VERBS = ("ingest", "attribute", "timeline", "scope", "report")
BYTES_A_REQUEST = {False: 6600, True: 100_000}
SHAPE = {False: ["--prompt=480", "--answer=950"], True: ["--turns=1", "--prompt=96000", "--answer=2400"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, nargs="+", default=[100, 250, 500, 1000])
    parser.add_argument("--threads", type=int, nargs="+", default=[2])
    parser.add_argument("--memory", default="2G")
    parser.add_argument("--new", action="store_true", help="texts that are all new")
    parser.add_argument("--plot", type=Path, help="an SVG to draw")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    arguments = parser.parse_args()
    rows = []
    for megabytes in arguments.megabytes:
        with tempfile.TemporaryDirectory() as scratch:
            root = Path(scratch)
            made = make(root / "made", megabytes, arguments.new)
            for threads in arguments.threads:
                rows += one(root, made, threads, arguments.memory)
    if arguments.json:
        print(json.dumps(rows))
    else:
        show(rows)
    if arguments.plot:
        plot(rows, arguments.plot)


def make(out: Path, megabytes: int, new: bool) -> dict[str, Any]:
    """A log of about that size; what was written."""
    requests = max(200, megabytes * 1_000_000 // BYTES_A_REQUEST[new])
    command = [sys.executable, str(Path(__file__).with_name("traffic.py")), str(out), f"--requests={requests}"]
    leaks = f"--leaks={min(155, requests // 20)}"
    done = subprocess.run([*command, leaks, *SHAPE[new]], check=True, capture_output=True)
    return {"requests": requests, **json.loads(done.stdout)}


def one(root: Path, made: dict[str, Any], threads: int, memory: str) -> list[dict[str, Any]]:
    """All stages on a case of their own."""
    case = root / "case"
    rows = []
    for verb in VERBS:
        command = [sys.executable, "-m", "forensics", verb]
        command += [str(root / "made" / "logs"), "--case", str(case)] if verb == "ingest" else [str(case)]
        wall, cpu, peak = watched([*command, "--threads", str(threads), "--memory", memory, "--quiet"])
        rows.append({"threads": threads, "stage": verb, "wall": wall, "cpu": cpu, "peak_mb": peak, **made})
    shutil.rmtree(case)
    return rows


def watched(command: list[str]) -> tuple[float, float, int]:
    """Wall seconds, CPU seconds of a command and all it started, peak memory of them together in MB."""
    started = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    peak = 0
    while True:
        done, status, usage = os.wait4(process.pid, os.WNOHANG)
        if done:
            break
        peak = max(peak, tree_bytes(process.pid))
        time.sleep(0.05)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command[3]} ended with {process.returncode}")
    return round(time.monotonic() - started, 2), round(usage.ru_utime + usage.ru_stime, 2), round(peak / 1e6)


def show(rows: list[dict[str, Any]]) -> None:
    """The table for people."""
    print(
        f"{'raw MB':>9}{'requests':>10}{'threads':>9}  {'stage':10}"
        f"{'wall s':>9}{'CPU s':>9}{'MB/CPU-s':>10}{'peak MB':>9}"
    )
    for row in rows:
        size = row["raw_bytes"] / 1e6
        print(
            f"{size:9.0f}{row['requests']:10}{row['threads']:9}  {row['stage']:10}{row['wall']:9.1f}{row['cpu']:9.1f}"
            f"{size / max(row['cpu'], 0.01):10.1f}{row['peak_mb']:9}"
        )
    for threads in sorted({row["threads"] for row in rows}):
        points = totals(rows, threads)
        for size, wall, cpu in points:
            print(f"{size:9.0f} MB on {threads}: {wall:.1f} s, {cpu:.1f} CPU s, {size / wall:.1f} MB/s")
        for (size, _, cpu), (larger, _, more) in pairwise(points):
            growth = 2 ** (math.log(more / cpu) / math.log(larger / size))
            print(f"  from {size:.0f} to {larger:.0f} MB: doubling the data takes {growth:.2f} times the CPU time")


def totals(rows: list[dict[str, Any]], threads: int) -> list[tuple[float, float, float]]:
    """(raw MB, wall, CPU) of all stages together, by size."""
    sizes = sorted({row["raw_bytes"] for row in rows})
    found = []
    for size in sizes:
        mine = [row for row in rows if row["raw_bytes"] == size and row["threads"] == threads]
        found.append((size / 1e6, sum(row["wall"] for row in mine), sum(row["cpu"] for row in mine)))
    return found


def plot(rows: list[dict[str, Any]], path: Path) -> None:
    """CPU seconds against raw MB, a line for each stage that takes any."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "size"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6, 4))
    threads = max(row["threads"] for row in rows)
    for stage in VERBS:
        points = sorted(
            (row["raw_bytes"] / 1e6, row["cpu"]) for row in rows if row["stage"] == stage and row["threads"] == threads
        )
        axes.plot(*zip(*points, strict=True), marker="o", label=stage)
    axes.set_xlabel("raw log, MB")
    axes.set_ylabel("CPU seconds")
    axes.legend()
    axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(path, format="svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
