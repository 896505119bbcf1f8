"""How long does the timeline of a million requests and fifty million engine events take, and how much memory?

    python bench/timeline.py --requests 1000000 --passes 48 --source schedule

Makes a case as ingest would have left it (one process), and runs the stage alone in another, with its defaults but for
`--memory`. `schedule`: one event for each request in each forward pass, as traces have it; `probe`: one event for each
forward pass with its rows in it, and one for each row given and freed. Prints counts, CPU and wall seconds, and the
peak memory of the stage's process; checks the number of stays and members, and the mechanism that is claimed, against
what was put in.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from forensics.case.store import Case, Resources
from forensics.timeline.run import Parameters, run

STATEMENTS = Path(__file__).with_name("timeline_case.sql")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--passes", type=int, default=48, help="forward passes that each request has a row in")
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--source", choices=("schedule", "probe"), default="schedule")
    parser.add_argument("--leaks", type=int, default=155, help="responses with text of the last holder of their slot")
    parser.add_argument("--memory", type=int, default=4, help="GiB, as --memory of the verbs")
    parser.add_argument("--part", choices=("make", "run"), help=argparse.SUPPRESS)
    parser.add_argument("--case", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    resources = Resources(arguments.memory << 30, 2)
    if arguments.part == "make":
        make(arguments, resources)
        return
    if arguments.part == "run":
        print(json.dumps(measure(arguments.case, resources)))
        return
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, *sys.argv[1:], "--case", f"{folder}/case"]
        subprocess.run([*command, "--part", "make"], check=True)
        done = subprocess.run([*command, "--part", "run"], check=True, stdout=subprocess.PIPE)
    told = json.loads(done.stdout)
    members = arguments.requests * arguments.passes
    if told["figures"]["batch_members"] != members or told["figures"]["residencies"] != arguments.requests:
        raise SystemExit(f"put in {members} members of {arguments.requests} requests, found {told['figures']}")
    if arguments.leaks and told["figures"]["mechanisms"] != "M3, M4, M19":
        raise SystemExit(f"leaks were put in through slots used again, claimed was {told['figures']['mechanisms']}")
    print(json.dumps(told, indent=1))


def make(arguments: argparse.Namespace, resources: Resources) -> None:
    """The case, by the statements beside this file."""
    values = {name: getattr(arguments, name) for name in ("requests", "passes", "workers", "source", "leaks")}
    text = "\n".join(line for line in STATEMENTS.read_text().splitlines() if line[:3] != "-- ")
    with Case.create(arguments.case, resources) as case:
        for statement in text.split("\n--------\n"):
            given = {name: value for name, value in values.items() if f"${name}" in statement}
            case._connection.execute(statement, given).fetchall()


def measure(root: Path, resources: Resources) -> dict[str, object]:
    """What the stage took."""
    with Case.open(root, resources) as case:
        events = case.count("engine_events")
        started = time.monotonic()
        summary = run(case, Parameters())
        wall = time.monotonic() - started
    used = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "engine_events": events,
        "wall_seconds": round(wall, 1),
        "cpu_seconds": round(used.ru_utime + used.ru_stime, 1),
        "peak_memory_mib": used.ru_maxrss // 1024,
        "figures": summary.figures,
        "warnings": summary.warnings,
    }


if __name__ == "__main__":
    main()
