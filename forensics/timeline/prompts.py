"""What did each call send, and what did it get, as bytes that can be compared? Judges nothing.

By tokens, where prompts are logged as such, or by texts, each text read once however many calls carry it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from forensics.case.store import Case
from forensics.timeline.prefixes import MOST_BYTES

if TYPE_CHECKING:
    import pyarrow as pa

TOGETHER = 48 << 20  # code points of the calls that are read at a time


def by_tokens(case: Case, worker: str, first: int, last: int) -> Iterator[tuple[int, bytes, bytes]]:
    """(request, prompt, answer) of the calls whose prompts are logged as tokens; four bytes a token, cut at the most
    bytes. `first` and `last`: the range of requests, both included."""
    import numpy as np

    found = case.arrow("timeline/prefix_tokens", {"worker": worker, "first": first, "last": last})
    for request, prompt, answer in zip(found["request"].to_pylist(), found["prompt"], found["answer"], strict=True):
        held = (np.asarray(part.values, dtype="<i4").tobytes()[:MOST_BYTES] for part in (prompt, answer))
        yield request, *held


def by_texts(case: Case, workers: Sequence[str], most: int = TOGETHER) -> Iterator[tuple[int, bytes, bytes]]:
    """The same of all calls of the workers whose prompts are logged whole; UTF-8, cut at the most bytes. In the order
    in which their texts are stored, calls of about `most` code points read at a time.

    A text that later calls carry, too, is kept for them, up to `most` bytes of them in all: to read one old text among
    new ones, the table is read from there on.
    """
    import numpy as np

    stretches, newest = _stretches(case, workers, most)
    last = np.zeros(newest + 1, dtype=np.int32)  # the last stretch that needs a text
    for number, requests in enumerate(stretches):
        last[_contents(case.arrow("timeline/prefix_uses", {"requests": requests}))] = number
    kept: dict[int, bytes] = {}
    for number, requests in enumerate(stretches):
        uses = case.arrow("timeline/prefix_uses", {"requests": requests})
        asked = [content for content in _contents(uses) if content not in kept]
        texts = _bytes_of(case.arrow("timeline/prefix_texts", {"contents": asked}))
        yield from _calls(uses, {**kept, **texts})
        kept = {content: text for content, text in kept.items() if last[content] > number}
        room = most - sum(map(len, kept.values()))
        for content in asked:
            if last[content] > number and len(texts[content]) <= room:
                kept[content] = bytes(texts[content])
                room -= len(texts[content])


def _stretches(case: Case, workers: Sequence[str], most: int) -> tuple[list[list[int]], int]:
    """The calls of the workers, those of about `most` code points together; and the greatest key of their texts."""
    found: list[list[int]] = []
    held, newest = most, -1
    for request, content, code_points in case.rows("timeline/prefix_order", {"workers": list(workers)}):
        if not found or held + code_points > most:
            found.append([])
            held = 0
        found[-1].append(request)
        held += code_points
        newest = content
    return found, newest


def _contents(uses: pa.Table) -> list[int]:
    import pyarrow.compute as pc

    found: list[int] = pc.unique(uses["content"]).to_pylist()
    return found


def _calls(uses: pa.Table, texts: dict[int, bytes | memoryview]) -> Iterator[tuple[int, bytes, bytes]]:
    rows = zip(*(uses[name].to_pylist() for name in ("request", "of_response", "content", "role")), strict=True)
    for request, parts in groupby(rows, key=lambda row: row[0]):
        prompt: list[bytes | memoryview] = []
        answer: list[bytes | memoryview] = []
        messages = False
        for _, of_response, content, role in parts:
            if of_response:
                answer.append(texts[content])
            elif role is None:
                prompt.append(texts[content])
            else:
                prompt += (role.encode(), b"\n", texts[content], b"\n")
                messages = True
        if prompt:
            head = b"assistant\n" if messages else b""
            yield request, b"".join(prompt)[:MOST_BYTES], b"".join((head, *answer))[:MOST_BYTES]


def _bytes_of(found: pa.Table) -> dict[int, bytes | memoryview]:
    """The bytes of each text, by its key."""
    import numpy as np
    import pyarrow as pa

    texts: dict[int, bytes | memoryview] = {}
    for batch in found.to_batches():
        column = batch["text"].cast(pa.large_string())
        _, ends, data = column.buffers()
        edges = np.frombuffer(ends, dtype=np.int64)[column.offset : column.offset + len(column) + 1].tolist()
        view = memoryview(data if data is not None else b"")
        for content, start, end in zip(batch["content"].to_pylist(), edges[:-1], edges[1:], strict=True):
            texts[content] = view[start:end]
    return texts
