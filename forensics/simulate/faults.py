"""The named faults: what of the engine's state each of them hands to the wrong request.

A fault never draws a pair of requests. At an admission or a finish it looks at what the engine holds at that moment
(the row's former owner, the worker's host pages, the last stream of the connection) and leaks that, if a leak is due.
How many leaks fall due, of which length, is planned beforehand, so that an incident has an exact size.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from forensics.simulate.cuts import BAND_WEIGHTS, cut, plain_in_json, splice
from forensics.simulate.dice import Dice
from forensics.simulate.engine import Engine, Worker, hash_of
from forensics.simulate.parameters import Parameters
from forensics.simulate.requests import Choice, Message, Planted, Request, ToolCall

RACE_SECONDS = 90.0  # how long what an aborted request left in its row can still be read
WEIGHTS = {
    "host_cache_restore": 8,
    "prefix_key_without_tenant": 4,
    "slot_reuse_after_abort": 4,
    "stream_buffer_kept": 3,
    "response_cache_without_tenant": 2,
    "connection_off_by_one": 2,
}
FORMS = {
    "host_cache_restore": ("middle", "middle", "tail"),
    "prefix_key_without_tenant": ("head", "middle"),
    "slot_reuse_after_abort": ("middle", "tail"),
    "stream_buffer_kept": ("head", "tail"),
}
WHOLE = ("response_cache_without_tenant", "connection_off_by_one")


@dataclass(slots=True, eq=False)
class Plan:
    """One leak that is to happen. `special` is empty, ambiguous or undetermined."""

    due: float
    fault: str
    band: str
    special: str = ""


@dataclass(slots=True, eq=False)
class LostPage:
    """A page from before the log: its request is not in the evidence, its text is restored to several victims."""

    worker: int
    text: str
    language: str
    left: int
    victims: set[str] = field(default_factory=set)


@dataclass(slots=True, eq=False)
class Chance:
    """A fault that could leak into a request, and from what."""

    fault: str
    source: Request | None
    messages: Sequence[Message] = ()


class Faults:
    """Hooks of the engine. `window` is (deploy, fix) in seconds from the start of the log."""

    def __init__(self, parameters: Parameters, window: tuple[float, float], dice: Dice) -> None:
        self._parameters = parameters
        self._window = window
        self._dice = dice
        self.engine: Engine | None = None
        self.plans = self._plan()
        self.lost_pages: list[LostPage] = []
        self.shared: dict[str, list[str]] = {}  # rid -> texts of the answer that others hold innocently
        self._chances: dict[str, list[Chance]] = {}
        self._by_prompt: dict[tuple[int, int], deque[Request]] = {}
        self._joint: dict[int, list[tuple[Request, Message]]] = {}
        self._joint_seen: dict[str, set[str]] = {}
        self._natural: dict[str, Choice] = {}
        self._shifting: dict[tuple[int, int], int] = {}
        self._own_delivered: set[str] = set()
        self._leaked: set[tuple[str, str]] = set()

    def _plan(self) -> list[Plan]:
        parameters, dice = self._parameters, self._dice
        start, end = self._window
        faults = [fault for fault in parameters.faults if fault in WEIGHTS]
        spliced = [fault for fault in faults if fault not in WHOLE]
        plans: list[Plan] = []
        for number in range(parameters.leaks):
            special = ""
            if number < parameters.undetermined:
                special = "undetermined"
            elif number < parameters.undetermined + parameters.ambiguous:
                special = "ambiguous"
            pool = spliced if special else faults
            if not pool:
                break
            fault = dice.choices(pool, [WEIGHTS[name] for name in pool])[0]
            if special and "host_cache_restore" in pool:
                fault = "host_cache_restore"
            weights = {
                name: weight for name, weight in BAND_WEIGHTS.items() if not special or name in ("medium", "long")
            }
            band = dice.choices(list(weights), list(weights.values()))[0]
            if fault == "stream_buffer_kept" and band == "identifier":
                band = "short"
            plans.append(Plan(dice.uniform(start, start + 0.9 * (end - start)), fault, band, special))
        return sorted(plans, key=lambda plan: plan.due)

    # -- hooks ------------------------------------------------------------------------------------------------

    def received(self, request: Request) -> None:
        """Note who has supplied a joint document."""
        for message in request.messages:
            if message.joint and message.content:
                self._joint_seen.setdefault(message.content, set()).add(request.tenant.name)

    def admitted(self, worker: Worker, request: Request, now: float) -> None:
        """Look at the row, the prefix tree and the host pages that the request meets."""
        key = (worker.number, hash_of(request.messages[0].content or ""))
        earlier = self._by_prompt.setdefault(key, deque(maxlen=8))
        if self._open(request, now):
            found: list[Chance] = []
            former = request.previous_in_slot
            if former is not None and former.aborted and now - former.finished < RACE_SECONDS:
                found.append(Chance("slot_reuse_after_abort", former, former.messages))
            for other in reversed(earlier):
                if self._foreign(other, request):
                    found.append(Chance("prefix_key_without_tenant", other, other.messages))
                    break
            if request.cached_tokens > 0 or request.turn > 1:
                # A stale page is restored again and again until something evicts it: newest pages are not first.
                pages = [page for page in list(worker.host)[:: self._dice.between(1, 5)] if page.request.logged]
                for _ in range(6):
                    if pages:
                        page = self._dice.pick(pages)
                        found.append(Chance("host_cache_restore", page.request, [page.message]))
            self._chances[request.rid] = found
        if any(m.private for m in request.messages):
            earlier.append(request)

    def finished(self, worker: Worker, request: Request, now: float) -> None:
        """Leak what is due, if the request's state offers it."""
        self._natural[request.rid] = request.choices[0]
        chances = self._chances.pop(request.rid, [])
        lane = (worker.number, request.connection)
        if self._shifting.get(lane):
            self._shift(worker, request, lane)
        elif self._open(request, now):
            self._use_plan(worker, request, chances, now)
        if not request.planted:
            self._own_delivered.add(request.rid)
            for message in request.messages:
                if message.joint:
                    self._joint.setdefault(worker.number, []).append((request, message))

    def _use_plan(self, worker: Worker, request: Request, chances: list[Chance], now: float) -> None:
        start, end = self._window
        patience = (end - start) * 0.06
        for plan in self.plans:
            if plan.due > now:
                break
            if self._try(plan, worker, request, chances, late=now - plan.due > patience):
                self.plans.remove(plan)
                return

    def _try(self, plan: Plan, worker: Worker, request: Request, chances: list[Chance], *, late: bool) -> bool:
        if plan.special == "undetermined":
            return self._plant_lost(worker, request)
        if plan.special == "ambiguous":
            pages = [
                Chance(plan.fault, source, [message])
                for source, message in self._joint.get(worker.number, [])
                if len(self._joint_seen.get(message.content or "", ())) > 1
                and request.tenant.organisation not in message.joint
            ]
            return any(self._plant(plan.fault, plan.band, request, c, joint=True) for c in reversed(pages))
        if plan.fault == "stream_buffer_kept" or late:
            former = worker.streams.get(request.connection)
            if "stream_buffer_kept" in self._parameters.faults and former is not None and request.stream:
                chances = [*chances, Chance("stream_buffer_kept", former)]
        if plan.fault == "response_cache_without_tenant" and request.key:
            assert self.engine is not None
            for key, other in reversed(self.engine.answers.items()):
                if key.startswith(request.key + "/") and self._replace(plan.fault, request, other):
                    return True
        if plan.fault == "connection_off_by_one":
            lane = (worker.number, request.connection)
            former = worker.answers.get(request.connection)
            if former is not None and self._replace(plan.fault, request, former):
                self._shifting[lane] = self._dice.between(2, 5)
                return True
        for chance in chances:
            wanted = chance.fault == plan.fault or (late and chance.fault in self._parameters.faults)
            if wanted and self._plant(chance.fault, plan.band, request, chance):
                return True
        return False

    # -- planting ---------------------------------------------------------------------------------------------

    def _plant(self, fault: str, band: str, request: Request, chance: Chance, *, joint: bool = False) -> bool:
        source = chance.source
        if source is None or not self._foreign(source, request):
            return False
        if fault == "stream_buffer_kept":
            choice = self._natural.get(source.rid)
            clean = source.rid not in self.shared and not source.planted
            if choice is None or not choice.content or not clean or band == "identifier":
                return False
            pieces: list[tuple[str, tuple[str, ...], str]] = [(choice.content, (), "response")]
        else:
            pieces = [
                (m.content or "", m.particulars, "prompt")
                for m in reversed(chance.messages)
                if m.private and not m.tainted and bool(m.joint) == joint
            ]
        for text, particulars, side in pieces:
            if (request.tenant.organisation, text) in self._leaked:
                continue
            where = "tail" if side == "response" else "any"
            span = cut(text, particulars, band, self._dice, where)
            if span is None:
                continue
            leak = text[span[0] : span[1]]
            if self._insert(request, leak, text, span, fault, source, side):
                self._leaked.add((request.tenant.organisation, text))
                return True
        return False

    def _insert(
        self,
        request: Request,
        leak: str,
        text: str,
        span: tuple[int, int],
        fault: str,
        source: Request | None,
        side: str | None,
    ) -> bool:
        before, after = text[max(0, span[0] - 8) : span[0]], text[span[1] : span[1] + 8]
        place = self._set_in(request, leak, before, after, fault)
        if place is None:
            return False
        kind = "undetermined" if source is None else "identifier" if len(leak) < 40 else "verbatim"
        request.planted.append(Planted(*place, leak, fault, kind, source, side, text, unlogged=source is None))
        self._count_tokens(request, fault, len(leak))
        return True

    def _set_in(self, request: Request, leak: str, before: str, after: str, fault: str) -> tuple[str, int] | None:
        """Put `leak` into a part of the answer: (part, number of the choice), or None where it fits nowhere.

        `before` and `after` stand beside it in the source.
        """
        number = self._dice.between(0, len(request.choices) - 1)
        choice = request.choices[number]
        form = self._dice.pick(FORMS.get(fault, ("middle",)))
        protected = [*self.shared.get(request.rid, ()), leak]
        part = "content"
        if choice.reasoning and (choice.content is None or self._dice.chance(0.2)):
            part = "reasoning"
        elif choice.content is None:
            part = "arguments"
        content, reasoning, call = choice.content, choice.reasoning, choice.tool_call
        if part == "arguments":
            at = call.arguments.find('": "') + 4 if call is not None else 0
            if call is None or at < 4 or len(leak) > 300 or not plain_in_json(leak):
                return None
            stop = call.arguments.find('"', at)
            made = splice(call.arguments[at:stop], leak, before, after, "tail", (), self._dice)
            if made is None or not plain_in_json(made):
                return None
            call = ToolCall(call.name, call.arguments[:at] + made + call.arguments[stop:])
        else:
            own = (reasoning if part == "reasoning" else content) or ""
            made = splice(own, leak, before, after, form, protected, self._dice)
            if made is None:
                return None
            if part == "reasoning":
                reasoning = made
            else:
                content = made
        request.choices = [*request.choices]
        request.choices[number] = Choice(content, reasoning, call)
        return part, number

    @staticmethod
    def _count_tokens(request: Request, fault: str, characters: int) -> None:
        """What the engine's counters show of the fault."""
        if fault == "host_cache_restore":
            request.host_tokens = max(request.host_tokens, 64 * (1 + characters // 256))
            request.cached_tokens = max(request.cached_tokens, request.host_tokens)
        if fault == "prefix_key_without_tenant":
            request.cached_tokens += 64 * (1 + characters // 256)

    def _plant_lost(self, worker: Worker, request: Request) -> bool:
        for page in self.lost_pages:
            if page.worker != worker.number or not page.left or request.tenant.organisation in page.victims:
                continue
            if page.language == request.language and page.language != "en":
                continue
            if self._insert(request, page.text, page.text, (0, len(page.text)), "host_cache_restore", None, None):
                page.left -= 1
                page.victims.add(request.tenant.organisation)
                return True
        return False

    def _replace(self, fault: str, request: Request, source: Request) -> bool:
        natural = self._natural.get(source.rid)
        if natural is None or not natural.content or len(natural.content) < 120 or source.rid in self.shared:
            return False
        if not self._foreign(source, request) or (request.tenant.organisation, natural.content) in self._leaked:
            return False
        side = "response" if source.rid in self._own_delivered else None
        request.choices = [Choice(natural.content)]
        request.planted.append(
            Planted("content", 0, natural.content, fault, "whole_response", source, side, natural.content)
        )
        self._leaked.add((request.tenant.organisation, natural.content))
        return True

    def _shift(self, worker: Worker, request: Request, lane: tuple[int, int]) -> None:
        self._shifting[lane] -= 1
        former = worker.answers.get(request.connection)
        whole = [plan for plan in self.plans if plan.fault == "connection_off_by_one"]
        if former is None or not whole or not self._replace("connection_off_by_one", request, former):
            self._shifting[lane] = 0
            return
        self.plans.remove(whole[-1])

    # -- conditions -------------------------------------------------------------------------------------------

    def _open(self, request: Request, now: float) -> bool:
        start, end = self._window
        long = request.prompt_chars >= self._parameters.long_prompt_chars
        return bool(self.plans) and start <= request.received and now < end and long and not request.planted

    @staticmethod
    def _foreign(source: Request, request: Request) -> bool:
        return source.tenant.organisation != request.tenant.organisation and source.logged
