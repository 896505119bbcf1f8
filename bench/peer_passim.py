"""passim on the requests of `peers.py`: what is handed to its command, and its rows read as findings.

passim (Smith et al. 2014, version 2) is a command beside Spark's own, installed from its repository; the package of
that name on the index is something else. Prompts and answers are its documents and a tenant its series: nothing is
aligned within one tenant, and a prompt with answers only, by its own `--filterpairs`. It is stopped where its spans
are final (`--to-extents`): what would follow pads the alignments and clusters passages, which nobody needs here. All
of this saves it work.

- `passim`: n-grams, gaps and alignment as they come. Its passages run on beyond the copy for hundreds of letters, since
  words of one language are alike enough to be aligned, up to `--gap`, 600 letters.
- `passim, close`: `--gap 20 --pcopy 0.95`, the best of what was tried on this traffic: a passage ends with the copy.
  Shorter n-grams (`-n 15 -m 3 -a 30`) find no more of copies of 120 letters and up, the shortest planted.

The launcher asks Maven for a jar of its clustering, which is not reached here: without a network, set
`SPARK_SUBMIT_ARGS='--packages ,'`. More memory than Spark's 1 GB is given there too (`--driver-memory 4g`).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
from peer_tools import Document, Missing, Peer, finding, merged

from forensics.evaluate.records import Finding

SETTINGS: dict[str, tuple[str, ...]] = {"passim": (), "passim, close": ("--gap", "20", "--pcopy", "0.95")}
FIELDS = ("xxhash64(series) as gid", "number")  # `number` is that of the document: even a prompt, odd an answer
PAIRS = "gid <> gid2 AND number % 2 = 0 AND number2 % 2 = 1"
COPIED = "The boat for the outer islands leaves from the third quay on Tuesdays and Fridays if the wind allows. " * 2
# Two requests with a copy between them: each step of passim has something to do, and next to nothing.
TINY = [Document("a", "x", COPIED, "None."), Document("b", "y", "Which boat?", COPIED)]


def command(arguments: argparse.Namespace) -> tuple[str, str]:
    """The executable, and the search path with which it finds Spark and Java. Raises Missing."""
    names = [arguments.passim] if arguments.passim else ["passim", "seriatim"]
    found = next((place for name in names if (place := shutil.which(name))), None)
    if found is None:
        raise Missing(f"no command {' or '.join(names)}")
    folder = str(Path(found).absolute().parent)
    search = os.pathsep.join([folder, os.environ.get("PATH", "")])
    for needed in ("spark-submit", "java"):
        if shutil.which(needed, path=search) is None:
            raise Missing(f"no command {needed} for {found}")
    return found, search


def run(setting: str, documents: list[Document], arguments: argparse.Namespace) -> list[Finding]:
    """One run of the command, in processes of its own. Raises Missing and, where it fails, RuntimeError."""
    executable, search = command(arguments)
    with tempfile.TemporaryDirectory() as scratch:
        given, out = Path(scratch) / "in.json", Path(scratch) / "out"
        with given.open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows_for(documents))
        options = ["--all-pairs", "--fields", *FIELDS, "--filterpairs", PAIRS, "--to-extents", *SETTINGS[setting]]
        done = subprocess.run([executable, *options, str(given), str(out)],
                              env=os.environ | {"PATH": search}, capture_output=True, text=True)  # fmt: skip
        if done.returncode:
            raise RuntimeError(f"{executable} ended with {done.returncode}:\n{done.stderr[-2000:]}")
        rows = pl.read_parquet(out / "tmp" / "extents.parquet" / "**" / "*.parquet")
    return findings(rows.select("number", "number2", "begin2", "end2").to_dicts(), documents)


def rows_for(documents: list[Document]) -> Iterable[dict[str, Any]]:
    """passim's documents: a prompt and an answer of each request."""
    for place, document in enumerate(documents):
        for number, text in ((2 * place, document.prompt), (2 * place + 1, document.answer)):
            yield {"id": str(number), "series": document.tenant, "number": number, "text": text}


def findings(rows: Iterable[dict[str, Any]], documents: list[Document]) -> list[Finding]:
    """passim's aligned passages: of the source by `number`, of the target by `number2`, `begin2` and `end2`."""
    found = []
    for row in rows:
        source, answer = documents[row["number"] // 2], documents[row["number2"] // 2]
        found.append(finding(answer, row["begin2"], row["end2"], {source.tenant}))
    return merged(found)


PEERS: dict[str, Peer] = {name: partial(run, name) for name in SETTINGS}
