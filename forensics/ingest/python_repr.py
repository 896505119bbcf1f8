"""Python reprs as SGLang's text log prints them, read without evaluating anything.

Understands literals, lists, tuples, dicts, `Name(field=value, ...)`, object reprs in angle brackets, and the
shortened forms `'first' ... 'last'` and `[first] ... [last]`, which are not valid Python: these come back joined by
`...`, as SGLang's JSON log writes them. Knows nothing of events or requests.
"""

from __future__ import annotations

import re
from typing import Any

MOST_DEPTH = 100

_STRING = re.compile(r"[bBuU]?(?:'([^'\\]*+(?:\\.[^'\\]*+)*+)'|\"([^\"\\]*+(?:\\.[^\"\\]*+)*+)\")", re.S)
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.S)
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_NAME = re.compile(r"[A-Za-z_][\w.]*")
_INTEGERS = re.compile(r"\[-?\d+(?:,\s*+-?\d+)*+\]")
_SPACE = re.compile(r"[ \t]*+")
_OBJECT = re.compile(r"<[^<>]*+(?:<[^<>]*+>[^<>]*+)*+>")
# Whole texts, and runs of what is neither quote, bracket nor comma.
_OPAQUE = re.compile(r"(?:'[^'\\]*+(?:\\.[^'\\]*+)*+'|\"[^\"\\]*+(?:\\.[^\"\\]*+)*+\"|[^'\"()\[\]{},]++)*+", re.S)
_ENDS = ("", ",", ")", "]", "}", ":")
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"', "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_WORDS = {"None": None, "True": True, "False": False, "nan": float("nan"), "inf": float("inf")}
_CUT = " ... "
_SURROGATE = re.compile("[\ud800-\udfff]")


class ReprError(ValueError):
    """The text is no repr, or is cut short."""


def mend(text: str) -> str:
    """Each lone surrogate becomes U+FFFD: it has no UTF-8 form, and the count of code points stays."""
    return _SURROGATE.sub("�", text)


def parse_fields(text: str, start: int) -> dict[str, Any]:
    """`name=value, name=value` from `start` to the end of `text`. Raises ReprError, RecursionError never."""
    fields: dict[str, Any] = {}
    i = start
    end = len(text)
    while i < end:
        name = _NAME.match(text, i)
        if name is None or text[name.end() : name.end() + 1] != "=":
            raise ReprError("no field name")
        value, i = parse_value(text, name.end() + 1)
        fields[name.group()] = value
        i = _skip(text, i)
        if i < end:
            if text[i] != ",":
                raise ReprError("no comma between fields")
            i = _skip(text, i + 1)
    return fields


def parse_value(text: str, i: int, depth: int = 0) -> tuple[Any, int]:
    """One value at `i`; returns it and the position after it."""
    value, i = _one(text, i, depth)
    if text.startswith(_CUT, i):
        last, i = _one(text, i + len(_CUT), depth)
        if isinstance(value, str) and isinstance(last, str):
            return f"{value}...{last}", i
        if isinstance(value, list) and isinstance(last, list):
            return [*value, "...", *last], i
        raise ReprError("a shortened value of two kinds")
    return value, i


def _skip(text: str, i: int) -> int:
    match = _SPACE.match(text, i)
    return match.end() if match else i


def _one(text: str, i: int, depth: int) -> tuple[Any, int]:
    if depth > MOST_DEPTH:
        raise ReprError("too deep")
    i = _skip(text, i)
    head = text[i : i + 1]
    if head == "[":
        # Token ids: thousands of numbers that no one reads. Their presence is all that counts.
        numbers = _INTEGERS.match(text, i)
        if numbers:
            return [0], numbers.end()
        return _sequence(text, i + 1, "]", depth)
    if head == "(":
        return _sequence(text, i + 1, ")", depth)
    if head == "{":
        return _mapping(text, i + 1, depth)
    string = _STRING.match(text, i)
    if string:
        return _text(string), string.end()
    number = _NUMBER.match(text, i)
    if number and _ends(text, number.end()):
        return _number(number.group()), number.end()
    name = _NAME.match(text, i)
    if name:
        if text[name.end() : name.end() + 1] == "(":
            return _call(text, name.end() + 1, depth)
        if _ends(text, name.end()):
            return _WORDS.get(name.group(), name.group()), name.end()
    if head == "<":
        thing = _OBJECT.match(text, i)
        if thing:
            return None, thing.end()
    return None, _opaque(text, i)


def _ends(text: str, i: int) -> bool:
    """Whether a value can end here."""
    return text[i : i + 1] in _ENDS or text.startswith(_CUT, i)


def _opaque(text: str, i: int) -> int:
    """Where something printed in a way of its own (a date, a matrix) ends: at the comma or bracket after it."""
    start = i
    open_brackets = 0
    while True:
        step = _OPAQUE.match(text, i)
        i = step.end() if step else i
        if i >= len(text):
            break
        if text[i] in "'\"":
            raise ReprError("a text without an end")
        if text[i] in "([{":
            open_brackets += 1
        elif not open_brackets:
            break
        elif text[i] != ",":
            open_brackets -= 1
        i += 1
    if i == start or open_brackets:
        raise ReprError("no value")
    return i


def _text(match: re.Match[str]) -> str:
    body = match.group(1)
    if body is None:
        body = match.group(2)
    if "\\" not in body:
        return body
    return mend(_ESCAPE.sub(_unescape, body))


def _unescape(match: re.Match[str]) -> str:
    two, four, eight, other = match.groups()
    if other is not None:
        return _SIMPLE.get(other, "\\" + other)
    point = int(two or four or eight, 16)
    return chr(point) if point < 0x110000 else "�"


def _number(digits: str) -> int | float:
    try:
        return float(digits) if any(c in digits for c in ".eE") else int(digits)
    except ValueError:
        raise ReprError("a number too long") from None


def _sequence(text: str, i: int, close: str, depth: int) -> tuple[list[Any], int]:
    items: list[Any] = []
    while True:
        i = _skip(text, i)
        if text[i : i + 1] == close:
            return items, i + 1
        if text.startswith("...", i):
            items.append("...")
            i += 3
        else:
            value, i = parse_value(text, i, depth + 1)
            items.append(value)
        i = _comma(text, i, close)


def _mapping(text: str, i: int, depth: int) -> tuple[Any, int]:
    items: dict[Any, Any] = {}
    while True:
        i = _skip(text, i)
        if text[i : i + 1] == "}":
            return items, i + 1
        key, i = _one(text, i, depth + 1)
        i = _skip(text, i)
        if text[i : i + 1] == ":":
            value, i = parse_value(text, i + 1, depth + 1)
        else:
            value = None  # a set
        if isinstance(key, str | int | float | bool) or key is None:
            items[key] = value
        i = _comma(text, i, "}")


def _call(text: str, i: int, depth: int) -> tuple[dict[str, Any], int]:
    fields: dict[str, Any] = {}
    while True:
        i = _skip(text, i)
        if text[i : i + 1] == ")":
            return fields, i + 1
        name = _NAME.match(text, i)
        if name and text[name.end() : name.end() + 1] == "=":
            fields[name.group()], i = parse_value(text, name.end() + 1, depth + 1)
        else:
            _, i = parse_value(text, i, depth + 1)
        i = _comma(text, i, ")")


def _comma(text: str, i: int, close: str) -> int:
    i = _skip(text, i)
    following = text[i : i + 1]
    if following == ",":
        return i + 1
    if following == close:
        return i
    raise ReprError("no comma and no end")
