"""Did a prefix-cache hit reach beyond what the call's own namespace had sent before? By the cache's own events where
they cover the call (cache_events.py); else by tokens where all prompts of a worker are logged as such, else by texts,
in proportion to tokens.

The namespace is what the call itself declares: salt, extra key, adapter. Without any, all customers share one tree by
design, and a hit on another's prefix is no fault. What the logs do not show cannot be told from a fault by a count:
the call of another namespace that explains a hit is named only where the log shows that the cache began empty.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from forensics.case.store import Case

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from forensics.timeline.cache_tree import Stream

# Expected tokens, excess, row of the call that explains it.
_Judged = tuple[int | None, int | None, int | None]
# From a request to a request: (request, prompt, answer) of each with a whole prompt.
_Reader = Callable[[int, int], Iterator[tuple[int, bytes, bytes]]]
_SHARE = 0.15  # of the prompt: tokens do not lie evenly in a text
_LEAST_EXCESS = 32  # tokens, the same
_PIECES = 2048  # calls whose texts are held at once
_TOGETHER = 100_000  # calls of several workers whose beginnings are held at once, about a kilobyte each
_NONE = "none"


@dataclass(frozen=True)
class _Prefixes:
    """Every known beginning of the calls of a worker; aligned arrays. `row` is a row of the worker's calls."""

    row: np.ndarray[Any, Any]
    place: np.ndarray[Any, Any]
    hash: np.ndarray[Any, Any]
    prompt_bytes: np.ndarray[Any, Any]  # per row of the worker's calls; 0: no whole prompt


def fill(case: Case) -> None:
    """Fill cache_hits from the counts, texts and keys of the calls."""
    import numpy as np

    calls = case.arrow("timeline/cached_requests")
    cached = calls["cached_tokens"].to_numpy(zero_copy_only=False).astype(np.float64)
    if not (cached > 0).any():
        case.append("cache_hits", _table(calls, np.flatnonzero(~np.isnan(cached)), {}))
        return
    starts: dict[str, list[int]] = {}
    for worker, at in case.rows("timeline/cache_starts"):
        starts.setdefault(worker, []).append(at)
    by_tokens = {worker for (worker,) in case.rows("timeline/token_workers")}
    streams = _streams(case)
    counted = ~np.isnan(cached)
    for group in _groups(_Worker(name, first, stop, name in by_tokens) for name, first, stop in _workers(calls)):
        told = [worker for worker in group if counted[worker.first : worker.stop].any()]
        known = _known(case, calls, told)
        for worker in told:
            part = calls.slice(worker.first, worker.stop - worker.first)
            judged = _judge(known[worker.name], part, starts.get(worker.name, []), worker.tokens)
            reasons = _by_events(case, worker.name, part, streams, worker.tokens, judged) if streams else []
            rows = np.flatnonzero(counted[worker.first : worker.stop])
            case.append("cache_hits", _table(part, rows, judged, "tokens" if worker.tokens else "text", reasons))


@dataclass(frozen=True)
class _Worker:
    """The calls `[first, stop)` of a worker; `tokens`: are they compared by tokens, or by texts?"""

    name: str
    first: int
    stop: int
    tokens: bool


def _groups(workers: Iterable[_Worker]) -> Iterator[list[_Worker]]:
    """Workers that are read together, in order: each reading passes over all texts of the log."""
    group: list[_Worker] = []
    for worker in workers:
        if group and worker.stop - group[0].first > _TOGETHER:
            yield group
            group = []
        group.append(worker)
    if group:
        yield group


def _known(case: Case, calls: pa.Table, workers: Sequence[_Worker]) -> dict[str, _Prefixes]:
    """The beginnings of the calls of each worker."""
    import numpy as np

    from forensics.timeline.prompts import by_texts, by_tokens

    found: dict[str, _Prefixes] = {}
    for worker in workers:
        if worker.tokens:
            part = calls.slice(worker.first, worker.stop - worker.first)
            found[worker.name] = _read(part.num_rows, _pieces(part, partial(by_tokens, case, worker.name)))
    others = [worker for worker in workers if not worker.tokens]
    if not others:
        return found
    rows = np.concatenate([np.arange(worker.first, worker.stop) for worker in others])
    rows_of = _rows_of(calls["request"].take(rows).to_pylist())
    sent = by_texts(case, [worker.name for worker in others])
    every = _read(
        len(rows), ((row, prompt, answer) for request, prompt, answer in sent for row in rows_of.get(request, ()))
    )
    order = np.argsort(every.row, kind="stable")
    of_row = every.row[order]
    begin = 0
    for worker in others:
        end = begin + worker.stop - worker.first
        mine = order[np.searchsorted(of_row, begin) : np.searchsorted(of_row, end)]
        found[worker.name] = _Prefixes(
            every.row[mine] - begin, every.place[mine], every.hash[mine], every.prompt_bytes[begin:end]
        )
        begin = end
    return found


def _streams(case: Case) -> list[Stream]:
    """What prefix caches published; the module is heavy, and most cases have no such events."""
    if not case.count("kv_events"):
        return []
    from forensics.timeline.cache_tree import read

    return read(case)


def _by_events(
    case: Case, worker: str, calls: pa.Table, streams: list[Stream], tokens: bool, judged: dict[int, _Judged]
) -> list[str]:
    """Why events do not judge each row, or `used`: then what they say stands in `judged`."""
    import numpy as np

    from forensics.timeline.cache_events import NEVER, Facts, judge
    from forensics.timeline.prompts import by_tokens

    own = _namespaces(calls)
    adapter, extra = (np.array([bool(key) for key in calls[name].to_pylist()]) for name in ("adapter", "extra_key"))
    received, at, finished = (_times(calls, f"engine_{name}_us") for name in ("received", "at", "finished"))
    started = _times(calls, "engine_started_us")
    known = started < NEVER
    earliest, latest = np.where(known, started, received), np.where(known, started, at)
    cached, prompt = _counts(calls, "cached_tokens"), _counts(calls, "prompt_tokens")
    salts: list[str] = calls["salt"].to_pylist()
    facts = Facts(received, earliest, latest, finished, own, salts, adapter | extra, adapter, cached, prompt, tokens)
    found, reasons = judge(streams, lambda: _pieces(calls, partial(by_tokens, case, worker)), facts)
    for row, retracted in enumerate(calls["retracted"].to_pylist()):
        if retracted:
            reasons[row] = "retracted"
        elif row in found:
            verdict = found[row]
            judged[row] = (verdict.expected, verdict.excess, verdict.source)
    return reasons


def _workers(calls: pa.Table) -> Iterator[tuple[str, int, int]]:
    """(worker, first row, row after its last); the rows are sorted by worker."""
    names = calls["worker"].dictionary_encode().combine_chunks()
    import numpy as np

    codes = names.indices.to_numpy()
    edges = [0, *(np.flatnonzero(np.diff(codes)) + 1).tolist(), len(codes)]
    for first, stop in pairwise(edges):
        if stop > first:
            yield names.dictionary[int(codes[first])].as_py(), first, stop


def namespace(salt: str, extra_key: str, adapter: str) -> str:
    """A digest of a call's own cache key; `none` where it declares none."""
    if not (salt or extra_key or adapter):
        return _NONE
    joined = "\0".join(str(len(part)) + ":" + part for part in (salt, extra_key, adapter))
    return hashlib.blake2b(joined.encode("utf-8", "replace"), digest_size=8).hexdigest()


def _judge(known: _Prefixes, calls: pa.Table, starts: list[int], tokens: bool) -> dict[int, _Judged]:
    """row -> (expected tokens, excess, row of the call that explains it), for calls with a count and a whole prompt."""
    import numpy as np

    from forensics.timeline.prefixes import GRID, bound

    # Whole tokens are known as such; a text's are taken for more rather than for fewer.
    share, least, whole = (0.0, 0, np.floor) if tokens else (_SHARE, _LEAST_EXCESS, np.ceil)
    received = _times(calls, "received_us")
    at = _times(calls, "at_us")
    own = _namespaces(calls)
    cached, prompt = _counts(calls, "cached_tokens"), _counts(calls, "prompt_tokens")
    retracted = calls["retracted"].to_numpy(zero_copy_only=False)
    row, place = known.row, known.place.astype(np.int64)
    order = np.lexsort((received[row], own[row], known.hash, place))
    row, place, hashes = row[order], place[order], known.hash[order]
    # Calls that share a beginning and a namespace stand together, the earliest first.
    fresh = np.ones(len(row), dtype=bool)
    fresh[1:] = (place[1:] != place[:-1]) | (hashes[1:] != hashes[:-1]) | (own[row[1:]] != own[row[:-1]])
    group = np.cumsum(fresh) - 1
    heads = np.flatnonzero(fresh)
    first = row[heads][group]
    seconds = np.minimum(heads + 1, len(row) - 1)
    second = np.where(np.diff(np.append(heads, len(row))) > 1, row[seconds], -1)[group]
    other = np.where(first != row, first, second)
    shared = (other >= 0) & (received[other] <= at[row]) & (GRID[place] <= known.prompt_bytes[row])
    reached = np.full(len(own), -1, dtype=np.int64)
    np.maximum.at(reached, row[shared], place[shared])
    found: dict[int, _Judged] = {}
    wanted: dict[int, float] = {}
    for i in np.flatnonzero(~np.isnan(cached) & (prompt > 0) & (known.prompt_bytes > 0)).tolist():
        size = int(known.prompt_bytes[i])
        expected = min(int(whole(bound(int(reached[i]), size) / size * prompt[i])), int(prompt[i]))
        if retracted[i]:
            found[i] = (expected, None, None)  # it may have found itself
            continue
        beyond = cached[i] - expected
        excess = int(beyond) if beyond > max(least, share * prompt[i]) else 0
        found[i] = (expected, excess, None)
        if excess:
            wanted[i] = max(0.0, cached[i] / prompt[i] - share) * size
    begun = np.array(sorted(starts), dtype=np.int64)
    # What the cache held when the log begins is not known.
    asked = {i: needed for i, needed in wanted.items() if len(begun) and begun[0] <= received[i]}
    for i, source in _explained(asked, row, place, hashes, own, received, at).items():
        found[i] = (found[i][0], found[i][1], source)
    return found


def _explained(
    asked: dict[int, float],
    row: np.ndarray[Any, Any],
    place: np.ndarray[Any, Any],
    hashes: np.ndarray[Any, Any],
    own: np.ndarray[Any, Any],
    received: np.ndarray[Any, Any],
    at: np.ndarray[Any, Any],
) -> dict[int, int]:
    """For a call and how many first bytes of it need explaining: the earliest call of another namespace that begins so.

    The beginnings are sorted by place and hash.
    """
    import numpy as np

    from forensics.timeline.prefixes import GRID

    by_row = np.argsort(row, kind="stable")
    rows = row[by_row]
    edges = np.flatnonzero((np.diff(place) != 0) | (np.diff(hashes) != 0)) + 1
    found: dict[int, int] = {}
    for i, needed in asked.items():
        mine = by_row[np.searchsorted(rows, i) : np.searchsorted(rows, i, side="right")]
        long = mine[GRID[place[mine]] >= needed]
        if not len(long):
            continue
        here = long[np.argmin(place[long])]
        block = int(np.searchsorted(edges, here, side="right"))
        same = row[edges[block - 1] if block else 0 : edges[block] if block < len(edges) else len(row)]
        same = same[(own[same] != own[i]) & (received[same] <= at[i])]
        if len(same):
            found[i] = int(same[np.lexsort((same, received[same]))[0]])
    return found


def _namespaces(calls: pa.Table) -> np.ndarray[Any, Any]:
    """The number of each call's namespace."""
    import numpy as np

    names = [
        namespace(*key)
        for key in zip(*(calls[name].to_pylist() for name in ("salt", "extra_key", "adapter")), strict=True)
    ]
    codes = {name: code for code, name in enumerate(sorted(set(names)))}
    return np.array([codes[name] for name in names], dtype=np.int64)


def _counts(calls: pa.Table, name: str) -> np.ndarray[Any, Any]:
    """A column of counts; NaN where there is none."""
    import numpy as np

    return np.asarray(calls[name].to_numpy(zero_copy_only=False), dtype=np.float64)


def _times(calls: pa.Table, name: str) -> np.ndarray[Any, Any]:
    """A column of times; a call without one came last of all: it explains nobody's hit."""
    import numpy as np
    import pyarrow.compute as pc

    return np.asarray(pc.fill_null(calls[name], np.iinfo(np.int64).max).to_numpy(), dtype=np.int64)


def _pieces(calls: pa.Table, reader: _Reader) -> Iterator[tuple[int, bytes, bytes]]:
    """(row, prompt, answer) of each call with a whole prompt, read in stretches."""
    rows_of = _rows_of(calls["request"].to_pylist())
    requests = sorted(rows_of)
    for start in range(0, len(requests), _PIECES):
        stretch = requests[start : start + _PIECES]
        for request, prompt, answer in reader(stretch[0], stretch[-1]):
            for row in rows_of.get(request, ()):
                yield row, prompt, answer


def _rows_of(requests: list[int]) -> dict[int, list[int]]:
    """The rows of each request: one that was on two workers has a row for each."""
    rows_of: dict[int, list[int]] = {}
    for row, request in enumerate(requests):
        rows_of.setdefault(request, []).append(row)
    return rows_of


def _read(calls: int, sent: Iterable[tuple[int, bytes, bytes]]) -> _Prefixes:
    """The beginnings of all prompts of so many calls, each followed by its answer: what the cache keeps of a call."""
    import numpy as np

    from forensics.timeline.prefixes import prefix_hashes

    sizes = np.zeros(calls, dtype=np.int64)
    parts: list[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any]]] = []
    held: list[bytes] = []
    held_rows: list[int] = []

    def flush() -> None:
        if not held:
            return
        offsets = np.concatenate(([0], np.cumsum([len(text) for text in held]))).astype(np.int64)
        texts, places, hashes = prefix_hashes(np.frombuffer(b"".join(held) + b"\0" * 8, dtype=np.uint8), offsets)
        parts.append((np.array(held_rows, dtype=np.int64)[texts], places, hashes))
        held.clear()
        held_rows.clear()

    for row, prompt, answer in sent:
        sizes[row] = len(prompt)
        held.append(prompt + answer)
        held_rows.append(row)
        if len(held) >= _PIECES:
            flush()
    flush()
    if not parts:
        empty = np.zeros(0, dtype=np.int64)
        return _Prefixes(empty, empty.astype(np.uint8), empty.astype(np.uint64), sizes)
    return _Prefixes(
        np.concatenate([part[0] for part in parts]),
        np.concatenate([part[1] for part in parts]),
        np.concatenate([part[2] for part in parts]),
        sizes,
    )


def _table(
    calls: pa.Table, rows: Any, judged: dict[int, _Judged], basis: str = _NONE, reasons: Sequence[str] = ()
) -> pa.Table:
    import pyarrow as pa

    taken = calls.take(rows)
    requests = calls["request"]
    told = [judged.get(i) for i in rows.tolist()]
    why = [reasons[i] for i in rows.tolist()] if reasons else ["no_events"] * len(told)
    bases = ["kv_events" if one == "used" else basis if t else _NONE for t, one in zip(told, why, strict=True)]
    keys = zip(*(taken[name].to_pylist() for name in ("salt", "extra_key", "adapter")), strict=True)
    return pa.table(
        {
            "request": taken["request"],
            "worker": taken["worker"],
            "at": taken["at_us"].cast(pa.timestamp("us")),
            "cached_tokens": taken["cached_tokens"],
            "expected_tokens": pa.array([t[0] if t else None for t in told], pa.int64()),
            "expected_basis": pa.array(bases, pa.string()),
            "excess_tokens": pa.array([t[1] if t else None for t in told], pa.int64()),
            "matched_request": pa.array(
                [requests[t[2]].as_py() if t and t[2] is not None else None for t in told], pa.int64()
            ),
            "own_namespace": pa.array([namespace(*key) for key in keys], pa.string()),
            "basis": taken["basis"],
            "kv_events": pa.array(why, pa.string()),
        }
    )
