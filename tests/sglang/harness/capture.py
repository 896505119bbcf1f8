"""Incidents from a real engine: start it, and for each fault send a plan's calls and keep what it wrote, with the truth.

    python -m tests.sglang.harness.capture OUT [FAULT...] [--engine .engine] [--traces]

Each folder gets `logs/` (the engine's request log and server log, the probe's files, KV events, the gateway's record,
spans with `--traces`), `tenants.csv`, `truth.jsonl` and `faults.jsonl.gz`, the fault plugin's own record. Names of this machine
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

from tests.sglang.harness.client import Client, flush, switcher
from tests.sglang.harness.server import WORKER, free_port, serving, switch
from tests.sglang.harness.texts import TENANTS
from tests.sglang.harness.traffic import FAULTS, PAIRS, plan
from tests.sglang.harness.truth import Told, leaks, truth

BY_TOKENS = ("cross_salt",)  # whose prompts are sent as tokens, so that the log holds them
KV_SECONDS = 12  # the recorder says every ten seconds that it is there
MACHINE_ID = Path("/etc/machine-id")
_READY = b"The server is fired up"


class Session:
    """A running engine and how far each of its files has been kept. Incidents come one after the other."""

    def __init__(self, url: str, folder: Path, spans: Path, engine: Path) -> None:
        self._url, self._folder, self._spans, self._engine = url, folder, spans, engine
        self._kept: dict[Path, int] = {}
        self._heads: dict[Path, bytes] = {}
        for path in self._files():
            data = path.read_bytes()
            self._kept[path] = len(data)
            # What is told at the start, incidents all need: settings, and what the probe watches.
            if path.parent.name == "probe":
                self._heads[path] = data[: data.find(b"\n") + 1]
            elif path.name == "server.log":
                self._heads[path] = data[: data.find(b"\n", data.find(_READY)) + 1]

    def incident(self, fault: str, out: Path, quiet: bool = False) -> dict[str, int]:
        """Make one; how many calls, leaks by the record and rows of truth it has. quiet: its calls without the fault."""
        phases = plan(fault, quiet)
        calls = {call.request_id: call for phase in phases for step in phase.steps for call in step}
        by_tokens = quiet or fault in BY_TOKENS
        client = Client(self._url, [call.text for call in calls.values()] if by_tokens else ())
        flush(self._url)
        time.sleep(2)
        self._slices()  # what is between incidents belongs to none
        flush(self._url)  # and this is the first that this one's logs tell: the cache is empty
        client.run(phases, switcher(self._folder, "" if quiet else fault))
        switch(self._folder, "")
        time.sleep(KV_SECONDS if by_tokens else 3)  # the last lines
        slices = self._slices()
        facts = [json.loads(line) for line in slices.pop("faults.jsonl").split(b"\n") if line]
        keep(slices, out)
        answers = {
            record["request_id"]: record["response"]["choices"][0]["message"]["content"]
            for record in client.records
            if "response" in record
        }
        rows = truth(fault, facts, Told(calls, answers))
        write(out / "logs" / "gateway.jsonl", client.records)
        write(out / "truth.jsonl", rows)
        packed(
            out / "faults.jsonl.gz",
            b"".join(json.dumps(fact, separators=(",", ":")).encode() + b"\n" for fact in facts),
        )
        with (out / "tenants.csv").open("w", encoding="utf-8", newline="") as table:
            lines = csv.writer(table, lineterminator="\n")
            lines.writerow(("key", "tenant"))
            lines.writerows((tenant, tenant) for tenant in sorted(TENANTS))
        return {
            "calls": len(client.records), "leaks": len(leaks(fault, facts)), "truth": len(rows),
            "victims": len({row["response_request_id"] for row in rows}),
        }  # fmt: skip

    def _files(self) -> list[Path]:
        found = [*sorted((self._folder / "requests").glob("*")), self._folder / "server.log", self._spans]
        found += [*sorted((self._folder / "probe").glob("*.jsonl")), self._folder / "faults.jsonl"]
        found += sorted((self._folder / "kv").glob("*.jsonl"))
        return [path for path in found if path.exists()]

    def _slices(self) -> dict[str, bytes]:
        """By name of file, what was written since the last incident, without this machine's names."""
        host = socket.gethostname()
        names = [(str(self._folder), "/var/log/engine")]
        # However the engine's folder was given, and where it really is; and where its Python is.
        names += [(str(path), "/opt/engine") for path in (self._engine.resolve(), self._engine.absolute())]
        settings = (self._engine / "venv" / "pyvenv.cfg").read_text(encoding="utf-8")
        python = next(line.partition("=")[2].strip() for line in settings.splitlines() if line.startswith("home"))
        names += [(str(path.parent), "/opt/python") for path in (Path(python), Path(python).resolve())]
        machine = MACHINE_ID.read_text(encoding="ascii").strip() if MACHINE_ID.exists() else ""
        if machine:
            # Traces name the machine by its id, and threads by the first eight letters of it.
            names += [(machine, "0" * 32), (f"host:{machine[:8]}", "host:" + "0" * 8)]
        slices: dict[str, bytes] = {}
        for path in self._files():
            data = path.read_bytes()
            end = data.rfind(b"\n") + 1
            data, self._kept[path] = self._heads.get(path, b"") + data[self._kept.get(path, 0) : end], end
            for found, name in (*names, (str(self._folder.parent), "/tmp"), (f'"host":"{host}"', f'"host":"{WORKER}"')):
                data = data.replace(found.encode(), name.encode())
            if path.parent.name == "requests":
                name = f"{WORKER}_0.log"
            elif path.parent.name == "probe":
                name = path.name.replace(f"-{host}-", f"-{WORKER}-")
            elif path.parent.name == "kv":
                name = f"kv-{WORKER}-0.jsonl"
            else:
                name = {"server.log": f"{WORKER}.server.log", "spans.jsonl": "spans.otlp.jsonl"}.get(
                    path.name, path.name
                )
            slices[name] = slices.get(name, b"") + data
        return slices


@contextmanager
def session(engine: Path, traces: bool = False) -> Iterator[Session]:
    """An engine, started; its files go when it ends."""
    with tempfile.TemporaryDirectory() as scratch:
        folder, spans = Path(scratch) / "run", Path(scratch) / "spans.jsonl"
        with collecting(engine, spans, traces) as address, serving(engine, folder, PAIRS, address) as url:
            yield Session(url, folder, spans, engine)


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


def keep(slices: dict[str, bytes], out: Path) -> None:
    """Write the engine's files into `out/logs`, packed."""
    logs = out / "logs"
    shutil.rmtree(out, ignore_errors=True)
    logs.mkdir(parents=True)
    for name, data in sorted(slices.items()):
        packed(logs / f"{name}.gz", data)


def packed(path: Path, data: bytes) -> None:
    """A gzip file without a time in it."""
    with path.open("wb") as raw, gzip.GzipFile("", "wb", mtime=0, fileobj=raw) as file:
        file.write(data)


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    """JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="gets a folder sglang-FAULT for each")
    parser.add_argument("faults", nargs="*", default=FAULTS, metavar="FAULT", help=", ".join(FAULTS))
    parser.add_argument("--engine", type=Path, default=Path(".engine"))
    parser.add_argument("--traces", action="store_true")
    given = parser.parse_args()
    with session(given.engine, given.traces) as running:
        for fault in given.faults:
            print(fault, json.dumps(running.incident(fault, given.out / f"sglang-{fault}")), flush=True)
