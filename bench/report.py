"""How long does the report of a case take, and how large is it?

    python bench/report.py demo-case

Works on a copy of the finished case, writes its scope and report anew as the two verbs would,
and prints seconds of CPU and wall, and the sizes of the files. Never judges.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from forensics.case.store import Case
from forensics.report import run as report
from forensics.scope import run as scope


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "case"
        shutil.copytree(arguments.case, root)
        with Case.open(root) as case:
            for stage in ("scope", "report"):
                case.run("schema/stage_delete", {"stage": stage})
            measure("scope", lambda: scope.run(case, scope.Parameters()))
            measure("report", lambda: report.run(case, report.Parameters(on_block="withhold")))
        for path in sorted((root / "report").rglob("*.*")):
            if path.is_file():
                print(f"{path.relative_to(root).as_posix():40} {path.stat().st_size:>10,} bytes")


def measure(name: str, work: Callable[[], object]) -> None:
    before, start = _cpu(), time.perf_counter()
    work()
    print(f"{name:10} {_cpu() - before:6.2f} s CPU {time.perf_counter() - start:6.2f} s wall")


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
