"""Three faults of the front end, none of which the model sees.

`Shifted` (M28): finished answers are handed over one place off, each caller gets the answer that was finished before
its own; the engine's log holds the right one. `DuplicateRid` (M1): the check for ids that are in use is gone, as before
0.5.10, so that two requests of one id share one state. `Random`: passages of prompts chosen at random are set into
answers chosen at random, before the engine logs them: a leak that has nothing to do with slots, batches or prefixes.
"""

from __future__ import annotations

import random
from collections import deque
from typing import Any

from .record import note, switched_on, tenant


class Shifted:
    """Hand-over of finished answers, one place off."""

    def __init__(self) -> None:
        self._finished: deque[tuple[str, str, list[int]]] = deque(maxlen=1)

    def generate(self, original: Any, manager: Any, body: Any, *rest: Any, **named: Any) -> Any:
        """Around `generate_request`, an asynchronous generator."""
        return self._pass(original(manager, body, *rest, **named), body)

    async def _pass(self, answers: Any, body: Any) -> Any:
        async for answer in answers:
            reason = (answer.get("meta_info") or {}).get("finish_reason") if isinstance(answer, dict) else None
            if reason is None or getattr(body, "stream", False) or "text" not in answer:
                yield answer
                continue
            rid, own = str(answer["meta_info"]["id"]), answer["text"]
            former = self._finished[0] if self._finished else None
            self._finished.append((rid, own, list(answer.get("output_ids") or ())))
            if former is not None and switched_on("shifted"):
                source, text, ids = former
                note("leak", fault="shifted", victim=rid, source=source, start=0, end=len(text))
                answer = {**answer, "text": text, "output_ids": ids}
            yield answer


class DuplicateRid:
    """Two requests of one id. In the front end the second takes the first one's place; the scheduler runs both."""

    def __init__(self) -> None:
        self._count: dict[str, int] = {}
        self._which: dict[int, int] = {}
        self._ended: dict[str, int] = {}

    def entered(self, manager: Any, body: Any, *_: Any, **__: Any) -> None:
        """Before the front end makes a state: an id in use is forgotten, if faults are on."""
        if isinstance(body.rid, str) and body.rid in manager.rid_to_state and switched_on("duplicate_rid"):
            manager.rid_to_state.pop(body.rid)
            note("overwritten", fault="duplicate_rid", rid=body.rid)

    def added(self, scheduler: Any, request: Any, *_: Any, **__: Any) -> None:
        """Before the scheduler queues a request: the how many-th of its id it is."""
        self._count[request.rid] = self._count.get(request.rid, 0) + 1
        request.fault_number = self._count[request.rid]

    def freed(self, pool: Any, request: Any, *_: Any, **__: Any) -> None:
        """Before a row is given back: in which order requests of one id end."""
        number = getattr(request, "fault_number", 1)
        if self._count.get(request.rid, 0) > 1:
            self._ended[request.rid] = self._ended.get(request.rid, 0) + 1
            reason = type(request.finished_reason).__name__
            note(
                "ended", fault="duplicate_rid", rid=request.rid, number=number, order=self._ended[request.rid],
                slot=int(request.kv.req_pool_idx), reason=reason,
            )  # fmt: skip


class Random:
    """Passages set into answers at random. A seeded die, so that nothing but the order of answers decides."""

    def __init__(self, share: float = 0.65) -> None:
        self._dice, self._share = random.Random(7), share
        self._seen: dict[str, list[str]] = {}
        self._text: dict[str, str] = {}

    def entered(self, manager: Any, body: Any, *_: Any, **__: Any) -> None:
        """Before the front end makes a state: remember the records in a prompt."""
        lines = [line for line in str(body.text or "").split("\n") if line.startswith("Record of ")]
        if lines and isinstance(body.rid, str):
            self._seen[body.rid] = lines

    def output(self, manager: Any, output: Any, *_: Any, **__: Any) -> None:
        """Before the front end takes pieces of answers in."""
        texts = getattr(output, "output_strs", None)
        for place, rid in enumerate(output.rids if texts else ()):
            self._text[rid] = self._text.get(rid, "") + texts[place]
            if output.finished_reasons[place] is None:
                continue
            own = self._text.pop(rid)
            others = sorted(
                other for other in self._seen if tenant(other) != tenant(rid) and _plan(other) == _plan(rid)
            )
            if not switched_on("random") or not others or self._dice.random() >= self._share or rid not in self._seen:
                continue
            source = self._dice.choice(others)
            passage = self._dice.choice(self._seen[source])
            start = len(own) + 1
            texts[place] += " " + passage
            note("leak", fault="random", victim=rid, source=source, start=start, end=start + len(passage))


def _plan(rid: str) -> str:
    """Whose plan a request is of: one server serves several incidents, each with a thousand of numbers."""
    return rid.rsplit("-", 1)[-1][:-3]
