"""How long do KV events take to read, and the cache hits of their calls to judge?

    python bench/cache_events.py --calls 1000

Writes the request log of an engine and what it published: calls of 1,000 tokens and 50 of an answer with a salt, half
of which begin as an earlier one does, pages of one token. Reads both, runs the timeline, and prints CPU seconds (all
processes) and the peak memory; checks that every hit is judged and that none goes beyond what was held.
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import time
from pathlib import Path

import numpy as np

from forensics.case.store import Case
from forensics.ingest.run import Parameters as Ingest
from forensics.ingest.run import run as ingest
from forensics.timeline.cache_tree import chain
from forensics.timeline.run import Parameters, run

ORIGIN = 1_767_323_045
LENGTH, ANSWER = 1_000, 50


def write(folder: Path, calls: int) -> int:
    """How many blocks were stored."""
    noise = np.random.default_rng(1)
    prompts: list[np.ndarray] = []
    held: set[int] = set()
    blocks = 0
    with (folder / "w0.log").open("w") as log, (folder / "kv.jsonl").open("w") as events:
        for number in range(calls):
            prompt, answer = (noise.integers(0, 49_000, size).astype(np.int32) for size in (LENGTH, ANSWER))
            if number % 2:
                same = int(noise.integers(100, 900))
                prompt[:same] = prompts[int(noise.integers(number))][:same]
            prompts.append(prompt)
            hashes = chain(np.concatenate((prompt, answer)), "s", 1).tolist()
            known = next(place for place, value in enumerate(hashes) if value not in held)
            held.update(hashes)
            blocks += len(hashes) - known
            obj = {"rid": f"r{number}", "text": None, "input_ids": prompt.tolist(), "cache_salt": "s"}
            meta = {"id": f"r{number}", "prompt_tokens": LENGTH, "completion_tokens": ANSWER, "cached_tokens": known}
            meta |= {"e2e_latency": 0.5, "finish_reason": {"type": "stop"}}
            out = {"text": "fine", "output_ids": answer.tolist(), "meta_info": meta}
            for second, name, more in ((number, "received", {}), (number + 0.5, "finished", {"out": out})):
                stamp = str(np.datetime64(round((ORIGIN + second) * 1e6), "us"))
                log.write(
                    json.dumps({"timestamp": stamp, "event": f"request.{name}", "obj": obj, "rid": obj["rid"]} | more)
                    + "\n"
                )
            parent = hashes[known - 1] if known else None
            stored = {
                "type": "BlockStored",
                "block_hashes": hashes[known:],
                "parent_block_hash": parent,
                "block_size": 1,
            }
            batch = {"seq": number + 1, "ts": ORIGIN + number + 0.3, "attn_dp_rank": 0, "events": [stored]}
            if not number:
                cleared = {"seq": 0, "ts": ORIGIN - 1, "attn_dp_rank": 0, "events": [{"type": "AllBlocksCleared"}]}
                events.write(json.dumps(cleared) + "\n")
            events.write(json.dumps(batch) + "\n")
        events.write(json.dumps({"seq": None, "ts": ORIGIN + calls + 9, "attn_dp_rank": 0, "events": []}) + "\n")
    return blocks


def cpu() -> float:
    told = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in told)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=1_000)
    calls = parser.parse_args().calls
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "logs"
        folder.mkdir()
        blocks = write(folder, calls)
        with Case.create(Path(scratch) / "case") as case:
            for name, work in (
                ("ingest", lambda: ingest(case, Ingest((folder,)))),
                ("timeline", lambda: run(case, Parameters())),
            ):
                began, wall = cpu(), time.monotonic()
                work()
                print(f"{name}: {cpu() - began:.1f} CPU s, {time.monotonic() - wall:.1f} s")
            hits = case.table("cache_hits")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(f"{calls:,} calls, {blocks:,} blocks stored; peak {peak:,} MiB")
    assert set(hits["kv_events"].to_pylist()) == {"used"} and not any(hits["excess_tokens"].to_pylist())


if __name__ == "__main__":
    main()
