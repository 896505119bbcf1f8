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
    in which their texts are stored, calls of about `most` code points read at a time."""
    stretch: list[int] = []
    held = 0
    for request, _, code_points in case.rows("timeline/prefix_order", {"workers": list(workers)}):
        if stretch and held + code_points > most:
            yield from _texts(case, stretch)
            stretch, held = [], 0
        stretch.append(request)
        held += code_points
    if stretch:
        yield from _texts(case, stretch)


def _texts(case: Case, requests: list[int]) -> Iterator[tuple[int, bytes, bytes]]:
    import pyarrow.compute as pc

    uses = case.arrow("timeline/prefix_uses", {"requests": requests})
    contents = pc.unique(uses["content"]).to_pylist()
    texts = _bytes_of(case.arrow("timeline/prefix_texts", {"contents": contents}))
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


def _bytes_of(found: pa.Table) -> dict[int, memoryview]:
    """The bytes of each text, by its key."""
    import numpy as np
    import pyarrow as pa

    texts: dict[int, memoryview] = {}
    for batch in found.to_batches():
        column = batch["text"].cast(pa.large_string())
        _, ends, data = column.buffers()
        edges = np.frombuffer(ends, dtype=np.int64)[column.offset : column.offset + len(column) + 1].tolist()
        view = memoryview(data if data is not None else b"")
        for content, start, end in zip(batch["content"].to_pylist(), edges[:-1], edges[1:], strict=True):
            texts[content] = view[start:end]
    return texts
