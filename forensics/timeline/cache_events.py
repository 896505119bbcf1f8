"""Was more of a prompt taken from the prefix cache than the cache, by its own events, held in the call's namespace?

A block counts that was published before the call arrived and not removed by then. Events are late by a batch: a block
counts also that was published up to the first batch after the call's first pass, if another call of the namespace had
sent it that began before this one and ran when the last batch before was published; the call's own blocks are published
then too. A call is tied to a
stream by its own prompt's last block, which is stored there while the call runs, never by names. Does not judge what
the events do not cover, and says why not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from forensics.timeline.cache_tree import Flags, Ints, Stream, chain
from forensics.timeline.prefixes import token_hashes

NEVER = np.iinfo(np.int64).max  # the time of what is not known
_MOST_SIZES = 8  # of blocks: every prompt is hashed once for each
Pieces = Iterable[tuple[int, bytes, bytes]]  # row, tokens of the prompt, tokens of the answer: four bytes each


@dataclass(frozen=True)
class Facts:
    """The calls of a worker; aligned arrays, times in UTC microseconds by the engine's own record."""

    received: Ints
    earliest: Ints  # the first pass, else the arrival: nothing of the call is stored before
    latest: Ints  # the first pass, else first token or finish: the cache was asked by then
    finished: Ints
    own: Ints  # number of the namespace
    salts: Sequence[str]
    keyed: Flags  # declares an extra key or an adapter, which the hash does not hold
    adapter: Flags
    cached: npt.NDArray[np.float64]  # NaN: not told
    prompt: npt.NDArray[np.float64]
    whole: bool  # the tokens of every prompt of the worker are known


@dataclass(frozen=True)
class Verdict:
    """A call that events judge: the longest match in tokens, what was cached beyond it, and the row of the call of
    another namespace that had stored the whole stretch."""

    expected: int
    excess: int
    source: int | None


@dataclass(frozen=True)
class _Blocks:
    """The whole blocks of the calls whose tokens are known, prompt and answer in one, end to end."""

    size: int
    starts: Ints  # per row and one more
    prompts: Ints  # per row: blocks of the prompt; 0: not known
    open: Flags  # per row: the tokens of the answer are not known
    row: Ints
    chain: Ints  # the hash that the engine publishes
    plain: Ints  # equal where all tokens so far are, whatever the salt
    order: Ints  # the blocks by hash and time of arrival


def judge(
    streams: Sequence[Stream], pieces: Callable[[], Pieces], facts: Facts
) -> tuple[dict[int, Verdict], list[str]]:
    """The rows that events judge, and for each row `used` or why they do not:

    no_count, tokens_unknown, adapter, other_worker (tied to no stream), hash_form_unknown, before_recording,
    after_recording, end_unknown (when it was cut off is not logged), began_warm (what the cache held when the recording
    began is not known), gap, key_not_in_hash (the match is an upper limit, and was not exceeded), same_step (published
    too late to be told from the call's own).
    """
    found: dict[int, Verdict] = {}
    reasons = np.full(len(facts.own), "other_worker", dtype=object)
    salted = np.array([bool(salt) for salt in facts.salts], dtype=bool)
    known = np.zeros(len(reasons), dtype=bool)
    for size in sorted({stream.size for stream in streams if stream.size is not None})[:_MOST_SIZES]:
        blocks = _blocks(pieces(), facts, size, facts.salts)
        known |= blocks.prompts > 0
        here = [stream for stream in streams if stream.size == size]
        ties = np.array([_tied(stream, blocks, facts) for stream in here])
        plain: _Blocks | None = None
        if salted.any() and not ties[:, salted].any():
            # Up to 0.5.17 the salt is part of the extra key, which no hash holds.
            plain = _blocks(pieces(), facts, size, [""] * len(salted))
            again = np.array([_tied(stream, plain, facts) for stream in here])
            ties, blocks, plain = (again, plain, plain) if again[:, salted].any() else (ties, blocks, None)
        limited = _limited(facts) if plain is None else np.ones(len(salted), dtype=bool)
        for number, rows in _assigned(ties):
            proven = np.array([ties[number, salted == kind].any() for kind in (False, True)])[salted[rows].astype(int)]
            reasons[rows] = np.where(proven, "used", "hash_form_unknown")
            rows = rows[proven & (blocks.prompts[rows] > 0) & (facts.prompt[rows] > 0) & ~np.isnan(facts.cached[rows])]
            there = np.delete(ties, number, axis=0).any(axis=0) & ~ties[number]  # runs elsewhere, and stores there
            finished = np.where(there, 0, facts.finished)
            rows = rows[~facts.adapter[rows]]
            found |= _judged(here[number], blocks, replace(facts, finished=finished), rows, limited, reasons)
    reasons[~known] = "tokens_unknown"
    reasons[facts.adapter] = "adapter"
    reasons[np.isnan(facts.cached)] = "no_count"
    if not known.any() and all(stream.size is None for stream in streams):
        reasons[~np.isnan(facts.cached)] = "hash_form_unknown"
    return found, reasons.tolist()


def _blocks(pieces: Pieces, facts: Facts, size: int, salts: Sequence[str]) -> _Blocks:
    counts = np.zeros(len(facts.own), dtype=np.int64)
    prompts, open_end = np.zeros_like(counts), np.zeros(len(counts), dtype=bool)
    parts: dict[int, tuple[Ints, Ints]] = {}
    for row, prompt, answer in pieces:
        if len(prompt) // 4 != facts.prompt[row]:
            continue  # cut
        tokens = np.frombuffer(prompt + answer, dtype="<i4")
        parts[row] = chain(tokens, salts[row], size), token_hashes(tokens, size).view(np.int64)
        counts[row], prompts[row], open_end[row] = len(parts[row][0]), len(prompt) // 4 // size, not answer
    order = sorted(parts)
    joined = [np.concatenate([parts[row][k] for row in order] or [np.zeros(0, dtype=np.int64)]) for k in (0, 1)]
    rows = np.repeat(np.arange(len(counts)), counts)
    starts = np.concatenate(([0], np.cumsum(counts)))
    order_of_blocks = np.lexsort((facts.received[rows], joined[0]))
    return _Blocks(size, starts, prompts, open_end, rows, joined[0], joined[1], order_of_blocks)


@numba.njit(cache=True, nogil=True)
def _others(
    wanted: Any,
    since: Any,
    order: Any,
    hashes: Any,
    rows: Any,
    last: Any,
    received: Any,
    earliest: Any,
    latest: Any,
    finished: Any,
) -> Any:
    """Per wanted place in the order of blocks: whether another call that began before and ran after `since` had sent
    the block, and whether it is the last of such a call's prompt (`last`), whose answer is not known.
    """
    longest = 0
    for row in range(len(received)):
        longest = max(longest, finished[row] - received[row]) if finished[row] < NEVER else NEVER
    sent = np.zeros(len(wanted), dtype=np.bool_)
    ends = np.zeros(len(wanted), dtype=np.bool_)
    for i in range(len(wanted)):
        place = wanted[i]
        own = rows[order[place]]
        for step in (1, -1):
            k = place + step
            while 0 <= k < len(order) and hashes[order[k]] == hashes[order[place]] and not (sent[i] and ends[i]):
                row = rows[order[k]]
                if step > 0 and received[row] > latest[own]:
                    break
                if step < 0 and longest < NEVER and received[row] < since[i] - longest:
                    break
                if finished[row] >= since[i] and earliest[row] < latest[own]:
                    sent[i] = True
                    ends[i] = ends[i] or last[order[k]]
                k += step
    return sent, ends


def _stops(stream: Stream, times: Ints) -> tuple[Ints, Flags]:
    """Per time, the events up to the first batch at or after it; and whether there is such a batch."""
    first = stream.published(times)
    there = first < len(stream.at)
    return stream.published(stream.at[np.minimum(first, len(stream.at) - 1)], "right"), there


def _tied(stream: Stream, blocks: _Blocks, facts: Facts) -> Flags:
    """Per row, whether the last whole block of its prompt was stored in the stream while the call ran."""
    tied = np.zeros(len(facts.own), dtype=bool)
    rows = np.flatnonzero((blocks.prompts > 0) & (facts.received < NEVER))
    last = stream.number(blocks.chain[blocks.starts[rows] + blocks.prompts[rows] - 1])
    stop, _ = _stops(stream, facts.finished[rows])
    tied[rows], _ = stream.stored_between(last, stream.published(facts.received[rows]), stop)
    return tied


def _assigned(ties: npt.NDArray[np.bool_]) -> list[tuple[int, Ints]]:
    """(stream, rows): all rows where one stream has every tie of the worker, else those that are tied to one alone."""
    streams = np.flatnonzero(ties.any(axis=1))
    if len(streams) == 1:
        return [(int(streams[0]), np.arange(ties.shape[1]))]
    alone = ties.sum(axis=0) == 1
    return [(int(number), np.flatnonzero(ties[number] & alone)) for number in streams]


def _limited(facts: Facts) -> Flags:
    """Rows whose blocks look like those of calls with an extra key or an adapter, which no hash holds."""
    salts = {salt for salt, keyed in zip(facts.salts, facts.keyed, strict=True) if keyed}
    return np.array([salt in salts for salt in facts.salts], dtype=bool)


def _judged(
    stream: Stream, blocks: _Blocks, facts: Facts, rows: Ints, limited: Flags, reasons: npt.NDArray[Any]
) -> dict[int, Verdict]:
    """The rows that events judge; `reasons` of the others are set."""
    begin = stream.published(facts.received[rows])
    stop, there = _stops(stream, facts.latest[rows])
    holes = np.concatenate(([0], np.cumsum(~stream.known)))
    early, before = begin == 0, np.maximum(begin - 1, 0)
    missing = holes[stop] > holes[before]
    reasons[rows[missing]] = np.where(stream.ever[before[missing]], "gap", "began_warm")
    reasons[rows[~there]] = np.where(facts.latest[rows[~there]] < NEVER, "after_recording", "end_unknown")
    reasons[rows[early]] = "before_recording"
    covered = ~(missing | early) & there
    rows, begin, stop = rows[covered], begin[covered], stop[covered]
    if not len(rows):
        return {}
    sizes = blocks.prompts[rows]
    who = np.repeat(np.arange(len(rows)), sizes)
    offsets = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    place = np.arange(len(who)) - offsets[who]
    index = blocks.starts[rows][who] + place
    number = stream.number(blocks.chain[index])
    held = stream.held(number, begin[who])
    late, below = stream.stored_between(number, begin[who], stop[who])

    def reach(good: Flags) -> Ints:
        """How many first blocks of each row are good."""
        return np.minimum(np.minimum.reduceat(np.where(good, NEVER, place), offsets), sizes)

    places = np.empty(len(blocks.order), dtype=np.int64)
    places[blocks.order] = np.arange(len(places))
    last = np.zeros(len(places), dtype=bool)
    ends = np.flatnonzero(blocks.open & (blocks.prompts > 0))
    last[blocks.starts[ends] + blocks.prompts[ends] - 1] = True
    asked = np.flatnonzero((late & ~held) | np.isin(blocks.chain[index], blocks.chain[last]))
    times = stream.at[begin - 1][who[asked]]
    sent, unknown = (np.zeros(len(who), dtype=bool) for _ in range(2))
    sent[asked], unknown[asked] = _others(
        places[index[asked]], times, blocks.order, blocks.chain, blocks.row, last,
        facts.received, facts.earliest, facts.latest, facts.finished,
    )  # fmt: skip
    # What came from below was not computed for this call, and is there before its prefill.
    sure, most = reach(held | below | (late & sent)), reach(held | late)
    cached, prompt = facts.cached[rows], facts.prompt[rows]
    expected = np.minimum(sure * blocks.size, prompt - 1).astype(np.int64)  # one token is always computed
    excess = np.maximum(cached - expected, 0).astype(np.int64)
    # An answer whose tokens are not known may be what was stored late.
    ending = np.logical_or.reduceat(unknown & (place < most[who]), offsets)
    unsure = (excess > 0) & (most > sure) & (ending | (not facts.whole))
    reasons[rows[unsure]] = "same_step"
    upper = limited[rows] & (excess == 0)
    reasons[rows[upper]] = "key_not_in_hash"
    stands = np.flatnonzero(~unsure & ~upper)
    sources = _sources(stream, blocks, facts, rows[stands], excess[stands], begin[stands], stop[stands])
    return {
        int(rows[i]): Verdict(int(expected[i]), int(excess[i]), source)
        for i, source in zip(stands.tolist(), sources, strict=True)
    }


def _sources(
    stream: Stream, blocks: _Blocks, facts: Facts, rows: Ints, excess: Ints, begin: Ints, stop: Ints
) -> list[int | None]:
    """For rows with an excess, the earliest call of another namespace with all cached tokens, whose block was held."""
    if not excess.any():
        return [None] * len(rows)
    order = np.argsort(blocks.plain, kind="stable")
    sorted_plain = blocks.plain[order]
    found: list[int | None] = []
    for row, beyond, first, last in zip(rows.tolist(), excess.tolist(), begin, stop, strict=True):
        needed = min(-(-int(facts.cached[row]) // blocks.size), int(blocks.prompts[row]))
        if not beyond or not needed:
            found.append(None)
            continue
        value = blocks.plain[blocks.starts[row] + needed - 1]
        alike = order[np.searchsorted(sorted_plain, value) : np.searchsorted(sorted_plain, value, side="right")]
        others = blocks.row[alike]
        fits = (facts.own[others] != facts.own[row]) & (facts.received[others] <= facts.latest[row])
        number = stream.number(blocks.chain[alike])
        many = np.full(len(alike), 1)
        fits &= stream.held(number, many * first) | stream.stored_between(number, many * first, many * last)[0]
        others = others[fits]
        found.append(int(others[np.lexsort((others, facts.received[others]))[0]]) if len(others) else None)
    return found
