"""How fast does evidence get into a case, against a bare parser on the same bytes, and how much memory does it take?

    bench/ingest.py [--megabytes 1000] [--kind chat|long] [--logs FOLDER] [--rounds 2] [--memory-megabytes 2000]

The yardstick is a bare loop in as many processes: read a range of a file, cut it into lines, `orjson.loads` each, drop
the object when the next one is there. The objects are made in full; nothing is hashed, kept or written. Both are
started as a user would start them, in turns, so that both meet the same load of the machine; CPU seconds are those of
all processes of a side and depend least on what else runs.

What no reader can leave out is measured too, and called the floor: the bare loop, the SHA-256 of every file and of
every line (the chain of custody), and DuckDB alone taking the distinct texts of that case from memory in one
transaction. Kinds of evidence: `chat` (conversations whose every turn repeats the earlier ones, as chat logs do),
`long` (long prompts, hardly a text twice), or a folder of logs. Measures, never judges.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import orjson
from throughput import bare_parse, tree_bytes

WANTED_MB_PER_SECOND = 100
WANTED_OVER_BARE = 0.6
WANTED_PEAK_BYTES = 2 << 30


@dataclass(frozen=True)
class Measured:
    """Seconds by the clock, CPU seconds of a process and all below it, and their largest resident memory together."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=1000, help="evidence to make (default 1000)")
    parser.add_argument("--kind", choices=("chat", "long"), default="chat", help="what evidence to make")
    parser.add_argument("--logs", type=Path, help="use the files of this folder instead")
    parser.add_argument("--rounds", type=int, default=2, help="how often each side runs; the fastest counts")
    parser.add_argument("--memory-megabytes", type=int, default=0, help="also measure the memory for a file so large")
    parser.add_argument("--memory", default="2G", help="the memory that the ingest is allowed")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    parser.add_argument("--bare", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--hashes", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.bare:
        bare_parse(arguments.bare, arguments.processes)
        return
    if arguments.hashes:
        hash_all(arguments.hashes)
        return
    with tempfile.TemporaryDirectory() as scratch:
        result = compared(Path(scratch), arguments)
        if arguments.memory_megabytes:
            result |= memory(Path(scratch), arguments)
    if arguments.json:
        print(json.dumps(result))
        return
    for name, value in result.items():
        print(f"{name.replace('_', ' '):36} {value}")


def compared(scratch: Path, arguments: argparse.Namespace) -> dict[str, object]:
    """Ingest and bare loop on the same bytes, in turns."""
    logs = arguments.logs or made(scratch / "logs", arguments.kind, arguments.megabytes, arguments.seed)
    size = sum(path.stat().st_size for path in logs.rglob("*") if path.is_file())
    ingests: list[Measured] = []
    bares: list[Measured] = []
    for number in range(arguments.rounds):
        bares.append(own("--bare", logs, arguments.processes))
        ingests.append(ingest(logs, scratch / f"case{number}", arguments))
    hashes = own("--hashes", logs, arguments.processes)
    texts, text_bytes, store_cpu = database_alone(scratch / "case0", scratch / "alone.duckdb", arguments.processes)
    bare = min(bares, key=lambda one: one.seconds)
    best = min(ingests, key=lambda one: one.seconds)
    bare_cpu = min(one.cpu_seconds for one in bares)
    cpu = min(one.cpu_seconds for one in ingests)
    floor = bare_cpu + hashes.cpu_seconds + store_cpu
    return {
        "evidence_mb": round(size / 1e6, 1),
        "distinct_texts": texts,
        "distinct_text_mb": round(text_bytes / 1e6, 1),
        "ingest_mb_per_second": round(size / 1e6 / best.seconds, 1),
        "wanted_mb_per_second": WANTED_MB_PER_SECOND,
        "bare_mb_per_second": round(size / 1e6 / bare.seconds, 1),
        "ingest_over_bare": round(bare.seconds / best.seconds, 3),
        "wanted_over_bare": WANTED_OVER_BARE,
        "ingest_cpu_seconds": round(cpu, 2),
        "bare_cpu_seconds": round(bare_cpu, 2),
        "ingest_over_bare_by_cpu": round(bare_cpu / cpu, 3),
        "hashes_cpu_seconds": round(hashes.cpu_seconds, 2),
        "database_alone_cpu_seconds": round(store_cpu, 2),
        "floor_cpu_seconds": round(floor, 2),
        "floor_over_bare_by_cpu": round(bare_cpu / floor, 3),
        "ingest_peak_mb": round(max(one.peak_bytes for one in ingests) / 1e6),
    }


def memory(scratch: Path, arguments: argparse.Namespace) -> dict[str, object]:
    """The largest memory that the processes of an ingest of one file hold together."""
    logs = made(scratch / "large", arguments.kind, arguments.memory_megabytes, arguments.seed)
    peak = ingest(logs, scratch / "large-case", arguments).peak_bytes
    return {
        "memory_evidence_mb": arguments.memory_megabytes,
        "memory_peak_mb": round(peak / 1e6),
        "memory_wanted_mb": round(WANTED_PEAK_BYTES / 1e6),
    }


def ingest(logs: Path, case: Path, arguments: argparse.Namespace) -> Measured:
    """One run of `forensics ingest`."""
    options = ["--memory", arguments.memory, "--threads", str(arguments.processes), "--json"]
    return measured([sys.executable, "-m", "forensics", "ingest", str(logs), "--case", str(case), *options])


def own(what: str, logs: Path, processes: int) -> Measured:
    """One run of a part of this program in a process of its own."""
    return measured([sys.executable, __file__, what, str(logs), "--processes", str(processes)])


def measured(command: list[str]) -> Measured:
    """Run a command to its end."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peak = 0
    while process.poll() is None:
        peak = max(peak, tree_bytes(process.pid))
        time.sleep(0.05)
    seconds = time.monotonic() - started
    if process.returncode:
        raise SystemExit(f"{' '.join(command[1:4])} ended with {process.returncode}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Measured(seconds, cpu, peak)


def hash_all(logs: Path) -> None:
    """The SHA-256 of every file and of every line."""
    for path in sorted(logs.rglob("*")):
        if path.is_file():
            whole = hashlib.sha256()
            with path.open("rb") as file:
                for line in file:
                    whole.update(line)
                    hashlib.sha256(line).hexdigest()
            whole.hexdigest()


def database_alone(case: Path, target: Path, threads: int) -> tuple[int, int, float]:
    """How many distinct texts a case holds, their bytes, and the CPU seconds that DuckDB takes to store them again."""
    import duckdb

    with duckdb.connect(str(case / "case.duckdb"), read_only=True) as source:
        table = source.sql("SELECT content, digest, text, code_points, bytes FROM contents").to_arrow_table()
    with duckdb.connect(str(target), config={"threads": str(threads)}) as connection:
        schema = Path(__file__).parents[1] / "queries" / "schema" / "ingest.sql"
        connection.execute(schema.read_text(encoding="utf-8"))
        connection.register("incoming", table)
        started = time.process_time()
        connection.execute("BEGIN")
        connection.execute("INSERT INTO contents SELECT * FROM incoming")
        connection.execute("COMMIT")
        seconds = time.process_time() - started
    return table.num_rows, int(sum(table["bytes"].to_pylist())), seconds


def made(folder: Path, kind: str, megabytes: int, seed: int) -> Path:
    """A folder with one NDJSON file in the house format."""
    chance = random.Random(seed)
    words = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyzé", k=chance.randint(2, 11))) for _ in range(5000)]
    lines = [" ".join(chance.choices(words, k=chance.randint(6, 18))) + ".\n" for _ in range(4000)]

    def text(sentences: int) -> str:
        # A number makes each text one of its own.
        return f"{chance.randrange(1 << 60):x} " + "".join(chance.choices(lines, k=max(1, sentences)))

    folder.mkdir()
    fill = chat if kind == "chat" else long
    with (folder / "calls.jsonl").open("wb") as file:
        number = 0
        while file.tell() < megabytes * 1_000_000:
            for messages, answer in fill(chance, text):
                file.write(orjson.dumps(call(number, messages, answer)) + b"\n")
                number += 1
    return folder


Text = Callable[[int], str]
Turns = list[tuple[list[dict[str, str]], str]]
_SYSTEM: dict[int, str] = {}


def chat(chance: random.Random, text: Text) -> Turns:
    """The calls of one conversation: each sends all that was said before."""
    tenant = chance.randrange(50)
    system = _SYSTEM.setdefault(tenant, text(20))
    messages = [{"role": "system", "content": system}]
    turns: Turns = []
    for _ in range(min(12, 1 + int(chance.expovariate(0.25)))):
        messages = [*messages, {"role": "user", "content": text(int(chance.expovariate(0.3)))}]
        answer = text(int(chance.expovariate(0.08)))
        turns.append((messages, answer))
        messages = [*messages, {"role": "assistant", "content": answer}]
    return turns


def long(chance: random.Random, text: Text) -> Turns:
    """One call with a long prompt of its own."""
    prompt = text(100 + int(chance.expovariate(0.004)))
    return [([{"role": "user", "content": prompt}], text(int(chance.expovariate(0.08))))]


def call(number: int, messages: list[dict[str, str]], answer: str) -> dict[str, object]:
    """One record of the house format."""
    seconds = number // 4
    day, hour = 1 + seconds // 86400 % 28, seconds // 3600 % 24
    at = f"2026-05-{day:02d}T{hour:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}Z"
    return {
        "request_id": f"req-{number:09d}",
        "tenant_id": f"tenant-{len(messages[0]['content']) % 50}",
        "timestamp": at,
        "worker": f"w{number % 4}",
        "model": "glm-5.3",
        "request": {"messages": messages},
        "response": {"choices": [{"index": 0, "message": {"role": "assistant", "content": answer}}]},
    }


if __name__ == "__main__":
    os.environ["PYTHONPATH"] = os.pathsep.join(
        [str(Path(__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    )
    main()
