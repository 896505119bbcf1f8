"""How many whole answers that reached the wrong customer are found, by kind of mistake? Planted into real answers.

Reads a house-format log of clean calls (any questions and answers, one JSON object a line), plants answers that reached
somebody else, runs ingest and attribution as a user would, and counts by class: found, rightly named, wrongly named.
Shares no code with the attribution that it measures. What was not planted is a null: fragments there are false.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

REACH = 24  # requests before, on the same worker, from which a copied answer may come
NAMES = (
    "Okonkwo", "Brandvold", "Quillfeather", "Szczepanik", "Vandermeulen", "Tsukahara", "Iyengar", "Mbeki-Larsen",
    "Halloran", "Przybylski", "Ostrowicka", "Gundersen", "Abernethy", "Castellanos", "Nakashima", "Wiśniewska",
)  # fmt: skip
CACHED = (
    ("Where is my order?", "Order {number} of {name} left the depot this morning and will be delivered on Thursday."),
    ("What is the state of my claim?", "Dear {name}, your claim {number} has been accepted; we pay in a week."),
    ("Wann kommt meine Lieferung?", "Guten Tag {name}, die Lieferung {number} verlässt morgen das Lager und kommt an."),
    ("我的订单在哪里？", "{name} 您好，您的订单 {number} 今天上午已从仓库发出，预计星期四送达，请注意查收。"),
)  # fmt: skip


class Plants:
    """Answers moved about in a log, and what was done."""

    def __init__(self, records: list[dict[str, Any]], dice: random.Random) -> None:
        self.records = records
        self.dice = dice
        self.truth: list[dict[str, Any]] = []
        self.used: set[int] = set()
        self.lanes: dict[str, list[int]] = defaultdict(list)
        for number, record in enumerate(records):
            self.lanes[record["worker"]].append(number)
        self.place = {n: (lane, i) for lane, rows in self.lanes.items() for i, n in enumerate(rows)}
        self.chains = 0
        for record in records:  # long enough for several to be in flight at a time on one worker
            began = datetime.fromisoformat(record["timestamp"])
            record["finished_at"] = (began + timedelta(seconds=dice.uniform(40, 80))).isoformat()

    def note(self, kind: str, recipient: int, source: int, chain: int = -1) -> None:
        self.truth.append({"class": kind, "request": self.records[recipient]["request_id"], "chain": chain,
                           "source": self.records[source]["tenant_id"]})  # fmt: skip

    def tenant(self, number: int) -> str:
        return str(self.records[number]["tenant_id"])

    def answer(self, number: int) -> str:
        return str(self.records[number]["response"]["choices"][0]["message"]["content"])

    def put(self, number: int, text: str) -> None:
        self.records[number]["response"]["choices"][0]["message"]["content"] = text

    def free(self, numbers: list[int]) -> bool:
        return not self.used & {m for n in numbers for m in (n - 1, n, n + 1)} and all(
            a != b for a, b in zip(map(self.tenant, numbers), map(self.tenant, numbers[1:]), strict=False)
        )

    def row(self, size: int) -> list[int]:
        """`size` requests in a row on one worker, of tenants that change from one to the next."""
        for _ in range(2000):
            lane = self.dice.choice(sorted(self.lanes))
            first = self.dice.randrange(REACH, len(self.lanes[lane]) - size)
            rows = self.lanes[lane][first : first + size]
            if self.free(rows):
                self.used.update(rows)
                return rows
        raise SystemExit("the log is too small for so many plants")

    def copied(self, kind: str, change: Any, low: int, high: int) -> None:
        """An answer that its owner got, too."""
        for _ in range(2000):
            (recipient,) = self.row(1)
            lane, place = self.place[recipient]
            source = self.lanes[lane][place - self.dice.randrange(1, REACH)]
            fitting = self.free([source]) and low <= len(self.answer(source)) < high
            if fitting and self.tenant(source) != self.tenant(recipient):
                self.used.add(source)
                self.put(recipient, change(self.answer(source), self.dice))
                self.note(kind, recipient, source)
                return
            self.used.discard(recipient)

    def rotated(self, kind: str, size: int) -> None:
        """A group in which each got the answer of the one before, the first that of the last."""
        rows = self.row(size)
        answers = [self.answer(n) for n in rows]
        for i, number in enumerate(rows):
            self.put(number, answers[i - 1])
            self.note(kind, number, rows[i - 1])

    def shifted(self, size: int) -> None:
        """Each got the answer of the one before; the first one's is kept, the last one's lost."""
        rows = self.row(size)
        answers = [self.answer(n) for n in rows]
        for i in range(1, size):
            self.put(rows[i], answers[i - 1])
            self.note("shifted chain", rows[i], rows[i - 1], self.chains)
        self.chains += 1

    def cached(self) -> None:
        """The same question, answered from a cache with the particulars of another customer."""
        question, answer = self.dice.choice(CACHED)
        first, second = self.row(1)[0], self.row(1)[0]
        first, second = min(first, second), max(first, second)
        if self.tenant(first) == self.tenant(second):
            return
        name, number = self.dice.choice(NAMES), f"{self.dice.choice('ABCKRT')}{self.dice.randrange(10**5, 10**6)}"
        text = answer.format(name=name, number=number)
        for request, card in ((first, f"Customer: {name}, order {number}."), (second, "Customer: not signed in.")):
            self.records[request]["request"]["messages"] = [
                {"role": "system", "content": f"You answer for the shop. {card}"}, {"role": "user", "content": question}
            ]  # fmt: skip
            self.put(request, text)
        self.note("cache", second, first)


def untouched(text: str, _: random.Random) -> str:
    return text


def truncated(text: str, dice: random.Random) -> str:
    return text[: int(len(text) * dice.uniform(0.4, 0.8))]


def altered(text: str, dice: random.Random) -> str:
    """One word in twelve left out or doubled, other case, other spaces."""
    words = re.split(r"(\s+)", text)
    kept = [w for w in words if w.isspace() or dice.random() > 0.08]
    return "".join(w.upper() if dice.random() < 0.1 else w for w in kept).replace(". ", ".\n\n- ")


PLANTS: dict[str, Any] = {
    "copy": lambda p: p.copied("copy", untouched, 150, 10**6),
    "copy, truncated": lambda p: p.copied("copy, truncated", truncated, 150, 10**6),
    "copy, altered": lambda p: p.copied("copy, altered", altered, 150, 10**6),
    "copy, short": lambda p: p.copied("copy, short", untouched, 25, 60),
    "swap": lambda p: p.rotated("swap", 2),
    "batch": lambda p: p.rotated("batch", p.dice.choice((3, 4, 5))),
    "shifted chain": lambda p: p.shifted(p.dice.choice((4, 6, 8, 12))),
    "cache": lambda p: p.cached(),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", type=Path, help="a clean house-format log, one choice a call")
    parser.add_argument("--requests", type=int, default=5000)
    parser.add_argument("--each", type=int, default=20, help="plants of each class")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--skip", type=int, default=0, help="calls of the log to leave out at its start")
    parser.add_argument("--classes", nargs="+", default=list(PLANTS))
    parser.add_argument("--keep", type=Path, help="keep log, truth and case in this folder")
    arguments = parser.parse_args()
    lines = [line for line in arguments.texts.read_text(encoding="utf-8").split("\n") if line]
    plants = Plants(
        [json.loads(line) for line in lines[arguments.skip : arguments.skip + arguments.requests]],
        random.Random(arguments.seed),
    )
    for _ in range(arguments.each):
        for name in arguments.classes:
            PLANTS[name](plants)
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        log, case = folder / "log.jsonl", folder / "case"
        log.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in plants.records), "utf-8")
        (folder / "truth.json").write_text(json.dumps(plants.truth), "utf-8")
        for command in (("ingest", str(log), "--case", str(case)), ("attribute", str(case))):
            subprocess.run(
                [sys.executable, "-m", "forensics", *command, "--quiet"], check=True, stdout=subprocess.DEVNULL
            )
        show(plants.truth, case)


def show(truth: list[dict[str, Any]], root: Path) -> None:
    """Counts by class."""
    from forensics.case.store import Case

    with Case.open(root) as case:
        fragments = case.table("fragments").to_pylist()
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in fragments:
        found[row["recipient_request_id"]].append(row)
    rows: dict[str, Counter[str]] = defaultdict(Counter)
    chains: dict[int, list[bool]] = defaultdict(list)
    for item in truth:
        mine = found.get(item["request"], [])
        named = {tenant for row in mine for tenant in row["sources"]}
        count = rows[item["class"]]
        count["planted"] += 1
        count["found"] += bool(mine)
        count["whole"] += any(row["kind"] == "whole_response" for row in mine)
        count["named"] += item["source"] in named
        count["probable"] += any(row["machine_verdict"] == "probable" for row in mine)
        count["wrong"] += bool(named - {item["source"]})
        if item["chain"] >= 0:
            chains[item["chain"]].append(bool(mine))
    names = ("planted", "found", "whole", "named", "probable", "wrong")
    print(f"{'class':18}" + "".join(f"{name:>10}" for name in names))
    for kind in sorted(rows):
        print(f"{kind:18}" + "".join(f"{rows[kind][name]:10}" for name in names))
    total = sum(rows.values(), Counter())
    print(f"{'all':18}" + "".join(f"{total[name]:10}" for name in names))
    print(f"chains found whole: {sum(all(links) for links in chains.values())} of {len(chains)}")
    planted = {item["request"] for item in truth}
    false = Counter(
        (row["kind"], row["machine_verdict"]) for row in fragments if row["recipient_request_id"] not in planted
    )
    print("fragments where nothing was planted:", {" ".join(key): n for key, n in sorted(false.items())} or "none")


if __name__ == "__main__":
    main()
