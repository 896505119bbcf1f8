"""Which mechanisms are known, and what of them could be seen in logs? Data that ships with the program, read once.

`data/mechanisms.toml`. It judges nothing.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib.resources import files
from typing import Any


@dataclass(frozen=True)
class Predicate:
    """A yes-or-no fact of a leak. `unit`: pair, source or recipient, whichever is counted once. `query`: what looks it
    up, with others of its kind; None where no log tells it."""

    name: str
    query: str | None
    unit: str
    question: str
    flag: str

    @property
    def kind(self) -> str:
        """What stands in as control: another source, or another recipient."""
        return "recipient" if self.unit == "recipient" else "source"


@dataclass(frozen=True)
class Hypothesis:
    """One mechanism. It stands where one of `any` stands, unless most leaks lack one of `needs`."""

    id: str
    title: str
    any: tuple[str, ...]
    needs: tuple[str, ...]
    condition: str | None
    moves_text: bool
    note: str
    seen_in: str
    source: str


@dataclass(frozen=True)
class Catalogue:
    """Predicates and hypotheses in the order of the file."""

    predicates: tuple[Predicate, ...]
    hypotheses: tuple[Hypothesis, ...]


def load() -> Catalogue:
    """The catalogue. Raises ValueError where a hypothesis names a predicate that is not there."""
    text = (files("forensics.timeline") / "data" / "mechanisms.toml").read_text(encoding="utf-8")
    data: dict[str, list[dict[str, Any]]] = tomllib.loads(text)
    predicates = tuple(
        Predicate(row["name"], row.get("query"), row["unit"], row["question"], row["flag"]) for row in data["predicate"]
    )
    hypotheses = tuple(
        Hypothesis(
            row["id"],
            row["title"],
            tuple(row["any"]),
            tuple(row.get("needs", ())),
            row.get("condition"),
            row.get("moves_text", True),
            row.get("note", ""),
            row["seen_in"],
            row["source"],
        )
        for row in data["hypothesis"]
    )
    known = {predicate.name for predicate in predicates}
    strange = sorted({name for row in hypotheses for name in row.any + row.needs} - known)
    if strange:
        raise ValueError(f"mechanisms.toml: no predicate is named {', '.join(strange)}")
    return Catalogue(predicates, hypotheses)
