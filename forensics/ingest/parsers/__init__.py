"""The formats that can be read, in the order in which detection prefers them. Each is imported when first asked for.

Three sorts of parser, all modules of this folder (or, for objects, a profile):

* objects: `accepts(obj) -> bool`, `parse(obj, context) -> Sequence[Item]`, and, if it can be told from the top-level
  keys alone that an object is not the parser's, `may(keys: frozenset[str]) -> bool`;
* lines: `accepts_line(line) -> bool`, `parse_line(line, context) -> Sequence[Item]`;
* logs, whose records span lines: `accepts_line(line) -> bool`, `open_log(context)`, which returns an object with
  `read(line) -> Sequence[Item]` (HELD for a line that a later record is made of) and `end() -> Sequence[Item]`.
  Its records name their `place`. A log whose lines are JSON objects stands among the objects with `KIND = "log"`: it
  has `accepts(obj)` too, its reader `read_object(obj)`, and its `accepts_line` takes nothing. A file of such a format
  is read in order by one process.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from types import ModuleType

# Objects first by how particular their marks are; the generic pair comes last.
OBJECT_PARSERS = (
    "otlp",
    "sglang_json",
    "sglang_dump",
    "sglang_metrics",
    "sglang_router_json",
    "llama_json",
    "sglang_probe",
    "kv_events",
    "har",
    "mitmproxy",
    "vcr",
    "batch",
    "azure_llm",
    "house",
    "openai_pair",
)
LINE_PARSERS = ("sglang_text", "sglang_engine", "sglang_router", "trtllm", "sse_capture")
LOG_PARSERS: tuple[str, ...] = ("vllm_log", "llama_server", "ollama")
NAMES = (*OBJECT_PARSERS, *LINE_PARSERS, *LOG_PARSERS)


@cache
def load(name: str) -> ModuleType:
    """The parser module `name`."""
    if name not in NAMES:
        raise KeyError(name)
    return import_module(f"forensics.ingest.parsers.{name}")
