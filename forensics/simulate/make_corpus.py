"""Makes the corpus that ships from a larger file of the same record form. Run by hand when the selection changes.

    python -m forensics.simulate.make_corpus LARGE.jsonl.zst forensics/simulate/corpus/corpus.jsonl.zst

Only records that people wrote, or that are released for any use, are kept; answers of models are not. The terms of
each source stand in NOTICE. It does not decide how the records are used: see `corpus.py`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import orjson
import zstandard

# Source prefix -> most records kept for each language. A source that is not listed is not shipped.
SELECTED = {
    "openai/grade-school-math": 700,
    "LAION-AI/Open-Assistant": 248,
    "yizhongw/self-instruct": 153,
    "amazon-science/mxeval": 45,
    "f/awesome-chatgpt-prompts": 7,
    "tldr-pages/tldr": 90,
    "chinese-poetry/chinese-poetry": 71,
    "CPython standard library": 8,
    "common licence texts": 6,
    "danielmiessler/fabric": 24,
    "PlexPt/awesome-chatgpt-prompts-zh": 1200,
}
LONGEST = 24_000  # characters of one record that are kept: a few very long manuals would fill the file


def select(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Records of the listed sources by people, in the given order, at most the listed number per language."""
    counts: dict[tuple[str, str], int] = {}
    kept: list[dict[str, Any]] = []
    for record in records:
        prefix = next((name for name in SELECTED if record["source"].startswith(name)), None)
        if prefix is None or record.get("model") not in (None, "", "human"):
            continue
        key = (prefix, record["lang"])
        if counts.get(key, 0) >= SELECTED[prefix]:
            continue
        counts[key] = counts.get(key, 0) + 1
        slim = {name: record[name] for name in ("id", "source", "licence", "lang", "kind", "prompt", "response")}
        if record["kind"] != "boilerplate":
            slim["prompt"] = slim["prompt"][:LONGEST]
        kept.append(slim)
    return sorted(kept, key=lambda record: (record["lang"], record["source"], record["id"]))


def main(arguments: list[str]) -> None:
    """Read the large file, write the small one."""
    source, target = Path(arguments[0]), Path(arguments[1])
    with source.open("rb") as file:
        data = zstandard.ZstdDecompressor().stream_reader(file).read()
    records = select([orjson.loads(line) for line in data.split(b"\n") if line])
    body = b"".join(orjson.dumps(record) + b"\n" for record in records)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(zstandard.ZstdCompressor(level=19).compress(body))


if __name__ == "__main__":
    main(sys.argv[1:])
