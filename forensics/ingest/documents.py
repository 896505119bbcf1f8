"""One JSON document as records: an array of records, one pretty-printed object, or several one after the other.

Finds where each value begins and ends; does not interpret it. Bounded: a document over the line limit is not read here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from forensics.ingest.blocks import BLOCK_BYTES
from forensics.ingest.worker import Block, FileFacts

_BLANK = " \t\r\n"
_BLOCK_VALUES = 40_000


def document_blocks(data: bytes, facts: FileFacts) -> Iterator[Block]:
    """Blocks that cover the whole document, each with the spans of its records."""
    begin = 0
    spans: list[tuple[int, int]] = []
    for start, length in value_spans(data):
        spans.append((start - begin, length))
        end = start + length
        if end - begin >= BLOCK_BYTES or len(spans) >= _BLOCK_VALUES:
            yield Block(facts, begin, data=data[begin:end], spans=tuple(spans))
            begin, spans = end, []
    if begin < len(data) or spans:
        yield Block(facts, begin, data=data[begin:], spans=tuple(spans), last=True)


def value_spans(data: bytes) -> Iterator[tuple[int, int]]:
    """(start, length) in bytes of every record in the document; what cannot be read is one span up to the next line
    that begins with a brace.
    """
    # Latin-1 keeps one character per byte, so that positions are byte offsets; structure is ASCII in UTF-8.
    text = data.decode("latin-1")
    decoder = json.JSONDecoder(strict=False)
    position = 3 if data.startswith(b"\xef\xbb\xbf") else 0
    end = len(text)
    inside = False
    while True:
        while position < end and (text[position] in _BLANK or text[position] == ","):
            position += 1
        if position >= end:
            return
        if not inside and text[position] == "[":
            inside = True
            position += 1
            continue
        if inside and text[position] == "]":
            inside = False
            position += 1
            continue
        try:
            _, stop = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            following = text.find("\n{", position)
            stop = end if following < 0 else following + 1
            length = len(text[position:stop].rstrip())
            yield position, max(length, 1)
            position = stop
            continue
        yield position, stop - position
        position = stop
