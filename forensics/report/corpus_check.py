"""Does an outgoing file hold text of any other tenant, leaked or not? Does not decide what happens then.

`egress` looks for the passages that leaked; this looks for everything that any other tenant ever sent or was sent, so
that a file cannot become a leak of its own. Every file that leaves is compared with every text of the case by the
attribution kernels (`text/match`).

Guarantee: a passage of 32 letters or digits in a row (17 kana or Hangul, 12 Han; spaces, case, punctuation and markup
do not count) that a text of another tenant holds is found. Allowed are the words of our own templates, where at least
half of such a stretch lies in them; in a letter, what its addressee itself sent in a prompt, and its own name, contact
and account as the tenants file gives them. A report has no addressee: nobody's text may stand in it.
Shorter passages are found where they leaked (`egress`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from forensics.case.store import Case
from forensics.report.egress import Hit, visible_text
from forensics.text.fold import Ints
from forensics.text.match import Buffer, Index, Rows, every_gram, pack
from forensics.text.seed_search import SeedTable

BATCH_ROWS = 1024
HOLDER_ROWS = 4096  # texts whose holders are asked for at a time
# Words of the contract that stand in files as values: field paths of a request.
FIELD_PATHS = ("messages[0].content", "choices[0].tool_calls[0].function.arguments", "choices[0].reasoning")


@dataclass(frozen=True)
class Outgoing:
    """A file that is to leave. `tenant` is whom it is for (None: anybody); `own`: what that one is called."""

    path: str
    data: bytes
    tenant: str | None = None
    own: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Outgoing({self.path!r}, {len(self.data)} bytes)"


def check_corpus(case: Case, files: Sequence[Outgoing], allowed: Sequence[str] = ()) -> list[Hit]:
    """The files that hold another tenant's text, each with one request of that tenant, sorted by path.

    One pass over the texts of the case, however many files there are.
    """
    own = SeedTable.over(every_gram(*pack([*allowed, *FIELD_PATHS])).hashes)
    index = Index.over(*pack([visible_text(file.path, file.data) for file in files]), own=own)
    if index.seeds.keys.size == 0:
        return []
    contents_of = _contents_of(case, index)
    if not contents_of:
        return []
    holders = _Holders(case, sorted({content for found in contents_of.values() for content in found}))
    called = [set(every_gram(*pack(file.own), index.minimum).hashes.tolist()) for file in files]
    hits: dict[str, Hit] = {}
    for gram, contents in sorted(contents_of.items()):
        for row in index.holders(gram).tolist():
            file = files[row]
            if file.path in hits or int(index.seeds.keys[gram]) in called[row]:
                continue
            request = holders.other(contents, file.tenant)
            if request is not None:
                hits[file.path] = Hit(file.path, "", request)
    return [hits[path] for path in sorted(hits)]


def _contents_of(case: Case, index: Index) -> dict[int, list[int]]:
    """Contents that hold each gram of the index, ascending."""
    found: defaultdict[int, list[int]] = defaultdict(list)

    def work(batch: tuple[Ints, Buffer, Ints]) -> tuple[Ints, Rows]:
        keys, buffer, offsets = batch
        ids, documents, _ = index.hits(buffer, offsets)
        pairs = np.unique(documents.astype(np.int64) << 32 | ids)
        return keys[pairs >> 32], (pairs & 0xFFFFFFFF).astype(np.int32)

    threads = case.resources.threads
    with ThreadPoolExecutor(threads) as pool:
        waiting: list[Future[tuple[Ints, Rows]]] = []

        def take() -> None:
            contents, ids = waiting.pop(0).result()
            for content, gram in zip(contents.tolist(), ids.tolist(), strict=True):
                found[gram].append(content)

        for batch in _texts(case):
            waiting.append(pool.submit(work, batch))
            if len(waiting) > threads:
                take()
        while waiting:
            take()
    return {gram: sorted(contents) for gram, contents in found.items()}


def _texts(case: Case) -> Iterator[tuple[Ints, Buffer, Ints]]:
    for batch in case.batches("report/texts", rows=BATCH_ROWS):
        column = batch["text"].cast(pa.large_string())
        _, ends, data = column.buffers()
        offsets = np.frombuffer(ends, dtype=np.int64)[column.offset : column.offset + len(column) + 1]
        keys = batch["content"].to_numpy().astype(np.int64)
        yield keys, np.frombuffer(data if data is not None else b"", dtype=np.uint8), offsets


class _Holders:
    """Who holds the given contents?"""

    def __init__(self, case: Case, contents: list[int]) -> None:
        self._units: defaultdict[str, set[str | None]] = defaultdict(set)
        for tenant, unit in case.rows("report/units_of_tenants"):
            self._units[tenant].add(unit)
        # (tenant, unit, held in a prompt, a request) of each content
        self._of: defaultdict[int, list[tuple[str | None, str | None, bool, str]]] = defaultdict(list)
        for first in range(0, len(contents), HOLDER_ROWS):
            rows = case.rows("report/holders_of_texts", {"contents": contents[first : first + HOLDER_ROWS]})
            for content, *holder in rows:
                self._of[content].append((holder[0], holder[1], holder[2], holder[3]))

    def other(self, contents: list[int], tenant: str | None) -> str | None:
        """A request of somebody else than `tenant` that holds one of the contents; None where there is none, or where
        `tenant` sent the text itself."""
        units = self._units[tenant] - {None} if tenant is not None else set()
        other: str | None = None
        for content in contents:
            for holder, unit, in_prompt, request in self._of[content]:
                mine = tenant is not None and (holder == tenant or unit in units)
                if mine and in_prompt:
                    return None
                if not mine and other is None:
                    other = request
        return other
