"""A small model of one engine: a pool of rows, passes, calls that come and go. Written for tests, from the description of
the engine's behaviour, without a line of the code under test. It writes the logs an engine would, and keeps the truth.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from datetime import UTC, datetime

START = 1_772_600_000.0


@dataclass
class Call:
    rid: str
    came: float
    tokens: int
    slot: int = -1
    admitted: float = 0.0
    done: float = 0.0
    passes: list[int] = field(default_factory=list)
    aborted: bool = False


@dataclass
class Engine:
    lifo: bool
    rows: int
    first: int = 1
    most: int = 8
    step: float = 0.02
    calls: list[Call] = field(default_factory=list)
    passes: list[tuple[int, float, str, list[tuple[str, int]]]] = field(default_factory=list)
    given: list[tuple[float, str, int]] = field(default_factory=list)
    freed: list[tuple[float, str, int]] = field(default_factory=list)
    ended: list[Call] = field(default_factory=list)
    running_seen: list[tuple[float, int]] = field(default_factory=list)

    def serve(self, arrivals: list[Call], seed: int = 1) -> None:
        """Overlapped loop: admit and launch, then end what the pass before finished."""
        noise = random.Random(seed)
        free = list(range(self.first, self.first + self.rows))
        waiting = sorted(arrivals, key=lambda call: call.came)
        self.calls = list(waiting)
        running: list[Call] = []
        left: dict[str, int] = {}
        now = waiting[0].came
        number = 0
        while waiting or running:
            if not running and waiting and waiting[0].came > now:
                now = waiting[0].came + 0.0001
            room = min(self.most - len(running), len(free))
            fresh = [call for call in waiting if call.came <= now][: max(room, 0)]
            if fresh:
                taken = free[-len(fresh) :] if self.lifo else free[: len(fresh)]
                free = free[: -len(fresh)] if self.lifo else free[len(fresh) :]
                for call, slot in zip(fresh, taken, strict=True):
                    call.slot, call.admitted = slot, now
                    left[call.rid] = call.tokens
                    self.given.append((now + 0.00005, call.rid, slot))
                waiting = [call for call in waiting if call not in fresh]
            batch = fresh or running
            number += 1
            self.passes.append(
                (number, now + 0.0002, "prefill" if fresh else "decode", [(call.rid, call.slot) for call in batch])
            )
            for call in batch:
                call.passes.append(number)
                left[call.rid] -= 1
            running += fresh
            self.running_seen.append((now, len(running)))
            now += self.step * noise.uniform(0.8, 1.4)
            for call in list(running):
                if left[call.rid] <= 0:
                    now += 0.00003
                    call.done = now
                    running.remove(call)
                    free.append(call.slot)
                    self.freed.append((now, call.rid, call.slot))
                    self.ended.append(call)
            now += noise.uniform(0.0001, 0.0006)

    # -- what it would have written -----------------------------------------------------------------------------

    def stats_log(self, *, started: bool = True, counts: bool = True, rank: str = "") -> str:
        """Scheduler lines as 0.5.12 and later write them, stamps in whole seconds."""
        lines: list[tuple[float, str]] = []
        if started:
            size = f"max_total_num_tokens=8192, chunked_prefill_size=2048, max_running_requests={self.rows}, context_len=4096"
            lines.append((self.calls[0].came - 5, size))
        for number, call in enumerate(self.ended):
            queue, forward = (call.admitted - call.came) * 1e3, (call.done - call.admitted) * 1e3
            lines.append(
                (
                    call.done + number * 1e-9,
                    f"ReqTimeStats(rid={call.rid}, input_len=10, cached_input_len=0, output_len={call.tokens}, attempts=1, "
                    f"type=unified): queue_duration={queue:.2f}ms, forward_duration={forward:.2f}ms, entry_time={call.came:.3f}",
                )
            )
        if counts:
            for moment, running in self.running_seen[::40]:
                lines.append(
                    (
                        moment,
                        f"Decode batch, #running-req: {running}, #token: 100, token usage: 0.01, cpu graph: False, "
                        "gen throughput (token/s): 1.00, #queue-req: 0",
                    )
                )
        lines.sort(key=lambda line: line[0])
        return "".join(f"[{stamp(moment)}{rank}] {text}\n" for moment, text in lines)

    def request_log(self, headers: bool = True) -> str:
        """The request log in JSON, as 0.5.18 and later (lifo) or 0.5.15 (fifo) write it."""
        fields = dict.fromkeys(f"field_{i}" for i in range(16))
        fields |= {"lora_path": None, "extra_key": None, "mm_hashes": None}
        if self.lifo:
            fields |= {"cache_salt": None, "mm_content_hashes": None}
        lines: list[tuple[float, dict[str, object]]] = []
        for call in self.calls:
            asked = {"rid": call.rid, "text": f"a question of {call.rid}", "stream": False, **fields}
            tenant = {"headers": {"x-tenant-id": f"t{len(call.rid) % 3}"}} if headers else {}
            lines.append((call.came - 0.002, {"event": "request.received", "rid": call.rid, "obj": asked, **tenant}))
            meta = {
                "id": call.rid,
                "finish_reason": {"type": "stop", "matched": 2},
                "prompt_tokens": 10,
                "completion_tokens": call.tokens,
                "cached_tokens": 0,
                "e2e_latency": call.done + 0.004 - call.came,
            }
            out = {"text": f"an answer to {call.rid}", "meta_info": meta}
            lines.append(
                (call.done + 0.002, {"event": "request.finished", "rid": call.rid, "obj": asked, "out": out, **tenant})
            )
        lines.sort(key=lambda line: line[0])
        return "".join(
            f"[{stamp(moment)}] " + json.dumps({"timestamp": micro(moment), **event}) + "\n" for moment, event in lines
        )

    def probe_log(self, **base: object) -> str:
        """The probe's lines."""
        common = {"v": 1, "mono": 0.0, "host": "h1", "pid": 7, "tp": 0, "dp": 0, "pp": 0, **base}
        lines: list[tuple[float, dict[str, object]]] = []
        for moment, rid, slot in self.given:
            lines.append((moment, {"ev": "slot_alloc", "slot": slot, "gen": 1, "rid": rid}))
        for moment, rid, slot in self.freed:
            lines.append((moment, {"ev": "slot_free", "slot": slot, "rid": rid}))
        for number, moment, mode, rows in self.passes:
            members = [{"rid": rid, "slot": slot, "seq_len": 10, "prefix_len": 0} for rid, slot in rows]
            lines.append((moment, {"ev": "batch_start", "iter": number, "mode": mode, "rows": members}))
        lines.sort(key=lambda line: line[0])
        return "".join(json.dumps({**common, "ts": round(moment, 6), **event}) + "\n" for moment, event in lines)


def stamp(moment: float) -> str:
    return datetime.fromtimestamp(int(moment), UTC).strftime("%Y-%m-%d %H:%M:%S")


def micro(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")


def traffic(count: int, rate: float, seed: int, tokens: tuple[int, int] = (5, 80)) -> list[Call]:
    """`count` calls, `rate` a second on average."""
    noise = random.Random(seed)
    moment = START
    calls = []
    for number in range(count):
        moment += noise.expovariate(rate)
        calls.append(Call(f"call-{number:05d}", moment, noise.randint(*tokens)))
    return calls
