"""The formats that can be read, in the order in which detection prefers them. Each is imported when first asked for."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from types import ModuleType

# Objects first by how particular their marks are.
OBJECT_PARSERS = ("sglang_json", "house", "openai_pair")
LINE_PARSERS = ("sglang_text",)
NAMES = (*OBJECT_PARSERS, *LINE_PARSERS)


@cache
def load(name: str) -> ModuleType:
    """The parser module `name`."""
    if name not in NAMES:
        raise KeyError(name)
    return import_module(f"forensics.ingest.parsers.{name}")
