"""How are the records that a case keeps of itself (manifest, seal, certificate) written and read? Judges none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from forensics import __version__
from forensics.case.errors import HashMismatch

TOOL = {"name": "leak-forensics", "version": __version__}


def document_bytes(schema: str, body: dict[str, Any]) -> bytes:
    """The record as JSON, keys sorted, with its schema and the tool that wrote it."""
    whole = {"schema": schema, "tool": TOOL, **body}
    return orjson.dumps(whole, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS) + b"\n"


def read_document(path: Path, schema: str) -> dict[str, Any] | None:
    """The record at `path`, or None without a file. Raises HashMismatch where it has another `schema`."""
    if not path.is_file():
        return None
    try:
        body = orjson.loads(path.read_bytes())
    except orjson.JSONDecodeError:
        raise HashMismatch(f"{path.name} is not JSON: the file was changed") from None
    if not isinstance(body, dict) or not str(body.get("schema", "")).startswith(schema.rpartition(".")[0] + "."):
        raise HashMismatch(f"{path.name} does not have the schema {schema}")
    return body
