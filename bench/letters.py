"""Does any letter hold anything of another customer? Small simulated incidents, letters to everybody, looked through.

    python bench/letters.py [--first 1] [--cases 1000] [--seconds 480] [--json FILE]

For each seed: simulate an incident, read, attribute, scope, draft a letter to every customer of the evidence (affected,
clear, not examined), and look through the bytes by code that shares nothing with the egress check: texts come from the
logs themselves, letters are undone by Python's own HTML parser and json, runs are compared as plain strings.

Counted are (a) runs of 32 letters and digits in a row that stand in a letter and in any text of another customer's
requests or answers, (b) identifiers of others (tokens of eight signs or more with three digits or more, and e-mail
addresses), (c) names of others (accounts and legal names). What the addressee itself wrote, and what it is called, is
its own. `controls`: one passage and one identifier of another customer planted in a copy of each file of a letter of
every case; the looking must find all. `--seconds` ends the run early; what was done is printed.
"""

from __future__ import annotations

import argparse
import csv
import html
import json
import re
import shutil
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

RUN = 32
TOKEN = re.compile(r"[\w.+-]+@[\w.-]+\.\w+|(?<![\w-])[\w-]{8,}(?![\w-])")
SIZE = {"tenants": 10, "requests": 60, "workers": 2, "leaks": 10, "ambiguous": 1, "undetermined": 1, "form": "house"}


def letters_of(root: Path, seed: int) -> Path:
    """A case with letters to everybody; returns the folder of the incident."""
    from forensics.attribution import run as attribution
    from forensics.case.store import Case, Resources
    from forensics.ingest import run as ingest
    from forensics.report.notices import Settings, keep, render_notices
    from forensics.scope import run as scope
    from forensics.simulate.parameters import Parameters
    from forensics.simulate.run import simulate

    incident = root / "incident"
    simulate(incident, Parameters(seed=seed, long_prompt_chars=800, **SIZE))  # type: ignore[arg-type]
    with Case.create(root / "case", Resources(threads=1)) as case:
        tenants = incident / "tenants.csv"
        parameters = ingest.Parameters(evidence=(incident / "logs",), tenants=tenants, workers=1)
        ingest.run(case, parameters)
        attribution.run(case, attribution.Parameters())
        scope.run(case, scope.Parameters())
        # Written without the egress check: what is measured is the letters, not what the check would hold back.
        for notice in render_notices(case, Settings(clear=True, not_examined=True)):
            keep(case, notice, case.write)
    return incident


def spoken(incident: Path) -> dict[str, dict[str, list[str]]]:
    """Texts of each customer by side, from the log itself."""
    texts: dict[str, dict[str, list[str]]] = defaultdict(lambda: {"prompt": [], "response": []})
    for line in (incident / "logs" / "requests.jsonl").read_bytes().split(b"\n"):
        if line:
            record = json.loads(line)
            mine = texts[record["tenant_id"]]
            mine["prompt"] += strings(record.get("request"))
            mine["response"] += strings(record.get("response"))
    return texts


def strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for part in parts for text in strings(part)]


class Words(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []

    def handle_data(self, data: str) -> None:
        self.parts.append(data)


def read(path: Path) -> str:
    """A file as its reader has it, and as it stands."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".html":
        words = Words()
        words.feed(text)
        return "".join(words.parts)
    if path.suffix == ".json":
        return "\n".join(strings(json.loads(text)))
    return html.unescape(text.replace("\\", "")) if path.suffix == ".md" else text


def plain(text: str) -> str:
    return "".join(sign for sign in text.lower() if sign.isalnum())


def runs(text: str) -> set[str]:
    bare = plain(text)
    return {bare[i : i + RUN] for i in range(len(bare) - RUN + 1)}


def identifiers(text: str) -> set[str]:
    found = {token.lower() for token in TOKEN.findall(text)}
    return {token for token in found if "@" in token or sum(sign.isdigit() for sign in token) >= 3}


def owners(root: Path) -> dict[str, str]:
    with (root / "case/restricted/pseudonyms.csv").open(newline="", encoding="utf-8") as file:
        return {row["code"]: row["id"] for row in csv.DictReader(file) if row["kind"] == "tenant"}


def names(incident: Path) -> dict[str, set[str]]:
    called: dict[str, set[str]] = defaultdict(set)
    with (incident / "tenants.csv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            tenant = row.get("tenant_id") or row.get("tenant") or ""
            called[tenant] |= {row[key] for key in ("tenant_id", "legal_name", "contact") if row.get(key)}
    return called


def groups(incident: Path) -> dict[str, str]:
    """Organisation of each customer: sister accounts are one."""
    with (incident / "tenants.csv").open(newline="", encoding="utf-8") as file:
        return {row["tenant_id"]: row.get("organisation") or row["tenant_id"] for row in csv.DictReader(file)}


def foreign_passage(texts: Iterable[str], foreign: set[str]) -> str:
    """Words of the first text that begins with what the addressee did not write itself."""
    starts = (text[: 3 * RUN] for text in texts)
    return next((one for one in starts if len(plain(one)) > 2 * RUN and runs(one) & foreign), "")


def planted(path: Path, words: str) -> str:
    """What is read of a copy of a file with these words in it, written as files of its kind are."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".html":
        text = text.replace("</body>", f"<p>{html.escape(words)}</p></body>")
    elif path.suffix == ".json":
        text = json.dumps({"rest": json.loads(text), "planted": words})
    elif path.suffix == ".md":
        text += "".join(f"\\{sign}" if sign in "*_[]<>#|`" else sign for sign in words)
    else:
        text += words
    with tempfile.TemporaryDirectory() as place:
        copy = Path(place) / path.name
        copy.write_text(text, encoding="utf-8")
        return read(copy)


def look(root: Path, incident: Path) -> Counter[str]:
    """Counts of one case."""
    count: Counter[str] = Counter(cases=1)
    texts, called, group = spoken(incident), names(incident), groups(incident)
    grams = {t: {g for side in s.values() for text in side for g in runs(text)} for t, s in texts.items()}
    tokens = {t: {i for side in s.values() for text in side for i in identifiers(text)} for t, s in texts.items()}
    owner = owners(root)
    for folder in sorted((root / "case/notify").iterdir()):
        tenant = owner[folder.name]
        sisters = [sides for sister, sides in texts.items() if group.get(sister) == group.get(tenant)]
        own = [text for sides in sisters for text in sides["prompt"]]
        own += sorted(called[tenant])
        own_grams = {g for text in own for g in runs(text)}
        own_tokens = {i for text in own for i in identifiers(text)}
        others = [t for t in texts if group.get(t, t) != group.get(tenant, tenant)]
        foreign_grams = set().union(*(grams[t] for t in others)) - own_grams
        foreign_tokens = set().union(*(tokens[t] for t in others)) - own_tokens
        foreign_names = {name for t in others for name in called[t] if len(name) > 3} - called[tenant]
        whole = "\n".join(read(path) for path in sorted(folder.iterdir()))
        count["letters"] += 1
        count["runs"] += len(runs(whole) & foreign_grams)
        count["identifiers"] += len(identifiers(whole) & foreign_tokens)
        count["names"] += sum(
            re.search(rf"(?<!\w){re.escape(name)}(?!\w)", whole) is not None for name in foreign_names
        )
        if count["letters"] == 1 and foreign_tokens:
            passage = foreign_passage((t for o in sorted(others) for t in texts[o]["prompt"]), foreign_grams)
            for path in sorted(folder.iterdir()):
                spoiled = planted(path, f"{passage} {min(foreign_tokens)}")
                count["controls"] += 2
                count["controls_found"] += bool(runs(spoiled) & foreign_grams)
                count["controls_found"] += bool(identifiers(spoiled) & foreign_tokens)
    return count


def seeds(first: int, cases: int, seconds: float) -> Iterator[int]:
    started = time.monotonic()
    for seed in range(first, first + cases):
        if time.monotonic() - started > seconds:
            return
        yield seed


def read_corpus_once() -> None:
    """All incidents are made from the same shipped prose."""
    from functools import cache

    from forensics.simulate import corpus

    corpus.load = cache(corpus.load)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=1, help="first seed")
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so many")
    parser.add_argument("--json", type=Path, help="add the counts to this file")
    arguments = parser.parse_args()
    read_corpus_once()
    total: Counter[str] = Counter()
    if arguments.json is not None and arguments.json.is_file():
        total.update(json.loads(arguments.json.read_text()))
    for seed in seeds(arguments.first, arguments.cases, arguments.seconds):
        root = Path(tempfile.mkdtemp(prefix="letters-"))
        try:
            counts = look(root, letters_of(root, seed))
        finally:
            shutil.rmtree(root)
        if counts["runs"] or counts["identifiers"] or counts["names"] or counts["controls"] > counts["controls_found"]:
            counts["cases_with_a_find"] += 1
            print(f"seed {seed}: {dict(counts)}", file=sys.stderr)
        total.update(counts)
        total["last_seed"] = seed
        if arguments.json is not None:
            arguments.json.write_text(json.dumps(total))
    print(json.dumps(total, indent=2))


if __name__ == "__main__":
    main()
