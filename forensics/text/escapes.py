"""What does a text say that writes letters as \\uXXXX, and where does each of its letters stand?

A JSON string inside a text carries letters as escapes, and the digits of an escape would part every word from its
copy. Only \\uXXXX is undone (pairs of surrogates as one letter); other escapes leave a letter at most.
"""

from __future__ import annotations

import re

import numpy as np

from forensics.text.fold import Folded, Ints, fold
from forensics.text.symbols import boundaries

_ESCAPE = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}")
_ESCAPE_BYTES = re.compile(rb"\\u[0-9a-fA-F]{4}")
SIZE = 6  # code points of an escape


def has_escapes(data: bytes | memoryview) -> bool:
    """Does a text (UTF-8) hold such an escape?"""
    return _ESCAPE_BYTES.search(data) is not None


def unescape(text: str) -> tuple[str, Ints]:
    """The text with its escapes undone and, for each code point of it, the last code point that stood for it."""
    parts: list[str] = []
    places: list[Ints] = []
    last = 0
    for found in _ESCAPE.finditer(text):
        start, end = found.span()
        parts.append(text[last:start])
        places.append(np.arange(last, start))
        parts.append(_letter(found.group()))
        places.append(np.array([end - 1]))
        last = end
    parts.append(text[last:])
    places.append(np.arange(last, len(text)))
    return "".join(parts), np.concatenate(places).astype(np.int64)


def fold_escaped(text: str) -> Folded:
    """Units of the text with its escapes undone; their positions are code points of the text as it is."""
    plain, places = unescape(text)
    folded = fold(plain)
    return Folded(folded.units, places[folded.positions], boundaries(folded))


def whole_escape(text: str, start: int) -> int:
    """`start`, or where the escape begins whose last code point it is."""
    for size in (2 * SIZE, SIZE):
        low = start + 1 - size
        if low >= 0 and _ESCAPE.fullmatch(text, low, start + 1):
            return low
    return start


def _letter(escape: str) -> str:
    code = int(escape[2:6], 16)
    if len(escape) > SIZE:
        code = 0x10000 + ((code - 0xD800) << 10) + int(escape[8:12], 16) - 0xDC00
    return "\ufffd" if 0xD800 <= code <= 0xDFFF else chr(code)
