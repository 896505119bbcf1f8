"""The wrappers that log collectors put around lines, and which of them a file has.

A wrapper is a module of this folder with

* `NAME`, `TITLE` (what it is), `VERSIONS`, `SOURCE` (of the knowledge), and, if not the usual, `LEAST_SHARE`;
* `accepts(line: bytes) -> bool`: is this line (of a unit) one of the wrapper's?
* `ANY_OF`, if a line that is a JSON object must have one of certain keys at its top to be the wrapper's: those keys.
  Detection then asks `accepts` for such lines alone, as each of many wrappers would search every byte of the others;
* `class Peeler` made with a FileContext, with `feed(unit) -> Iterable[Unit]` and `end() -> Iterable[Unit]`.

A unit that is not the wrapper's goes through as it is. Wrappers nest: what one peels off may be wrapped again. A file
that holds lines of several wrappers is peeled by one after the other, which is the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib import import_module
from itertools import islice
from types import ModuleType
from typing import Any

import orjson

from forensics.ingest.blocks import Oversized
from forensics.ingest.record import FileContext
from forensics.ingest.units import Unit

# In the order in which they are tried on each layer. Tables are told by the first line of a file.
TABLES = "csv_rows"
NAMES: tuple[str, ...] = (
    "har",
    "vcr",
    "otlp_batches",
    "docker_json",
    "kubernetes_cri",
    "journald_json",
    "syslog",
    "journald_text",
    "loki",
    "gcp_logging",
    "cloudwatch",
    "elastic",
    "fluent",
    "stamped",
    "ansi",
    "python_json",
    "llama_jsonl",
    "sse",
    TABLES,
)
MOST_LAYERS = 8
LEAST_SHARE = 0.0  # of the sampled lines that must be a wrapper's; one is enough where its marks are plain
_MOST_SAMPLED = 2000
_LEAST_STEPS, _MOSTLY = 10, 10


@cache
def load(name: str) -> ModuleType:
    """The wrapper module `name`."""
    if name not in NAMES:
        raise KeyError(name)
    return import_module(f"forensics.ingest.wrappers.{name}")


def chain_of(
    lines: Sequence[bytes], context: FileContext, outer: tuple[str, ...] = ()
) -> tuple[tuple[str, ...], list[bytes], str]:
    """The wrappers around the sampled lines, outermost first; the lines without them; and both in words, or nothing.

    `outer` are wrappers that are known to be there; the lines have them still.
    """
    chain: list[str] = []
    words: list[str] = []
    units = [Unit(line, number, len(line), number, 1) for number, line in enumerate(lines)]
    while len(chain) < MOST_LAYERS:
        # What a wrapper refused has its bytes still, and no layer peels it again.
        open_lines = [unit.data for unit in units if unit.reason is None]
        if not open_lines:
            break
        if len(chain) < len(outer):
            name, accepted = outer[len(chain)], len(open_lines)
        else:
            name, accepted = _outermost(open_lines)
        filled = sum(1 for line in open_lines if line.strip())
        if not name:
            break
        words.append(name if accepted >= filled else f"{name} ({accepted} of {filled})")
        chain.append(name)
        kept = (unit for unit in peel(units, (name,), context) if isinstance(unit, Unit) and not unit.structure)
        units = list(islice(kept, _MOST_SAMPLED))
    context.notices.clear()
    context.naive_times = 0
    return tuple(chain), [unit.data for unit in units], " inside ".join(reversed(words))


def _outermost(lines: Sequence[bytes]) -> tuple[str, int]:
    filled = [line for line in lines if line.strip()]
    keys = list(map(_keys, filled))
    for name in NAMES:
        wrapper = load(name)
        share = getattr(wrapper, "LEAST_SHARE", LEAST_SHARE)
        needed: frozenset[str] | None = getattr(wrapper, "ANY_OF", None)
        asked = [
            line
            for line, own in zip(filled, keys, strict=True)
            if needed is None or own is None or not needed.isdisjoint(own)
        ]
        accepted = sum(map(wrapper.accepts, asked))
        if accepted and accepted >= share * len(filled):
            return name, accepted
    return "", 0


def _keys(line: bytes) -> tuple[str, ...] | None:
    """The keys at the top of a line that is a JSON object; None of any other."""
    if line[:1] != b"{":
        return None
    try:
        return tuple(orjson.loads(line))
    except orjson.JSONDecodeError:
        return None


def peel(units: Iterable[Unit | Oversized], chain: Sequence[str], context: FileContext) -> Iterator[Unit | Oversized]:
    """`units` without the wrappers of `chain`. Says by a notice where the wrappers' times mostly go backward."""
    for name in chain:
        units = _layer(units, load(name).Peeler(context))
    last: int | None = None
    later = earlier = 0
    for unit in units:
        yield unit
        at = None if isinstance(unit, Oversized) else unit.at
        if at is None:
            continue
        if last is not None:
            later += at > last
            earlier += at < last
        last = at
    if earlier >= _LEAST_STEPS and earlier > _MOSTLY * later:
        context.notice("newest_first")


def _layer(units: Iterable[Unit | Oversized], peeler: Any) -> Iterator[Unit | Oversized]:
    for unit in units:
        if isinstance(unit, Oversized) or unit.structure or unit.reason is not None:
            yield unit
        else:
            yield from peeler.feed(unit)
    yield from peeler.end()
