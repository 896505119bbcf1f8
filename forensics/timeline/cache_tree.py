"""What does a prefix cache hold, by the events it published? The shadow of the engine's tree, as columns to look up in.

Media are not told apart: what the host holds is loaded back when a prompt asks for it. A block that was stored twice is
held until it was removed twice. Knows no calls: cache_events.py compares them. The hash of a block is SGLang's
(kv_events.py and mem_cache/events.py of 0.5.23); other forms (vLLM, Dynamo, SGLang up to 0.5.5) are not recomputed.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from forensics.case.store import Case

_SALTED = b"sglang-cache-salt-v1\0"
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Stream:
    """What one rank published. Per event: time (UTC microseconds), epoch (a flush or a start begins one), whether the
    whole tree is known after it, and whether it ever was. Per block of an event, sorted by `key`, which is the number
    of the hash times (events + 1) plus the event: how often the block is held afterwards. `stored`: keys of stores, and
    whether each came from below (from the host or a store beyond it, not computed).
    """

    at: Ints
    epoch: Ints
    known: Flags
    ever: Flags
    size: int | None  # tokens of a block; None: not one size, so another form of hashes
    hashes: Ints
    key: Ints
    count: Ints
    stored: Ints
    below: Flags

    def published(self, times: Ints, side: Any = "left") -> Ints:
        """How many events were published before each time; `right`: up to it."""
        return np.searchsorted(self.at, times, side)

    def number(self, hashes: Ints) -> Ints:
        """The number of each hash, -1 where the cache never held it."""
        place = np.minimum(np.searchsorted(self.hashes, hashes), len(self.hashes) - 1)
        return np.where(self.hashes[place] == hashes, place, -1)

    def held(self, numbers: Ints, events: Ints) -> Flags:
        """Whether each block is held after so many events (at least one)."""
        width = len(self.at) + 1
        place = np.searchsorted(self.key, numbers * width + events) - 1
        last = self.key[np.maximum(place, 0)]
        same = (place >= 0) & (numbers >= 0) & (last // width == numbers)
        here: Flags = same & (self.count[place] > 0) & (self.epoch[last % width] == self.epoch[events - 1])
        return here

    def stored_between(self, numbers: Ints, first: Ints, stop: Ints) -> tuple[Flags, Flags]:
        """Whether each block was stored by an event from `first` to before `stop`, and whether from below at first."""
        begin = numbers * (len(self.at) + 1)
        place = np.searchsorted(self.stored, begin + first)
        found = (np.searchsorted(self.stored, begin + stop) > place) & (numbers >= 0)
        return found, found & self.below[np.minimum(place, len(self.stored) - 1)]


def read(case: Case) -> list[Stream]:
    """The streams of the case; none where nobody recorded events."""
    if not case.count("kv_events"):
        return []
    rows = case.arrow("timeline/kv_events").combine_chunks()
    edges = [0, *(np.flatnonzero(np.diff(rows["stream"].to_numpy())) + 1).tolist(), rows.num_rows]
    return [stream_of(rows.slice(first, stop - first)) for first, stop in pairwise(edges) if stop > first]


def stream_of(rows: Any) -> Stream:
    """The stream of a table `at_us, seq, kind, block_size, medium, parent, blocks` of one rank, in order."""
    import pyarrow.compute as pc

    at = np.maximum.accumulate(rows["at_us"].to_numpy())
    kind = np.asarray(rows["kind"].to_pylist())
    seq = np.asarray(pc.fill_null(rows["seq"], -1).to_numpy(), dtype=np.int64)
    numbered = np.maximum.accumulate(np.where(seq >= 0, np.arange(len(seq)), -1))
    last = np.where(numbered >= 0, seq[numbered], -1)
    before = np.concatenate(([-1], last[:-1]))
    changed = (seq >= 0) & (seq != before)
    start = changed & (seq == 0)
    gap = changed & ~start & (before >= 0) & (seq != before + 1)
    clear = start | (kind == "cache_flush")
    epoch = np.cumsum(clear)
    lists = rows["blocks"].combine_chunks()
    counts = np.asarray(pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False), dtype=np.int64)
    blocks = np.asarray(lists.flatten().to_numpy(), dtype=np.int64)
    event = np.repeat(np.arange(len(at)), counts)
    delta = np.where(kind == "blocks_stored", 1, np.where(kind == "blocks_removed", -1, 0))[event]
    # A block that follows another says that the other is held.
    parents = np.flatnonzero((kind == "blocks_stored") & np.asarray(rows["parent"].is_valid().to_numpy(False)))
    linked = np.asarray(rows["parent"].take(parents).to_numpy(), dtype=np.int64)
    hashes, number = np.unique(np.concatenate((linked, blocks)), return_inverse=True)
    event, delta = np.concatenate((parents, event)), np.concatenate((np.zeros(len(linked), dtype=np.int64), delta))
    key = number.astype(np.int64) * (len(at) + 1) + event
    order = np.argsort(key, kind="stable")
    key, event, delta = key[order], event[order], delta[order]
    stores = np.flatnonzero(delta == 1)
    below = ~np.isin(np.asarray(pc.fill_null(rows["medium"], "GPU").to_pylist()), ("GPU",))
    count, missed = _counted(number[order], epoch[event], delta)
    lost = np.zeros(len(at), dtype=bool)
    lost[event[missed]] = True
    marks = np.where(clear, 1, np.where(gap | lost, -1, 0))
    latest = np.maximum.accumulate(np.where(marks != 0, np.arange(len(at)), -1))
    known = (latest >= 0) & (marks[latest] == 1)
    sizes = np.unique(pc.drop_null(rows["block_size"].filter(pc.equal(rows["kind"], "blocks_stored"))).to_numpy())
    return Stream(
        at, epoch, known, np.logical_or.accumulate(known), int(sizes[0]) if len(sizes) == 1 and sizes[0] > 0 else None,
        hashes, key, count, key[stores], below[event[stores]],
    )  # fmt: skip


@numba.njit(cache=True, nogil=True)
def _counted(number: Any, epoch: Any, delta: Any) -> Any:
    """How often each block is held after each of its events, and which events need a block that is not held."""
    count = np.zeros(len(number), dtype=np.int64)
    missed = np.zeros(len(number), dtype=np.bool_)
    for i in range(len(number)):
        held = count[i - 1] if i and number[i] == number[i - 1] and epoch[i] == epoch[i - 1] else 0
        missed[i] = delta[i] <= 0 and held == 0
        count[i] = max(0, held + delta[i])
    return count, missed


def chain(tokens: npt.NDArray[np.int32], salt: str, size: int) -> Ints:
    """The hashes that the engine publishes for the whole blocks of a prompt; one SHA-256 each.

    Each is over the hash before it and the block's tokens (0.5.6 on); the first begins with the salt (0.5.18 on). An
    event shows the first eight bytes.
    """
    data = tokens.astype("<u4").tobytes()
    before = hashlib.sha256(_SALTED + salt.encode("utf-8", "replace")).digest() if salt else b""
    found = bytearray()
    for first in range(0, len(tokens) // size * size * 4, size * 4):
        before = hashlib.sha256(before + data[first : first + size * 4]).digest()
        found += before[:8]
    return np.frombuffer(bytes(found), dtype=">i8").astype(np.int64)
