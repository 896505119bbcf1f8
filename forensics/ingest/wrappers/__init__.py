"""The wrappers that log collectors put around lines, and which of them a file has.

A wrapper is a module of this folder with

* `accepts(line: bytes) -> bool`: is this line (of a unit) one of the wrapper's?
* `class Peeler` made with a FileContext, with `feed(unit) -> Iterable[Unit]` and `end() -> Iterable[Unit]`.

A unit that is not the wrapper's goes through as it is. Wrappers nest: what one peels off may be wrapped again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

from forensics.ingest.blocks import Oversized
from forensics.ingest.record import FileContext
from forensics.ingest.units import Unit

# In the order in which they are tried on each layer.
NAMES: tuple[str, ...] = ("python_json", "llama_jsonl")
MOST_LAYERS = 4
LEAST_SHARE = 0.5  # of the sampled lines that must be a wrapper's


@cache
def load(name: str) -> ModuleType:
    """The wrapper module `name`."""
    if name not in NAMES:
        raise KeyError(name)
    return import_module(f"forensics.ingest.wrappers.{name}")


def chain_of(lines: Sequence[bytes], context: FileContext) -> tuple[tuple[str, ...], list[bytes]]:
    """The wrappers around the sampled lines, outermost first, and the lines without them."""
    chain: list[str] = []
    units = [Unit(line, number, 1, number, 1) for number, line in enumerate(lines)]
    while len(chain) < MOST_LAYERS and units:
        name = _outermost([unit.data for unit in units])
        if name is None:
            break
        peeled = [unit for unit in peel(units, (name,), context) if isinstance(unit, Unit) and not unit.structure]
        chain.append(name)
        units = peeled
    context.notices.clear()
    context.naive_times = 0
    return tuple(chain), [unit.data for unit in units]


def _outermost(lines: Sequence[bytes]) -> str | None:
    filled = [line for line in lines if line.strip()]
    for name in NAMES:
        wrapper = load(name)
        share = getattr(wrapper, "LEAST_SHARE", LEAST_SHARE)
        accepted = sum(map(wrapper.accepts, filled))
        if accepted and accepted >= share * len(filled):
            return name
    return None


def peel(units: Iterable[Unit | Oversized], chain: Sequence[str], context: FileContext) -> Iterator[Unit | Oversized]:
    """`units` without the wrappers of `chain`."""
    for name in chain:
        units = _layer(units, load(name).Peeler(context))
    yield from units


def _layer(units: Iterable[Unit | Oversized], peeler: Any) -> Iterator[Unit | Oversized]:
    for unit in units:
        if isinstance(unit, Oversized) or unit.structure:
            yield unit
        else:
            yield from peeler.feed(unit)
    yield from peeler.end()
