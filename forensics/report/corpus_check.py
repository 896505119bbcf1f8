"""Does an outgoing file hold text of any other tenant, leaked or not? Does not decide what happens then.

`egress` looks for the passages that leaked; this looks for everything that any other tenant ever sent or was sent, so
that a file cannot become a leak of its own. Every view of a file (`decoded`) is compared with every text of the case by
the attribution kernels (`text/match`, `text/identifiers`, `text/names`).

Guarantee: a passage of 32 letters or digits in a row (17 kana or Hangul, 12 Han; spaces, case, punctuation and markup
do not count) that a text of another tenant holds is found, and so is an identifier (an account number, a key, an
e-mail address: `text/identifiers`) that at most SHARED tenants hold, a name of two capitalised words, or one of a
script without capitals, that one tenant alone holds, and what other tenants are called. Allowed are the words of our
own templates, where at least half of such a stretch lies in them; in a letter, what its addressee itself sent in a
prompt, and its own name, contact and account as the tenants file gives them. A report has no addressee: nobody's text
may stand in it. Shorter passages are found where they leaked (`egress`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache

import numpy as np
import pyarrow as pa

from forensics.case.store import Case
from forensics.report.called import Names, Words, words_of
from forensics.report.decoded import View, unfold
from forensics.report.egress import Hit
from forensics.text.fold import Ints, fold
from forensics.text.identifiers import identifiers
from forensics.text.match import Buffer, Index, Rows, every_gram, pack, weights
from forensics.text.names import HAN, KANA, PAIR, PLAIN_PAIR, names
from forensics.text.seed_search import SeedTable

BATCH_ROWS = 1024
HOLDER_ROWS = 4096  # texts whose holders are asked for at a time
SHARED = 3  # tenants that may hold an identifier before it counts as nobody's
NAME_KINDS = (PAIR, PLAIN_PAIR, KANA, HAN)
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
    """The files that hold another tenant's text, each with one request of that tenant, sorted by path."""
    return check_views(case, files, [view for file in files for view in unfold(file.path, file.data).views], allowed)


def check_views(case: Case, files: Sequence[Outgoing], views: Sequence[View], allowed: Sequence[str] = ()) -> list[Hit]:
    """The same for files that are unfolded already. One pass over the texts of the case, whatever the files."""
    if not views:
        return []
    buffer, offsets = pack([view.text for view in views])
    own_texts = [*allowed, *FIELD_PATHS]
    own = SeedTable.over(every_gram(*pack(own_texts)).hashes)
    index = Index.over(buffer, offsets, own=own)
    tokens = _Tokens(buffer, offsets, own_texts)
    found = _contents_of(case, index, tokens)
    holders = _Holders(case, sorted({content for part in found for held in part.values() for content in held}))
    hits: dict[str, Hit] = {}

    def add(view: View, request: str | None, what: str, at: int) -> None:
        if request is not None and view.path not in hits:
            place = f"{view.place}, at character {at}"
            hits[view.path] = Hit(view.path, "", request, place=place, what=what)

    reader = _readers(files, index.minimum)
    first: dict[str, tuple[int, int, str]] = {}  # of each file: view, last unit of the first gram, request
    grams = sorted(found[0])
    stand = index.places(np.array(grams, dtype=np.int64))
    for number, gram in enumerate(grams):
        part = slice(stand.first[number], stand.first[number + 1])
        value, other = int(index.seeds.keys[gram]), holders.of(found[0][gram])
        for row, unit in zip(stand.documents[part].tolist(), stand.positions[part].tolist(), strict=True):
            path = views[row].path
            if value in reader[path].grams or first.get(path, (row + 1,))[:2] <= (row, unit):
                continue
            request = other(reader[path].tenant)
            if request is not None:
                first[path] = (row, unit, request)
    for row, unit, request in first.values():
        add(views[row], request, "text", _first(views[row].text, unit, index.minimum))
    for number, contents in sorted(found[1].items()):
        other = holders.of(contents, 1 if tokens.is_name[number] else SHARED)
        for row, unit in tokens.places[number]:
            view = views[row]
            if view.path in hits or tokens.keys[number] in reader[view.path].tokens:
                continue
            request = other(reader[view.path].tenant)
            if request is not None:
                what = "name" if tokens.is_name[number] else "identifier"
                add(view, request, what, int(fold(view.text).positions[unit]))
    called = Names(case.rows("report/called"), own_texts)
    for view in views:
        if view.path not in hits:
            at = called.first(view.text, reader[view.path].tenant, reader[view.path].names)
            if at is not None:
                add(view, "", "name", at)
    return [hits[path] for path in sorted(hits)]


@dataclass(frozen=True)
class _Reader:
    """Whom a file is for, and what that one is called: grams, identifiers and names, and words of it."""

    tenant: str | None
    grams: set[int]
    tokens: set[tuple[bool, int]]
    names: list[Words]


def _readers(files: Sequence[Outgoing], minimum: int) -> dict[str, _Reader]:
    """The reader of each file, by its path."""

    @cache
    def reader(tenant: str | None, own: tuple[str, ...]) -> _Reader:
        forms = _own_forms((*own, *([tenant] if tenant is not None else [])))
        return _Reader(
            tenant,
            set(every_gram(*pack(forms), minimum).hashes.tolist()),
            _Tokens(*pack(forms)).hashes(),
            [words_of(name) for name in forms],
        )

    return {file.path: reader(file.tenant, file.own) for file in files}


class _Tokens:
    """Identifiers and names that stand in texts, those of our own words left out, each with its places."""

    def __init__(self, buffer: Buffer, offsets: Ints, own: Sequence[str] = ()) -> None:
        left_out = _Tokens(*pack(own)).hashes() if own else set()
        self.places: list[list[tuple[int, int]]] = []
        self.is_name: list[bool] = []
        self.keys: list[tuple[bool, int]] = []
        known: dict[tuple[bool, int], int] = {}
        ids, called = identifiers(buffer, offsets), names(buffer, offsets)
        wanted = np.isin(called.kinds, NAME_KINDS)
        rows = [
            (False, *row) for row in zip(ids.hashes.tolist(), ids.documents.tolist(), ids.starts.tolist(), strict=True)
        ]
        columns = (called.hashes[wanted].tolist(), called.documents[wanted].tolist(), called.starts[wanted].tolist())
        rows += [(True, *row) for row in zip(*columns, strict=True)]
        for is_name, value, document, start in rows:
            key = (is_name, value)
            if key in left_out:
                continue
            if key not in known:
                known[key] = len(self.places)
                self.places.append([])
                self.is_name.append(is_name)
                self.keys.append(key)
            self.places[known[key]].append((document, start))
        self._number = known

    def hashes(self) -> set[tuple[bool, int]]:
        """What kind, and which."""
        return set(self.keys)

    def among(self, buffer: Buffer, offsets: Ints) -> list[tuple[int, int]]:
        """(number, document) of each that stands in other texts."""
        found: set[tuple[int, int]] = set()
        if not self.keys:
            return []
        ids = identifiers(buffer, offsets)
        hits = np.flatnonzero(self._tables[0].ids(ids.hashes) >= 0)
        found.update((self._number[False, int(ids.hashes[row])], int(ids.documents[row])) for row in hits.tolist())
        called = names(buffer, offsets, self._tables[1])
        for row in np.flatnonzero(np.isin(called.kinds, NAME_KINDS)).tolist():
            number = self._number.get((True, int(called.hashes[row])))
            if number is not None:
                found.add((number, int(called.documents[row])))
        return sorted(found)

    def prepare(self) -> None:
        """Make the tables that `among` asks."""
        self._tables = [
            SeedTable.over(np.array([key for name, key in self.keys if name == wanted], dtype=np.int64))
            for wanted in (False, True)
        ]


def _contents_of(case: Case, index: Index, tokens: _Tokens) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
    """Contents that hold each gram of the index, and each token, ascending."""
    grams: defaultdict[int, list[int]] = defaultdict(list)
    held: defaultdict[int, list[int]] = defaultdict(list)
    tokens.prepare()

    def work(batch: tuple[Ints, Buffer, Ints]) -> tuple[Ints, Rows, list[tuple[int, int]], Ints]:
        keys, buffer, offsets = batch
        ids, documents, _ = index.hits(buffer, offsets)
        pairs = np.unique(documents.astype(np.int64) << 32 | ids)
        return keys[pairs >> 32], (pairs & 0xFFFFFFFF).astype(np.int32), tokens.among(buffer, offsets), keys

    threads = case.resources.threads
    with ThreadPoolExecutor(threads) as pool:
        waiting: list[Future[tuple[Ints, Rows, list[tuple[int, int]], Ints]]] = []

        def take() -> None:
            contents, ids, found, keys = waiting.pop(0).result()
            for content, gram in zip(contents.tolist(), ids.tolist(), strict=True):
                grams[gram].append(content)
            for number, document in found:
                held[number].append(int(keys[document]))

        for batch in _texts(case):
            waiting.append(pool.submit(work, batch))
            if len(waiting) > threads:
                take()
        while waiting:
            take()
    return tuple({key: sorted(contents) for key, contents in part.items()} for part in (grams, held))  # type: ignore[return-value]


def _texts(case: Case) -> Iterator[tuple[Ints, Buffer, Ints]]:
    for batch in case.batches("report/texts", rows=BATCH_ROWS):
        column = batch["text"].cast(pa.large_string())
        _, ends, data = column.buffers()
        offsets = np.frombuffer(ends, dtype=np.int64)[column.offset : column.offset + len(column) + 1]
        keys = batch["content"].to_numpy().astype(np.int64)
        yield keys, np.frombuffer(data if data is not None else b"", dtype=np.uint8), offsets


def _first(text: str, unit: int, weight: int) -> int:
    """Code point at which the gram of that weight begins whose last unit is `unit`."""
    folded = fold(text)
    heavy = weights(folded.units)
    while unit > 0 and weight > heavy[unit]:
        weight -= int(heavy[unit])
        unit -= 1
    return int(folded.positions[unit])


def _own_forms(names: tuple[str, ...]) -> tuple[str, ...]:
    """What the addressee is called, in every form that a file can be read in: a name with markup in it too."""
    given = (unfold("own", name.encode("utf-8", "surrogatepass")).views for name in names)
    return tuple(sorted({*names, *(view.text for views in given for view in views[:-1])}))


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

    def of(self, contents: list[int], most: int | None = None) -> Callable[[str | None], str | None]:
        """`other` of these contents, worked out once for each tenant."""
        return cache(lambda tenant: self.other(contents, tenant, most))

    def other(self, contents: list[int], tenant: str | None, most: int | None = None) -> str | None:
        """A request of somebody else than `tenant` that holds one of the contents; None where there is none, where
        `tenant` sent the text itself, or where more than `most` tenants hold it."""
        units = self._units[tenant] - {None} if tenant is not None else set()
        other: str | None = None
        suppliers: set[str | None] = set()
        for content in contents:
            for holder, unit, in_prompt, request in self._of[content]:
                mine = tenant is not None and (holder == tenant or unit in units)
                if mine and in_prompt:
                    return None
                if not mine and other is None:
                    other = request
                if in_prompt:
                    suppliers.add(unit or holder)
        return other if most is None or len(suppliers) <= most else None
