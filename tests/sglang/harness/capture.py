"""One incident from a real engine: start it with a fault, send a plan's calls, keep what it wrote, with the truth.

    python -m tests.sglang.harness.capture FAULT OUT [--engine .engine] [--traces]

OUT gets `logs/` (the engine's request log and server log, the probe's files, the gateway's record, spans with
`--traces`), `tenants.csv`, `truth.jsonl` and `faults.jsonl.gz`, the fault plugin's own record. Names of this machine
and its folders are replaced; nothing else is changed. Only the standard library; the engine runs in its own process.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.sglang.harness.client import Client, switcher
from tests.sglang.harness.server import WORKER, free_port, serving
from tests.sglang.harness.traffic import FAULTS, PAIRS, TENANTS, Phase, plan
from tests.sglang.harness.truth import Told, truth


def main(
    fault: str, out: Path, engine: Path, traces: bool = False, phases: list[Phase] | None = None
) -> dict[str, int]:
    """Make an incident; how many calls, leaks by the record and rows of truth it has."""
    phases = phases or plan(fault)
    calls = {call.request_id: call for phase in phases for step in phase.steps for call in step}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "run"
        spans = Path(scratch) / "spans.jsonl"
        with collecting(engine, spans, traces) as address, serving(engine, folder, fault, PAIRS, address) as url:
            client = Client(url)
            client.run(phases, switcher(folder))
            time.sleep(3)  # the last lines
        record = folder / "faults.jsonl"
        facts = [json.loads(line) for line in record.read_text(encoding="utf-8").split("\n") if line]
        keep(folder, spans, out, engine)
    answers = {
        record["request_id"]: record["response"]["choices"][0]["message"]["content"]
        for record in client.records
        if "response" in record
    }
    rows = truth(fault, facts, Told({name: calls[name] for name in calls}, answers))
    write(out / "logs" / "gateway.jsonl", client.records)
    write(out / "truth.jsonl", rows)
    with gzip.GzipFile(out / "faults.jsonl.gz", "wb", mtime=0) as file:
        file.write(b"".join(json.dumps(fact, separators=(",", ":")).encode() + b"\n" for fact in facts))
    with (out / "tenants.csv").open("w", encoding="utf-8", newline="") as table:
        lines = csv.writer(table, lineterminator="\n")
        lines.writerow(("key", "tenant"))
        lines.writerows((tenant, tenant) for tenant in sorted(TENANTS))
    return {
        "calls": len(client.records), "leaks": len([fact for fact in facts if fact["fact"] in ("leak", "overwritten")]),
        "truth": len(rows), "victims": len({row["response_request_id"] for row in rows}),
    }  # fmt: skip


@contextmanager
def collecting(engine: Path, spans: Path, wanted: bool) -> Iterator[str]:
    """The address of a collector of spans, empty if none is wanted."""
    if not wanted:
        yield ""
        return
    port = free_port()
    script = Path(__file__).resolve().parent / "collector.py"
    collector = subprocess.Popen([str(engine / "venv" / "bin" / "python"), str(script), str(port), str(spans)])
    try:
        yield f"127.0.0.1:{port}"
    finally:
        collector.terminate()
        collector.wait(10)


def keep(folder: Path, spans: Path, out: Path, engine: Path) -> None:
    """Copy the engine's files into `out/logs`, compressed, without this machine's names."""
    logs = out / "logs"
    shutil.rmtree(out, ignore_errors=True)
    logs.mkdir(parents=True)
    host = socket.gethostname()

    def clean(data: bytes) -> bytes:
        for found, name in (
            (str(folder), "/var/log/engine"),
            (str(engine.resolve()), "/opt/engine"),
            (str(folder.parent), "/tmp"),
        ):
            data = data.replace(found.encode(), name.encode())
        return data.replace(f'"host":"{host}"'.encode(), f'"host":"{WORKER}"'.encode())

    files = [(path, f"{WORKER}_0.log") for path in sorted((folder / "requests").glob("*"))]
    files.append((folder / "server.log", f"{WORKER}.server.log"))
    files += [
        (path, path.name.replace(f"-{host}-", f"-{WORKER}-")) for path in sorted((folder / "probe").glob("*.jsonl"))
    ]
    if spans.exists():
        files.append((spans, "spans.otlp.jsonl"))
    for path, name in files:
        with gzip.GzipFile(logs / f"{name}.gz", "wb", mtime=0) as file:
            file.write(clean(path.read_bytes()))


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    """JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fault", choices=FAULTS)
    parser.add_argument("out", type=Path)
    parser.add_argument("--engine", type=Path, default=Path(".engine"))
    parser.add_argument("--traces", action="store_true")
    given = parser.parse_args()
    print(json.dumps(main(given.fault, given.out, given.engine, given.traces)))
