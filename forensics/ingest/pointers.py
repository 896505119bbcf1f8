"""Where in a record does a profile point? JSON Pointers (RFC 6901) with a small extension for lists. Decodes nothing.

`/a/b/0` as the RFC has it: `~1` is a slash and `~0` a tilde inside a key. Besides:

* a segment `*` means each element of a list, or each value of an object;
* a segment `[key=value]` means the elements of a list whose `key` is `value`;
* a negative number counts from the end of a list;
* `^/a` points into the record that was expanded, `@header/name` at a header (any case), `@time`, `@source` and
  `@worker` at what the wrapper or the file's name say;
* `{/a}:{/b}` is a text made of several values, and nothing where one of them is missing.

A key that is a single star, or begins with `[`, cannot be addressed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from forensics.ingest.envelope import ExactNumbers, id_text
from forensics.ingest.record import FileContext

Object = dict[str, Any]

_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_CHOICE = re.compile(r"\[([^=\]]+)=([^\]]*)\]")
_INDEX = re.compile(r"-?\d{1,9}")
_FACTS = ("@time", "@source", "@worker")


class PointerError(ValueError):
    """The text is no pointer; the message says why."""


@dataclass(slots=True)
class View:
    """What pointers of one record see: the record, the one it was expanded from, its headers, the file's facts."""

    value: Any
    outer: Any
    context: FileContext
    headers: dict[str, str] = field(default_factory=dict)
    empty: frozenset[str] = frozenset()  # texts that stand for nothing

    def says(self, value: Any) -> bool:
        """Whether a value says something in this format."""
        return holds(value) and not (self.empty and isinstance(value, str) and value in self.empty)


@dataclass(frozen=True, slots=True)
class Pointer:
    """One compiled pointer."""

    text: str
    path: tuple[str | int | tuple[str, str] | None, ...] = ()  # key, index, choice, None for each
    base: str = "/"  # "/", "^", "@header", one of _FACTS, "{" for a text of several
    parts: tuple[str | Pointer, ...] = ()
    plain: bool = False  # keys only, of the record itself

    def first(self, view: View) -> Any:
        """The first value there that holds something; None where there is none."""
        if self.plain:
            value = view.value
            for key in self.path:
                if not isinstance(value, dict):
                    return _indexed(self, view) if isinstance(value, list) else None
                value = value.get(key)
            if value is None or value == "" or value == {} or value == []:
                return None
            return None if view.empty and not view.says(value) else value
        return next((value for value in self.all(view) if view.says(value)), None)

    def there(self, view: View) -> bool:
        """Whether it leads anywhere, if only to null."""
        if self.plain:
            value = view.value
            for key in self.path:
                if isinstance(value, list):
                    break
                if not isinstance(value, dict) or key not in value:
                    return False
                value = value[key]
            else:
                return True
        return next((True for _ in self.all(view)), False)

    def all(self, view: View) -> Iterator[Any]:
        """Every value there, null among them."""
        if self.base in ("/", "^"):
            root = view.value if self.base == "/" else view.outer
            for holder, key in slots(root, self.path):
                yield holder[key]
        elif self.base == "@header":
            value = view.headers.get(str(self.path[0]))
            if value is not None:
                yield value
        elif self.base == "{":
            text = self._text(view)
            if text is not None:
                yield text
        else:
            fact = {"@time": view.context.at, "@source": view.context.source, "@worker": view.context.worker}[self.base]
            if fact is not None:
                yield fact

    def _text(self, view: View) -> str | None:
        pieces: list[str] = []
        for part in self.parts:
            piece = part if isinstance(part, str) else id_text(part.first(view))
            if piece is None:
                return None
            pieces.append(piece)
        return "".join(pieces)


def _indexed(pointer: Pointer, view: View) -> Any:
    """A plain pointer that meets a list on its way: its keys may be numbers after all."""
    return next((holder[key] for holder, key in slots(view.value, pointer.path) if view.says(holder[key])), None)


def holds(value: Any) -> bool:
    """Whether a value says something: not null, not an empty text, object or list. 0 and false do."""
    return value is not None and value != "" and value != {} and value != []


def compiled(text: str) -> Pointer:
    """The pointer that `text` spells. Raises PointerError."""
    if "{" in text and not text.startswith(("/", "^", "@")):
        return _text_pointer(text)
    if text in _FACTS:
        return Pointer(text, base=text)
    if text.startswith("@header/"):
        name = text.removeprefix("@header/").lower()
        if not name:
            raise PointerError("a header needs a name: @header/x-request-id")
        return Pointer(text, (name,), "@header")
    base, rest = ("^", text[1:]) if text.startswith("^") else ("/", text)
    if rest and not rest.startswith("/"):
        raise PointerError("a pointer begins with /, ^/, @header/, @time, @source or @worker, or holds {/pointers}")
    path = tuple(_segment(part) for part in rest.split("/")[1:])
    plain = base == "/" and bool(path) and all(isinstance(part, str) for part in path)
    return Pointer(text, path, base, plain=plain)


def _text_pointer(text: str) -> Pointer:
    parts: list[str | Pointer] = []
    position = 0
    for match in _PLACEHOLDER.finditer(text):
        if match.start() > position:
            parts.append(text[position : match.start()])
        parts.append(compiled(match.group(1)))
        position = match.end()
    if position < len(text):
        parts.append(text[position:])
    if any(isinstance(part, str) and ("{" in part or "}" in part) for part in parts):
        raise PointerError("the braces do not match")
    return Pointer(text, base="{", parts=tuple(parts))


def _segment(part: str) -> str | int | tuple[str, str] | None:
    if part == "*":
        return None
    if part.startswith("["):
        choice = _CHOICE.fullmatch(part)
        if choice is None:
            raise PointerError("a choice is written [key=value]")
        return choice.group(1), choice.group(2)
    if re.search(r"~(?![01])", part):
        raise PointerError("~ stands for nothing but ~0 and ~1")
    return part.replace("~1", "/").replace("~0", "~")


def slots(root: Any, path: tuple[str | int | tuple[str, str] | None, ...]) -> Iterator[tuple[Any, Any]]:
    """Every (holder, key) that `path` leads to; the whole is key 0 of a list of its own."""
    places: Iterator[tuple[Any, Any]] = iter((([root], 0),))
    for part in path:
        places = _step(places, part)
    return places


def _step(places: Iterator[tuple[Any, Any]], part: Any) -> Iterator[tuple[Any, Any]]:
    for holder, key in places:
        value = holder[key]
        if isinstance(value, dict):
            if part is None:
                for name in value:
                    yield value, name
            elif isinstance(part, str) and part in value:
                yield value, part
        elif isinstance(value, list):
            if part is None:
                for index in range(len(value)):
                    yield value, index
            elif isinstance(part, tuple):
                for index, item in enumerate(value):
                    if isinstance(item, dict) and part[0] in item and _same(item[part[0]], part[1]):
                        yield value, index
            elif _INDEX.fullmatch(part) and -len(value) <= int(part) < len(value):
                yield value, int(part) % len(value)


def _same(value: Any, wanted: str) -> bool:
    return as_text(value) == wanted


def as_text(value: Any) -> str | None:
    """A scalar as text, floats as they print; None for the rest. For comparisons only, never for ids."""
    try:
        return id_text(value)
    except ExactNumbers:
        return repr(value)
