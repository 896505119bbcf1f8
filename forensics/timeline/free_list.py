"""Which rows an engine's free list would give, by replaying it over admissions and ends. Reads no log and no table.

The list is the one of SGLang's `ReqToTokenPool` (published packages 0.5.10 to 0.5.12, 0.5.15 to 0.5.18 and 0.5.23
compared): freed rows are appended; up to 0.5.17 rows are taken from the front, since 0.5.18 the last `n` are taken at
once and handed out in ascending place, so that who was admitted together matters. Row 0 is padding since 0.5.11.
Orders that the times leave open are not guessed: the rows that they touch are unsure from then on, wherever they come
round to, until the list is made anew.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Whole = npt.NDArray[np.int64]
    Flags = npt.NDArray[np.bool_]

# Times are printed to the millisecond: two of one moment differ by no more, with a little for the durations' rounding.
RESOLUTION_US = 1_020
_MOST_BACK_US = 50_000
_RESET, _FREE, _GIVE, _DOUBT = 0, 1, 2, 3


@dataclass(frozen=True)
class Pool:
    """A free list. `size` rows from `first` on; `policy` is `fifo` or `lifo`."""

    policy: str
    size: int
    first: int


@dataclass(frozen=True)
class Stays:
    """The stays of one process, aligned arrays. Times are UTC microseconds.

    `admitted` is when a call was taken, `waited` for how long it had been in line by then (microseconds), `done` when
    its row was freed; `line` orders the ends as the engine wrote them. `doubtful` stays were admitted more than once.
    """

    waited: Whole
    admitted: Whole
    done: Whole
    line: Whole
    doubtful: Flags


@dataclass(frozen=True)
class Replayed:
    """`slot` of each stay, -1 where the list had none; `sure`: no open order touches it."""

    slot: Whole
    sure: Flags


def replay(stays: Stays, pool: Pool, *, ordered: bool, resets: Whole, doubts: Whole) -> Replayed:
    """Give each stay its row.

    `ordered`: calls that were admitted together stand in the order in which they came; else that order is open.
    `resets` are times at which the list was made anew, `doubts` times after which it is not known any more.
    """
    import numpy as np

    count = len(stays.admitted)
    order = np.lexsort((stays.line, -stays.waited, stays.admitted))
    group, tied = _groups(stays, order, ordered)
    admitted = _group_starts(stays.admitted[order], group)
    ends, done = _ends(stays)
    # In doubt an end comes first: a pass is admitted, then launched, which takes longer than the rounding.
    moments = np.concatenate((resets, done, admitted + RESOLUTION_US, doubts))
    kinds = np.concatenate(
        (
            np.full(len(resets), _RESET),
            np.full(count, _FREE),
            np.full(count, _GIVE),
            np.full(len(doubts), _DOUBT),
        )
    )
    members = np.concatenate((np.full(len(resets), -1), ends, order, np.full(len(doubts), -1)))
    groups = np.concatenate((np.full(len(resets) + count, -1), group, np.full(len(doubts), -1)))
    sequence = np.lexsort((np.arange(len(moments)), kinds, moments))
    slot = np.full(count, -1, dtype=np.int64)
    sure = np.zeros(count, dtype=bool)
    state = _State(pool)
    waiting: list[int] = []
    current = -1
    tie = {int(stay) for stay in order[tied]} | {int(stay) for stay in np.flatnonzero(stays.doubtful)}
    for kind, member, number in zip(
        kinds[sequence].tolist(), members[sequence].tolist(), groups[sequence].tolist(), strict=True
    ):
        if waiting and (kind != _GIVE or number != current):
            state.give(waiting, slot, sure, tie)
            waiting = []
        if kind == _GIVE:
            waiting.append(member)
            current = number
        elif kind == _FREE:
            state.free(member, slot, sure)
        elif kind == _RESET:
            state.reset()
        else:
            state.known = False
    if waiting:
        state.give(waiting, slot, sure, tie)
    return Replayed(slot, sure)


def _ends(stays: Stays) -> tuple[Whole, Whole]:
    """Stays in the order in which their rows were freed, and when: the engine writes ends in that order.

    A time that goes back a little was rounded; where times go back far, the lines are not in the order of one process,
    and the times alone decide.
    """
    import numpy as np

    if not len(stays.done):
        return np.zeros(0, dtype=np.int64), stays.done
    ends = np.argsort(stays.line, kind="stable")
    done = stays.done[ends]
    latest = np.maximum.accumulate(done)
    if (latest - done > _MOST_BACK_US).any():
        ends = np.lexsort((stays.line, stays.done))
        latest = stays.done[ends]
    return ends, latest


class _State:
    """The list at one moment: entries are (row, whether its place in the list is known)."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._era = -1
        self._given: dict[int, int] = {}  # stay -> era in which it got its row
        self.reset()

    def reset(self) -> None:
        self._era += 1
        rows = range(self._pool.first, self._pool.first + self._pool.size)
        self._free: deque[tuple[int, bool]] = deque((row, True) for row in rows)
        self.known = True

    def give(self, stays: list[int], slot: Whole, sure: Flags, tie: set[int]) -> None:
        taken = min(len(stays), len(self._free))
        if taken < len(stays):
            self.known = False  # more calls than rows: an end is missing, or the pool is larger
        if self._pool.policy == "fifo":
            entries = [self._free.popleft() for _ in range(taken)]
        else:
            entries = [self._free.pop() for _ in range(taken)][::-1]
        for stay, (row, known) in zip(stays, entries, strict=False):
            slot[stay] = row
            sure[stay] = known and self.known and stay not in tie
            self._given[stay] = self._era

    def free(self, stay: int, slot: Whole, sure: Flags) -> None:
        if self._given.pop(stay, None) != self._era:
            return  # its row went with a list that was made anew, or it never had one
        self._free.append((int(slot[stay]), bool(sure[stay]) and self.known))


def _groups(stays: Stays, order: Whole, ordered: bool) -> tuple[Whole, Flags]:
    """The number of the pass that each stay, in `order`, was admitted to; and whose place in it is open."""
    import numpy as np

    admitted = stays.admitted[order]
    waited = stays.waited[order]
    group = np.zeros(len(order), dtype=np.int64)
    number, start = 0, None
    for i, moment in enumerate(admitted.tolist()):
        if start is None or moment - start > RESOLUTION_US:
            number += 1
            start = moment
        group[i] = number
    same = np.flatnonzero(np.diff(group) == 0) if len(order) else np.zeros(0, dtype=np.int64)
    if ordered:
        # All of a pass were taken at one moment: who waited longer came first. The same wait, as printed, is open.
        rearranged = np.lexsort((stays.line[order], -waited, group))
        order[:] = order[rearranged]
        waited = waited[rearranged]
        same = same[waited[same] == waited[same + 1]]
    tied = np.zeros(len(order), dtype=bool)
    tied[same] = True
    tied[same + 1] = True
    return group, tied


def _group_starts(admitted: Whole, group: Whole) -> Whole:
    """The latest admission of each stay's pass: all of a pass were admitted at one moment."""
    import numpy as np

    if not len(group):
        return admitted
    latest = np.full(int(group.max()) + 1, np.iinfo(np.int64).min)
    np.maximum.at(latest, group, admitted)
    return latest[group]
