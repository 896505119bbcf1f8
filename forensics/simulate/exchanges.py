"""Leaks in which answers meet: streams that cross, whole answers that go astray, forms that another tenant asked for.

Half of `planting.py`, which says when they happen. Keeps what they need of the engine's past: recent answers, requests
whose client hung up, chains along a connection, swaps that wait for their other half.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence

from forensics.simulate import alter
from forensics.simulate.dice import Dice
from forensics.simulate.engine import Worker
from forensics.simulate.extras import SHAPES, Extras
from forensics.simulate.faults import Faults
from forensics.simulate.kinds import Wish
from forensics.simulate.parameters import Parameters
from forensics.simulate.requests import Choice, Planted, Request
from forensics.simulate.sources import Passage, answers, language_of


class Exchanges(Faults):
    """The part of the hooks that needs answers of other requests. `wishes` are set by the class that decides."""

    def __init__(self, parameters: Parameters, window: tuple[float, float], dice: Dice, extras: Extras) -> None:
        super().__init__(parameters, window, dice)
        self._extras = extras
        self.wishes: list[Wish] = []
        self._recent: dict[int, deque[Request]] = defaultdict(lambda: deque(maxlen=30))
        self._aborted: dict[int, deque[Request]] = defaultdict(lambda: deque(maxlen=10))
        self._shaped: dict[str, deque[Request]] = defaultdict(lambda: deque(maxlen=40))
        self._swaps: dict[str, tuple[Request, Choice]] = {}
        self._reserved: set[str] = set()
        self._chains: dict[tuple[int, int], tuple[int, int]] = {}
        self._chain = 0

    # -- streams that cross -----------------------------------------------------------------------------------------

    def _interleaved(self, wish: Wish, worker: Worker, request: Request) -> bool:
        own = request.choices[0].content
        if own is None or len(own) < 60 or request.rid in self.shared or request.choices[0].tool_call:
            return False
        wanted = 3 if wish.variant == "three" else 2 if wish.variant == "two" else 1
        found: list[Passage] = []
        rows = [other for _, other in sorted(worker.rows.items()) if other is not request]
        self._dice.shuffle(rows)
        for other in rows:
            known = {p.source.tenant.organisation for p in found}
            if not self._foreign(other, request) or other.tenant.organisation in known or not self._free(other):
                continue
            if (request.tenant.organisation, other.choices[0].content) in self._leaked:
                continue
            passages = answers(other, other.choices[0], "stream_crossed")
            found += [
                p for p in passages if len(p.text) > wish.shortest + 20 and (found or wish.language in ("", p.language))
            ]
            if len(found) >= wanted:
                return self._cross(wish, request, own, found[:wanted])
        return False

    def _cross(self, wish: Wish, request: Request, own: str, passages: Sequence[Passage]) -> bool:
        dice = self._dice
        streams: list[list[str]] = []
        origins: list[str] = []
        for passage in passages:
            pieces = alter.tokens(passage.text, passage.language, dice)
            first = dice.between(0, max(0, len(pieces) // 4))
            taken: list[str] = []
            length, aim = 0, dice.between(wish.shortest, wish.longest)
            for piece in pieces[first:]:
                taken.append(piece)
                length += len(piece)
                if length >= aim:
                    break
            if length < wish.shortest:
                return False
            taken[0] = taken[0].lstrip() or taken[0]
            streams.append(taken)
            origins.append("".join(taken))
        mine = alter.tokens(own, request.language, dice)
        head = dice.between(1, max(1, len(mine) // 3))
        tail = mine[head:]
        if wish.variant == "own":
            count = min(len(tail), len(streams[0]))
            if count < len(streams[0]) * 0.7:
                return False
            streams.insert(0, tail[:count])
            tail = tail[count:]
        mixed, places = alter.interleave(streams, dice)
        if wish.variant == "own":
            places = places[1:]
        start = "".join(mine[:head])
        glue = "" if mixed[:1].isspace() else " "
        request.choices = [Choice(start + glue + mixed + "".join(tail)), *request.choices[1:]]
        for passage, origin, mixture in zip(passages, origins, places, strict=True):
            low, high = mixture[0][0], mixture[-1][1]
            request.planted.append(
                Planted(
                    "content", 0, mixed[low:high], passage.fault, "altered", passage.source, passage.side, passage.text,
                    label=wish.label, origin=origin, language=passage.language,
                    pieces=tuple((a - low, b - low) for a, b in mixture),
                )
            )  # fmt: skip
            self._reserved.add(passage.source.rid)
            passage.source.given = True
            self._leaked.add((request.tenant.organisation, passage.text))
        return True

    # -- whole answers ----------------------------------------------------------------------------------------------

    def _free(self, other: Request) -> bool:
        """Whether nothing has happened to the answer of a request in flight, and nothing innocent is in it."""
        return (
            other.rid not in self._reserved
            and other.rid not in self._swaps
            and other.rid not in self.shared
            and not other.planted
            and (other.worker, other.connection) not in self._chains
        )

    def _whole(self, wish: Wish, worker: Worker, request: Request) -> bool:
        dice = self._dice
        if wish.variant == "semantic_cache":
            return self._semantic(wish, request)
        if wish.variant == "shifted":
            former = worker.answers.get(request.connection)
            if former is None or not self._deliver(wish, request, former, "connection_off_by_one"):
                return False
            self._chain += 1
            request.planted[-1].chain = (self._chain, 1)
            self._chains[(worker.number, request.connection)] = (self._chain, dice.between(2, 5))
            return True
        if wish.variant == "original":
            others = [other for other in self._recent[worker.number] if not other.shape]
            dice.shuffle(others)
            return any(self._deliver(wish, request, o, "response_cache_without_tenant") for o in others[:3])
        if wish.variant == "no_original":
            return any(self._deliver(wish, request, other, "slot_reuse_after_abort")
                       for other in reversed(self._aborted[worker.number]) if not other.given)  # fmt: skip
        rows = [other for _, other in sorted(worker.rows.items()) if other is not request and self._free(other)]
        natural = request.choices[0]
        if not natural.content or len(natural.content) < 120 or request.rid in self.shared:
            return False
        for other in rows:
            if self._deliver(wish, request, other, "rows_swapped"):
                self._swaps[other.rid] = (request, natural)
                return True
        return False

    def _deliver(self, wish: Wish, request: Request, source: Request, fault: str) -> bool:
        """The source's natural answer goes to the request."""
        natural = self._natural.get(source.rid, source.choices[0])
        content = natural.content
        if not content or len(content) < 120 or source.rid in self.shared or source.shape or natural.tool_call:
            return False
        if not self._foreign(source, request) or (request.tenant.organisation, content) in self._leaked:
            return False
        if source.retried:
            return False  # the same answer will come again, under another id
        source.given = True
        side = "response" if source.rid in self._own_delivered else None
        language = language_of(content, source.language, "assistant")
        request.choices = [Choice(content)]
        request.planted.append(
            Planted(
                "content", 0, content, fault, "whole_response", source, side, content,
                label=wish.label, origin=content, language=language,
            )
        )  # fmt: skip
        self._leaked.add((request.tenant.organisation, content))
        return True

    def _swap_back(self, request: Request) -> None:
        """The other half of a swap. It counts as one more affected response, so a wish goes with it."""
        source, natural = self._swaps.pop(request.rid)
        self._chains.pop((request.worker, request.connection), None)
        spare = next((wish for wish in self.wishes if wish.label == "whole_response/swapped"), None)
        if spare is not None:
            self.wishes.remove(spare)
        request.choices = [Choice(natural.content)]
        content = natural.content or ""
        language = language_of(content, source.language, "assistant")
        request.planted.append(
            Planted(
                "content", 0, content, "rows_swapped", "whole_response", source, None, content,
                label="whole_response/swapped", origin=content, language=language,
            )
        )  # fmt: skip

    def _next_in_chain(self, worker: Worker, request: Request, lane: tuple[int, int]) -> None:
        number, left = self._chains[lane]
        former = worker.answers.get(request.connection)
        spare = next((wish for wish in self.wishes if wish.label == "whole_response/shifted"), None)
        if former is None or spare is None or request.rid in self._reserved:
            del self._chains[lane]
            return
        if not self._deliver(spare, request, former, "connection_off_by_one"):
            del self._chains[lane]
            return
        place = former.planted[0].chain[1] + 1 if former.planted and former.planted[0].chain else 1
        request.planted[-1].chain = (number, place)
        self.wishes.remove(spare)
        self._chains[lane] = (number, left - 1)
        if left <= 1:
            del self._chains[lane]

    def _semantic(self, wish: Wish, request: Request) -> bool:
        """The cache took the same question of another customer for this one."""
        if not request.shape.startswith("status"):
            return False
        for source in reversed(self._shaped[request.shape]):
            content = self._natural[source.rid].content or ""
            if not self._foreign(source, request) or (request.tenant.organisation, content) in self._leaked:
                continue
            pieces = sorted((at, at + len(value)) for value in source.blocks if (at := content.find(value)) >= 0)
            request.choices = [Choice(content)]
            request.planted.append(
                Planted(
                    "content", 0, content, "semantic_cache", "whole_response", source, "response", content,
                    label=wish.label, origin=content, language=source.language, pieces=tuple(pieces),
                )
            )  # fmt: skip
            self._leaked.add((request.tenant.organisation, content))
            return True
        return False

    # -- structure --------------------------------------------------------------------------------------------------

    def _structure(self, wish: Wish, request: Request) -> bool:
        """The recipient's own text in the form that another tenant asked for."""
        if request.shape != wish.variant or wish.variant not in SHAPES:
            return False
        for source in reversed(self._shaped[request.shape]):
            organisation = source.tenant.organisation
            if not self._foreign(source, request) or (request.tenant.organisation, organisation) in self._leaked:
                continue
            content, call = self._extras.answer(organisation, wish.variant, request.blocks)
            names = self._extras.names(organisation, wish.variant)
            part, text = ("tool_name", call.name) if call is not None else ("content", content or "")
            pieces = [(at, at + len(name)) for name in names if (at := text.find(name)) >= 0]
            low, high = pieces[0][0], pieces[-1][1]
            request.choices = [Choice(content, None, call)]
            request.planted.append(
                Planted(
                    part, 0, text[low:high], "grammar_reused", "structure", source, "prompt", text,
                    label=wish.label, origin=names[0], language=source.language,
                    pieces=tuple((a - low, b - low) for a, b in pieces) if len(pieces) > 1 else (),
                )
            )  # fmt: skip
            self._leaked.add((request.tenant.organisation, organisation))
            return True
        return False
