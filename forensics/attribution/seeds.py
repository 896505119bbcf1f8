"""Which grams and tokens of a response stand in another tenant's text too, and may that text be its source?

Pass 1 fingerprints every distinct response text; pass 2 every other text, keeping only hashes that some response has
(a bit filter first, so that memory follows the responses, not the log). Then one walk over equal hashes applies the
rules of own material, time order and supplier counts, gram by gram. Output are hits, not fragments: joining hits to
runs, judging their worth and naming sources happen later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numba
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from forensics.attribution.holdings import LATE, Ints, World
from forensics.case.store import Case
from forensics.text.fingerprint import fingerprint
from forensics.text.identifiers import identifiers
from forensics.text.scripts import NAMES, count_scripts

BATCH_BYTES = 8 << 20

# kinds of hits
# (OWN: the recipient's own material, shared with others; GIVEN: `holder` was given the text before it sent it)
SUPPLIED, GENERATED, DECOY, SHARED, PHRASE, REPEATED, OWN, GIVEN = range(8)

MAX_OWN = 256  # texts of one seed that are looked through for the recipient's own
MAX_GROUP = 4096  # texts of one seed that are looked through for a source


@dataclass(frozen=True)
class Rows:
    """Seeds of texts: parallel arrays sorted by hash, then content, then position."""

    hashes: Ints
    content: npt.NDArray[np.int32]
    start: npt.NDArray[np.int32]
    end: npt.NDArray[np.int32]
    seeds_in_responses: int = 0  # seeds found, before those that no response has were dropped
    seeds_in_others: int = 0


@dataclass(frozen=True)
class Hits:
    """A seed of a response that another unit holds. `use` is a row of Uses; positions are units (end exclusive).

    `other` is the other text (-1 where the kind names none), `holder` its unit, `holders` the number of units with the
    seed.
    """

    kind: npt.NDArray[np.int8]
    use: npt.NDArray[np.int32]
    start: npt.NDArray[np.int32]
    end: npt.NDArray[np.int32]
    other: npt.NDArray[np.int32]
    other_start: npt.NDArray[np.int32]
    holder: npt.NDArray[np.int32]
    holders: npt.NDArray[np.int32]


TextBatch = tuple[Ints, npt.NDArray[np.uint8], Ints]
Seeds = tuple[Ints, npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.int32]]
Result = TypeVar("Result")


def gram_seeds(buffer: npt.NDArray[np.uint8], offsets: Ints) -> Seeds:
    """Winnowed grams; a seed's place is its last unit."""
    found = fingerprint(buffer, offsets)
    return found.hashes, found.documents, found.positions, found.positions + np.int32(1)


def token_seeds(buffer: npt.NDArray[np.uint8], offsets: Ints) -> Seeds:
    """Identifier tokens; a seed is the whole token."""
    found = identifiers(buffer, offsets)
    return found.hashes, found.documents, found.starts, found.ends


def text_batches(case: Case, wanted: npt.NDArray[np.bool_]) -> Iterator[TextBatch]:
    """The wanted texts in batches of about BATCH_BYTES (keys, UTF-8 buffer, offsets), in one pass over the table."""
    waiting: list[pa.RecordBatch] = []
    size = 0
    last = -1
    for batch in case.batches("attribution/texts"):
        keys = batch["content"].to_numpy()
        if keys.size and (int(keys[0]) <= last or bool((np.diff(keys) <= 0).any())):
            raise RuntimeError("contents are not stored in the order of their keys")
        last = int(keys[-1]) if keys.size else last
        mask = wanted[keys]
        if not mask.all():
            batch = batch.filter(pa.array(mask))
        if batch.num_rows:
            waiting.append(batch)
            size += batch.nbytes
        if size >= BATCH_BYTES:
            yield _buffers(waiting)
            waiting, size = [], 0
    if waiting:
        yield _buffers(waiting)


def _buffers(batches: list[pa.RecordBatch]) -> TextBatch:
    table = pa.Table.from_batches(batches)
    column = table["text"].cast(pa.large_string()).combine_chunks()
    column = column.chunk(0) if isinstance(column, pa.ChunkedArray) else column
    offsets = np.frombuffer(column.buffers()[1], dtype=np.int64)[column.offset : column.offset + len(column) + 1]
    data = column.buffers()[2]
    buffer = np.frombuffer(data, dtype=np.uint8) if data is not None else np.zeros(0, dtype=np.uint8)
    return table["content"].to_numpy().astype(np.int64), buffer, offsets


def over_texts(
    case: Case,
    wanted: npt.NDArray[np.bool_],
    work: Callable[[TextBatch], Result],
    tick: Callable[[int], None] | None = None,
) -> Iterator[Result]:
    """`work` over all batches on all threads; results in the order of the batches."""
    with ThreadPoolExecutor(case.resources.threads) as pool:
        waiting: list[tuple[Future[Result], int]] = []
        for batch in text_batches(case, wanted):
            waiting.append((pool.submit(work, batch), int(batch[1].size)))
            if len(waiting) > case.resources.threads:
                future, size = waiting.pop(0)
                yield future.result()
                if tick:
                    tick(size)
        for future, size in waiting:
            yield future.result()
            if tick:
                tick(size)


@dataclass(frozen=True)
class Scan:
    """What two passes over the texts give: seeds of both kinds, and units per script of each text (SCRIPTS columns)."""

    grams: Rows
    tokens: Rows
    scripts: npt.NDArray[np.int32]


def scan(case: Case, world: World, tick: Callable[[int], None] | None = None) -> Scan:
    """Seeds of all texts that some response shares, and the scripts of all texts."""
    scripts = np.zeros((world.text_bytes.size, len(NAMES)), dtype=np.int32)
    own = _pass(case, world.is_response, (None, None), scripts, tick)
    filters = (_Filter.over(own[0].hashes), _Filter.over(own[1].hashes))
    others = _pass(case, ~world.is_response, filters, scripts, tick)
    grams, tokens = (
        replace(_sorted([mine, theirs]), seeds_in_responses=mine.seeds_in_responses,
                seeds_in_others=theirs.seeds_in_responses)
        for mine, theirs in zip(own, others, strict=True)
    )  # fmt: skip
    return Scan(grams, tokens, scripts)


@dataclass(frozen=True)
class _Filter:
    """A bit set over the top bits of the hashes that responses have: 16 bits a hash, so about 6 % pass by accident."""

    bits: npt.NDArray[np.uint8]
    log2_size: int

    @classmethod
    def over(cls, hashes: Ints) -> _Filter:
        log2_size = max(16, min(32, int(np.ceil(np.log2(hashes.size * 16 + 1)))))
        bits = np.zeros(1 << (log2_size - 3), dtype=np.uint8)
        _set_bits(bits, hashes, log2_size)
        return cls(bits, log2_size)


def _pass(
    case: Case,
    wanted: npt.NDArray[np.bool_],
    filters: tuple[_Filter | None, _Filter | None],
    scripts: npt.NDArray[np.int32],
    tick: Callable[[int], None] | None,
) -> tuple[Rows, Rows]:
    """Gram and token rows of the wanted texts; `seeds_in_responses` holds the number before filtering."""

    def work(batch: TextBatch) -> tuple[Rows, Rows]:
        keys, buffer, offsets = batch
        if bool((buffer >= 0x80).any()):
            scripts[keys] = count_scripts(buffer, offsets)
        return (
            _kept(keys, gram_seeds(buffer, offsets), filters[0]),
            _kept(keys, token_seeds(buffer, offsets), filters[1]),
        )

    grams: list[Rows] = []
    tokens: list[Rows] = []
    for gram_rows, token_rows in over_texts(case, wanted, work, tick):
        grams.append(gram_rows)
        tokens.append(token_rows)
    return _sorted(grams), _sorted(tokens)


def _kept(keys: Ints, seeds: Seeds, accept: _Filter | None) -> Rows:
    hashes, documents, starts, ends = seeds
    found = int(hashes.size)
    if accept is not None:
        kept = _test_bits(accept.bits, hashes, accept.log2_size)
        hashes, documents, starts, ends = hashes[kept], documents[kept], starts[kept], ends[kept]
    return Rows(hashes, keys[documents].astype(np.int32), starts, ends, found)


def _sorted(parts: list[Rows]) -> Rows:
    if not parts:
        empty = np.zeros(0, dtype=np.int32)
        return Rows(np.zeros(0, dtype=np.int64), empty, empty, empty)
    hashes = np.concatenate([p.hashes for p in parts])
    content = np.concatenate([p.content for p in parts])
    start = np.concatenate([p.start for p in parts])
    end = np.concatenate([p.end for p in parts])
    found = sum(p.seeds_in_responses for p in parts)
    parts.clear()
    order = np.lexsort((start, content, hashes)) if hashes.size < (1 << 20) else _stable(hashes, content, start)
    return Rows(hashes[order], content[order], start[order], end[order], found)


def _stable(hashes: Ints, content: npt.NDArray[np.int32], start: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    """Same order as lexsort: input parts are already in order of content and start, except across the two passes."""
    place = np.argsort(content.astype(np.int64) * (1 << 31) + start, kind="stable")
    return place[np.argsort(hashes[place], kind="stable")]


@numba.njit(cache=True, nogil=True)
def _set_bits(bits: Any, hashes: Any, log2_size: int) -> None:
    shift = np.uint64(64 - log2_size)
    for i in range(hashes.size):
        slot = np.uint64(hashes[i]) >> shift
        bits[slot >> np.uint64(3)] |= np.uint8(1) << np.uint8(slot & np.uint64(7))


@numba.njit(cache=True, nogil=True)
def _test_bits(bits: Any, hashes: Any, log2_size: int) -> Any:
    out = np.zeros(hashes.size, dtype=np.bool_)
    shift = np.uint64(64 - log2_size)
    for i in range(hashes.size):
        slot = np.uint64(hashes[i]) >> shift
        out[i] = (bits[slot >> np.uint64(3)] >> np.uint8(slot & np.uint64(7))) & np.uint8(1) == 1
    return out


def find_hits(world: World, rows: Rows, shared_limit: int, phrase_limit: int) -> Hits:
    """Apply the rules to every group of equal hashes. Linear in rows, plus sources per candidate."""
    requests, uses, holdings = world.requests, world.uses, world.holdings
    return Hits(
        *_walk(
            rows.hashes,
            rows.content,
            rows.start,
            rows.end,
            holdings.of_content,
            holdings.unit,
            holdings.supplied,
            holdings.started,
            holdings.finished,
            uses.of_content,
            uses.request,
            uses.side,
            requests.unit,
            requests.finished,
            max(1, len(requests.unit_names)) + 1,
            shared_limit,
            phrase_limit,
        )
    )


@numba.njit(cache=True, nogil=True)
def _walk(
    hashes: Any,
    content: Any,
    start: Any,
    end: Any,
    h_of: Any,
    h_unit: Any,
    h_supplied: Any,
    h_started: Any,
    h_finished: Any,
    u_of: Any,
    u_request: Any,
    u_side: Any,
    unit_of: Any,
    finished_of: Any,
    units: int,
    shared_limit: int,
    phrase_limit: int,
) -> Any:
    capacity = 1024
    out = np.empty((capacity, 8), dtype=np.int32)
    n = 0
    supplied = np.full(units, LATE, dtype=np.int64)
    started = np.full(units, LATE, dtype=np.int64)
    finished = np.full(units, LATE, dtype=np.int64)
    touched = np.empty(units, dtype=np.int64)
    is_touched = np.zeros(units, dtype=np.bool_)
    total = hashes.size
    low = 0
    while low < total:
        high = low + 1
        while high < total and hashes[high] == hashes[low]:
            high += 1
        # Who holds the seed, since when, and how they came by it. Unit -1 (no tenant) is kept in the last place.
        count = 0
        previous = -1
        for row in range(low, high):
            c = content[row]
            if c == previous:
                continue
            previous = c
            for h in range(h_of[c], h_of[c + 1]):
                u = h_unit[h]
                if u < 0:
                    u = units - 1
                if not is_touched[u]:
                    is_touched[u] = True
                    touched[count] = u
                    count += 1
                supplied[u] = min(supplied[u], h_supplied[h])
                started[u] = min(started[u], h_started[h])
                finished[u] = min(finished[u], h_finished[h])
        if count >= 2:
            # A supplier had the text in a prompt before any of its responses had it; a victim the other way round.
            suppliers = 0
            generators = 0
            best = LATE
            best_unit = -1
            second = LATE
            for k in range(count):
                u = touched[k]
                if supplied[u] < LATE and supplied[u] <= finished[u]:
                    suppliers += 1
                    since = min(supplied[u], started[u])
                else:
                    if started[u] < LATE:
                        generators += 1
                    since = started[u]
                if since < best:
                    second = best
                    best = since
                    best_unit = u
                elif since < second:
                    second = since
            previous = -1
            for row in range(low, high):
                c = content[row]
                for use in range(u_of[c], u_of[c + 1]):
                    if u_side[use] != 1:
                        continue
                    u = unit_of[u_request[use]]
                    if u < 0:
                        continue
                    stop = finished_of[u_request[use]]
                    if n + 4 * count + 8 >= capacity:
                        grown = np.empty((2 * capacity + 8 * count, 8), dtype=np.int32)
                        grown[:n] = out[:n]
                        out = grown
                        capacity = out.shape[0]
                    supplies = supplied[u] < LATE and supplied[u] <= finished[u]
                    if supplies and supplied[u] <= stop:
                        mine = -1
                        for other in range(low, min(high, low + MAX_OWN)):
                            o = content[other]
                            for h in range(h_of[o], h_of[o + 1]):
                                if h_unit[h] == u and h_supplied[h] <= stop:
                                    mine = o
                            if mine >= 0:
                                break
                        n = _put(out, n, OWN, use, start[row], end[row], mine, 0, u, count)
                        continue
                    foreign = second if best_unit == u else best
                    first_of_unit = finished[u]
                    own_first = foreign >= first_of_unit
                    others = suppliers - (1 if supplies else 0)
                    shared = not own_first and others >= shared_limit
                    before = 0
                    for k in range(count):
                        v = touched[k]
                        if v != u and supplied[v] < stop and supplied[v] <= finished[v]:
                            before += 1
                    phrase = not own_first and not shared and before == 0 and generators >= phrase_limit
                    if shared or phrase:
                        n = _put(out, n, SHARED if shared else PHRASE, use, start[row], end[row], -1, 0, -1, count)
                    # The first of several tenants to be given a text that nobody supplied is perhaps a victim too.
                    repeated = own_first and suppliers == 0 and 2 <= generators < phrase_limit
                    for k in range(count):
                        v = touched[k]
                        if v == u:
                            continue
                        supplier = supplied[v] < LATE and supplied[v] <= finished[v]
                        if supplied[v] < LATE and not supplier:
                            n = _put(out, n, GIVEN, use, start[row], end[row], -1, 0, v, count)
                        kind = -1
                        if not own_first and not shared and not phrase:
                            if supplier and supplied[v] < stop:
                                kind = SUPPLIED
                            elif before == 0 and not supplier and started[v] < stop:
                                kind = GENERATED
                        if repeated:
                            kind = REPEATED
                        if kind < 0 and supplier and not supplies and supplied[v] > stop and others < shared_limit:
                            kind = DECOY
                        if kind >= 0:
                            n = _sources(
                                out, n, kind, use, start[row], end[row], v, units, stop, low, high, content, start,
                                h_of, h_unit, h_supplied, h_started, count,
                            )  # fmt: skip
        for k in range(count):
            u = touched[k]
            supplied[u] = LATE
            started[u] = LATE
            finished[u] = LATE
            is_touched[u] = False
        low = high
    out = out[:n]
    return (
        out[:, 0].astype(np.int8),
        out[:, 1].copy(),
        out[:, 2].copy(),
        out[:, 3].copy(),
        out[:, 4].copy(),
        out[:, 5].copy(),
        out[:, 6].copy(),
        out[:, 7].copy(),
    )


@numba.njit(cache=True, nogil=True)
def _put(
    out: Any, n: int, kind: int, use: int, start: int, end: int, other: int, place: int, holder: int, holders: int
) -> int:
    out[n, 0] = kind
    out[n, 1] = use
    out[n, 2] = start
    out[n, 3] = end
    out[n, 4] = other
    out[n, 5] = place
    out[n, 6] = holder
    out[n, 7] = holders
    return n + 1


@numba.njit(cache=True, nogil=True)
def _sources(
    out: Any,
    n: int,
    kind: int,
    use: int,
    start: int,
    end: int,
    v: int,
    units: int,
    stop: int,
    low: int,
    high: int,
    content: Any,
    place: Any,
    h_of: Any,
    h_unit: Any,
    h_supplied: Any,
    h_started: Any,
    holders: int,
) -> int:
    """Two texts of unit `v` that hold the seed: where it first stood, and the latest before `stop`."""
    by_supply = kind in (SUPPLIED, DECOY)
    if kind in (DECOY, REPEATED):
        stop = LATE
    first = -1
    latest = -1
    first_time = LATE
    latest_time = -LATE
    for row in range(low, min(high, low + MAX_GROUP)):
        c = content[row]
        for h in range(h_of[c], h_of[c + 1]):
            unit = h_unit[h] if h_unit[h] >= 0 else units - 1
            if unit != v:
                continue
            time = h_supplied[h] if by_supply else h_started[h]
            if time >= LATE:
                continue
            if time < first_time:
                first_time = time
                first = row
            if time < stop and time >= latest_time and (latest < 0 or content[latest] != c):
                latest_time = time
                latest = row
    holder = v if v < units - 1 else -1
    if first >= 0:
        n = _put(out, n, kind, use, start, end, content[first], place[first], holder, holders)
        if latest >= 0 and content[latest] != content[first]:
            n = _put(out, n, kind, use, start, end, content[latest], place[latest], holder, holders)
    return n
