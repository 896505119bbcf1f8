"""Which seeds of a response stand in another tenant's text too, and may that text be its source?

One walk over equal seeds applies the rules of own material, time order and supplier counts, seed by seed. Output are
hits, not fragments: joining hits to runs, judging their worth and naming sources happen later.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from forensics.attribution.holdings import LATE, Ints, World
from forensics.attribution.seeds import Rows, Seeds
from forensics.text.fingerprint import GRAM, NUMBERS, context_run, resumes
from forensics.text.keys import among, distinct

# kinds of hits
# (OWN: the recipient's own material, shared with others; GIVEN: `holder` was given the text before it sent it)
SUPPLIED, GENERATED, DECOY, SHARED, PHRASE, REPEATED, OWN, GIVEN = range(8)
KIND, USE, START, END, OTHER, OTHER_START, HOLDER, HOLDERS = range(8)  # columns of a walk's rows
# The first three again, where the run through the seed is too short to be looked at by itself: what altered copies are
# made of.
WEAK = 8
WEAK_SUPPLIED, WEAK_GENERATED, WEAK_DECOY = WEAK + SUPPLIED, WEAK + GENERATED, WEAK + DECOY
# And again, where the two texts agree once more a little beyond the edge of that run: one seed is enough to look.
AGAIN = 16
AGAIN_SUPPLIED, AGAIN_GENERATED, AGAIN_DECOY = AGAIN + SUPPLIED, AGAIN + GENERATED, AGAIN + DECOY
MAX_WEAK_HOLDERS = 12  # units with a seed, above which it says nothing by itself (reference: DF limit)

MIN_WEIGHT = 28  # weight of the shortest run that is looked at; below it (and below the guaranteed length) runs of
# common words outnumber everything else, and identifiers are found as tokens
MIN_WEIGHT_NUMBERS = 20  # the same for runs with digits in or near them

MAX_OWN = 256  # texts of one seed that are looked through for the recipient's own
MAX_GROUP = 4096  # texts of one seed that are looked through for a source


@dataclass(frozen=True)
class Hits:
    """A seed of a response that another unit holds. `use` is a row of Uses; positions are units (end exclusive).

    `other` is the other text (-1 where the kind names none), `holder` its unit, `holders` the number of units with the
    seed. GIVEN is kept for those units alone that also have a hit of another kind in the response: they are most of
    what a walk meets, since whoever sends its history back holds all that the model always says.
    """

    kind: npt.NDArray[np.int8]
    use: npt.NDArray[np.int32]
    start: npt.NDArray[np.int32]
    end: npt.NDArray[np.int32]
    other: npt.NDArray[np.int32]
    other_start: npt.NDArray[np.int32]
    holder: npt.NDArray[np.int32]
    holders: npt.NDArray[np.int32]


class Carriers:
    """Which units hold a passage of a response, on either side and at any time? By the seeds inside it."""

    def __init__(self, world: World, seeds: Seeds) -> None:
        self._world = world
        self._seeds = seeds

    def units(self, passages: list[tuple[int, int, int]]) -> list[frozenset[int]]:
        """Units that hold at least half of the seeds of each passage (text, low, high), by where the seeds start."""
        asked: list[Ints] = []
        known = -1
        for content, low, high in passages:
            if content != known:
                known = content
                hashes, starts = self._seeds.of_text(content)
            asked.append(distinct(hashes[(starts >= low) & (starts < high)]))
        if not asked:
            return []
        keys, rows = self._seeds.of_hashes(distinct(np.concatenate(asked)))
        holdings = self._world.holdings
        units = len(self._world.requests.unit_names)
        found = []
        for hashes, (content, _, _) in zip(asked, passages, strict=True):
            numbers = np.searchsorted(keys, hashes[among(hashes, keys)]).astype(np.int32)
            counts = _holders(numbers, rows.seed, rows.content, holdings.of_content, holdings.unit, units)
            # A seed that no two units share is held by the one that holds this text.
            low, high = holdings.of_content[content], holdings.of_content[content + 1]
            counts[[unit for unit in holdings.unit[low:high].tolist() if unit >= 0]] += hashes.size - numbers.size
            found.append(frozenset(np.flatnonzero((2 * counts >= hashes.size) & (counts > 0)).tolist()))
        return found


@numba.njit(cache=True, nogil=True)
def _holders(seeds: Any, rows: Any, contents: Any, of_content: Any, unit_of: Any, units: int) -> Any:
    """How many of `seeds` (ascending) each unit holds, looking at no more than MAX_GROUP rows of a seed."""
    counts = np.zeros(units, dtype=np.int64)
    counted = np.full(units, -1, dtype=np.int64)  # the last seed that was counted for a unit
    for seed in seeds:
        low = np.searchsorted(rows, seed)
        previous = -1
        for row in range(low, min(rows.size, low + MAX_GROUP)):
            if rows[row] != seed:
                break
            content = contents[row]
            if content == previous:
                continue
            previous = content
            for held in range(of_content[content], of_content[content + 1]):
                unit = unit_of[held]
                if unit >= 0 and counted[unit] != seed:
                    counted[unit] = seed
                    counts[unit] += 1
    return counts


def find_hits(world: World, groups: Iterable[Rows], shared_limit: int, phrase_limit: int) -> Hits:
    """Apply the rules to every seed, whose rows are in one group. Linear in rows, plus sources per candidate."""
    requests, uses, holdings = world.requests, world.uses, world.holdings
    parts, given = [], []
    for rows in groups:
        found, told = _walk(
            rows.seed, rows.content, rows.start, rows.end, rows.before, rows.after, rows.kinds, holdings.of_content,
            holdings.unit, holdings.supplied, holdings.started, holdings.finished, uses.of_content, uses.request,
            uses.side, requests.unit, requests.finished, max(1, len(requests.unit_names)) + 1, shared_limit,
            phrase_limit,
        )  # fmt: skip
        parts.append(found)
        given.append(told)
    parts.append(_beside(np.concatenate(parts), given, uses.content.size))
    columns = [column.copy() for column in np.concatenate(parts).T]
    # By use and place, so that the order does not tell how the seeds were parted. Two columns to a number: a sort of
    # one costs as much as of the other.
    kind, use, start, end, other, other_start, holder, holders = columns
    keys = (holder, holders), (other, other_start), (start, end), (use, kind)
    order = np.lexsort([first.astype(np.int64) << 32 | second for first, second in keys])
    columns[0] = kind.astype(np.int8)
    return Hits(*(column[order] for column in columns))


def _beside(found: npt.NDArray[np.int32], given: list[npt.NDArray[np.int32]], uses: int) -> npt.NDArray[np.int32]:
    """Rows of GIVEN for the uses and units that have hits of another kind."""
    with_unit = found[(found[:, HOLDER] >= 0) & (found[:, KIND] != OWN)]
    held = np.zeros(uses, dtype=np.bool_)
    held[with_unit[:, USE]] = True
    told = np.concatenate([part[held[part[:, 0]]] for part in given])
    known = distinct(with_unit[:, USE].astype(np.int64) << 32 | with_unit[:, HOLDER])
    told = told[among(told[:, 0].astype(np.int64) << 32 | told[:, 3], known)]
    rows = np.zeros((told.shape[0], found.shape[1]), dtype=np.int32)
    rows[:, KIND], rows[:, OTHER] = GIVEN, -1
    rows[:, [USE, START, END, HOLDER, HOLDERS]] = told
    return rows


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
    """Rows of hits (columns KIND to HOLDERS), and for each GIVEN a row of use, start, end, holder and holders."""
    capacity = 1024
    out = np.empty((capacity, 8), dtype=np.int32)
    n = 0
    told = np.empty((capacity, 5), dtype=np.int32)
    given = 0
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
                            if given == told.shape[0]:
                                told = np.concatenate((told, np.empty_like(told)))
                            told[given, 0], told[given, 1], told[given, 2] = use, start[row], end[row]
                            told[given, 3], told[given, 4] = v, count
                            given += 1
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
    return out[:n].copy(), told[:given].copy()


@numba.njit(cache=True, nogil=True)
def _put(
    out: Any, n: int, kind: int, use: int, start: int, end: int, other: int, place: int, holder: int, holders: int
) -> int:
    out[n, KIND], out[n, USE], out[n, START], out[n, END] = kind, use, start, end
    out[n, OTHER], out[n, OTHER_START], out[n, HOLDER], out[n, HOLDERS] = other, place, holder, holders
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

    Texts whose run through the seed is too short to be looked at, judged by what stands around it, are passed over;
    where a unit has no others, they are put as WEAK.
    """
    by_supply = kind in (SUPPLIED, DECOY)
    if kind in (DECOY, REPEATED):
        stop = LATE
    first = -1
    latest = -1
    first_time = LATE
    latest_time = -LATE
    weak = -1
    weak_time = LATE
    again = False
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
                    if time < weak_time:
                        weak_time = time
                        weak = row
                        again = resumes(before[mine], before[row]) or resumes(after[mine], after[row])
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
    elif weak >= 0 and kind != REPEATED and holders <= MAX_WEAK_HOLDERS:
        kind += AGAIN if again else WEAK
        n = _put(out, n, kind, use, place[mine], end[mine], content[weak], place[weak], holder, holders)
    return n
