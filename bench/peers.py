"""How do other tools do on the same texts, in one run? What they find, whose they say it is, and at what cost.

    python bench/peers.py --requests 2000 --leaks 60

Each peer gets the same prompts and answers, already parsed, in a process of its own, and gives back passages of answers
with the tenant they come from. Seconds are CPU seconds of its work, without imports and without compiling; MB are those
of the texts. Peers that compare every pair get the first requests only (`--few`), which flatters their speed per byte.

- ours: `forensics` from texts to judged fragments; `ours, exact matches`: the part of it up to exact runs
- suffix array: pydivsufsort and kasai, every common substring of `--shortest` letters of an answer and another tenant
- datasketch, rensa: MinHash-LSH over five-word shingles of whole texts, Jaccard 0.5: the usual near-duplicate search
- rapidfuzz: partial_ratio_alignment of pieces of 200 letters of each answer with each prompt
- copydetect: winnowing of the texts in its own way, every pair

Peers that are not installed are named as missing (`pip install 'leak-forensics[bench]'`). passim needs Spark and is not
run from here. Measures, never judges.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np

from forensics.evaluate.measures import cell
from forensics.evaluate.records import Finding, Leak, read_findings, read_truth

FIELD = "choices[0].content"
PIECE, STEP, SCORE = 200, 100, 80.0
SHINGLE, PERMUTATIONS, JACCARD = 5, 128, 0.5


class Document(NamedTuple):
    """One request."""

    request: str
    tenant: str
    prompt: str
    answer: str


Peer = Callable[[list[Document], argparse.Namespace], list[Finding]]


def finding(document: Document, start: int, end: int, tenants: set[str]) -> Finding:
    return Finding(document.request, FIELD, start, end, frozenset(tenants), "verbatim", "possible", document.tenant)


def suffix_array(documents: list[Document], arguments: argparse.Namespace) -> list[Finding]:
    """Every run of `--shortest` letters or more of an answer that another tenant's text holds, by suffix array."""
    from pydivsufsort import divsufsort, kasai

    # One string of all texts, each ended by a sign that stands in none (so that no match runs over an end).
    texts = [text for document in documents for text in (document.prompt, document.answer)]
    data = "\0".join(texts).encode("latin-1", "replace") + b"\0"
    order = divsufsort(data)
    shared = kasai(data, order)
    sizes = np.array([len(text) + 1 for text in texts], dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    text_of = np.searchsorted(starts, order, side="right") - 1
    tenants = sorted({document.tenant for document in documents})
    number = {tenant: place for place, tenant in enumerate(tenants)}
    tenant_of = np.array([number[document.tenant] for document in documents for _ in range(2)], dtype=np.int64)
    ends = starts[text_of + 1] - 1 - order  # letters up to the end of the text
    length = np.minimum(shared, np.minimum(ends, np.append(ends[1:], 0)))  # with the next suffix
    marks = _foreign(order, length, text_of, tenant_of[text_of], len(data), arguments.shortest)
    found = []
    for place, document in enumerate(documents):
        low = int(starts[2 * place + 1])
        part = marks[low : low + len(document.answer)]
        hits = np.flatnonzero(part >= 0)
        if hits.size == 0:
            continue
        for run in np.split(hits, np.flatnonzero(np.diff(hits) > 1) + 1):
            held = Counter(part[run].tolist()).most_common(1)[0][0]
            found.append(finding(document, int(run[0]), int(run[-1]) + arguments.shortest, {tenants[held]}))
    return found


@numba.njit(cache=True)
def _foreign(order: Any, length: Any, text_of: Any, tenant_of: Any, size: int, shortest: int) -> Any:
    """By place of the string: a tenant that holds the `shortest` letters from there too, if an answer's and foreign."""
    marks = np.full(size, -1, dtype=np.int64)
    low = 0
    while low < order.size:
        high = low
        while high + 1 < order.size and length[high] >= shortest:
            high += 1
        if high > low:  # suffixes low to high begin alike
            for i in range(low, high + 1):
                if text_of[i] % 2 == 0:
                    continue
                for j in range(low, high + 1):
                    if tenant_of[j] != tenant_of[i] and text_of[j] % 2 == 0:
                        marks[order[i]] = tenant_of[j]
                        break
        low = high + 1
    return marks


def datasketch(documents: list[Document], arguments: argparse.Namespace) -> list[Finding]:
    from datasketch import MinHash, MinHashLSH

    lsh = MinHashLSH(threshold=JACCARD, num_perm=PERMUTATIONS)
    sets = [[s.encode() for s in shingles(d.prompt)] or [b""] for d in documents]
    for number, sketch in enumerate(MinHash.bulk(sets, num_perm=PERMUTATIONS)):
        lsh.insert(str(number), sketch)
    found = []
    asked = MinHash.bulk([[s.encode() for s in shingles(d.answer)] or [b""] for d in documents], num_perm=PERMUTATIONS)
    for document, sketch in zip(documents, asked, strict=True):
        tenants = {documents[int(n)].tenant for n in lsh.query(sketch)} - {document.tenant}
        if tenants:
            found.append(finding(document, 0, len(document.answer), tenants))
    return found


def rensa(documents: list[Document], arguments: argparse.Namespace) -> list[Finding]:
    from rensa import RMinHash, RMinHashLSH

    lsh = RMinHashLSH(threshold=JACCARD, num_perm=PERMUTATIONS, num_bands=32)

    def sketch(text: str) -> Any:
        made = RMinHash(num_perm=PERMUTATIONS, seed=1)
        made.update(shingles(text))
        return made

    for number, document in enumerate(documents):
        lsh.insert(number, sketch(document.prompt))
    found = []
    for document in documents:
        mine = sketch(document.answer)
        tenants = {documents[n].tenant for n in lsh.query(mine)} - {document.tenant}
        if tenants:
            found.append(finding(document, 0, len(document.answer), tenants))
    return found


def shingles(text: str) -> list[str]:
    words = text.split()
    return [" ".join(words[i : i + SHINGLE]) for i in range(max(1, len(words) - SHINGLE + 1))]


def rapidfuzz(documents: list[Document], arguments: argparse.Namespace) -> list[Finding]:
    from rapidfuzz.fuzz import partial_ratio_alignment

    found = []
    for document in documents:
        for start in range(0, max(1, len(document.answer) - PIECE + STEP), STEP):
            piece = document.answer[start : start + PIECE]
            best, tenants = SCORE, set()
            for other in documents:
                if other.tenant == document.tenant:
                    continue
                match = partial_ratio_alignment(piece, other.prompt, score_cutoff=best)
                if match is not None and match.score >= best:
                    tenants = {other.tenant} if match.score > best else tenants | {other.tenant}
                    best = match.score
            if tenants:
                found.append(finding(document, start, start + len(piece), tenants))
    return merged(found)


def copydetect(documents: list[Document], arguments: argparse.Namespace) -> list[Finding]:
    from io import StringIO

    from copydetect import CodeFingerprint, compare_files

    k, window = 16, 17

    def printed(text: str) -> Any:
        return CodeFingerprint("text.txt", k, window, filter=False, fp=StringIO(text))

    prompts = [printed(d.prompt) for d in documents]
    found = []
    for document in documents:
        mine = printed(document.answer)
        for other, theirs in zip(documents, prompts, strict=True):
            if other.tenant == document.tenant:
                continue
            tokens, _, slices = compare_files(mine, theirs)
            for low, high in zip(*np.asarray(slices[0]).tolist(), strict=True) if tokens else ():
                if high - low >= arguments.shortest:
                    found.append(finding(document, int(low), int(high), {other.tenant}))
    return merged(found)


def merged(found: list[Finding]) -> list[Finding]:
    """Findings that overlap become one; the tenant with most of them is named."""
    result: list[Finding] = []
    votes: list[Counter[str]] = []
    for item in sorted(found, key=lambda f: (f.request_id, f.start)):
        last = result[-1] if result else None
        if last is not None and last.request_id == item.request_id and item.start <= last.end:
            votes[-1].update(item.sources)
            end = max(last.end, item.end)
            result[-1] = replace(last, end=end)
        else:
            result.append(item)
            votes.append(Counter(item.sources))
    return [replace(r, sources=frozenset([v.most_common(1)[0][0]])) for r, v in zip(result, votes, strict=True)]


ALL: dict[str, tuple[Peer, bool]] = {
    "suffix array": (suffix_array, False),
    "datasketch": (datasketch, False),
    "rensa": (rensa, False),
    "rapidfuzz": (rapidfuzz, True),
    "copydetect": (copydetect, True),
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
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        options = [f"--{n}={getattr(arguments, n)}" for n in ("requests", "tenants", "prompt", "answer", "seed")]
        command = [sys.executable, str(Path(__file__).with_name("traffic.py")), str(root / "made"), "--turns=1"]
        # A peer that sees the first requests only must meet leaks there: the density is the same everywhere.
        subprocess.run([*command, *options, f"--leaks={arguments.leaks}"], check=True, stdout=subprocess.DEVNULL)
        documents = read(root / "made" / "logs")
        truth = read_truth(root / "made" / "truth.jsonl")
        few, few_truth = some(documents, truth, arguments.few)
        rows = [*ours(root, documents, truth)]
        for name, (_, pairwise) in ALL.items():
            chosen, leaks = (few, few_truth) if pairwise else (documents, truth)
            rows.append(measured(name, chosen, leaks, arguments))
    if arguments.json:
        print(json.dumps(rows))
    else:
        show(rows)


def read(logs: Path) -> list[Document]:
    """The requests of a log as `traffic.py` writes it."""
    found = []
    for path in sorted(logs.iterdir()):
        for line in path.read_text().split("\n"):
            if line:
                row = json.loads(line)
                prompt = "\n".join(message["content"] for message in row["request"]["messages"])
                answer = row["response"]["choices"][0]["message"]["content"]
                found.append(Document(row["request_id"], row["tenant_id"], prompt, answer))
    return found


def some(documents: list[Document], truth: list[Leak], number: int) -> tuple[list[Document], list[Leak]]:
    """A few requests with their leaks and the requests these come from."""
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
    return [documents[place] for place in sorted(chosen)], leaks


def ours(root: Path, documents: list[Document], truth: list[Leak]) -> list[dict[str, Any]]:
    """The tool itself: a case is made of the log, then attribution alone is measured."""
    case = root / "case"
    forensics = [sys.executable, "-m", "forensics"]
    subprocess.run([*forensics, "run", str(root / "made" / "logs"), "--case", str(case), "--quiet"],
                   check=True, stdout=subprocess.DEVNULL)  # fmt: skip
    rows = []
    for name in ("ours", "ours, exact matches"):
        seconds, peak = in_process(_ours, (case, name == "ours"))
        found = read_findings(case / "out" / "fragments.jsonl") if name == "ours" else None
        rows.append(row(name, documents, truth, found, seconds, peak))
    return rows


def _ours(case_root: Path, whole: bool) -> float:
    from forensics.attribution import run as attribution
    from forensics.attribution.candidates import build
    from forensics.attribution.corpus import Corpus
    from forensics.attribution.hits import Carriers, find_hits
    from forensics.attribution.holdings import load_world
    from forensics.attribution.parameters import Parameters
    from forensics.attribution.seeds import scan
    from forensics.attribution.texts import Texts
    from forensics.case.store import Case

    seconds = 0.0
    with Case.open(case_root) as case:
        for seed in (1, 2):  # the first time loads what was compiled
            world = load_world(case)
            corpus = Corpus(case, world)
            corpus.data(0)
            started = time.process_time()
            if whole:
                attribution.run(case, Parameters(seed=1000 + seed))
            else:
                found = scan(corpus)
                hits = [find_hits(world, part, 4, 5) for part in (found.grams, found.tokens)]
                build(world, Texts(corpus), *hits, (Carriers(world, found.grams), Carriers(world, found.tokens)))
            seconds = time.process_time() - started
    return seconds


def measured(name: str, documents: list[Document], truth: list[Leak], arguments: argparse.Namespace) -> dict[str, Any]:
    try:
        (found, seconds), peak = in_process(_peer, (name, documents, arguments))
    except ImportError:
        return {"peer": name, "missing": True}
    return row(name, documents, truth, found, seconds, peak)


def _peer(name: str, documents: list[Document], arguments: argparse.Namespace) -> tuple[list[Finding], float]:
    peer = ALL[name][0]
    peer(documents[:2], arguments)  # imports, and what is compiled
    started = time.process_time()
    found = peer(documents, arguments)
    return found, time.process_time() - started


def in_process(work: Callable[..., Any], parts: tuple[Any, ...]) -> tuple[Any, int]:
    """What `work` gives in a process of its own, and that process's peak memory in bytes."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_with_peak, (work, parts))


def _with_peak(work: Callable[..., Any], parts: tuple[Any, ...]) -> tuple[Any, int]:
    result = work(*parts)
    return result, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def row(
    name: str, documents: list[Document], truth: list[Leak], found: list[Finding] | None, seconds: Any, peak: int
) -> dict[str, Any]:
    size = sum(len(document.prompt) + len(document.answer) for document in documents)
    result: dict[str, Any] = {
        "peer": name,
        "text_mb": round(size / 1e6, 2),
        "cpu_seconds": round(seconds, 2),
        "mb_per_cpu_second": round(size / 1e6 / max(seconds, 1e-6), 3),
        "peak_mb": round(peak / 1e6),
    }
    if found is not None:
        scores = cell("all", "all", truth, found)
        result |= {
            "leaks": scores.leaks,
            "found": scores.found,
            "right_tenant": scores.right_tenant,
            "wrong_tenant": scores.wrong_tenant,
            "false": scores.findings - scores.true_findings,
            "plagdet": None if scores.plagdet is None else round(scores.plagdet, 3),
        }
    return result


def show(rows: list[dict[str, Any]]) -> None:
    """The table for people."""
    names = ("text_mb", "cpu_seconds", "mb_per_cpu_second", "peak_mb", "leaks", "found", "right_tenant",
             "wrong_tenant", "false", "plagdet")  # fmt: skip
    print(f"{'peer':20}" + "".join(f"{name.replace('_', ' '):>18}" for name in names))
    for item in rows:
        if item.get("missing"):
            print(f"{item['peer']:20}  not installed")
        else:
            print(f"{item['peer']:20}" + "".join(f"{item.get(name, '-')!s:>18}" for name in names))


if __name__ == "__main__":
    main()
