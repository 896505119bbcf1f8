"""A log in which tenants often quote the same rare document by accident, with some short leaks: who copied, who quoted.

Every accidental passage stands in one tenant's prompt and in another tenant's answer, at two independent times, so that
half of the prompts come too late to be a source. Leaks come from a request on the same worker shortly before. Times,
places and cuts are drawn by the generator; it shares no code with the attribution.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from forensics.simulate.corpus import load

ORIGIN = datetime(2026, 3, 4, 10, 0, 0)


@dataclass
class Quoted:
    """The log's file, and what was put into which answer: request id -> (what, start, end, source request or None)."""

    path: Path
    planted: dict[str, tuple[str, int, int, str | None]] = field(default_factory=dict)


class _Writer:
    def __init__(self, dice: random.Random) -> None:
        words = [word.strip(".,!?;:").lower() for line in load().prose["en"] for word in line]
        self.words = [word for word in words if word.isalpha()]
        self.dice = dice

    def sentences(self, count: int) -> str:
        made = []
        for _ in range(count):
            words = [self.dice.choice(self.words) for _ in range(self.dice.randint(7, 16))]
            made.append(" ".join(words).capitalize() + ".")
        return " ".join(made)


def _cut(text: str, low: int, high: int, dice: random.Random, *, neat: bool) -> str:
    """A part of `text`: whole sentences where `neat`, else from one word to another."""
    if neat:
        parts = text.split(". ")
        first = dice.randrange(len(parts))
        made = parts[first]
        while len(made) < low and first + 1 < len(parts):
            first += 1
            made += ". " + parts[first]
        return made[: high + 60].strip()
    wanted = dice.randint(low, high)
    start = dice.randrange(max(1, len(text) - wanted))
    start = text.find(" ", start) + 1
    end = text.rfind(" ", start, start + wanted)
    return text[start : end if end > start else start + wanted].strip()


def write_log(
    folder: Path,
    seed: int,
    *,
    requests: int = 2400,
    tenants: int = 60,
    workers: int = 6,
    shared: int = 700,
    leaks: int = 60,
    correlated: bool = False,
    leak_lengths: tuple[int, int] = (40, 200),
) -> Quoted:
    """Write `folder`/log.jsonl. `shared`: accidental pairs; `correlated`: the two of a pair meet within a minute or so."""
    dice = random.Random(seed)
    writer = _Writer(dice)
    who = [f"tenant-{dice.randrange(tenants):02d}" for _ in range(requests)]
    where = [f"w{dice.randrange(workers)}" for _ in range(requests)]
    prompts = [writer.sentences(dice.randint(6, 14)) for _ in range(requests)]
    answers = [writer.sentences(dice.randint(3, 7)) for _ in range(requests)]
    made = Quoted(folder / "log.jsonl")
    used: set[int] = set()
    taken: set[int] = set()

    def insert(number: int, passage: str, what: str, source: int | None) -> None:
        left, right = answers[number].split(" ", 3)[:3], answers[number].split(" ", 3)[3:]
        head = " ".join(left) + " "
        answers[number] = head + passage + " " + " ".join(right)
        made.planted[f"r{number:05d}"] = (
            what,
            len(head),
            len(head) + len(passage),
            None if source is None else f"r{source:05d}",
        )

    def free(low: int, high: int) -> int | None:
        for _ in range(200):
            number = dice.randrange(max(0, low), min(requests, high))
            if number not in used:
                return number
        return None

    for _ in range(leaks):
        for _ in range(200):
            victim = dice.randrange(requests // 10, requests)
            near = [
                n for n in range(max(0, victim - 90), victim)
                if where[n] == where[victim] and who[n] != who[victim] and n not in taken
            ]  # fmt: skip
            if victim not in used and near:
                break
        source = dice.choice(near)
        used.add(victim)
        taken.add(source)
        insert(victim, _cut(prompts[source], *leak_lengths, dice, neat=False), "leak", source)
    for _ in range(shared):
        document = writer.sentences(8)
        victim = free(0, requests)
        if victim is None:
            break
        used.add(victim)
        other = victim
        while who[other] == who[victim] or other in used:
            other = dice.randrange(requests)
            if correlated:
                other = min(requests - 1, max(0, victim + dice.randint(-40, 40)))
        passage = _cut(document, 60, 400, dice, neat=dice.random() < 0.7)
        insert(victim, passage, "quoted", None)
        prompts[other] += " " + document
        if dice.random() < 0.6:  # the recipient asks about it
            about = [word for word in passage.split() if dice.random() < 0.3]
            prompts[victim] += " What is said about " + " ".join(about) + "?"
    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    for number in range(requests):
        began = ORIGIN + timedelta(seconds=2 * number + dice.random())
        lines.append(
            json.dumps(
                {
                    "request_id": f"r{number:05d}", "tenant_id": who[number], "worker": where[number], "model": "m",
                    "timestamp": began.isoformat() + "Z",
                    "finished_at": (began + timedelta(seconds=dice.randint(2, 9))).isoformat() + "Z",
                    "request": {"messages": [{"role": "user", "content": prompts[number]}]},
                    "response": {"choices": [{"index": 0, "message": {"role": "assistant", "content": answers[number]}}]},
                }
            )
        )  # fmt: skip
    made.path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return made
