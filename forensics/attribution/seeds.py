"""Which grams and tokens of a response stand in another tenant's text too, and may that text be its source?

Pass 1 fingerprints every distinct response text; pass 2 looks in every other text for those fingerprints, at every
position, so that memory follows the responses, not the log. Then one walk over equal hashes applies the
rules of own material, time order and supplier counts, gram by gram. Output are hits, not fragments: joining hits to
runs, judging their worth and naming sources happen later.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from forensics.attribution.corpus import Corpus, TextBatch
from forensics.attribution.holdings import LATE, Ints, World
from forensics.text.fingerprint import GRAM, NUMBERS, SeedTable, context_run, fingerprint, probe
from forensics.text.identifiers import identifiers
from forensics.text.scripts import NAMES, count_scripts

# kinds of hits
# (OWN: the recipient's own material, shared with others; GIVEN: `holder` was given the text before it sent it)
SUPPLIED, GENERATED, DECOY, SHARED, PHRASE, REPEATED, OWN, GIVEN = range(8)

MIN_WEIGHT = 28  # weight of the shortest run that is looked at; below it (and below the guaranteed length) runs of
# common words outnumber everything else, and identifiers are found as tokens
MIN_WEIGHT_NUMBERS = 20  # the same for runs with digits in or near them

MAX_OWN = 256  # texts of one seed that are looked through for the recipient's own
MAX_GROUP = 4096  # texts of one seed that are looked through for a source


Places = npt.NDArray[np.int32]
Contexts = npt.NDArray[np.uint64]
Kinds = npt.NDArray[np.uint8]
NO_CONTEXT: Contexts = np.zeros(0, dtype=np.uint64)
NO_KINDS: Kinds = np.zeros(0, dtype=np.uint8)


@dataclass(frozen=True)
class Rows:
    """Seeds of texts: parallel arrays. `seed` is the id of a seed that some response has."""

    seed: Places
    content: Places
    start: Places
    end: Places
    before: Contexts  # what stands around a gram (see text.fingerprint); empty for tokens
    after: Contexts
    kinds: Kinds
    examined: int = 0  # seeds looked at, whether a response has them or not


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


@dataclass(frozen=True)
class Scan:
    """What two passes over the texts give: seeds of both kinds by id, and units per script of each text (NAMES)."""

    grams: Rows
    tokens: Rows
    scripts: npt.NDArray[np.int32]
    tokens_in_responses: int
    tokens_in_others: int


def scan(corpus: Corpus, tick: Callable[[int], None] | None = None) -> Scan:
    """Seeds of all responses, every place where another text has one of them, and the scripts of all texts."""
    world = corpus.world
    scripts = np.zeros((world.text_bytes.size, len(NAMES)), dtype=np.int32)

    def select(batch: TextBatch) -> tuple[Ints, Rows, Ints, Rows]:
        keys, buffer, offsets = batch
        _count_scripts(scripts, batch)
        grams = fingerprint(buffer, offsets)
        gram_rows = _rows(
            keys, grams.documents, grams.positions, grams.positions + 1, grams.before, grams.after, grams.kinds
        )
        tokens = identifiers(buffer, offsets)
        return grams.hashes, gram_rows, tokens.hashes, _rows(keys, tokens.documents, tokens.starts, tokens.ends)

    mine = list(corpus.over(world.is_response, select, tick))
    gram_table, grams = _numbered([part[0] for part in mine], [part[1] for part in mine])
    token_table, tokens = _numbered([part[2] for part in mine], [part[3] for part in mine])
    del mine

    def search(batch: TextBatch) -> tuple[Rows, Rows]:
        keys, buffer, offsets = batch
        _count_scripts(scripts, batch)
        found = probe(buffer, offsets, gram_table)
        rows = _rows(
            keys,
            found.documents,
            found.positions,
            found.positions + 1,
            found.before,
            found.after,
            found.kinds,
            found.ids,
        )
        theirs = identifiers(buffer, offsets)
        ids = token_table.ids(theirs.hashes)
        kept = np.flatnonzero(ids >= 0)
        token_rows = _rows(keys, theirs.documents[kept], theirs.starts[kept], theirs.ends[kept], seed=ids[kept])
        return rows, replace(token_rows, examined=int(ids.size))

    gram_parts, token_parts = [grams], [tokens]
    for gram_rows, token_rows in corpus.over(~world.is_response, search, tick):
        gram_parts.append(gram_rows)
        token_parts.append(token_rows)
    in_others = sum(part.examined for part in token_parts[1:])
    return Scan(
        _by_seed(gram_parts, gram_table.keys.size),
        _by_seed(token_parts, token_table.keys.size),
        scripts,
        int(tokens.seed.size),
        in_others,
    )


def _count_scripts(scripts: npt.NDArray[np.int32], batch: TextBatch) -> None:
    keys, buffer, offsets = batch
    if bool((buffer >= 0x80).any()):
        scripts[keys] = count_scripts(buffer, offsets)


def _rows(
    keys: Ints,
    documents: Places,
    starts: Places,
    ends: Places,
    before: Contexts = NO_CONTEXT,
    after: Contexts = NO_CONTEXT,
    kinds: Kinds = NO_KINDS,
    seed: Places | None = None,
) -> Rows:
    content = keys[documents].astype(np.int32)
    none = np.zeros(content.size, dtype=np.int32) if seed is None else seed
    return Rows(none, content, starts.astype(np.int32), ends.astype(np.int32), before, after, kinds)


def _numbered(hashes: list[Ints], parts: list[Rows]) -> tuple[SeedTable, Rows]:
    """A table over the responses' seeds, and their rows with the ids filled in."""
    every = np.concatenate([np.zeros(0, dtype=np.int64), *hashes])
    table = SeedTable.over(every)
    return table, replace(_joined(parts), seed=np.searchsorted(table.keys, every).astype(np.int32))


def _joined(parts: list[Rows]) -> Rows:
    """Rows of all parts, one after the other."""
    empty = np.zeros(0, dtype=np.int32)
    return Rows(
        np.concatenate([empty, *(p.seed for p in parts)]),
        np.concatenate([empty, *(p.content for p in parts)]),
        np.concatenate([empty, *(p.start for p in parts)]),
        np.concatenate([empty, *(p.end for p in parts)]),
        np.concatenate([NO_CONTEXT, *(p.before for p in parts)]),
        np.concatenate([NO_CONTEXT, *(p.after for p in parts)]),
        np.concatenate([NO_KINDS, *(p.kinds for p in parts)]),
    )


def _by_seed(parts: list[Rows], seeds: int) -> Rows:
    """Rows of both passes by seed; equal seeds stay in the order of the passes, that is of content and place."""
    rows = _joined(parts)
    parts.clear()
    order = _counting_order(rows.seed, seeds)
    return Rows(
        rows.seed[order],
        rows.content[order],
        rows.start[order],
        rows.end[order],
        rows.before[order] if rows.before.size else rows.before,
        rows.after[order] if rows.after.size else rows.after,
        rows.kinds[order] if rows.kinds.size else rows.kinds,
    )


@numba.njit(cache=True, nogil=True)
def _counting_order(seed: Any, seeds: int) -> Any:
    """Stable order by seed id, in linear time."""
    next_place = np.zeros(seeds + 1, dtype=np.int64)
    for i in range(seed.size):
        next_place[seed[i] + 1] += 1
    for i in range(seeds):
        next_place[i + 1] += next_place[i]
    order = np.empty(seed.size, dtype=np.int64)
    for i in range(seed.size):
        order[next_place[seed[i]]] = i
        next_place[seed[i]] += 1
    return order


class Carriers:
    """Which units hold a passage of a response, on either side and at any time? By the seeds inside it."""

    def __init__(self, world: World, rows: Rows) -> None:
        self._world = world
        self._rows = rows
        mine = np.flatnonzero(world.is_response[rows.content])
        self._order = mine[np.lexsort((rows.start[mine], rows.content[mine]))]
        self._contents = rows.content[self._order]

    def units(self, content: int, low: int, high: int) -> frozenset[int]:
        """Units that hold at least half of the seeds whose last unit lies between `low` and `high`."""
        first, last = _between(self._contents, content)
        rows = self._order[first:last]
        starts = self._rows.start[rows]
        seeds = np.unique(self._rows.seed[rows[(starts >= low) & (starts < high)]])
        if seeds.size == 0:
            return frozenset()
        holdings = self._world.holdings
        counts = np.zeros(len(self._world.requests.unit_names) + 1, dtype=np.int64)
        for seed in seeds.tolist():
            begin, end = _between(self._rows.seed, seed)
            held = np.unique(self._rows.content[begin : min(end, begin + MAX_GROUP)])
            spans = [np.arange(holdings.of_content[c], holdings.of_content[c + 1]) for c in held.tolist()]
            counts[np.unique(holdings.unit[np.concatenate(spans)])] += 1
        return frozenset(int(unit) for unit in np.flatnonzero(2 * counts[:-1] >= seeds.size))


def _between(ascending: Places, value: int) -> Ints:
    """First and last place of `value`. The probe has the array's type, or numpy would convert the whole array."""
    return np.searchsorted(ascending, np.array([value, value + 1], dtype=ascending.dtype))


def find_hits(world: World, rows: Rows, shared_limit: int, phrase_limit: int) -> Hits:
    """Apply the rules to every group of equal hashes. Linear in rows, plus sources per candidate."""
    requests, uses, holdings = world.requests, world.uses, world.holdings
    return Hits(
        *_walk(
            rows.seed,
            rows.content,
            rows.start,
            rows.end,
            rows.before,
            rows.after,
            rows.kinds,
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
    before_seed: Any,
    after_seed: Any,
    seed_kind: Any,
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
                                out, n, kind, use, row, v, units, stop, low, high, content, start, end, before_seed,
                                after_seed, seed_kind, h_of, h_unit, h_supplied, h_started, count,
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
    mine: int,
    v: int,
    units: int,
    stop: int,
    low: int,
    high: int,
    content: Any,
    place: Any,
    end: Any,
    before: Any,
    after: Any,
    seed_kind: Any,
    h_of: Any,
    h_unit: Any,
    h_supplied: Any,
    h_started: Any,
    holders: int,
) -> int:
    """Two texts of unit `v` that hold the seed of row `mine`: where it first stood, and the latest before `stop`.

    Texts whose run through the seed is too short to be looked at are passed over, judged by what stands around it.
    """
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
            if before.size:
                around = context_run(before[mine], before[row]) + context_run(after[mine], after[row])
                reach = GRAM + around * (seed_kind[mine] & 7)
                if reach < (MIN_WEIGHT_NUMBERS if seed_kind[mine] & NUMBERS else MIN_WEIGHT):
                    continue
            if time < first_time:
                first_time = time
                first = row
            if time < stop and time >= latest_time and (latest < 0 or content[latest] != c):
                latest_time = time
                latest = row
    holder = v if v < units - 1 else -1
    if first >= 0:
        n = _put(out, n, kind, use, place[mine], end[mine], content[first], place[first], holder, holders)
        if latest >= 0 and content[latest] != content[first]:
            n = _put(out, n, kind, use, place[mine], end[mine], content[latest], place[latest], holder, holders)
    return n
