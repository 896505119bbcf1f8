"""What the invented tenants send: one plan per fault, the same every time.

A plan has three phases (before, fault, after) of steps; a step is a list of calls that are under way together. Calls
are long prompts with records in them and ask for a copy of the first one, so that the small model says what it reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

from tests.sglang.harness.texts import ASKS, TENANTS, Texts

FAULTS = ("slot_reuse", "cross_salt", "poisoned_prefix", "shifted", "duplicate_rid", "random", "clean")
PAIRS = "norvik=cormack,quill=selwyn"  # tenants whose lookups end in another's name space
TOKENS = 22
NAMES = tuple(TENANTS)


@dataclass(frozen=True)
class Call:
    """One request. `cancel`: the client hangs up after that many pieces. `after`: seconds that it waits before it
    sends. `retry`: sent again under a new id after it was cancelled."""

    request_id: str
    rid: str
    tenant: str
    text: str
    salt: str | None = None
    stream: bool = False
    cancel: int = 0
    after: float = 0.0
    tokens: int = TOKENS


@dataclass(frozen=True)
class Phase:
    """Steps, one after the other; within `stream` all calls of a step wait for a free place, `at_once` are under way."""

    name: str
    steps: list[list[Call]] = field(default_factory=list)
    flush: bool = False  # flush the prefix cache at the end of each step


class Planner:
    """Makes calls with running numbers."""

    def __init__(self, seed: int, records: int = 2) -> None:
        self._texts, self._records = Texts(seed), records
        # Incidents that one server saw after the other share no id.
        self._numbers = {name: count(seed * 1000 + 1) for name in NAMES}
        self._asks = count()
        self._turn = count()

    def skip(self) -> None:
        """Leave the next tenant's turn out."""
        next(self._turn)

    def document(self, tenant: str) -> str:
        """Records of a tenant."""
        return self._texts.document(tenant, self._records)

    def call(self, tenant: str = "", document: str = "", **more: object) -> Call:
        """A call of the next tenant, or of this one, about a new document, or this one."""
        tenant = tenant or NAMES[next(self._turn) % len(NAMES)]
        rid = f"{tenant}-{next(self._numbers[tenant]):04d}"
        ask = ASKS[next(self._asks) % len(ASKS)]
        text = Texts.prompt(tenant, document or self.document(tenant), ask)
        return Call(rid, rid, tenant, text, **more)  # type: ignore[arg-type]


def plan(fault: str, quiet: bool = False) -> list[Phase]:
    """The phases of an incident. quiet: to be sent without the fault: other ids and texts of the same kind."""
    planner = Planner(FAULTS.index(fault) + 1 + (len(FAULTS) if quiet else 0))
    if fault in ("slot_reuse", "clean"):
        return list(_with_cancels(planner))
    if fault == "cross_salt":
        return list(_salted(planner))
    if fault == "poisoned_prefix":
        return list(_conversations(planner))
    if fault == "duplicate_rid":
        return list(_colliding(planner))
    return [
        Phase("before", [[planner.call() for _ in range(8)]]),
        Phase("fault", [[planner.call() for _ in range(40 if fault == "shifted" else 56)]]),
        Phase("after", [[planner.call() for _ in range(8)]]),
    ]


def _with_cancels(planner: Planner) -> Iterator[Phase]:
    """Clients that hang up in the middle of an answer, some of which ask again; others come into the places that are
    free then."""

    def some(cancelled: int, beside: int, later: int) -> list[Call]:
        calls = [planner.call(stream=True, cancel=4) for _ in range(cancelled)]
        calls += [planner.call() for _ in range(beside)]
        again = [planner.call(calls[0].tenant, stream=True)] if cancelled else []
        planner.skip()
        return calls + [planner.call() for _ in range(later)] + again

    yield Phase("before", [some(2, 5, 2), some(2, 5, 2)])
    yield Phase("fault", [some(4, 3, 4) for _ in range(10)])
    yield Phase("after", [some(2, 5, 2)])


def _salted(planner: Planner) -> Iterator[Phase]:
    """Each tenant with its own salt; every victim has a stored prompt to fall on, and two tenants have no part in it."""
    order = (
        "cormack", "selwyn", "norvik", "quill", "norvik", "quill", "zellen", "norvik", "quill",
        "selwyn", "cormack", "quill", "norvik", "quill", "norvik", "ardent", "quill", "norvik",
    )  # fmt: skip

    def some(number: int) -> list[Call]:
        names = [order[place % len(order)] for place in range(number)]
        return [planner.call(name, salt=f"{name}-space") for name in names]

    yield Phase("before", [some(16)])
    yield Phase("fault", [some(56)])
    yield Phase("after", [some(8)])


def _conversations(planner: Planner) -> Iterator[Phase]:
    """Several questions on one document; somebody hangs up just before the document is stored."""

    def round_of(owner: str, stranger: str, questions: int) -> list[list[Call]]:
        document = planner.document(owner)
        others = [name for name in NAMES if name not in (owner, stranger)]
        # The owner's must be the next that ends: what ends first after the hang-up is spoiled.
        last = planner.call(others[0], after=2.0)
        first = [planner.call(stranger, stream=True, cancel=4), planner.call(owner, document), last]
        return [first, [planner.call(owner, document) for _ in range(questions)] + [planner.call(others[1])]]

    yield Phase("before", round_of("zellen", "ardent", 3), flush=True)
    steps: list[list[Call]] = []
    for number in range(7):
        steps += round_of(NAMES[number % len(NAMES)], NAMES[(number + 2) % len(NAMES)], 7)
    yield Phase("fault", steps, flush=True)
    yield Phase("after", round_of("ardent", "norvik", 3), flush=True)


def _colliding(planner: Planner) -> Iterator[Phase]:
    """A gateway that hands the callers' own numbers on as ids: two tenants number their jobs alike."""
    numbers = count(1)

    def pairs(number: int, apart: float) -> list[Call]:
        calls = []
        for _ in range(number):
            job = f"job-{next(numbers):04d}"
            # Two answers of one id that end in one forward pass stop the detokenizer: the second is longer.
            for late, tokens in ((0.0, TOKENS), (apart, TOKENS + 10)):
                call = planner.call()
                calls.append(Call(f"gw-{call.rid}", job, call.tenant, call.text, after=late, tokens=tokens))
        return calls

    def alone(number: int) -> list[Call]:
        calls = [planner.call() for _ in range(number)]
        return [Call(f"gw-{call.rid}", f"job-{next(numbers):04d}", call.tenant, call.text) for call in calls]

    yield Phase("before", [alone(8)])
    yield Phase("fault", [pairs(4, 1.0) for _ in range(9)])
    yield Phase("after", [alone(8)])
