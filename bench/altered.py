"""How many altered and interleaved copies are found, by length and alteration, and is the right tenant named?

Takes a simulated log without leaks, plants copies of other tenants' prompts in its answers (by code of its own, which
knows nothing of how they are searched for), runs the pipeline and prints one table: found at any verdict / found and
probable / wrong tenants, out of n.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

LENGTHS = (80, 120, 200, 500)
FOREIGN = (
    "amber basin cargo delta ember fjord grove hinge inlet jolly kayak ledge mango north orbit piano quill".split()
)


def exact(text: str, dice: random.Random) -> str:
    return text


def case_space(text: str, dice: random.Random) -> str:
    return "  ".join(word.upper() if dice.random() < 0.5 else word.lower() for word in text.split())


def detokenised(text: str, dice: random.Random) -> str:
    return "".join(f" {c} " if not c.isalnum() and not c.isspace() else c for c in text)


def markdown(text: str, dice: random.Random) -> str:
    words = [f"**{word}**" if dice.random() < 0.2 else word for word in text.split(" ")]
    return "\n> ".join(" ".join(words[i : i + 8]) for i in range(0, len(words), 8))


def escaped(text: str, dice: random.Random) -> str:
    lines = text.replace(". ", '.\n"')
    return json.dumps(json.dumps(lines))[3:-3]


def full_width(text: str, dice: random.Random) -> str:
    return "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)


def reflowed(text: str, dice: random.Random) -> str:
    words = text.split()
    rows = [words[i : i + 5] for i in range(0, len(words), 5)]
    return "\n".join(f"| {number} | " + " | ".join(row) + " |" for number, row in enumerate(rows, 11))


def truncated(text: str, dice: random.Random) -> str:
    return text[3:-3]


def edge_paraphrase(text: str, dice: random.Random) -> str:
    words = text.split(" ")
    edge = max(1, len(words) // 8)
    new = [dice.choice(FOREIGN) for _ in range(2 * edge)]
    return " ".join([*new[:edge], *words[edge:-edge], *new[edge:]])


def dropped(text: str, dice: random.Random) -> str:
    return " ".join(word for word in text.split(" ") if dice.random() >= 0.1)


def replaced(text: str, dice: random.Random) -> str:
    return " ".join(dice.choice(FOREIGN) if dice.random() < 0.1 else word for word in text.split(" "))


def noise(text: str, dice: random.Random) -> str:
    out = []
    for c in text:
        roll = dice.random()
        if roll < 0.05:
            out.append(dice.choice(("", dice.choice("abcdefghijklmnop"), c + dice.choice("abcdefghijklmnop"))))
        else:
            out.append(c)
    return "".join(out)


ALTERATIONS: dict[str, Callable[[str, random.Random], str]] = {
    f.__name__: f
    for f in (
        exact, case_space, detokenised, markdown, escaped, full_width, reflowed, truncated, edge_paraphrase, dropped,
        replaced, noise,
    )
}  # fmt: skip


def tokens(text: str, size: int, dice: random.Random) -> list[str]:
    """Pieces of about a word (`size` 0), or of `size` characters, that join to the text."""
    if size:
        return [text[i : i + size] for i in range(0, len(text), size)]
    out: list[str] = []
    for word in text.split(" "):
        word = " " + word
        cut = dice.randint(3, 6)
        out.extend([word[:cut], word[cut:]] if len(word) > 7 else [word])
    return [piece for piece in out if piece]


def interleave(streams: list[list[str]]) -> str:
    """Pieces in turn, until all are used up."""
    longest = max(map(len, streams))
    return "".join(stream[i] for i in range(longest) for stream in streams if i < len(stream))


STREAMS = {
    "two streams, tokens": (2, 0), "two streams, 4 characters": (2, 4), "two streams, 8 characters": (2, 8),
    "three streams, tokens": (3, 0),
}  # fmt: skip


def plant(records: list[dict[str, Any]], n: int, dice: random.Random) -> list[dict[str, Any]]:
    """Plant n copies a cell; returns what was planted."""
    records.sort(key=lambda record: record["timestamp"])
    free = [i for i, r in enumerate(records) if i > len(records) // 10 and _answer(r) and len(_answer(r)) > 150]
    dice.shuffle(free)
    cells = [(name, length) for name in ALTERATIONS for length in LENGTHS]
    cells += [(name, length) for name in STREAMS for length in (300, 600)]
    planted: list[dict[str, Any]] = []
    used: set[str] = set()
    for _ in range(n):
        for name, length in cells:
            if not free:
                raise SystemExit("too few answers: raise --requests")
            place = free.pop()
            record = records[place]
            streams = STREAMS.get(name)
            sources = _sources(records, place, length, dice, used, bool(streams))
            wanted = (streams[0] - 1) if streams else 1
            cuts: list[str] = []
            chosen = []
            for other, text in sources[:40]:
                cut = _cut(text, length, dice)
                if len(cuts) < wanted and not held_by_others(cut, other["tenant_id"], records):
                    cuts.append(cut)
                    chosen.append(other)
            if len(cuts) < wanted:
                continue
            own = _answer(record)
            if streams:
                mine = own[: length * 2]
                parts = [tokens(mine[:length], streams[1], dice), *(tokens(c, streams[1], dice) for c in cuts)]
                leak = interleave(parts)
                before, after = "", mine[length:]
                used.update(source["request_id"] for source in chosen)
            else:
                leak = ALTERATIONS[name](cuts[0], dice)
                at = own.find(" ", len(own) // 3)
                before, after = own[:at] + " ", own[at:]
            _set_answer(record, before + leak + after)
            planted.append(
                {
                    "request": record["request_id"], "cell": name, "length": length, "start": len(before),
                    "end": len(before) + len(leak), "tenants": [s["tenant_id"] for s in chosen],
                }
            )  # fmt: skip
    return planted


def _answer(record: dict[str, Any]) -> str:
    choices = record.get("response", {}).get("choices") or [{}]
    return choices[0].get("message", {}).get("content") or ""


def _set_answer(record: dict[str, Any], text: str) -> None:
    record["response"]["choices"][0]["message"]["content"] = text


def held_by_others(text: str, tenant: str, records: list[dict[str, Any]]) -> bool:
    """Does another tenant send a piece of the text too? Such text may be shared, which is another question."""
    pieces = [text[i : i + 30] for i in range(0, max(1, len(text) - 30), 45)]
    texts = _by_tenant(records)
    return any(piece in theirs for name, theirs in texts.items() if name != tenant for piece in pieces)


_TEXTS: dict[str, str] = {}


def _by_tenant(records: list[dict[str, Any]]) -> dict[str, str]:
    if not _TEXTS:
        found: dict[str, list[str]] = defaultdict(list)
        for record in records:
            seen = {m["content"] for m in record["request"]["messages"] if isinstance(m.get("content"), str)}
            found[record["tenant_id"]].extend(sorted(seen))
        _TEXTS.update({name: "\n".join(sorted(set(texts))) for name, texts in found.items()})
    return _TEXTS


def _sources(
    records: list[dict[str, Any]], place: int, length: int, dice: random.Random, used: set[str], near: bool
) -> list[tuple[dict[str, Any], str]]:
    """Earlier requests of other tenants with a prompt text that is long enough; `near`: in flight on the worker."""
    mine = records[place]
    found = []
    order = list(range(max(0, place - 60), place)) if near else list(range(place))
    dice.shuffle(order)
    for i in reversed(order) if near else order[:400]:
        other = records[i]
        if other["tenant_id"] == mine["tenant_id"] or other["request_id"] in used:
            continue
        if near and (other.get("worker") != mine.get("worker") or other.get("finished_at", "") <= mine["timestamp"]):
            continue
        for message in other["request"]["messages"][::-1] if near else other["request"]["messages"][-1:]:
            text = message.get("content")
            if isinstance(text, str) and len(text) >= length + 40 and text.isascii():
                found.append((other, text))
                break
    return found


def _cut(text: str, length: int, dice: random.Random) -> str:
    start = dice.randint(0, len(text) - length - 30)
    space = text.find(" ", start)
    start = space + 1 if 0 <= space < start + 25 else start
    return text[start : start + length].strip()


def forensics(*command: str) -> None:
    subprocess.run([sys.executable, "-m", "forensics", *command, "--quiet"], check=True, stdout=subprocess.DEVNULL)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=41)
    parser.add_argument("--requests", type=int, default=6000)
    parser.add_argument("--tenants", type=int, default=80)
    parser.add_argument("-n", type=int, default=30, help="copies a cell")
    parser.add_argument("--keep", type=Path, help="folder to leave the log, the case and what was planted in")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.keep or Path(scratch)
        folder.mkdir(exist_ok=True)
        rows = measure(folder, arguments)
    show(rows)


def measure(folder: Path, arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """What was planted, with what was found of it."""
    dice = random.Random(arguments.seed)
    incident, case = folder / "incident", folder / "case"
    forensics(
        "simulate", str(incident), "--seed", str(arguments.seed), "--requests", str(arguments.requests), "--tenants",
        str(arguments.tenants), "--form", "house", "--leaks", "0", "--ambiguous", "0", "--undetermined", "0",
    )  # fmt: skip
    logs = sorted((incident / "logs").glob("*.jsonl"))
    records = [json.loads(line) for path in logs for line in path.read_bytes().split(b"\n") if line]
    planted = plant(records, arguments.n, dice)
    (folder / "logs").mkdir(exist_ok=True)
    lines = "\n".join(json.dumps(record) for record in records)
    (folder / "logs" / "requests.jsonl").write_text(lines + "\n", encoding="utf-8")
    (folder / "planted.json").write_text(json.dumps(planted), encoding="utf-8")
    forensics("run", str(folder / "logs"), "--case", str(case), "--tenants", str(incident / "tenants.csv"))
    return score(planted, case)


def score(planted: list[dict[str, Any]], case: Path) -> list[dict[str, Any]]:
    """What was planted, with what the case says of it."""
    by_request: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in (case / "out" / "fragments.jsonl").read_bytes().split(b"\n"):
        if line:
            fragment = json.loads(line)
            by_request[fragment["recipient_request_id"]].append(fragment)
    for row in planted:
        length = row["end"] - row["start"]
        found = [
            f
            for f in by_request[row["request"]]
            if f["field"] == "choices[0].content" and min(f["end"], row["end"]) - max(f["start"], row["start"]) > 0
        ]
        covered = set()
        for f in found:
            covered.update(range(max(f["start"], row["start"]), min(f["end"], row["end"])))
        row["found"] = len(covered) >= 0.5 * length
        row["right"] = bool({t for f in found for t in f["sources"]} & set(row["tenants"]))
        row["probable"] = row["found"] and any(f["verdict"] == "probable" for f in found)
        row["wrong"] = any(f["sources"] and not set(f["sources"]) & set(row["tenants"]) for f in found)
        row["kinds"] = [f["kind"] for f in found]
        row["covered"] = len(covered) / length
    return planted


def show(rows: list[dict[str, Any]]) -> None:
    """The table for people."""
    print("found with the right tenant / of these probable / wrong tenants / n; kinds of what was found")
    cells: dict[tuple[str, int], list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        cells[row["cell"], row["length"]].append(row)
    for name in [*ALTERATIONS, *STREAMS]:
        kinds = Counter(kind for row in rows if row["cell"] == name for kind in set(row["kinds"]))
        text = ""
        for length in (*LENGTHS, 300, 600):
            found = cells.get((name, length))
            if found:
                right = sum(row["found"] and row["right"] for row in found)
                sure = sum(row["found"] and row["right"] and row["probable"] for row in found)
                wrong = sum(row["wrong"] for row in found)
                text += f"  {length}: {right / len(found):.2f}/{sure / len(found):.2f}/{wrong}/{len(found)}"
        print(f"{name:26}{text}   {dict(kinds)}")


if __name__ == "__main__":
    main()
