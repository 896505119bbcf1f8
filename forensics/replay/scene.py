"""How is one trial played? The requests of an arm, in the shape the plan gives, against a server that is empty.

    washout, flush, [pause] requests [continue], stop what is left, flush

Nothing is left behind, whatever happens in between, an interruption included: what runs is aborted by its id, a pause
ends, the cache is emptied. Judges nothing.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from forensics.replay import bodies
from forensics.replay.client import Client, Gone
from forensics.replay.facts import Facts
from forensics.replay.plan import Arm, Plan, PlannedRequest
from forensics.replay.records import CANCELLED, FAILED, FINISHED, HUNG, REFUSED, SCHEMA, Exchange, Trial, digest
from forensics.replay.replies import Nonsense, Reply

SETTLE = 0.25  # seconds between the last request of a paused scene and the end of the pause
SENDING = 5.0  # seconds that a request may take to be on its way before the next one starts
NOTICED = 0.05  # seconds until an engine has let go of a request that was aborted
POLL = 0.5  # seconds between two looks at what still runs
HANGS = 6.0  # seconds that a request waits whose twin of the same id was answered
CLEANING = 30.0  # seconds to bring a server back after an interruption


@dataclass(frozen=True)
class Pace:
    """`speed`: all planned times are divided by it. `seconds`: the longest one request may take.
    `flush_seconds`: the longest wait for a server that is busy with something else."""

    speed: float = 1.0
    seconds: float = 120.0
    flush_seconds: float = 60.0


class Busy(Exception):
    """The server did not become empty."""


@dataclass
class _Running:
    one: PlannedRequest
    rid: str
    reply: Reply
    sent: float = 0.0
    done: float = 0.0
    cancelled: bool = False
    hung: bool = False
    late: bool = False
    task: asyncio.Task[None] | None = None
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def answered(self) -> bool:
        return bool(self.done) and not (self.cancelled or self.hung or self.late)


class Scene:
    """One trial of one arm."""

    def __init__(
        self, client: Client, facts: Facts, plan: Plan, arm: Arm, trial: int, texts: Mapping[str, str], pace: Pace
    ) -> None:
        self._client, self._facts, self._plan, self._arm, self._trial = client, facts, plan, arm, trial
        self._texts, self._pace = texts, pace
        self._seed = bodies.trial_seed(plan, arm.leak, trial)
        ids = bodies.request_ids(plan, arm, trial)
        self._all = [_Running(plan.request(key), ids[key], Reply()) for key in arm.requests]
        self._order: list[str] = []
        self._began = 0.0
        self._paused = False

    async def play(self, server: dict[str, Any]) -> tuple[Trial, list[str]]:
        """The trial and the texts that came back. Raises Gone where the server is, Busy where it is not ours alone."""
        washed = await self._wash()
        if not await self._client.flush(self._pace.flush_seconds):
            raise Busy
        self._began = time.monotonic()
        try:
            await {"timed": self._timed, "paused": self._in_one_batch, "sequential": self._sequential}[
                self._arm.scene
            ]()
        finally:
            # Shielded: a second Ctrl-C does not leave a server behind that is paused or full.
            idle = await asyncio.shield(asyncio.ensure_future(self._clean()))
        for fault in filter(None, map(_fault, self._all)):
            raise fault
        exchanges = tuple(self._exchange(one) for one in self._all)
        texts = [washed, *(one.reply.text for one in self._all)]
        trial = Trial(
            SCHEMA, self._arm.leak, self._arm.name, self._trial, self._seed, server, tuple(self._order), exchanges,
            digest(washed), idle, round(1000 * (time.monotonic() - self._began)),
        )  # fmt: skip
        return trial, texts

    # -- the three shapes ------------------------------------------------------------------------------------------

    async def _timed(self) -> None:
        """Arrivals at the planned distances, in the planned order, cancels after the planned time or tokens.

        What had ended before a request came has ended before it comes, on an engine of any speed; those after it are
        as much later. Each is on its way before the next one starts, so that they arrive as they were sent.
        """
        by_key = {one.one.key: one for one in self._all}
        ordered = sorted(self._all, key=lambda one: one.one.at_ms)
        due, before = time.monotonic(), ordered[0].one.at_ms
        for one in ordered:
            due += (one.one.at_ms - before) / 1000 / self._pace.speed
            before = one.one.at_ms
            await asyncio.sleep(max(due - time.monotonic(), 0))
            # Of those of the same millisecond some may come later in the order: they are not waited for.
            for former in (by_key[key] for key in one.one.after if key in by_key and by_key[key].task is not None):
                await self._until_ended(former)
                if former.cancelled:
                    await asyncio.sleep(former.done + NOTICED - time.monotonic())
            due = max(due, time.monotonic())
            one.task = asyncio.create_task(self._one(one))
            await _within(SENDING, one.reply.sent)
        await self._ends()

    async def _in_one_batch(self) -> None:
        """All requests wait before the server while it is paused, and go into one batch when it continues."""
        self._paused = True  # from the moment on that it may be
        await self._client.pause()
        go = asyncio.Event()
        for one in self._all:
            one.task = asyncio.create_task(self._one(one, go))
            await _within(SENDING, one.reply.sent)
        await asyncio.sleep(SETTLE)
        await self._client.resume()
        self._paused = False
        go.set()
        await self._ends()

    async def _sequential(self) -> None:
        """One after the other."""
        for one in self._all:
            one.task = asyncio.create_task(self._one(one))
            await asyncio.wait([one.task])

    # -- one request -----------------------------------------------------------------------------------------------

    async def _one(self, one: _Running, go: asyncio.Event | None = None) -> None:
        try:
            await self._send(one, go)
        finally:
            one.done = time.monotonic()
            one.ended.set()

    async def _send(self, one: _Running, go: asyncio.Event | None) -> None:
        path, body = bodies.body(one.one, self._texts, one.rid, self._seed, self._facts)
        self._order.append(one.one.key)
        one.sent = time.monotonic()
        if one.one.abort_ms is not None and one.one.abort_tokens:
            body["stream"], one.reply.enough = True, one.one.abort_tokens  # seen only in a stream
        sending = asyncio.create_task(self._client.exchange(path, body, one.reply, incremental=self._facts.incremental))
        reached = asyncio.create_task(one.reply.reached.wait())
        try:
            limit, leaves = self._pace.seconds, one.one.abort_ms is not None
            if leaves and go is not None:
                await go.wait()
            if one.one.abort_ms is not None and one.reply.enough is None:
                limit = min(one.one.abort_ms / 1000 / self._pace.speed, limit)
            await asyncio.wait([sending, reached], timeout=limit, return_when=asyncio.FIRST_COMPLETED)
            if not sending.done():
                in_time = reached.done() or one.reply.enough is None
                one.cancelled, one.late = leaves and in_time, not (leaves and in_time)
        finally:
            reached.cancel()
            if not sending.done():
                sending.cancel()  # closes the connection: the server sees that its client went away
            with suppress(asyncio.CancelledError):
                await sending
        if one.cancelled:
            # What the server does itself when it sees that its client went away; so it has seen it by now.
            with suppress(Nonsense):
                await self._client.abort(one.rid)

    async def _ends(self) -> None:
        """Until all have ended, or the server is gone."""
        tasks = {one.task: one for one in self._all if one.task is not None}
        waiting = set(tasks)
        while waiting:
            ended, waiting = await asyncio.wait(waiting, timeout=POLL, return_when=asyncio.FIRST_COMPLETED)
            for task in waiting:
                self._give_up(tasks[task])
            if any(_fault(tasks[task]) for task in ended):
                return

    async def _until_ended(self, one: _Running) -> None:
        while not one.ended.is_set():
            await _within(POLL, one.ended)
            self._give_up(one)

    def _give_up(self, one: _Running) -> None:
        """End a request whose twin of the same id was answered a while ago: it will not be."""
        if one.task is None or one.task.done() or one.hung:
            return
        twins = [other for other in self._all if other.rid == one.rid and other is not one and other.answered]
        if twins and time.monotonic() - max(twin.done for twin in twins) > HANGS:
            one.hung = True
            one.task.cancel()

    # -- before and after ------------------------------------------------------------------------------------------

    async def _wash(self) -> str:
        reply = Reply()
        path, body = bodies.washout(bodies.washout_id(self._plan, self._arm, self._trial))
        await self._client.exchange(path, body, reply)
        return reply.text

    async def _clean(self) -> bool | None:
        """Stop what still runs, end a pause, empty the cache; whether the server is empty."""
        with suppress(TimeoutError, Gone, Nonsense):
            async with asyncio.timeout(CLEANING + self._pace.flush_seconds):
                for one in self._all:
                    if one.task is None or one.task.done():
                        continue
                    one.task.cancel()
                    with suppress(asyncio.CancelledError, Gone):
                        await one.task
                    one.late = one.late or not one.hung
                if self._paused:
                    await self._client.resume()
                    self._paused = False
                left = sorted({one.rid for one in self._all if not one.answered or one.reply.error})
                end = time.monotonic() + self._pace.flush_seconds
                flushed = False
                while not flushed and time.monotonic() < end:
                    # Again and again: one that waited before the engine during a pause comes in after the first time.
                    for rid in left:
                        await self._client.abort(rid)
                    flushed = await self._client.flush(min(1.0, self._pace.flush_seconds))
                running = await self._client.running()
                return flushed if running is None else flushed and running == 0
        return False

    def _exchange(self, one: _Running) -> Exchange:
        reply = one.reply
        error = reply.error
        if one.hung:
            outcome = HUNG
        elif one.cancelled:
            outcome = CANCELLED
        elif reply.status is not None and reply.status != 200:
            outcome = REFUSED
        elif one.late or error or reply.finish is None:
            outcome, error = FAILED, error or ("timeout" if one.late else "unfinished")
        else:
            outcome = FINISHED
        text = reply.text
        return Exchange(
            one.one.key, one.rid, outcome, reply.finish, reply.status, error, reply.prompt_tokens,
            reply.completion_tokens, reply.cached_tokens, self._ms(one.sent),
            None if reply.first_ms is None else self._ms(one.sent) + round(reply.first_ms), self._ms(one.done),
            digest(text), len(text),
        )  # fmt: skip

    def _ms(self, moment: float) -> int:
        return max(round(1000 * (moment - self._began)), 0)


async def _within(seconds: float, event: asyncio.Event) -> None:
    """Wait for the event, and no longer than that. `asyncio.wait_for` of Python 3.11 loses an interruption that comes
    together with the event.
    """
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()


def _fault(one: _Running) -> BaseException | None:
    if one.task is None or not one.task.done() or one.task.cancelled():
        return None
    return one.task.exception()
