"""JSON as programs really write it: the fast parser first, a lenient one for what it refuses.

Lone surrogates become U+FFFD; NaN, Infinity and raw control characters are accepted. Knows no records.
"""

from __future__ import annotations

import json
from typing import Any

import orjson

from forensics.ingest.python_repr import mend

DEEPEST = 500


def loads(text: str) -> Any:
    """The value of a JSON text. Raises ValueError where it is none, or is nested too deep."""
    try:
        return orjson.loads(text)
    except (orjson.JSONDecodeError, UnicodeEncodeError):
        pass
    try:
        return mended(json.loads(text, strict=False))
    except RecursionError:
        raise ValueError("too deep") from None


def mended(value: Any, depth: int = 0) -> Any:
    """`value` without lone surrogates. Raises RecursionError where it is nested too deep."""
    if depth > DEEPEST:
        raise RecursionError
    if isinstance(value, str):
        return mend(value)
    if isinstance(value, list):
        return [mended(item, depth + 1) for item in value]
    if isinstance(value, dict):
        return {mend(key): mended(item, depth + 1) for key, item in value.items()}
    return value
