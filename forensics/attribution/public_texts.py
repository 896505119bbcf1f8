"""Public texts for tenants who do not exist: what a file of them holds, cut to size. Knows no case.

A file is JSON lines (the strings `prompt`, `response` and `text` of each record) or plain text, plain or in zstd.
"""

from __future__ import annotations

from pathlib import Path

import orjson

from forensics.case.errors import MissingInput

SHORTEST = 200  # code points of a text worth giving to a tenant
LONGEST = 4000
_ZSTD = b"\x28\xb5\x2f\xfd"


def public_texts(path: Path) -> list[str]:
    """Distinct texts in the order of the file. Raises MissingInput where there are none."""
    if not path.is_file():
        raise MissingInput(f"{path} is not there")
    data = path.read_bytes()
    if data[:4] == _ZSTD:
        import zstandard

        data = zstandard.ZstdDecompressor().stream_reader(data).read()
    found: list[str] = []
    plain: list[str] = []
    for line in data.split(b"\n"):
        try:
            record = orjson.loads(line)
        except orjson.JSONDecodeError:
            record = None
        if isinstance(record, dict):
            found.extend(v for v in (record.get(k) for k in ("prompt", "response", "text")) if isinstance(v, str))
        elif line.strip():
            plain.append(line.decode("utf-8", "replace"))
    found.extend("\n".join(plain)[at : at + LONGEST] for at in range(0, len("\n".join(plain)), LONGEST))
    texts = list(dict.fromkeys(text.strip()[:LONGEST] for text in found if len(text.strip()) >= SHORTEST))
    if not texts:
        raise MissingInput(f"{path.name} holds no text of {SHORTEST} characters or more")
    return texts
