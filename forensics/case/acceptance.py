"""Which questions must every case answer, and what answers each? Reads the list; answers nothing itself.

The list is `queries/questions.toml`: the questions of responders, compliance and postmortem authors, in their order.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache

from forensics.case.queries import query_root

FILE = "questions.toml"


@dataclass(frozen=True)
class Asked:
    """One question of a reader, numbered from 1: named questions that answer it, and files of the case (patterns).

    `parameters`: role of the tenant that a question with a parameter is asked about, by parameter.
    """

    number: int
    reader: str
    asks: str
    queries: tuple[str, ...]
    files: tuple[str, ...]
    parameters: dict[str, str]


@cache
def acceptance() -> tuple[Asked, ...]:
    """Every question, in order."""
    listed = tomllib.loads((query_root() / FILE).read_text(encoding="utf-8"))["question"]
    return tuple(
        Asked(
            number,
            entry["reader"],
            entry["asks"],
            tuple(entry.get("queries", ())),
            tuple(entry.get("files", ())),
            entry.get("parameters", {}),
        )
        for number, entry in enumerate(listed, start=1)
    )
