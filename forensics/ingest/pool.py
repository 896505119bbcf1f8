"""Blocks to results, in this process or in several, always in order. The results do not depend on how many."""

from __future__ import annotations

import multiprocessing
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forensics.case.errors import LimitHit
from forensics.ingest.blocks import Oversized
from forensics.ingest.handover import Handed, read_and_hand, received, use_folder
from forensics.ingest.reader import Account
from forensics.ingest.worker import Block, BlockResult, forget, read_block

_MOST_WAITING = 100
# While the case compresses and writes a group of rows, which takes about a second, the processes read on: by so many
# blocks, unless lines are so long that blocks are, or the blocks are held here.
_AHEAD = 20
_AHEAD_BYTES = 80 << 20
Work = tuple[Account, Block | Oversized | None]


@dataclass(frozen=True)
class Done:
    """A block's result, a stretch passed over, or (neither) the end of a file."""

    account: Account
    result: BlockResult | None = None
    passed: Oversized | None = None


def results(work: Iterable[Work], workers: int, folder: Path, *, parallel: bool) -> Iterator[Done]:
    """The result of every piece of work, in order. Processes leave texts in `folder` until they are taken."""
    forget()
    if not parallel or workers < 2:
        for account, item in work:
            yield _done(account, item, None)
        forget()
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, context, use_folder, (folder,)) as pool:
        waiting: deque[tuple[Account, Block | Oversized | None, Future[Handed] | Done | None]] = deque()
        sizes: deque[int] = deque()
        running = ahead = 0
        try:
            for account, item in work:
                future: Future[Handed] | Done | None = None
                if isinstance(item, Block) and item.facts.sequential:
                    # Its reader remembers lines, so it stays in this process.
                    future = _done(account, item, None)
                elif isinstance(item, Block):
                    with _without_main():
                        future = pool.submit(read_and_hand, item)
                # Nothing but the future is kept: a block of a compressed file is megabytes.
                waiting.append((account, None if future else item, future))
                running += future is not None
                sizes.append(_size(item) if future is not None else 0)
                ahead += sizes[-1]
                # What needs no process goes on at once: a member of an archive lies on the disk until it has.
                while waiting and (
                    running > workers + (2 if ahead > _AHEAD_BYTES else _AHEAD)
                    or len(waiting) > _MOST_WAITING
                    or not isinstance(waiting[0][2], Future)
                ):
                    done = _next(waiting)
                    running -= done.result is not None
                    ahead -= sizes.popleft()
                    yield done
            while waiting:
                yield _next(waiting)
        except BrokenProcessPool:
            raise LimitHit(
                "a reading process was ended by the system, most likely for want of memory; "
                "read with one process (--threads 1)"
            ) from None
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _size(item: Block | Oversized | None) -> int:
    """What a block weighs in bytes; 0 of what needs no reading. Of a range of a file nothing is held here before it is
    read, and then less than its bytes: it weighs half.
    """
    if not isinstance(item, Block):
        return 0
    return item.length // 2 + len(item.data or b"") + sum(unit.size for unit in item.units or ())


@contextmanager
def _without_main() -> Iterator[None]:
    """A new process runs the calling script again, unless it finds none. It needs nothing of it, and a script without
    a guard, or one from standard input, would fail there.
    """
    main = vars(sys.modules["__main__"])
    saved: dict[str, Any] = {name: main[name] for name in ("__file__", "__spec__") if name in main}
    main.pop("__file__", None)
    main["__spec__"] = None
    try:
        yield
    finally:
        main.update(saved)


def _next(waiting: deque[tuple[Account, Block | Oversized | None, Future[Handed] | Done | None]]) -> Done:
    account, item, future = waiting.popleft()
    if isinstance(future, Done):
        return future
    return _done(account, item, future)


def _done(account: Account, item: Block | Oversized | None, future: Future[Handed] | None) -> Done:
    if future is not None:
        return Done(account, result=received(future.result()))
    if isinstance(item, Block):
        return Done(account, result=read_block(item))
    return Done(account, passed=item)
