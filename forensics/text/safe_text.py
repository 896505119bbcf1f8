"""How does text from a log become safe to show? Does not shorten, translate or judge it.

Every byte of a log may be written by an attacker. A terminal obeys escape sequences, a browser and an
editor obey direction marks, and zero-width or tag characters hide text from the reader. Such characters
become visible escapes (`\\x1b`, `\\u202e`, `\\U000e0041`); nothing is deleted, so that a reader sees what
the evidence holds.
HTML, Markdown and CSV need their own quoting on top of this.
"""

from __future__ import annotations

import re

# Inclusive code point ranges. Written out, so that no result depends on one Python's Unicode tables.
_UNSAFE = (
    (0x0000, 0x001F),  # C0: escape, carriage return, backspace, bell ...
    (0x007F, 0x009F),  # DEL and C1, among them the one-byte CSI
    (0x00AD, 0x00AD),  # soft hyphen
    (0x034F, 0x034F),  # combining grapheme joiner
    (0x0600, 0x0605),  # Arabic number signs (format characters)
    (0x061C, 0x061C),  # Arabic letter mark
    (0x06DD, 0x06DD),
    (0x070F, 0x070F),
    (0x0890, 0x0891),
    (0x08E2, 0x08E2),
    (0x115F, 0x1160),  # Hangul fillers: invisible letters
    (0x17B4, 0x17B5),  # Khmer inherent vowels: invisible
    (0x180B, 0x180F),  # Mongolian selectors
    (0x200B, 0x200F),  # zero width, direction marks
    (0x2028, 0x202E),  # line and paragraph separator, direction embeddings and overrides
    (0x2060, 0x206F),  # word joiner, invisible operators, direction isolates
    (0x3164, 0x3164),  # Hangul filler
    (0xD800, 0xDFFF),  # lone surrogates: they cannot be encoded
    (0xFE00, 0xFE0F),  # variation selectors: can carry hidden bytes
    (0xFEFF, 0xFEFF),  # byte order mark
    (0xFFA0, 0xFFA0),  # halfwidth Hangul filler
    (0xFFF0, 0xFFFB),  # interlinear annotation
    (0x110BD, 0x110BD),
    (0x110CD, 0x110CD),
    (0x13430, 0x1343F),
    (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A),
    (0xE0000, 0xE0FFF),  # tags and further variation selectors
)
_PATTERN = re.compile("[" + "".join(f"{chr(low)}-{chr(high)}" for low, high in _UNSAFE) + "]")


def safe_text(value: str, *, keep_newlines: bool = False) -> str:
    """`value` with every control, format and invisible character as a visible escape.

    `keep_newlines` leaves line feeds as they are, for text that is shown in a block of its own.
    """
    if value.isascii() and value.isprintable():
        return value
    if keep_newlines:
        return "\n".join(_PATTERN.sub(_visible, line) for line in value.split("\n"))
    return _PATTERN.sub(_visible, value)


def _visible(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
