"""Which parsers does a run have: the modules of `parsers`, the profiles that ship, and the user's own profiles."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from forensics.ingest import parsers
from forensics.ingest.profile import Profile
from forensics.ingest.profile_spec import ProfileError, read_spec

_MOST_SHAPES = 1000
FALLBACK = "openai_pair"
GENERIC = ("house", FALLBACK)  # after everything that is more particular
_SHIPPED = Path(__file__).parent / "profiles"


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

    def of_array(self, value: list[Any]) -> dict[str, Any] | None:
        """The object that a parser takes an array for which is no batch of objects; None where none does."""
        for parser in self.objects:
            read: Callable[[list[Any]], dict[str, Any] | None] | None = getattr(parser, "of_array", None)
            if read is not None and (obj := read(value)) is not None:
                return obj
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
    """The parsers of a run with the user's `profiles` (TOML texts), which are preferred to all others.

    A user's profile takes the place of a shipped one of its name. Raises ProfileError.
    """
    own = _own(profiles)
    taken = {profile.NAME for profile in own}
    code = [parsers.load(name) for name in parsers.OBJECT_PARSERS if name not in GENERIC]
    lines = [parsers.load(name) for name in (*parsers.LINE_PARSERS, *parsers.LOG_PARSERS)]
    given = [profile for profile in shipped() if profile.NAME not in taken]
    objects = [*_of_kind(own, "object"), *code, *_of_kind(given, "object"), *(parsers.load(name) for name in GENERIC)]
    return Registry(tuple(objects), (*_of_kind(own, "line"), *lines, *_of_kind(given, "line")))


def _of_kind(profiles: Iterable[Profile], kind: str) -> list[Profile]:
    return [profile for profile in profiles if kind == profile.KIND]


def _own(profiles: Sequence[str]) -> list[Profile]:
    own: list[Profile] = []
    for number, toml in enumerate(profiles, 1):
        profile = Profile(read_spec(toml, f"profile {number}"))
        if profile.NAME in parsers.NAMES:
            raise ProfileError(f"profile {number}: profile.name: {profile.NAME} is a format of the program's own")
        if any(profile.NAME == other.NAME for other in own):
            raise ProfileError(f"profile {number}: profile.name: {profile.NAME} is given twice")
        own.append(profile)
    return own


@cache
def shipped() -> tuple[Profile, ...]:
    """The profiles that come with the program, by file name."""
    files = sorted(_SHIPPED.glob("*.toml"))
    return tuple(Profile(read_spec(file.read_text(encoding="utf-8"), file.name)) for file in files)
