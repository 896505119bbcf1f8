"""Which parsers does a run have: the modules of `parsers`, the profiles that ship, and the user's own profiles."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from forensics.ingest import parsers

_MOST_SHAPES = 1000
FALLBACK = "openai_pair"


@dataclass(frozen=True)
class Registry:
    """The parsers of a run by name, objects in the order of preference."""

    objects: tuple[Any, ...]
    texts: tuple[Any, ...]  # line and log parsers
    _shapes: dict[tuple[str, ...], tuple[Any, ...]] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """Every format's name."""
        return tuple(parser.NAME for parser in (*self.objects, *self.texts))

    def load(self, name: str) -> Any:
        """The parser `name`. Raises KeyError."""
        for parser in (*self.objects, *self.texts):
            if name == parser.NAME:
                return parser
        raise KeyError(name)

    def of_object(self, obj: dict[str, Any]) -> Any | None:
        """The first parser that takes `obj` for a record of its format.

        A log repeats few shapes (the same keys in the same order), so that most parsers are ruled out once per shape.
        """
        shape = tuple(obj)
        candidates = self._shapes.get(shape)
        if candidates is None:
            keys = frozenset(shape)
            candidates = tuple(parser for parser in self.objects if _may(parser, keys))
            if len(self._shapes) >= _MOST_SHAPES:
                self._shapes.clear()
            self._shapes[shape] = candidates
        for parser in candidates:
            if parser.accepts(obj):
                return parser
        return None

    def of_line(self, line: bytes, first: Any | None = None) -> Any | None:
        """The first text parser that takes `line` for one of its records; `first` is asked before the others."""
        if first is not None and first.KIND != "object" and first.accepts_line(line):
            return first
        for parser in self.texts:
            if parser.accepts_line(line):
                return parser
        return None

    def is_structure(self, line: bytes, texts: Iterable[Any] | None = None) -> bool:
        """Whether one of the text formats knows `line` as one that is no record."""
        for parser in self.texts if texts is None else texts:
            known: Callable[[bytes], bool] | None = getattr(parser, "is_structure", None)
            if known is not None and known(line):
                return True
        return False


def _may(parser: Any, keys: frozenset[str]) -> bool:
    may: Callable[[frozenset[str]], bool] | None = getattr(parser, "may", None)
    return may is None or may(keys)


@cache
def registry(profiles: tuple[str, ...] = ()) -> Registry:
    """The parsers of a run with the user's `profiles` (TOML texts), which are preferred to all others."""
    particular: Sequence[str] = parsers.OBJECT_PARSERS
    objects = [parsers.load(name) for name in particular]
    texts = [parsers.load(name) for name in (*parsers.LINE_PARSERS, *parsers.LOG_PARSERS)]
    return Registry(tuple(objects), tuple(texts))
