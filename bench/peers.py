"""How do other tools do on the same texts, in one run? What they find, whose they say it is, and at what cost.

    python bench/peers.py --requests 10000 --leaks 300 --passim VENV/bin/passim

Each peer gets the same prompts and answers, already parsed, in a process of its own, and gives back passages of answers
with the tenant they come from (`peer_tools.py`, `peer_passim.py`). Seconds are CPU seconds of its work, child processes
included, without imports and without compiling; MB are those of the texts; peak memory is that of its processes
together. Peers that compare every pair get a few requests only (`--few`), which flatters their speed per byte; the tool
is measured on the same few, so that every ratio is one of the same texts.

- ours: all of attribution, from a case to judged fragments of every kind; `ours, copies`: its steps that find and
  judge copied passages, which is what peers look for; `ours, exact runs`: of these, texts in memory to exact runs
- suffix array: pydivsufsort and kasai, every common substring of `--shortest` letters of an answer and another tenant
- datasketch, rensa: MinHash-LSH over five-word shingles of whole texts, Jaccard 0.5: the usual near-duplicate search
- rapidfuzz: partial_ratio_alignment of pieces of 200 letters of each answer with each prompt
- copydetect: winnowing of the texts in its own way, every pair
- passim: as it comes, and with alignments that end with the copy; needs its command (`--passim`, or on PATH) and Java.
  Java, Spark and what both compile take longer than a small log: `start` is what a run on two tiny requests costs
  (median of three), and MB per CPU second are without it. The last table gives its ratio with and without.

Peers that are not installed are named as missing (`pip install 'leak-forensics[bench]'`). Measures, never judges.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import peer_ours
import peer_passim
import peer_tools
import psutil
from peer_tools import Document, Missing, Peer

from forensics.evaluate.measures import cell
from forensics.evaluate.records import Finding, Leak, read_truth

INTERVAL = 0.05  # seconds between two looks at the memory


class Tool(NamedTuple):
    """One peer. `pairwise`: it gets a few requests. `starts`: each run starts processes, whose start is told apart."""

    find: Peer
    pairwise: bool = False
    starts: bool = False


class Load(NamedTuple):
    """The same texts in the forms that are asked for: as a log on disk, parsed, and what leaked."""

    name: str
    logs: Path
    documents: list[Document]
    truth: list[Leak]


ALL: dict[str, Tool] = {
    "suffix array": Tool(peer_tools.suffix_array),
    "datasketch": Tool(peer_tools.datasketch),
    "rensa": Tool(peer_tools.rensa),
    **{name: Tool(find, starts=True) for name, find in peer_passim.PEERS.items()},
    "rapidfuzz": Tool(peer_tools.rapidfuzz, pairwise=True),
    "copydetect": Tool(peer_tools.copydetect, pairwise=True),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--tenants", type=int, default=100)
    parser.add_argument("--leaks", type=int, default=60)
    parser.add_argument("--prompt", type=int, default=4000)
    parser.add_argument("--answer", type=int, default=900)
    parser.add_argument("--few", type=int, default=60, help="requests for peers that compare every pair")
    parser.add_argument("--shortest", type=int, default=40, help="letters of a common substring that count")
    parser.add_argument("--passim", metavar="COMMAND", help="passim or seriatim of the passim package")
    parser.add_argument("--only", nargs="+", choices=ALL, default=list(ALL), help="these peers only", metavar="PEER")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        rows = []
        for load in loads(root, arguments):
            of_load = {name: tool for name, tool in ALL.items() if tool.pairwise == (load.name == "few")}
            asked = [name for name in of_load if name in arguments.only]
            if asked:
                rows += ours(root / f"case-{load.name}", load)
            rows += [measured(name, load, arguments) for name in asked]
    if arguments.json:
        print(json.dumps({"rows": rows, "ratios": ratios(rows)}))
        return
    show(rows)
    show_ratios(ratios(rows))


def loads(root: Path, arguments: argparse.Namespace) -> list[Load]:
    """All requests, and a few of them for those who compare every pair."""
    options = [f"--{n}={getattr(arguments, n)}" for n in ("requests", "tenants", "prompt", "answer", "leaks", "seed")]
    command = [sys.executable, str(Path(__file__).with_name("traffic.py")), str(root / "made"), "--turns=1"]
    subprocess.run([*command, *options], check=True, stdout=subprocess.DEVNULL)
    logs = root / "made" / "logs"
    documents, truth = read(logs), read_truth(root / "made" / "truth.jsonl")
    few, few_truth = some(documents, truth, arguments.few)
    few_logs = root / "few" / "logs"
    few_logs.mkdir(parents=True)
    wanted = {document.request for document in few}
    with (few_logs / "traffic.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in lines(logs) if json.loads(line)["request_id"] in wanted)
    return [Load("all", logs, documents, truth), Load("few", few_logs, few, few_truth)]


def lines(logs: Path) -> list[str]:
    return [line for path in sorted(logs.iterdir()) for line in path.read_text("utf-8").split("\n") if line]


def read(logs: Path) -> list[Document]:
    """The requests of a log as `traffic.py` writes it."""
    found = []
    for line in lines(logs):
        row = json.loads(line)
        prompt = "\n".join(message["content"] for message in row["request"]["messages"])
        answer = row["response"]["choices"][0]["message"]["content"]
        found.append(Document(row["request_id"], row["tenant_id"], prompt, answer))
    return found


def some(documents: list[Document], truth: list[Leak], number: int) -> tuple[list[Document], list[Leak]]:
    """So many requests: first leaks with the requests these come from, then from the start of the log."""
    by_request = {document.request: place for place, document in enumerate(documents)}
    chosen: set[int] = set()
    leaks = []
    for leak in truth:
        place = by_request[leak.request_id]
        answer = documents[place].answer[leak.start : leak.end]
        sources = {n for n in range(max(0, place - 400), place) if answer in documents[n].prompt}
        if len(chosen | sources | {place}) > number:
            break
        chosen |= sources | {place}
        leaks.append(leak)
    leaking = {by_request[leak.request_id] for leak in truth}
    others = (place for place in range(len(documents)) if place not in chosen | leaking)
    chosen.update(islice(others, max(0, number - len(chosen))))
    return [documents[place] for place in sorted(chosen)], leaks


def ours(case: Path, load: Load) -> list[dict[str, Any]]:
    """The tool itself: a case is made of the log, then attribution alone is measured."""
    forensics = [sys.executable, "-m", "forensics"]
    subprocess.run([*forensics, "run", str(load.logs), "--case", str(case), "--quiet"],
                   check=True, stdout=subprocess.DEVNULL)  # fmt: skip
    rows = []
    for name in peer_ours.STRETCHES:
        (found, seconds), peak = in_process(peer_ours.attributed, (case, name, cpu))
        rows.append(row(name, load, found, seconds, 0.0, peak))
    return rows


def measured(name: str, load: Load, arguments: argparse.Namespace) -> dict[str, Any]:
    try:
        (found, seconds, start), peak = in_process(asked, (name, load.documents, arguments))
    except (ImportError, Missing) as error:
        return {"peer": name, "load": load.name, "missing": str(error)}
    return row(name, load, found, seconds, start, peak)


def asked(name: str, documents: list[Document], arguments: argparse.Namespace) -> tuple[list[Finding], float, float]:
    """What a peer finds, the CPU seconds, and how many of them are its start, where that is told apart."""
    tool = ALL[name]
    start = 0.0
    if tool.starts:
        start = statistics.median(timed(tool, peer_passim.TINY, arguments)[1] for _ in range(3))
    else:
        tool.find(documents[:2], arguments)  # imports, and what is compiled
    found, seconds = timed(tool, documents, arguments)
    return found, seconds, start


def timed(tool: Tool, documents: list[Document], arguments: argparse.Namespace) -> tuple[list[Finding], float]:
    started = cpu()
    found = tool.find(documents, arguments)
    return found, cpu() - started


def cpu() -> float:
    """CPU seconds of this process so far, all its threads, and of the child processes that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def in_process(work: Callable[..., Any], parts: tuple[Any, ...]) -> tuple[Any, int]:
    """What `work` gives in a process of its own, and the peak memory of it and its children together in bytes."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        worker = psutil.Process(pool.apply(os.getpid))
        over = threading.Event()
        peaks = [0]
        watch = threading.Thread(target=look, args=(worker, over, peaks))
        watch.start()
        try:
            result = pool.apply(work, parts)
        finally:
            over.set()
            watch.join()
    return result, peaks[0]


def look(worker: psutil.Process, over: threading.Event, peaks: list[int]) -> None:
    """The largest sum of resident bytes seen until it is `over`; a peak between two looks is missed."""
    ended = False
    while not ended:  # once more after the end: what is over between two looks still holds its memory
        ended = over.wait(INTERVAL)
        try:
            tree = [worker, *worker.children(recursive=True)]
            peaks[0] = max(peaks[0], sum(one.memory_info().rss for one in tree))
        except psutil.NoSuchProcess:
            continue


def row(name: str, load: Load, found: list[Finding], seconds: float, start: float, peak: int) -> dict[str, Any]:
    size = sum(len(document.prompt) + len(document.answer) for document in load.documents) / 1e6
    scores = cell("all", "all", load.truth, found)
    return {
        "peer": name,
        "load": load.name,
        "text_mb": round(size, 2),
        "cpu_seconds": round(seconds, 3),
        "start_seconds": round(start, 3),
        "mb_per_cpu_second": rate(size, seconds - start),
        "mb_per_cpu_second_with_start": rate(size, seconds),
        "peak_mb": round(peak / 1e6),
        "leaks": scores.leaks,
        "found": scores.found,
        "right_tenant": scores.right_tenant,
        "wrong_tenant": scores.wrong_tenant,
        "false": scores.findings - scores.true_findings,
        "recall": share(scores.char_recall),
        "precision": share(scores.char_precision),
        "plagdet": share(scores.plagdet),
    }


def share(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def rate(size: float, seconds: float) -> float | None:
    """None where the start, which varies from run to run, took all of it."""
    return round(size / seconds, 4) if seconds > 0 else None


def ratios(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """How many times faster than each peer each stretch of the tool is, per CPU second, on the texts the peer had."""
    there = {(item["load"], item["peer"]): item for item in rows if not item.get("missing")}
    found = []
    for (load, name), theirs in there.items():
        if name in peer_ours.STRETCHES:
            continue
        result = {"peer": name, "load": load, "plagdet": theirs["plagdet"]}
        for stretch in peer_ours.STRETCHES:
            ours = there[load, stretch]
            result[stretch] = {
                "ratio": times(ours, theirs, "mb_per_cpu_second"),
                "ratio_with_start": times(ours, theirs, "mb_per_cpu_second_with_start"),
                "plagdet": ours["plagdet"],
            }
        found.append(result)
    return found


def times(ours: dict[str, Any], theirs: dict[str, Any], name: str) -> float | None:
    return round(ours[name] / theirs[name], 2) if ours[name] and theirs[name] else None


def show(rows: list[dict[str, Any]]) -> None:
    """The tables for people: one per load."""
    names = {"cpu_seconds": "CPU s", "start_seconds": "start", "mb_per_cpu_second": "MB/CPU s", "peak_mb": "peak MB",
             "leaks": "leaks", "found": "found", "right_tenant": "right", "wrong_tenant": "wrong", "false": "false",
             "recall": "recall", "precision": "precision", "plagdet": "plagdet"}  # fmt: skip
    for load in dict.fromkeys(item["load"] for item in rows):
        of_load = [item for item in rows if item["load"] == load]
        print(f"{load} requests, {of_load[0]['text_mb']} MB of text. right, wrong: tenants; recall, precision: letters")
        print(f"{'':20}" + "".join(f"{title:>10}" for title in names.values()))
        for item in of_load:
            if item.get("missing"):
                print(f"{item['peer']:20}  missing: {item['missing']}")
            else:
                print(f"{item['peer']:20}" + "".join(f"{text(item[name]):>10}" for name in names))
        print()


def show_ratios(found: list[dict[str, Any]]) -> None:
    """The closing table: MB per CPU second of the tool over that of each peer, and plagdet of both."""
    print("MB per CPU second of ours over that of the peer (with the start of its processes), plagdet of ours / its")
    print(f"{'':28}" + "".join(f"{name:>34}" for name in peer_ours.STRETCHES))
    for item in found:
        line = f"{item['peer'] + ', ' + item['load']:28}"
        for name in peer_ours.STRETCHES:
            pair = item[name]
            ratio = f"{text(pair['ratio'])} ({text(pair['ratio_with_start'])})"
            line += f"{ratio:>20}{text(pair['plagdet']) + ' / ' + text(item['plagdet']):>14}"
        print(line)


def text(value: object) -> str:
    return "-" if value is None else str(value)


if __name__ == "__main__":
    main()
