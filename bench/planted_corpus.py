"""A log of real texts, with leaks planted in it: real questions, answers, documents and code from a corpus file.

    python bench/planted_corpus.py CORPUS OUT [--seed N] [--requests N] [--tenants N] [--leaks N]

CORPUS holds one JSON object a line (`id, source, licence, lang, kind, prompt, response`; plain or zstd); it is given,
not shipped. Each record becomes one request of one invented tenant. Several answers to one question go to different
tenants on purpose, licence texts to many: these must not be reported. A leak is an excerpt of an earlier text of
another tenant, set into an answer, exact or lightly altered; its beginning, middle and end stand in no other tenant's
text. Where some other part of it does (a second answer to the same question, the same task in another programming
language), its class is `near_duplicate`. The planting knows no detector and shares no code with the simulator.
"""

from __future__ import annotations

import argparse
import bisect
import json
import random
import re
import sys
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

_START = datetime(2026, 4, 20, 6, 0, tzinfo=UTC)
FIELD = "choices[0].content"
BANDS = {"40-79": (40, 79), "80-199": (80, 199), "200+": (200, 900)}
WAYS = ("verbatim",) * 5 + ("case", "rewrapped", "bullets", "dropped", "typos", "cut")
WINDOW = 24  # characters; half in scripts that say more with one


def read(path: Path) -> list[dict[str, Any]]:
    """All records of a corpus file."""
    data = path.read_bytes()
    if data[:4] == b"\x28\xb5\x2f\xfd":
        import zstandard

        data = zstandard.ZstdDecompressor().stream_reader(data).read()
    return [json.loads(line) for line in data.split(b"\n") if line]


def requests(records: list[dict[str, Any]], count: int, tenants: int, dice: random.Random) -> list[dict[str, Any]]:
    """`count` requests over the sources and kinds of the corpus, in a random order, with tenants and times."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for entry in records:
        if entry["kind"] in ("prompt-only", "system_prompt") and entry["lang"].startswith("zh"):
            continue  # thousands of one-line prompts
        groups.setdefault((entry["source"], entry["lang"]), []).append(entry)
    for members in groups.values():
        dice.shuffle(members)
    chosen: list[dict[str, Any]] = []
    order = sorted(groups)
    while len(chosen) < count and order:
        for key in list(order):
            take = groups[key][:6]
            del groups[key][:6]
            chosen += take
            if not groups[key]:
                order.remove(key)
    chosen = chosen[:count]
    dice.shuffle(chosen)
    names = [f"real-{number:02d}" for number in range(tenants)]
    made, at = [], 0.0
    for number, entry in enumerate(chosen):
        at += dice.expovariate(1 / 4)
        answer = entry["response"] or ""
        text = entry["prompt"][: dice.randrange(2500, 9000)] if entry["kind"] == "document" else entry["prompt"]
        if not answer:
            text, answer = f"Keep this in mind for later questions.\n\n{text}", dice.choice(
                ("Noted.", "I have read it.", "Understood, I will use it.", "Thank you, I have it now."))  # fmt: skip
        made.append(
            {
                "rid": f"q{number:05d}", "tenant": dice.choice(names), "at": at, "end": at + dice.uniform(1, 15),
                "lang": entry["lang"], "kind": entry["kind"], "source": entry["source"], "prompt": text,
                "answer": answer,
            }
        )  # fmt: skip
    return made


class Holders:
    """Who holds a piece of text, by plain search over everything in the log."""

    def __init__(self, made: list[dict[str, Any]]) -> None:
        self._starts: list[int] = []
        self._owners: list[str] = []
        parts, length = [], 0
        for entry in made:
            for text in (entry["prompt"], entry["answer"]):
                self._starts.append(length)
                self._owners.append(entry["tenant"])
                parts.append(text.casefold())
                length += len(parts[-1]) + 1
        self._all = "\0".join(parts)

    def of(self, piece: str) -> set[str]:
        """Tenants whose texts contain `piece`, whatever the case."""
        found, at = set(), -1
        piece = piece.casefold()
        while (at := self._all.find(piece, at + 1)) >= 0:
            found.add(self._owners[bisect.bisect_right(self._starts, at) - 1])
        return found


def excerpt(text: str, low: int, high: int, dice: random.Random) -> str | None:
    """A part of `text` between words, of a length in the bounds."""
    for _ in range(12):
        wanted = dice.randint(low, high)
        if len(text) < wanted + 20:
            continue
        start = dice.randrange(len(text) - wanted)
        part = text[start : start + wanted]
        if text[start - 1 : start + 1].isalnum() and part[:1].isascii() and " " in part[:25]:
            part = part[part.index(" ") :]
        if text[start + wanted - 1 : start + wanted + 1].isalnum() and part[-1:].isascii() and " " in part[-25:]:
            part = part[: part.rindex(" ")]
        part = part.strip()
        letters = sum(c.isalnum() for c in part)
        if low <= len(part) <= high and letters > 0.55 * len(part) and len(set(part.casefold())) > 12:
            return part
    return None


def altered(part: str, way: str, dice: random.Random) -> str:
    """The excerpt in another form."""
    if way == "case":
        return part.upper() if dice.random() < 0.5 else part.lower()
    if way == "rewrapped":
        words = part.split()
        return "\n".join(" ".join(words[at : at + 7]) for at in range(0, len(words), 7))
    if way == "bullets":
        return "\n".join(f"* {piece.strip()}" for piece in re.split(r"(?<=[.!?;,:。，])\s*", part) if piece.strip())
    if way == "dropped":
        words = part.split(" ")
        return " ".join(w for place, w in enumerate(words) if place in (0, len(words) - 1) or dice.random() > 0.08)
    if way == "typos":
        return "".join(
            dice.choice("aeinrst") if c.isalpha() and c.isascii() and dice.random() < 0.03 else c for c in part
        )
    if way == "cut":
        return part[dice.randint(1, 4) : -dice.randint(1, 4)].strip()
    return part


def plant(made: list[dict[str, Any]], leaks: int, dice: random.Random) -> list[dict[str, Any]]:
    """Set leaks into answers of the middle of the log; rows of the truth."""
    holders = Holders(made)
    victims = [entry for entry in made[len(made) // 4 :] if len(entry["answer"]) > 60]
    dice.shuffle(victims)
    rows: list[dict[str, Any]] = []
    hurt: set[str] = set()
    while victims and len(rows) < leaks:
        victim = victims.pop()
        place = int(victim["rid"][1:])
        source = made[place - dice.randint(1, min(place, 400))]
        if source["tenant"] == victim["tenant"] or source["rid"] in hurt or source["at"] >= victim["end"]:
            continue
        side = "prompt" if dice.random() < 0.7 or len(source["answer"]) < 100 else "answer"
        name = dice.choices(list(BANDS), (25, 40, 35))[0]
        part = excerpt(source[side], *BANDS[name], dice)
        if part is None:
            continue
        width = WINDOW // 2 if sum(c > "\u2e80" for c in part) > len(part) / 2 else WINDOW
        windows = [part[:width], part[len(part) // 2 : len(part) // 2 + width], part[-width:]]
        if any(holders.of(window) - {source["tenant"]} for window in windows):
            continue
        near = any(
            holders.of(part[at : at + width]) - {source["tenant"]} for at in range(0, len(part) - width, width // 4)
        )
        way = dice.choice(WAYS)
        label = "real/near_duplicate" if near else f"real/{way}"
        leak = altered(part, way, dice)
        own = victim["answer"]
        spaces = [m.end() for m in re.finditer(r"[.!?。\n]\s*", own)] or [len(own)]
        at = dice.choice(spaces)
        left = own[:at] + ("" if not own[:at] or own[:at][-1].isspace() else " ")
        victim["answer"] = f"{left}{leak} {own[at:]}"
        hurt.add(victim["rid"])
        rows.append(
            {
                "response_request_id": victim["rid"], "field": FIELD, "char_start": len(left),
                "char_end": len(left) + len(leak), "source_request_id": source["rid"],
                "source_tenant_id": source["tenant"],
                "source_field": "prompt" if side == "prompt" else "response",
                "kind": "verbatim" if leak in source[side] else "altered", "altered": leak not in source[side],
                "ambiguous_with": [], "equivalent_sources": [], "response_tenant_id": victim["tenant"],
                "class": label, "language": language(source), "source_chars": len(part), "pieces": [],
                "chain": None, "chars": len(leak),
            }
        )  # fmt: skip
    return sorted(rows, key=lambda row: row["response_request_id"])


def language(entry: dict[str, Any]) -> str:
    """Two letters, or `code`."""
    name: str = entry["lang"]
    return "code" if name.startswith("code") else name.replace("_", "-").partition("-")[0]


def lookalikes(made: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Answers to questions that several tenants asked, and quoted licences: what must not be reported."""
    asked = Counter(entry["prompt"] for entry in made)
    rows = []
    for entry in made:
        if asked[entry["prompt"]] > 1:
            rows.append(
                {"class": "same_question", "request_ids": [entry["rid"]], "field": FIELD, "char_start": 0,
                 "char_end": len(entry["answer"]), "tenant_id": entry["tenant"]}
            )  # fmt: skip
    return rows


def write(out: Path, made: list[dict[str, Any]], rows: list[dict[str, Any]]) -> None:
    """Log, truth and lists."""
    (out / "logs").mkdir(parents=True)
    with (out / "logs" / "requests.jsonl").open("w", encoding="utf-8", newline="") as file:
        for entry in made:
            record = {
                "request_id": entry["rid"], "tenant_id": entry["tenant"], "worker": f"w{hash_of(entry['rid']) % 4}",
                "timestamp": (_START + timedelta(seconds=entry["at"])).isoformat(), "model": "none", "stream": False,
                "finished_at": (_START + timedelta(seconds=entry["end"])).isoformat(),
                "request": {"messages": [{"role": "user", "content": entry["prompt"]}]},
                "response": {"choices": [{"index": 0, "message": {"role": "assistant", "content": entry["answer"]},
                                          "finish_reason": "stop"}]},
            }  # fmt: skip
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
    for name, found in (("truth.jsonl", rows), ("lookalikes.jsonl", lookalikes(made))):
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in found)
        (out / name).write_text(text, encoding="utf-8", newline="")
    names = sorted({entry["tenant"] for entry in made})
    (out / "tenants.csv").write_text("key,tenant\n" + "".join(f"{name},{name}\n" for name in names), encoding="utf-8")


def hash_of(text: str) -> int:
    """A number for a text, the same in every process."""
    import zlib

    return zlib.crc32(text.encode())


def build(corpus: Path, out: Path, seed: int = 1, count: int = 3000, tenants: int = 60, leaks: int = 150) -> int:
    """Write the log; how many leaks were planted."""
    dice = random.Random(seed)
    made = requests(read(corpus), count, tenants, dice)
    rows = plant(made, leaks, dice)
    write(out, made, rows)
    return len(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--requests", type=int, default=3000)
    parser.add_argument("--tenants", type=int, default=60)
    parser.add_argument("--leaks", type=int, default=150)
    given = parser.parse_args()
    planted = build(given.corpus, given.out, given.seed, given.requests, given.tenants, given.leaks)
    print(f"{planted} leaks planted", file=sys.stderr)


if __name__ == "__main__":
    main()
