"""How does a plan run? Trial by trial, arms interleaved, on the servers that the arms need; stopped, it goes on later.

Plays what is missing and keeps it (`records`), nothing else: the judgement is `judge`'s. The order of trials is a
seeded permutation within each round of trials, the same for every resume. Servers that differ in flags come one
after the other.
"""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from forensics.case.errors import LimitHit, UsageError
from forensics.replay import bodies
from forensics.replay.address import Address, address
from forensics.replay.client import Client, Gone
from forensics.replay.facts import Facts
from forensics.replay.plan import Arm, Plan
from forensics.replay.records import FAILED, Book
from forensics.replay.replies import Nonsense
from forensics.replay.scene import Busy, Pace, Scene
from forensics.replay.servers import Need, NotStarted, command, differences, started, told, unmet

Progress = Callable[[str, int, int], None]
BACK_SECONDS = 20.0  # how long a server that went away may take to come back by itself
RESTARTS = 2  # how often a server of our own is started again, or a trial played again on one that came back


@dataclass(frozen=True)
class Options:
    """How to run. `server`, `fixed_server`: URLs. `template`: command of a server of our own. `arms`, `fragments`:
    only these (empty: all). `trials`: per arm instead of the plan's. `speed`: planned times are divided by it.
    `seconds`: the longest one request may take. `fresh`: put earlier trials aside."""

    server: str | None = None
    template: str | None = None
    fixed_server: str | None = None
    allow_remote: bool = False
    arms: tuple[str, ...] = ()
    fragments: tuple[str, ...] = ()
    trials: int | None = None
    speed: float = 1.0
    seconds: float = 120.0
    boot_seconds: float = 900.0
    fresh: bool = False


@dataclass(frozen=True)
class Done:
    """What came of a run. `skipped`: reason by (fragment, arm). `notes`: sentences about servers and what they could
    not be told."""

    trials: int
    skipped: dict[tuple[str, str], str]
    notes: tuple[str, ...]


Job = tuple[Arm, int]


def run(
    plan: Plan,
    texts: Mapping[str, str],
    folder: Path,
    restricted: Path,
    options: Options,
    progress: Progress | None = None,
) -> Done:
    """Run what is missing of `plan`. `folder` and `restricted` are those of the plan in its case.

    Raises UsageError for options that cannot work, LimitHit where a server went away or never became idle; what was
    played until then is kept, and the same call goes on from there.
    """
    if set(options.arms) - {arm.name for arm in plan.arms}:
        raise UsageError(f"an arm of the plan is one of {', '.join(sorted({arm.name for arm in plan.arms}))}")
    jobs = ordered(plan, options)
    if not jobs:
        raise UsageError("no fragment of these has such an arm; plan.json lists them")
    if options.server is None and options.template is None:
        raise UsageError("a replay needs --server URL or --server-template COMMAND")
    if options.speed <= 0 or options.seconds <= 0:
        raise UsageError("--speed and --seconds must be more than 0")
    if options.template is not None:
        command(options.template, (), 1)
    given = {
        name: None if url is None else address(url, allow_remote=options.allow_remote)
        for name, url in (("server", options.server), ("fixed", options.fixed_server))
    }
    trials, responses, pace = folder / "trials.jsonl", restricted / "responses.jsonl", folder / "run.json"
    with Book.open(trials, responses, (trials, responses, pace) if options.fresh else ()) as book:
        _same_pace(pace, book, options)
        runner = _Runner(plan, texts, restricted, options, book, given["server"], given["fixed"], progress)
        return asyncio.run(runner.all(jobs))


def ordered(plan: Plan, options: Options) -> list[Job]:
    """Every trial to play, in order: rounds of one trial of each arm, shuffled by the plan's seed."""
    leaks = [_leak(plan, one) for one in options.fragments]
    wanted = [
        arm for arm in plan.arms if (not options.arms or arm.name in options.arms) and (not leaks or arm.leak in leaks)
    ]
    jobs: list[Job] = []
    for trial in range(max((options.trials or arm.trials for arm in wanted), default=0)):
        this_round = [(arm, trial) for arm in wanted if trial < (options.trials or arm.trials)]
        random.Random(f"{plan.seed}|{plan.plan_id}|{trial}").shuffle(this_round)  # noqa: S311 (an order, no secret)
        jobs += this_round
    return jobs


def _leak(plan: Plan, given: str) -> str:
    """The one fragment of the plan whose id is, or uniquely starts with, `given`."""
    fits = [leak.fragment_id for leak in plan.leaks if leak.fragment_id.startswith(given)]
    if given not in fits and len(fits) != 1:
        raise UsageError("a --fragment is not one of the plan's, or begins as several do; plan.json lists them")
    return given if given in fits else fits[0]


class _Runner:
    def __init__(
        self,
        plan: Plan,
        texts: Mapping[str, str],
        restricted: Path,
        options: Options,
        book: Book,
        server: Address | None,
        fixed: Address | None,
        progress: Progress | None,
    ) -> None:
        self._plan, self._texts, self._restricted, self._options = plan, texts, restricted, options
        self._book, self._server, self._fixed, self._progress = book, server, fixed, progress
        self._pace = Pace(options.speed, options.seconds)
        self._skipped: dict[tuple[str, str], str] = {}
        self._notes: dict[str, None] = {}
        self._played = 0

    async def all(self, jobs: Sequence[Job]) -> Done:
        groups: dict[Need, list[Job]] = {}
        for job in sorted(jobs, key=lambda job: not Need.of(job[0]).plain):  # stable: the order within stays
            groups.setdefault(Need.of(job[0]), []).append(job)
        self._total = len(jobs)
        with_plain = any(need.plain for need in groups)
        self._tell()
        for number, (need, mine) in enumerate(groups.items()):
            missing = self._missing(mine)
            self._total -= len(mine) - len(missing)
            if missing:
                await self._group(need, missing, with_plain, number)
        return Done(self._played, self._skipped, tuple(self._notes))

    async def _group(self, need: Need, jobs: list[Job], with_plain: bool, number: int) -> None:
        """The trials that one server takes."""
        if need.fixed:
            if self._fixed is None:
                return self._skip(jobs, "needs the fixed build: give --fixed-server URL")
            return await self._given(self._fixed, jobs)
        if self._server is not None and need.plain:
            return await self._given(self._server, jobs)
        # Variables cannot be asked for.
        if self._server is not None and not need.environment and not unmet(await self._facts(self._server), need.flags):
            if not with_plain:
                return await self._given(self._server, jobs)
            return self._skip(jobs, "the server has this setting already, so the arm tests nothing")
        if self._options.template is None:
            wanted = " ".join((*need.flags, *(f"{name}={value}" for name, value in need.environment)))
            return self._skip(jobs, f"needs a server with {wanted}: give --server-template COMMAND")
        await self._own(need, jobs, number)

    async def _given(self, where: Address, jobs: list[Job]) -> None:
        """Trials on a server that somebody else runs."""
        async with Client(where, self._options.seconds) as client:
            facts = await self._facts(where)
            self._check_same(jobs, told(facts, where.shown))
            for job in self._playable(jobs, facts):
                for _ in range(1 + RESTARTS):
                    try:
                        await self._play(client, facts, job, where.shown)
                        break
                    except Gone:
                        if not await self._back(client):
                            raise self._lost(where) from None
                else:
                    raise self._lost(where)

    def _lost(self, where: Address) -> LimitHit:
        return LimitHit(
            f"{where.shown} does not answer any more, {self._played} trials were played. "
            "Start it again with the same settings; the same command goes on from there"
        )

    async def _own(self, need: Need, jobs: list[Job], number: int) -> None:
        """Trials on a server that is started for them."""
        waiting = list(jobs)
        for _ in range(1 + RESTARTS):
            log = self._restricted / f"server-{number}.log"
            try:
                with ExitStack() as stack:
                    assert self._options.template is not None
                    url, process = stack.enter_context(
                        started(self._options.template, need.flags, dict(need.environment), log)
                    )
                    await self._on_own(url, process, need, waiting)
                    return
            except NotStarted as error:
                return self._skip(waiting, str(error))
            except Gone:
                waiting = self._missing(waiting)
        self._skip(waiting, "the server that was started for it ended again and again; its log is in restricted/")

    async def _on_own(self, url: str, process: subprocess.Popen[bytes], need: Need, jobs: list[Job]) -> None:
        async with Client(address(url), self._options.seconds) as client:
            end = time.monotonic() + self._options.boot_seconds
            while not await client.alive():
                if process.poll() is not None or time.monotonic() > end:
                    raise NotStarted("the server of --server-template did not start; its log is in restricted/")
                await asyncio.sleep(0.5)
            facts = await client.facts()
            missing = unmet(facts, need.flags)
            if missing:
                raise NotStarted(f"the server that was started does not have {', '.join(missing)} by its own word")
            where = "started from the template"
            self._check_same(jobs, told(facts, where))
            for job in self._playable(jobs, facts):
                await self._play(client, facts, job, where)

    async def _play(self, client: Client, facts: Facts, job: Job, where: str) -> None:
        """One trial, kept. Raises Gone where the server is: then the trial counts for nothing."""
        arm, trial = job
        server = told(facts, where)
        if arm.environment:
            server["environment"] = dict(arm.environment)
        try:
            played, texts = await Scene(client, facts, self._plan, arm, trial, self._texts, self._pace).play(server)
        except Busy:
            raise LimitHit(
                f"{where} did not become idle within {self._pace.flush_seconds:.0f} s: it has other traffic, or hangs. "
                "A replay needs a server of its own; the same command goes on from there"
            ) from None
        except Nonsense as error:
            raise LimitHit(f"{where} answers what SGLang does not: {error}; the trial was not kept") from None
        failed = any(one.outcome == FAILED for one in played.requests)
        if (failed or played.idle is False) and not await client.alive():
            raise Gone
        if played.idle is False:
            self._notes[f"{where} was not empty after a trial"] = None
        self._book.add(played, texts)
        self._played += 1
        self._tell()

    # -- small things ----------------------------------------------------------------------------------------------

    def _missing(self, jobs: list[Job]) -> list[Job]:
        """The trials that were not played yet."""
        return [(arm, trial) for arm, trial in jobs if (arm.leak, arm.name, trial) not in self._book.done]

    def _playable(self, jobs: list[Job], facts: Facts) -> list[Job]:
        """The trials that this server can take, noting what it cannot be told."""
        for sentence in (*differences(facts, self._plan), *bodies.unsaid(self._plan.requests, facts)):
            self._notes[sentence] = None
        if not facts.pauses:
            paused = [job for job in jobs if job[0].scene == "paused"]
            self._skip(paused, "this release cannot pause without aborting everything")
            return [job for job in jobs if job[0].scene != "paused"]
        return jobs

    def _check_same(self, jobs: list[Job], server: dict[str, Any]) -> None:
        """Trials of one arm must not come from different servers."""
        arms = {(arm.leak, arm.name) for arm, _ in jobs}
        kept = {t.server.get("digest") for t in self._book.done.values() if (t.fragment_id, t.arm) in arms}
        if kept - {server["digest"]}:
            raise UsageError(
                "earlier trials of these arms were played on a server of another version, model or setting; "
                "use that one, or --fresh to put them aside and begin again"
            )

    async def _facts(self, where: Address) -> Facts:
        async with Client(where, self._options.seconds) as client:
            try:
                return await client.facts()
            except Gone:
                raise LimitHit(f"{where.shown} does not answer; start the server and try again") from None
            except Nonsense as error:
                raise UsageError(f"{where.shown} is no SGLang server: {error}") from None

    async def _back(self, client: Client) -> bool:
        end = time.monotonic() + BACK_SECONDS
        while time.monotonic() < end:
            if await client.alive():
                return True
            await asyncio.sleep(0.5)
        return False

    def _skip(self, jobs: Sequence[Job], reason: str) -> None:
        for arm, _ in jobs:
            self._skipped[arm.leak, arm.name] = reason
        self._total -= len(jobs)
        self._tell()

    def _tell(self) -> None:
        if self._progress is not None:
            self._progress("replay: trials", self._played, self._total)


def _same_pace(path: Path, book: Book, options: Options) -> None:
    """A run that goes on must go on at the same speed."""
    now = {"speed": options.speed, "seconds": options.seconds}
    if path.exists() and book.done:
        try:
            before = orjson.loads(path.read_bytes())
        except orjson.JSONDecodeError:
            before = None
        if before != now:
            raise UsageError("earlier trials were played with other --speed or --seconds; give those, or --fresh")
        return
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(orjson.dumps(now) + b"\n")
