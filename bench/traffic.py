"""Chat traffic without end, in the house format, written as fast as a disk takes it: for benchmarks of size alone.

    python bench/traffic.py OUT --requests 1000000                     histories repeated in every turn, as chat does
    python bench/traffic.py OUT --requests 20000 --turns 1 --prompt 96000    texts that are all new

Words are drawn from a vocabulary with the frequencies of ordinary language, and each conversation has a subject of its
own, which question and answer share. `--leaks` passages of earlier prompts of other tenants stand in answers; OUT holds
`logs/` and `truth.jsonl`. For accuracy there is `forensics simulate`, which is slower and much closer to life.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

SYLLABLES = (
    "ba be bi bo bra ca ce clo cu da de di dro du fa fe fi flo ga ge gra ha he hi jo ka ke ki la le li lo lu ma me mi "
    "mo na ne ni no nu pa pe pi plo pra que ra re ri ro ru sa se shi so sta su ta te ti to tra tu va ve vi vo wa "
    "we ya ze"
).split()
COMMON = 6000
RARE = 60000
SUBJECT = 12  # rare words of a conversation
SUBJECT_SHARE = 0.12
WORKERS = 8
OPEN = 3000  # conversations that go on at the same time
START = datetime(2026, 5, 11, 6, tzinfo=UTC)
BLOCK = 1 << 19  # words drawn at once
PER_FILE = 1 << 29


@dataclass
class Conversation:
    """One tenant's talk: its turns so far as JSON, and the subject."""

    tenant: int
    worker: int
    turns: int
    subject: list[str]
    messages: list[bytes] = field(default_factory=list)
    done: int = 0


class Words:
    """Passages of about so many bytes."""

    def __init__(self, random: np.random.Generator) -> None:
        self._random = random
        made: dict[str, None] = {}
        while len(made) < COMMON + RARE:
            made["".join(SYLLABLES[i] for i in random.integers(0, len(SYLLABLES), random.integers(1, 6)))] = None
        every = sorted(made, key=lambda word: (len(word), word))
        self._common = np.array(every[:COMMON], dtype=object)
        self._rare = every[COMMON:]
        chance = 1.0 / (np.arange(COMMON) + 20.0)
        self._edges = np.cumsum(chance / chance.sum())
        self._drawn: list[str] = []
        self._at = 0

    def subject(self) -> list[str]:
        return [self._rare[i] for i in self._random.integers(0, len(self._rare), SUBJECT)]

    def passage(self, size: int, subject: list[str]) -> str:
        count = max(6, size // 6)
        if self._at + count > len(self._drawn):
            ids = np.searchsorted(self._edges, self._random.random(max(BLOCK, count)))
            self._drawn = self._common[np.minimum(ids, COMMON - 1)].tolist()
            self._at = 0
        words = self._drawn[self._at : self._at + count]
        self._at += count
        step = round(1 / SUBJECT_SHARE)
        for place in range(step // 2, count, step):
            words[place] = subject[(place * 7 + count) % SUBJECT]
        return " ".join(words)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--requests", type=int, default=1_000_000)
    parser.add_argument("--tenants", type=int, default=500)
    parser.add_argument("--turns", type=int, default=12, help="longest conversation (default 12; 1: nothing repeats)")
    parser.add_argument("--prompt", type=int, default=400, help="bytes of a new prompt text (default 400)")
    parser.add_argument("--answer", type=int, default=800, help="bytes of an answer (default 800)")
    parser.add_argument("--leaks", type=int, default=155)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    size, texts = write(arguments)
    print(json.dumps({"raw_bytes": size, "new_text_bytes": texts}))


def write(arguments: argparse.Namespace) -> tuple[int, int]:
    """The logs and the truth; bytes of raw log, and of texts that stand in it for the first time."""
    random = np.random.default_rng(arguments.seed)
    words = Words(random)
    logs = arguments.out / "logs"
    logs.mkdir(parents=True)
    systems = [text(words.passage(300, words.subject())) for _ in range(arguments.tenants)]

    def begin() -> Conversation:
        tenant = int(random.integers(0, arguments.tenants))
        turns = int(random.integers(1, arguments.turns + 1))
        talk = Conversation(tenant, int(random.integers(0, WORKERS)), turns, words.subject())
        talk.messages.append(b'{"role":"system","content":' + systems[tenant] + b"}")
        return talk

    open_talks = [begin() for _ in range(min(OPEN, max(4, arguments.requests // 10)))]
    victims = set(random.choice(np.arange(100, arguments.requests), arguments.leaks, replace=False).tolist())
    recent: list[tuple[int, int, str]] = []  # request, tenant, new prompt
    texts = sum(len(part) for part in systems)
    size = total = 0
    file = (logs / "traffic-0000.jsonl").open("wb")
    with (arguments.out / "truth.jsonl").open("wb") as truth:
        for number in range(arguments.requests):
            place = int(random.integers(0, len(open_talks)))
            talk = open_talks[place]
            prompt = words.passage(int(arguments.prompt * (0.5 + random.random())), talk.subject)
            answer = words.passage(int(arguments.answer * (0.5 + random.random())), talk.subject)
            if number in victims:
                answer, row = leaked(answer, talk.tenant, recent, random)
                truth.write(json.dumps({"response_request_id": f"r{number:07d}", **row}).encode() + b"\n")
            recent.append((number, talk.tenant, prompt))
            if len(recent) > 200:
                del recent[:100]
            talk.messages.append(b'{"role":"user","content":' + text(prompt) + b"}")
            at = START + timedelta(milliseconds=250 * number)
            line = b"".join(
                (
                    f'{{"request_id":"r{number:07d}","tenant_id":"tenant-{talk.tenant:04d}",'
                    f'"timestamp":"{at:%Y-%m-%dT%H:%M:%S.%f}Z",'
                    f'"finished_at":"{at + timedelta(seconds=6):%Y-%m-%dT%H:%M:%S.%f}Z",'
                    f'"worker":"w{talk.worker}","model":"m","stream":false,"request":{{"messages":['.encode(),
                    b",".join(talk.messages),
                    b']},"response":{"choices":[{"index":0,"message":{"role":"assistant","content":',
                    text(answer),
                    b'},"finish_reason":"stop"}]}}\n',
                )
            )
            file.write(line)
            size += len(line)
            total += len(line)
            texts += len(prompt) + len(answer)
            talk.messages.append(b'{"role":"assistant","content":' + text(answer) + b"}")
            talk.done += 1
            if talk.done == talk.turns:
                open_talks[place] = begin()
            if size > PER_FILE:
                file.close()
                file = (logs / f"traffic-{number:07d}.jsonl").open("wb")
                size = 0
    file.close()
    return total, texts


def leaked(
    answer: str, tenant: int, recent: list[tuple[int, int, str]], random: np.random.Generator
) -> tuple[str, dict[str, object]]:
    """An answer with a passage of another tenant's prompt in the middle of it, and the row of the truth."""
    others = [item for item in recent if item[1] != tenant]
    source, owner, prompt = others[int(random.integers(0, len(others)))]
    length = min(len(prompt), int(random.integers(120, 400)))
    low = int(random.integers(0, len(prompt) - length + 1))
    start = answer.index(" ", len(answer) // 2) + 1
    row: dict[str, object] = {
        "field": "choices[0].content",
        "char_start": start,
        "char_end": start + length,
        "source_request_id": f"r{source:07d}",
        "source_tenant_id": f"tenant-{owner:04d}",
        "source_field": "prompt",
        "kind": "verbatim",
        "altered": False,
        "ambiguous_with": [],
        "equivalent_sources": [],
    }
    return f"{answer[:start]}{prompt[low : low + length]} {answer[start:]}", row


def text(words: str) -> bytes:
    """As JSON: the words hold nothing that needs an escape."""
    return b'"' + words.encode() + b'"'


if __name__ == "__main__":
    main()
