"""A model of a continuous-batching engine: workers, slots, queues, prefix and host caches, connections, aborts.

Events come in time order from one heap. The engine knows no faults: at three places (admission, finish, restore) it
calls `Faults`, which looks at the state that the engine really has at that moment.
"""

from __future__ import annotations

import heapq
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from forensics.simulate.dice import Dice
from forensics.simulate.requests import Message, Request

CONNECTIONS = 3  # gateway connections per worker
HOST_PAGES = 160  # documents whose pages a worker's host cache keeps
_CACHED_QUESTIONS = 40


@dataclass(slots=True, eq=False)
class Page:
    """Cached pages of one message of one request, on a worker's host."""

    request: Request
    message: Message


@dataclass(slots=True, eq=False)
class Worker:
    """One scheduler. `free` is the list of free rows; `rows` says who holds each row, `last` who held it before."""

    number: int
    free: deque[int]
    rows: dict[int, Request] = field(default_factory=dict)
    last: dict[int, Request] = field(default_factory=dict)
    queue: deque[Request] = field(default_factory=deque)
    prefixes: OrderedDict[str, Request] = field(default_factory=OrderedDict)
    host: deque[Page] = field(default_factory=lambda: deque(maxlen=HOST_PAGES))
    streams: dict[int, Request] = field(default_factory=dict)
    answers: dict[int, Request] = field(default_factory=dict)


class Hooks(Protocol):
    """What the engine tells the faults."""

    def admitted(self, worker: Worker, request: Request, now: float) -> None:
        """`request` has just taken its row; `request.previous_in_slot` held it before."""

    def finished(self, worker: Worker, request: Request, now: float) -> None:
        """`request` is about to deliver its answer."""


class Engine:
    """Runs events until none is left.

    `slots` rows per worker, handed out last-in-first-out or first-in-first-out. Times are seconds. Prefill costs time
    for the tokens that no cache holds, decoding for every token, more when the batch is full.
    """

    def __init__(self, workers: int, slots: int, policy: str, dice: Dice, hooks: Hooks) -> None:
        self.workers = [Worker(number, deque(range(1, slots + 1))) for number in range(workers)]
        self._slots = slots
        self._lifo = policy == "lifo"
        self._dice = dice
        self._hooks = hooks
        self._events: list[tuple[float, int, Callable[[float, Any], None], Any]] = []
        self._sequence = 0
        self.answers: OrderedDict[str, Request] = OrderedDict()
        self.on_received: Callable[[Request], None] = lambda request: None
        self.on_done: Callable[[Request], None] = lambda request: None

    def at(self, time: float, action: Callable[[float, Any], None], subject: Any) -> None:
        """Do `action(time, subject)` at `time`."""
        self._sequence += 1
        heapq.heappush(self._events, (time, self._sequence, action, subject))

    def run(self) -> None:
        """Until the last event."""
        while self._events:
            time, _, action, subject = heapq.heappop(self._events)
            action(time, subject)

    def receive(self, request: Request, now: float) -> None:
        """A request arrives at its worker."""
        request.received = now
        worker = self.workers[request.worker]
        request.connection = self._dice.between(0, CONNECTIONS - 1)
        request.prompt_tokens = sum(_tokens(m.content or "") + 4 for m in request.messages)
        self.on_received(request)
        worker.queue.append(request)
        if self._dice.chance(0.1):
            self.at(now + self._dice.uniform(0.3, 7), self._abort, request)
        self._admit(worker, now)

    # -- events -----------------------------------------------------------------------------------------------

    def _admit(self, worker: Worker, now: float) -> None:
        while worker.queue and worker.free:
            request = worker.queue.popleft()
            slot = worker.free.pop() if self._lifo else worker.free.popleft()
            assert slot not in worker.rows
            worker.rows[slot] = request
            request.slot, request.admitted = slot, now
            request.previous_in_slot = worker.last.get(slot)
            self._match_prefix(worker, request)
            self._hooks.admitted(worker, request, now)
            written = sum(_tokens(text) for c in request.choices for text in _parts(c))
            request.completion_tokens = max(1, written)
            prefill = max(0, request.prompt_tokens - request.cached_tokens) / 6000
            decode = request.completion_tokens * (0.025 + 0.003 * len(worker.rows))
            self.at(now + 0.04 + prefill + decode, self._finish, request)

    def _match_prefix(self, worker: Worker, request: Request) -> None:
        """Cached tokens: the system prompt for its tenant, and earlier turns of the same conversation."""
        conversation = f"{request.session}"
        former = worker.prefixes.get(conversation)
        system = f"{request.tenant.name}/{hash_of(request.messages[0].content or '')}"
        cached = 0
        if former is not None:
            cached = sum(_tokens(m.content or "") + 4 for m in former.messages if m in request.messages)
            if request.received - former.received > 45:
                request.host_tokens = cached // 64 * 64
        elif system in worker.prefixes:
            cached = _tokens(request.messages[0].content or "")
        request.cached_tokens = min(cached // 64 * 64, request.prompt_tokens // 64 * 64)
        worker.prefixes[conversation] = request
        worker.prefixes[system] = request
        while len(worker.prefixes) > 400:
            worker.prefixes.popitem(last=False)

    def _finish(self, now: float, request: Request) -> None:
        if request.aborted:
            return
        worker = self.workers[request.worker]
        self._hooks.finished(worker, request, now)
        self._leave(worker, request, now)
        if request.stream:
            worker.streams[request.connection] = request
        worker.answers[request.connection] = request
        if request.key:
            self.answers[request.key + "/" + request.tenant.name] = request
            self.answers.move_to_end(request.key + "/" + request.tenant.name)
            while len(self.answers) > _CACHED_QUESTIONS:
                self.answers.popitem(last=False)
        self.on_done(request)
        self._admit(worker, now)

    def _abort(self, now: float, request: Request) -> None:
        if request.finished >= 0 or request.aborted:
            return
        request.aborted = True
        worker = self.workers[request.worker]
        if request.slot < 0:
            worker.queue.remove(request)
            request.finished = now
        else:
            self._leave(worker, request, now)
        self.on_done(request)
        self._admit(worker, now)

    def _leave(self, worker: Worker, request: Request, now: float) -> None:
        request.finished = now
        del worker.rows[request.slot]
        worker.last[request.slot] = request
        worker.free.append(request.slot)
        for message in request.messages:
            if message.private and not message.tainted:
                worker.host.append(Page(request, message))


def hash_of(text: str) -> int:
    """A small number for a text, the same in every process."""
    import zlib

    return zlib.crc32(text.encode("utf-8", "surrogatepass"))


def _tokens(text: str) -> int:
    return max(1, len(text.encode("utf-8", "surrogatepass")) // 4) if text else 0


def _parts(choice: Any) -> list[str]:
    call = choice.tool_call.arguments if choice.tool_call else ""
    return [text for text in (choice.content, choice.reasoning, call) if text]
